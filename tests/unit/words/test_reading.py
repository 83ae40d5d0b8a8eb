"""The options for reading a text whose words are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from tests.kinds import raises_kind

pytest.importorskip("pyarrow")


def words_of(**text: Any) -> dict[str, int]:
    table = spmcompat.count_words("gpt2", minloglevel=2, **text)
    return {row["word"]: row["count"] for row in table.to_arrow().to_pylist()}


@pytest.mark.parametrize("form", ["file", "compressed", "items", "split items"])
def test_strict_refuses_nul(form: str, tmp_path: Path) -> None:
    lines = ["a b\n", "c\n", "d\0e\n"]
    path = tmp_path / "a.txt"
    path.write_text("".join(lines))
    options: dict[str, Any] = {"sentence_iterator": lines, "split_lines": form == "split items"}
    place = {"items": "item:3", "split items": "item:1"}.get(form, "a.txt:3")
    if form == "file":
        options = {"input": path}
    elif form == "compressed":
        import gzip

        (tmp_path / "a.txt.gz").write_bytes(gzip.compress(path.read_bytes()))
        options, place = {"input": tmp_path / "a.txt.gz"}, "a.txt.gz:3"
    assert words_of(**options)["\0"] == 1
    with raises_kind(f"strict NUL {place}"):
        words_of(strict=True, **options)


@pytest.mark.parametrize("kind", ["null", "broken"])
@pytest.mark.parametrize("skipped", [1, 2])
def test_strict_refuses_many_skipped_records(kind: str, skipped: int, tmp_path: Path) -> None:
    import pyarrow as pa

    texts = ["a"] * (100 if skipped == 1 else 197)  # one hundredth is allowed
    options: dict[str, Any] = {"sentence_iterator": pa.table({"text": [*texts, *[None] * skipped]})}
    if kind == "broken":
        lines = [*(json.dumps({"text": text}) for text in texts), *["{"] * skipped]
        (tmp_path / "a.jsonl").write_text("\n".join(lines))
        options = {"input": tmp_path / "a.jsonl", "skip_bad_records": True}
    if skipped == 1:
        assert words_of(strict=True, **options) == {"a": 100}
        return
    assert words_of(**options) == {"a": 197}
    with raises_kind(f"strict {kind}"):
        words_of(strict=True, **options)


def test_strict_with_a_pre_tokenizer_of_the_library(tmp_path: Path) -> None:
    tokenizers = pytest.importorskip("tokenizers")
    template = tmp_path / "a.json"
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(template))
    with raises_kind("strict NUL item:2"):
        spmcompat.count_words(template, sentence_iterator=["a", "\0"], strict=True)


def test_options_of_texts_are_refused_with_counts() -> None:
    counts = spmcompat.count_words("gpt2", sentence_iterator=["a"])
    for name, value in {"strict": True, "split_lines": True, "column": "text"}.items():
        for source in ({"counts": counts}, {"language_counts": [counts]}):
            with raises_kind(f"conflicting-options {name} counts"):
                spmcompat.train_tokenizer("gpt2", **source, **{name: value})  # type: ignore[arg-type]


LINES = [f"w{number} x\n" for number in range(500)] + ["\n", "a\u2585b\n", "end"]


@pytest.mark.parametrize("form", ["file", "items", "records"])
def test_a_sample(form: str, tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    options: dict[str, Any] = {"sentence_iterator": LINES}
    if form == "file":
        path.write_text("".join(LINES))
        options = {"input": path}
    elif form == "records":
        path = path.with_suffix(".jsonl")
        path.write_text("\n".join(json.dumps({"text": line}) for line in LINES))
        options = {"input": path, "workers": 3}
    sample = words_of(input_sentence_size=200, **options)
    assert 197 <= sample[" x"] <= 200
    assert sample == words_of(input_sentence_size=200, **{**options, "workers": 1})
    assert sample != words_of(input_sentence_size=200, sampling_seed=5, **options)
    assert words_of(input_sentence_size=10_000, **options) == words_of(**options)
    first = words_of(input_sentence_size=200, shuffle_input_sentence=False, **options)
    assert first == words_of(sentence_iterator=LINES[:200])


def test_text_outside_the_sample_is_checked(tmp_path: Path) -> None:
    lines = [b"a\n"] * 500 + [b"\0\n", b"\xff\n"]
    with raises_kind("not-utf8 item:502"):
        words_of(input_sentence_size=101, sentence_iterator=lines)
    with raises_kind("strict NUL item:501"):
        words_of(input_sentence_size=101, strict=True, sentence_iterator=lines[:-1])


def test_training_on_a_sample(tmp_path: Path) -> None:
    """The library cuts the sample, too."""
    tokenizers = pytest.importorskip("tokenizers")
    template = tmp_path / "a.json"
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    tokenizer.save(str(template))
    options: dict[str, Any] = {"shuffle_input_sentence": False, "vocab_size": 50}
    found = spmcompat.train_tokenizer(
        template, sentence_iterator=LINES, input_sentence_size=130, **options
    )
    expected = spmcompat.train_tokenizer(template, sentence_iterator=LINES[:130], vocab_size=50)
    assert found.document == expected.document  # type: ignore[union-attr]
