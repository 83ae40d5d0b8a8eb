"""A plain list of the pieces: one per line, in the order of their ids. Space marks are kept.

The list is for tools that use line numbers as ids. It is not sufficient for encoding, because it
contains neither scores nor the algorithm. The ``vocab.txt`` of BERT is such a list for another
algorithm, which marks continuations of words with ``##``, whereas SentencePiece marks the starts of
words.
"""

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.vocabulary import a_few
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import Loaded, NotVerifiableError


def limits(model: ModelProto) -> list[Limit]:
    """Return the limits: pieces whose text cannot be a line of the list."""
    pieces = [piece.piece for piece in model.pieces]
    broken = [repr(piece) for piece in pieces if "\n" in piece or "\r" in piece]
    if broken:
        return [
            Limit(
                f"A line break in {a_few(broken)} would shift the ids after it.",
                "Train without that symbol.",
                refuses=True,
            )
        ]
    found = [Limit("A list of pieces has no scores, so no library can encode with it alone.")]
    stripped = [repr(piece) for piece in pieces if piece != piece.strip()]
    if stripped:
        found.append(
            Limit(
                f"Readers that strip lines change {a_few(stripped)}.",
                "Train with --normalization_rule_name=nmt_nfkc, which turns white space into "
                "spaces, and without such symbols.",
            )
        )
    return found


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the list."""
    return {"": "".join(f"{piece.piece}\n" for piece in model.pieces).encode()}


def load(path: str) -> Loaded:
    """Refuse to load the list, because no library can encode with it.

    Raises
    ------
    NotVerifiableError
        Always.
    """
    raise NotVerifiableError("a list of pieces cannot encode a text.")
