"""The Python binding of normalizer.hpp, for self-tests and tools. Training uses the C++ classes."""

cimport cython
from libcpp cimport bool as cbool
from libcpp.memory cimport unique_ptr
from libcpp.string cimport string
from libcpp.vector cimport vector

from spmcompat.errors import TrainingError
from spmcompat.releases import DEFAULT


@cython.final
cdef class Normalizer:
    """Normalize text as sentencepiece does before training.

    Parameters
    ----------
    charsmap : bytes
        Compiled rules. Empty bytes mean no rules.
    add_dummy_prefix : bool
        Put a space mark in front of the text.
    remove_extra_whitespaces : bool
        Collapse spaces, and remove those at either end.
    escape_whitespaces : bool
        Replace spaces with the space mark (U+2581).
    treat_whitespace_as_suffix : bool
        Put the space mark of `add_dummy_prefix` at the end of the text.
    symbols : Sequence[bytes]
        User-defined symbols, which are not normalized.

    Raises
    ------
    TrainingError
        The charsmap is broken, or a symbol contains a 0 byte.
    """

    cdef unique_ptr[SymbolMatcher] symbols
    cdef unique_ptr[CNormalizer] normalizer

    def __init__(
        self,
        bytes charsmap=b"",
        *,
        cbool add_dummy_prefix=True,
        cbool remove_extra_whitespaces=True,
        cbool escape_whitespaces=True,
        cbool treat_whitespace_as_suffix=False,
        symbols=(),
    ):
        cdef NormalizerOptions options
        options.add_dummy_prefix = add_dummy_prefix
        options.remove_extra_whitespaces = remove_extra_whitespaces
        options.escape_whitespaces = escape_whitespaces
        options.treat_whitespace_as_suffix = treat_whitespace_as_suffix
        try:
            if symbols:
                self.symbols.reset(new SymbolMatcher(symbols))
            self.normalizer.reset(new CNormalizer(charsmap, options, self.symbols.get()))
        except RuntimeError as error:
            raise TrainingError(str(error)) from None

    def normalize(self, bytes text):
        """Return the normalized text. Every malformed byte becomes U+FFFD."""
        cdef string out
        self.normalizer.get().normalize(text, len(text), out)
        return <bytes>out

    def normalize_raw_token(self, bytes text):
        """Normalize a raw token, which does not contain U+0020, as after a space.

        Spaces that rules produce stay U+0020. No space mark is added in front, and no space is
        removed at the end.
        """
        cdef string out
        self.normalizer.get().normalize_raw_token(text, len(text), out)
        return <bytes>out


def replace_meta_pieces(pieces, bytes text):
    """Replace each meta piece with the boundary mark (U+001F), by leftmost longest match.

    Parameters
    ----------
    pieces : Sequence[bytes]
        The meta pieces.
    text : bytes
        The text that may contain them.

    Returns
    -------
    bytes
        The text with its meta pieces replaced.

    Raises
    ------
    TrainingError
        A piece contains a 0 byte.
    """
    cdef vector[string] symbols = pieces
    cdef unique_ptr[MetaPieceMatcher] matcher
    cdef string source = text
    cdef string out
    try:
        matcher.reset(new MetaPieceMatcher(symbols, DEFAULT.boundary))
    except RuntimeError as error:
        raise TrainingError(str(error)) from None
    matcher.get().replace(source, out)
    return <bytes>out
