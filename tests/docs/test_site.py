"""The site builds without a warning, needs no network, and no link or picture is broken."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.docs.examples import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("sphinx", "furo", "mmdr")),
        reason="sphinx, furo or mmdr is not installed: pip install 'spmcompat[docs]'",
    ),
]

LOADED = {
    "script": "src",
    "img": "src",
    "object": "data",
    "link": "href",
    "iframe": "src",
    "source": "src",
}
"""What a browser loads by itself, and the attribute that says from where."""


class PageParser(HTMLParser):
    """Collects the addresses and anchors of a page, and the files that it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.anchors = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.anchors |= {given[name] for name in ("id", "name") if given.get(name)}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"])
        source = given.get(LOADED.get(tag, ""))
        if source and given.get("rel") not in ("canonical", "index", "search", "next", "prev"):
            self.loaded.append(source)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of the built site."""
    target = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-c", ROOT / "docs"]
    done = subprocess.run(
        [*command, ROOT, target],
        # In ROOT, Python would import spmcompat from its source, without compiled modules.
        cwd=target.parent,
        env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return target


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, PageParser]:
    """Return the parsed pages of the site by path."""
    found = [path for path in site.rglob("*.html") if "_static" not in path.parts]
    return {path: PageParser(path.read_text(encoding="utf-8")) for path in found}


def test_every_page_is_built(site: Path) -> None:
    for page in (ROOT / "docs").glob("*.md"):
        assert (site / "docs" / f"{page.stem}.html").is_file()
    assert 'url=docs/README.html"' in (site / "index.html").read_text(encoding="utf-8")


def test_nothing_is_loaded_from_the_network(pages: dict[Path, PageParser], site: Path) -> None:
    for path, page in pages.items():
        for source in page.loaded:
            assert not urlsplit(source).netloc, f"{path.name} loads {source}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*['\"]?(?:https?:)?//", style.read_text()), style


def inner_links(page: PageParser) -> Iterator[tuple[str, str]]:
    """Yield the path and the anchor of each link that leads to the same site."""
    for link in page.links:
        parts = urlsplit(link)
        if not parts.scheme and not parts.netloc:
            yield unquote(parts.path), unquote(parts.fragment)


def test_links_lead_somewhere(pages: dict[Path, PageParser]) -> None:
    for path, page in pages.items():
        for link, anchor in inner_links(page):
            target = (path.parent / link).resolve() if link else path
            assert target.is_file(), f"{path.name}: {link}"
            if target in pages and anchor:
                assert anchor in pages[target].anchors, f"{path.name}: {link}#{anchor}"


@pytest.mark.parametrize("name", ["docs/unigram", "docs/how-it-works", "ARCHITECTURE"])
def test_diagrams_stand_in_the_pages(name: str, pages: dict[Path, PageParser], site: Path) -> None:
    page = site / f"{name}.html"
    diagrams = [source for source in pages[page].loaded if "/mermaid-" in source]
    assert [(page.parent / source).is_file() for source in diagrams] == [True]


def test_long_lines_of_code_wrap_in_wide_windows(site: Path) -> None:
    style = (site / "_static" / "site.css").read_text(encoding="utf-8")
    for_all_windows = re.sub(r"@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}", "", style)
    assert re.search(r"div\.highlight pre \{[^}]*white-space: pre-wrap", for_all_windows)
    limits = re.findall(r"@media \(max-width: (\d+)em\)[^}]*white-space: pre;", style)
    assert [int(limit) * 16 < 1280 for limit in limits] == [True]


def test_every_option_has_an_entry(site: Path) -> None:
    from spmcompat.options.table import OPTIONS

    page = (site / "docs" / "options.html").read_text(encoding="utf-8")
    for name in OPTIONS:
        if not name.startswith("_"):
            assert f'id="confval-{name}"' in page, name


def test_the_search_knows_the_pages(site: Path) -> None:
    index = (site / "searchindex.js").read_text(encoding="utf-8")
    for name in ("docs/unigram", "docs/options", "ARCHITECTURE", "benchmarks/papers/README"):
        assert f'"{name}"' in index


def test_every_public_name_is_described(site: Path) -> None:
    import spmcompat

    page = (site / "docs" / "python.html").read_text(encoding="utf-8")
    for name in set(spmcompat.__all__) - {"__version__"}:
        assert f'id="spmcompat.{name}"' in page, name
