"""Converts Markdown files to pages, with few changes because GitHub also shows the files."""

import re
from pathlib import Path

from sphinx.application import Sphinx

from building import navigation, option_entries

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^):#\s]+)\)")


def adapt(app: Sphinx, document: str, source: list[str]) -> None:
    """Change the text of a page before it is parsed."""
    root = Path(app.srcdir)
    text = source[0]
    if document == navigation.HOME:
        text += "\n\n" + navigation.toctrees(text)
    if document == "docs/options":
        text = option_entries.in_place_of_tables(text)
    source[0] = _without_links_to_folders(text, (root / document).parent)


def _without_links_to_folders(text: str, folder: Path) -> str:
    """Keep only the text of links to folders: a site has no page for them."""
    return _LINK.sub(lambda link: link[1] if (folder / link[2]).is_dir() else link[0], text)
