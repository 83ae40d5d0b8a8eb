"""The directives of the pages: drawings in SVG, and Markdown that is made from the source.

A drawing is part of the page itself, so it has the colours of the light or dark theme.
"""

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from building import mermaid, registry


class Drawing(SphinxDirective):
    """A drawing by name; the first paragraph of the content is its caption.

    The rest is only for readers of the source.
    """

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the figure."""
        svg = registry.drawing(self.arguments[0])
        caption = nodes.caption("", "")
        figure = nodes.figure(classes=["drawing"])
        figure += nodes.raw("", f'<div class="drawing-scroll">{svg}</div>', format="html")
        holder = nodes.Element()
        self.state.nested_parse(self.content, self.content_offset, holder)
        if holder.children:
            caption += holder.children[0].children
            figure += caption
        return [figure]


class Generated(SphinxDirective):
    """Inserts Markdown by name; the content of the directive is only for readers of the source."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown."""
        lines = registry.markdown(self.arguments[0]).splitlines()
        holder = nodes.Element()
        self.state.nested_parse(
            StringList(lines, source=self.arguments[0]), 0, holder, match_titles=True
        )
        return holder.children


class Mermaid(SphinxDirective):
    """A flow chart in the notation of Mermaid, drawn without its JavaScript."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the drawing."""
        svg = mermaid.draw("\n".join(self.content))
        figure = nodes.figure(classes=["drawing"])
        figure += nodes.raw("", f'<div class="drawing-scroll">{svg}</div>', format="html")
        return [figure]
