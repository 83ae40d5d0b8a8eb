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
from typing import NamedTuple, TypeAlias

from spmcompat.errors import BadValueError
from spmcompat.tools.export.charsmap_steps import JsonObject, Points, combines, pattern_of
from spmcompat.tools.export.document import short_name

_Function: TypeAlias = "Callable[[str], str]"

LONGEST_CLUSTER = 5
"""A ``Precompiled`` step replaces a whole grapheme cluster if it has at most this many bytes."""

_MOST_STEPS = 100
# All assigned characters that a step can change are in these ranges.
_CHARACTERS = (range(1, 0xD800), range(0xF900, 0x32400), range(0xE0000, 0xE0200))


class TextSteps(NamedTuple):
    """The steps before the ``Precompiled`` step, in the order in which they are applied.

    Attributes
    ----------
    texts : dict of str to str
        The texts that are replaced first.
    functions : list of callable
        The following steps, each as a function of a text.
    """

    texts: dict[str, str]
    functions: list[_Function]

    @classmethod
    def of(cls, steps: Sequence[JsonObject]) -> TextSteps:
        """Divide steps into the Replace steps at the beginning and all steps after them.

        Raises
        ------
        BadValueError
            If a step is unknown, or rules cannot express the order of the steps.
        """
        texts: dict[str, str] = {}
        functions: list[_Function] = []
        for step in steps:
            kind = str(step["type"])
            if kind == "Replace" and not functions:
                text, content = _replaced(step)
                texts[text] = content
            elif kind in FUNCTIONS:
                functions.append(FUNCTIONS[kind])
            else:
                raise BadValueError(
                    f"its step {short_name(kind)} has no equivalent in sentencepiece at this place."
                )
        replaced = [character for text in texts for character in set(text)]
        if (
            len(steps) > _MOST_STEPS
            or len(set(replaced)) != len(replaced)
            or set(replaced) & set("".join(texts.values()))
        ):
            raise BadValueError("the order of its Replace steps matters.")
        return cls(texts, functions)


def composed(steps: TextSteps, charsmap: Mapping[Points, Points]) -> dict[Points, Points]:
    """Return the rules that do the same as the steps and a ``Precompiled`` step after them.

    Parameters
    ----------
    steps : TextSteps
        The steps.
    charsmap : mapping
        The rules of Precompiled; empty if there is no such step.
    """
    images = _images(steps.functions)
    origins: defaultdict[str, list[int]] = defaultdict(list)
    for code, image in images.items():
        if len(image) == 1:
            origins[image].append(code)
    last = partial(_by_cluster, charsmap)
    rules: dict[Points, Points] = {}
    for code in {*images, *(source[0] for source in charsmap if len(source) == 1)}:
        points = _points(last(images.get(code, chr(code))))
        if points != (code,):
            rules[(code,)] = points
    for source, target in charsmap.items():
        text = "".join(map(chr, source))
        if len(source) > 1 and len(text.encode()) <= LONGEST_CLUSTER:
            codes = ([*origins[one], *([] if ord(one) in images else [ord(one)])] for one in text)
            rules.update(dict.fromkeys(product(*codes), target))
    for text, content in steps.texts.items():
        rules[_points(text)] = _points(last(reduce(_apply, steps.functions, content)))
    return rules


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
        points = _points(cluster)
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


def _points(text: str) -> Points:
    return tuple(map(ord, text))


def _replaced(step: JsonObject) -> tuple[str, str]:
    """Return the text that a Replace step replaces, and the new text."""
    text = pattern_of(step, "String")
    if not text or "content" not in step:
        raise BadValueError(
            "normalization rules cannot express the pattern of one of its Replace steps."
        )
    return text, step["content"]


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
