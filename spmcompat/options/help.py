"""The default and the allowed values of an option as text, for ``--help`` and the documentation."""

from typing import Any

from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.options.option import BOOL, BYTES, CHOICE, LIST, MODEL_TYPE, Option


def default_text(option: Option) -> str:
    """Return the default as a user would write it; empty if there is none."""
    value: Any = option.default
    if option.kind in (LIST, BYTES):
        return ""
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
