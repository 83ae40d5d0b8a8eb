"""The Python face of normalizer.hpp, for tests and tools; training uses the C++ classes."""

cimport cython
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.errors import TrainingError


@cython.final
cdef class Normalizer:
    """Normalizes a text as sentencepiece does before training.

    Parameters
    ----------
    charsmap : bytes
        Compiled rules; no bytes hold no rules.
    add_dummy_prefix : bool
        Put a space mark in front of the text.
    remove_extra_whitespaces : bool
        Collapse spaces, and drop those at either end.
    escape_whitespaces : bool
        Write spaces as U+2581.
    treat_whitespace_as_suffix : bool
        Put the space mark of `add_dummy_prefix` behind the text.

    Raises
    ------
    TrainingError
        The charsmap is broken.
    """

    cdef unique_ptr[CNormalizer] normalizer

    def __init__(
        self,
        bytes charsmap=b"",
        *,
        cbool add_dummy_prefix=True,
        cbool remove_extra_whitespaces=True,
        cbool escape_whitespaces=True,
        cbool treat_whitespace_as_suffix=False,
    ):
        cdef NormalizerOptions options
        options.add_dummy_prefix = add_dummy_prefix
        options.remove_extra_whitespaces = remove_extra_whitespaces
        options.escape_whitespaces = escape_whitespaces
        options.treat_whitespace_as_suffix = treat_whitespace_as_suffix
        try:
            self.normalizer.reset(new CNormalizer(charsmap, options))
        except RuntimeError as error:
            raise TrainingError(str(error)) from None

    def normalize(self, bytes text):
        """Return the normalized text; malformed bytes become U+FFFD each."""
        cdef string out
        self.normalizer.get().normalize(text, len(text), out)
        return <bytes>out

    def normalize_run(self, bytes text):
        """Return a run without U+0020 normalized as if a space stood before it.

        Spaces that rules put in stay U+0020; nothing is added in front or dropped at the end.
        """
        cdef string out
        self.normalizer.get().normalize_run(text, len(text), out)
        return <bytes>out

    @property
    def words_are_independent(self):
        """Whether the parts between two U+0020 can be normalized one at a time."""
        return self.normalizer.get().words_are_independent()


def replace_meta_pieces(pieces, bytes text):
    """Put U+001F in the place of each of the pieces, leftmost longest match.

    Parameters
    ----------
    pieces : Sequence[bytes]
        The pieces to be found.
    text : bytes
        The text to search.

    Returns
    -------
    bytes
        The text with its pieces replaced.

    Raises
    ------
    TrainingError
        A piece holds a 0 byte.
    """
    cdef vector[string] symbols = pieces
    cdef unique_ptr[MetaPieceMatcher] matcher
    cdef string source = text
    cdef string out
    try:
        matcher.reset(new MetaPieceMatcher(symbols, 0x1F))
    except RuntimeError as error:
        raise TrainingError(str(error)) from None
    matcher.get().replace(source, out)
    return <bytes>out
