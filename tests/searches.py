"""Sets how many random inputs the tests try."""

import os

LONG = bool(os.environ.get("SPMCOMPAT_LONG"))
"""Whether searches are long. By default, they are short enough to run before every commit."""
