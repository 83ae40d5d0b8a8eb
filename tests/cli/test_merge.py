"""``spmcompat merge``: what it reads, writes, shows and refuses."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.pieces import pieces_of
from spmcompat.model.reading import read_model
from tests.kinds import assert_error, raises_kind
from tests.unit.tools.edit.models import processor, trained
from tests.unit.tools.edit.test_merging_models import english, german

pytestmark = pytest.mark.reference


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name, model in (
        ("a", english("unigram")),
        ("b", german("unigram")),
        ("x", english("bpe")),
        ("y", german("bpe")),
    ):
        Path(f"{name}.model").write_bytes(model.SerializeToString())
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["merge", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


def refused(*arguments: str, status: int = 1) -> str:
    before = sorted(Path.cwd().iterdir())
    got, out, err = run(*arguments, "--output=c.model")
    assert (got, out) == (status, "")
    assert sorted(Path.cwd().iterdir()) == before, "a file was written"
    assert err.startswith("spmcompat merge: ")
    assert err.count("\n") == 1
    return err


def test_both_files_are_written() -> None:
    status, out, err = run("a.model", "b.model", "--output=c.model", "--weights=3,1")
    assert (status, err) == (0, "")
    size = len(read_model("c.model").pieces)
    added = size - len(read_model("a.model").pieces)
    assert out.splitlines()[0] == f"c.model: {size} pieces, {added} of them not in a.model"
    lines = Path("c.vocab").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        piece.text for piece in pieces_of(read_model("c.model"))
    ]
    assert spmcompat.merge(["a.model", "b.model"], weights=[3, 1]).model == (
        Path("c.model").read_bytes()
    )


def test_pieces_that_are_left_out_are_reported() -> None:
    size = len(read_model("x.model").pieces) + 30
    flags = ("x.model", "y.model", "--output=c.model", f"--vocab_size={size}")
    out = run(*flags)[1].splitlines()
    assert out[0] == f"c.model: {size} pieces, 30 of them not in x.model"
    assert out[1].endswith("more; --vocab_size is the limit")
    assert out[2].startswith("left out, because they would never be used (")
    assert run(*flags, "--quiet") == (0, "", "")


def test_pieces_that_become_unused_are_reported() -> None:
    other = german("bpe", user_defined_symbols=("hat",))
    Path("y.model").write_bytes(other.SerializeToString())
    out = run("x.model", "y.model", "--output=c.model")[1]
    assert "pieces of x.model that are never used any more (1): ▁that" in out


def test_dropped_samples_are_reported() -> None:
    model = trained("unigram", compat="0.2.0", self_test_sample_size=3)
    Path("s.model").write_bytes(model.SerializeToString())
    out = run("s.model", "s.model", "--output=c.model")[1]
    assert "dropped 3 self-test samples" in out
    assert not read_model("c.model").HasField("self_test_data")


def test_several_models() -> None:
    assert run("a.model", "b.model", "a.model", "--output=c.model", "--quiet") == (0, "", "")
    processor(read_model("c.model"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.model", "x.model"), "models-differ a.model x.model trainer_spec.model_type"),
        (("a.model", "none.model"), "cannot-read none.model No such file or directory"),
        (("c.counts", "a.model"), "bad-model c.counts"),
        (("x.model", "y.model", "--weights=1,1"), "conflicting-options weights"),
        (("a.model", "b.model", "--vocab_size=9"), "bad-value"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(arguments: tuple[str, ...], message: str) -> None:
    Path("c.counts").write_bytes(b"PAR1\x15")
    assert_error(refused(*arguments), message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("a.model",), "usage"),
        (("a.model", "b.model", "--weights=1"), "usage"),
        (("a.model", "b.model", "--weights=1,x"), "usage --weights"),
        (("a.model", "b.model", "--vocab_size=0"), "usage --vocab_size"),
        (("a.model", "b.model", "--vocab_size=x"), "usage --vocab_size"),
    ],
)
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    assert_error(refused(*arguments, status=2), message)


def test_an_output_that_cannot_be_written() -> None:
    status, _, err = run("a.model", "b.model", "--output=none/c.model")
    assert status == 1
    assert_error(err, "cannot-write none/c.model No such file or directory")


def test_spmcompat_has_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["merge", "a.model", "b.model", "--output=c.model"]) == 0
    assert "c.model: " in capsys.readouterr().out


def test_python() -> None:
    result = spmcompat.merge([Path("x.model"), "y.model"], output="c.model", vocab_size=650)
    assert Path("c.model").read_bytes() == result.model
    assert result.size == 650
    assert result.left_out
    with raises_kind("wrong-type weights"):
        spmcompat.merge(["a.model", "b.model"], weights=["1", "2"])  # type: ignore[list-item]
    with raises_kind("wrong-type weights"):
        spmcompat.merge(["a.model", "b.model"], weights=3)  # type: ignore[arg-type]
    with raises_kind("bad-value inf,1", spmcompat.BadValueError):
        spmcompat.merge(["a.model", "b.model"], weights=[10**400, 1])
    with raises_kind("bad-value vocab_size", spmcompat.BadValueError):
        spmcompat.merge(["a.model", "b.model"], vocab_size=0)
    with raises_kind("bad-value", spmcompat.BadValueError):
        spmcompat.merge([])
