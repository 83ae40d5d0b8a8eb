"""Pre-tokenization with a user's function."""

import io
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.cli.train import main
from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.pretokenization.pretokenizer import Cut, Pretokenizer, find_cut
from spmcompat.pretokenization.script_runs import script_runs
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import CancelFlag
from spmcompat.runtime.workers import Workers
from spmcompat.segments.corpus import Corpus
from spmcompat.unigram.seeding.seeds import seed_from_corpus
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.processes import start_python
from tests.unit import stages
from tests.unit.stages import read
from tests.waiting import LIMIT

LINES = corpora.words_text(seed=4, lines=60, types=40).splitlines()
SMALL: dict[str, Any] = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}


def _pretokenizer(cut: Cut, consistent: bool = True) -> Pretokenizer:
    return Pretokenizer(cut, consistent, CancelFlag())


def test_a_boundary_mark_between_chunks() -> None:
    assert _pretokenizer(list)("aé▁".encode()) == "a\x1fé\x1f▁".encode()
    assert _pretokenizer(lambda text: ["", text, b""])(b"ab") == b"\x1fab\x1f"
    assert _pretokenizer(lambda _: [b"x", bytearray(b"y")], consistent=False)(b"ab") == b"x\x1fy"
    assert _pretokenizer(lambda _: [])(b"") == b""


def test_a_mismatch_is_shown_where_it_begins() -> None:
    with pytest.raises(BadValueError) as caught:
        _pretokenizer(str.split)("▁abc def".encode())
    message = str(caught.value)
    assert "at character 4 of '▁abc def': joined='def', original=' def'" in message
    assert "allow_inconsistent_pretokenization=True" in message


def test_what_the_function_raises_is_the_cause() -> None:
    def broken(_: str) -> list[str]:
        raise KeyError("boom")

    with raises_kind("pretokenizer-failed boom") as caught:
        _pretokenizer(broken)(b"ab")
    assert isinstance(caught.value.__cause__, KeyError)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_exceptions_that_end_the_program_are_raised_unchanged(stop: type[BaseException]) -> None:
    def stopping(_: str) -> list[str]:
        raise stop

    with pytest.raises(stop):
        spmcompat.train(
            sentence_iterator=LINES, model_writer=io.BytesIO(), pretokenizer=stopping, **SMALL
        )


def test_a_failing_function_leaves_no_file(tmp_path: Path) -> None:
    with raises_kind("pretokenizer-failed"):
        spmcompat.train(
            sentence_iterator=LINES,
            model_prefix=tmp_path / "m",
            pretokenizer=lambda text: [text[1000]],
            **SMALL,
        )
    assert list(tmp_path.iterdir()) == []


def test_the_function_is_called_once_for_every_normalized_sentence() -> None:
    seen: list[str] = []

    def whole(sentence: str) -> list[str]:
        seen.append(sentence)
        return [sentence]

    lines = ["a b", "  ", "", "a  b", "x" * 5000, "c<s>d"]
    spmcompat.train(sentence_iterator=lines, model_writer=io.BytesIO(), pretokenizer=whole, **SMALL)
    assert seen == ["▁a▁b", "", "▁a▁b", "▁c\x1fd"]


def test_the_model_does_not_store_the_function() -> None:
    models = []
    for more in ({}, {"pretokenizer": lambda text: [text]}):
        written = io.BytesIO()
        spmcompat.train(sentence_iterator=LINES, model_writer=written, **SMALL, **more)
        models.append(written.getvalue())
    assert models[0] == models[1]


def test_a_pattern_cuts_where_its_matches_begin_and_end() -> None:
    pytest.importorskip("regex")
    assert find_cut(r"regex: ?\p{L}+")("▁ab1▁c") == ["▁ab", "1", "▁c"]  # type: ignore[misc]
    assert find_cut("regex:▁?b")("a▁b▁") == ["a", "▁b", "▁"]  # type: ignore[misc]
    assert find_cut("regex:(?=b)")("abb") == ["a", "b", "b"]  # type: ignore[misc]
    assert find_cut("regex:x")("") == []  # type: ignore[misc]


@pytest.mark.parametrize("pattern", ["(", "(" * 50_000], ids=["short", "deep"])
def test_an_invalid_pattern_is_refused(pattern: str) -> None:
    pytest.importorskip("regex")
    with raises_kind("bad-value", BadValueError):
        spmcompat.train(
            sentence_iterator=LINES,
            model_writer=io.BytesIO(),
            pretokenizer=f"regex:{pattern}",
            **SMALL,
        )


def test_a_pattern_needs_the_package_regex(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "regex", None)
    with raises_kind("missing-library spmcompat[regex]"):
        find_cut("regex:x")


@pytest.mark.parametrize("name", ["scripts", "", "regex", 5, False, ["script"]])
def test_other_values_are_refused(name: Any) -> None:
    with raises_kind("wrong-type script regex:PATTERN"):
        find_cut(name)


def test_script_refuses_white_space_as_suffix() -> None:
    with raises_kind("conflicting-options treat_whitespace_as_suffix"):
        spmcompat.train(
            sentence_iterator=LINES,
            model_writer=io.BytesIO(),
            pretokenizer="script",
            treat_whitespace_as_suffix=True,
            **SMALL,
        )


def test_the_command_line_takes_names_and_stores_nothing(tmp_path: Path) -> None:
    text = tmp_path / "t.txt"
    text.write_text("ab1ab カ字ab\nab1 ab1ab\n" * 20)
    models = []
    for name in ("", "script"):
        flags = [f"--input={text}", f"--model_prefix={tmp_path}/m", "--vocab_size=40"]
        flags += ["--hard_vocab_limit=false", f"--pretokenizer={name}", "--minloglevel=2"]
        flags += ["--split_by_number=false", "--split_by_unicode_script=false"]
        assert main(flags) == 0
        models.append(ModelProto.FromString((tmp_path / "m.model").read_bytes()))
    plain, cut = models
    assert any("b1" in piece.piece for piece in plain.pieces)
    assert all(len(script_runs(piece.piece)) == 1 for piece in cut.pieces[3:])
    cut.trainer_spec.vocab_size = plain.trainer_spec.vocab_size  # each model stores its actual size
    assert plain.trainer_spec == cut.trainer_spec


def _fingerprint(corpus: Corpus) -> object:
    seeds = seed_from_corpus(
        corpus, stages.seed_options(100_000), Context(Workers(1), stages.QUIET)
    )
    return corpus.alphabet, list(corpus.counted_pretokens()), list(seeds)


@pytest.mark.parametrize("chunk_bytes", [500 << 20, 300], ids=["one chunk", "many chunks"])
@pytest.mark.parametrize("prefix", [True, False])
@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
def test_a_function_that_splits_at_a_delimiter_equals_the_option(
    split: bool, prefix: bool, chunk_bytes: int, tmp_path: Path
) -> None:
    text = tmp_path / "text.txt"
    text.write_text(corpora.mixed_text(3, 80).replace("a", "|"))
    options: dict[str, Any] = {
        "input": (str(text),),
        "split_by_whitespace": split,
        "add_dummy_prefix": prefix,
        "remove_extra_whitespaces": True,
        "seeding_chunk_bytes": chunk_bytes,
    }
    found = read(
        None,
        pretokenizer=lambda sentence: sentence.split("|"),
        allow_inconsistent_pretokenization=True,
        **options,
    )
    expected = read(None, pretokenization_delimiter="|", **options)
    assert _fingerprint(found) == _fingerprint(expected)


def test_the_function_is_not_called_after_an_error_or_interrupt() -> None:
    cancel = CancelFlag()
    cancel.set()
    assert Pretokenizer(lambda _: ["x"], True, cancel)(b"ab") == b"ab"


def test_interrupt_while_a_function_pretokenizes(tmp_path: Path) -> None:
    program = """
import spmcompat, time
def slow(sentence):
    print("called", flush=True)
    time.sleep(0.01)
    return [sentence]
try:
    spmcompat.train(sentence_iterator=["some words"] * 100000, model_prefix="m", pretokenizer=slow)
except KeyboardInterrupt:
    time.sleep(0.3)
    print("interrupted", flush=True)
    time.sleep(0.3)
"""
    with start_python(
        ["-c", program], tmp_path, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"called\n"
        process.send_signal(signal.SIGINT)
        rest = process.stdout.read()
        assert process.wait(LIMIT) == 0
    assert rest.count(b"called") < 50_000
    # After the interrupt, no thread calls the function.
    assert rest.endswith(b"interrupted\n")
    assert list(tmp_path.iterdir()) == []
