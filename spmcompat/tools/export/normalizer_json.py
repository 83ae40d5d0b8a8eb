"""The normalizer of a model as the field ``normalizer`` of a ``tokenizer.json``."""

from __future__ import annotations

from itertools import pairwise

from spmcompat.engine import SPACE_MARK
from spmcompat.model.pieces import BYTE, CONTROL, UNKNOWN, UNUSED, USER_DEFINED, texts_of_type
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.tools.export.charsmap_steps import (
    DELETED_MARK,
    MOST_EXPLICIT,
    JsonObject,
    analysed,
    prepend,
    replace,
    replace_pattern,
    steps_of,
)
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.patterns import character_class

# Noncharacters, which texts should not contain.
_END_MARK, NO_PIECE = "\ufde9", "\ufdea"


def reserved_texts(model: ModelProto) -> list[str]:
    """Return the texts of pieces that ``sentencepiece`` never finds in a line."""
    types = [CONTROL, UNKNOWN, BYTE]
    if model.trainer_spec.model_type != TrainerSpec.BPE:
        types.append(UNUSED)
    return [piece.piece for piece in model.pieces if piece.type in types]


def hidden_characters(model: ModelProto) -> list[str]:
    """Return the characters that occur in reserved texts, but in no other piece.

    The ``tokenizers`` library would find reserved texts in a line. To prevent this, the normalizer
    replaces these characters, which are unknown, with another unknown character. With byte
    fallback, this is impossible, because unknown characters are encoded as bytes.
    """
    if model.trainer_spec.byte_fallback:
        return []
    reserved = set(reserved_texts(model))
    found = {one for piece in model.pieces if piece.piece not in reserved for one in piece.piece}
    return sorted({one for text in reserved for one in text} - found)


def normalizer_limits(model: ModelProto) -> list[Limit]:
    """Return the parts of the normalizer that a ``tokenizer.json`` cannot express exactly."""
    spec = model.normalizer_spec
    rules = analysed(spec.precompiled_charsmap)
    if len(rules.explicit) > MOST_EXPLICIT:
        return [
            Limit(
                f"Its charsmap has {len(rules.explicit):,} rules of several characters, and each "
                "would be a step of the normalizer.",
                "Train with --normalization_rule_name=nmt_nfkc, or with fewer rules in "
                "--normalization_rule_tsv.",
                refuses=True,
            )
        ]
    targets = (*rules.single.values(), *rules.several.values())
    doubled = any(a == b == 0x20 for target in targets for a, b in pairwise(target))
    if spec.remove_extra_whitespaces and doubled:
        return [
            Limit(
                "The target of a rule contains two spaces in a row, which become one.",
                "Leave this rule out of --normalization_rule_tsv.",
            )
        ]
    return []


def normalizer(model: ModelProto) -> JsonObject | None:
    """Return the normalizer, or None if it changes nothing.

    Parameters
    ----------
    model : ModelProto
        The model whose normalizer is converted.
    """
    spec = model.normalizer_spec
    at_end = model.trainer_spec.treat_whitespace_as_suffix and spec.add_dummy_prefix
    at_start = spec.add_dummy_prefix and not at_end
    symbols = tuple(texts_of_type(model, USER_DEFINED))
    rules = analysed(spec.precompiled_charsmap)
    deletes = at_end and not all((*rules.single.values(), *rules.several.values()))
    taken = frozenset(piece.piece for piece in model.pieces)
    marks_deleted = deletes and spec.remove_extra_whitespaces
    steps = [*steps_of(spec.precompiled_charsmap, symbols, taken, marks_deleted=marks_deleted)]
    if not steps and at_start and not spec.remove_extra_whitespaces and spec.escape_whitespaces:
        # The usual steps for models without rules.
        steps = [prepend(SPACE_MARK), replace(" ", SPACE_MARK), *_hide(model)]
        return {"type": "Sequence", "normalizers": steps}
    # If extra spaces are removed, the space of `add_dummy_prefix` is added afterwards, so that a
    # line that becomes empty does not get a space.
    if at_start and not spec.remove_extra_whitespaces:
        steps.insert(0, prepend(_END_MARK))
    if at_end and not spec.remove_extra_whitespaces:
        steps.insert(0, _append_mark())
    if spec.remove_extra_whitespaces:
        steps.append(replace_pattern("\\A +", ""))
        if at_end:
            steps.append(_append_mark())
        if at_end and deletes:
            steps += [replace(DELETED_MARK, ""), replace_pattern("\\A +", "")]
        steps.append(replace_pattern(" {2,}", " "))
        if at_start:
            steps.append(prepend(" "))
    space = " "
    if spec.escape_whitespaces:
        steps.append(replace(" ", SPACE_MARK))
        space = SPACE_MARK
    if spec.remove_extra_whitespaces:
        end = f"(?={_END_MARK}\\z)" if at_end else "\\z"
        steps.append(replace_pattern(f"{space}+{end}", ""))
    if spec.add_dummy_prefix and (at_end or not spec.remove_extra_whitespaces):
        steps.append(replace(_END_MARK, space))
    # After all changes of spaces, because a reserved text may contain a space.
    steps += _hide(model)
    return {"type": "Sequence", "normalizers": steps} if steps else None


def _hide(model: ModelProto) -> list[JsonObject]:
    hidden = hidden_characters(model)
    return [replace_pattern(character_class(map(ord, hidden)), NO_PIECE)] if hidden else []


def _append_mark() -> JsonObject:
    """Return the step that appends `_END_MARK` to a line that is not empty."""
    return replace_pattern("(?m:(?<=.)\\z)", _END_MARK)
