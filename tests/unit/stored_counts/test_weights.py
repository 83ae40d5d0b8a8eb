"""Merging tables with weights has the same result as counting texts that are repeated."""

from __future__ import annotations

import os
import random
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.stored_counts.merging_tables import Merging
from spmcompat.stored_counts.table import CountTable

pa = pytest.importorskip("pyarrow")

PAIRS = int(os.environ.get("SPMCOMPAT_WEIGHTS", "4"))
QUIET = {"minloglevel": 2}
MODEL_TYPES = ("unigram", "bpe", "word", "char")


def text(dice: random.Random) -> list[str]:
    words = ["".join(dice.choices("abcdeé日", k=dice.randint(1, 7))) for _ in range(40)]
    return [" ".join(dice.choices(words, k=dice.randint(1, 8))) for _ in range(dice.randint(1, 60))]


def merged(tables: Sequence[CountTable], weights: Sequence[int | Fraction]) -> CountTable:
    merging = Merging(tables, [Fraction(weight) for weight in weights])
    return CountTable(merging.origin(), pa.Table.from_batches([*merging]))


@pytest.mark.parametrize("case", range(PAIRS))
def test_models_are_those_of_the_repeated_texts(case: int, tmp_path: Path) -> None:
    dice = random.Random(f"weights {case}")
    texts = [text(dice), text(dice)]
    weights = [dice.randint(1, 5), dice.randint(1, 5)]
    counts = merged([spmcompat.count(sentence_iterator=one, **QUIET) for one in texts], weights)
    repeated = [line for one, weight in zip(texts, weights, strict=True) for line in one * weight]
    for model_type in MODEL_TYPES:
        options: dict[str, Any] = {"model_type": model_type, "vocab_size": 60, **QUIET}
        written = []
        for source in ({"counts": counts}, {"sentence_iterator": repeated}):
            prefix = str(tmp_path / "m")
            spmcompat.train(**source, model_prefix=prefix, hard_vocab_limit=False, **options)
            written.append([Path(prefix + end).read_bytes() for end in (".model", ".vocab")])
        assert written[0] == written[1], f"{model_type}, weights {weights}"


@pytest.mark.slow
@pytest.mark.parametrize("weights", [(1, 100), (10, 10), (3, 1), (1, 1)], ids=str)
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"add_dummy_prefix": False},
        {"add_dummy_prefix": False, "remove_extra_whitespaces": False},
        {"treat_whitespace_as_suffix": True},
        {"treat_whitespace_as_suffix": True, "add_dummy_prefix": False},
        {"treat_whitespace_as_suffix": True, "model_type": "word"},
        {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
        {"space_pieces": "separate"},
        {"pretokenizer": "script"},
        {"pretokenizer": "regex:[a-z]+|."},
        {"pretokenizer": str.split, "allow_inconsistent_pretokenization": True},
        {"pretokenization_delimiter": "e"},
        {"user_defined_symbols": ["ap", "\u2581y"]},
        {"input_format": "tsv"},
        {"input_format": "tsv", "add_dummy_prefix": False},
    ],
    ids=str,
)
def test_merged_rows_are_those_of_the_repeated_texts(
    options: dict[str, Any], weights: tuple[int, int], tmp_path: Path
) -> None:
    texts = [["apple pear", "x y", "y"], ["x z", "zebra", "apple x y"]]
    if options.get("input_format") == "tsv":
        texts = [[f"{line}\t{3 - i}" for i, line in enumerate(one)] for one in texts]

    def count(lines: list[str]) -> CountTable:
        path = tmp_path / "text"
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        return spmcompat.count(input=path, **options, **QUIET)

    found = merged([count(one) for one in texts], weights)
    expected = count(texts[0] * weights[0] + texts[1] * weights[1])
    assert found.to_arrow().to_pylist() == expected.to_arrow().to_pylist()
    same = ("sentences", "lines", "first_character", "huge_characters")
    for name in same:
        assert getattr(found.origin, name) == pytest.approx(getattr(expected.origin, name)), name


def test_a_weight_below_one_half_drops_the_end_of_a_text_but_the_last() -> None:
    tables = [spmcompat.count(sentence_iterator=[one], **QUIET) for one in ("a b", "c d")]
    rows = merged(tables, [Fraction(1, 4), Fraction(1, 4)]).to_arrow().to_pylist()
    assert rows == [{"pretoken": "▁d", "place": 2, "next": 0, "count": 1}]
