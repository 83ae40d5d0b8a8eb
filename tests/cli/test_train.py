"""The command line: its flags, its output and its exit status."""

import gzip
import io
import os
import re
import signal
import subprocess
from pathlib import Path
from time import sleep

import pytest

from spmcompat import training
from spmcompat.cli.flags import parse
from spmcompat.cli.help import help_text
from spmcompat.cli.train import command, main
from spmcompat.model.sentencepiece_model_pb2 import ModelProto, TrainerSpec
from spmcompat.options.table import OPTIONS
from spmcompat.releases import DEFAULT
from tests.kinds import assert_error, raises_kind
from tests.parity import corpora
from tests.parity.case import Option
from tests.parity.harness import Trainers
from tests.processes import read_until, start_python
from tests.waiting import LIMIT

TEXT = corpora.words_text(seed=5, lines=80, types=60)


def _main(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main(arguments, out, err)
    return status, out.getvalue(), err.getvalue()


def _read(arguments: list[str]) -> tuple[dict[str, str], list[str]]:
    given = parse(command()._replace(required=(), positionals=("any", 0, None)), arguments)
    return given.options, given.arguments


@pytest.fixture
def text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(TEXT)
    return "t.txt"


@pytest.mark.parametrize(
    ("arguments", "flags"),
    [
        (["--vocab_size=5"], {"vocab_size": "5"}),
        (["--vocab_size", "5"], {"vocab_size": "5"}),
        (["-vocab_size=5"], {"vocab_size": "5"}),
        (["--vocab_size=5", "--vocab_size=6"], {"vocab_size": "6"}),
        (["--byte_fallback"], {"byte_fallback": "true"}),
        (["--nobyte_fallback"], {"byte_fallback": "false"}),
        (["--byte_fallback=no"], {"byte_fallback": "no"}),
        (["--byte_fallback", "--nobyte_fallback"], {"byte_fallback": "false"}),
        (["--train_extremely_large_corpus"], {"train_extremely_large_corpus": "true"}),
        (["--bos_id", "-1"], {"bos_id": "-1"}),
        (["--unk_surface="], {"unk_surface": ""}),
        (["--unk_surface=a=b"], {"unk_surface": "a=b"}),
        (["--nohelp"], {}),
        (["--vocab-size=5"], {"vocab_size": "5"}),
        (["-vocab-size", "5"], {"vocab_size": "5"}),
        (["--nobyte-fallback"], {"byte_fallback": "false"}),
    ],
)
def test_spellings(arguments: list[str], flags: dict[str, str]) -> None:
    assert _read(arguments) == (flags, [])


@pytest.mark.parametrize(
    "arguments",
    [
        ["--byte_fallback=false", "true"],
        ["--byte_fallback", "--", "true"],
        ["--byte_fallback", "t.txt", "true"],
        ["--unk_piece", "false", "true"],
    ],
)
def test_true_is_an_argument_unless_it_follows_a_flag_without_a_value(arguments: list[str]) -> None:
    assert _read(arguments)[1][-1] == "true"


def test_what_is_no_flag() -> None:
    assert _read(["a", "--byte_fallback", "b", "-", "--", "--c"]) == (
        {"byte_fallback": "true"},
        ["a", "b", "-", "--c"],
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--vocab_sise=5"], "usage --vocab_size"),
        (["--model_prefx=m"], "usage --model_prefix"),
        (["--vocab_size"], "usage"),
        (["--byte_fallback="], "usage"),
        (["--nobyte_fallback=true"], "usage"),
        (["--byte_fallback", "false"], "usage --byte_fallback --byte_fallback=false"),
        (["-byte_fallback", "True"], "usage --byte_fallback=true"),
        (["--nobyte_fallback", "true"], "usage --byte_fallback=true"),
        (["--help", "false"], "usage --help=false"),
        (["--byte_fallback", "0"], "usage --byte_fallback=0"),
        (["--split_digits", "F"], "usage --split_digits=f"),
        (["--noquiet", "no"], "usage --quiet=no"),
        (["--byte_fallback", "Yes"], "usage --byte_fallback=yes"),
        (["--novocab_size"], "usage"),
        (["--escape_whitespaces"], "usage"),
        (["--precompiled_charsmap=x"], "usage"),
    ],
)
def test_usage_errors(arguments: list[str], message: str) -> None:
    with raises_kind(message):
        _read(arguments)
    status, out, err = _main(*arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)


def test_every_flag_is_in_the_help_and_no_other() -> None:
    flags = {option.name for option in OPTIONS.values() if option.flag}
    entries = set(re.findall(r"^  --(\w+)", help_text(command()), re.MULTILINE))
    ignored = help_text(command()).partition("Accepted without any effect")[2]
    assert entries | set(re.findall(r"--(\w+)", ignored)) == flags | {"help", "version"}
    assert set(TrainerSpec.DESCRIPTOR.fields_by_name) <= flags
    assert max(map(len, help_text(command()).splitlines())) <= 98


def test_help_and_version() -> None:
    assert _main("--help") == (0, help_text(command()), "")
    status, out, _ = _main("--version")
    assert status == 0
    assert DEFAULT.version in out


@pytest.mark.parametrize("arguments", [["--input=t.txt"], ["--model_prefix=m"], []])
def test_input_and_output_must_be_named(arguments: list[str]) -> None:
    status, _, err = _main(*arguments)
    assert status == 2
    assert_error(err, "usage")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["t.txt", "--model_prefix=m"],
            "usage --input t.txt --input=t.txt",
        ),
        (["input=t.txt", "--model_prefix=m"], "usage --input=t.txt"),
        (["--input=t.txt", "m"], "usage --model_prefix=m"),
    ],
)
def test_an_argument_that_is_not_a_flag_can_be_the_missing_value(
    arguments: list[str], message: str
) -> None:
    status, _, err = _main(*arguments)
    assert (status, err.count("\n")) == (2, 1)
    assert_error(err, message)


@pytest.mark.parametrize(
    "arguments",
    [
        ["--input", "t.txt", "d/t.txt", "--model_prefix=m"],  # d/t.txt is not read
        ["--input=t.txt", "--model_prefix", "m", "n", "--byte_fallback=false"],
        ["--input=t.txt", "--model_prefix=m", "--", "--byte_fallback"],
        ["--input=t.txt", "--model_prefix=m", "-"],
    ],
    ids=str,
)
def test_an_argument_without_a_flag_is_refused(arguments: list[str], text: str) -> None:
    Path("d").mkdir()
    Path("d/t.txt").write_text(TEXT)
    status, out, err = _main(*arguments, "--vocab_size=60", "--nohard_vocab_limit")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert_error(err, "usage")
    assert sorted(os.listdir()) == ["d", text]


def test_an_input_that_does_not_exist() -> None:
    status, _, err = _main("--input=corpsu.txt", "--model_prefix=m")
    assert status == 1
    assert_error(err, "cannot-read corpsu.txt No such file or directory")


def test_a_prefix_with_the_suffix_of_a_model_is_kept_with_a_warning(text: str) -> None:
    arguments = (f"--input={text}", "--vocab_size=60", "--nohard_vocab_limit", "--minloglevel=1")
    status, _, err = _main(*arguments, "--model_prefix=m.model")
    assert (status, err.count("\n")) == (0, 1)
    assert "WARNING" in err
    assert "Give model_prefix=m to write m.model." in err
    assert sorted(os.listdir()) == ["m.model.model", "m.model.vocab", "t.txt"]
    assert _main(*arguments, "--model_prefix=m") == (0, "", "")


@pytest.mark.parametrize("more", [["--vocab_size=40"], ["--vocab_size=40,50"]], ids=str)
def test_a_folder_is_no_prefix(text: str, more: list[str]) -> None:
    Path("d").mkdir()
    status, out, err = _main(f"--input={text}", "--model_prefix=d/", "--nohard_vocab_limit", *more)
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert_error(err, "bad-value d/m")
    assert not os.listdir("d")


def test_a_model_is_not_a_text(text: str) -> None:
    arguments = ("--vocab_size=60", "--nohard_vocab_limit", "--minloglevel=1")
    assert _main(f"--input={text}", "--model_prefix=m", *arguments) == (0, "", "")
    status, _, err = _main("--input=m.model", "--model_prefix=n", *arguments)
    assert (status, err.count("\n")) == (1, 1)
    assert_error(err, "wrong-format m.model")
    assert not os.path.exists("n.model")
    explicit = ("--input_format=text", "--vocab_size=20", "--model_type=char")
    assert _main("--input=m.model", "--model_prefix=n", *arguments, *explicit)[0] == 0


@pytest.mark.parametrize("content", [b"a\0b c\n" * 9, "Öl über\n".encode("latin-1") * 9])
def test_a_text_with_problems(content: bytes, text: str) -> None:
    Path(text).write_bytes(content)
    arguments = (f"--input={text}", "--model_prefix=m", "--model_type=char", "--minloglevel=1")
    arguments = (*arguments, "--vocab_size=20", "--nohard_vocab_limit")
    status, out, err = _main(*arguments, "--strict")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert os.listdir() == [text]
    status, _, err = _main(*arguments)
    assert (status, err.count("\n")) == (0, 1)
    assert text in err


def test_trains(text: str) -> None:
    status, out, err = _main(
        f"--input={text}", "--model_prefix=m", "--vocab_size=60", "--hard_vocab_limit=false"
    )
    assert (status, out) == (0, "")
    assert "Alphabet size=" in err
    assert sorted(os.listdir()) == ["m.model", "m.vocab", "t.txt"]


def test_quiet(text: str) -> None:
    arguments = (f"--input={text}", "--model_prefix=m", "--vocab_size=60")
    assert _main(*arguments, "--nohard_vocab_limit", "--quiet") == (0, "", "")


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["--vocab_size=x"], 2, "bad-value vocab_size"),
        (["--vocab_size=99999"], 1, "vocabulary-too-large 99999"),
        (["--vocab_size=4"], 1, "vocabulary-too-small required_chars"),
        (["--vocab_size=3"], 2, "vocabulary-too-small required_chars"),
        (["--vocab_size=0"], 2, "bad-value vocab_size"),
        (["--vocab_size=8k"], 2, "bad-value 8k"),
        (["--normalization_rule_name=none"], 2, "bad-value nmt_nfkc_mark_case"),
        (
            ["--normalization_rule_name=nmt_nfkc_mark_case", "--denormalization_rule_tsv=r.tsv"],
            2,
            "conflicting-options denormalization_rule_tsv",
        ),
        (["--minloglevel=x"], 2, "bad-value"),
        (["--input=nowhere"], 1, "cannot-read nowhere No such file or directory"),
        (["--control_symbols_file=nowhere"], 1, "cannot-read nowhere No such file or directory"),
        (["--model_prefix=nowhere/m"], 1, "cannot-write No such file or directory"),
        (["--num_threads=0"], 2, "bad-value num_threads 1024"),
        (["--use_sparse_pruning=perhaps"], 2, "bad-value perhaps"),
        (
            ["--auto_character_coverage"],
            2,
            "conflicting-options --use_sparse_pruning=true",
        ),
    ],
)
def test_failures_are_one_line(text: str, arguments: list[str], status: int, message: str) -> None:
    got, out, err = _main(f"--input={text}", "--model_prefix=m", "--minloglevel=3", *arguments)
    assert (got, out, err.count("\n")) == (status, "", 1)
    assert err.startswith("spm_train: ")
    assert_error(err, message)
    assert os.listdir() == ["t.txt"]


def test_interrupt_is_130(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(training, "run", interrupted)
    status, _, err = _main(f"--input={text}", "--model_prefix=m")
    assert status == 130
    assert "interrupted" in err


def test_interrupt_while_reading(tmp_path: Path) -> None:
    command = ["-m", "spmcompat", "train", "--input=/dev/stdin", "--model_prefix=m"]
    pipe = subprocess.PIPE
    with start_python(command, tmp_path, stdin=pipe, stderr=pipe) as process:
        read_until(process.stderr, b"Loading corpus")
        # The text is larger than the buffer of a pipe, so `write` returns only after the program
        # has begun to read. The end of the input never comes.
        assert process.stdin is not None
        os.write(process.stdin.fileno(), b"a " * (1 << 20))
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
    assert list(tmp_path.iterdir()) == []


# Another thread receives the signal, so the signal does not interrupt a system call of the main
# thread. The same happens if a signal arrives just before a system call.
WITH_A_SECOND_THREAD = """
import runpy, signal, threading
threading.Thread(target=threading.Event().wait, daemon=True).start()
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
runpy.run_module("spmcompat", run_name="__main__")
"""


def test_interrupt_that_does_not_end_a_system_call(tmp_path: Path) -> None:
    command = ["-c", WITH_A_SECOND_THREAD, "train", "--input=/dev/stdin", "--model_prefix=m"]
    pipe = subprocess.PIPE
    with start_python(command, tmp_path, stdin=pipe, stderr=pipe) as process:
        read_until(process.stderr, b"Loading corpus")
        sleep(0.3)  # until the program waits for the input, which never comes
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("flag", ["--input_format=auto", "--input_format=jsonl"])
def test_interrupt_while_a_thread_reads_ahead(flag: str, tmp_path: Path) -> None:
    command = ["-m", "spmcompat", "train", "--input=-", "--model_prefix=m", flag]
    pipe = subprocess.PIPE
    with start_python(command, tmp_path, stdin=pipe, stderr=pipe) as process:
        read_until(process.stderr, b"Loading corpus")
        assert process.stdin is not None
        content = b'{"text": "a b"}\n' * (1 << 20)
        os.write(process.stdin.fileno(), gzip.compress(content, 0)[: 1 << 20])
        process.send_signal(signal.SIGINT)
        assert process.wait(LIMIT) == 130
    assert list(tmp_path.iterdir()) == []


CLI_SETS: list[dict[str, Option]] = [
    {},
    {"vocab_size": 400, "byte_fallback": True, "unk_id": -1},
    {"control_symbols": ["<a,b>", '<"c">'], "user_defined_symbols": ["<u>"]},
    {"required_chars": "ßø", "character_coverage": 0.99, "normalization_rule_name": "nfkc"},
    {"normalization_rule_name": "identity", "add_dummy_prefix": False},
    {"vocabulary_output_piece_score": False, "shrinking_factor": 0.9, "num_sub_iterations": 1},
    {"random_seed": 7, "pad_id": 3, "pretokenization_delimiter": "e"},
]


@pytest.mark.parametrize("options", CLI_SETS, ids=str)
def test_bytes_of_the_command_line(trainers: Trainers, options: dict[str, Option]) -> None:
    small: dict[str, Option] = {"vocab_size": 60, "hard_vocab_limit": False, "num_threads": 2}
    trainers.check({**small, **options}, TEXT, form="cli", spelling=len(options))


def test_bytes_with_files_of_symbols(trainers: Trainers) -> None:
    options: dict[str, Option] = {
        "vocab_size": 60,
        "hard_vocab_limit": False,
        "control_symbols_file": "c",
        "control_symbols": ["<z>"],
        "user_defined_symbols_file": "u",
        "required_chars_file": "r",
        "denormalization_rule_tsv": "d.tsv",
    }
    files = {"c": b"<a>\n<b,c>", "u": b"<u>\n", "r": "ß\nø\n".encode(), "d.tsv": b"41\t42\n"}
    comparison = trainers.check(options, TEXT, form="cli", files=files)
    model = comparison.ours.output(".model")
    assert model is not None
    spec = ModelProto.FromString(model).trainer_spec
    assert list(spec.control_symbols) == ["<z>", "<a>", "<b,c>"]


@pytest.mark.parametrize(
    ("flag", "message"),
    [
        (f"--input_sentence_size={'9' * 5000}", "bad-value input_sentence_size"),
        (f"--vocab_size=0x{'f' * 5000}", "bad-value vocab_size"),
        (f"--workers={'9' * 5000}", "bad-value workers"),
        ("--workers=1025", "bad-value workers 1024 1025"),
        (f"--compat={'9' * 5000}", "bad-value compat"),
        (f"--input={'x' * 300}", "cannot-read File name too long"),
        (f"--model_prefix={'x' * 300}", "cannot-write File name too long"),
        (f"--model_prefix={'x' * 5000}", "impossible-path File name too long"),
        ("--input=a\0b", "cannot-read No such file or directory"),
        ("--model_prefix=a\0b", "bad-value"),
        ("--model_prefix=t.txt/m", "cannot-write Not a directory"),
        ("--control_symbols_file=a\0b", "impossible-path"),
        ("--user_defined_symbols_file=.", "cannot-read Is a directory"),
        (f"--required_chars_file={'x' * 300}", "cannot-read File name too long"),
        ("--seed_sentencepieces_file=a\0b", "cannot-read No such file or directory"),
        (f"--seed_sentencepieces_file={'x' * 300}", "cannot-read File name too long"),
        ("--normalization_rule_tsv=a\0b", "impossible-path"),
        (f"--denormalization_rule_tsv={'x' * 300}", "cannot-read File name too long"),
        ("--unk_piece=\udcff", "not-utf8 UTF-8"),
        ("--model_prefix=\ud800", "not-utf8 UTF-8"),
        ("--control_symbols_file=\udcff", "not-utf8 UTF-8"),
    ],
)
@pytest.mark.usefixtures("text")
def test_mistakes_end_in_one_line(flag: str, message: str) -> None:
    given = ["--input=t.txt", "--model_prefix=m", "--vocab_size=60", "--minloglevel=1"]
    status, out, err = _main(*given, flag)
    assert status in (1, 2)
    assert (out, err.count("\n")) == ("", 1)
    assert_error(err, message)
    assert not list(Path().glob("*.model"))


@pytest.mark.usefixtures("text")
def test_a_file_replaces_required_characters_that_another_option_refuses() -> None:
    Path("r").touch()
    given = "--input=t.txt --model_prefix=m --vocab_size=300 --byte_fallback --required_chars=x"
    options = ["--auto_character_coverage", "--use_sparse_pruning", "--nohard_vocab_limit"]
    assert _main(*given.split(), *options)[0] == 2
    assert _main(*given.split(), *options, "--required_chars_file=r")[0] == 0


@pytest.mark.parametrize("number", ["18446744073709551615", "1e308"])
@pytest.mark.parametrize(
    "flags",
    [
        ["--prune_overshoot={}"],
        ["--seed_factor={}"],
        ["--seed_factor={}", "--seed_mode=bpe"],
        ["--seed_factor={}", "--seed_mode=pretokens"],
    ],
)
@pytest.mark.usefixtures("text")
def test_factors_without_bounds(flags: list[str], number: str) -> None:
    given = ["--input=t.txt", "--model_prefix=m", "--vocab_size=60", "--hard_vocab_limit=false"]
    assert _main(*given, *(flag.format(number) for flag in flags))[0] == 0


@pytest.mark.usefixtures("text")
def test_an_error_of_the_system_ends_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", "m.model")

    monkeypatch.setattr(training, "run", fail)
    status, out, err = _main("--input=t.txt", "--model_prefix=m")
    assert (status, out, err.count("\n")) == (1, "", 1)
    assert err.startswith("spm_train: m.model: No space left on device. Check the path")


@pytest.mark.parametrize("size", [250, 300, 5000])
@pytest.mark.usefixtures("text")
def test_a_name_that_is_too_long_is_refused_before_reading(size: int) -> None:
    status, _, err = _main("--input=t.txt", f"--model_prefix={'x' * size}", "--vocab_size=60")
    assert (status, err.count("\n")) == (1, 1)
    kind = "impossible-path" if size == 5000 else "cannot-write"
    assert_error(err, f"{kind} model_prefix File name too long")


@pytest.mark.parametrize("flag", ["--input_column=body", "--skip_bad_records"])
@pytest.mark.usefixtures("text")
def test_an_option_of_records_for_plain_text_ends_in_one_line(flag: str) -> None:
    status, out, err = _main("--input=t.txt", "--model_prefix=m", "--vocab_size=60", flag)
    assert (status, out, err.count("\n")) == (1, "", 1)
    name = flag[2:].partition("=")[0]
    assert_error(err, f"conflicting-options {name} input_format=jsonl")
    assert os.listdir() == ["t.txt"]


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="needs /proc")
@pytest.mark.parametrize(
    "flag",
    [
        "--input=/proc/self/mem",
        *(
            f"--{name}={path}"
            for name in (
                "seed_sentencepieces_file",
                "normalization_rule_tsv",
                "denormalization_rule_tsv",
                "user_defined_symbols_file",
            )
            for path in ("/dev/zero", "/proc/self/mem")
        ),
    ],
)
def test_a_special_file_that_cannot_be_read_is_named(flag: str, tmp_path: Path) -> None:
    (tmp_path / "t.txt").write_text("the cat sat on the mat\n" * 20)
    stderr = io.StringIO()
    status = main(
        [f"--input={tmp_path}/t.txt", f"--model_prefix={tmp_path}/m", "--vocab_size=20", flag],
        stderr=stderr,
    )
    assert status == 1
    last = stderr.getvalue().splitlines()[-1]
    assert f'"{flag.partition("=")[2]}"' in last
    assert "Memory" not in last
    assert [path.name for path in tmp_path.iterdir()] == ["t.txt"]
