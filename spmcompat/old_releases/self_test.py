"""Self-test samples in a model: lines of the text, and the pieces of each line.

A runtime that supports self-tests encodes the lines whenever it loads the model. It refuses the
model if the pieces differ or, for a Unigram model, if the sums of their scores differ.

These runtimes treat unused pieces differently from the runtime of 0.2.3. This makes no difference
here, because trainers do not write unused pieces.

Source: the end of ``TrainerInterface::Serialize``, and ``SentencePieceProcessor::Encode``, of
``sentencepiece`` 0.2.2.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby

from spmcompat.errors import TrainingError
from spmcompat.model.encoding import encoder_of
from spmcompat.model.pieces import (
    BYTE_PIECES,
    BYTES_LIMIT,
    CONTROL,
    NORMAL,
    UNKNOWN,
    USER_DEFINED,
    Piece,
    pieces_of,
)
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, SelfTestData, TrainerSpec
from spmcompat.normalization.charsmaps import Normalizer
from spmcompat.releases import Release


class SelfTestError(TrainingError):
    """An earlier release cannot test the model that it has trained."""

    kind = "self-test-failed"


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
        The release whose runtime encodes the lines.

    Returns
    -------
    SelfTestData
        The lines, each with its pieces.

    Raises
    ------
    TrainingError
        If the runtime of that release cannot load the model or encode a line.
    """
    pieces = pieces_of(model)
    if not any(piece.type == UNKNOWN for piece in pieces):
        raise SelfTestError(
            "INTERNAL: unk is not defined: the vocabulary is too small for its unk_id, so this "
            f"release of sentencepiece cannot load the model to test it. Lower unk_id. {_REMEDY}"
        )
    if release.loads_short_pieces_only:
        _check_pieces(pieces)
    trainer = model.trainer_spec
    normalizer = _normalizer(model, pieces)
    encode = encoder_of(pieces, trainer, encodes_in_float=release.encodes_in_float)
    found = [piece for piece in pieces if _is_found(piece, trainer)]
    known = {piece.text for piece in found}
    controls = {piece.text for piece in found if piece.type == CONTROL}
    data = SelfTestData()
    for line in lines:
        tokens = encode(normalizer.normalize(line).decode())
        if release.loses_control_pieces and not controls.isdisjoint(tokens):
            raise SelfTestError(
                "INTERNAL: all normalized characters are not consumed. A sample for the self-test "
                f"contains a control symbol, which sentencepiece {release.version} cannot encode. "
                f"{_REMEDY}"
            )
        expected = " ".join(_stored(tokens, known, trainer.byte_fallback))
        data.samples.add(input=line, expected=expected.encode())
    return data


def _check_pieces(pieces: Iterable[Piece]) -> None:
    """Raise an error if the runtime refuses one of the pieces."""
    for piece in pieces:
        if len(piece.text.encode()) >= BYTES_LIMIT or "\0" in piece.text:
            raise SelfTestError(
                "INTERNAL: this release of sentencepiece cannot load the model to test it, because "
                f"a piece has {BYTES_LIMIT} bytes or more, or contains U+0000. {_REMEDY}"
            )


def _normalizer(model: ModelProto, pieces: Iterable[Piece]) -> Normalizer:
    """Return the normalizer of the runtime, which leaves user-defined symbols as they are."""
    spec = model.normalizer_spec
    return Normalizer(
        spec.precompiled_charsmap,
        add_dummy_prefix=spec.add_dummy_prefix,
        remove_extra_whitespaces=spec.remove_extra_whitespaces,
        escape_whitespaces=spec.escape_whitespaces,
        treat_whitespace_as_suffix=model.trainer_spec.treat_whitespace_as_suffix,
        symbols=[piece.text.encode() for piece in pieces if piece.type == USER_DEFINED],
    )


def _is_found(piece: Piece, trainer: TrainerSpec) -> bool:
    """Return whether a token with the text of this piece gets the id of the piece.

    If not, the token gets the unknown id. Unigram models look up only normal pieces and
    user-defined symbols.
    """
    if trainer.model_type == TrainerSpec.UNIGRAM:
        return piece.type in (NORMAL, USER_DEFINED)
    return piece.type != UNKNOWN


def _stored(tokens: Sequence[str], known: Container[str], byte_fallback: bool) -> Iterator[str]:
    """Yield the tokens in the form that a self-test sample stores.

    Neighbouring unknown tokens are joined or, with byte fallback, replaced with byte pieces.
    """
    for is_known, group in groupby(tokens, known.__contains__):
        if is_known:
            yield from group
        elif byte_fallback:
            yield from (BYTE_PIECES[byte] for byte in "".join(group).encode())
        else:
            yield "".join(group)
