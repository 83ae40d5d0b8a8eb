"""The real library's normalizer, without training: compiles rules and applies them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import reference

schema: Any = reference.schema()  # Any, because the classes of the schema are created at run time

Rules = Mapping[tuple[int, ...], tuple[int, ...]]


def compile_charsmap(rules: Rules) -> bytes:
    """Compile rules over characters (no surrogates, nothing above U+10FFFF)."""
    pairs = [(_text(source), _text(target)) for source, target in rules.items()]
    return _charsmap(norm_map=pairs)


def compile_file(path: str) -> bytes:
    """Compile the rules of a TSV file."""
    return _charsmap(rule_tsv=path)


def precompiled(name: str) -> bytes:
    """Return the predefined charsmap with this name."""
    return _charsmap(rule_name=name)


def decompile(charsmap: bytes) -> dict[tuple[int, ...], tuple[int, ...]]:
    """Return the rules of a compiled charsmap."""
    pairs = _load(charsmap).Decompile()
    return {tuple(map(ord, source)): tuple(map(ord, target)) for source, target in pairs}


def validate(charsmap: bytes) -> None:
    """Raise the error that the library raises when it loads a model with this charsmap."""
    _load(charsmap)


class Normalizer:
    """The library's normalizer as part of a model, which can set ``treat_whitespace_as_suffix``."""

    def __init__(
        self, charsmap: bytes, *, treat_whitespace_as_suffix: bool = False, **flags: bool
    ) -> None:
        model = schema.ModelProto()
        model.pieces.add(piece="<unk>", type=schema.ModelProto.SentencePiece.UNKNOWN)
        model.pieces.add(piece="a")
        model.trainer_spec.treat_whitespace_as_suffix = treat_whitespace_as_suffix
        model.normalizer_spec.precompiled_charsmap = charsmap
        for name, value in flags.items():
            setattr(model.normalizer_spec, name, value)
        self._processor = reference.load(model.SerializeToString())

    def normalize(self, text: bytes) -> bytes:
        """Return the normalized text."""
        normalized: bytes = self._processor.Normalize(text)
        return normalized


def _text(points: tuple[int, ...]) -> str:
    return "".join(map(chr, points))


def _load(charsmap: bytes) -> Any:
    spec = schema.NormalizerSpec(precompiled_charsmap=charsmap)
    return reference.normalizer({"normalizer_spec": spec.SerializeToString()})


def _charsmap(**source: Any) -> bytes:
    normalizer = reference.normalizer(source)
    spec = schema.NormalizerSpec.FromString(normalizer.serialized_normalizer_spec())
    return bytes(spec.precompiled_charsmap)
