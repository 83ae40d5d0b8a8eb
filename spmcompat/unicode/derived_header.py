"""Functions for the scripts that derive headers: fill lines, and write or compare the header."""

from collections.abc import Sequence
from pathlib import Path


def fill_lines(items: Sequence[str], lead: str, width: int = 96) -> str:
    """Join the items with spaces into lines of limited width. Each line begins with `lead`."""
    lines = [lead + items[0]]
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) > width:
            lines.append(lead + item)
        else:
            lines[-1] += " " + item
    return "\n".join(lines)


def write_or_check(target: Path, text: str, check: bool) -> int:
    """Write `text` to a header or, with `check`, compare the header with it.

    Returns the exit status.
    """
    if check:
        same = target.read_text() == text
        print(f"{target.name}: {'up to date' if same else 'differs'}")
        return 0 if same else 1
    target.write_text(text)
    return 0
