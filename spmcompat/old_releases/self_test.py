"""Self-test samples in a model: lines of the text, and the pieces of each line.

A runtime that supports self-tests encodes the lines again whenever it loads the model. It refuses
the model if the pieces differ or, for a Unigram model, if the sums of their scores differ.

Source: the end of ``TrainerInterface::Serialize`` of ``sentencepiece`` 0.2.2.
"""

from collections.abc import Iterable

from spmcompat.errors import TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, SelfTestData
from spmcompat.old_releases.encoder import Encoder
from spmcompat.releases import Release

_LONG_PIECE = 8000  # bytes
_REMEDY = "Leave self_test_sample_size out, or choose another release with compat."


def self_tests(model: ModelProto, lines: Iterable[bytes], release: Release) -> SelfTestData:
    """Encode lines with a model.

    Parameters
    ----------
    model : ModelProto
        The complete model.
    lines : iterable of bytes
        Sentences of the text, before normalization.
    release : Release
        The release whose runtime is imitated.

    Returns
    -------
    SelfTestData
        The lines, each with its pieces.

    Raises
    ------
    TrainingError
        If the runtime of that release cannot load the model or encode a line.
    """
    if not any(entry.type == entry.UNKNOWN for entry in model.pieces):
        raise TrainingError(
            "INTERNAL: unk is not defined: the vocabulary is too small for its unk_id, so this "
            f"release of sentencepiece cannot load the model to test it. Lower unk_id. {_REMEDY}"
        )
    if release.loads_short_pieces_only:
        _check_pieces(model)
    encoder = Encoder(
        model,
        scores_in_float=release.encodes_in_float,
        loses_control_pieces=release.loses_control_pieces,
    )
    data = SelfTestData()
    for line in lines:
        try:
            pieces = encoder.encode(line)
        except TrainingError as error:
            raise TrainingError(
                f"INTERNAL: {error} A sample for the self-test contains a control symbol, which "
                f"sentencepiece {release.version} cannot encode. {_REMEDY}"
            ) from None
        data.samples.add(input=line, expected=b" ".join(pieces))
    return data


def _check_pieces(model: ModelProto) -> None:
    """Raise an error if the runtime refuses one of the pieces."""
    for entry in model.pieces:
        if len(entry.piece.encode()) >= _LONG_PIECE or "\0" in entry.piece:
            raise TrainingError(
                f"INTERNAL: a piece has {_LONG_PIECE} bytes or more, or contains U+0000: this "
                f"release of sentencepiece cannot load the model to test it. {_REMEDY}"
            )
