"""What the scripts share: fill lines, and write the derived files or compare them."""

import argparse
from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class MissingSourceError(Exception):
    """The version of a library from which the files are derived is not installed."""


def require(library: str, needed: str) -> None:
    """Refuse every other version of a library.

    Raises
    ------
    MissingSourceError
        If it is not installed, or in another version.
    """
    try:
        installed = version(library) == needed
    except PackageNotFoundError:
        installed = False
    if not installed:
        raise MissingSourceError(f"{library} {needed} is not installed")


def fill_lines(items: Sequence[str], lead: str, width: int = 96) -> str:
    """Join the items with spaces into lines of limited width. Each line begins with `lead`."""
    lines = [lead + items[0]]
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) > width:
            lines.append(lead + item)
        else:
            lines[-1] += " " + item
    return "\n".join(lines)


def write_or_check(
    derive: Callable[..., Mapping[str, bytes]],
    *operands: str,
    arguments: Sequence[str] | None = None,
    root: Path = ROOT,
) -> int:
    """Write the files that `derive` returns or, with ``--check``, compare them.

    Parameters
    ----------
    derive
        Returns the content of each file, by its path from the root.
    operands
        The names of the parameters of `derive`, which the command line gives.
    arguments
        Those of the command line; by default, those of the process.
    root
        The root of the repository.

    Returns
    -------
    int
        The exit status: with ``--check``, 1 if a file differs.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true", help="compare; exit with 1 if one differs")
    for operand in operands:
        parser.add_argument(operand)
    given = vars(parser.parse_args(arguments))
    check = given.pop("check")
    try:
        contents = derive(**given)
    except MissingSourceError as error:
        parser.error(str(error))
    status = 0
    for name, content in contents.items():
        if not check:
            (root / name).write_bytes(content)
        elif (root / name).read_bytes() != content:
            print(f"{name}: differs")
            status = 1
    return status
