"""The navigation of the site, made from the list of pages on the home page, ``docs/README.md``."""

import posixpath
import re
from pathlib import Path

from sphinx.application import Sphinx

HOME = "docs/README"

_SECTION = re.compile(r"^## (.+)$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\(([^)#\s]+\.md)\)")


def toctrees(contents: str) -> str:
    """Return a hidden tree of pages for each section of the list."""
    _, *parts = _SECTION.split(contents)
    titles, texts = parts[::2], parts[1::2]
    return "\n".join(_toctree(title, text) for title, text in zip(titles, texts, strict=True))


def _toctree(title: str, text: str) -> str:
    entries = [f"{name} <{_document(path)}>" for name, path in _LINK.findall(text)]
    return "\n".join(["```{toctree}", ":hidden:", f":caption: {title}", "", *entries, "```", ""])


def _document(path: str) -> str:
    return posixpath.normpath(posixpath.join("docs", path)).removesuffix(".md").join(("/", ""))


def write_index(app: Sphinx, error: Exception | None) -> None:
    """Lead readers from the folder of the site to its home page."""
    if error is None:
        home = f"{HOME}.html"
        page = f'<!doctype html><meta http-equiv="refresh" content="0; url={home}">'
        page += f'<title>spmcompat</title><a href="{home}">Documentation of spmcompat</a>'
        (Path(app.outdir) / "index.html").write_text(page, encoding="utf-8")
