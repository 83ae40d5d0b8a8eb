"""Converts normalizer steps of ``tokenizers`` to the rules of a single charsmap.

The target of a character's rule is the text that all steps together produce from this character. So
no step may depend on neighbouring characters, with two exceptions: a ``Replace`` step may replace a
text of several characters, and a ``Precompiled`` step may compose characters.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from itertools import product
from typing import TypeAlias

from spmcompat.errors import BadValueError
from spmcompat.tools.export.charsmap_steps import (
    JsonObject,
    Points,
    combines,
    pattern_of,
    points_of,
)
from spmcompat.tools.export.document import short_name

_Function: TypeAlias = "Callable[[str], str]"

LONGEST_CLUSTER = 5
"""A ``Precompiled`` step replaces a whole grapheme cluster if it has at most this many bytes."""

_MOST_STEPS = 100
# All assigned characters that a step can change are in these ranges.
_CHARACTERS = (range(1, 0xD800), range(0xF900, 0x32400), range(0xE0000, 0xE0200))


def composed(
    steps: Sequence[JsonObject], charsmap: Mapping[Points, Points]
) -> dict[Points, Points]:
    """Return the rules that do the same as several steps and a ``Precompiled`` step after them.

    Parameters
    ----------
    steps : sequence of dict
        The steps, in the order in which they are applied.
    charsmap : mapping
        The rules of Precompiled; empty if there is no such step.

    Raises
    ------
    BadValueError
        If a step is unknown, or rules cannot express the order of the steps.
    """
    texts = _replaced_first(steps)
    functions = [FUNCTIONS[step["type"]] for step in steps if step["type"] != "Replace"]
    images = _images(functions)
    origins: defaultdict[str, list[int]] = defaultdict(list)
    for code, image in images.items():
        if len(image) == 1:
            origins[image].append(code)
    last = partial(_by_cluster, charsmap)
    rules: dict[Points, Points] = {}
    for code in {*images, *(source[0] for source in charsmap if len(source) == 1)}:
        points = points_of(last(images.get(code, chr(code))))
        if points != (code,):
            rules[(code,)] = points
    for source, target in charsmap.items():
        text = "".join(map(chr, source))
        if len(source) > 1 and len(text.encode()) <= LONGEST_CLUSTER:
            codes = ([*origins[one], *([] if ord(one) in images else [ord(one)])] for one in text)
            rules.update(dict.fromkeys(product(*codes), target))
    for text, content in texts.items():
        rules[points_of(text)] = points_of(last(reduce(_apply, functions, content)))
    return rules


def _replaced_first(steps: Sequence[JsonObject]) -> dict[str, str]:
    """Return the texts that the Replace steps at the beginning replace, and the new texts.

    Raises
    ------
    BadValueError
        As for `composed`.
    """
    texts: dict[str, str] = {}
    others = [*steps]
    while others and others[0]["type"] == "Replace":
        step = others.pop(0)
        text = pattern_of(step, "String")
        if not text or "content" not in step:
            raise BadValueError(
                "normalization rules cannot express the pattern of one of its Replace steps."
            )
        texts[text] = step["content"]
    for step in others:
        if step["type"] not in FUNCTIONS:
            kind = short_name(step["type"])
            raise BadValueError(
                f"its step {kind} has no equivalent in sentencepiece at this place."
            )
    replaced = [character for text in texts for character in set(text)]
    if (
        len(steps) > _MOST_STEPS
        or len(set(replaced)) != len(replaced)
        or set(replaced) & set("".join(texts.values()))
    ):
        raise BadValueError("the order of its Replace steps matters.")
    return texts


def _images(functions: Sequence[_Function]) -> dict[int, str]:
    """Return the text that the functions produce from each character that they change."""
    images = {}
    for code in (code for codes in _CHARACTERS for code in codes) if functions else ():
        image = reduce(_apply, functions, chr(code))
        if image != chr(code):
            images[code] = image
    return images


def _apply(text: str, function: _Function) -> str:
    return function(text)


def _by_cluster(rules: Mapping[Points, Points], text: str) -> str:
    """Return the text that a ``Precompiled`` step produces from a short text."""
    result = ""
    for cluster in _clusters(text):
        points = points_of(cluster)
        lengths = range(1, len(points) + 1) if len(cluster.encode()) <= LONGEST_CLUSTER else ()
        begin = next((points[:length] for length in lengths if points[:length] in rules), None)
        parts = [rules[begin]] if begin else [rules.get((one,), (one,)) for one in points]
        result += "".join(chr(code) for part in parts for code in part)
    return result


def _clusters(text: str) -> list[str]:
    """Return the grapheme clusters of a decomposed character."""
    clusters: list[str] = []
    for one in text:
        if clusters and combines(one):
            clusters[-1] += one
        else:
            clusters.append(one)
    return clusters


def _strip_accents(text: str) -> str:
    return "".join(one for one in text if not unicodedata.category(one).startswith("M"))


def _lower(text: str) -> str:
    # `str.lower` gets one character at a time: for a whole text, it would let the neighbours of a
    # capital sigma decide about its lower case.
    return "".join(map(str.lower, text))


FUNCTIONS: dict[str, _Function] = {
    "NFD": partial(unicodedata.normalize, "NFD"),
    "NFKD": partial(unicodedata.normalize, "NFKD"),
    "StripAccents": _strip_accents,
    "Lowercase": _lower,
}
"""The types of steps that change each character by itself, apart from the order of marks."""
