"""Small random corpora, in spmcompat's form and in the oracle's form."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np

from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.plan import Plan, TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus
from spmcompat.text.sources import open_source, sample_sentences
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from tests.oracle.characters import (
    BOUNDARY,
    SPACE,
    Options,
    Sentence,
    cover,
    is_valid_piece,
    pretokens,
)
from tests.oracle.seeding import Pieces as OraclePieces
from tests.parity import corpora

QUIET = Report(min_log_level=3)
SCORES = [-0.5, -1, -1, -2, -2.5, -3, -4, -12.25]
"""There are so few different scores that most sums of scores are equal to another sum."""


@dataclass(frozen=True)
class Case:
    """A corpus in spmcompat's and the oracle's form, and the pieces before the first EM step."""

    corpus: Corpus
    sentences: list[Sentence]
    counted: list[Sentence]
    required: dict[str, int]
    options: Options
    pieces: OraclePieces


def ours(pieces: OraclePieces) -> Pieces:
    return Pieces([(text.encode(), float(score)) for text, score in pieces])


def plain(pieces: OraclePieces) -> list[tuple[bytes, float]]:
    return [(text.encode(), float(score)) for text, score in pieces]


def read(items: Iterable[str | bytes] | None, workers: int = 2, **options: object) -> Corpus:
    return read_plan(plan_of(**options), items, Context(Workers(workers), QUIET))


def plan_of(**options: object) -> Plan:
    """Return the plan for the given options, which are fields of `TextPlan` and `PlanOptions`."""
    text = {name: options.pop(name) for name in TextPlan._fields if name in options}
    given = {"remove_extra_whitespaces": False, **options, "text": TextPlan(**text)}
    return make_plan(PlanOptions(**given))  # type: ignore[arg-type]


def read_plan(
    plan: Plan,
    items: Iterable[str | bytes] | None,
    context: Context,
) -> Corpus:
    """Return the corpus that the trainers read from a text."""
    report = context.report
    source = sample_sentences(open_source(plan.text, items, report), plan.text, report)
    counts, alphabet = counts_and_alphabet(plan, source, context)
    return cut_corpus(counts, alphabet, plan, source, context)


def corpus_options(options: Options) -> dict[str, object]:
    """Return the oracle's options under the names that spmcompat uses."""
    same = ["required_chars", "treat_whitespace_as_suffix", "allow_whitespace_only_pieces"]
    same += ["split_by_unicode_script", "split_by_number", "split_by_whitespace", "split_digits"]
    return {
        "character_coverage": float(np.float32(options.character_coverage)),
        "max_piece_length": options.max_sentencepiece_length,
        **{name: getattr(options, name) for name in same},
    }


def both(lines: list[Sentence], options: Options, dummy: bool = True) -> Case:
    """Read lines and their counts with spmcompat and with the oracle. Leave `pieces` empty."""
    corpus = read(
        [f"{line}\t{count}" for line, count in lines],
        input_format="tsv",
        add_dummy_prefix=dummy,
        **corpus_options(options),
    )
    sentences = [(normalized(line, options, dummy), count) for line, count in lines]
    covered, required = cover(sentences, options)
    return Case(corpus, covered, pretokens(covered, options), required, options, [])


def normalized(line: str, options: Options, dummy: bool) -> str:
    text = line.replace(" ", SPACE)
    if not dummy:
        return text
    return text + SPACE if options.treat_whitespace_as_suffix else SPACE + text


def random_lines(dice: random.Random) -> list[Sentence]:
    seed, size = dice.randrange(1 << 30), dice.randint(1, 12)
    text = dice.choice(
        [
            corpora.ties_text(seed, size, dice.choice(["a", "ab", "aあ漢ñ1", "a1あ", "ab\u0301"])),
            corpora.words_text(seed, size, dice.choice(["latin", "han", "kana"]), 20),
            corpora.fibonacci_text(dice.randint(3, 8), dice.randint(3, 30)),
            "\n".join("a" * dice.randint(1, 20) for _ in range(size)),
        ]
    )
    most = dice.choice([1, 1, 3, 20])
    return [(line, dice.randint(1, most)) for line in text.split("\n") if line]


def random_options(dice: random.Random) -> Options:
    return Options(
        character_coverage=dice.choice([1.0, 0.9995, 0.95]),
        max_sentencepiece_length=dice.choice([16, 4, 2, 30]),
        split_by_whitespace=dice.random() < 0.7,
        split_by_unicode_script=dice.random() < 0.7,
        split_by_number=dice.random() < 0.7,
        split_digits=dice.random() < 0.3,
        treat_whitespace_as_suffix=dice.random() < 0.3,
        allow_whitespace_only_pieces=dice.random() < 0.3,
    )


def random_case(name: str) -> Case:
    dice = random.Random(name)
    case = both(random_lines(dice), random_options(dice), dummy=dice.random() < 0.7)
    return replace(case, pieces=random_pieces(dice, case))


def random_pieces(dice: random.Random, case: Case) -> OraclePieces:
    """Draw pieces from the substrings of the pretokens. Characters without a piece are unknown."""
    found: set[str] = set()
    for text, _ in case.counted:
        for begin in range(len(text)):
            found.update(text[begin:end] for end in range(begin + 1, min(begin + 9, len(text)) + 1))
    valid = sorted(text for text in found if is_valid_piece(text, case.options))
    share = dice.choice([0.2, 0.6, 1.0])
    kept = [text for text in valid if dice.random() < (0.9 if len(text) == 1 else share)]
    kept = kept or valid[:1] or [BOUNDARY]
    dice.shuffle(kept)
    score: Callable[[], float] = dice.choice(
        [
            lambda: -1.0,
            lambda: dice.choice(SCORES),
            lambda: dice.uniform(-15, 0),
            # Sums of these scores differ only in their last bits. Adding another score rounds the
            # difference away, so the sums tie.
            lambda: -1 - dice.randint(0, 6) * 2.0**-23,
        ]
    )
    return [(text, np.float32(score())) for text in kept]


def seed_options(
    limit: int,
    length_power: float = 1.0,
    min_freq_alpha: float = 0.0,
    vocab_size: int = 8000,
    prefix_recovery: bool = False,
) -> UnigramOptions:
    """Return options for at most `limit` seeds."""
    return UnigramOptions(
        vocab_size=vocab_size,
        seed_sentencepiece_size=limit,
        seed_factor=0.0 if limit > 0 else 1e-9,  # a size of 0 stands for a default
        seed_piece_length_power=length_power,
        min_freq_alpha=min_freq_alpha,
        prefix_recovery=prefix_recovery,
    )
