"""Samples of sentences (sampling.hpp)."""

from cython cimport final

from cython.operator cimport dereference
from libcpp.vector cimport vector

from spmcompat.text.lines cimport CLineFilter, LineFilter, ReadBuffer


# Cython cannot pass C++ lambdas.
cdef extern from *:
    """
    #include "spmcompat/text/lines.hpp"
    #include "spmcompat/text/sampling.hpp"
    namespace spmcompat {
    template <typename Lines>
    void sample_lines(LineFilter& filter, const char* text, const Lines& lines,
                      ReservoirSample& sample) {
      filter.for_each_sentence(text, lines, [&](const char* sentence, size_t size, int64_t count) {
        sample.offer(sentence, size, count);
        return !sample.done();
      });
    }
    inline size_t bytes_of(const ReservoirSample& sample, size_t first, size_t last) {
      size_t bytes = 0;
      for (size_t i = first; i < last; ++i) bytes += sample[i].first.size();
      return bytes;
    }
    }
    """
    void sample_lines "spmcompat::sample_lines"[T](
        CLineFilter& filter, const char* text, const T& lines,
        CReservoirSample& sample) except + nogil
    size_t bytes_of "spmcompat::bytes_of"(
        const CReservoirSample& sample, size_t first, size_t last) nogil


@final
cdef class ReservoirSample:
    """A sample of at most `size` sentences: the first ones, or a uniform sample.

    Parameters
    ----------
    size : int
        The largest number of sentences.
    shuffle : bool
        Whether the sample is uniform.
    seed : int
        The seed of the random numbers.
    repeatable : bool
        Whether to draw as sentencepiece does in releases where its sample is repeatable.
    multiplies : bool
        How those releases compute an index: see `spmcompat.releases.Release`.
    among : int
        Only the first `among` sentences are sampled from; 0 means all sentences.
    """

    def __init__(self, uint64_t size, bint shuffle, uint64_t seed, bint repeatable=False,
                 bint multiplies=False, uint64_t among=0):
        self.sample.reset(
            new CReservoirSample(size, shuffle, seed, repeatable, multiplies, among))

    def __len__(self):
        return dereference(self.sample).size()

    def __iter__(self):
        """Yield the sentences as bytes."""
        cdef size_t i
        for i in range(dereference(self.sample).size()):
            yield <bytes>dereference(self.sample)[i].first

    @property
    def offered(self):
        """Number of sentences the sample was drawn from."""
        return dereference(self.sample).offered()

    @property
    def done(self):
        """Whether no later sentence can enter."""
        return dereference(self.sample).done()

    def add(self, ReadBuffer buffer not None, LineFilter line_filter not None):
        """Offer every sentence of a read buffer."""
        try:
            if buffer.is_lines:
                with nogil:
                    sample_lines[size_t](
                        dereference(line_filter.filter), buffer.text, buffer.text_size,
                        dereference(self.sample))
            else:
                with nogil:
                    sample_lines[vector[size_t]](
                        dereference(line_filter.filter), buffer.items.data(), buffer.ends,
                        dereference(self.sample))
        except RuntimeError as error:
            line_filter.fail(buffer, error)
        line_filter.note_skipped(0, buffer)


@final
cdef class SampleSlice:
    """The sentences [first, last) of a sample, read like a read buffer."""

    def __init__(self, ReservoirSample sample not None, size_t first, size_t last):
        self.sample = sample
        self.first = first
        self.last = last

    @property
    def size(self):
        """Size in bytes."""
        return bytes_of(dereference(self.sample.sample), self.first, self.last)

    @property
    def input_size(self):
        """How many bytes of the sample this is: `size`."""
        return self.size

    @property
    def nulls(self):
        """Return 0: a sample holds no nulls."""
        return 0
