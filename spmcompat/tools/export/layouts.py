"""Reads the steps of a ``tokenizer.json`` in the layouts that ``transformers`` writes.

Llama 2, T5, XLM-R, ALBERT and similar models have such files. The steps do almost what the
normalizer of a SentencePiece model does, so a `Layout` also lists the differences. Steps that no
model can express are refused.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import NamedTuple

from spmcompat.engine import NAMES, SPACE_MARK, compile_charsmap, decompile, precompiled
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec
from spmcompat.tools.export.charsmap_steps import (
    JsonObject,
    Points,
    pattern_of,
    prepend,
    replace,
    replace_pattern,
)
from spmcompat.tools.export.document import refusal, steps_of_part
from spmcompat.tools.export.limits import Limit, difference
from spmcompat.tools.export.normalizer_functions import FUNCTIONS, LONGEST_CLUSTER, composed
from spmcompat.tools.export.patterns import texts_of_pattern

_NEXT_LINE = 0x85
_WHITE_SPACE = frozenset(
    map(ord, "\t\n\v\f\r \u0085\u00a0\u1680\u2028\u2029\u202f\u205f\u3000")
).union(range(0x2000, 0x200B))
"""The characters at which a ``WhitespaceSplit`` step cuts."""


class Layout(NamedTuple):
    """How a model has to normalize and cut a text to encode it as a ``tokenizer.json`` file does.

    Attributes
    ----------
    spec : NormalizerSpec
        The normalizer.
    cuts_words : bool
        Whether the file encodes each word separately.
    symbols : list of str
        The texts that the file cuts out of a line.
    differences : list of Limit
        The differences between the file and a model with these settings.
    """

    spec: NormalizerSpec
    cuts_words: bool
    symbols: list[str]
    differences: list[Limit]


class _Spaces(NamedTuple):
    """The effects of the steps that change spaces and cut the text."""

    prefix: bool  # a space is put before the text
    is_prefix_exact: bool  # the space is also put before a text that begins with a space mark
    strips: bool  # spaces at both ends are removed, and several spaces become one
    strips_white_space: bool  # all white space at the end of the text is removed
    keeps_last: bool  # despite `strips`, a space at the end is kept
    escapes: bool
    splits_at_white_space: bool
    cuts_words: bool
    symbols: list[str]


def layout_of(document: JsonObject, most_symbols: int) -> Layout:
    """Return the layout of a checked document.

    Parameters
    ----------
    document : dict
        The result of `read_document`.
    most_symbols : int
        The maximum total number of characters in the user-defined symbols of a pattern.

    Raises
    ------
    BadValueError
        If the document has a step that occurs in no layout.
    """
    steps = _collapsing_once(steps_of_part(document, "normalizer"))
    start = next((at for at, step in enumerate(steps) if _code(step)), len(steps))
    # First, so that an error names a step such as Nmt, which no model has in any order.
    rules, charsmap, differences = _rules(document, steps[:start])
    spaces = _spaces(document, [_code(step) for step in steps[start:]], most_symbols)
    kept = {code for code in _WHITE_SPACE if _keeps(rules, code)} - {0x20}
    if spaces.splits_at_white_space and (kept - {_NEXT_LINE} or not charsmap):
        # A model cuts only at spaces, so rules have to turn other white space into spaces. The
        # charsmaps of sentencepiece do so for all white space except U+0085. Such a charsmap stays
        # unchanged, and U+0085 is listed as a difference below.
        rules = _with_spaces(rules)
        charsmap, kept = compile_charsmap(rules, change_something=False), set()
    if kept and (spaces.splits_at_white_space or spaces.strips_white_space):
        where = "cuts the text at" if spaces.splits_at_white_space else "removes"
        code = min(kept)
        differences.append(
            difference(
                f"The file {where} U+{code:04X}, which sentencepiece keeps.",
                f"a{chr(code)}b" if spaces.splits_at_white_space else f"a{chr(code)}",
            )
        )
    if spaces.prefix and not spaces.is_prefix_exact:
        marked = _keeps(rules, ord(SPACE_MARK))
        if not spaces.strips or marked:
            differences.append(
                difference(
                    "The file puts no space before a text that already begins with a space"
                    + (" mark" if spaces.strips else "")
                    + "; sentencepiece always does.",
                    f"{SPACE_MARK}a" if spaces.strips else " a",
                )
            )
    if spaces.keeps_last:
        text = "The file keeps a space at the end of a text; sentencepiece removes it."
        differences.append(difference(text, "a "))
    if rules and not charsmap:
        charsmap = compile_charsmap(rules, change_something=False)
    spec = NormalizerSpec(
        name=_name(charsmap),
        precompiled_charsmap=charsmap,
        add_dummy_prefix=spaces.prefix,
        remove_extra_whitespaces=spaces.strips,
        escape_whitespaces=spaces.escapes,
    )
    return Layout(spec, spaces.cuts_words, spaces.symbols, differences)


def _collapsing_once(steps: Sequence[JsonObject]) -> list[JsonObject]:
    """Return the steps without those that collapse spaces although a later step does it, too."""
    kept, has_later = list[JsonObject](), False
    for step in reversed(steps):
        if step != _SPACE_STEPS["collapse"]:
            # Between both steps, no other step may depend on the number of spaces.
            has_later = has_later and step["type"] in FUNCTIONS
        elif has_later:
            continue
        else:
            has_later = True
        kept.append(step)
    return kept[::-1]


# ---------------------------------------------------------------- spaces

_SPACE_STEPS: dict[str, JsonObject] = {
    "prepend": prepend(SPACE_MARK),
    "escape": replace(" ", SPACE_MARK),
    "strip_right": {"type": "Strip", "strip_left": False, "strip_right": True},
    "strip": {"type": "Strip", "strip_left": True, "strip_right": True},
    "strip_spaces": replace_pattern("\\A +| +\\z", ""),
    "collapse": replace_pattern(" {2,}", " "),
    "collapse_to_mark": replace_pattern(" {2,}", SPACE_MARK),
    "double_mark": replace_pattern(f"\\A{SPACE_MARK}", SPACE_MARK * 2),
}
# The sequences of steps that occur in ``tokenizer.json`` files. The value is True if the sequence
# strips spaces.
_SEQUENCES: dict[tuple[str, ...], bool] = {
    (): False,
    ("escape",): False,
    ("prepend", "escape"): False,
    ("escape", "double_mark"): False,
    ("collapse",): False,
    ("strip", "collapse"): True,
    ("strip_right", "collapse"): True,
    ("strip_right", "collapse_to_mark"): True,
    ("strip_spaces", "collapse"): True,
    ("strip_spaces", "collapse", "double_mark"): True,
    ("strip_spaces", "collapse", "escape"): True,
    ("strip_spaces", "collapse", "escape", "double_mark"): True,
}


def _code(step: JsonObject) -> str:
    """Return the name of a step that changes spaces; for any other step, an empty string."""
    return next((name for name, one in _SPACE_STEPS.items() if one == step), "")


def _spaces(document: JsonObject, codes: Sequence[str], most_symbols: int) -> _Spaces:
    """Return how the steps change spaces.

    Raises
    ------
    BadValueError
        If no model can change spaces in this way.
    """
    strips = _SEQUENCES.get(tuple(codes))
    if strips is None:
        raise refusal("normalizer", document)
    steps = steps_of_part(document, "pre_tokenizer")
    kinds = [step["type"] for step in steps]
    words = kinds[:1] == ["WhitespaceSplit"]
    scheme, cuts, symbols = "", False, list[str]()
    for step in steps[words:]:
        if step["type"] == "Metaspace" and not scheme and not symbols:
            scheme, cuts = _scheme(document, step), bool(step.get("split", True))
        elif step["type"] == "Split" and not symbols and not words:
            has_spaces = "escape" not in codes and not scheme
            symbols = _split_symbols(document, step, most_symbols, has_spaces=has_spaces)
        else:
            raise refusal("pre_tokenizer", document)
    if words and scheme != "always":
        raise refusal("pre_tokenizer", document, "it removes the spaces between words.")
    has_prefix = "prepend" in codes
    if has_prefix and scheme in ("always", "first"):
        raise refusal("pre_tokenizer", document, "the normalizer already prepends a space.")
    keeps_last = "collapse" in codes and not (strips or words)
    if keeps_last and scheme not in ("always", "first"):
        raise refusal("normalizer", document, "it keeps single spaces at the ends of a text.")
    if strips and "strip_right" in codes and scheme not in ("always", "first"):
        raise refusal("normalizer", document, "it keeps spaces at the start of a text.")
    return _Spaces(
        prefix=has_prefix or scheme in ("always", "first"),
        is_prefix_exact=has_prefix or "double_mark" in codes,
        strips=strips or words or keeps_last,
        strips_white_space=any(code in codes for code in ("strip", "strip_right")),
        keeps_last=keeps_last,
        escapes="escape" in codes or bool(scheme),
        splits_at_white_space=words,
        cuts_words=cuts,
        symbols=symbols,
    )


def _scheme(document: JsonObject, step: JsonObject) -> str:
    """Return where a ``Metaspace`` step puts a space: ``always``, ``first`` or ``never``."""
    scheme = step.get("prepend_scheme") or (
        "always" if step.get("add_prefix_space", True) else "never"
    )
    if step.get("replacement") != SPACE_MARK or scheme not in ("always", "first", "never"):
        raise refusal("pre_tokenizer", document)
    return str(scheme)


def _split_symbols(
    document: JsonObject, step: JsonObject, most: int, *, has_spaces: bool
) -> list[str]:
    """Return the texts that a ``Split`` step isolates; an empty list if the step has no effect."""
    inverts = step.get("invert")
    if pattern_of(step, "String") == " " and not has_spaces and not inverts:
        return []
    texts = texts_of_pattern(pattern_of(step, "Regex"), most)
    if not texts or "" in texts or inverts or step.get("behavior", "").lower() != "isolated":
        raise refusal("pre_tokenizer", document)
    found, lengths = set[str](), set[int]()
    for text in texts:
        # The pattern matches the first alternative, but sentencepiece finds the longest symbol.
        if any(text[:length] in found for length in lengths if length < len(text)):
            raise refusal("pre_tokenizer", document, f"it matches only a prefix of {text!r}.")
        found.add(text)
        lengths.add(len(text))
    return texts


# ---------------------------------------------------------------- rules


def _rules(
    document: JsonObject, steps: Sequence[JsonObject]
) -> tuple[dict[Points, Points], bytes, list[Limit]]:
    """Return the rules and the charsmap of the steps that change characters, and the differences.

    The differences are those between the steps and ``sentencepiece``. The charsmap is empty if the
    file does not contain a charsmap with exactly these rules.
    """
    blob, rules, others = b"", dict[Points, Points](), list(steps)
    if others and others[-1]["type"] == "Precompiled":
        blob = base64.b64decode(others.pop()["precompiled_charsmap"])
        try:
            rules = decompile(blob)
        except TrainingError as error:
            reason = f"its precompiled_charsmap is damaged: {error}"
            raise refusal("normalizer", document, reason) from None
    has_marks = bool(rules) and all(step["type"] != "StripAccents" for step in others)
    if others:
        try:
            rules, blob = composed(others, rules), b""
        except BadValueError as error:
            raise refusal("normalizer", document, str(error)) from None
    return rules, blob, [_cluster_difference(rules)] if has_marks and rules else []


def _cluster_difference(rules: dict[Points, Points]) -> Limit:
    """Return how a ``Precompiled`` step differs from ``sentencepiece``, with an example."""
    texts = {source: "".join(map(chr, source)) for source in rules}
    long = [text for text in texts.values() if len(text) > 1 and _is_long(text)]
    # か with a combining voiced sound mark is the most frequent case.
    example = "か\u3099" if "か\u3099" in long else min(long, default="")
    if not example:
        # Symbols such as ª are good examples, because their replacements are likely to be pieces.
        example = min(
            (
                text
                for source, text in texts.items()
                if source[0] > 0x7F and _is_word(rules[source])
            ),
            default=min(texts.values()),
        )
        example += "\u0301"
    return difference(
        "The step Precompiled works by grapheme cluster: it never composes clusters of more than "
        f"{LONGEST_CLUSTER} bytes, and it drops marks after a replaced character. sentencepiece "
        "replaces the longest source at each position.",
        example,
    )


def _is_long(text: str) -> bool:
    return len(text.encode()) > LONGEST_CLUSTER


def _is_word(points: Points) -> bool:
    return bool(points) and all(code < 0x80 and chr(code).isalnum() for code in points)


def _keeps(rules: dict[Points, Points], code: int) -> bool:
    return code in rules.get((code,), (code,))


def _with_spaces(rules: dict[Points, Points]) -> dict[Points, Points]:
    """Return the rules, changed so that they replace all white space with spaces."""
    spaced = {
        source: tuple(0x20 if code in _WHITE_SPACE else code for code in target)
        for source, target in rules.items()
    }
    for code in _WHITE_SPACE:
        if code != 0x20:
            spaced.setdefault((code,), (0x20,))
    return spaced


def _name(charsmap: bytes) -> str:
    """Return the name of the normalization rules that a charsmap contains."""
    if not charsmap:
        return "identity"
    names = (name for name in NAMES if name != "identity")
    return next((name for name in names if precompiled(name, "") == charsmap), "user_defined")
