"""The table of all options; flags, keywords, ``--help`` and the documentation are made from it.

The rows are plain data. ``reading`` turns the text of an option into its value, ``settings`` holds
the values, ``checks`` compares them with each other. What a single release does with an option is
a fact of that release, and is written in ``spmcompat.releases``.
"""

from spmcompat.options.extension_options import EXTENSIONS
from spmcompat.options.option import UNIGRAM, Option
from spmcompat.options.reference_options import OLD_OPTIONS, REFERENCE_OPTIONS, UNIGRAM_TRAINING


def _table() -> dict[str, Option]:
    """Return all options by name, each with what it shares with its group."""
    found = {}
    for title, options in REFERENCE_OPTIONS.items():
        for option in options:
            models = (UNIGRAM,) if title == UNIGRAM_TRAINING else option.models
            found[option.name] = option._replace(group=title, models=models)
    title = "Extensions of spmcompat, which a model does not store"
    for option in EXTENSIONS:
        found[option.name] = option._replace(group=title, in_reference=False)
    for option in OLD_OPTIONS:
        found[option.name] = option._replace(group="Old options")
    return found


OPTIONS: dict[str, Option] = _table()
