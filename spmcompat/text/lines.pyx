"""Blocks of lines, the tests that make a line a sentence, and samples of sentences.

lines.hpp does it; here stand the owners of its objects.
"""

from cython cimport final

from cpython.bytes cimport PyBytes_AS_STRING, PyBytes_GET_SIZE
from cython.operator cimport dereference

from spmcompat.errors import BadValueError, TrainingError
from spmcompat.releases import DEFAULT


BLOCK_BYTES = 1 << 20


@final
cdef class Block:
    """A stretch of the input: lines that end in LF, or items of an iterator."""

    @staticmethod
    def of_lines(bytes text not None, str origin, first_line):
        """Lines of the file `origin` from the line `first_line` (counted from 1) on."""
        cdef Block block = Block()
        block.text = text
        block.is_lines = True
        block.origin = origin
        block.first_line = first_line
        return block

    @staticmethod
    def of_items(iterator, first_item):
        """The next items (str or bytes) of an iterator; CR and LF at their ends are removed.

        Returns
        -------
        Block or None
            None when the iterator is exhausted.
        """
        cdef Block block = Block()
        cdef bytes data
        cdef Py_ssize_t size
        block.is_lines = False
        block.origin = "item"
        block.first_line = first_item
        for item in iterator:
            data = _encode(item)
            size = PyBytes_GET_SIZE(data)
            while size > 0 and PyBytes_AS_STRING(data)[size - 1] in (b"\r", b"\n"):
                size -= 1
            block.items.append(PyBytes_AS_STRING(data), size)
            block.ends.push_back(block.items.size())
            if block.items.size() >= BLOCK_BYTES:
                break
        return block if block.ends.size() > 0 else None

    def unfinished_line(self):
        """Return what stands behind the last line end."""
        return self.text[self.text.rfind(b"\n") + 1:]

    @property
    def lines(self):
        """Number of items."""
        return self.ends.size()

    @property
    def size(self):
        """Size in bytes."""
        return len(self.text) if self.is_lines else self.items.size()


def _encode(item):
    if isinstance(item, bytes):
        return item
    if isinstance(item, str):
        try:
            return item.encode()
        except UnicodeEncodeError as error:
            raise TrainingError(
                f"a sentence of the iterator holds a lone surrogate: {error.reason}: "
                "encode it to bytes yourself"
            ) from None
    raise BadValueError(
        f"Iterator must return str or bytes. It returned {type(item).__name__}."
    )


@final
cdef class Sentences:
    """The tests that a line passes before it is a sentence, and the count of those that fail.

    Parameters
    ----------
    max_length : int
        The longest sentence, in bytes.
    tsv : bool
        Whether lines are ``word<TAB>count``.
    release : Release
        How such lines are read.
    """

    def __init__(self, size_t max_length, bint tsv, release=DEFAULT):
        self.filter.reset(new LineFilter(
            max_length, tsv, release.streams_numbers, release.skips_empty_fields))

    @property
    def accepted(self):
        """Number of sentences."""
        return dereference(self.filter).sentences()

    @property
    def too_long(self):
        """Number of lines over the limit."""
        return dereference(self.filter).too_long()

    @property
    def reserved(self):
        """Number of lines that hold U+2585, which stands for unknown characters."""
        return dereference(self.filter).reserved()

    @property
    def huge_characters(self):
        """Number of characters, before normalization, of sentences with huge counts."""
        return dereference(self.filter).huge_characters()

    cdef _fail(self, Block block, error):
        line = block.first_line + dereference(self.filter).line() - 1
        raise TrainingError(f"{block.origin}:{line}: {error}") from None


@final
cdef class Sample:
    """At most `size` sentences, the first ones or, with `shuffle`, a uniform sample.

    With `narrow` it is the sample that sentencepiece draws, in releases where it is repeatable.
    It is drawn from the first `among` sentences, from all if that is 0.
    """

    def __init__(self, uint64_t size, bint shuffle, uint64_t seed, bint narrow=False,
                 uint64_t among=0):
        self.sampler.reset(new CSampler(size, shuffle, seed, narrow, among))

    def __len__(self):
        return dereference(self.sampler).size()

    def __iter__(self):
        """Yield the sentences as bytes."""
        cdef size_t i
        for i in range(dereference(self.sampler).size()):
            yield <bytes>dereference(self.sampler)[i].first

    @property
    def offered(self):
        """Number of sentences the sample was drawn from."""
        return dereference(self.sampler).offered()

    @property
    def done(self):
        """Whether no later sentence can enter."""
        return dereference(self.sampler).done()

    def add(self, Block block not None, Sentences sentences not None):
        """Offer every sentence of a block."""
        cdef const char* text
        try:
            if block.is_lines:
                text = PyBytes_AS_STRING(block.text)
                size = PyBytes_GET_SIZE(block.text)
                with nogil:
                    sample_lines[size_t](
                        dereference(sentences.filter), text, size, dereference(self.sampler))
            else:
                with nogil:
                    sample_lines[vector[size_t]](
                        dereference(sentences.filter), block.items.data(), block.ends,
                        dereference(self.sampler))
        except RuntimeError as error:
            sentences._fail(block, error)
