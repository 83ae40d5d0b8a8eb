"""``spmcompat export`` and ``spmcompat import``: reports, exit statuses and errors."""

import io
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

import spmcompat
from spmcompat.__main__ import COMMANDS, main
from spmcompat.cli.process import FAILURE, OK, USAGE
from spmcompat.errors import BadValueError
from spmcompat.model.reading import read_model
from spmcompat.tools.export.export_command import DIFFERENT, report_lines
from spmcompat.tools.export.exporting import export as export_model
from spmcompat.tools.export.verifying import EncodingDifference, Verification
from tests.kinds import assert_error, raises_kind
from tests.unit.tools.export.models import train, trained

pytest.importorskip("tokenizers", reason="tokenizers is not installed")


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("m.model").write_bytes(trained("bpe", "identity", "plain").SerializeToString())
    Path("u.model").write_bytes(trained("unigram", "identity", "plain").SerializeToString())
    Path("lines.txt").write_text("The quick brown fox\n\n  <s>\n")


def export(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(["export", *arguments], out, err), out.getvalue(), err.getvalue()


def import_(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main(["import", *arguments], out, err), out.getvalue(), err.getvalue()


def test_an_export_is_verified() -> None:
    status, out, err = export("m.model", "--to=tokenizer.json", "--output=t.json")
    assert (status, err) == (OK, "")
    first, second = out.splitlines()
    assert first == "written: t.json"
    assert second.startswith("verified: ")
    assert second.endswith(
        " lines of the built-in lines, tokenizer.json against sentencepiece: 0 differ"
    )


def test_lines_of_a_file_and_none() -> None:
    _, out, _ = export("m.model", "--to=tokenizer.json", "--output=t.json", "--text=lines.txt")
    assert out.splitlines()[1] == (
        "verified: 3 lines of lines.txt, tokenizer.json against sentencepiece: 0 differ"
    )
    _, out, _ = export("m.model", "--to=tokenizer.json", "--output=t.json", "--verify=no")
    assert out.startswith("written: t.json\nnot verified")
    Path("empty.txt").touch()
    flags = ("--to=tokenizer.json", "--output=e.json", "--text=empty.txt")
    status, out, err = export("m.model", *flags)
    assert (status, out, os.path.exists("e.json")) == (FAILURE, "", False)
    assert_error(err, "not-verified --verify=if_possible")
    status, out, _ = export("m.model", *flags, "--verify=if_possible")
    assert status == OK
    assert out.startswith("written: e.json\nnot verified: ")


@pytest.mark.parametrize("missing", ["sentencepiece", "tokenizers"])
def test_an_export_that_cannot_be_verified_is_written_only_if_allowed(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "spmcompat.runtime.libraries.is_installed", lambda module: module != missing
    )
    for flags, expected in (
        ([], FAILURE),
        (["--verify=required"], FAILURE),
        (["--verify=if_possible"], OK),
        (["--verify=no"], OK),
    ):
        Path("t.json").unlink(missing_ok=True)
        status, out, err = export("m.model", "--to=tokenizer.json", "--output=t.json", *flags)
        assert status == expected
        assert os.path.exists("t.json") == (expected == OK)
        if expected == OK:
            assert "not verified" in out
        else:
            assert (out, err.count("\n")) == ("", 1)
            assert_error(err, f"not-verified {missing} --verify=if_possible")


def test_a_list_of_pieces_needs_no_verification_unless_it_is_required() -> None:
    assert export("m.model", "--to=vocab.txt", "--output=v.txt")[0] == OK
    status, out, err = export("m.model", "--to=vocab.txt", "--output=w.txt", "--verify=required")
    assert (status, out, os.path.exists("w.txt")) == (FAILURE, "", False)
    assert_error(err, "not-verified vocab.txt")


@pytest.mark.parametrize("verify", [True, False, "maybe", ["a line"]])
def test_python_refuses_other_values_of_verify(verify: object) -> None:
    with raises_kind("bad-value if_possible", BadValueError):
        spmcompat.export("m.model", to="tokenizer.json", output="o", verify=verify)  # type: ignore[arg-type]
    with raises_kind("conflicting-options no", BadValueError):
        spmcompat.export("m.model", to="tokenizer.json", output="o", verify="no", text=["a"])
    assert not os.path.exists("o")


def test_limits_are_notes() -> None:
    _, _, err = export("u.model", "--to=tokenizer.json", "--output=t.json", "--verify=no")
    assert err.startswith("note: tokenizer.json: ")
    assert "--model_type=bpe" in err


def test_control_characters_of_a_model_are_escaped() -> None:
    model = train("bpe", user_defined_symbols="\x1b[31m", byte_fallback=True, vocab_size=400)
    Path("e.model").write_bytes(model.SerializeToString())
    status, out, err = export("e.model", "--to=gguf", "--output=o", "--verify=no")
    assert (status, "\x1b" in out + err) == (OK, False)
    assert r"does not add a space before \x1b[31m" in err


def test_control_characters_of_differences_are_escaped(monkeypatch: pytest.MonkeyPatch) -> None:
    found = Verification(
        1, {"other": 1}, [EncodingDifference("\x07", "other", ["\x07"], ["\x1b", "\n"])]
    )
    monkeypatch.setattr("spmcompat.tools.export.exporting.export", lambda *_, **__: found)
    _, out, _ = export("m.model", "--to=gguf", "--output=o")
    assert out.endswith("    sentencepiece \\x07\n    the export    \\x1b \\n\n")


def test_differences_are_shown_by_cause() -> None:
    found = Verification(
        3, {"tie": 2}, [EncodingDifference("a b", "tie", ["a", "▁b"], ["a", "▁", "b"])]
    )
    given = SimpleNamespace(output="out", to="gguf", text="a.txt")
    assert list(report_lines(given, found)) == [
        "written: out",
        "verified: 3 lines of a.txt, gguf against sentencepiece: 2 differ",
        "  2 by tie: the two segmentations have the same score",
        "  tie: 'a b'",
        "    sentencepiece a ▁b",
        "    the export    a ▁ b",
    ]
    assert list(report_lines(given, Verification(0, {}, [], "not verified: x"))) == [
        "written: out",
        "not verified: x",
    ]


@pytest.mark.parametrize(
    ("causes", "expected"),
    [({"other": 1}, DIFFERENT), ({"tie": 2}, OK), ({"tie": 1, "other": 1}, DIFFERENT)],
)
def test_lines_that_differ_are_an_exit_status_unless_by_ties(
    monkeypatch: pytest.MonkeyPatch, causes: dict[str, int], expected: int
) -> None:
    found = Verification(3, causes, [])
    monkeypatch.setattr("spmcompat.tools.export.exporting.export", lambda *_, **__: found)
    status, _, _ = export("m.model", "--to=tokenizer.json", "--output=t.json")
    assert status == expected
    assert found.ok == (expected == OK)
    assert repr(found).startswith("<Verification: 3 lines, ")


@pytest.mark.slow
def test_control_symbols_are_found_if_asked_for() -> None:
    model = train("bpe", control_symbols="<|im_start|>")
    Path("c.model").write_bytes(model.SerializeToString())
    Path("chat.jinja").write_text("{{ messages }}")
    for flags, is_split in (
        ([], True),
        (["--split_special_tokens=false"], False),
        (["--chat_template=chat.jinja"], False),
        (["--chat_template=chat.jinja", "--split_special_tokens"], True),
    ):
        _, _, err = export("c.model", "--to=hf-folder", "--output=hf", "--verify=no", *flags)
        config = json.loads(Path("hf", "tokenizer_config.json").read_text(encoding="utf-8"))
        assert config["split_special_tokens"] == is_split
        assert ("--split_special_tokens=false" in err) == is_split


def test_options_of_the_folder_are_stored() -> None:
    flags = ["--bos_token=</s>", "--pad_token=<unk>", "--model_max_length=64", "--verify=no"]
    assert export("m.model", "--to=hf-folder", "--output=hf", *flags)[0] == OK
    config = json.loads(Path("hf", "tokenizer_config.json").read_text(encoding="utf-8"))
    stored = (config["bos_token"], config["pad_token"], config["model_max_length"])
    assert stored == ("</s>", "<unk>", 64)


@pytest.mark.parametrize(
    ("flags", "status", "message"),
    [
        (["--to=gguf", "--nosplit_special_tokens"], USAGE, "usage"),
        (["--to=gguf", "--model_max_length=9"], USAGE, "usage --model_max_length"),
        (["--to=hf-folder", "--model_max_length=0"], USAGE, "usage model_max_length"),
        (["--to=hf-folder", "--pad_token=absent"], FAILURE, "bad-value --add_control"),
        (["--to=hf-folder", "--pad_token=a"], FAILURE, "bad-value"),
        (["--to=hf-folder", "--chat_template=no"], FAILURE, "cannot-read --chat_template"),
        (["--to=hf-folder", "--chat_template=bad"], FAILURE, "bad-value bad"),
        (["--to=hf-folder", "--chat_template=empty"], FAILURE, "bad-value empty"),
        (
            ["--to=hf-folder", "--chat_template=o/tokenizer.json"],
            FAILURE,
            "would-overwrite --output",
        ),
    ],
)
def test_bad_options_of_the_folder_are_one_line(
    flags: list[str], status: int, message: str
) -> None:
    Path("bad").write_bytes(b"\xff")
    Path("empty").write_bytes(b"")
    if "o/" in flags[1]:
        Path("o").mkdir()
        Path("o/tokenizer.json").write_text("{{ messages }}")
    got, out, err = export("m.model", "--output=o", *flags)
    assert (got, out) == (status, "")
    assert_error(err, message)
    assert err.count("\n") == 1
    assert os.path.exists("o") == ("o/" in flags[1])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("bos_token", ["<s>"], "bad-value bos_token"),
        ("model_max_length", "4", "wrong-type model_max_length"),
        ("model_max_length", 4.5, "wrong-type model_max_length"),
        ("model_max_length", True, "wrong-type model_max_length"),
        ("model_max_length", 0, "bad-value model_max_length"),
        ("model_max_length", 2**64, "bad-value model_max_length"),
        ("split_special_tokens", "false", "wrong-type split_special_tokens"),
    ],
)
def test_python_refuses_bad_options_of_the_folder(name: str, value: object, message: str) -> None:
    given = {"to": "hf-folder", "output": "o", "verify": "no", name: value}
    with raises_kind(message, BadValueError):
        spmcompat.export("m.model", **given)  # type: ignore[arg-type]
    assert not os.path.exists("o")


def test_a_score_that_is_not_finite_is_refused() -> None:
    model = read_model("u.model")
    model.pieces[9].score = float("nan")
    with raises_kind("cannot-export"):
        export_model(model, "tokenizer.json", "o", None, pytest.fail)


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["m.model", "--to=tokenizer.json"], USAGE, "usage --output"),
        (["m.model", "--output=o"], USAGE, "usage --to"),
        (["m.model", "--to=docx", "--output=o"], USAGE, "usage --to tokenizer.json"),
        (["m.model", "--to=hf", "--output=o"], USAGE, "usage hf"),
        (["--to=tokenizer.json", "--output=o"], USAGE, "usage"),
        (
            ["m.model", "--to=hf-folder", "--output=o", "--text=x", "--verify=no"],
            USAGE,
            "usage --text",
        ),
        (["m.model", "--tp=x"], USAGE, "usage"),
        (
            ["no.model", "--to=tokenizer.json", "--output=o"],
            FAILURE,
            "cannot-read no.model No such file or directory",
        ),
        (["lines.txt", "--to=tokenizer.json", "--output=o"], FAILURE, "bad-model lines.txt"),
        (["t.json", "--to=vocab.txt", "--output=o"], FAILURE, "bad-model tokenizer.json"),
        (["m.model", "--to=tokenizer.json", "--output=no/o"], FAILURE, "cannot-write no/o"),
        (
            ["m.model", "--to=tokenizer.json", "--output=o", "--text=no"],
            FAILURE,
            "cannot-read --text",
        ),
    ],
)
def test_errors_are_one_line(arguments: list[str], status: int, message: str) -> None:
    Path("t.json").write_text('{"model": {}}')
    got, out, err = export(*arguments)
    assert (got, out) == (status, "")
    assert_error(err, message)
    assert err.count("\n") == 1
    assert not os.path.exists("o")


def test_a_word_model_is_refused() -> None:
    Path("w.model").write_bytes(train("word").SerializeToString())
    status, out, err = export("w.model", "--to=tokenizer.json", "--output=o")
    assert (status, out) == (FAILURE, "")
    assert_error(err, "cannot-export tokenizer.json")
    assert not os.path.exists("o")


def test_help_and_the_list_of_commands() -> None:
    for run, name in ((export, "export"), (import_, "import")):
        status, out, _ = run("--help")
        assert status == OK
        assert f"usage: spmcompat {name}" in out
        assert name in COMMANDS
    assert "tokenizer.json, hf-folder" in export("--help")[1]


def test_an_approximate_import_lists_the_differences() -> None:
    steps = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": False}
    export("m.model", "--to=tokenizer.json", "--output=t.json", "--verify=no")
    content = json.loads(Path("t.json").read_text(encoding="utf-8"))
    content.update(normalizer=None, pre_tokenizer=steps)
    Path("t.json").write_text(json.dumps(content))
    status, out, err = import_("t.json", "--output=o")
    assert (status, out, os.path.exists("o")) == (FAILURE, "", False)
    assert err.count("\n") == 1
    assert_error(err, "inexact-import --approximate")
    status, out, err = import_("t.json", "--output=o", "--approximate")
    assert (status, out) == (OK, "written: o\n")
    assert "note: The file puts no space before a text" in err
    assert "Example: ' a'." in err


def test_an_export_is_imported() -> None:
    export("m.model", "--to=tokenizer.json", "--output=t.json", "--verify=no")
    assert import_("t.json", "--output=back.model") == (OK, "written: back.model\n", "")
    assert len(read_model("back.model").pieces) == len(read_model("m.model").pieces)


def test_the_file_in_a_folder_is_imported() -> None:
    export("m.model", "--to=hf-folder", "--output=hf", "--verify=no")
    pieces = [piece.piece for piece in read_model("m.model").pieces]
    for folder in ("hf", "hf/"):
        assert import_(folder, "--output=back.model")[0] == OK
        assert [piece.piece for piece in read_model("back.model").pieces] == pieces
    before = Path("hf/tokenizer.json").read_bytes()
    assert import_("hf", "--output=hf/tokenizer.json")[0] != OK
    assert Path("hf/tokenizer.json").read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["t.json"], USAGE, "usage --output"),
        (["--output=o"], USAGE, "usage tokenizer.json"),
        (["no.json", "--output=o"], FAILURE, "cannot-read no.json No such file or directory"),
        ([".", "--output=o"], FAILURE, "cannot-read tokenizer.json"),
        (["lines.txt", "--output=o"], FAILURE, "bad-tokenizer-json lines.txt"),
        (["w.json", "--output=o"], FAILURE, "cannot-import model"),
    ],
)
def test_errors_of_import_are_one_line(arguments: list[str], status: int, message: str) -> None:
    Path("w.json").write_text('{"model": {"type": "WordPiece", "vocab": {}}}')
    got, out, err = import_(*arguments)
    assert (got, out) == (status, "")
    assert_error(err, message)
    assert err.count("\n") == 1
    assert not os.path.exists("o")
