"""Write the predefined charsmaps of the installed sentencepiece to files.

This needs ``sentencepiece==0.2.3``. With ``--check``, the existing files are compared instead of
written, and the exit code is 1 if one differs.
"""

import importlib.metadata
import sys
from importlib import resources
from pathlib import Path

RELEASE = "0.2.3"
NAMES = ("nmt_nfkc", "nfkc", "nmt_nfkc_cf", "nfkc_cf")
FOLDER = Path(__file__).parent


def charsmap(name: str) -> bytes:
    """Return the charsmap of a predefined rule set from the library's file."""
    return resources.files("sentencepiece").joinpath("package_data", f"{name}.bin").read_bytes()


def main() -> int:
    """Write or check the files."""
    check = "--check" in sys.argv
    if sys.argv[1:] not in ([], ["--check"]):
        raise SystemExit("usage: derive_charsmaps.py [--check]")
    installed = importlib.metadata.version("sentencepiece")
    if installed != RELEASE:
        raise SystemExit(f"sentencepiece {installed} is installed: {RELEASE} is needed")
    different = 0
    for name in NAMES:
        path = FOLDER / f"{name}.charsmap"
        blob = charsmap(name)
        if not check:
            path.write_bytes(blob)
        elif path.read_bytes() != blob:
            print(f"{path.name}: differs")
            different += 1
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
