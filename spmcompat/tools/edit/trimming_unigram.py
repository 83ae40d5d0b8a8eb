"""Prunes a trained Unigram model by the trainer's loss, without EM."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.loop import likelihood_losses
from spmcompat.unigram.options import UnigramOptions
from spmcompat.unigram.pieces import Pieces
from spmcompat.unigram.pruning.pruning import select_pieces
from spmcompat.unigram.pruning.sizes import shrunk


def least_losses(
    corpus: Corpus,
    pieces: Sequence[tuple[bytes, float]],
    droppable: Collection[bytes],
    size: int,
    options: UnigramOptions,
    workers: Workers,
    report: Report,
) -> list[bytes]:
    """Return the pieces that a text needs least.

    Pieces are dropped in rounds. As in training, each round keeps a share of the pieces, and then
    the best paths of the text are counted again. A round first drops pieces that are not used:
    those that are not on any best path, and those that are not the best path for their own text.
    Of these pieces, those with the lowest scores go first. Then the round drops the pieces with the
    lowest loss.

    Parameters
    ----------
    corpus : Corpus
        The text.
    pieces : sequence of (bytes, float)
        The normal pieces of the model and their scores.
    droppable : collection of bytes
        The pieces that may be dropped.
    size : int
        The number of pieces to drop.
    options : UnigramOptions
        The options of the trainer.
    workers : Workers
        The threads. The result does not depend on their number.
    report : Report
        Receives log lines and progress.
    """
    dropped: list[bytes] = []
    report.step("Building lattices")
    with_log1p = options.release.log_sum_exp_with_log1p
    lattices = Lattices(corpus, Pieces(pieces), workers, with_log1p)
    with report.stage("Pruning", size, "pieces") as stage:
        while len(dropped) < size:
            found, _ = likelihood_losses(lattices, options, workers, report)
            losses = found.as_list()
            ranked = sorted(
                (loss is not None, score if loss is None else loss, piece_id, piece)
                for piece_id, ((piece, score), loss) in enumerate(
                    zip(lattices.pieces, losses, strict=True)
                )
                if piece in droppable
            )
            most = len(losses) - shrunk(len(losses), options.shrinking_factor)
            next_dropped = ranked[: min(size - len(dropped), max(most, 1))]
            ids = {piece_id for _, _, piece_id, _ in next_dropped}
            dropped += [piece for *_, piece in next_dropped]
            stage.advance(len(next_dropped))
            left = [piece_id for piece_id in range(len(losses)) if piece_id not in ids]
            lattices.renumber(*select_pieces(lattices.pieces, left), workers)
    return dropped
