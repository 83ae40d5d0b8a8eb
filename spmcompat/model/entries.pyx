"""The pieces of a vocabulary in the formats of the two files of a model; fields of messages."""

from libc.stdint cimport uint64_t
from libcpp.string cimport string
from libcpp.string_view cimport string_view

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE


cdef extern from "spmcompat/model/entries.hpp" namespace "spmcompat" nogil:
    void append_entry(string_view piece, float score, int type, string& model) except +
    void append_number(float number, string& text) except +
    void append_bytes(int field, string_view data, string& message) except +
    void append_whole(int field, uint64_t number, string& message) except +
    void append_float(int field, float number, string& message) except +
    bint breaks_lines(string_view piece)

    cdef cppclass PieceSet:
        PieceSet() except +
        bint add(string_view piece) except +


# Enough for most pieces with their scores.
cdef size_t ENTRY_BYTES = 32


def model_entries(list vocabulary not None, dict types not None):
    """Return the field ``pieces`` of a ``ModelProto``, serialized.

    Parameters
    ----------
    vocabulary : list of (bytes, float)
        Pieces and scores, in the order of their ids. The scores are stored as float32.
    types : dict of int to int
        The type of each id that is not a normal piece.
    """
    cdef string model
    cdef int piece_id
    cdef bytes piece
    model.reserve(ENTRY_BYTES * len(vocabulary))
    for piece_id, (piece, score) in enumerate(vocabulary):
        append_entry(piece, score, types.get(piece_id, 0), model)
    return model


def serialized_field(int number, value not None):
    """Return the bytes of one field of a message.

    Parameters
    ----------
    number : int
        The number of the field.
    value : bytes, str, float, int or bool
        Its value; a message is given as its bytes, a float is stored as float32.
    """
    cdef string message
    cdef bytes data
    if isinstance(value, float):
        append_float(number, value, message)
    elif isinstance(value, int):
        append_whole(number, value % 2**64, message)  # a negative number in two's complement
    else:
        data = value.encode() if isinstance(value, str) else value
        append_bytes(
            number, string_view(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)), message)
    return message


def vocabulary_lines(list vocabulary not None, bint with_scores):
    """Return the content of the ``.vocab`` file: a line for each piece.

    Parameters
    ----------
    vocabulary : list of (bytes, float)
        Pieces and scores, in the order of their ids.
    with_scores : bool
        Whether a tab and the score as float32, with 6 significant digits, follow each piece.
    """
    cdef string lines
    cdef bytes piece
    lines.reserve(ENTRY_BYTES * len(vocabulary))
    for piece, score in vocabulary:
        lines.append(PyBytes_AS_STRING(piece), PyBytes_GET_SIZE(piece))
        if with_scores:
            lines.push_back(b"\t")
            append_number(score, lines)
        lines.push_back(b"\n")
    return lines


def repeated_piece(list pieces not None):
    """Return a piece (bytes) that occurs twice; None if there is none."""
    cdef PieceSet known
    cdef bytes piece
    for piece in pieces:
        if not known.add(string_view(PyBytes_AS_STRING(piece), PyBytes_GET_SIZE(piece))):
            return piece
    return None


def breaking_pieces(list vocabulary not None):
    """Return the pieces with white space: they break the format of the ``.vocab`` file."""
    cdef bytes piece
    return [piece for piece, _ in vocabulary if breaks_lines(piece)]
