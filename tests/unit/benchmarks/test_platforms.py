"""The benchmark trains the same models on several platforms, and reports every difference."""

from pathlib import Path

import pytest

from benchmarks import platforms
from tests.parity import corpora


def run(*arguments: str) -> int:
    parsed = platforms.parse_arguments(arguments)
    return parsed.run(parsed)


def make(folder: Path, vocabulary: str, model: bytes = b"model") -> Path:
    folder.mkdir()
    (folder / "text-bpe.model").write_bytes(model)
    (folder / "text-bpe.vocab").write_text(vocabulary, encoding="utf-8")
    return folder


def test_both_packages_train_the_same_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("words.txt").write_text(corpora.words_text(1), encoding="utf-8")
    Path("short.txt").write_text("a\n", encoding="utf-8")
    for package in ("spmcompat", "sentencepiece"):
        options = ["--package", package, "--texts", str(tmp_path), "--vocab_size", "60"]
        assert run("train", *options, "--results", package, "words", "short") == 0
        monkeypatch.chdir(tmp_path)
    names = {path.name for path in Path("spmcompat").iterdir()}
    assert {f"words-{kind}.model" for kind in platforms.TYPES} < names
    assert names == {path.name for path in Path("sentencepiece").iterdir()}
    capsys.readouterr()
    assert run("compare", "sentencepiece", "spmcompat") == 0
    assert "spmcompat: unigram: 2 models, 0 differ" in capsys.readouterr().out


def test_a_text_that_is_missing_is_named(tmp_path: Path) -> None:
    options = ["--package", "spmcompat", "--texts", str(tmp_path), "--results", str(tmp_path / "m")]
    with pytest.raises(SystemExit, match="Not in the folder: none"):
        run("train", *options, "none")
    assert not (tmp_path / "m").exists()


def test_a_difference_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    one = make(tmp_path / "one", "a\t-1\nb\t-2\nc\t-3\n")
    two = make(tmp_path / "two", "a\t-1\nb\t-2.5\nd\t-3\n")
    assert run("compare", str(one), str(two)) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "two: text-bpe: 2 pieces in one of them only, 1 of 2 others score differently",
        "two: unigram: 0 models, 0 differ",
    ]


def test_a_model_that_differs_under_an_equal_vocabulary_is_told(tmp_path: Path) -> None:
    one, two = make(tmp_path / "one", "a\t-1\n"), make(tmp_path / "two", "a\t-1\n", b"other")
    assert run("compare", str(one), str(two)) == 1


def test_a_training_that_fails_on_one_platform_differs(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one = make(tmp_path / "one", "a\t-1\n")
    (tmp_path / "two").mkdir()
    (tmp_path / "two" / "text-bpe.failure").write_text("no memory\n", encoding="utf-8")
    assert run("compare", str(one), str(tmp_path / "two")) == 1
    assert "bpe: 1 models, 1 differ" in capsys.readouterr().out
