"""The hunt for differences: its texts, its cases, and how it shrinks a case that differs."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path
from typing import Any

import pytest

from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.hunt import __main__ as hunt
from tests.hunt.cases import make_case
from tests.hunt.found import save
from tests.hunt.shrink import leave_out, shrink
from tests.hunt.texts import KINDS, generate, sources
from tests.parity import reference
from tests.parity.case import Case, Failure, Outcome
from tests.parity.harness import Comparison, Trainers

DIFFERENT = "tests.unit.test_hunt"


def train(case: Case) -> dict[str, bytes]:
    """Train as the reference, but damage the model if digits are split and a text contains a q."""
    result = reference.train(case)
    texts = b"".join(data for name, data in case.files.items() if name.endswith(".txt"))
    if b"q" in texts and case.options.get("split_digits"):
        for name in Path().glob("*.model"):
            name.write_bytes(name.read_bytes() + b"\x12\x00")
    return result


@pytest.mark.parametrize("kind", KINDS)
def test_texts_of_every_kind(kind: str) -> None:
    sizes = set()
    for seed in range(50):
        lines = KINDS[kind](random.Random(seed))
        assert lines == KINDS[kind](random.Random(seed))
        assert not any(b"\n" in line for line in lines)
        sizes.add(sum(map(len, lines)))
    assert max(sizes) < 1_000_000
    assert len(sizes) > 10


def test_generated_texts_are_repeatable_and_of_every_kind() -> None:
    drawn = [generate(random.Random(seed)) for seed in range(300)]
    assert drawn == [generate(random.Random(seed)) for seed in range(300)]
    assert {text.name for text in drawn} == {f"generated {kind}" for kind in KINDS}
    assert any(len(line) > 4192 for text in drawn for line in text.data.split(b"\n"))


def test_a_case_depends_on_seed_and_number_only() -> None:
    texts = sources("")
    kinds = ("unigram", "bpe", "word", "char")
    made = [make_case(1, number, texts, "python", [1, 2], kinds) for number in range(60)]
    assert made[-1] == make_case(1, 59, texts, "python", [1, 2], kinds)
    assert made[-1] != make_case(2, 59, texts, "python", [1, 2], kinds)
    assert 15 < sum(name.startswith("generated") for _, name in made) < 45


def test_what_can_be_left_out_is_left_out() -> None:
    best: list[int] = list(range(40))
    asked = 0

    def still(kept: Sequence[int]) -> bool:
        nonlocal best, asked
        asked += 1
        if not {3, 17, 18} <= set(kept):
            return False
        best = list(kept)
        return True

    leave_out(best, still)
    assert best == [3, 17, 18]
    assert asked < 60


@pytest.mark.slow
def test_a_difference_is_made_small_and_saved(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"some words {word} and more".encode() for word in ("a", "b", "q", "c") * 20]
    case = Case(
        {
            "input": ["a.txt", "b.txt"],
            "model_prefix": "m",
            "vocab_size": 40,
            "hard_vocab_limit": False,
            "model_type": "char",
            "split_digits": True,
            "control_symbols": ["<a>", "<b>"],
            "normalization_rule_tsv": "r.tsv",
        },
        {"a.txt": b"\n".join(lines), "b.txt": b"one more", "r.tsv": b"41\t42\n"},
        workers=2,
        form="cli",
        spelling=5,
    )
    with Trainers(ours=DIFFERENT) as trainers:
        first = trainers.run(case)
        assert hunt.verdict(first) == hunt.DIFFERENT
        small = shrink(case, lambda one: hunt.manner(trainers.run(one)) == hunt.manner(first), inf)
        assert hunt.verdict(trainers.run(small)) == hunt.DIFFERENT
        assert small.files == {"t.txt": b"q"}
        assert small.form == "python"
        assert small.options.keys() <= {*case.options} - {
            "control_symbols",
            "normalization_rule_tsv",
        }
        assert small.workers == 1

    path = save(small, "it", "nobody", tmp_path)
    names: dict[str, object] = {}
    exec(compile(path.read_text(), path, "exec"), names)
    seen = []
    monkeypatch.setattr(Comparison, "equal", True)

    class Recorder:
        def run(self, one: Case) -> Comparison:
            seen.append(one)
            return first

    names["test_it"](Recorder())  # type: ignore[operator]
    assert seen == [small]


def model(**trainer: Any) -> ModelProto:
    message = ModelProto(trainer_spec=trainer)
    message.pieces.add(piece="<unk>", type=2)
    message.pieces.add(piece="a", score=-1)
    return message


def manner(ours: ModelProto | str, reference: ModelProto | str) -> tuple[str, ...]:
    outcomes = [
        Outcome({}, Failure(("RuntimeError",), side), 0.0)
        if isinstance(side, str)
        else Outcome({"m.model": side.SerializeToString()}, None, 0.0)
        for side in (ours, reference)
    ]
    return hunt.manner(Comparison(Case({}), *outcomes))


def test_the_manner_of_a_difference() -> None:
    plain, scored, longer = model(), model(), model()
    scored.pieces[1].score = -2
    longer.pieces.add(piece="b")
    assert manner(plain, model()) == ("equal",)
    assert manner(model(vocab_size=3), plain) == ("different", "trainer_spec.vocab_size")
    assert manner(scored, plain) == ("different", "scores")
    assert manner(longer, plain) == ("different", "pieces")
    sampled = model()
    sampled.self_test_data.samples.add(input=b"a", expected=b"a")
    assert manner(sampled, plain) == ("different", "samples")
    error = "INTERNAL: src/trainer_interface.cc(45) [v.size() == 2] in {}"
    known = "RuntimeError trainer_interface.cc [v.size() == 2]"
    assert manner(plain, error.format("x")) == ("different", "", known)
    assert manner("oh", error.format("y")) == ("both fail", "RuntimeError", known)


def test_a_difference_stays_of_its_kind() -> None:
    """The shrunk text still shows both differences: the stored field and the scores."""

    def shows(case: Case) -> bool:
        text = b"".join(case.files.values())
        ours = model(unk_surface="?") if b"q" in text else model()
        ours.pieces[1].score = -2 if b"z" in text else -1
        return manner(ours, model()) == ("different", "scores", "trainer_spec.unk_surface")

    case = Case({"input": "t.txt", "model_prefix": "m"}, {"t.txt": b"a q b\nz c\nd z q\n"})
    assert sorted(shrink(case, shows, inf).files["t.txt"]) == sorted(b"qz")


def test_saved_text_comes_back(tmp_path: Path) -> None:
    texts = {f"{seed}.txt": generate(random.Random(seed)).data[:3000] for seed in range(40)}
    case = Case(
        {"input": "0.txt", "required_chars": "\U0001f600'\"\\"}, texts, sentences=["a", b"b"]
    )
    path = save(case, "it", "nobody", tmp_path)
    assert max(map(len, path.read_text().splitlines())) <= 100
    source = path.read_text().replace("    comparison = trainers.run(case)", "    return case")
    names: dict[str, object] = {}
    exec(compile(source, path, "exec"), names)
    assert names["test_it"](None) == case  # type: ignore[operator]


def test_time_ends_the_shrinking() -> None:
    case = Case({"input": "t.txt"}, {"t.txt": b"a b c"})
    assert shrink(case, lambda _: True, -1.0) == case


OK = Outcome({"m.model": b"x"}, None, 0.0)


@pytest.mark.parametrize(
    ("ours", "theirs", "verdict"),
    [
        (OK, OK, hunt.EQUAL),
        (OK, replace(OK, outputs={"m.model": b"y"}), hunt.DIFFERENT),
        (OK, "Crash", hunt.REFERENCE_CRASHED),
        (OK, "Timeout", hunt.REFERENCE_HANGS),
        ("Timeout", "Timeout", hunt.BOTH_HANG),
        ("Crash", OK, hunt.DIFFERENT),
        ("Crash", "Crash", hunt.DIFFERENT),
        ("RuntimeError", "RuntimeError", hunt.BOTH_FAIL),
        ("RuntimeError", "Crash", hunt.BOTH_FAIL),
        ("RuntimeError", OK, hunt.DIFFERENT),
        ("NeedsSentences", OK, hunt.REFUSED),
    ],
)
def test_verdicts(ours: Outcome | str, theirs: Outcome | str, verdict: str) -> None:
    sides = [
        Outcome({}, Failure((side,), "x"), 0.0) if isinstance(side, str) else side
        for side in (ours, theirs)
    ]
    assert hunt.verdict(Comparison(Case({}), *sides)) == verdict


def test_a_file_in_utf_16_is_refused() -> None:
    case = Case(
        {"input": ["a.txt"], "model_prefix": "m", "vocab_size": 20, "model_type": "char"},
        {"a.txt": b"\xff\xfe" + b"the quick brown fox jumps\n" * 20},
    )
    with Trainers() as trainers:
        assert hunt.verdict(trainers.run(case)) == hunt.REFUSED
