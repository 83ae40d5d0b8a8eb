"""Parity-aware BPE against the oracle, plain BPE and the runtime of the reference."""

from __future__ import annotations

import io
import os
import random
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from spmcompat.bpe.merges import parity_merges
from spmcompat.model.reading import parse
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import SegmentCounts, bpe_segments
from spmcompat.segments.cutting import counts_and_alphabet
from spmcompat.text.sources import Items
from tests.kinds import raises_kind
from tests.oracle import parity_merging
from tests.oracle.characters import SPACE, Options, Sentence, cover
from tests.parity import corpora
from tests.searches import examples
from tests.unit import stages
from tests.unit.stages import QUIET

Lines = list[Sentence]

VARIANTS: dict[str, dict[str, Any]] = {
    "base": {},
    "window": {"window": 7, "alpha": Fraction(3, 2)},
    "narrow": {"window": 3, "alpha": Fraction(1)},
    "exact": {"window": 100, "alpha": Fraction("1.15")},
    "first": {"first_merges": 9},
    "first, window": {"first_merges": 5, "window": 5, "alpha": Fraction(1)},
}


def read(
    lines: Lines, options: Options, workers: int, alphabet: list[tuple[int, int]] | None = None
) -> tuple[SegmentCounts, int, list[tuple[int, int]]]:
    """Return the segments, the number of characters and the alphabet of a text."""
    plan = stages.plan_of(
        model_type=TrainerSpec.BPE, input_format="tsv", **stages.corpus_options(options)
    )
    threads = Workers(workers)
    items = Items([f"{line}\t{count}" for line, count in lines])
    counts, own = counts_and_alphabet(plan, items, Context(threads, QUIET))
    characters = sum(counts.characters(threads).values())
    return bpe_segments(counts, alphabet or own, plan, threads), characters, alphabet or own


def ours(
    languages: list[tuple[Lines, Lines]],
    weights: list[Fraction],
    options: Options,
    wanted: int,
    workers: int,
    variant: dict[str, Any],
) -> tuple[list[bytes], list[int], list[int]]:
    *_, alphabet = read([one for lines, _ in languages for one in lines], options, workers)
    texts = []
    for (training, development), weight in zip(languages, weights, strict=True):
        segments, *_ = read(training, options, workers, alphabet)
        others, characters, _ = read(development, options, workers, alphabet)
        ratio, unit = Fraction(weight.numerator), weight.denominator
        texts.append((segments, others, characters, ratio, unit))
    given = dict(variant)
    if "window" in given:
        given["most_choices"] = int(given.pop("alpha") * given["window"] / len(languages))
    return parity_merges(texts, wanted, Workers(workers), **given)


def test_cancelled_merges_stop_even_before_the_first_merge() -> None:
    segments, characters, _ = read([("abab", 1)], Options(), 1)
    workers = Workers(1)
    workers.cancel.set()
    with pytest.raises(RuntimeError, match="cancelled"):
        parity_merges([(segments, segments, characters, Fraction(1), 1)], 0, workers)


@pytest.mark.slow
@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("number", range(examples(20)))
def test_merges_are_those_of_the_oracle(number: int, variant: str) -> None:
    dice = random.Random(f"parity/{number}")
    options = stages.random_options(dice)
    languages = [
        (stages.random_lines(dice), stages.random_lines(dice)) for _ in range(dice.randint(2, 4))
    ]
    if number % 2:  # without development texts
        languages = [(training, training) for training, _ in languages]
    sizes = [sum(len(line) * n for line, n in development) for _, development in languages]
    weights = [
        dice.choice([Fraction(1), Fraction(1, 2), Fraction(6, 5), Fraction(1, 3)]) / size
        for size in sizes
    ]
    normal = [
        [[(stages.normalized(line, options, True), n) for line, n in text] for text in one]
        for one in languages
    ]
    _, required = cover([one for training, _ in normal for one in training], options)
    known = [
        [
            [("".join(c if c in required else "\u2585" for c in line), n) for line, n in text]
            for text in one
        ]
        for one in normal
    ]
    oracle = [
        parity_merging.Language(training, development, weight)
        for (training, development), weight in zip(known, weights, strict=True)
    ]
    given = VARIANTS[variant]
    found = [*parity_merging.merges(oracle, options, 60, **given)]
    pieces, chosen, tokens = ours(languages, weights, options, 60, 1 + number % 3, given)
    assert [piece.decode() for piece in pieces] == [piece for piece, _, _ in found]
    assert chosen == [language for _, language, _ in found]
    if found:
        assert tokens == found[-1][2]


def test_the_costliest_language_chooses_and_ties_go_to_the_first() -> None:
    first, second = [("abab", 2)], [("cdcdcdcd", 1)]
    options = Options()
    languages = [(first, first), (second, second)]
    equal, unequal = [Fraction(1)] * 2, [Fraction(1), Fraction(9)]
    both = ours(languages, equal, options, 2, 1, {})
    assert (both[0], both[1]) == ([b"ab", b"cd"], [0, 1])
    heavy = ours(languages, unequal, options, 2, 1, {})
    assert heavy[1] == [1, 1]
    assert ours(languages, unequal, options, 4, 1, {"window": 1, "alpha": 1})[1] == [1, 0, 1, 0]


@pytest.mark.slow
@pytest.mark.parametrize("characters", range(4, 120))
def test_rounding_decides_no_tie(characters: int) -> None:
    """Each text has one token per character, but n * (1 / n) is below 1 for 49, 98 and others."""
    texts = [[("ab" * characters, 1)], [("cdcdcd", 1)]]
    weights = [Fraction(1, sum(len(line) + 1 for line, _ in text)) for text in texts]
    languages = [(text, text) for text in texts]
    assert ours(languages, weights, Options(), 1, 1, {})[1] == [0]
    assert ours(languages[::-1], weights[::-1], Options(), 1, 1, {})[1] == [0]


@pytest.mark.parametrize(
    ("ratios", "first"),
    [
        ([1, 1], b"ab"),
        ([0.1, 0.1], b"ab"),
        (["0.3", "0.30000000000000001"], b"cd"),
        ([3, 2.9999999], b"ab"),
        (["1e-9", "1.000000001e-9"], b"cd"),
    ],
)
def test_ratios_count_as_they_are_written(ratios: list[object], first: bytes) -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    texts = ["ab" * 24, "cdcdcd"]
    tables = [spmcompat.count(sentence_iterator=[text]) for text in texts]
    options = {"vocab_size": 9, "hard_vocab_limit": False, "character_coverage": 1.0}
    model = trained(language_counts=tables, language_ratios=ratios, **options)
    assert parse(model).pieces[3].piece.encode() == first


def spanish(seed: int, lines: int = 60) -> list[str]:
    return corpora.words_text(seed, lines=lines).splitlines()


def trained(**options: object) -> bytes:
    import spmcompat

    written = io.BytesIO()
    spmcompat.train(model_writer=written, model_type="bpe", minloglevel=3, **options)  # type: ignore[arg-type]
    return written.getvalue()


@pytest.mark.parametrize("size", [120, 300])
def test_one_language_gives_plain_bpe(size: int) -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    counts = spmcompat.count(sentence_iterator=spanish(1))
    plain = trained(counts=counts, vocab_size=size)
    assert trained(language_counts=[counts], vocab_size=size) == plain


def test_the_first_merges_alone_give_plain_bpe_of_the_merged_counts() -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    tables = [spmcompat.count(sentence_iterator=spanish(seed)) for seed in (1, 2, 3)]
    plain = trained(counts=sum(tables), vocab_size=300)
    options = {"language_counts": tables, "vocab_size": 300}
    assert trained(**options, language_first_merges=300) == plain
    assert trained(**options, language_ratios=[1, 1, 50]) != plain


def test_the_number_of_workers_does_not_change_the_model() -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    tables = [spmcompat.count(sentence_iterator=spanish(seed)) for seed in (1, 2, 3)]
    options = {"language_counts": tables, "vocab_size": 300, "language_window": 10}
    models = {
        trained(**options, language_development=tables[::-1], workers=workers)
        for workers in (1, 2, 5)
    }
    assert len(models) == 1


def merged_by_rank(text: str, ranks: dict[str, int]) -> list[str]:
    """Encode a text. Each merge takes the leftmost of the pairs whose text has the lowest rank."""
    symbols = list(text)
    while True:
        pairs = [(ranks[a + b], i) for i, (a, b) in enumerate(pairwise(symbols)) if a + b in ranks]
        if not pairs:
            return symbols
        _, at = min(pairs)
        symbols[at : at + 2] = ["".join(symbols[at : at + 2])]


@pytest.mark.slow
@pytest.mark.reference
def test_sentencepiece_encodes_as_the_merges_dictate() -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    import sentencepiece

    folder = os.environ.get("SPMCOMPAT_CORPORA")
    names = ["es", "fr", "tr", "vi"]
    if folder and all(Path(folder, f"{name}-courses.txt").exists() for name in names):
        texts = [
            Path(folder, f"{name}-courses.txt").read_text().split("\n")[:5000] for name in names
        ]
    else:
        texts = [spanish(seed, 5000) for seed in range(4)]
    tables = [spmcompat.count(sentence_iterator=lines[:2500]) for lines in texts]
    model = trained(language_counts=tables, vocab_size=1500, language_window=100)
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    ranks = {processor.id_to_piece(i): i for i in range(3, processor.get_piece_size())}
    encoded: dict[str, list[str]] = {}
    for line in (line for lines in texts for line in lines):
        text = processor.normalize(line)
        expected: list[str] = []
        # A merge never joins two words: only the first character of a piece may be a space mark.
        for word in text.replace(SPACE, f"\n{SPACE}").split("\n"):
            if word not in encoded:
                encoded[word] = merged_by_rank(word, ranks)
            expected += encoded[word]
        # The runtime of sentencepiece makes one unknown piece of neighbouring unknown characters.
        known = [piece if piece in ranks else "?" for piece in expected]
        joined = [p for i, p in enumerate(known) if p != "?" or known[i - 1 : i] != ["?"]]
        pieces = [p if p in ranks else "?" for p in processor.encode(line, out_type=str)]
        assert pieces == joined, line


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"language_ratios": [1]}, "conflicting-options language_ratios language_counts"),
        ({"language_ratios": [1, 0]}, "bad-value language_ratios"),
        ({"language_ratios": [1, "1e400"]}, "bad-value language_ratios"),
        ({"language_ratios": [1, "1e-999999999"]}, "bad-value language_ratios"),
        ({"language_ratios": [1, "1e-20"]}, "bad-value language_ratios"),
        ({"language_ratios": [1, "2/3"]}, "bad-value language_ratios"),
        ({"language_development": []}, ""),
        ({"language_window": 5, "language_alpha": 1e300}, ""),
        ({"language_alpha": 3}, "conflicting-options language_alpha language_window"),
        ({"language_window": -1}, "bad-value language_window"),
        (
            {"auto_character_coverage": True, "byte_fallback": True},
            "conflicting-options auto_character_coverage",
        ),
        ({"on_round": print}, "conflicting-options language_counts on_round"),
        ({"model_type": "unigram"}, "conflicting-options language_counts"),
    ],
)
def test_errors(options: dict[str, object], message: str) -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    tables = [spmcompat.count(sentence_iterator=spanish(seed)) for seed in (1, 2)]
    given = {"model_type": "bpe", "vocab_size": 400, "language_counts": tables, **options}
    if not message:
        spmcompat.train(model_writer=io.BytesIO(), minloglevel=3, **given)
        return
    with raises_kind(message):
        spmcompat.train(model_writer=io.BytesIO(), minloglevel=3, **given)


def test_counts_with_other_rules_are_refused() -> None:
    spmcompat = pytest.importorskip("spmcompat")
    pytest.importorskip("pyarrow")
    one = spmcompat.count(sentence_iterator=spanish(1))
    other = spmcompat.count(sentence_iterator=spanish(2), normalization_rule_name="identity")
    for options in (
        {"language_counts": [one, other]},
        {"language_counts": [one], "language_development": [other]},
    ):
        with raises_kind("counts-mismatch"):
            trained(**options, vocab_size=200)


@pytest.mark.parametrize("name", ["language_window", "language_first_merges", "language_ratios"])
def test_options_of_languages_need_their_counts(name: str) -> None:
    pytest.importorskip("spmcompat")
    value = [2.0] if name == "language_ratios" else 2
    with raises_kind(f"conflicting-options {name} language_counts"):
        trained(sentence_iterator=spanish(1), vocab_size=200, **{name: value})
