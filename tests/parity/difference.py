"""Describes how the outcomes of spmcompat and of the reference differ, earliest cause first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from spmcompat.errors import BadValueError
from spmcompat.tools.diff.difference import compare, first_difference
from spmcompat.tools.diff.report import report_lines

from .case import Failure, Outcome

SHOWN = 8

_CHECK = re.compile(r"\w+\.(?:cc|h)\b|\[[^\]]*\]")
"""A pattern for the origin of an exception in the reference: a file, and the failed condition."""


def describe(ours: Outcome, reference: Outcome) -> list[str]:
    """Return the differences of two outcomes, one line each; empty if they are equal."""
    if ours.failure or reference.failure:
        return list(_failures(ours, reference))
    lines = list(_names(ours.outputs, reference.outputs))
    for name in sorted(ours.outputs.keys() & reference.outputs.keys()):
        left, right = ours.outputs[name], reference.outputs[name]
        if left == right:
            continue
        at = first_difference(left, right)
        lines.append(
            f"{name}: {len(left)} bytes against {len(right)}, first difference at byte {at}: "
            f"ours {left[at:][:12]!r}, reference {right[at:][:12]!r}"
        )
        if name.endswith(".vocab"):
            lines += _vocabularies(left, right)
        else:
            lines += _models(left, right)
    return lines


def kinds(ours: Outcome, reference: Outcome) -> tuple[str, ...]:
    """Return the kinds of differences, without details that depend on the text of the case.

    A kind consists of the types of the exceptions and the checks that raise them, or of the names
    of files and model fields.
    """
    if ours.failure or reference.failure:
        return tuple(_sort(outcome.failure) for outcome in (ours, reference))
    found = {f"files: {line.partition(':')[0]}" for line in _names(ours.outputs, reference.outputs)}
    for name in ours.outputs.keys() & reference.outputs.keys():
        left, right = ours.outputs[name], reference.outputs[name]
        if left == right:
            continue
        found |= {".vocab"} if name.endswith(".vocab") else set(_kinds_in_models(left, right))
    return tuple(sorted(found))


def _sort(failure: Failure | None) -> str:
    if failure is None:
        return ""
    return " ".join([failure.types[0], *_CHECK.findall(failure.message)])


def _kinds_in_models(ours: bytes, reference: bytes) -> Iterator[str]:
    try:
        found = compare(ours, reference)
    except BadValueError:
        yield "no model"
        return
    yield from (field.name for field in found.fields)
    yield from (charsmap.name for charsmap in found.charsmaps)
    pieces = found.pieces
    if pieces.only_left or pieces.only_right or pieces.moved or pieces.types or pieces.stored:
        yield "pieces"
    elif pieces.scores:
        yield "scores"
    if found.samples:
        yield "samples"
    if found.unknown:
        yield "unknown fields"


def _failures(ours: Outcome, reference: Outcome) -> Iterator[str]:
    """Compare failures: ours must raise the same type as the reference and not leave a file."""
    if ours.failure is None:
        yield f"only the reference fails: {reference.failure}"
    elif reference.failure is None:
        yield f"only ours fails: {ours.failure}"
    elif ours.failure.crashed:
        yield f"ours died: {ours.failure}; reference: {reference.failure}"
    elif ours.outputs:
        yield f"ours failed but left files behind: {sorted(ours.outputs)}"
    elif not _same_kind(ours.failure.types, reference.failure.types):
        yield f"exceptions differ: ours {ours.failure}; reference {reference.failure}"


def _same_kind(ours: tuple[str, ...], reference: tuple[str, ...]) -> bool:
    if ours[0] == "CommandFailed":
        return True
    # The reference raises UnicodeDecodeError when its message quotes broken UTF-8.
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
        found = compare(ours, reference)
    except BadValueError as error:
        yield f"  cannot be compared: {error}"
        return
    yield from (f"  {line}" for line in report_lines(found, ("ours", "reference"), SHOWN) if line)


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
    """Return the numbers in a log, by the name of the stage."""
    return {name: re.findall(pattern, log) for name, pattern in FACTS.items()}


def stage_by_log(ours: str, reference: str) -> Iterator[str]:
    """Yield the stages whose logged numbers differ. Skip stages that spmcompat does not log."""
    left, right = facts(ours), facts(reference)
    for name in FACTS:
        if left[name] and left[name] != right[name]:
            yield f"  log, {name}: ours {left[name][:SHOWN]}, reference {right[name][:SHOWN]}"
