"""The Python wrapper of encoder.hpp, which reads the model and translates errors."""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython.operator cimport dereference
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.string_view cimport string_view
from libcpp.utility cimport move
from libcpp.vector cimport vector

from spmcompat.normalization.charsmaps cimport NormalizerOptions

from spmcompat.errors import TrainingError


cdef extern from "spmcompat/old_releases/encoder.hpp" namespace "spmcompat" nogil:
    enum class ModelType:
        pass

    enum class PieceType:
        pass

    cdef cppclass ModelPiece:
        string text
        float score
        PieceType type

    cdef cppclass EncoderOptions:
        EncoderOptions()
        ModelType model_type
        cbool byte_fallback
        cbool scores_in_float
        cbool loses_control_pieces
        NormalizerOptions normalizer

    cdef cppclass CEncoder "spmcompat::Encoder":
        CEncoder(
            vector[ModelPiece] pieces, string_view charsmap, const EncoderOptions& options) except +
        vector[string] encode(string_view text) except +


@final
cdef class Encoder:
    """Encodes text with a trained model as a release of sentencepiece up to 0.2.2 does.

    Parameters
    ----------
    model : ModelProto
        The complete model.
    scores_in_float : bool
        Whether the scores of a Unigram model are added in float32, as in 0.2.2.
    loses_control_pieces : bool
        Whether a text that contains a control piece cannot be encoded, as before 0.2.2.

    Raises
    ------
    TrainingError
        The charsmap is broken, or a user-defined symbol contains a 0 byte.
    """

    cdef unique_ptr[CEncoder] encoder

    def __init__(self, model, *, bint scores_in_float, bint loses_control_pieces):
        cdef vector[ModelPiece] pieces
        cdef ModelPiece piece
        cdef EncoderOptions options
        cdef bytes text, charsmap = model.normalizer_spec.precompiled_charsmap
        for entry in model.pieces:
            text = entry.piece.encode()
            piece.text.assign(PyBytes_AS_STRING(text), PyBytes_GET_SIZE(text))
            piece.score = entry.score
            piece.type = <PieceType><int>entry.type
            pieces.push_back(piece)
        options.model_type = <ModelType><int>model.trainer_spec.model_type
        options.byte_fallback = model.trainer_spec.byte_fallback
        options.scores_in_float = scores_in_float
        options.loses_control_pieces = loses_control_pieces
        options.normalizer.add_dummy_prefix = model.normalizer_spec.add_dummy_prefix
        options.normalizer.remove_extra_whitespaces = model.normalizer_spec.remove_extra_whitespaces
        options.normalizer.escape_whitespaces = model.normalizer_spec.escape_whitespaces
        options.normalizer.treat_whitespace_as_suffix = (
            model.trainer_spec.treat_whitespace_as_suffix)
        try:
            self.encoder.reset(new CEncoder(move(pieces), charsmap, options))
        except RuntimeError as error:
            raise TrainingError(str(error)) from None

    def encode(self, bytes text):
        """Return the pieces of a text, in UTF-8. Unknown pieces are spelled as in the text.

        Raises
        ------
        TrainingError
            The text contains a control piece, which the release cannot encode.
        """
        try:
            return dereference(self.encoder).encode(text)
        except RuntimeError as error:
            raise TrainingError(str(error)) from None
