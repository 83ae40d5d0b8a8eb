"""Training from stored words: the tokenizer of the text, however the words were added up."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from tests.kinds import raises_kind

from .corpora import mixed_text, words_text

pa = pytest.importorskip("pyarrow")
pytest.importorskip("tokenizers")

TEXTS = [
    *mixed_text(300).splitlines(),
    *words_text(300).splitlines(),
    "two  spaces and it's",
    "",
    "漢字かな" * 20,
]
TEMPLATES = ["gpt2", "llama3", "qwen2"]


def trained(like: str, **text: Any) -> dict[str, Any]:
    found = spmcompat.train_tokenizer(like, vocab_size=700, **text)
    assert isinstance(found, spmcompat.TrainedTokenizer)
    return found.document


@pytest.mark.parametrize("like", TEMPLATES)
def test_a_table_gives_the_tokenizer_of_the_text(like: str, tmp_path: Path) -> None:
    counts = spmcompat.count_words(like, sentence_iterator=TEXTS)
    expected = trained(like, sentence_iterator=TEXTS)
    assert trained(like, counts=counts) == expected
    counts.save(tmp_path / "words.parquet")
    assert trained(like, counts=tmp_path / "words.parquet") == expected
    loaded = spmcompat.load_words(tmp_path / "words.parquet")
    assert isinstance(loaded, spmcompat.WordTable)
    assert loaded.to_arrow() == counts.to_arrow()


@pytest.mark.parametrize("like", TEMPLATES)
@pytest.mark.parametrize("parts", [2, 7])
def test_words_are_merged_in_any_order(like: str, parts: int, tmp_path: Path) -> None:
    chance = random.Random(parts)
    texts = TEXTS[:]
    chance.shuffle(texts)
    tables = [spmcompat.count_words(like, sentence_iterator=texts[i::parts]) for i in range(parts)]
    chance.shuffle(tables)
    merged = spmcompat.merge_words(tables, output=tmp_path / "all.parquet", minloglevel=2)
    whole = spmcompat.count_words(like, sentence_iterator=TEXTS)
    assert merged.to_arrow() == sum(tables).to_arrow() == whole.to_arrow()  # type: ignore[union-attr]
    assert trained(like, counts=merged) == trained(like, sentence_iterator=TEXTS)


def test_a_weight_repeats_a_text(tmp_path: Path) -> None:
    one, other = TEXTS[::2], TEXTS[1::2]
    tables = [spmcompat.count_words("gpt2", sentence_iterator=part) for part in (one, other)]
    merged = spmcompat.merge_words(tables, weights=[3, 1], output=tmp_path / "w", minloglevel=2)
    assert trained("gpt2", counts=merged) == trained("gpt2", sentence_iterator=[*one * 3, *other])


def test_weights_by_bytes_and_temperature(tmp_path: Path) -> None:
    texts = [["aaaa"] * 100, ["bb"] * 50]
    tables = [spmcompat.count_words("gpt2", sentence_iterator=text) for text in texts]

    def sizes(**options: Any) -> list[int]:
        path = tmp_path / "merged"
        merged = spmcompat.merge_words(tables, output=path, minloglevel=2, **options)
        return [len(row["word"]) * row["count"] for row in merged.to_arrow().to_pylist()]

    assert sizes(bytes=[1000, 20]) == [1000, 20]
    assert sizes(temperature=0) == [252, 250]  # 62.5 is rounded to 63
    assert sizes(temperature=1) == [400, 100]
    assert sizes(min_count=51) == [400]


def test_words_of_another_template_are_refused(tmp_path: Path) -> None:
    counts = spmcompat.count_words("gpt2", sentence_iterator=TEXTS)
    with raises_kind("counts-mismatch pre_tokenizer"):
        spmcompat.train_tokenizer("llama3", counts=counts)
    other = spmcompat.count_words("llama3", sentence_iterator=TEXTS)
    with raises_kind("counts-mismatch pre_tokenizer"):
        counts + other
    path = tmp_path / "pretokens.parquet"
    spmcompat.count(sentence_iterator=TEXTS, minloglevel=2).save(path)
    with raises_kind("bad-counts pretokens.parquet"):
        spmcompat.train_tokenizer("gpt2", counts=path)
    with raises_kind("bad-counts pretokens.parquet"):
        spmcompat.merge_words([counts, path], output=tmp_path / "m")
    with raises_kind("conflicting-options counts"):
        spmcompat.train_tokenizer("gpt2", counts=counts, sentence_iterator=TEXTS)
    counts.save(tmp_path / "words.parquet")
    with raises_kind("bad-counts words.parquet"):
        spmcompat.train(counts=tmp_path / "words.parquet", model_prefix=tmp_path / "m")


HOSTILE = {
    "count": [("a", 1), ("b", 0)],
    "negative": [("a", -5)],
    "empty": [("", 1)],
    "too large": [("a", 2**62), ("b", 2**62)],
    "null": [(None, 1)],
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_impossible_rows_are_refused(kind: str, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "words.parquet"
    spmcompat.count_words("gpt2", sentence_iterator=["a"]).save(path)
    words, counts = zip(*HOSTILE[kind], strict=True)
    rows = pa.table({"word": pa.array(words, pa.large_string()), "count": pa.array(counts)})
    pq.write_table(rows.replace_schema_metadata(pq.read_metadata(path).metadata), path)
    with raises_kind("too-large" if kind == "too large" else "bad-counts words.parquet"):
        spmcompat.train_tokenizer("gpt2", counts=path)


@pytest.mark.parametrize(
    "metadata",
    [
        b"",
        b"[]",
        b'{"version": 2}',
        b'{"version": 2, "splitting": [], "are_bytes": true, "changes": [], "has_total": false}',
    ],
)
def test_invalid_metadata_are_refused(metadata: bytes, tmp_path: Path) -> None:
    import pyarrow.parquet as pq

    path = tmp_path / "words.parquet"
    rows = pa.table({"word": ["a"], "count": [1]}).replace_schema_metadata(
        {b"spmcompat.words": metadata}
    )
    pq.write_table(rows, path)
    with raises_kind("bad-counts words.parquet"):
        spmcompat.load_words(path)


def test_the_commands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.txt").write_text("\n".join(TEXTS), encoding="utf-8")
    Path("b.txt").write_text("other text\n", encoding="utf-8")
    for name in "ab":
        assert main(["count", "--like=gpt2", f"--input={name}.txt", f"--output={name}.words"]) == 0
    assert main(["counts", "merge", "a.words", "b.words", "--output=ab.words"]) == 0
    assert main(["count", "--input=a.txt", "--output=a.counts"]) == 0
    assert main(["counts", "merge", "a.words", "a.counts", "--output=m"]) == 1
    assert main(["counts", "merge", "a.counts", "--bytes=5", "--output=m"]) == 1
    assert main(["counts", "show", "ab.words"]) == 0
    assert "ByteLevel" in capsys.readouterr().out
    line = ["train_tokenizer", "--like=gpt2", "--vocab_size=400,500"]
    assert main([*line, "--counts=ab.words", "--output=counted.json"]) == 0
    assert main([*line, "--input=a.txt,b.txt", "--output=read.json"]) == 0
    for size in (400, 500):
        ours, theirs = (Path(f"{one}-{size}.json").read_bytes() for one in ("counted", "read"))
        assert ours == theirs
    assert main(["count", "--like=gpt2", "--input=a.txt", "--output=c", "--byte_fallback"]) == 1
