"""The limits of an export target: the parts of a model that the target cannot express exactly."""

from collections.abc import Sequence
from typing import NamedTuple


class Limit(NamedTuple):
    """A part of a model that a target cannot express exactly.

    Attributes
    ----------
    text : str
        A sentence that says what is not exact, and why.
    remedy : str
        A sentence that names the trainer option that avoids the limit; empty if there is none.
    refuses : bool
        True if the limit prevents an export, and also an import without ``--approximate``. False
        if the limit only causes a warning.
    on_symbols : bool
        Whether the limit applies only if control symbols in a line are treated as plain text.
    example : str
        A text that is encoded differently; empty if there is none.
    inexpressible : str
        A regular expression for texts that the target always encodes differently; empty if there
        is none. The built-in lines that it matches are not compared.
    """

    text: str
    remedy: str = ""
    refuses: bool = False
    on_symbols: bool = False
    example: str = ""
    inexpressible: str = ""

    @property
    def line(self) -> str:
        """The limit as one line of text: what is not exact, an example, and the remedy."""
        example = f"Example: {self.example!r}." if self.example else ""
        return " ".join(filter(None, (self.text, example, self.remedy)))


def difference(text: str, example: str = "") -> Limit:
    """Return a limit that prevents an export or an exact import."""
    return Limit(text, refuses=True, example=example)


TIES = Limit(
    "If two segmentations of a line have the same or almost the same score, the library may choose "
    "another one than sentencepiece: it adds up scores in float64, sentencepiece in float32.",
    "Only --model_type=bpe avoids this.",
)
"""The limits of every export of a Unigram model."""

DECODING_RULES = Limit(
    "The model has rules for decoding, which are left out: encoding is the same, but the decoded "
    "text is not.",
    "Train with other rules than nmt_nfkc_mark_case, and without --denormalization_rule_tsv.",
)
"""The limit of targets that do not support rules for decoding, for a model with such rules."""


def some(texts: Sequence[str]) -> str:
    """Return the first of several texts, and the number of remaining texts."""
    more = f" (and {len(texts) - 1:,} more)" if len(texts) > 1 else ""
    return f"{texts[0]!r}{more}"
