"""Runs every command that writes files, and everything that can go wrong while it writes.

After a fault, the folder contains either all old files or all new ones, and nothing else (a command
that replaces its files one by one may leave some of each); the command has written one line, and
its exit status says what happened. `faulty.py` makes the faults.

By default, each command is run with each kind of fault. ``SPMCOMPAT_FAULTS=1`` runs the full table:
a full disk at the end of each file, every call that changes a file, and each signal at 20 moments.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import pytest

import spmcompat
from spmcompat.tools.export import tiktoken
from tests.cli import faulty
from tests.kinds import assert_error
from tests.parity import corpora

pytest.importorskip("pyarrow")

pytestmark = pytest.mark.slow

FULL = bool(os.environ.get("SPMCOMPAT_FAULTS"))
MOMENTS = 20
SIGNALS = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}

Content = Mapping[str, bytes | None]
"""The files of a folder by their paths, and its folders, which have no content."""


class Command(NamedTuple):
    """A command, and the files that it writes.

    `prints` says whether the command shows a result. `together` says whether the command replaces
    its files either all or not at all.
    """

    arguments: str
    outputs: Sequence[str]
    prints: bool = False
    together: bool = True


TRAIN = "train --input=t.txt --model_prefix=n --hard_vocab_limit=false --quiet"
TRAIN_TOKENIZER = "train_tokenizer --like=gpt2 --input=t.txt --quiet"
MODEL = ("n.model", "n.vocab")
HF_FOLDER = (
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "tokenizer.model",
)
COMMANDS = {
    "train": Command(f"{TRAIN} --vocab_size=80", MODEL),
    "sizes": Command(
        f"{TRAIN} --vocab_size=60,80",
        [f"n-{size}.{end}" for size in (60, 80) for end in ("model", "vocab")],
    ),
    "dump": Command(f"{TRAIN} --vocab_size=80 --dump=d", MODEL),
    "train_tokenizer": Command(
        f"{TRAIN_TOKENIZER} --vocab_size=280,300 --output=n.json", ["n-280.json", "n-300.json"]
    ),
    "train_tokenizer --to": Command(
        f"{TRAIN_TOKENIZER} --vocab_size=280 --to=vocab.json --output=n",
        ["n/vocab.json", "n/merges.txt"],
    ),
    "count --like": Command(
        "count --like=gpt2 --input=t.txt --output=n.words --quiet", ["n.words"]
    ),
    "count": Command("count --input=t.txt --output=n.counts --quiet", ["n.counts"]),
    "counts merge": Command(
        "counts merge a.counts b.counts --output=n.counts --quiet", ["n.counts"]
    ),
    "edit": Command(
        "edit m.model --add_control=<a> --output=m.model", ["m.model", "m.vocab"], True
    ),
    "extend": Command("extend m.model --input=u.txt --add=5 --output=n.model --quiet", MODEL),
    "trim": Command("trim m.model --input=t.txt --keep=300 --output=n.model --quiet", MODEL),
    "merge": Command("merge m.model o.model --output=n.model", MODEL, True),
    "view": Command("view m.model abc --format=html --output=n.html", ["n.html"]),
    "import": Command("import t.json --output=n.model", ["n.model"], True),
    "hf-folder": Command(
        "export m.model --to=hf-folder --output=n --verify=no",
        [f"n/{name}" for name in HF_FOLDER],
        True,
    ),
    "tiktoken": Command(
        "export m.model --to=tiktoken --output=n --verify=no",
        [f"n/{tiktoken.RANKS}", f"n/{tiktoken.SETTINGS}"],
        True,
    ),
    **{
        to: Command(f"export m.model --to={to} --output=n --verify=no", ["n"], True)
        for to in ("tokenizer.json", "gguf", "vocab.txt")
    },
}
COMPARE = "compare --text=t.txt --output=out --vocab_size=60 --configs=own.toml --quiet"
if FULL and find_spec("matplotlib") is not None:
    # The results of this comparison already exist, so the command trains nothing and writes only
    # these files.
    names = [f"out/{name}" for name in ("train.txt", "held-out.txt", "report.html")]
    COMMANDS["compare"] = Command(COMPARE, names, prints=True, together=False)


def content(folder: Path) -> Content:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in folder.rglob("*")
    }


@functools.cache
def inputs() -> Content:
    """The files that the commands read."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for path, seed in (("t.txt", 5), ("u.txt", 6)):
            text = corpora.words_text(seed=seed, lines=120, types=80)
            (folder / path).write_text(text.encode("ascii", "ignore").decode() + "abcdefghij\n")
        options: dict[str, Any] = {
            "model_type": "bpe",
            "byte_fallback": True,
            "vocab_size": 340,
            "hard_vocab_limit": False,
            "normalization_rule_name": "identity",
            "add_dummy_prefix": False,
            "remove_extra_whitespaces": False,
            "minloglevel": 3,
        }
        for path, text in (("m", "t"), ("o", "u")):
            source, prefix = folder / f"{text}.txt", folder / path
            spmcompat.train(input=source, model_prefix=prefix, **options)
            counts = spmcompat.count(input=source, minloglevel=3)
            counts.save(folder / f"{'ab'['mo'.index(path)]}.counts")
        (folder / "o.vocab").unlink()
        target = folder / "t.json"
        spmcompat.export(folder / "m.model", to="tokenizer.json", output=target, verify="no")
        return content(folder)


@functools.cache
def compared() -> Content:
    """The files in a folder in which ``spmcompat compare`` has run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(folder, {"t.txt": inputs()["t.txt"], "own.toml": b'[own]\nmodel_type = "char"\n'})
        done = run_arguments(COMPARE.split(), folder, {})
        assert done.returncode == 0, done.stderr
        return content(folder)


def write(folder: Path, files: Content) -> None:
    for name, data in files.items():
        path = folder / name
        if data is None:
            path.mkdir(parents=True, exist_ok=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)


@functools.cache
def old_files(name: str) -> Content:
    """The content of the folder before the command: its inputs, and old files to be replaced."""
    with tempfile.TemporaryDirectory() as folder:
        old = {path: f"old {path}".encode() for path in COMMANDS[name].outputs}
        given = {**compared(), **old} if name == "compare" else {**old, **inputs()}
        write(Path(folder), given)
        return content(Path(folder))


class Expected(NamedTuple):
    """The result of a run without a fault."""

    files: Content
    record: Mapping[str, Any]


@functools.cache
def expected(name: str) -> Expected:
    with tempfile.TemporaryDirectory() as given:
        folder, record = Path(given) / "work", Path(given) / "record"
        # The first run also compiles modules, which causes additional events. So the full table
        # records a second run.
        for _ in range(2 if FULL else 1):
            shutil.rmtree(folder, ignore_errors=True)
            write(folder, old_files(name))
            done = run(name, folder, {"record": str(record)})
            assert (done.returncode, lines(done)) == (0, []), done.stderr
        new = content(folder)
        old = old_files(name)
        assert {path for path in new if new[path] != old.get(path)} >= {*COMMANDS[name].outputs}
        return Expected(new, json.loads(record.read_text()))


def is_intact(name: str, left: Content, old: Content) -> bool:
    """Whether each file is either the old or the new one.

    If the command replaces its files together, all of them must be old, or all must be new.
    """
    new = expected(name).files
    if COMMANDS[name].together:
        return left in (old, new)
    return left.keys() <= {*old, *new} and all(
        left.get(path) in (old.get(path), new.get(path)) for path in {*old, *new}
    )


def is_unchanged(name: str, left: Content, old: Content) -> bool:
    return left == old if COMMANDS[name].together else is_intact(name, left, old)


def run(
    name: str, folder: Path, fault: Mapping[str, Any], redirection: str = ""
) -> subprocess.CompletedProcess[bytes]:
    return run_arguments(COMMANDS[name].arguments.split(), folder, fault, redirection)


def run_arguments(
    arguments: Sequence[str], folder: Path, fault: Mapping[str, Any], redirection: str = ""
) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, faulty.__file__, json.dumps(fault), *arguments]
    if redirection:
        command = ["sh", "-c", f'exec "$@" {redirection}', "sh", *command]
    return subprocess.run(
        command,
        cwd=folder,
        env={
            **os.environ,
            "PYTHONPATH": str(Path(spmcompat.__file__).parents[1]),
            # Under a limit of the size of files, Python would write incomplete bytecode.
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        capture_output=True,
        check=False,
        timeout=600,
    )


def lines(done: subprocess.CompletedProcess[bytes]) -> list[str]:
    """The lines that a command wrote to standard error, except those that begin with "note: "."""
    return [line for line in done.stderr.decode().splitlines() if not line.startswith("note: ")]


@pytest.fixture(params=COMMANDS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "work"


def attempts(
    name: str, folder: Path, faults: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[Mapping[str, Any], subprocess.CompletedProcess[bytes], Content]]:
    """Run a command once for each fault, from the same old files."""
    assert faults
    for fault in faults:
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, old_files(name))
        done = run(name, folder, fault)
        yield fault, done, content(folder)


def test_a_full_disk(name: str, folder: Path) -> None:
    new = expected(name).files
    written = [new[path] or b"" for path in COMMANDS[name].outputs]
    sizes = sorted({len(data) for data in written})
    limits = [0, *(size - 1 for size in sizes)] if FULL else [sizes[-1] - 1]
    for fault, done, left in attempts(name, folder, [{"limit": limit} for limit in limits]):
        assert done.returncode == 1, fault
        assert len(lines(done)) == 1, (fault, done.stderr)
        assert_error(lines(done)[0], "cannot-write File too large")
        assert is_unchanged(name, left, old_files(name)), fault


def test_a_call_that_fails(name: str, folder: Path) -> None:
    """If a system call fails, the old files are restored, or the command succeeds without it."""
    calls = expected(name).record["calls"]
    must_work = ("mkdir", "replace") if COMMANDS[name].together else ("replace",)
    faults = [
        {"call": (call, number)}
        for call, count in calls.items()
        for number in range(1, count + 1)
        if FULL or (call == "replace" and number == count)
    ]
    for fault, done, left in attempts(name, folder, faults):
        if done.returncode == 0 and fault["call"][0] not in must_work:
            assert (lines(done), left) == ([], expected(name).files), fault
            continue
        assert done.returncode == 1, fault
        assert len(lines(done)) == 1, (fault, done.stderr)
        assert_error(lines(done)[0], "cannot-write No space left on device")
        assert is_unchanged(name, left, old_files(name)), fault


def moments(events: Mapping[str, int]) -> list[tuple[str, int]]:
    """Return moments for a signal: half of them in the whole run, half while files are written."""
    half = MOMENTS // 2
    return [
        (kind, max(events[kind] * (i + 1) // (half + 1), 1))
        for kind in (faulty.EVENT, faulty.TEMPORARY)
        for i in range(half)
    ]


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: signal.Signals(number).name)
def test_a_signal(name: str, folder: Path, number: signal.Signals) -> None:
    known = expected(name)
    events = known.record["events"]
    last = (faulty.TEMPORARY, events[faulty.TEMPORARY])
    chosen = [*moments(events), last] if FULL else [last]
    faults = [{"signal": (int(number), *moment)} for moment in chosen]
    for fault, done, left in attempts(name, folder, faults):
        assert done.returncode == 128 + number, (fault, done)
        assert len(lines(done)) == 1, (fault, done.stderr)
        assert SIGNALS[number] in lines(done)[0]
        assert is_intact(name, left, old_files(name)), fault
        if left != old_files(name):
            assert "no file was written" not in lines(done)[0]


def test_a_folder_at_the_path_of_an_output(name: str, folder: Path) -> None:
    outputs = COMMANDS[name].outputs
    for path in outputs if FULL else outputs[-1:]:
        if path in inputs():
            continue  # the command edits this model, so it cannot be a folder
        shutil.rmtree(folder, ignore_errors=True)
        write(folder, {one: data for one, data in old_files(name).items() if one != path})
        (folder / path).mkdir()
        done = run(name, folder, {})
        assert (done.returncode, len(lines(done))) == (1, 1), done.stderr
        assert_error(lines(done)[0], f"cannot-write {path} Is a directory")
        left, old = content(folder), old_files(name)
        assert left[path] is None
        assert is_unchanged(name, {**left, path: old[path]}, old)


def test_a_folder_that_cannot_be_written(name: str, folder: Path) -> None:
    write(folder, old_files(name))
    target = (folder / COMMANDS[name].outputs[0]).parent
    done = run(name, folder, {"deny": str(target)})
    assert (done.returncode, len(lines(done))) == (1, 1), done.stderr
    assert_error(lines(done)[0], "cannot-write Permission denied")
    assert content(folder) == old_files(name)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write in every folder")
def test_a_read_only_folder(name: str, folder: Path) -> None:
    write(folder, old_files(name))
    target = (folder / COMMANDS[name].outputs[0]).parent
    target.chmod(0o555)
    try:
        done = run(name, folder, {})
    finally:
        target.chmod(0o755)
    assert (done.returncode, len(lines(done))) == (1, 1), done.stderr
    assert "Permission denied" in lines(done)[0]
    assert content(folder) == old_files(name)


@pytest.mark.parametrize("redirection", ["1>&-", "1>/dev/full", "0<&- 1>&-"] if FULL else ["1>&-"])
def test_a_standard_output_that_cannot_be_written(
    name: str, folder: Path, redirection: str
) -> None:
    """The files are written, and the exit status says that the result was not shown."""
    write(folder, old_files(name))
    done = run(name, folder, {}, redirection)
    prints = COMMANDS[name].prints
    assert (done.returncode, len(lines(done))) == (int(prints), int(prints)), done.stderr
    assert content(folder) == expected(name).files


@pytest.mark.parametrize(
    "arguments",
    [
        "edit m.model --add_control=<a> --text=t.txt --output={}",
        "merge m.model o.model --output={}",
        "counts merge a.counts b.counts --output={}",
        "export m.model --to=tokenizer.json --verify=no --output={}",
    ],
)
def test_no_report_follows_an_output_that_is_the_standard_output(
    arguments: str, folder: Path
) -> None:
    write(folder, inputs())
    done = run_arguments(arguments.format("/dev/stdout").split(), folder, {}, ">printed")
    assert done.returncode == 0, done.stderr
    assert run_arguments(arguments.format("expected").split(), folder, {}).returncode == 0
    assert (folder / "printed").read_bytes() == (folder / "expected").read_bytes()


@pytest.mark.parametrize(
    "redirection", ["2>&-", "2>/dev/full", "0<&- 2>&-"] if FULL else ["2>/dev/full"]
)
def test_messages_that_cannot_be_written(name: str, folder: Path, redirection: str) -> None:
    write(folder, old_files(name))
    arguments = [one for one in COMMANDS[name].arguments.split() if one != "--quiet"]
    done = run_arguments(arguments, folder, {}, redirection)
    assert (done.returncode, done.stderr) == (0, b"")
    assert content(folder) == expected(name).files


@pytest.mark.parametrize(
    ("arguments", "remedy"),
    [
        ("train --input=t.txt,n.model --model_prefix=n", "model_prefix"),
        ("train --input=n.vocab --model_prefix=n", "model_prefix"),
        ("train --input=t.txt --model_prefix=n --seed_sentencepieces_file=n.vocab", "model_prefix"),
        ("train --input=t.txt --model_prefix=n --normalization_rule_tsv=n.vocab", "model_prefix"),
        ("train --input=t.txt --model_prefix=n --denormalization_rule_tsv=link", "model_prefix"),
        ("train --input=t.txt --model_prefix=n --required_chars_file=n.vocab", "model_prefix"),
        ("train --input=t.txt --model_prefix=n --user_defined_symbols_file=link", "model_prefix"),
        ("train --input=l*k --model_prefix=n", "model_prefix"),
        ("train --counts=c.model --model_prefix=c", "model_prefix"),
        ("train --counts=hard.vocab --model_prefix=hard --vocab_size=60", "model_prefix"),
        ("count --input=t.txt --output=t.txt", "--output"),
        ("count --input=t.txt --output=./link.txt", "--output"),
        ("count --input=file://{folder}/t.txt --output=t.txt", "--output"),
        ("count --input=simplecache::local://{folder}/*.txt --output=t.txt", "--output"),
        ("count --input=t.txt --output=n.vocab --user_defined_symbols_file=n.vocab", "--output"),
        ("counts merge a.counts b.counts --output=b.counts", "--output"),
        ("counts merge a.counts b.counts --output=hard.vocab", "--output"),
        ("edit m.model --add_control=<a> --output=n.model --text=n.vocab", "--output"),
        ("edit m.model --add_control=<a> --output=m.model --text=m.vocab", "--output"),
        ("edit x.vocab --add_control=<a> --output=x.model", "--output"),
        ("extend m.model --input=u.txt --add=5 --output=u.txt", "--output"),
        ("trim m.model --input=u.txt,n.vocab --keep=300 --output=n.model", "--output"),
        ("trim m.model --counts=hard.vocab --keep=300 --output=hard.model", "--output"),
        ("merge m.model o.model --output=o.model", "--output"),
        ("export m.model --to=tokenizer.json --output=m.model", "--output"),
        ("export m.model --to=tokenizer.json --output=t.txt --text=t.txt", "--output"),
        ("export hf/tokenizer.model --to=hf-folder --output=hf", "--output"),
        ("import t.json --output=t.json", "--output"),
        ("compare --text=train.txt --output=.", "--output"),
    ],
)
def test_an_output_that_is_an_input(arguments: str, remedy: str, folder: Path) -> None:
    symbols = b"ab\n"
    write(folder, {**inputs(), "n.vocab": symbols, "n.model": symbols, "train.txt": b"a\n"})
    write(folder, {"hf/tokenizer.model": inputs()["m.model"], "x.vocab": inputs()["m.model"]})
    write(folder, {"c.model": inputs()["a.counts"]})
    os.link(folder / "b.counts", folder / "hard.vocab")
    (folder / "link").symlink_to("n.vocab")
    (folder / "link.txt").symlink_to(folder / "t.txt")
    (folder / "n.vocab").write_bytes(b"41\t42\n" if "_tsv" in arguments else symbols)
    before = content(folder)
    done = run_arguments(arguments.format(folder=folder).split(), folder, {})
    found = [line for line in lines(done) if not line.startswith("INFO")]
    assert (done.returncode, len(found)) == (1, 1), done.stderr
    assert "is the same file as the input" in found[0]
    assert f"Choose another {remedy}." in found[0]
    assert content(folder) == before
