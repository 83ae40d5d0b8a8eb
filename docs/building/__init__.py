"""The site's Sphinx extension: navigation, and texts that are made from the table of options."""

from docutils import nodes
from docutils.statemachine import StringList
from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from building import navigation, option_entries, sources


class OptionList(SphinxDirective):
    """Inserts a list of options by name; the content is only for readers of the source."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the parsed Markdown."""
        self.env.note_reread()  # this page also changes when an option changes
        lines = option_entries.LISTS[self.arguments[0]]().splitlines()
        holder = nodes.Element()
        self.state.nested_parse(StringList(lines, source=self.arguments[0]), 0, holder)
        return holder.children


def setup(app: Sphinx) -> dict[str, bool]:
    """Register everything with Sphinx."""
    app.connect("source-read", sources.adapt)
    app.connect("build-finished", navigation.write_index)
    app.add_lexer("packages", TextLexer)  # the list in CONTRIBUTING.md, which a test reads
    app.add_directive("options", OptionList)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
