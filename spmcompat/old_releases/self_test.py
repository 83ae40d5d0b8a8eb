"""The samples that a model carries to test itself: lines of its text, and how it encodes them.

The runtimes that know them encode them again whenever they load the model, and refuse it if the
pieces differ; in a Unigram model, if the sums of the scores do.

Source: the end of ``TrainerInterface::Serialize`` of ``sentencepiece`` 0.2.2.
"""

from collections.abc import Iterable

from spmcompat.errors import TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.old_releases.encoder import Encoder
from spmcompat.releases import Release

_LONG_PIECE = 8000  # bytes
_REMEDY = "Leave self_test_sample_size out, or choose another release with compat."


def add_self_tests(model: ModelProto, lines: Iterable[bytes], release: Release) -> None:
    """Put lines into a model, with the pieces that it encodes them into.

    Parameters
    ----------
    model : ModelProto
        The complete model.
    lines : iterable of bytes
        Sentences of the text, as they stand in it.
    release : Release
        Whose runtime encodes them.

    Raises
    ------
    TrainingError
        If that runtime cannot load the model or encode a line.
    """
    if release.loads_short_pieces_only:
        _check_pieces(model)
    encoder = Encoder(
        model,
        scores_in_float=release.encodes_in_float,
        loses_control_pieces=release.loses_control_pieces,
    )
    for line in lines:
        try:
            pieces = encoder.encode(line)
        except TrainingError as error:
            raise TrainingError(
                f"INTERNAL: {error} A sample for the self-test holds a control symbol, which "
                f"sentencepiece {release.version} cannot encode. {_REMEDY}"
            ) from None
        # As bytes: what is not UTF-8 is stored as it is.
        sample = _field(1, line) + _field(2, b" ".join(pieces))
        model.self_test_data.MergeFromString(_field(1, sample))


def _check_pieces(model: ModelProto) -> None:
    """Raise if the runtime refuses a piece."""
    for entry in model.pieces:
        if len(entry.piece.encode()) >= _LONG_PIECE or "\0" in entry.piece:
            raise TrainingError(
                f"INTERNAL: a piece is of {_LONG_PIECE} bytes or more, or holds U+0000: this "
                f"release of sentencepiece cannot load the model to test it. {_REMEDY}"
            )


def _field(number: int, data: bytes) -> bytes:
    """Serialize a text or a message as a field of a message."""
    size = len(data)
    head = bytearray([number << 3 | 2])
    while size > 0x7F:
        head.append(size & 0x7F | 0x80)
        size >>= 7
    head.append(size)
    return bytes(head) + data
