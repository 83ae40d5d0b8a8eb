"""Makes the signature and the docstring of `train`, and the types of keywords, from the table."""

import re
import textwrap
from collections.abc import Collection

from spmcompat.options.from_counts import OPTIONS_OF_COUNTING
from spmcompat.options.help import allowed_text, default_text
from spmcompat.options.option import (
    BOOL,
    CHOICE,
    FILE,
    FLOAT,
    INT32,
    LIST,
    PATH,
    TEXT,
    UINT32,
    UINT64,
    Option,
)
from spmcompat.options.table import OPTIONS
from spmcompat.releases import DEFAULT

_WIDTH = 100

_TYPES = {
    BOOL: "bool",
    INT32: "int",
    UINT32: "int",
    UINT64: "int",
    FLOAT: "float",
    TEXT: "str",
    CHOICE: "str",
    LIST: "Sequence[str]",
    FILE: "StrPath",
    PATH: "StrPath",
}
# How docstrings describe types.
_DESCRIPTIONS = {
    "Sequence[StrPath]": "sequence of paths",
    "StrPath": "path",
    "Sentences": "iterable of str or bytes, or Arrow data",
    "Writers": "object with ``write``",
    "Normalizer": "object with ``serialized_normalizer_spec()``",
    "Pretokenizer": "callable or str",
    "OnRound": "callable",
    "TextIO": "text stream",
}

KEYWORDS = [
    option
    for option in OPTIONS.values()
    # No text or object can express `precompiled_charsmap`.
    if option.keyword and not option.name.startswith("_") and option.name != "precompiled_charsmap"
]
"""The options that Python functions take."""

_OLD = DEFAULT.retired_options | {"name", "escape_whitespaces"}
PARAMETERS = [one for one in KEYWORDS if one.name not in _OLD | {"sentence_reader"}]
"""The options that are parameters of `train`."""

_TEXT = {option.name for option in KEYWORDS if option.selects_text} - {"input"}
_TEXT |= {"column", "max_sentence_length", "long_sentences", "pretokenizer", "strict"}
_TEXT |= {"workers", "minloglevel", "progress"}
_COUNT = {*OPTIONS_OF_COUNTING, *_TEXT, "model_type", "normalizer"} - {"input"}
_PARTS = {name for name in _COUNT if not OPTIONS[name].selects_text}
_PARTS -= {"column", "progress", "strict", "workers"}
_NORMALIZING = {name for name in _PARTS - _TEXT if OPTIONS[name].kind != LIST}


_KEYWORDS = '''{literals}


class TextOptions(TypedDict, total=False):
    """The text options of `extend` and `trim` that the signatures of the functions do not name."""

{text}


class _NormalizingOptions(TypedDict, total=False):
{normalizing}


class PartOptions(_NormalizingOptions, total=False):
    """The options of `arrow_counter`."""

{parts}


class CountOptions(TextOptions, _NormalizingOptions, total=False):
    """The options of `count` that its signature does not name."""

{count}


class OldOptions(TypedDict, total=False):
    """The keywords ``name``, ``escape_whitespaces`` and those that the newest release ignores."""

{old}


class SentencePieceOptions(TextOptions, _NormalizingOptions, OldOptions, total=False):
    """The keywords of ``SentencePieceTrainer.train``.

    As in ``sentencepiece``, a ``list`` is read item by item, but other sequences are not. A text
    given for an option that is a list is split at its commas.
    """

{every}
'''


def parameters() -> str:
    """Return the parameters of `train`."""
    return "".join(f"    {one.name}: {_type_of(one)} | None = None,\n" for one in PARAMETERS)


def descriptions() -> str:
    """Return the section of the docstring of `train` that describes its parameters."""
    lines: list[str] = []
    for option in PARAMETERS:
        text = option.python_help or option.help.replace(", separated by commas", "")
        if option.models:
            text += f" For {' and '.join(option.models)} models."
        paragraph = textwrap.wrap(text, _WIDTH - 8, break_on_hyphens=False)
        lines += [_heading(option), *(f"    {line}" for line in paragraph)]
    return "".join(f"    {line}\n" for line in lines)


def imports() -> str:
    """Return the names that `train` needs from ``keywords.py``."""
    used = set(re.findall(r"\w+", parameters())) | {"OldOptions", "SentencePieceOptions"}
    ours = {"Normalizer", "OldOptions", "Pretokenizer", "SentencePieceOptions", "StrPath"}
    names = used & (ours | {_alias(option) for option in KEYWORDS if _is_literal(option)})
    return "".join(f"        {name},\n" for name in sorted(names, key=str.lower))


def types() -> str:
    """Return the types of choices, and of the keywords of functions."""
    every = {option.name for option in KEYWORDS} - {"logstream"}
    return _KEYWORDS.format(
        literals="\n".join(sorted(_literal(option) for option in KEYWORDS if _is_literal(option))),
        text=_fields(_TEXT),
        normalizing=_fields(_NORMALIZING),
        parts=_fields(_PARTS - _NORMALIZING),
        count=_fields(_COUNT - _TEXT - _NORMALIZING),
        old=_fields(_OLD, as_lists=True),
        every=_fields(every - _TEXT - _NORMALIZING - _OLD, as_lists=True),
    )


def _is_literal(option: Option) -> bool:
    return bool(option.choices) and not any(":" in choice for choice in option.choices)


def _alias(option: Option) -> str:
    """Return the name of the type of the choices of an option."""
    return option.name.title().replace("_", "")


def _literal(option: Option) -> str:
    """Return the definition of the type of the choices of an option."""
    values = [f'"{choice}"' for choice in option.choices]
    line = f"{_alias(option)}: TypeAlias = Literal[{', '.join(values)}]"
    if len(line) <= _WIDTH:
        return line
    items = "".join(f"    {value},\n" for value in values)
    return f"{_alias(option)}: TypeAlias = Literal[\n{items}]"


def _type_of(option: Option, *, as_lists: bool = False) -> str:
    """Return the type of the keyword, with other types for lists as in ``sentencepiece``."""
    found = option.python_type or (_alias(option) if _is_literal(option) else _TYPES[option.kind])
    if as_lists and option.kind == LIST:
        found = found.replace("Sequence[str]", "str | list[str]")
        found = found.replace("Sequence[StrPath]", "list[str] | list[StrPath]")
    return found


def _fields(names: Collection[str], *, as_lists: bool = False) -> str:
    """Return the fields of a ``TypedDict``."""
    options = [option for option in KEYWORDS if option.name in names]
    return "\n".join(f"    {one.name}: {_type_of(one, as_lists=as_lists)}" for one in options)


def _heading(option: Option) -> str:
    """Return the name of a parameter, its type, its range and its default."""
    kind = _type_of(option)
    for name, description in _DESCRIPTIONS.items():
        kind = kind.replace(name, description)
    kind = re.sub(r"Sequence\[([^]]*)\]", r"sequence of \1", kind).replace(" | ", " or ")
    if _is_literal(option):
        kind = f"{{{', '.join(map(repr, option.choices))}}}"
    limits = "" if option.choices else allowed_text(option)
    default = _default(option)
    for one in (kind, "str"):
        parts = [f"{option.name} : {one}", limits, f"default {default}" if default else ""]
        line = ", ".join(filter(None, parts))
        if len(line) <= _WIDTH - 4:
            break
    return line


def _default(option: Option) -> str:
    """Return the default as Python writes it; empty if there is none."""
    text = default_text(option)
    if isinstance(option.default, str) or _is_literal(option):
        return repr(text) if text else ""
    return text.title() if option.kind == BOOL else text
