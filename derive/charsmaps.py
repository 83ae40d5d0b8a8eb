"""Write the predefined charsmaps, those of the installed sentencepiece 0.2.3."""

import sys
from importlib import resources

from derive.files import require, write_or_check

RELEASE = "0.2.3"
NAMES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")


def charsmap(name: str) -> bytes:
    """Return the charsmap of a predefined rule set from the library's file."""
    return resources.files("sentencepiece").joinpath("package_data", f"{name}.bin").read_bytes()


def files() -> dict[str, bytes]:
    """Return the content of the files."""
    require("sentencepiece", RELEASE)
    return {f"spmcompat/normalization/data/{name}.charsmap": charsmap(name) for name in NAMES}


if __name__ == "__main__":
    sys.exit(write_or_check(files))
