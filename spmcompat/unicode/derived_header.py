"""The end of each script that derives a header: filled lines, and the file written or compared."""

from collections.abc import Sequence
from pathlib import Path


def fill_lines(items: Sequence[str], lead: str, width: int = 96) -> str:
    """Fill lines with the items. Each line begins with `lead`."""
    lines = [lead + items[0]]
    for item in items[1:]:
        if len(lines[-1]) + 1 + len(item) > width:
            lines.append(lead + item)
        else:
            lines[-1] += " " + item
    return "\n".join(lines)


def write_or_check(target: Path, text: str, check: bool) -> int:
    """Write a header, or compare the existing one with it; return the exit status."""
    if check:
        same = target.read_text() == text
        print(f"{target.name}: {'up to date' if same else 'differs'}")
        return 0 if same else 1
    target.write_text(text)
    return 0
