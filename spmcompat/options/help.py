"""The text of ``spm_train --help``, made from the table of options."""

import textwrap
from collections.abc import Iterable
from typing import Any

from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.options.option import (
    BOOL,
    BYTES,
    CHOICE,
    LIST,
    MODEL_TYPE,
    NORMALIZER,
    TRAINER,
    Option,
)
from spmcompat.options.table import GROUPS
from spmcompat.releases import DEFAULT

_WIDTH = 98
_INDENT = " " * 36


def help_text() -> str:
    """Return the text of ``--help``."""
    lines = [
        "Trains a SentencePiece model. It writes the same bytes as the spm_train of sentencepiece,",
        "faster and in less memory.",
        "",
        "usage: spm_train --input=FILE[,FILE...] --model_prefix=NAME [flags]",
    ]
    for title, options in GROUPS.items():
        flags = [one for one in options if one.flag and one.name not in DEFAULT.retired_options]
        if flags:
            lines += ["", f"{title}:"]
            for option in flags:
                lines += _entry(option)
    lines += ["", f"Accepted without any effect, as in sentencepiece {DEFAULT.version}:"]
    lines += textwrap.wrap(
        ", ".join(f"--{name}" for name in sorted(DEFAULT.retired_options)),
        width=_WIDTH,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return "\n".join(lines) + "\n"


def help_of(options: Iterable[Option]) -> str:
    """Return the lines of ``--help`` for some flags."""
    return "".join(f"{line}\n" for option in options for line in _entry(option))


def default_text(option: Option) -> str:
    """Return the default as a user would write it; empty if there is none."""
    value: Any = option.default
    if option.kind in (LIST, BYTES):
        return ""
    if value is None and option.target in (TRAINER, NORMALIZER):
        spec = TrainerSpec() if option.target == TRAINER else NormalizerSpec()
        value = getattr(spec, option.stored_as)
    if option.kind == MODEL_TYPE:
        return TrainerSpec.ModelType.Name(value).lower()
    if option.kind == BOOL:
        return "" if value is None else str(value).lower()
    if isinstance(value, float):
        return f"{value:g}"
    return "" if value is None else str(value)


def allowed_text(option: Option) -> str:
    """Return the allowed values as text; empty if the type of the option already implies them."""
    if option.kind in (CHOICE, MODEL_TYPE):
        return ", ".join(option.choices)
    if option.least is None:
        return ""
    if option.most is None:
        return f"{option.least:g} or more"
    return f"{option.least:g} to {option.most:.10g}"


def _entry(option: Option) -> list[str]:
    """Return the lines of one flag: its name, what it does, and its values and default."""
    default = default_text(option)
    notes = [
        f"values: {allowed_text(option)}" if allowed_text(option) else "",
        f"{' and '.join(option.models)} only" if option.models else "",
        f"default: {default}" if default.strip() else "",
    ]
    shown = "; ".join(filter(None, notes))
    head = f"  --{option.name}"
    lines = textwrap.wrap(
        f"{option.help} [{shown}]" if shown else option.help,
        width=_WIDTH,
        initial_indent=_INDENT,
        subsequent_indent=_INDENT,
        break_on_hyphens=False,
    )
    if len(head) < len(_INDENT):
        lines[0] = head.ljust(len(_INDENT)) + lines[0][len(_INDENT) :]
        return lines
    return [head, *lines]
