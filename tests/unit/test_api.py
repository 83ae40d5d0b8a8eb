"""The Python interface."""

import io
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spmcompat
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, NormalizerSpec
from tests.kinds import raises_kind
from tests.parity import corpora
from tests.parity.own_types import OwnBytes, OwnStr

LINES = corpora.words_text(seed=4, lines=60, types=40).splitlines()
SMALL: dict[str, Any] = {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}


def _trained(sentences: Iterable[str | bytes] | None, **options: Any) -> bytes:
    written = io.BytesIO()
    spmcompat.train(sentence_iterator=sentences, model_writer=written, **SMALL, **options)
    return written.getvalue()


def _imported_by(program: str, *arguments: str) -> set[str]:
    """Return the modules that a program imports in a fresh process."""
    program = (
        f"import sys\nbefore = set(sys.modules)\n{program}\n"
        "print(*(set(sys.modules) - before), file=sys.__stdout__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=Path(spmcompat.__file__).parents[1],  # so that the package under test is imported
        check=True,
        capture_output=True,
    )
    return set(done.stdout.decode().split())


def test_importing_costs_nothing() -> None:
    imported = _imported_by("import spmcompat")
    rest = {name for name in imported if not name.startswith("spmcompat.api")}
    # `errno` is built into the interpreter, so importing it costs nothing.
    assert rest <= {"spmcompat", "spmcompat.errors", "spmcompat.version", "__future__", "errno"}


@pytest.mark.slow
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize(
    "program",
    [
        "import spmcompat; spmcompat.SentencePieceTrainer.train(sys.argv[1])",
        "from spmcompat.cli.train import main; assert main(sys.argv[1].split()) == 0",
    ],
)
def test_training_imports_no_more_than_it_uses(
    program: str, model_type: str, tmp_path: Path
) -> None:
    (tmp_path / "t.txt").write_text("\n".join(LINES))
    flags = f"--input={tmp_path}/t.txt --model_prefix={tmp_path}/m --vocab_size=60"
    flags += f" --model_type={model_type}"
    imported = _imported_by(program, f"{flags} --hard_vocab_limit=false")
    assert "spmcompat.training" in imported
    slow = {"numpy", "tqdm", "sentencepiece", "dataclasses", "inspect", "logging", "difflib"}
    slow |= {"textwrap", "argparse", "asyncio", "subprocess", "tempfile", "multiprocessing"}
    assert {name.partition(".")[0] for name in imported}.isdisjoint(slow)


@pytest.mark.parametrize(
    "program",
    [
        "import spmcompat; spmcompat.train_tokenizer('gpt2', input='t.txt', output='t.json')",
        "from spmcompat.__main__ import main; "
        "main(['train_tokenizer', '--like=gpt2', '--input=t.txt', '--output=t.json'])",
    ],
    ids=["function", "command"],
)
def test_training_a_tokenizer_imports_no_tables_of_words(program: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("\n".join(LINES))
    imported = _imported_by(f"import os; os.chdir({str(tmp_path)!r}); {program}")
    assert (tmp_path / "t.json").exists()
    # The tables use hashlib, which loads OpenSSL.
    unused = {"hashlib", "spmcompat.words.table", "numpy", "pyarrow", "tokenizers"}
    assert imported.isdisjoint(unused)


def test_only_public_names_are_listed() -> None:
    assert dir(spmcompat) == spmcompat.__all__
    names: dict[str, object] = {}
    exec("from spmcompat import *", names)
    assert {name for name in names if name != "__builtins__"} == {*spmcompat.__all__}
    for name in {*spmcompat.__all__} - {"__version__"}:
        assert getattr(spmcompat, name).__name__ == name
    with pytest.raises(AttributeError, match="no attribute 'import_tokenizer'"):
        spmcompat.import_tokenizer  # type: ignore[attr-defined]  # noqa: B018
    with pytest.raises(AttributeError, match=r"package: sentencepiece\.SentencePieceProcessor$"):
        spmcompat.SentencePieceProcessor  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("program", ["spmcompat.train", "from spmcompat import show"])
def test_sources_that_are_not_compiled_say_so(program: str, tmp_path: Path) -> None:
    package = Path(spmcompat.__file__).parent
    compiled = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(package, tmp_path / "spmcompat", ignore=compiled)
    # Without site-packages (-S), where an installed package would be found.
    command = [sys.executable, "-S", "-c", f"import spmcompat\n{program}"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "\nImportError: These are the sources of spmcompat, " in done.stderr
    assert done.returncode == 1


def test_a_name_imports_no_libraries_of_tools() -> None:
    imported = _imported_by("from spmcompat import *")
    slow = {"pyarrow", "sentencepiece", "tokenizers", "matplotlib", "transformers", "regex"}
    assert {name.partition(".")[0] for name in imported}.isdisjoint(slow)


@pytest.mark.parametrize(
    "call",
    [
        lambda **options: spmcompat.train(sentence_iterator=LINES, **options),
        lambda **options: spmcompat.SentencePieceTrainer.train(sentence_iterator=LINES, **options),
        lambda **options: spmcompat.count(sentence_iterator=LINES, **options),
        lambda **options: spmcompat.parity(sentence_iterator=LINES, **options),
        lambda **options: spmcompat.extend("m.model", add=5, input="a.txt", **options),
        lambda **options: spmcompat.trim("m.model", keep=5, input="a.txt", **options),
    ],
)
def test_an_unknown_keyword_has_a_suggestion(call: Callable[..., object]) -> None:
    with raises_kind("unknown-option input_column") as caught:
        call(input_colum="text")
    assert isinstance(caught.value, OSError)  # as in `sentencepiece` before 0.2.2


def test_a_keyword_without_a_suggestion_leads_to_the_list() -> None:
    with raises_kind("unknown-option help(spmcompat.train"):
        _trained(LINES, special_tokens=["<a>"])


def test_train_accepts_old_options() -> None:
    spec = ModelProto.FromString(
        _trained(LINES, self_test_sample_size=3, compat="0.2.0")
    ).trainer_spec
    assert spec.self_test_sample_size == 3


def test_version_is_the_project_s() -> None:
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text()
    assert re.search(r'^version = "(.*)"', text, re.MULTILINE)[1] == spmcompat.__version__  # type: ignore[index]


@pytest.mark.parametrize(
    "handed",
    [list, tuple, iter, lambda lines: (line.encode() for line in lines)],
)
def test_any_iterable_will_do(handed: Callable[[list[str]], Iterable[str | bytes]]) -> None:
    distinct = list(dict.fromkeys(LINES))
    assert _trained(handed(distinct)) == _trained(iter(distinct))


@pytest.mark.parametrize(
    "options",
    [{}, {"split_lines": True}, {"input_sentence_size": 101}, {"long_sentences": "split"}],
    ids=str,
)
def test_items_of_subclasses_of_str_and_bytes(options: dict[str, Any]) -> None:
    lines = [f"{line}\n{line}" for line in LINES] * 3
    given = {"max_sentence_length": 60, **options}
    expected = _trained(lines, **given)
    for kind in (OwnStr, np.str_):
        assert _trained([kind(line) for line in lines], **given) == expected
    for own in (OwnBytes, np.bytes_):
        assert _trained([own(line.encode()) for line in lines], **given) == expected
    for array in (np.array(lines), np.array([line.encode() for line in lines])):
        assert _trained(array, **given) == expected
        counts = spmcompat.count(sentence_iterator=array, minloglevel=2, **given)
        assert _trained(None, counts=counts) == expected


def test_names_of_the_iterator() -> None:
    written = io.BytesIO()
    spmcompat.SentencePieceTrainer.Train(
        sentence_reader=iter(LINES), model_writer=written, pretokenizer=None, **SMALL
    )
    assert ModelProto.FromString(written.getvalue()).trainer_spec.vocab_size <= 60


def test_typed_form_stores_only_what_is_given(tmp_path: Path) -> None:
    text = tmp_path / "a,b.txt"
    text.write_text("\n".join(LINES))
    spmcompat.train(input=text, model_prefix=tmp_path / "m", control_symbols=["<a,b>"], **SMALL)
    spec = ModelProto.FromString((tmp_path / "m.model").read_bytes()).trainer_spec
    assert [field.name for field, _ in spec.ListFields()] == [
        "input",
        "model_prefix",
        "vocab_size",
        "control_symbols",
        "hard_vocab_limit",
    ]
    assert list(spec.input) == [str(text)]
    assert list(spec.control_symbols) == ["<a,b>"]


def test_error_of_the_iterator_is_the_cause() -> None:
    def broken() -> Iterator[str]:
        yield "a"
        raise KeyError("boom")

    with raises_kind("iterator-failed boom") as caught:
        _trained(broken())
    assert isinstance(caught.value.__cause__, KeyError)


def test_items_must_be_text() -> None:
    with raises_kind("wrong-type"):
        _trained(["a", 5])  # type: ignore[list-item]
    for options in ({}, {"column": "body"}):
        with raises_kind(f"wrong-type dict row['{options.get('column', 'text')}']"):
            _trained([{"body": "a"}], **options)  # type: ignore[list-item]


@pytest.mark.parametrize("sentences", ["one text", b"bytes", 5])
def test_what_is_no_iterable_of_sentences(sentences: Any) -> None:
    with raises_kind("wrong-type"):
        _trained(sentences)


def test_pretokenizer_must_be_a_function() -> None:
    for value in ("words", "", 5, False):
        with raises_kind("wrong-type"):
            _trained(LINES, pretokenizer=value)


def test_normalizer_object() -> None:
    class Normalizer:
        def serialized_normalizer_spec(self) -> bytes:
            return NormalizerSpec(name="identity", add_dummy_prefix=False).SerializeToString()

    stored = ModelProto.FromString(_trained(LINES, normalizer=Normalizer())).normalizer_spec
    assert stored == NormalizerSpec(
        name="identity", precompiled_charsmap=b"", add_dummy_prefix=False
    )


def test_what_is_no_normalizer() -> None:
    for value in ("nfkc", 5, spmcompat):
        with raises_kind("wrong-type"):
            _trained(LINES, normalizer=value)
    # The reference ignores a falsy normalizer.
    assert _trained(LINES, normalizer="") == _trained(LINES)


def test_logstream_gets_the_lines() -> None:
    stream = io.StringIO()
    options = {**SMALL, "minloglevel": 0}
    spmcompat.train(sentence_iterator=LINES, model_writer=io.BytesIO(), logstream=stream, **options)
    assert "Alphabet size=" in stream.getvalue()


def test_workers_never_change_a_byte() -> None:
    assert _trained(LINES, workers=1) == _trained(LINES, workers=5)
