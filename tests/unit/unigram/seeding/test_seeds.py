"""Compares seeds with the oracle, bit for bit, and tests seed files."""

import math
import random
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO

import numpy as np
import pytest

from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report, Stage
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.seeding.seed_lines import parse_seed_lines
from spmcompat.unigram.seeding.seeds import seed_from_corpus, seed_from_counts
from spmcompat.unigram.trainer import make_seeds
from tests.kinds import raises_kind
from tests.oracle import seeding as oracle
from tests.oracle.characters import Options
from tests.searches import examples
from tests.unit import stages
from tests.unit.stages import Case

ALL = 1_000_000


def seeds_of(case: Case, limit: int, workers: int = 2) -> list[tuple[bytes, float]]:
    return seeds_by(case, stages.seed_options(limit), workers)


def seeds_by(case: Case, rule: UnigramOptions, workers: int = 2) -> list[tuple[bytes, float]]:
    return list(seed_from_corpus(case.corpus, rule, Context(Workers(workers), stages.QUIET)))


def expected_seeds(case: Case, limit: int) -> list[tuple[bytes, float]]:
    if limit == 0:  # only characters are seeds, but the oracle takes 0 as the default limit
        return stages.plain(oracle.log_probabilities(oracle.characters(case.sentences)))
    options = replace(case.options, seed_sentencepiece_size=limit)
    return stages.plain(oracle.seed(case.sentences, options))


@pytest.mark.slow
@pytest.mark.parametrize("number", range(examples(60)))
def test_seeds_equal_the_oracle(number: int) -> None:
    case = stages.random_case(f"seeds/{number}")
    expected = expected_seeds(case, ALL)
    for workers in (1, 2, 3):
        assert seeds_of(case, ALL, workers) == expected
    for limit in (0, 1, 7):
        assert seeds_of(case, limit) == expected_seeds(case, limit)


@pytest.mark.slow
@pytest.mark.parametrize(
    "lines",
    [
        # Some substrings are followed by a single byte, and also by the end of a sentence. They
        # branch only because a zero byte ends a sentence. Nothing follows the last sentence.
        ["ab", "ab", "ab"],
        ["abc", "ab", "abc", "ab"],
        ["ab ab", "ab"],
        ["b ab", "b ab", "ab b"],
        ["a", "aa", "aaa", "aaaa"],
        ["ab", "aab", "aaab"],
        # Without the dummy prefix, the sentences after "ab" begin with different bytes. So "ab"
        # with the zero byte after it branches.
        ["ab", "cab", "dab", "ab"],
        ["漢字", "漢字", "字漢字"],
        # Different characters with the same first byte follow "ab".
        ["abあ", "abい", "ab"],
        # Two characters with the same first byte follow "漢字". One of them begins a new segment.
        ["漢字あ", "漢字、"],
        ["é", "éa", "éb", "é"],
        # A single sentence: its end is the end of the text.
        ["abab"],
        ["ab"],
    ],
    ids=" | ".join,
)
@pytest.mark.parametrize("dummy", [True, False], ids=["dummy", "bare"])
@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
@pytest.mark.parametrize("frequency", [1, 3])
def test_substrings_at_the_ends_of_sentences(
    lines: list[str], dummy: bool, split: bool, frequency: int
) -> None:
    options = Options(character_coverage=1.0, split_by_whitespace=split)
    case = stages.both([(line, frequency) for line in lines], options, dummy)
    assert seeds_of(case, ALL) == expected_seeds(case, ALL)


@pytest.mark.parametrize("length", [2, 3, 16, 512])
def test_no_seed_is_longer_than_the_longest_piece(length: int) -> None:
    lines = [("a" * 600, 1), ("漢" * 40 + "b", 2), ("a" * 40 + "c", 1)]
    options = Options(max_sentencepiece_length=min(length, 64), character_coverage=1.0)
    case = stages.both(lines, options)
    seeds = seeds_of(case, ALL)
    assert max(len(piece.decode()) for piece, _ in seeds) == min(length, 64)
    assert seeds == expected_seeds(case, ALL)


class Steps:
    """A stage that adds up its steps."""

    def __init__(self, total: int | None) -> None:
        self.total = total
        self.done = 0

    def advance(self, count: int = 1) -> None:
        self.done += count

    def expect(self, count: int) -> None:
        raise AssertionError("the total is known from the beginning")


class Watch(Report):
    """A report that records its stages by name."""

    def __init__(self) -> None:
        super().__init__(3)
        self.stages: dict[str, Steps] = {}

    @contextmanager
    def stage(self, name: str, total: int | None = None, unit: str = "") -> Iterator[Stage]:
        self.stages[name] = Steps(total)
        yield self.stages[name]


def test_the_progress_of_a_search() -> None:
    case = stages.both([("ab abc", 3), ("c", 1)], Options(character_coverage=1.0))
    watch = Watch()
    seed_from_corpus(case.corpus, stages.seed_options(10), Context(Workers(2), watch))
    # "▁ab", "▁abc" and "▁c" have six suffixes that are longer than one character.
    assert (watch.stages["Seeding"].total, watch.stages["Seeding"].done) == (6, 6)


# The scores of seeds, and seeds that are too rare.


@pytest.mark.slow
@pytest.mark.parametrize("power", [0.0, 0.3, 0.5, 0.75, 1.0, 1.5, 2.0, -1.0, 9.7])
def test_seeds_with_powers_of_the_length_equal_the_oracle(power: float) -> None:
    for number in range(20):
        case = stages.random_case(f"powers/{number}")
        options = replace(case.options, seed_piece_length_power=power)
        for limit in (ALL, 7):
            expected = oracle.seed(case.sentences, replace(options, seed_sentencepiece_size=limit))
            assert seeds_by(case, stages.seed_options(limit, power)) == stages.plain(expected)


@pytest.mark.parametrize("power", [0.5, 0.7])
def test_length_weights_are_rounded_as_by_libm(power: float) -> None:
    """As in the reference, libm computes the weights: sqrt for the power 1/2, otherwise powf."""
    options = Options(character_coverage=1.0, max_sentencepiece_length=512)
    case = stages.both([("a" * 512 + end, 1) for end in "bc"], options, dummy=False)
    counts = {"a": np.float32(1024), "b": np.float32(1), "c": np.float32(1)}
    for length in range(2, 513):
        count = np.float32(2 * (513 - length))
        counts["a" * length] = count * oracle.length_weight(length, power)
    found = seeds_by(case, stages.seed_options(ALL, power))
    ordered = [(piece.decode(), counts[piece.decode()]) for piece, _ in found]
    assert len(found) == len(counts)
    assert found == stages.plain(oracle.log_probabilities(ordered))


@pytest.mark.slow
@pytest.mark.parametrize("alpha", [0.01, 0.3, 1.0, 2.5, 1e6])
@pytest.mark.parametrize("vocab_size", [1, 2, 40])
def test_rare_seeds_are_dropped_as_by_the_oracle(alpha: float, vocab_size: int) -> None:
    for number in range(20):
        case = stages.random_case(f"rare/{number}")
        options = replace(case.options, min_freq_alpha=alpha, vocab_size=vocab_size)
        expected = stages.plain(oracle.seed(case.sentences, options))
        assert seeds_by(case, stages.seed_options(ALL, 1.0, alpha, vocab_size)) == expected


def test_least_counts_out_of_range_convert_as_on_x86_64() -> None:
    """A number of 2**64 or more becomes 0, so no seed is too rare.

    NaN and numbers of -1 or less become the largest count, so every seed of more than three bytes
    is too rare.
    """
    case = stages.random_case("seeds/2")
    assert seeds_by(case, stages.seed_options(ALL, 1.0, math.inf)) == seeds_by(
        case, stages.seed_options(ALL)
    )
    assert seeds_by(case, stages.seed_options(ALL, 1.0, 1e30)) == seeds_by(
        case, stages.seed_options(ALL)
    )
    assert seeds_by(case, stages.seed_options(ALL, 1.0, -1e-9)) == seeds_by(
        case, stages.seed_options(ALL)
    )
    few = seeds_by(case, stages.seed_options(ALL, 1.0, 1e9))
    assert len(few) < len(seeds_by(case, stages.seed_options(ALL)))
    for alpha in (math.nan, -math.inf, -1e9):
        assert seeds_by(case, stages.seed_options(ALL, 1.0, alpha)) == few


@pytest.mark.parametrize("power", [math.nan, -math.nan, math.inf, -math.inf, 60.0, -200.0])
def test_scores_must_be_finite(power: float) -> None:
    case = stages.both([("a" * 9, 9)], Options(character_coverage=1.0))
    options = UnigramOptions(seed_piece_length_power=power)
    with raises_kind("not-finite seed_piece_length_power"):
        make_seeds(case.corpus, options, Context(Workers(1), stages.QUIET))


# Seed files.


def from_lines(case: Case, lines: Iterable[tuple[bytes, int]], limit: int) -> object:
    seeds, skipped = seed_from_counts(case.corpus, lines, limit)
    return list(seeds), skipped


@pytest.mark.parametrize("number", range(examples(30)))
def test_seeds_of_a_file_equal_the_oracle(number: int) -> None:
    name = f"file/{number}"
    case = stages.random_case(name)
    dice = random.Random(name)
    texts = [text for text, _ in case.pieces] + ["▁", "a▁b", "x" * 40, "▅", "a", "ab", "ab"]
    lines = [(text, dice.randint(1, 9)) for text in dice.sample(texts, len(texts))]
    encoded = [(text.encode(), count) for text, count in lines]
    for limit in (0, 1, 5, ALL):
        expected = oracle.seed_from_file(
            case.sentences, lines, replace(case.options, seed_sentencepiece_size=limit)
        )
        assert from_lines(case, encoded, limit)[0] == stages.plain(expected)  # type: ignore[index]


def test_skipped_pieces_of_a_file_are_counted() -> None:
    case = stages.both([("ab", 3)], Options(character_coverage=1.0), dummy=False)
    lines = [(b"ab", 2), (b"ab", 5), (b"a", 1), (b"", 1), ("b▁".encode(), 1), (b"ba", 1)]
    seeds, skipped = seed_from_counts(case.corpus, lines, ALL)
    assert [piece for piece, _ in seeds] == [b"ab", b"a", b"b", b"ba"]
    assert skipped == 4


def test_scores_of_a_file_wrap_at_64_bits() -> None:
    case = stages.both([("abc", 3)], Options(character_coverage=1.0), dummy=False)
    counts = {"ab": 2**63 - 1, "abc": 2**62, "bc": 2**62, "ca": 1, "cb": 2**63 - 2**62 + 1}
    products = {text: float(np.float32(n * len(text) % 2**64)) for text, n in counts.items()}
    lines = [(text.encode(), count) for text, count in counts.items()]
    seeds, _ = seed_from_counts(case.corpus, lines, ALL)
    total = sum(products.values()) + 9
    assert dict(seeds)[b"ab"] == np.float32(math.log(products["ab"]) - math.log(total))
    assert dict(seeds)[b"cb"] == np.float32(math.log(products["cb"]) - math.log(total))
    with raises_kind("not-finite bcab 4611686018427387904"):
        seed_from_counts(case.corpus, [(b"bcab", 2**62)], ALL)


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"ab\t3\n", [(b"ab", 3)]),
        (b"ab\t3", [(b"ab", 3)]),
        (b"ab\t3\tignored\t\n", [(b"ab", 3)]),
        (b"\t3\n", [(b"", 3)]),
        (b"ab\t +07 \r\n", [(b"ab", 7)]),
        (b"a b\t9223372036854775807\n", [(b"a b", 2**63 - 1)]),
        (b"\xff\t1\n", [(b"\xff", 1)]),
    ],
)
def test_seed_lines_are_parsed(content: bytes, expected: list[tuple[bytes, int]]) -> None:
    assert list(parse_seed_lines(BytesIO(content), "seeds.tsv")) == expected


@pytest.mark.parametrize(
    "line",
    [
        b"ab",
        b"",
        b"ab 3",
        b"ab\t",
        b"ab\t0",
        b"ab\t-3",
        b"ab\t3.5",
        b"ab\t3 4",
        b"ab\t9223372036854775808",
        "ab\t３".encode(),
    ],
)
def test_errors_of_seed_files_name_the_line(line: bytes) -> None:
    content = BytesIO(b"a\t1\nb\t2\n" + line + b"\nc\t3\n")
    with raises_kind("broken-record seeds.tsv:3"):
        list(parse_seed_lines(content, "seeds.tsv"))


# Options that limit the number of seeds.


def made(case: Case, size: int, seed_file: bytes = b"") -> list[bytes]:
    name = "seeds.tsv" if seed_file else ""
    options = UnigramOptions(seed_sentencepiece_size=size, seed_sentencepieces_file=name)
    seeds = make_seeds(case.corpus, options, Context(Workers(1), stages.QUIET), BytesIO(seed_file))
    return [piece for piece, _ in seeds]


def test_limits_of_seeds_from_the_corpus() -> None:
    case = stages.random_case("seeds/2")
    everything = [piece for piece, _ in seeds_of(case, ALL)]
    characters = [piece for piece, _ in seeds_of(case, 0)]
    assert len(everything) > len(characters) + 3
    assert made(case, -1) == made(case, 0) == made(case, ALL) == everything
    # Characters do not count towards the limit.
    assert made(case, 3) == everything[: len(characters) + 3]


def test_the_default_limit_grows_with_the_vocabulary() -> None:
    limits = [
        UnigramOptions(vocab_size=size, seed_sentencepiece_size=0).seed_limit
        for size in (10, 12_500, 12_501, 50_000)
    ]
    assert limits == [100_000, 100_000, 100_008, 400_000]


def test_limits_of_seeds_from_a_file() -> None:
    case = stages.both([("ab", 3)], Options(character_coverage=1.0), dummy=False)
    seed_file = b"ab\t5\nba\t4\naba\t9\n"
    # With a seed file, the characters count towards the limit. The other seeds are the first pieces
    # of the file.
    assert made(case, 0, seed_file) == [b"a", b"b"]
    assert made(case, 2, seed_file) == [b"a", b"b"]
    assert made(case, 3, seed_file) == [b"ab", b"a", b"b"]
    assert made(case, -1, seed_file) == [b"aba", b"ab", b"ba", b"a", b"b"]


@pytest.mark.parametrize("whole", [True, False])
def test_a_corpus_without_seeds_is_refused(whole: bool) -> None:
    """The text consists of a boundary mark, so the required character does not occur in it."""
    corpus = stages.read(
        ["\x1f"], add_dummy_prefix=False, required_chars="z", auto_character_coverage=whole
    )
    assert corpus.alphabet == ([(0x1F, 0)] if whole else [(ord("z"), 0)])
    with raises_kind("text-too-small"):
        make_seeds(corpus, UnigramOptions(), Context(Workers(1), stages.QUIET))
