"""Results of the functions of tools: equal to the output of the commands, short, and safe."""

import io
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.errors import UsageError
from spmcompat.model.reading import parse
from tests.kinds import raises_kind
from tests.parity import corpora

TEXT = corpora.words_text(seed=7, lines=300, types=60)
SMALL: dict[str, Any] = {"vocab_size": 80, "hard_vocab_limit": False, "minloglevel": 2}
HOSTILE = "<script>x</script>"


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Work in a folder with a text and two models."""
    folder = tmp_path_factory.mktemp("results")
    before = Path.cwd()
    os.chdir(folder)
    Path("t.txt").write_text(TEXT, encoding="utf-8")
    spmcompat.train(input="t.txt", model_prefix="a", user_defined_symbols=[HOSTILE], **SMALL)
    spmcompat.train(input="t.txt", model_prefix="b", model_type="bpe", **SMALL)
    spmcompat.count(input="t.txt", minloglevel=2).save("counts.parquet")
    yield folder
    os.chdir(before)


def _command(*arguments: str) -> str:
    """Return what a command prints."""
    out = io.StringIO()
    status = main(arguments, out, io.StringIO())
    assert status in (0, 1)
    return out.getvalue()


EVALUATE = ["evaluate", "a.model", "b.model", "--json", "--quiet"]


def _compare() -> spmcompat.Comparison:
    return spmcompat.compare("t.txt", output="report", vocab_size=80, configs="bpe", minloglevel=2)


COMPARE = ["compare", "--text=t.txt", "--output=report", "--vocab_size=80", "--configs=bpe"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "arguments", "more"),
    [
        (
            lambda: spmcompat.diff("a.model", "b.model"),
            ["diff", "a.model", "b.model", "--json"],
            {"left": "a.model", "right": "b.model"},
        ),
        (lambda: spmcompat.show("a.model"), ["show", "a.model", "--json"], {"model": "a.model"}),
        (
            lambda: spmcompat.view(["a.model", "b.model"], text="t.txt", lines=3),
            ["view", "a.model,b.model", "--text=t.txt", "--lines=3", "--format=json"],
            {},
        ),
        (
            lambda: spmcompat.check("a.model", text="t.txt"),
            ["show", "a.model", "--check", "--text=t.txt", "--json"],
            {"model": "a.model"},
        ),
        (
            lambda: spmcompat.evaluate(
                ["a.model", "b.model"],
                text={"x": "t.txt", "y": Path("t.txt")},
                bootstrap=100,
                embedding_width=8,
                minloglevel=2,
            ),
            [*EVALUATE, "--text=x=t.txt,y=t.txt", "--bootstrap=100", "--embedding_width=8"],
            {},
        ),
        (
            lambda: spmcompat.evaluate(
                ["a.model", "b.model"],
                counts=spmcompat.load_counts("counts.parquet"),
                drop_spaces=True,
                minloglevel=2,
            ),
            [*EVALUATE, "--counts=counts.parquet", "--drop_spaces"],
            {},
        ),
        (_compare, [*COMPARE, "--json"], {}),
    ],
    ids=["diff", "show", "view", "check", "evaluate", "counts", "compare"],
)
@pytest.mark.reference
def test_a_result_equals_the_output_of_the_command(
    function: Callable[[], Any], arguments: list[str], more: dict[str, str]
) -> None:
    if "compare" in arguments:
        pytest.importorskip("matplotlib")
    shown = json.loads(_command(*arguments))
    assert {**more, **json.loads(json.dumps(function().to_dict()))} == shown


RESULTS: dict[str, Callable[[], Any]] = {
    "diff": lambda: spmcompat.diff("a.model", "b.model"),
    "show": lambda: spmcompat.show("a.model"),
    "check": lambda: spmcompat.check("a.model", text="t.txt"),
    "edit": lambda: spmcompat.edit("a.model", remove=[HOSTILE], add_control=["<x>"], text="t.txt"),
    "merge": lambda: spmcompat.merge(["a.model", "a.model"]),
    "extend": lambda: spmcompat.extend("a.model", add=2, input="t.txt", minloglevel=2),
    "trim": lambda: spmcompat.trim("a.model", keep=70, input="t.txt", minloglevel=2),
    "export": lambda: spmcompat.export(
        "a.model", to="tokenizer.json", output="t.json", text=[HOSTILE, f"a {HOSTILE} b"]
    ),
    "evaluate": lambda: spmcompat.evaluate("a.model", text="t.txt", minloglevel=2),
    "view": lambda: spmcompat.view("a.model", HOSTILE, f"a {HOSTILE} b", ids=True),
    "parity": lambda: spmcompat.parity(
        input="t.txt", user_defined_symbols=[HOSTILE], **{**SMALL, "vocab_size": 5}
    ),
    "compare": _compare,
}


PRINTED = {
    "diff": ["diff", "a.model", "b.model"],
    "show": ["show", "a.model"],
    "check": ["show", "a.model", "--check", "--text=t.txt"],
    "evaluate": ["evaluate", "a.model", "--text=t.txt"],
    "view": ["view", "a.model", HOSTILE, f"a {HOSTILE} b", "--ids"],
    "compare": COMPARE,
}


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("name", PRINTED)
def test_a_printed_result_is_the_report_of_the_command(name: str) -> None:
    if name == "compare":
        pytest.importorskip("matplotlib")
    text = str(RESULTS[name]())
    assert text.count("\n") > 2
    assert text in _command(*PRINTED[name])


@pytest.mark.reference
def test_a_printed_result_of_parity_names_the_packages_and_the_result() -> None:
    text = str(spmcompat.parity(input="t.txt", **SMALL))
    assert "sentencepiece" in text
    assert text.endswith("equal, byte for byte")


@pytest.mark.slow
@pytest.mark.reference
@pytest.mark.parametrize("name", RESULTS)
def test_a_result_is_short_and_safe(name: str) -> None:
    if name == "compare":
        pytest.importorskip("matplotlib")
    result = RESULTS[name]()
    assert len(repr(result)) < 300
    assert "\n" not in repr(result)
    json.dumps(result.to_dict(), allow_nan=False)
    if hasattr(result, "_repr_html_"):
        html = result._repr_html_()
        assert "<script" not in html
        assert "<table" in html or "<p>" in html


def test_a_model_can_be_given_as_bytes() -> None:
    model = Path("a.model").read_bytes()
    assert spmcompat.diff(model, "a.model").equal
    assert spmcompat.show(model) == spmcompat.show("a.model")
    with raises_kind("bad-model"):
        spmcompat.show(b"no model")


@pytest.mark.reference
def test_parity_takes_the_keywords_of_python() -> None:
    found = spmcompat.parity(sentence_iterator=TEXT.splitlines(), **SMALL)
    assert found.equal
    assert found.difference is not None
    assert found.difference.equal
    assert found.ours.model is not None
    stored = {field.name for field, _ in parse(found.ours.model).trainer_spec.ListFields()}
    assert stored == {"model_prefix", "vocab_size", "hard_vocab_limit"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "bad-value"),
        ({"text": "t.txt", "counts": "counts.parquet"}, "bad-value"),
        ({"text": 5}, "bad-value"),
        ({"text": "t.txt", "bootstrap": 5}, "bad-value 100 100000"),
        ({"text": "t.txt", "bootstrap": 100.5}, "bad-value 100.5"),
        ({"text": "t.txt", "workers": True}, "bad-value workers"),
        ({"text": "t.txt", "drop_spaces": "no"}, "bad-value drop_spaces no"),
        ({"text": "t.txt", "bootstrap": 100, "units": "word"}, "bad-value word"),
        ({"text": "t.txt", "units": "lines"}, "bad-value bootstrap=N"),
        ({"text": "t.txt", "gold": ["a", "a"]}, "bad-value"),
        ({"text": "t.txt", "baseline": "--b"}, "bad-value bootstrap=N"),
        (
            {"text": "t.txt", "bootstrap": 100, "baseline": "--b"},
            "bad-value --b",
        ),
        ({"text": "nowhere.txt"}, "cannot-read nowhere.txt No such file or directory"),
        ({"counts": 5}, "wrong-type"),
        ({"counts": ["a.counts"]}, "wrong-type merge_counts"),
    ],
)
@pytest.mark.reference
def test_a_bad_argument_is_one_line(options: dict[str, Any], message: str) -> None:
    with raises_kind(message) as caught:
        spmcompat.evaluate("a.model", minloglevel=2, **options)
    assert "--" not in str(caught.value).replace("--b", "")
    assert not isinstance(caught.value, UsageError)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"vocab_size": [80, "90"]}, "bad-value vocab_size"),
        ({"vocab_size": []}, "bad-value vocab_size"),
        ({"configs": []}, "bad-value"),
        ({"configs": "bpf"}, "bad-value"),
        ({"baseline": "unigram", "configs": ["bpe"]}, "bad-value unigram"),
    ],
)
def test_a_bad_argument_of_compare_is_one_line(options: dict[str, Any], message: str) -> None:
    with raises_kind(message, spmcompat.BadValueError) as caught:
        spmcompat.compare("t.txt", output="bad", **options)
    assert "--" not in str(caught.value)
    assert not isinstance(caught.value, UsageError)
    assert not Path("bad").exists()
