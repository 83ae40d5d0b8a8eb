"""What a target cannot express exactly, known from the model alone."""

from typing import NamedTuple


class Limit(NamedTuple):
    """Something that a target cannot express exactly.

    Attributes
    ----------
    text : str
        What is not exact, and why: a sentence.
    remedy : str
        The option of the trainer that would make it exact, in a sentence; empty if there is none.
    refuses : bool
        Whether the model cannot be exported because of it. Otherwise it is only a warning.
    on_symbols : bool
        Whether it concerns only an export that does not find control symbols in a line.
    """

    text: str
    remedy: str = ""
    refuses: bool = False
    on_symbols: bool = False

    @property
    def line(self) -> str:
        """What the user reads."""
        return f"{self.text} {self.remedy}".strip()


TIES = Limit(
    "Where two segmentations of a line have the same score, or almost, the library can choose the "
    "other one: it adds up scores in float64, sentencepiece in float32.",
    "Only --model_type=bpe is free of that.",
)
"""What no export of a Unigram model can avoid."""
