"""The navigation of the site, made from the list of pages in ``docs/README.md``."""

import posixpath
import re
import shutil
from pathlib import Path

from sphinx.application import Sphinx

CONTENTS = "docs/README"
FIRST = "../README.md"
"""The first page, which holds the trees itself."""

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")


def toctrees(contents: str) -> str:
    """Return a hidden tree of pages for each section of the list."""
    _, *parts = _SECTION.split(contents)
    titles, texts = parts[::2], parts[1::2]
    return "\n".join(_toctree(title, text) for title, text in zip(titles, texts, strict=True))


def _toctree(title: str, text: str) -> str:
    entries = [f"{name} <{_document(path)}>" for name, path in _LINK.findall(text) if path != FIRST]
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *entries, "```", ""])


def _document(path: str) -> str:
    return posixpath.normpath(posixpath.join("docs", path)).removesuffix(".md").join(("/", ""))


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Make the first page the one that a server shows for the folder."""
    page = Path(app.outdir) / "README.html"
    if error is None and page.is_file():
        shutil.copyfile(page, page.with_name("index.html"))
