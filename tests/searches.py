"""Sets how many random inputs the tests try."""

import os

LONG = bool(os.environ.get("SPMCOMPAT_LONG"))
"""Whether searches are long. By default, they are short enough to run before every commit."""


def examples(number: int) -> int:
    """Return how many examples Hypothesis tries: `number` in a long search, or a third of it."""
    return number if LONG else number // 3
