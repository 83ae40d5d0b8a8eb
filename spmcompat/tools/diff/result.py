"""The types of the differences that a comparison of two models finds."""

from typing import NamedTuple, TypeAlias

from spmcompat.tools.evaluate.vocabularies import SharedTexts, VocabularyCounts

# The value of a field of a spec; None if the model does not store the field.
Value: TypeAlias = "str | int | float | list[str] | None"
# The value of a field that is not in the schema. Bytes become hexadecimal text, and a group becomes
# a list.
Unknown: TypeAlias = "str | int | list[Unknown]"


class FieldDifference(NamedTuple):
    """The two values of a field such as ``trainer_spec.vocab_size``, or of a whole spec."""

    name: str
    left: Value
    right: Value


class Piece(NamedTuple):
    """A piece of one model, or a token or a merge of a tokenizer.json.

    Attributes
    ----------
    id : int
        The id; for a merge, its place in the list.
    piece : str
        The text; for a merge, the texts of its parts with a space between.
    score : float or None
        The score; None in a tokenizer.json without scores.
    type : str
        The type of the piece; for a token, whether it is special or was added.
    stored : str
        The fields of the piece that the model file contains, or the flags of an added token.
    """

    id: int
    piece: str
    score: float | None
    type: str
    stored: str


class IdDifference(NamedTuple):
    """A piece that both models have, but at different positions among the common pieces."""

    piece: str
    left_id: int
    right_id: int


class TextDifference(NamedTuple):
    """A piece that has another type, or stores other fields, in the second model."""

    piece: str
    left_id: int
    right_id: int
    left: str
    right: str


class ScoreDifference(NamedTuple):
    """A piece with different scores.

    `units` is the number of float32 steps between them; None unless both are finite log
    probabilities. The scores of BPE are ranks, and only normal pieces have a probability.
    """

    piece: str
    left_id: int
    right_id: int
    left: float
    right: float
    units: int | None


class PiecesDifference(NamedTuple):
    """The differences between the pieces of two models.

    Attributes
    ----------
    left_count, right_count, common : int
        The number of pieces in each model, and the number of pieces that both models have.
    first_id : int or None
        The first id at which the models differ.
    only_left, only_right : list of Piece
        Pieces that the other model does not have.
    moved : list of IdDifference
        The smallest set of pieces whose removal leaves all other pieces in the same order.
    types, stored : list of TextDifference
        Common pieces whose types differ, and common pieces that store different fields.
    scores : list of ScoreDifference
        Common pieces whose scores differ. Empty if the scores cannot be compared.
    scores_are_comparable : bool
        Whether both models are of one type. The scores of different types are different things: log
        probabilities, or the negated ranks of merges.
    """

    left_count: int
    right_count: int
    common: int
    first_id: int | None
    only_left: list[Piece]
    only_right: list[Piece]
    moved: list[IdDifference]
    types: list[TextDifference]
    stored: list[TextDifference]
    scores: list[ScoreDifference]
    scores_are_comparable: bool = True


class CutWord(NamedTuple):
    """A word that two tokenizers cut differently.

    Attributes
    ----------
    word : str
        The word: the text between white space.
    occurrences : int
        How often the word occurs.
    left, right : list of str
        The texts of its tokens after a space. If several tokens represent one character, all but
        one of them have an empty text.
    """

    word: str
    occurrences: int
    left: list[str]
    right: list[str]


class CutDifference(NamedTuple):
    """How differently two tokenizers cut the words of a text.

    Attributes
    ----------
    words, changed : int
        The number of words, and of those that are cut differently.
    changed_words : list of CutWord
        The distinct words that are cut differently, the most frequent first.
    """

    words: int
    changed: int
    changed_words: list[CutWord]

    @property
    def share(self) -> float:
        """The share of words that are cut differently."""
        return self.changed / self.words if self.words else 0.0

    def summary(self) -> str:
        """Return one line: how many words are cut differently."""
        return f"{self.share:.2%} of the {self.words:,} words are cut differently"


class RuleDifference(NamedTuple):
    """A source text and its replacement in each model; None if the model has no such rule."""

    source: str
    left: str | None
    right: str | None


class CharsmapDifference(NamedTuple):
    """Two compiled charsmaps whose bytes differ.

    Attributes
    ----------
    name : str
        The field, such as ``normalizer_spec.precompiled_charsmap``.
    left_bytes, right_bytes : int or None
        Sizes of the charsmaps; None if the model does not store a charsmap.
    first_byte : int or None
        Offset of the first byte that differs.
    rules : list of RuleDifference
        The rules that differ. The list is empty if the rules are equal and only their compiled
        forms differ.
    problem : str
        Why the rules cannot be compared; empty if they can.
    """

    name: str
    left_bytes: int | None
    right_bytes: int | None
    first_byte: int | None
    rules: list[RuleDifference]
    problem: str


class SampleDifference(NamedTuple):
    """A self-test sample: its input and pieces in each model, or None for a model that lacks it."""

    number: int
    left: tuple[str, str] | None
    right: tuple[str, str] | None


class UnknownDifference(NamedTuple):
    """The values of a field that is not in the schema. `place` is the message that contains it."""

    place: str
    field: int
    left: list[Unknown]
    right: list[Unknown]


class Vocabularies(NamedTuple):
    """How many pieces two vocabularies have, and how many texts of pieces are in both or in one."""

    left: VocabularyCounts
    right: VocabularyCounts
    texts: SharedTexts

    def rows(self) -> list[tuple[str, str, str]]:
        """Return the rows of a table: what is counted, and its count in each of the two models."""
        right = self.right.known()
        return [
            *(
                (k.replace("_", " "), f"{v:,}", f"{right[k]:,}")
                for k, v in self.left.known().items()
            ),
            ("texts in both models", f"{self.texts.shared:,}", f"{self.texts.shared:,}"),
            ("other texts", f"{self.texts.only_first:,}", f"{self.texts.only_second:,}"),
        ]
