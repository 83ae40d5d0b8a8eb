"""The command that tells how two models differ."""

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import COMMANDS
from spmcompat.__main__ import main as spmcompat_main
from spmcompat.cli.process import USAGE
from spmcompat.tools.diff.command import DIFFERENT, EQUAL, HELP, main
from spmcompat.tools.diff.difference import parse
from tests.parity import corpora


def _main(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main(arguments, out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, a copy, and one of two changed options."""
    folder = tmp_path_factory.mktemp("models")
    text = folder / "t.txt"
    text.write_text(corpora.mixed_text(3))
    written = io.BytesIO()
    for name, normalization in (("a", "nfkc"), ("b", "nfkc_cf")):
        spmcompat.train(
            input=text,
            model_writer=written,
            vocab_size=400,
            normalization_rule_name=normalization,
            minloglevel=2,
        )
        (folder / f"{name}.model").write_bytes(written.getvalue())
        written.seek(0)
        written.truncate()
    (folder / "copy.model").write_bytes((folder / "a.model").read_bytes())
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)


def test_equal() -> None:
    status, out, err = _main("a.model", "copy.model")
    assert (status, err) == (EQUAL, "")
    assert out.splitlines()[-1] == "equal, byte for byte"


def test_different() -> None:
    status, out, _ = _main("a.model", "b.model")
    assert status == DIFFERENT
    assert "normalizer_spec.name  'nfkc'  'nfkc_cf'" in out
    assert re.search(r"^  41  +-  +61  +.A.$", out, re.MULTILINE)
    assert "pieces only in A" in out
    assert "units of the last place" in out
    assert "...and " in out
    assert len(out.splitlines()) < 100


def test_all_shows_everything() -> None:
    status, out, _ = _main("--all", "a.model", "b.model")
    assert status == DIFFERENT
    assert "...and " not in out
    told = json.loads(_main("--json", "a.model", "b.model")[1])
    for piece in told["pieces"]["only_left"]:
        assert repr(piece["piece"]) in out


def test_columns_stand_below_their_heads() -> None:
    lines = _main("a.model", "b.model")[1].splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("scores:"))
    head, *rows = lines[at + 1 : at + 11]
    assert all(row[head.index("piece") :].startswith(("'", '"')) for row in rows)
    assert all(row[head.index("units") + 5 - 1].isdigit() for row in rows)


def test_json() -> None:
    status, out, _ = _main("--json", "a.model", "b.model")
    told = json.loads(out)
    assert (status, told["equal"], told["same_content"]) == (DIFFERENT, False, False)
    assert (told["left"], told["right"]) == ("a.model", "b.model")
    assert {"name": "normalizer_spec.name", "left": "nfkc", "right": "nfkc_cf"} in told["fields"]
    (charsmap,) = told["charsmaps"]
    assert {"source": "A", "left": None, "right": "a"} in charsmap["rules"]
    status, out, _ = _main("a.model", "--json", "copy.model")
    assert (status, json.loads(out)["equal"]) == (EQUAL, True)


def test_json_has_no_numbers_of_its_own(models: Path) -> None:
    changed = parse((models / "a.model").read_bytes())
    changed.pieces[5].score = float("-inf")
    Path("inf.model").write_bytes(changed.SerializeToString())
    out = _main("--json", "a.model", "inf.model")[1]

    def refuse(name: str) -> None:
        pytest.fail(f"{name} is no JSON")

    (score,) = json.loads(out, parse_constant=refuse)["pieces"]["scores"]
    assert score["right"] == "-inf"


def test_written_in_another_way() -> None:
    model = Path("a.model").read_bytes()
    # The schema takes the last of two values for one field.
    Path("again.model").write_bytes(model + b"\x12\x00")
    status, out, _ = _main("a.model", "again.model")
    assert status == DIFFERENT
    assert "The content is the same: it is only written in another way." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.model", "nowhere"], '"nowhere": No such file or directory'),
        (["a.model", "."], "Is a directory"),
        (["a.model", "x" * 300], "File name too long"),
        (["a.model", "a\0b"], "holds a NUL character"),
        (["a.model", "\ud800"], "holds a NUL character or a lone surrogate"),
        (["a.model", "/dev/null"], "it holds no pieces"),
        (["t.txt", "a.model"], '"t.txt": no SentencePiece model'),
        (["a.model"], "two models are needed, not 1"),
        (["a.model", "b.model", "c.model"], "not 3"),
        (["--jsn", "a.model", "b.model"], "Did you mean --json"),
        (["--vocab_size=5", "a.model", "b.model"], "Unknown command line flag"),
    ],
)
def test_what_cannot_be_compared(arguments: list[str], message: str) -> None:
    status, out, err = _main(*arguments)
    assert (status, out, err.count("\n")) == (USAGE, "", 1)
    assert err.startswith("spmcompat diff: ")
    assert message in err


def test_help() -> None:
    assert _main("--help") == (EQUAL, HELP, "")


def test_as_a_program() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(spmcompat.__file__).parents[1]),
        "PYTHONIOENCODING": "ascii",
    }
    command = [sys.executable, "-m", "spmcompat", "diff", "--all", "a.model", "b.model"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (DIFFERENT, "")
    assert "\\u2581" in done.stdout
    # A reader that goes away early ends the program without a traceback.
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_commands(capsys: pytest.CaptureFixture[str]) -> None:
    assert spmcompat_main(["diff", "a.model", "copy.model"]) == EQUAL
    assert spmcompat_main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name}" in out for name in COMMANDS)
    assert spmcompat_main(["--version"]) == 0
    assert spmcompat.__version__ in capsys.readouterr().out
    for arguments in ([], ["difference"]):
        assert spmcompat_main(arguments) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
