"""``spmcompat extend`` and ``spmcompat trim``: what they write, say and refuse."""

from __future__ import annotations

import gzip
import io
import json
import random
import signal
import subprocess
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.reading import read_model
from tests.kinds import assert_error
from tests.processes import read_until, start_python
from tests.unit.tools.edit.growing_models import KINDS, trained, words

COMMANDS = {"extend": "add", "trim": "keep"}


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("new.txt").write_text("".join(f"{line}\n" for line in words(2, 80)), encoding="utf-8")
    Path("more.txt").write_text("".join(f"{line}\n" for line in words(3, 80)), encoding="utf-8")
    model = trained(words(1, 200, types=300), vocab_size=200)
    Path("m.model").write_bytes(model.SerializeToString())
    return tmp_path


def run(command: str, *arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    status = main([command, *arguments], stdout, stderr)
    return status, stdout.getvalue(), stderr.getvalue()


@pytest.mark.parametrize("kind", KINDS)
def test_extend_writes_what_python_returns(kind: str) -> None:
    model = trained(words(1, 200, types=300), vocab_size=200, model_type=kind)
    Path("m.model").write_bytes(model.SerializeToString())
    arguments = ("m.model", "--input=new.txt,more.txt", "--add=40", "--output=n.model")
    status, _, err = run("extend", *arguments, "--character_coverage=0.99")
    assert status == 0
    assert f"Saved n.model: {len(model.pieces) + 40} pieces, {len(model.pieces)} before\n" in err
    expected = spmcompat.extend(
        "m.model", input=["new.txt", "more.txt"], add=40, character_coverage=0.99, minloglevel=2
    )
    assert Path("n.model").read_bytes() == expected.model
    assert expected.size == len(model.pieces) + 40 == expected.old_size + len(expected.pieces)
    new = [one.piece for one in read_model("n.model").pieces[expected.old_size :]]
    assert new == expected.pieces
    assert f"New pieces: {' '.join(new[:10])} ...\n" in err
    assert len(Path("n.vocab").read_text().splitlines()) == len(model.pieces) + 40
    assert run("extend", *arguments, "--character_coverage=0.99", "--quiet") == (0, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_the_map_of_ids_is_written(command: str) -> None:
    size = 100 if command == "trim" else 9
    change = spmcompat.trim if command == "trim" else spmcompat.extend
    expected = change("m.model", input="new.txt", minloglevel=2, **{COMMANDS[command]: size})
    flags = ("--input=new.txt", f"--{COMMANDS[command]}={size}", "--output=n.model")
    assert run(command, "m.model", *flags, "--map=n.map")[0] == 0
    rows = [line.split("\t") for line in Path("n.map").read_text().splitlines()]
    assert [int(number) for number, _ in rows] == list(range(expected.size))
    assert [tuple(map(int, ids.split(" "))) for _, ids in rows] == expected.ids


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("path", ["m.model", "new.txt", "n.model", "n.vocab"])
def test_the_map_destroys_no_other_file(command: str, path: str) -> None:
    before = {name: Path(name).read_bytes() for name in ("m.model", "new.txt")}
    flags = ("--input=new.txt", f"--{COMMANDS[command]}=100", "--output=n.model")
    status, _, err = run(command, "m.model", *flags, f"--map={path}")
    assert status == 1
    assert_error(err, f"would-overwrite {path} --map")
    assert err.count("\n") == 1, "the text was read before the refusal"
    assert {name: Path(name).read_bytes() for name in before} == before
    assert not Path("n.model").exists()


def test_the_map_and_the_model_may_be_one_device() -> None:
    flags = ("--input=new.txt", "--add=9", "--output=/dev/null", "--map=/dev/null", "--quiet")
    assert run("extend", "m.model", *flags) == (0, "", "")


@pytest.mark.parametrize("command", COMMANDS)
def test_records_are_read_as_in_training(command: str) -> None:
    text = Path("new.txt").read_text(encoding="utf-8").splitlines()
    records = "".join(json.dumps({"line": line}) + "\n" for line in text)
    with gzip.open("new.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(records)
    size = f"--{COMMANDS[command]}={100 if command == 'trim' else 9}"
    assert run(command, "m.model", "--input=new.txt", size, "--output=a.model")[0] == 0
    flags = ("--input=new.jsonl.gz", "--input_column=line", size, "--output=b.model")
    assert run(command, "m.model", *flags)[0] == 0
    assert Path("a.model").read_bytes() == Path("b.model").read_bytes()


@pytest.mark.parametrize("command", COMMANDS)
def test_long_sentences_can_be_kept(command: str) -> None:
    line = " ".join(Path("new.txt").read_text(encoding="utf-8").split())
    Path("long.txt").write_text(f"{line} {line} {line}\n", encoding="utf-8")
    Path("new.txt").write_text(f"{line}\n{line}\n{line}\n", encoding="utf-8")
    limit = f"--max_sentence_length={3 * len(line.encode()) + 9}"
    options = {"model_type": "bpe", "max_sentence_length": 99}
    model = trained(words(1, 200, types=300), vocab_size=200, **options)
    Path("m.model").write_bytes(model.SerializeToString())
    size = f"--{COMMANDS[command]}={100 if command == 'trim' else 9}"
    flags = ("m.model", size, "--output=n.model")
    status, _, err = run(command, *flags, "--input=long.txt")
    assert status == 1
    assert_error(err, "empty-corpus --input")
    assert run(command, *flags, "--input=new.txt", limit, "--quiet")[0] == 0
    expected = Path("n.model").read_bytes()
    for flag in (limit, "--long_sentences=split"):
        assert run(command, *flags, "--input=long.txt", flag, "--quiet") == (0, "", "")
        assert Path("n.model").read_bytes() == expected


@pytest.mark.parametrize("kind", KINDS)
def test_trim_writes_what_python_returns(kind: str) -> None:
    model = trained(words(1, 200, types=300), vocab_size=200, model_type=kind)
    Path("m.model").write_bytes(model.SerializeToString())
    for flags, keep_ids in (((), False), (("--keep_ids",), True)):
        arguments = ("m.model", "--input=new.txt", "--keep=120", "--output=s.model", *flags)
        status, _, err = run("trim", *arguments)
        assert status == 0
        assert f"Dropped {len(model.pieces) - 120} of {len(model.pieces)} pieces" in err
        expected = spmcompat.trim(
            "m.model", input="new.txt", keep=120, keep_ids=keep_ids, minloglevel=2
        )
        assert Path("s.model").read_bytes() == expected.model
        assert len(expected.pieces) == len(model.pieces) - 120
    assert len(read_model("s.model").pieces) == len(model.pieces)


def test_use_unused_takes_the_ids_that_trim_left() -> None:
    size = len(read_model("m.model").pieces)
    arguments = ("m.model", "--input=new.txt", f"--keep={size - 20}", "--output=s.model")
    assert run("trim", *arguments, "--keep_ids", "--quiet") == (0, "", "")
    assert sum(one.type == one.UNUSED for one in read_model("s.model").pieces) == 20
    arguments = ("s.model", "--input=more.txt", "--add=20", "--output=n.model")
    assert run("extend", *arguments, "--use_unused", "--quiet") == (0, "", "")
    pieces = read_model("n.model").pieces
    assert len(pieces) == size
    assert all(one.type != one.UNUSED for one in pieces)


def test_the_output_may_be_the_model_itself() -> None:
    arguments = ("m.model", "--input=new.txt", "--add=10", "--output=m.model", "--quiet")
    size = len(read_model("m.model").pieces)
    assert run("extend", *arguments) == (0, "", "")
    assert len(read_model("m.model").pieces) == size + 10


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "usage"),
        ("m.model other.model --input=new.txt --SIZE=50 --output=n", "usage"),
        ("m.model --SIZE=50 --output=n", "usage --input --counts"),
        ("m.model --input=new.txt --output=n", "usage --SIZE"),
        ("m.model --input=new.txt --SIZE=50", "usage --output"),
        ("m.model --input=new.txt --SIZE=x --output=n", "usage --SIZE"),
        ("m.model --input=new.txt --SIZE=50 --output=n --vocab_size=5", "usage vocab_size"),
        ("m.model --input=new.txt --SIZE=50 --output=n --workers=x", "bad-value workers"),
    ],
)
def test_usage_errors(command: str, arguments: str, message: str) -> None:
    size = COMMANDS[command]
    status, _, err = run(command, *arguments.replace("SIZE", size).split())
    assert status == 2
    assert err.startswith(f"spmcompat {command}: ")
    assert_error(err, message.replace("SIZE", size))
    assert err.count("\n") == 1


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "none.model --input=new.txt --SIZE=150 --output=n.model",
            "cannot-read none.model No such file or directory",
        ),
        ("new.txt --input=new.txt --SIZE=150 --output=n.model", "bad-model new.txt"),
        (
            "m.model --input=none.txt --SIZE=150 --output=n.model",
            "cannot-read none.txt No such file or directory",
        ),
        ("m.model --input=new.txt --SIZE=150 --output=none/n.model", "cannot-write none/n.model"),
        ("m.model --input=new.txt --SIZE=150 --output=.", "cannot-write --output"),
        ("m.model --input=empty.txt --SIZE=150 --output=n.model", "empty-corpus --input"),
    ],
)
def test_failures(folder: Path, command: str, arguments: str, message: str) -> None:
    Path("empty.txt").touch()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    status, _, err = run(command, *arguments.replace("SIZE", COMMANDS[command]).split())
    assert status == 1
    assert_error(err, message)
    assert err.splitlines()[-1].startswith(f"spmcompat {command}: ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_leaves_no_file(folder: Path, command: str) -> None:
    dice = random.Random(1)
    text = "".join(f"w{dice.randrange(10**6)} the\n" for _ in range(300_000))
    Path("big.txt").write_text(text, encoding="utf-8")
    before = {path.name for path in folder.iterdir()}
    size = f"--{COMMANDS[command]}=100"
    arguments = ["-m", "spmcompat", command, "m.model", "--input=big.txt", size, "--output=n.model"]
    with start_python(arguments, folder, stderr=subprocess.PIPE) as process:
        read_until(process.stderr, b"Reading")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"interrupted; no file was written." in rest.splitlines()[-1]
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.parametrize("command", COMMANDS)
def test_help_lists_the_flags(command: str) -> None:
    status, out, _ = run(command, "--help")
    assert status == 0
    assert f"--{COMMANDS[command]}=N" in out
    assert "--input_sentence_size" in out
    assert "--vocab_size" not in out
