"""What the site adds to Sphinx: navigation, drawings, and tables that are made from the source."""

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

from building import directives, navigation, sources


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.connect("source-read", sources.adapt)
    app.connect("build-finished", navigation.write_index)
    app.add_lexer("rooms", TextLexer)  # the list in CONTRIBUTING.md, which a test reads
    app.add_directive("drawing", directives.Drawing)
    app.add_directive("generated", directives.Generated)
    app.add_directive("mermaid", directives.Mermaid)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
