"""``spmcompat compare``: it trains, evaluates, resumes and writes a report."""

from __future__ import annotations

import errno
import io
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from spmcompat.__main__ import main
from spmcompat.tools.compare import report, training
from tests.kinds import assert_error
from tests.parity import corpora
from tests.processes import start_python
from tests.waiting import LIMIT, wait_until

pytestmark = [pytest.mark.reference, pytest.mark.slow]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    text = corpora.words_text(3, 400, "latin", 200)
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")
    (tmp_path / "short.txt").write_text("a\n\n", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    # Drawing the plots of a report takes half a second; the test of the whole report draws them.
    if request.function is not test_models_of_every_kind_are_in_the_report:
        monkeypatch.setattr(report, "_plots", lambda *_: "")
    # Each training is a separate process, which must import the same package.
    monkeypatch.setenv("PYTHONPATH", str(Path(training.__file__).parents[3]))
    return tmp_path


def compare(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["compare", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


def run(*arguments: str) -> tuple[int, str, str]:
    """Run the command; the arguments can replace the default text, output and size."""
    defaults = {"--text": "text.txt", "--output": "out", "--vocab_size": "100"}
    given = [v for flag in defaults.items() if flag[0] not in arguments for v in flag]
    return compare(*given, *arguments)


def test_models_of_every_kind_are_in_the_report(folder: Path) -> None:
    (folder / "gold.tsv").write_text("undone\tun done\n", encoding="utf-8")
    (folder / "gold.csv").write_text(",full_word,pt1,rest\n0,cats,cat,s\n1,as,a,s\n2,it,it,\n")
    (folder / "own.toml").write_text("[own]\nnum_sub_iterations = 1\n", encoding="utf-8")
    names = "unigram,bpe-separate-spaces,hf-wordpiece,hf-bytelevel-bpe,hf-unigram,own.toml"
    sizes = ("--vocab_size", "100,300")
    status, out, err = run("--configs", names, "--gold=gold.tsv,gold.csv", *sizes)
    assert status == 0, err
    tables, path = out.rsplit("\n\n", 1)
    assert path == "out/report.html\n"
    assert [tables.count(f"\n  {name} ") for name in ("unigram", "hf-wordpiece", "own")] == [2] * 3
    assert run("--configs", names, "--gold=gold.tsv,gold.csv", *sizes, "--quiet")[1:] == (path, "")
    html = Path("out/report.html").read_text(encoding="utf-8")
    results = sorted(path.stem for path in Path("out/results").iterdir())
    assert len(results) == 12
    held_out = Path("out/held-out.txt").read_text().splitlines()
    words = sum(len(line.split()) for line in held_out)
    for name in results:
        evaluation = json.loads(Path(f"out/results/{name}.json").read_text())["run"]["evaluation"]
        assert evaluation["tokens"] > 0
        assert evaluation["words"] == words
        assert evaluation["gold"]["gold.tsv"]["words"] == 1
        assert evaluation["gold"]["gold.csv"]["words"] == 2
        assert name.rpartition("-")[0] in html
    trained = Path("out/train.txt").read_text().splitlines()
    whole = Path("text.txt").read_text().splitlines()
    assert held_out == whole[19::20]
    assert sorted(held_out + trained) == sorted(whole)


def test_gold_words_are_grouped_by_the_models_that_find_them(folder: Path) -> None:
    from sentencepiece import SentencePieceProcessor

    words = sorted({w for w in (folder / "text.txt").read_text().split() if len(w) > 4})[:60]
    (folder / "gold.tsv").write_text("".join(f"{w}\t{w[:2]} {w[2:]}\n" for w in words))
    status, _, err = run("--configs=unigram,bpe", "--gold=gold.tsv", "--bootstrap=100")
    assert status == 0, err
    (table,) = json.loads(Path("out/gold-words.json").read_text())
    groups = {group["name"]: group for group in table["groups"]}
    expected: dict[str, list[str]] = {name: [] for name in groups}
    for word in words:
        found, whole = [], 0
        for name in ("unigram", "bpe"):
            model = SentencePieceProcessor(model_file=f"out/models/{name}-100.model")
            parts = [p.strip("▁") for p in model.encode(word, out_type=str) if p != "▁"]
            whole += len(parts) == 1
            found += [name] * (2 in [len("".join(parts[:i])) for i in range(1, len(parts))])
        key = {0: "none", 1: f"only {''.join(found)}", 2: "all"}[len(found)]
        if whole:
            key = f"a single token in {'every model' if whole == 2 else 'some models'}"
        expected[key].append(word)
    text = Path("out/held-out.txt").read_text().split()
    for name, members in expected.items():
        assert groups[name]["words"] == len(members)
        share = sum(text.count(word) for word in members) / len(text)
        assert groups[name]["share"] == pytest.approx(share)
        low, high = groups[name]["words_interval"]
        assert low <= len(members) <= high
    assert sum(map(bool, expected.values())) > 1
    html = Path("out/report.html").read_text()
    assert "Which tokenizers find the boundaries of gold words" in html
    # The groups come from the stored results: nothing is evaluated again.
    before = Path("out/gold-words.json").read_bytes()
    _, _, err = run("--configs=unigram,bpe", "--gold=gold.tsv", "--bootstrap=100")
    assert err.count("result read from") == 2
    assert Path("out/gold-words.json").read_bytes() == before


def test_languages_are_held_out_line_by_line(folder: Path) -> None:
    lines = (folder / "text.txt").read_text(encoding="utf-8").splitlines()
    # Parallel lines: the second language repeats every line, and one line is empty in both.
    lines[39] = ""
    texts = {"a": lines, "b": [line + " " + line for line in lines]}
    texts["b"][39] = ""
    rows = [{"text": texts[name][i], "lang": name} for i in range(len(lines)) for name in texts]
    Path("table.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    for name, found in texts.items():
        Path(f"{name}.txt").write_text("".join(f"{line}\n" for line in found), encoding="utf-8")
    flags = ("--configs", "bpe,unigram", "--quiet", "--parallel", "--reference", "a")
    given = ("--text", "a=a.txt,b=b.txt", "--vocab_size", "100", *flags)
    status, _, err = compare(*given, "--output", "out")
    assert status == 0, err
    html = Path("out/report.html").read_text(encoding="utf-8")
    assert "<h3>Languages</h3>" in html
    assert "tokens per line" in html
    assert Path("out/held-out-1.txt").read_text().splitlines() == lines[19::20]
    assert Path("out/held-out-2.txt").read_text().splitlines() == texts["b"][19::20]
    trained = Path("out/train.txt").read_text().splitlines()
    kept = [line for found in texts.values() for i, line in enumerate(found, 1) if i % 20]
    assert trained == kept
    result = json.loads(Path("out/results/bpe-100.json").read_text())
    languages = result["run"]["evaluation"]["languages"]
    assert languages["reference"] == "a"
    assert languages["figures"]["b"]["parity"] == pytest.approx(2, abs=0.05)
    # A JSON Lines file that contains the lines of both languages leads to the same held-out texts.
    table = ("--text", "table.jsonl", "--language_column", "lang", "--vocab_size", "100", *flags)
    status, _, err = compare(*table, "--output", "out2")
    assert status == 0, err
    again = json.loads(Path("out2/results/bpe-100.json").read_text())
    assert again["run"]["evaluation"]["languages"].keys() == languages.keys()
    held_out = Path("out2/held-out-2.txt").read_text().splitlines()
    assert held_out == texts["b"][19::20]
    status, _, err = compare(*table[:-1], "c", "--output", "out3")
    assert (status, err.count("\n")) == (1, 1)
    assert_error(err, "bad-value --reference")
    # With another reference language, the models are evaluated again.
    assert compare(*given[:-1], "b", "--output", "out")[0] == 0
    result = json.loads(Path("out/results/bpe-100.json").read_text())
    assert result["run"]["evaluation"]["languages"]["reference"] == "b"


def test_texts_of_different_lengths_are_not_parallel(folder: Path) -> None:
    """The held-out texts have the same number of lines, but the texts do not."""
    lines = (folder / "text.txt").read_text(encoding="utf-8").splitlines()[:47]
    for name, count in (("a", 41), ("b", 47)):
        Path(f"{name}.txt").write_text("\n".join(lines[:count]) + "\n", encoding="utf-8")
    given = ("--text", "a=a.txt,b=b.txt", "--vocab_size=100", "--configs=bpe", "--quiet")
    status, out, err = compare(*given, "--parallel", "--output=out")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, "bad-value --parallel")
    assert not Path("out/models").exists()
    assert not Path("out/report.html").exists()


@pytest.mark.usefixtures("folder")
def test_the_same_command_continues_after_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    train = training._train
    trained: list[str] = []

    def until(stop: str) -> None:
        def interrupted(command: Sequence[str], prefix: Path, name: str, *rest: Any) -> Any:
            if name == stop:
                raise KeyboardInterrupt
            trained.append(name)
            return train(command, prefix, name, *rest)

        monkeypatch.setattr(training, "_train", interrupted)

    until("bpe-100")
    status, _, err = run("--configs", "unigram,bpe")
    assert status == 130
    assert "Run the same command again to continue" in err
    assert not Path("out/report.html").exists()
    until("")
    assert run("--configs", "unigram,bpe")[0] == 0
    assert trained == ["unigram-100", "bpe-100"]
    assert run("--configs", "unigram,bpe")[0] == 0
    assert trained == ["unigram-100", "bpe-100"]
    # With another text, everything is trained again.
    with open("text.txt", "a", encoding="utf-8") as text:
        text.write("and one more line\n")
    assert run("--configs", "unigram")[0] == 0
    assert trained == ["unigram-100", "bpe-100", "unigram-100"]


def test_models_of_another_release_are_trained_again(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    arguments = ("--configs", "own.toml,hf-unigram")
    assert run(*arguments)[0] == 0
    assert run(*arguments)[2].count("result read from") == 2
    monkeypatch.setattr(training, "version", lambda name: f"{name} 99")
    assert run(*arguments)[2].count("result read from") == 1
    monkeypatch.setattr(training, "__version__", "99")
    assert run(*arguments)[2].count("result read from") == 1


def test_a_model_of_another_text_is_not_evaluated(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "gold.tsv").write_text("undone\tun done\n", encoding="utf-8")
    (folder / "other.txt").write_text(corpora.words_text(8, 400, "greek", 200), encoding="utf-8")
    arguments = ("--configs", "bpe", "--quiet")
    assert run(*arguments)[0] == 0

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(training, "load_model", interrupt)
        assert run("--text", "other.txt", *arguments)[0] == 130
    assert run("--gold=gold.tsv", *arguments)[0] == 0
    assert run("--gold=gold.tsv", "--output", "new", *arguments)[0] == 0
    found = [
        json.loads(Path(f"{name}/results/bpe-100.json").read_text()) for name in ("out", "new")
    ]
    tokens = [one["run"]["evaluation"]["tokens"] for one in found]
    assert tokens[0] == tokens[1]


def test_a_changed_file_of_an_option_is_noticed(folder: Path) -> None:
    (folder / "own.toml").write_text('[own]\nuser_defined_symbols_file = "symbols"\n')
    for symbol in ("one", "two"):
        (folder / "symbols").write_text(f"{symbol}\n")
        assert run("--configs", "own.toml", "--quiet")[0] == 0
        assert f"\n{symbol}\t" in Path("out/models/own-100.vocab").read_text()


@pytest.mark.usefixtures("folder")
def test_a_model_without_spaces_shares_its_training_and_is_never_best(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    train = training._train
    trained: list[str] = []

    def counted(command: Sequence[str], prefix: Path, name: str, *rest: Any) -> Any:
        trained.append(name)
        return train(command, prefix, name, *rest)

    monkeypatch.setattr(training, "_train", counted)
    configs = "bpe,bpe-separate-spaces,bpe-no-spaces"
    assert run("--configs", configs)[0] == 0
    assert trained == ["bpe-100", "bpe-separate-spaces-100"]
    html = Path("out/report.html").read_text(encoding="utf-8")
    assert "<b>bpe-no-spaces</b> loses text: it leaves out spaces, with 100.000% of" in html
    _, row = re.findall(r'<tr><th scope="row">bpe-no-spaces<.*?</tr>', html)
    assert "class=best" not in row
    found = {
        name: json.loads(Path(f"out/results/bpe-{name}-spaces-100.json").read_text())["run"]
        for name in ("no", "separate")
    }
    assert found["no"]["command"] == found["separate"]["command"]
    tokens = [found[name]["evaluation"]["tokens"] for name in ("no", "separate")]
    held_out = Path("out/held-out.txt").read_text().splitlines()
    assert tokens[1] - tokens[0] == sum(len(line.split()) - 1 for line in held_out)

    # The result of each configuration is stored separately. If one result is missing, only the
    # model of this configuration is trained again.
    assert run("--configs", configs)[0] == 0
    assert len(trained) == 2
    Path("out/results/bpe-no-spaces-100.json").unlink()
    assert run("--configs", "bpe-no-spaces")[0] == 0
    assert trained[2:] == ["bpe-no-spaces-100"]


@pytest.mark.usefixtures("folder")
def test_a_bootstrap_trains_nothing_again(monkeypatch: pytest.MonkeyPatch) -> None:
    train = training._train
    trained: list[str] = []

    def noting(command: Sequence[str], prefix: Path, name: str, *rest: Any) -> Any:
        trained.append(name)
        return train(command, prefix, name, *rest)

    monkeypatch.setattr(training, "_train", noting)
    names = ("--configs", "unigram,bpe", "--vocab_size", "100,200")
    intervals = (*names, "--bootstrap", "100", "--baseline", "bpe", "--seed", "5")
    for arguments in (names, intervals):
        assert run(*arguments)[0] == 0
    assert sorted(trained) == ["bpe-100", "bpe-200", "unigram-100", "unigram-200"]
    html = Path("out/report.html").read_text(encoding="utf-8")
    assert "Changes against bpe" in html
    assert "95 % intervals from 100 resamples of" in html
    # The stored results give the same report.
    status, _, err = run(*intervals)
    assert status == 0
    assert err.count("result read from") == 4
    assert Path("out/report.html").read_text(encoding="utf-8") == html
    # A damaged result is computed again, from the same model.
    path = Path("out/results/unigram-100.json")
    document = json.loads(path.read_text())
    del document["run"]["evaluation"]["resampled"]["samples"]["tokens"][0]
    path.write_text(json.dumps(document))
    assert run(*intervals)[0] == 0
    assert Path("out/report.html").read_text(encoding="utf-8") == html
    # A stored result without a vocabulary is from an older release, so the model is trained again.
    path = Path("out/results/bpe-100.json")
    document = json.loads(path.read_text())
    document["made_from"]["figures"].remove("vocabulary")
    path.write_text(json.dumps(document))
    assert run(*intervals)[0] == 0
    assert trained[4:] == ["bpe-100"]


@pytest.mark.usefixtures("folder")
def test_stored_results_are_enough_for_the_cost_of_a_network() -> None:
    names = ("--configs", "unigram", "--vocab_size", "100,200")
    assert run(*names)[0] == 0
    assert "Which size?" not in Path("out/report.html").read_text(encoding="utf-8")
    network = ("--embedding_width=8", "--parameters=500", "--training_bytes=1e6")
    status, _, err = run(*names, *network)
    assert (status, err.count("result read from")) == (0, 2)
    html = Path("out/report.html").read_text(encoding="utf-8")
    size = sum(map(len, Path("out/held-out.txt").read_bytes().splitlines()))
    for pieces in (100, 200):
        run_of = json.loads(Path(f"out/results/unigram-{pieces}.json").read_text())["run"]
        tokens = 1e6 * run_of["evaluation"]["tokens"] / size
        operations = 6 * tokens * (500 + 8 * run_of["evaluation"]["pieces"])
        row = re.search(rf'<th scope="row">unigram {pieces}</th>(<td.*?)</tr>', html)
        assert row
        assert f">{tokens:,.0f}<" in row[1]
        assert f">{operations:.4e}<" in row[1]
    assert "Training operations and vocabulary size" in html


def test_a_failed_training_is_an_error_and_other_results_are_kept(folder: Path) -> None:
    (folder / "bad.toml").write_text("[bad]\nshrinking_factor = 3\n", encoding="utf-8")
    status, _, err = run("--configs", "unigram,bad.toml", "--quiet")
    assert status == 1
    assert err.count("\n") == 1
    assert_error(err, "trainer-failed bad-100 spm_train")
    assert Path("out/results/unigram-100.json").exists()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--text", "x" * 300), "cannot-read --text File name too long"),
        (("--output", "x" * 300), "cannot-write --output File name too long"),
        (("--output", "a\0b"), "impossible-path --output"),
        (("--text", "a\0b"), "cannot-read --text"),
        (("--gold", "x" * 300), "cannot-read --gold File name too long"),
        (("--gold", "a\0b"), "cannot-read --gold"),
        (("--gold", "."), "cannot-read --gold Is a directory"),
        (("--configs", "x" * 300 + ".toml"), "cannot-read --configs File name too long"),
        (("--configs", "..toml"), "cannot-read --configs No such file or directory"),
        (("--text", "nowhere.txt"), "cannot-read nowhere.txt No such file or directory"),
        (("--text", "/dev/null"), "bad-value"),
        (("--output", "text.txt"), "cannot-write text.txt"),
        (("--text", "a=text.txt,b=short.txt"), "bad-value 20"),
        (("--text", "text.txt", "--language_column", "lang"), "bad-value text.txt"),
    ],
)
def test_an_error_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run("--quiet", *arguments)
    assert (status, out) == (1, "")
    assert err.count("\n") == 1
    assert_error(err, message)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--configs", "other"), "usage"),
        (("--configs", "bpe", "--baseline", "unigram"), "usage --baseline"),
        (("--bootstrap", "1"), "usage --bootstrap 100"),
        (("--training_bytes", "1e9"), "usage --training_bytes --embedding_width=N"),
        (("--confidence", "90"), "usage --confidence --bootstrap=N"),
        (("--vocab_size", "many"), "usage --vocab_size"),
        (("--vocab_size", "9" * 300), "usage --vocab_size"),
        (
            ("--vocab_size", "100," + "9" * 5000),
            "usage --vocab_size",
        ),
        (("--vocab_size", "٣"), "usage --vocab_size"),
    ],
)
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run("--quiet", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert_error(err, message)


def test_a_key_cannot_change_where_results_are_written(folder: Path) -> None:
    key = f"model_prefix={folder}/elsewhere"
    (folder / "bad.toml").write_text(f'[bad]\n"{key}" = "x"\n', encoding="utf-8")
    status, out, err = run("--configs", "bad.toml", "--quiet")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1
    assert_error(
        err,
        f"bad-config bad.toml {key!r}",
    )
    assert not list(folder.glob("elsewhere*"))
    assert not Path("out").exists()


def test_long_names_and_names_that_differ_only_in_case_get_their_own_files(folder: Path) -> None:
    names = ["a" * 300, "a" * 300 + "b", "own", "Own", "\u00fc" * 200]
    text = "".join(f'["{name}"]\nmodel_type = "char"\n' for name in names)
    (folder / "own.toml").write_text(text, encoding="utf-8")
    assert run("--configs", "own.toml", "--quiet")[0] == 0
    written = [path.name for path in Path("out/results").iterdir()]
    assert "own-100.json" in written
    assert len({name.lower() for name in written}) == len(names)
    assert all(len(name.encode()) < 128 for name in written)
    html = Path("out/report.html").read_text(encoding="utf-8")
    assert all(name in html for name in names)


@pytest.mark.usefixtures("folder")
def test_a_model_that_is_smaller_than_asked_for_is_a_warning() -> None:
    """The warning also appears if the result is read from the folder."""
    for _ in range(2):
        status, out, err = run("--configs", "unigram", "--vocab_size", "60,5000")
        assert status == 0
        small, large = out.split("\n\n")[:2]
        pieces = large.splitlines()[-1].split()[1]
        (warning,) = [line for line in err.splitlines() if "has only" in line]
        assert warning.endswith(f"unigram 5,000: the model has only {pieces} pieces.")
        assert "WARNING" in warning
        assert (" pieces  pieces " in small, " pieces  pieces " in large) == (False, True)


@pytest.mark.usefixtures("folder")
def test_a_model_is_not_called_small_because_of_its_spaces() -> None:
    status, _, err = run("--configs", "unigram-no-spaces")
    assert (status, "has only" in err) == (0, False)


def test_a_held_out_text_without_tokens(folder: Path) -> None:
    lines = corpora.words_text(3, 400).splitlines()
    lines[19::20] = ["\u200b"] * len(lines[19::20])
    (folder / "text.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    status, _, err = run("--configs", "bpe,unigram", "--quiet")
    assert (status, err.count("\n")) == (0, 0), err


def test_warnings_of_a_training_are_repeated(folder: Path) -> None:
    text = (folder / "text.txt").read_text(encoding="utf-8")
    (folder / "text.txt").write_text(f"{text}{'long ' * 2000}\n", encoding="utf-8")
    status, _, err = run("--configs", "unigram")
    assert status == 0
    assert "WARNING spmcompat: unigram-100: Skipped 1 too long sentence" in err


def test_a_value_may_have_300_characters(folder: Path) -> None:
    (folder / "own.toml").write_text(f'[own]\nrequired_chars = "{"a" * 300}"\n')
    assert run("--configs", "own.toml", "--quiet")[0] == 0


def test_a_value_that_is_too_long_for_a_command_line_is_an_error(folder: Path) -> None:
    (folder / "own.toml").write_text(f'[own]\ncontrol_symbols = "{"a" * 200_000}"\n')
    status, _, err = run("--configs", "own.toml", "--quiet")
    assert status == 1
    assert err.count("\n") == 1
    assert_error(err, "trainer-failed own-100 Argument list too long")


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("name", ["train.txt", ".spmcompat-compare"])
def test_a_text_in_the_folder_of_the_report_is_not_replaced(name: str) -> None:
    os.rename("text.txt", name)
    text = Path(name).read_bytes()
    status, out, err = run("--text", name, "--output", ".", "--quiet")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, f"would-overwrite {name} {name}")
    assert Path(name).read_bytes() == text
    assert sorted(os.listdir()) == sorted(["short.txt", name])


@pytest.mark.parametrize(
    "name",
    ["train.txt", "held-out.txt", "report.html", "models/char-100.model", "results/char-100.json"],
)
def test_files_of_the_user_are_not_replaced(folder: Path, name: str) -> None:
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    own = folder / "out" / name
    own.parent.mkdir(parents=True, exist_ok=True)
    own.write_text("mine")
    arguments = ("--configs", "own.toml", "--quiet")
    status, out, err = run(*arguments)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, f"would-overwrite out/{name}")
    assert own.read_text() == "mine"
    own.unlink()
    assert run(*arguments)[0] == 0
    assert run(*arguments)[0] == 0  # replaces the files that the run above created


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_the_training_that_runs(folder: Path, number: signal.Signals) -> None:
    os.mkfifo("seeds")
    (folder / "own.toml").write_text(
        '[first]\nmodel_type = "char"\n[second]\nseed_sentencepieces_file = "seeds"\n'
    )
    command = ["-m", "spmcompat", "compare", "--text=text.txt", "--output=out", "--quiet"]
    command += ["--vocab_size=100", "--configs=own.toml"]
    writers: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            writers.append(os.open("seeds", os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    with start_python(command, folder, stderr=subprocess.PIPE) as process:
        wait_until(is_read, "the second training waits for its seeds")
        process.send_signal(number)
        assert process.stderr is not None
        err = process.stderr.read().decode()
        assert process.wait(LIMIT) == 128 + number
    with pytest.raises(BrokenPipeError):  # the training process has ended, too
        os.write(writers[0], b"x")
    os.close(writers[0])
    word = "interrupted" if number == signal.SIGINT else "terminated"
    message = f"{word}. Run the same command again to continue.\n"
    assert err == f"spmcompat compare: {message}"
    found = sorted(path.relative_to("out").as_posix() for path in Path("out").rglob("*.*"))
    assert found == [
        ".spmcompat-compare",
        "held-out.txt",
        *(f"models/first-100.{end}" for end in ("log", "model", "vocab")),
        "results/first-100.json",
        "train.txt",
    ]


def files_of(folder: str) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in Path(folder).rglob("*") if path.is_file()}


def test_a_second_run_in_the_same_folder_is_refused(folder: Path) -> None:
    os.mkfifo("seeds")
    (folder / "slow.toml").write_text(
        '[first]\nmodel_type = "char"\n[second]\nseed_sentencepieces_file = "seeds"\n'
    )
    (folder / "other.txt").write_text(corpora.words_text(8, 400, "greek", 200), encoding="utf-8")
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    (folder / "link").symlink_to("out")
    other = ("--text=other.txt", "--vocab_size=100", "--configs=own.toml", "--quiet")
    command = ["-m", "spmcompat", "compare", "--text=text.txt", "--output=out", "--quiet"]
    command += ["--vocab_size=100", "--configs=slow.toml"]
    writers: list[int] = []

    def is_read() -> bool:
        with suppress(OSError):
            writers.append(os.open("seeds", os.O_WRONLY | os.O_NONBLOCK))
        return bool(writers)

    with start_python(command, folder) as process:
        try:
            wait_until(is_read, "the second training waits for its seeds")
            before = files_of("out")
            for name in ("out", "link"):
                status, out, err = compare(*other, f"--output={name}")
                assert (status, out, err.count("\n")) == (1, "", 1), err
                assert_error(err, f"folder-in-use {name} --output")
            assert files_of("out") == before
            assert compare(*other, "--output=elsewhere")[0] == 0
        finally:
            process.kill()
    os.close(writers[0])
    status, _, err = compare(*other, "--output=out")
    assert status == 0, err
    assert Path("out/train.txt").read_bytes() == Path("elsewhere/train.txt").read_bytes()


def test_two_runs_that_start_together_do_not_mix_their_texts(folder: Path) -> None:
    (folder / "other.txt").write_text(corpora.words_text(8, 400, "greek", 200), encoding="utf-8")
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    flags = ["--output=out", "--vocab_size=100", "--configs=own.toml", "--quiet"]
    command = ["-m", "spmcompat", "compare", *flags]
    processes = [
        start_python([*command, f"--text={name}"], folder, stderr=subprocess.PIPE)
        for name in ("text.txt", "other.txt")
    ]
    errors = [process.communicate()[1].decode() for process in processes]
    # On a busy machine, one of them may end before the other one has started.
    for process, err in zip(processes, errors, strict=True):
        assert (process.returncode, err.count("\n")) in ((0, 0), (1, 1)), err
    assert any(process.returncode == 0 for process in processes)
    html = Path("out/report.html").read_text(encoding="utf-8")
    (name,) = re.findall(r"<h1>Tokenizers on (.*)</h1>", html)
    lines = Path(name).read_text(encoding="utf-8").splitlines()
    held_out = Path("out/held-out.txt").read_text(encoding="utf-8").splitlines()
    assert held_out == lines[19::20]
    evaluation = json.loads(Path("out/results/char-100.json").read_text())["run"]["evaluation"]
    assert evaluation["words"] == sum(len(line.split()) for line in held_out)


def test_the_memory_of_a_training_does_not_include_that_of_the_command(folder: Path) -> None:
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    len(b"x" * (400 << 20))  # raises the peak memory of this process
    assert run("--configs", "own.toml", "--quiet")[0] == 0
    result = json.loads(Path("out/results/char-100.json").read_text())
    assert 10 < result["run"]["mib"] < 350


def test_a_report_that_cannot_be_replaced_stays(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "own.toml").write_text('[char]\nmodel_type = "char"\n')
    assert run("--configs", "own.toml")[0] == 0
    before = Path("out/report.html").read_bytes()
    replace = os.replace

    def fail(source: str, target: str) -> None:
        if target.endswith("report.html"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail)
    status, _, err = run("--configs", "own.toml", "--quiet")
    assert (status, err.count("\n")) == (1, 1)
    assert_error(err, "cannot-write out/report.html --output No space left on device")
    assert Path("out/report.html").read_bytes() == before
    assert not [path for path in Path("out").rglob("*") if path.suffix == ".tmp"]


def test_the_error_names_a_report_that_cannot_be_written(folder: Path) -> None:
    (folder / "out" / "train.txt").mkdir(parents=True)
    status, _, err = run("--configs", "unigram", "--quiet")
    assert status == 1
    assert_error(err, "cannot-write out/train.txt --output Is a directory")
    (folder / "out" / "train.txt").rmdir()
    (folder / "out" / "models" / "unigram-100.log").mkdir(parents=True)
    status, _, err = run("--configs", "unigram", "--quiet")
    assert status == 1
    assert err.count("\n") == 1
    assert "out/models/unigram-100.log: Is a directory" in err


def test_the_name_of_the_text_may_contain_bytes_that_are_not_utf8(folder: Path) -> None:
    name = os.fsdecode(b"text\xff.txt")
    (folder / "text.txt").rename(folder / name)
    assert run("--configs", "bpe", "--text", name, "--quiet")[0] == 0
    assert "text\\udcff.txt" in Path("out/report.html").read_text(encoding="utf-8")


@pytest.mark.usefixtures("folder")
def test_a_missing_library_is_named_before_anything_is_trained(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    status, _, err = run("--configs", "unigram,hf-unigram", "--quiet")
    assert status == 1
    assert_error(err, "missing-library spmcompat[compare]")
    assert not Path("out/train.txt").exists()
