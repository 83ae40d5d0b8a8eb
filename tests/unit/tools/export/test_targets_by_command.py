"""``spmcompat export`` with the targets GGUF, tiktoken and vocab.txt."""

import io
from pathlib import Path

import pytest

from spmcompat.__main__ import main
from tests.unit.tools.export.small_models import EXACT, TEXT, trained

ASCII = [line for line in TEXT if line.isascii()] * 3


def run(
    folder: Path, to: str, *, built_in: bool = False, **options: object
) -> tuple[int, str, str]:
    """Export a BPE model, and return the exit status, the report and the errors."""
    model = folder / "m.model"
    model.write_bytes(trained("bpe", ASCII, byte_fallback=True, **options).SerializeToString())
    text = folder / "text.txt"
    text.write_text("\n".join(ASCII), encoding="utf-8")
    out, err = io.StringIO(), io.StringIO()
    output = folder / "out"
    argv = ["export", f"--to={to}", f"--output={output}", str(model)]
    if not built_in:
        argv.append(f"--text={text}")
    return main(argv, out, err), out.getvalue(), err.getvalue()


@pytest.mark.parametrize(("to", "library"), [("gguf", "llama_cpp"), ("tiktoken", "tiktoken")])
def test_an_exact_model_is_written_and_verified(to: str, library: str, tmp_path: Path) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    status, report, _ = run(tmp_path, to, **EXACT)
    assert status == 0
    assert f"verified: {len(ASCII)} lines of " in report
    assert f", {to} against sentencepiece: 0 differ" in report
    names = {"gguf": {"out"}, "tiktoken": {"ranks.tiktoken", "encoding.json"}}[to]
    assert {path.name for path in [tmp_path / "out", *tmp_path.glob("out/*")]} >= names


@pytest.mark.parametrize(("to", "library"), [("gguf", "llama_cpp"), ("tiktoken", "tiktoken")])
def test_the_built_in_lines_of_an_exact_model_do_not_differ(
    to: str, library: str, tmp_path: Path
) -> None:
    pytest.importorskip(library, reason=f"{library} is not installed")
    status, report, _ = run(tmp_path, to, built_in=True, **EXACT)
    assert status == 0
    assert f" of the built-in lines, {to} against sentencepiece: 0 differ" in report


@pytest.mark.parametrize(
    ("to", "options", "remedy"),
    [
        ("gguf", {"treat_whitespace_as_suffix": True}, "--treat_whitespace_as_suffix=false"),
        ("tiktoken", {}, "--normalization_rule_name=identity"),
        ("vocab.txt", {"user_defined_symbols": ["\n"]}, "Train without that symbol"),
    ],
)
def test_a_refusal_tells_the_remedy_and_writes_nothing(
    to: str, options: dict[str, object], remedy: str, tmp_path: Path
) -> None:
    status, report, errors = run(tmp_path, to, **options)
    assert (status, report) == (1, "")
    assert errors.startswith(f"spmcompat export: {to} cannot express this model. ")
    assert remedy in errors
    assert errors.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_list_of_pieces_is_not_verified(tmp_path: Path) -> None:
    status, report, errors = run(tmp_path, "vocab.txt")
    assert status == 0
    assert "not verified: a list of pieces cannot encode a text." in report
    assert "note: vocab.txt: A list of pieces has no scores" in errors
