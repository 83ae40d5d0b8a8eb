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
    """

    text: str
    remedy: str = ""
    refuses: bool = False

    @property
    def line(self) -> str:
        """What the user reads."""
        return f"{self.text} {self.remedy}".strip()
