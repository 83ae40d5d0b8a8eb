"""The worked example: a text of 23 words, and the steps in which spmcompat trains on it."""

from functools import cache
from io import BytesIO, StringIO
from typing import NamedTuple

import spmcompat
from spmcompat.options.planning import PlanOptions, make_plan
from spmcompat.runtime.progress import Report
from spmcompat.runtime.rounds import PieceRow, Step
from spmcompat.runtime.workers import Workers
from spmcompat.segments.cutting import counts_and_alphabet, cut_corpus
from spmcompat.text.sources import open_source, sample_sentences
from spmcompat.unigram.em.steps import best_path_counts, expected_counts
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces

WORDS = {"low": 5, "lower": 2, "lowest": 2, "newest": 6, "newer": 3, "widest": 3, "wider": 2}
SIZE = 18
QUIET = Report(min_log_level=3)


def sentences() -> list[str]:
    """Return the text: each word is a sentence."""
    return [word for word, times in WORDS.items() for _ in range(times)]


@cache
def rounds(model_type: str) -> list[Step]:
    """Return every step of a training run on the text."""
    steps: list[Step] = []
    spmcompat.train(
        sentence_iterator=iter(sentences()),
        model_writer=BytesIO(),
        model_type=model_type,  # type: ignore[arg-type]
        vocab_size=SIZE if model_type == "unigram" else 22,
        num_threads=1,
        logstream=StringIO(),
        on_round=steps.append,
    )
    return steps


def step(name: str, which: int = 0) -> Step:
    """Return a step of the Unigram training run."""
    return [one for one in rounds("unigram") if one.step == name][which]


def pieces_after(done: Step) -> list[PieceRow]:
    """Return the pieces that remain after a step."""
    return [row for row in done.pieces if row.kept]


class Marginals(NamedTuple):
    """The results of the E-step for one word: marginals, and the pieces of its best path."""

    marginals: dict[str, float]
    best: set[str]


def marginals(word: str, rows: list[PieceRow]) -> Marginals:
    """Run the E-step on a text of a single word, with the scores of some pieces."""
    workers = Workers(1)
    plan = make_plan(PlanOptions(character_coverage=1.0))
    source = sample_sentences(open_source(plan.text, iter([word]), QUIET), plan.text, QUIET)
    counts, alphabet = counts_and_alphabet(plan, source, workers, QUIET)
    corpus = cut_corpus(counts, alphabet, plan, source, workers, QUIET)
    known = [(row.piece, row.new_score) for row in rows]
    pieces = Pieces([(piece.encode(), score) for piece, score in known])
    lattices = Lattices(corpus, pieces, workers)
    expected = expected_counts(lattices, 1, workers)
    best = best_path_counts(lattices, 1, workers)
    names = [piece for piece, _ in known]
    return Marginals(
        {name: expected[index] for index, name in enumerate(names)},
        {name for index, name in enumerate(names) if best[index]},
    )
