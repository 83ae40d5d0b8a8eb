"""The two specs of a model while it is trained: their fields, which of these are set, their bytes.

Models are read with protobuf. Training only writes these two messages, so it makes their bytes
itself: importing protobuf would take longer than training on a small text, and would take memory
until the end. The schema, ``proto/sentencepiece_model.proto``, describes the fields. Tests compare
it with this module, and the bytes with those of protobuf.
"""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from spmcompat.model.entries import serialized_field

if TYPE_CHECKING:
    from google.protobuf.message import Message
    from typing_extensions import Self

T = TypeVar("T")


class ModelType(IntEnum):
    """The algorithm that learns the pieces."""

    UNIGRAM = 1
    BPE = 2
    WORD = 3
    CHAR = 4


class PieceType(IntEnum):
    """What a piece stands for."""

    NORMAL = 1
    UNKNOWN = 2
    CONTROL = 3
    USER_DEFINED = 4
    UNUSED = 5
    BYTE = 6


class Field:
    """A field of a spec: the attribute that holds its value.

    Attributes
    ----------
    number : int
        The number in the schema.
    default : object
        The value of a field that is not set. Its type is that of all values. A list stands for a
        repeated field, which is set if it has items.
    """

    def __init__(self, number: int, default: object) -> None:
        self.number = number
        self.default = default

    def __set_name__(self, owner: type[Spec], name: str) -> None:
        self.name = name

    def __get__(self, spec: Spec | None, owner: type[Spec]) -> Any:
        if spec is None:
            return self
        if isinstance(self.default, list):
            return vars(spec).setdefault(self.name, [])
        return vars(spec).get(self.name, self.default)

    def __set__(self, spec: Spec, value: Any) -> None:
        if isinstance(self.default, list):
            value = list(value)
        elif isinstance(self.default, float):
            value = to_float32(value)
        vars(spec)[self.name] = value


def field(number: int, default: T) -> T:
    """Return a field; its attribute has the type of the default."""
    default = cast(T, to_float32(default)) if isinstance(default, float) else default
    return cast(T, Field(number, default))


def to_float32(value: float) -> float:
    """Return the nearest float32; infinity beyond the largest one."""
    try:
        nearest: float = struct.unpack("f", struct.pack("f", value))[0]
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")
    return nearest


class Spec:
    """A message of the schema, as plain data.

    Parameters
    ----------
    **values : object
        The values of the fields to set.

    Attributes
    ----------
    unknown_fields : bytes
        Fields that the schema does not have, as a message that was read held them.

    Raises
    ------
    TypeError
        If there is no such field.
    """

    FIELDS: ClassVar[tuple[Field, ...]]
    """All fields by ascending number."""

    def __init__(self, **values: object) -> None:
        self.unknown_fields = b""
        for name, value in values.items():
            if not isinstance(getattr(type(self), name, None), Field):
                raise TypeError(f"{type(self).__name__} has no field {name}.")
            setattr(self, name, value)

    def __init_subclass__(cls) -> None:
        fields = [value for value in vars(cls).values() if isinstance(value, Field)]
        cls.FIELDS = tuple(sorted(fields, key=lambda one: one.number))

    @classmethod
    def of_message(cls, message: Message) -> Self:
        """Return the spec that a message of protobuf holds."""
        spec = cls(**{known.name: value for known, value in message.ListFields()})
        rest = type(message)()
        rest.CopyFrom(message)
        for known in cls.FIELDS:
            rest.ClearField(known.name)
        spec.unknown_fields = rest.SerializeToString()
        return spec

    def stored_fields(self) -> dict[str, Any]:
        """Return the values of the fields that are set, by name and in the order of the schema."""
        values = vars(self)
        return {
            one.name: values[one.name]
            for one in self.FIELDS
            if one.name in values and values[one.name] != []
        }

    def copy(self) -> Self:
        """Return a spec with the same values."""
        other = type(self)(**self.stored_fields())
        other.unknown_fields = self.unknown_fields
        return other

    def serialize(self) -> bytes:
        """Return the bytes of the message: those that protobuf writes."""
        values = self.stored_fields()
        parts = []
        for one in self.FIELDS:
            value = values.get(one.name, [])
            for item in value if isinstance(value, list) else [value]:
                parts.append(serialized_field(one.number, item))
        return b"".join(parts) + self.unknown_fields


class TrainerSpec(Spec):
    """How a model was trained."""

    input: list[str] = field(1, [])
    model_prefix: str = field(2, "")
    model_type: int = field(3, ModelType.UNIGRAM)
    vocab_size: int = field(4, 8000)
    accept_language: list[str] = field(5, [])
    self_test_sample_size: int = field(6, 0)
    input_format: str = field(7, "")
    character_coverage: float = field(10, 0.9995)
    input_sentence_size: int = field(11, 0)
    mining_sentence_size: int = field(12, 0)
    training_sentence_size: int = field(13, 0)
    seed_sentencepiece_size: int = field(14, 1_000_000)
    shrinking_factor: float = field(15, 0.75)
    num_threads: int = field(16, 16)
    num_sub_iterations: int = field(17, 2)
    max_sentence_length: int = field(18, 4192)
    shuffle_input_sentence: bool = field(19, True)
    max_sentencepiece_length: int = field(20, 16)
    split_by_unicode_script: bool = field(21, True)
    split_by_whitespace: bool = field(22, True)
    split_by_number: bool = field(23, True)
    treat_whitespace_as_suffix: bool = field(24, False)
    split_digits: bool = field(25, False)
    allow_whitespace_only_pieces: bool = field(26, False)
    control_symbols: list[str] = field(30, [])
    user_defined_symbols: list[str] = field(31, [])
    vocabulary_output_piece_score: bool = field(32, True)
    hard_vocab_limit: bool = field(33, True)
    use_all_vocab: bool = field(34, False)
    byte_fallback: bool = field(35, False)
    required_chars: str = field(36, "")
    unk_id: int = field(40, 0)
    bos_id: int = field(41, 1)
    eos_id: int = field(42, 2)
    pad_id: int = field(43, -1)
    unk_surface: str = field(44, " \N{DOUBLE QUESTION MARK} ")
    unk_piece: str = field(45, "<unk>")
    bos_piece: str = field(46, "<s>")
    eos_piece: str = field(47, "</s>")
    pad_piece: str = field(48, "<pad>")
    train_extremely_large_corpus: bool = field(49, False)
    enable_differential_privacy: bool = field(50, False)
    differential_privacy_noise_level: float = field(51, 0.0)
    differential_privacy_clipping_threshold: int = field(52, 0)
    pretokenization_delimiter: str = field(53, "")
    seed_sentencepieces_file: str = field(54, "")
    auto_character_coverage: bool = field(55, False)


class NormalizerSpec(Spec):
    """How text is normalized before it is encoded, or pieces when they are decoded."""

    name: str = field(1, "")
    precompiled_charsmap: bytes = field(2, b"")
    add_dummy_prefix: bool = field(3, True)
    remove_extra_whitespaces: bool = field(4, True)
    escape_whitespaces: bool = field(5, True)
    normalization_rule_tsv: str = field(6, "")
