"""Every link in the documentation leads to an existing file and heading."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [
    *ROOT.glob("*.md"),
    *(ROOT / "docs").glob("*.md"),
    ROOT / "tests" / "README.md",
    ROOT / "benchmarks" / "README.md",
]
_LINK = re.compile(r"\]\(([^)#\s]*)(?:#([^)\s]*))?\)")
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page: Path) -> Iterator[tuple[str, str]]:
    """Yield the path and the anchor of each link that stays in the repository."""
    for path, anchor in _LINK.findall(page.read_text()):
        if "://" not in path:
            yield path, anchor


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub derives from the headings."""
    headings = _HEADING.findall(page.read_text())
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links(page: Path) -> None:
    for path, anchor in links(page):
        target = page.parent / path if path else page
        assert target.exists(), path
        assert not anchor or anchor in anchors(target), f"{path}#{anchor}"


def test_every_page_is_listed() -> None:
    pages = {page.name for page in (ROOT / "docs").glob("*.md")} - {"README.md"}
    assert {path for path, _ in links(ROOT / "docs" / "README.md") if "/" not in path} == pages
    assert ("docs/README.md", "") in links(ROOT / "README.md")
