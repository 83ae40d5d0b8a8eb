"""The table of all options. Flags, keywords, ``--help`` and the documentation are made from it.

The rows are plain data. ``reading`` converts the text of an option to a value, ``settings`` stores
the values, and ``conflicts`` refuses values that contradict each other. How a single release treats
an option is a fact of that release, and is defined in ``spmcompat.releases``.
"""

from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.options.extension_options import EXTENSIONS
from spmcompat.options.option import DENORMALIZER, FILE, LIST, NORMALIZER, TRAINER, Option
from spmcompat.options.reference_options import OLD_OPTIONS, REFERENCE_OPTIONS

_SPECS = {TRAINER: TrainerSpec(), NORMALIZER: NormalizerSpec(), DENORMALIZER: NormalizerSpec()}


def _with_default(option: Option) -> Option:
    """Return the row with its default in the schema, if a spec stores the option."""
    if option.stored_in not in _SPECS or option.default is not None:
        return option
    default = () if option.kind == LIST else getattr(_SPECS[option.stored_in], option.stored_as)
    return option._replace(default=default)


_GROUPS: dict[str, tuple[Option, ...]] = {
    **REFERENCE_OPTIONS,
    "Extensions of spmcompat, which a model does not store": EXTENSIONS,
    "Old options": OLD_OPTIONS,
}

GROUPS = {title: tuple(map(_with_default, options)) for title, options in _GROUPS.items()}
"""The options by group. The key is the title that ``--help`` shows above the group."""

OPTIONS = {option.name: option for options in GROUPS.values() for option in options}
"""The options by name."""

FILE_OPTIONS = tuple(name for name, option in OPTIONS.items() if option.kind == FILE)
"""The options, except those for the text, whose value is the path of a file."""
