"""The harness finds differences, and survives if spmcompat or the reference crashes or hangs."""

from __future__ import annotations

import pytest

from spmcompat.model.reading import parse

from . import difference, reference, sides
from .case import Case, Failure, Option, Outcome, command_line
from .harness import Trainers, file_case

TEXT = "abc abd abe abc\nabf abc abd\n" * 5
SOFT: dict[str, Option] = {"vocab_size": 60, "hard_vocab_limit": False, "num_threads": 2}


def train(case: Case) -> dict[str, bytes]:
    """Train with the reference, but misbehave in the way that the last line of the text names."""
    asked = case.files["text0.txt"].split(b"\n")[-1]
    if asked == b"die":
        import os

        os.abort()
    if asked == b"hang":
        import threading

        threading.Event().wait()
    result = reference.train(case)
    if asked == b"litter":
        with open("left-over", "w") as stream:
            stream.write("x")
    return result


BROKEN = "tests.parity.test_harness"


def outcome(model: bytes, vocab: bytes = b"") -> Outcome:
    return Outcome({"m.model": model, "m.vocab": vocab}, None, 0.0)


@pytest.fixture(scope="module")
def model() -> bytes:
    data = sides.run_here(sides.REFERENCE, file_case(SOFT, [TEXT])).output(".model")
    assert data is not None
    return data


def test_the_reference_agrees_with_itself() -> None:
    with Trainers(ours=sides.REFERENCE) as trainers:
        trainers.check(SOFT, TEXT)


def test_equal_bytes_show_no_difference(model: bytes) -> None:
    assert difference.describe(outcome(model), outcome(model)) == []


def test_a_difference_in_a_model_is_described(model: bytes) -> None:
    changed = parse(model)
    changed.trainer_spec.split_digits = True
    changed.pieces[4].piece = "new"
    report = "\n".join(difference.describe(outcome(changed.SerializeToString()), outcome(model)))
    assert "trainer_spec.split_digits  true  not stored" in report
    assert "pieces only in ours: 1" in report
    assert "first at id 4" in report


def test_the_first_different_line_of_a_vocabulary_is_named() -> None:
    report = difference.describe(outcome(b"", b"a\t0\nb\t1\n"), outcome(b"", b"a\t0\nc\t1\n"))
    assert any("vocab line 2" in line for line in report)


@pytest.mark.parametrize(
    ("ours", "theirs", "equal"),
    [
        (("TrainingError", "RuntimeError"), ("RuntimeError",), True),
        (("BadValueError", "TrainingError", "RuntimeError", "ValueError"), ("ValueError",), True),
        (("TrainingError", "RuntimeError"), ("ValueError",), False),
        (("KeyError", "LookupError"), ("RuntimeError",), False),
        (("TrainingError", "RuntimeError"), ("Crash",), True),
        (("Crash",), ("Crash",), False),
    ],
)
def test_failures_are_equal_if_the_types_are(
    ours: tuple[str, ...], theirs: tuple[str, ...], equal: bool
) -> None:
    report = difference.describe(
        Outcome({}, Failure(ours, "x"), 0.0), Outcome({}, Failure(theirs, "y"), 0.0)
    )
    assert (report == []) == equal


def test_files_left_behind_by_a_failure_are_a_difference() -> None:
    failure = Failure(("TrainingError", "RuntimeError"), "x")
    report = difference.describe(
        Outcome({"m.model": b"x"}, failure, 0.0), Outcome({}, failure, 0.0)
    )
    assert any("left files behind" in line for line in report)


def test_an_unexpected_file_is_a_difference() -> None:
    with Trainers(ours=BROKEN) as trainers:
        comparison = trainers.compare(SOFT, TEXT + "litter")
    assert any("files only of ours: ['left-over']" in line for line in comparison.differences)


def test_a_side_that_dies_is_replaced() -> None:
    with Trainers(ours=BROKEN) as trainers:
        comparison = trainers.compare(SOFT, TEXT + "die")
        assert comparison.ours.failure is not None
        assert comparison.ours.failure.types == ("Crash",)
        assert not comparison.equal
        assert trainers.compare(SOFT, TEXT).equal


def test_a_side_that_hangs_is_replaced() -> None:
    with Trainers(ours=BROKEN) as trainers:
        patience, trainers.ours.timeout = trainers.ours.timeout, 0.1
        comparison = trainers.compare(SOFT, TEXT + "hang")
        assert comparison.ours.failure is not None
        assert comparison.ours.failure.types == ("Timeout",)
        trainers.ours.timeout = patience
        assert trainers.compare(SOFT, TEXT).equal


def test_a_difference_is_traced_to_its_stage() -> None:
    with Trainers(ours=BROKEN) as trainers:
        report = trainers.explain(trainers.compare(SOFT, TEXT + "litter"))
    assert "stage, one whole round: DIFFERENT" in report


def test_flags_have_legal_and_repeatable_spellings() -> None:
    options: dict[str, Option] = {
        "byte_fallback": True,
        "pad_id": -1,
        "input": "a b",
        "split_digits": False,
    }
    for spelling in range(30):
        case = Case(options, form="cli", spelling=spelling, workers=2)
        line = command_line(case)
        assert line == command_line(case)
        assert "--pad_id=-1" in line
        assert "--split_digits=false" in line
        assert line[-1] == "--workers=2"
