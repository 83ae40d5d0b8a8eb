"""Learns new pieces for a Unigram model: seeding on a new text, EM with the old pieces, pruning.

The old pieces take part in every EM step and are never pruned. EM on the new text estimates scores
for all pieces, but the old pieces keep their original scores. So text that does not need a new
piece is cut as before. To move the scores of the new pieces from the scale of EM to the scale of
the model, one number is added to all of them: the difference between the average scores of the old
pieces in the model and in EM. Both averages are weighted by the expected counts of the old pieces
in the new text. Since the number is the same for all new pieces, their order does not change.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from spmcompat.engine import (
    Context,
    Corpus,
    Pieces,
    Unigram,
    UnigramOptions,
    drop_unreachable,
    make_seeds,
    rounds_left,
    shrunk,
    to_float32,
)
from spmcompat.errors import NotFiniteError
from spmcompat.runtime.progress import Report
from spmcompat.tools.edit.vocabulary import a_few

Scored = list[tuple[bytes, float]]

_LOWEST_SCORE = -(2.0**17)  # Below this score, the next float32 value is more than 0.01 away.


class Extension(NamedTuple):
    """The pieces of the model, and the number of pieces to learn.

    Attributes
    ----------
    old : list of (bytes, float)
        The normal pieces of the model and their scores.
    taken : frozenset of bytes
        Texts that new pieces must not have.
    characters : sequence of bytes
        New pieces that are never pruned.
    add : int
        The number of new pieces, including these characters.
    """

    old: Scored
    taken: frozenset[bytes]
    characters: Sequence[bytes]
    add: int

    @property
    def required(self) -> list[bytes]:
        """The old pieces and the new characters. They come first, and are never pruned."""
        return [*(piece for piece, _ in self.old), *self.characters]


def learn_pieces(
    corpus: Corpus,
    extension: Extension,
    options: UnigramOptions,
    context: Context,
) -> Scored:
    """Return the new pieces and their scores, in descending order of score.

    Parameters
    ----------
    corpus : Corpus
        The new text.
    extension : Extension
        The pieces of the model, and the number of pieces to learn.
    options : UnigramOptions
        The options of the trainer. Pruning works as in training, with the same rounds and
        overshoot, but its target sizes are numbers of new pieces.
    context : Context
        The worker threads, whose number never changes the result, and the report.
    """
    seeds = make_seeds(corpus, options, context)
    corpus.drop_uses()
    start = Pieces(_start(seeds, extension))
    del seeds
    unigram = Unigram(corpus, start, context, options, extension.required)
    del start
    _em_and_pruning(unigram, extension, options, context.report)
    context.report.step("Finishing")
    trained = list(unigram.pieces)
    old_size = len(extension.old)
    weights = unigram.expected_counts()[:old_size]
    shift = _shift(extension.old, trained[:old_size], weights)
    new = [(piece, to_float32(score + shift)) for piece, score in trained[old_size:]]
    _check_steps(score for _, score in new)
    return _best(new, extension, context)


def _start(seeds: Pieces, extension: Extension) -> Iterator[tuple[bytes, float]]:
    """Yield the pieces and scores that EM starts with: the required pieces, then the other seeds.

    A required piece that is not a seed starts with the lowest score of the seeds.
    """
    required = extension.required
    all_required = frozenset(required)
    scores = {piece: score for piece, score in seeds if piece in all_required}
    lowest = min(score for _, score in seeds)
    for piece in required:
        yield piece, scores.get(piece, lowest)
    for piece, score in seeds:
        if piece not in all_required and piece not in extension.taken:
            yield piece, score


def _em_and_pruning(
    unigram: Unigram, extension: Extension, options: UnigramOptions, report: Report
) -> None:
    """Run EM and pruning until the number of new pieces is small enough."""
    old = len(extension.old)
    smallest = max(int(options.prune_overshoot * extension.add), 1)
    with report.stage("EM and pruning", unit="passes") as stage:
        while True:
            rounds = rounds_left(max(len(unigram) - old, 1), smallest, options.shrinking_factor)
            stage.expect(rounds * (options.num_sub_iterations + 1))
            unigram.em_round(stage)
            new = len(unigram) - old
            if new <= smallest:
                return
            size = max(smallest, shrunk(new, options.shrinking_factor))
            _prune(unigram, old + size, len(extension.required))
            stage.advance()


def _prune(unigram: Unigram, size: int, required: int) -> None:
    """Keep `size` pieces: the required pieces, and those whose removal would cost most."""
    ranked = [
        (-loss, piece)
        for piece, loss in enumerate(unigram.losses())
        if piece >= required and loss is not None
    ]
    ranked.sort()
    chosen = sorted(piece for _, piece in ranked[: size - required])
    unigram.keep([*range(required), *chosen])


def _shift(old: Scored, estimated: Scored, weights: Sequence[float]) -> float:
    """Return the shift: the number to add to scores from EM to move them to the scale of the model.

    Parameters
    ----------
    old, estimated : list of (bytes, float)
        The old pieces, with their scores in the model and in EM.
    weights : sequence of float
        The expected counts of the old pieces in the new text.
    """
    total = math.fsum(weights)
    if total == 0:  # The new text does not use any old piece, so the mean is undefined.
        return 0.0
    differences = (
        weight * (score - estimate)
        for weight, (_, score), (_, estimate) in zip(weights, old, estimated, strict=True)
    )
    return math.fsum(differences) / total


def _check_steps(scores: Iterable[float]) -> None:
    """Raise if scores are so low that float32 cannot represent small differences between them.

    Raises
    ------
    TrainingError
        If a score is too low. Such scores are not log probabilities.
    """
    lowest = min(scores, default=0.0)
    if lowest < _LOWEST_SCORE:
        raise NotFiniteError(
            f"The scores of pieces in the text are so low that new scores, {lowest:g} and above, "
            "cannot be distinguished in 32 bits. Raise the lowest scores of the model with "
            "spmcompat edit --set_score."
        )


def _best(new: Scored, extension: Extension, context: Context) -> Scored:
    """Return the new characters and the reachable new pieces with the highest scores."""
    context.report.step("Dropping unreachable pieces")
    every = Pieces([*extension.old, *new])
    reachable = {piece for piece, _ in drop_unreachable(every, context.workers)}
    characters = frozenset(extension.characters)
    ranked = sorted(
        (item for item in new if item[0] in characters or item[0] in reachable),
        key=lambda item: (item[0] not in characters, -item[1], item[0]),
    )
    if dropped := len(new) - len(ranked):
        context.report.info(f"Dropped {dropped} unreachable pieces out of {len(new)}")
    chosen = sorted(ranked[: extension.add], key=lambda item: (-item[1], item[0]))
    _name_beaten(chosen, extension, context)
    return chosen


def _name_beaten(new: Scored, extension: Extension, context: Context) -> None:
    """Report the old pieces that encoding no longer produces because new pieces replace them."""
    before = drop_unreachable(Pieces(extension.old), context.workers)
    every = Pieces([*extension.old, *new])
    after = {piece for piece, _ in drop_unreachable(every, context.workers)}
    beaten = [piece.decode() for piece, _ in before if piece not in after]
    if beaten:
        context.report.info(
            f"Encoding no longer produces these old pieces, which keep their ids: {a_few(beaten)}"
        )
