"""Errors that name the sizes they are about, where one run trains several vocabularies."""

from collections.abc import Iterator
from contextlib import contextmanager

from spmcompat.errors import OutOfMemoryError, TrainingError


@contextmanager
def naming_sizes(sizes: object) -> Iterator[None]:
    """Name the sizes in the errors of a part of a training that not all sizes share.

    Parameters
    ----------
    sizes : object
        One size of the vocabulary, or a text with several; empty if errors stay as they are.
    """
    try:
        yield
    except TrainingError as error:
        if not sizes or error.names_sizes or isinstance(error, OutOfMemoryError):
            raise
        named = type(error)(f"vocab_size {sizes}: {error}")
        named.names_sizes = True
        raise named from error
