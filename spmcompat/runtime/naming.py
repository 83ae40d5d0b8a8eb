"""Adds vocabulary sizes to error messages, for runs that train several vocabularies."""

from collections.abc import Iterator
from contextlib import contextmanager

from spmcompat.errors import OutOfMemoryError, TrainingError


@contextmanager
def naming_sizes(sizes: object) -> Iterator[None]:
    """Return a context that adds vocabulary sizes to the messages of errors raised in it.

    Parameters
    ----------
    sizes : object
        The vocabulary size, or a text that lists several sizes, for which the code in the context
        runs. If it is empty, errors are not changed.
    """
    try:
        yield
    except TrainingError as error:
        if not sizes or error.names_sizes or isinstance(error, OutOfMemoryError):
            raise
        named = type(error)(f"vocab_size {sizes}: {error}")
        named.names_sizes = True
        raise named from error
