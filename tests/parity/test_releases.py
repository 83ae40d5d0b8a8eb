"""Earlier releases of the reference, each in an environment of its own."""

from __future__ import annotations

import pytest

from spmcompat.compare import parse
from spmcompat.releases import RELEASES
from tests.parity.case import DEFAULT_RELEASE, Case
from tests.parity.corpora import words_text
from tests.parity.harness import Trainers, file_case

TEXT = words_text(1)
CHAR = {"model_type": "char", "vocab_size": 40}


def test_the_tests_and_the_package_have_the_same_default() -> None:
    assert list(RELEASES)[-1] == DEFAULT_RELEASE


def test_the_reference_trains_in_its_own_environment(trainers: Trainers, old_release: str) -> None:
    case = file_case(CHAR, [TEXT], form="cli", release=old_release)
    outcome = trainers.of_release(old_release).run(case)
    assert outcome.failure is None
    newest = trainers.reference.run(file_case(CHAR, [TEXT], form="cli")).output(".model")
    model = outcome.output(".model")
    assert model is not None
    assert newest is not None
    assert parse(model).trainer_spec.HasField("self_test_sample_size")
    assert not parse(model).trainer_spec.HasField("auto_character_coverage")
    assert parse(newest).trainer_spec.HasField("auto_character_coverage")


@pytest.mark.parametrize("form", ["python", "string", "cli"])
def test_an_unknown_release_fails(trainers: Trainers, form: str) -> None:
    case = Case({"input": "a.txt", "model_prefix": "m"}, form=form, release="0.1.99")
    outcome = trainers.ours.run(case)
    assert outcome.failure is not None
    told = outcome.failure.message if form != "cli" else outcome.log
    assert 'compat must be one of 0.2.0, 0.2.1, 0.2.2, 0.2.3, not "0.1.99".' in told
