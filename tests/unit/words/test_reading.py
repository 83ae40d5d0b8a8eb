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
