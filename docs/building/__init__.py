"""The site's Sphinx extension: navigation, drawings, and tables that are made from the source."""

import hashlib
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from building import directives, navigation, sources

_HERE = Path(__file__).parent


def _digest() -> str:
    """Return a digest of the sources of drawings and generated texts."""
    results = _HERE.parents[1] / "benchmarks" / "results"
    paths = sorted([*_HERE.glob("*.py"), *results.glob("*.json")])
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    # Sphinx makes all pages again when this value changes.
    app.add_config_value("made_from", _digest(), "env")
    app.connect("source-read", sources.adapt)
    app.connect("build-finished", navigation.write_index)
    app.add_lexer("packages", TextLexer)  # the list in CONTRIBUTING.md, which a test reads
    app.add_directive("drawing", directives.Drawing)
    app.add_directive("generated", directives.Generated)
    app.add_directive("mermaid", directives.Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
