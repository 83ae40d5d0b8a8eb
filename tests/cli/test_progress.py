"""``progress=json`` writes lines of JSON that a program can follow, and changes nothing else."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from tests.kinds import raises_kind
from tests.parity import corpora

TEXT = corpora.words_text(seed=5, lines=300, types=400)
KEYS = ["stage", "done", "total", "seconds", "memory"]
SOFT: dict[str, Any] = {"hard_vocab_limit": False, "minloglevel": 2}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(TEXT)
    return tmp_path


def states(log: str) -> list[dict[str, Any]]:
    """Return the lines of progress, and assert that they are complete and of one form."""
    assert log.endswith("\n")
    found = [json.loads(line) for line in log.splitlines() if line.startswith("{")]
    for state in found:
        assert [*state] == KEYS
        assert state["total"] is None or 0 <= state["done"] <= state["total"]
        assert state["memory"] is None or 1 << 20 < state["memory"] < 1 << 40
    seconds = [state["seconds"] for state in found]
    assert seconds == sorted(seconds)
    return found


def stages(log: str) -> list[str]:
    """Return the names of the stages, and assert that each begins at 0 and ends at its total."""
    found = states(log)
    names = list(dict.fromkeys(state["stage"] for state in found))
    for name in names:
        own = [state for state in found if state["stage"] == name]
        assert own[0]["done"] == 0
        assert own[-1]["done"] == own[-1]["total"] > 0
        assert [state["done"] for state in own] == sorted(state["done"] for state in own)
    return names


def run(*arguments: str) -> tuple[str, str]:
    out, err = io.StringIO(), io.StringIO()
    assert main(arguments, out, err) == 0, err.getvalue()
    return out.getvalue(), err.getvalue()


@pytest.mark.parametrize("from_file", [True, False])
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("unigram", ["Reading", "Seeding", "EM and pruning", "EM and pruning, vocab_size 100"]),
        ("bpe", ["Reading", "Merging"]),
        ("word", ["Reading"]),
        ("char", ["Reading"]),
    ],
)
def test_training_names_its_stages(kind: Any, expected: list[str], from_file: bool) -> None:
    text: Any = {"input": "t.txt"} if from_file else {"sentence_iterator": TEXT.splitlines()}
    options: dict[str, Any] = {"model_type": kind, "vocab_size": [100, 300], **SOFT, **text}
    log = io.StringIO()
    results = []
    for more in ({}, {"progress": "json", "logstream": log}):
        models = {100: io.BytesIO(), 300: io.BytesIO()}
        spmcompat.train(model_writer=models.__getitem__, **options, **more)
        results.append([model.getvalue() for model in models.values()])
    assert stages(log.getvalue()) == expected
    assert results[0] == results[1]


def test_the_command_writes_the_same_files_and_output_with_progress() -> None:
    results = []
    for form in ("bar", "json"):
        out, err = run(
            *("train", "--input=t.txt", "--model_prefix=m", "--vocab_size=80"),
            *("--hard_vocab_limit=false", f"--progress={form}"),
        )
        results.append((out, Path("m.model").read_bytes(), Path("m.vocab").read_bytes()))
    assert results[0] == results[1]
    assert "Reading" in stages(err)
    rest = [line for line in err.splitlines() if not line.startswith("{")]
    assert rest
    assert all(line.startswith("INFO spmcompat: ") for line in rest)


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (
            "train_tokenizer --like=gpt2 --vocab_size=300,320 --output=o.json",
            ["Reading", "Merging"],
        ),
        ("train_tokenizer --like=bert --vocab_size=60 --output=o.json", ["Reading", "Merging"]),
        ("count --output=c.parquet", ["Reading"]),
        ("count --like=gpt2 --output=c.parquet", ["Reading"]),
    ],
)
def test_commands_that_read_a_text(command: str, expected: list[str]) -> None:
    if "count" in command:
        pytest.importorskip("pyarrow")
    arguments = (*command.split(), "--input=t.txt")
    out, err = run(*arguments, "--progress=json", "--quiet")
    assert stages(err) == expected
    assert all(line.startswith("{") for line in err.splitlines())
    assert out == run(*arguments)[0]


def test_commands_for_counts() -> None:
    pytest.importorskip("pyarrow")
    run("count", "--input=t.txt", "--output=c.parquet", "--quiet")
    merge = ("counts", "merge", "c.parquet", "c.parquet", "--output=d.parquet")
    assert stages(run(*merge, "--progress=json")[1]) == ["Merging"]
    log = io.StringIO()
    spmcompat.merge_counts(["c.parquet"], output="d.parquet", progress="json", logstream=log)
    assert stages(log.getvalue()) == ["Merging"]
    training = ("train", "--counts=d.parquet", "--model_prefix=m", "--model_type=word")
    size = ("--vocab_size=80", "--hard_vocab_limit=false")
    assert stages(run(*training, *size, "--progress=json")[1]) == ["Loading counts"]


def test_commands_for_models() -> None:
    pytest.importorskip("numpy")
    size = ("--vocab_size=80", "--hard_vocab_limit=false")
    run("train", "--input=t.txt", "--model_prefix=m", *size, "--quiet")
    evaluation = run("evaluate", "m.model", "--text=t.txt", "--progress=json")
    assert stages(evaluation[1]) == ["Evaluating"]
    trimming = ("trim", "m.model", "--input=t.txt", "--keep=60", "--output=n.model")
    assert stages(run(*trimming, "--progress=json")[1]) == ["Reading", "Pruning"]


@pytest.mark.parametrize(
    "call",
    [
        lambda log: spmcompat.train_tokenizer(
            "gpt2", input="t.txt", vocab_size=300, progress="json", logstream=log
        ),
        lambda log: spmcompat.count_words("gpt2", input="t.txt", progress="json", logstream=log),
        lambda log: spmcompat.count(input="t.txt", progress="json", logstream=log),
    ],
)
def test_functions_take_progress(call: Callable[[io.StringIO], object]) -> None:
    pytest.importorskip("pyarrow")
    log = io.StringIO()
    call(log)
    assert stages(log.getvalue())[0] == "Reading"


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_run_that_does_not_end_leaves_whole_lines(error: type[BaseException]) -> None:
    def sentences() -> Iterator[str]:
        yield from TEXT.splitlines()
        raise error

    log = io.StringIO()
    with pytest.raises((spmcompat.TrainingError, KeyboardInterrupt)):
        spmcompat.train(
            sentence_iterator=sentences(),
            model_writer=io.BytesIO(),
            vocab_size=60,
            progress="json",
            logstream=log,
            **SOFT,
        )
    (state,) = states(log.getvalue())
    assert (state["stage"], state["done"], state["total"]) == ("Reading", 0, None)


def test_another_form_is_refused() -> None:
    with raises_kind("bad-value progress xml"):
        spmcompat.train(input="t.txt", model_prefix="m", progress="xml")  # type: ignore[arg-type]
