"""Says in words how two models differ, the first cause first."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any

from .case import Outcome

SHOWN = 8


@functools.cache
def schema() -> Any:
    """Return the message classes: ours, or those of the real library where ours are not there."""
    ours = "spmcompat.model.sentencepiece_model_pb2"
    if importlib.util.find_spec("spmcompat.model") and importlib.util.find_spec(ours):
        return importlib.import_module(ours)
    return importlib.import_module("tests.parity.reference").schema()


def parse(model: bytes) -> Any:
    """Parse a ``.model``."""
    message = schema().ModelProto()
    message.ParseFromString(model)
    return message


def ulps(left: float, right: float) -> int:
    """Return the distance of two float32 values in units of the last place."""
    return abs(_ordinal(left) - _ordinal(right))


def _ordinal(value: float) -> int:
    bits: int = struct.unpack("<i", struct.pack("<f", value))[0]
    return bits if bits >= 0 else -(bits & 0x7FFFFFFF)


def describe(ours: Outcome, reference: Outcome) -> list[str]:
    """Return what differs between two outcomes, one line each; empty when they agree."""
    if ours.failure or reference.failure:
        return list(_failures(ours, reference))
    lines = list(_names(ours.outputs, reference.outputs))
    for name in sorted(ours.outputs.keys() & reference.outputs.keys()):
        left, right = ours.outputs[name], reference.outputs[name]
        if left == right:
            continue
        lines.append(f"{name}: {first_difference(left, right)}")
        if name.endswith(".vocab"):
            lines += _vocabularies(left, right)
        else:
            lines += _models(left, right)
    return lines


def first_difference(left: bytes, right: bytes) -> str:
    """Say where two byte strings part."""
    at = next(
        (i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b),
        min(len(left), len(right)),
    )
    return (
        f"{len(left)} bytes against {len(right)}, first difference at byte {at}: "
        f"ours {left[at : at + 12]!r}, reference {right[at : at + 12]!r}"
    )


def _failures(ours: Outcome, reference: Outcome) -> Iterator[str]:
    """Compare failures: ours must be of the type that the reference raises, and leave nothing."""
    if ours.failure is None:
        yield f"only the reference fails: {reference.failure}"
    elif reference.failure is None:
        yield f"only ours fails: {ours.failure}"
    elif ours.failure.crashed:
        yield f"ours died: {ours.failure}; reference: {reference.failure}"
    elif ours.outputs:
        yield f"ours failed but left files behind: {sorted(ours.outputs)}"
    elif not _same_kind(ours.failure.types, reference.failure.types):
        yield f"another exception: ours {ours.failure}; reference {reference.failure}"


def _same_kind(ours: tuple[str, ...], reference: tuple[str, ...]) -> bool:
    if ours[0] == "CommandFailed":
        return True
    # The reference raises UnicodeDecodeError when its own message holds broken UTF-8.
    accidents = ("Crash", "Timeout", "UnicodeDecodeError")
    expected = "RuntimeError" if reference[0] in accidents else reference[0]
    return expected in ours


def _names(ours: Mapping[str, bytes], reference: Mapping[str, bytes]) -> Iterator[str]:
    if only := sorted(ours.keys() - reference.keys()):
        yield f"files only of ours: {only}"
    if only := sorted(reference.keys() - ours.keys()):
        yield f"files only of the reference: {only}"


def _vocabularies(ours: bytes, reference: bytes) -> Iterator[str]:
    left, right = ours.split(b"\n"), reference.split(b"\n")
    for number, (a, b) in enumerate(zip(left, right, strict=False), 1):
        if a != b:
            yield f"  vocab line {number}: ours {a!r}, reference {b!r}"
            return
    yield f"  vocab lines: ours {len(left)}, reference {len(right)}"


def _models(ours: bytes, reference: bytes) -> Iterator[str]:
    try:
        left, right = parse(ours), parse(reference)
    except Exception as error:
        yield f"  cannot be parsed: {error}"
        return
    for part in ("trainer_spec", "normalizer_spec", "denormalizer_spec"):
        if left.HasField(part) != right.HasField(part):
            yield f"  {part}: ours {left.HasField(part)}, reference {right.HasField(part)}"
        yield from _fields(part, getattr(left, part), getattr(right, part))
    yield from pieces_difference(
        [(piece.piece, piece.score, piece.type) for piece in left.pieces],
        [(piece.piece, piece.score, piece.type) for piece in right.pieces],
    )
    if left == right:
        yield "  the same message, serialized differently"


def _fields(part: str, left: Any, right: Any) -> Iterator[str]:
    ours = {field.name: value for field, value in left.ListFields()}
    reference = {field.name: value for field, value in right.ListFields()}
    for name in sorted(ours.keys() | reference.keys()):
        a, b = ours.get(name), reference.get(name)
        if a == b:
            continue
        if isinstance(a, bytes) and isinstance(b, bytes):
            yield f"  {part}.{name}: {first_difference(a, b)}"
        else:
            yield f"  {part}.{name}: ours {_shown(a)}, reference {_shown(b)}"


def _shown(value: Any) -> str:
    if value is None:
        return "not stored"
    text = repr(value)
    return text if len(text) < 100 else text[:100] + "..."


Piece = tuple[str, float, int]


def pieces_difference(ours: list[Piece], reference: list[Piece]) -> Iterator[str]:
    """Compare pieces as sets, then scores, types, order."""
    if ours == reference:
        return
    left = {piece: (score, kind) for piece, score, kind in ours}
    right = {piece: (score, kind) for piece, score, kind in reference}
    if len(ours) != len(reference):
        yield f"  pieces: ours {len(ours)}, reference {len(reference)}"
    for who, only in (
        ("ours", [piece for piece, _, _ in ours if piece not in right]),
        ("the reference", [piece for piece, _, _ in reference if piece not in left]),
    ):
        if only:
            yield f"  {len(only)} pieces only of {who}: {only[:SHOWN]}"
    common = [piece for piece, _, _ in reference if piece in left]
    kinds = [piece for piece in common if left[piece][1] != right[piece][1]]
    if kinds:
        yield f"  {len(kinds)} pieces of another type: {kinds[:SHOWN]}"
    moved = [(ulps(left[piece][0], right[piece][0]), piece) for piece in common]
    moved = [(distance, piece) for distance, piece in moved if distance]
    if moved:
        distance, piece = max(moved)
        yield (
            f"  {len(moved)} of {len(common)} scores differ, at most by {distance} units of the "
            f"last place ({piece!r}: ours {left[piece][0]!r}, reference {right[piece][0]!r})"
        )
    for index, (a, b) in enumerate(zip(ours, reference, strict=False)):
        if a != b:
            yield f"  first different id {index}: ours {a}, reference {b}"
            return


FACTS = {
    "all chars": r"all chars count\D+(\d+)",
    "alphabet": r"[Aa]lphabet size\D+(\d+)",
    "seeds": r"[Ii]nitialized (\d+) seed",
    "words": r"Using (\d+) sentences for EM",
    "size": r"EM sub_iter\D+\d+\D+size\D+(\d+)",
    "objective": r"obj\w*=([-\d.e+]+)",
    "tokens": r"num_tokens=(\d+)",
    "unreachable": r"pruned (\d+) unreachable",
}


def facts(log: str) -> dict[str, list[str]]:
    """Return the figures that a log gives for each stage."""
    return {name: re.findall(pattern, log) for name, pattern in FACTS.items()}


def stage_by_log(ours: str, reference: str) -> Iterator[str]:
    """Name the stages whose logged figures differ, in order; silent where ours logs none."""
    left, right = facts(ours), facts(reference)
    for name in FACTS:
        if left[name] and left[name] != right[name]:
            yield f"  log, {name}: ours {left[name][:SHOWN]}, reference {right[name][:SHOWN]}"
