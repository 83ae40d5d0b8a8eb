"""A plain list of the pieces: one on each line, in the order of their ids, with the space mark.

Tools that take the number of a line for an id read it. It holds no scores and no algorithm, so
nothing encodes with it alone. The ``vocab.txt`` of BERT is such a list for another algorithm, which
marks the inside of words by ``##`` where SentencePiece marks their start.
"""

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.edit.vocabulary import listed
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import Loaded, NotVerifiableError


def limits(model: ModelProto) -> list[Limit]:
    """Return why the lines would not be the pieces."""
    pieces = [piece.piece for piece in model.pieces]
    broken = [repr(piece) for piece in pieces if "\n" in piece or "\r" in piece]
    if broken:
        return [
            Limit(
                f"The end of a line in {', '.join(broken)} would shift the ids behind it.",
                "Train without that symbol.",
                refuses=True,
            )
        ]
    found = [Limit("A list of pieces has no scores, so no library can encode with it alone.")]
    stripped = [repr(piece) for piece in pieces if piece != piece.strip()]
    if stripped:
        found.append(
            Limit(
                f"Readers that strip lines change {listed(stripped)}.",
                "Train with --normalization_rule_name=nmt_nfkc, which makes spaces of white space, "
                "and without such symbols.",
            )
        )
    return found


def files(model: ModelProto) -> dict[str, bytes]:
    """Return the list."""
    return {"": "".join(f"{piece.piece}\n" for piece in model.pieces).encode()}


def load(path: str) -> Loaded:
    """Refuse to load the list: no library encodes with it.

    Raises
    ------
    NotVerifiableError
        Always.
    """
    raise NotVerifiableError("a list of pieces does not encode.")
