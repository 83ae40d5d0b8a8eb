"""Prunes a trained Unigram model by the trainer's loss, without EM."""

from __future__ import annotations

from collections.abc import Collection

from spmcompat.engine import Unigram, UnigramOptions, shrunk
from spmcompat.runtime.progress import Report


def least_losses(
    unigram: Unigram,
    droppable: Collection[bytes],
    size: int,
    options: UnigramOptions,
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
    unigram : Unigram
        The normal pieces of the model, on the text. Pruning changes it.
    droppable : collection of bytes
        The pieces that may be dropped.
    size : int
        The number of pieces to drop.
    options : UnigramOptions
        The options of the trainer.
    report : Report
        Receives log lines and progress.
    """
    dropped: list[bytes] = []
    with report.stage("Pruning", size, "pieces") as stage:
        while len(dropped) < size:
            losses = unigram.losses()
            ranked = sorted(
                (loss is not None, score if loss is None else loss, piece_id, piece)
                for piece_id, ((piece, score), loss) in enumerate(
                    zip(unigram.pieces, losses, strict=True)
                )
                if piece in droppable
            )
            most = len(losses) - shrunk(len(losses), options.shrinking_factor)
            next_dropped = ranked[: min(size - len(dropped), max(most, 1))]
            ids = {piece_id for _, _, piece_id, _ in next_dropped}
            dropped += [piece for *_, piece in next_dropped]
            stage.advance(len(next_dropped))
            unigram.keep(piece_id for piece_id in range(len(losses)) if piece_id not in ids)
    return dropped
