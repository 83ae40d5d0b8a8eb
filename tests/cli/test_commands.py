"""Rules for all commands: flags, help, exit statuses and messages."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import COMMANDS, find, main
from spmcompat.cli import train
from spmcompat.cli.flags import parse
from spmcompat.options.option import BOOL, CHOICE, TEXT
from spmcompat.options.table import OPTIONS
from spmcompat.tools.compare.configs import DEFAULTS
from tests.kinds import assert_error

# For each command, arguments that it accepts if the files exist.
COMPLETE = {
    "train": "--input=t.txt --model_prefix=n",
    "train_tokenizer": "--like=gpt2 --input=t.txt --output=n",
    "count": "--input=t.txt --output=n",
    "counts merge": "a.counts --output=n",
    "counts show": "a.counts",
    "evaluate": "a.model --text=t.txt",
    "compare": "--text=t.txt --output=n",
    "edit": "a.model --output=n --add=b",
    "extend": "a.model --input=t.txt --output=n --add=1",
    "trim": "a.model --input=t.txt --output=n --keep=9",
    "merge": "a.model b.model --output=n",
    "export": "a.model --to=tokenizer.json --output=n",
    "import": "a.json --output=n",
    "show": "a.model",
    "view": "a.model --text=t.txt",
    "diff": "a.model b.model",
    "parity": "--input=t.txt",
    "completion": "bash",
}
WITH_OUTPUT = [name for name, line in COMPLETE.items() if "--output" in line]
READING = [name for name in COMPLETE if name != "completion"]
# A value that is not allowed, for some flags of each kind.
BAD_VALUES = [
    ("train", "--vocab_size=0", "bad-value vocab_size"),
    ("train", "--vocab_size=8k", "bad-value 8k"),
    ("train", "--vocab_size=0,100", "bad-value vocab_size"),
    ("train", "--character_coverage=2", "bad-value character_coverage 0.98"),
    ("train", "--model_type=gpt", "bad-value"),
    ("train", "--byte_fallback=maybe", "bad-value maybe"),
    ("train", "--normalization_rule_name=none", "bad-value"),
    ("train", "--pretokenizer=words", "wrong-type"),
    ("train", "--pretokenizer=regex:(", "bad-value"),
    ("train", "--input_format=xml", "bad-value"),
    ("train", "--compat=0.0.1", "bad-value compat"),
    ("train", "--recipe=none", "bad-value"),
    ("train", "--minloglevel=x", "bad-value"),
    ("train", "--counts=a.counts", "usage --input --counts"),
    ("train", "--shrinking_factor=0", "bad-value shrinking_factor 0.5"),
    ("train", "--dump_format=parquet", "conflicting-options dump_format dump"),
    ("train", "--model_type=char --byte_fallback --auto_character_coverage", "conflicting-options"),
    ("train_tokenizer", "--vocab_size=0", "usage --vocab_size"),
    ("train_tokenizer", "--vocab_size=9,300,9", "usage --vocab_size 9"),
    ("train_tokenizer", "--min_frequency=x", "usage --min_frequency"),
    ("train_tokenizer", "--language_alpha=0.5", "usage --language_alpha"),
    ("train_tokenizer", "--language_counts=a,b", "usage --input --language_counts"),
    ("train_tokenizer", "--to=docx", "usage --to tokenizer.json"),
    ("train_tokenizer", "--special_tokens=", "usage special_tokens"),
    ("train_tokenizer", "--workers=0", "bad-value workers 1024"),
    ("count", "--workers=0", "bad-value workers 1024"),
    ("count", "--split_lines=maybe", "bad-value maybe"),
    ("counts merge", "--min_count=0", "usage --min_count"),
    ("counts merge", "--temperature=x", "usage --temperature"),
    ("counts merge", "--weights=1,2", "usage --weights"),
    ("evaluate", "--workers=0", "usage --workers 1024"),
    ("evaluate", "--units=words", "usage --units"),
    ("evaluate", "--pretokenizer=words", "bad-value pretokenizer words"),
    ("compare", "--vocab_size=0", "usage --vocab_size"),
    ("compare", "--bootstrap=100 --confidence=0", "usage --confidence"),
    ("compare", "--configs=none", "usage"),
    ("compare", "--configs=", "usage configs"),
    ("edit", "--set_score=a", "usage --set_score PIECE=SCORE"),
    ("edit", "--set_score=a=0", "bad-edit"),
    ("edit", "--all=x", "usage --all"),
    ("extend", "--add=0", "usage --add"),
    ("extend", "--input_sentence_size=5", "bad-value input_sentence_size"),
    ("trim", "--keep=many", "usage --keep"),
    ("trim", "--workers=1025", "bad-value workers 1024"),
    ("merge", "--vocab_size=0", "usage --vocab_size"),
    ("merge", "--weights=1", "usage --weights"),
    ("merge", "--weights=0,1", "usage --weights"),
    ("export", "--to=docx", "usage --to tokenizer.json"),
    ("export", "--verify=x", "usage --verify if_possible"),
    ("import", "second.json", "usage tokenizer.json"),
    ("diff", "--json=x", "usage --json"),
    ("diff", "c.model", "usage"),
    ("view", "--lines=0", "usage --lines"),
    ("view", "--format=pdf", "usage --format html"),
    ("view", "a", "usage --text"),
    ("parity", "--compat=0.0.1", "bad-value compat"),
    ("completion", "zsh", "usage"),
]


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def run(name: str, arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main([*name.split(), *arguments.split()], out, err)
    return status, out.getvalue(), err.getvalue()


def assert_refused(name: str, arguments: str, status: int, expected: str) -> None:
    """Assert that a command ends with the status and one line, and writes nothing."""
    got, out, err = run(name, arguments)
    assert (got, out, err.count("\n")) == (status, "", 1), err
    assert err.startswith("spm_train: " if name == "train" else f"spmcompat {name}: ")
    assert_error(err, expected)
    assert not list(Path().iterdir())


def test_every_command_is_tested() -> None:
    assert COMPLETE.keys() == COMMANDS.keys()


@pytest.mark.parametrize("flag", ["-h", "--help", "-help"])
@pytest.mark.parametrize("name", [*COMMANDS, "counts", ""])
def test_help_has_one_layout(name: str, flag: str) -> None:
    status, out, err = run(name, flag)
    assert (status, err) == (0, "")
    paragraphs = out.split("\n\n")
    assert re.match(r"[A-Z][a-z]+s .*[.:]$", paragraphs[0], re.DOTALL)
    program = "spm_train" if name == "train" else f"spmcompat {name}".strip()
    (usage,) = [number for number, text in enumerate(paragraphs) if text.startswith("usage: ")]
    assert paragraphs[usage].startswith(f"usage: {program} ")
    assert paragraphs[-2].startswith("Flags of all commands:\n  --help")
    statuses = re.findall(r"^  (\d+) +\S", paragraphs[-1], re.MULTILINE)
    assert statuses == ["0", "1", "2", "130", "143"]
    assert paragraphs[-1].startswith("Exit statuses:\n")
    assert max(map(len, out.splitlines())) <= 98


@pytest.mark.parametrize("name", COMMANDS)
def test_help_lists_each_flag_with_its_default(name: str) -> None:
    out = run(name, "--help")[1]
    for flag in find(name).flags:
        (entry,) = re.findall(rf"^  --{flag.name}\b.*(?:\n {{8}}.*)*", out, re.MULTILINE)
        assert ("[" in entry) == (flag.kind in (BOOL, CHOICE) or flag.least is not None
            or flag.default is not None or flag.name == "output")  # fmt: skip
        if flag.kind == BOOL:
            assert f"default: {str(flag.default).lower()}]" in " ".join(entry.split())


def test_help_breaks_no_name_in_a_list_of_defaults() -> None:
    out = run("compare", "--help")[1]
    assert {*DEFAULTS} <= {word.strip("[],;") for word in out.split()}


@pytest.mark.parametrize("name", [*COMMANDS, ""])
def test_version(name: str) -> None:
    assert run(name, "--version") == run("train", "--version")
    assert run(name, "--version")[0] == 0


def test_a_name_has_one_spelling() -> None:
    flags = [flag for name in COMMANDS for flag in find(name).flags]
    for flag in flags:
        assert re.fullmatch(r"[a-z]+(_[a-z]+)*", flag.name)
        assert flag.help.endswith(".")
        assert flag.kind != TEXT or flag.metavar
    # A command may share only these flags with spm_train, because they mean the same there.
    assert {flag.name for flag in flags} & {*OPTIONS} == {
        "vocab_size",
        "counts",
        "language_counts",
        "language_development",
        "language_ratios",
        "language_first_merges",
        "language_window",
        "language_alpha",
        "pretokenizer",
        "workers",
        "quiet",
        "strict",
        "progress",
    }


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_flag_is_refused_with_a_suggestion(name: str) -> None:
    assert_refused(name, "--hlep", 2, "usage hlep --help")
    for flag in find(name).flags:
        wrong = f"{flag.name}x".replace("_", "-")
        assert_refused(name, f"--{wrong}=1", 2, f"usage --{flag.name}")


def test_a_flag_that_is_hardly_similar_is_not_suggested() -> None:
    line = f"{COMPLETE['compare']} --units=lines"
    assert_refused("compare", line, 2, "usage 'units' --help")


@pytest.mark.parametrize(
    ("name", "flag", "meant"),
    [
        ("evaluate", "input", "text"),
        ("compare", "input", "text"),
        ("extend", "vocab_size", "add"),
        ("trim", "vocab-size", "keep"),
    ],
)
def test_the_name_of_a_flag_of_other_commands_is_understood(
    name: str, flag: str, meant: str
) -> None:
    assert_refused(name, f"--{flag}=9", 2, f"usage '{flag}' --{meant}")


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_the_output_is_required(name: str) -> None:
    line = COMPLETE[name].replace("--output=n", "")
    assert_refused(name, line, 2, "usage --output --help")
    assert_refused(name, f"{line} --output=", 2, "usage --output --help")


@pytest.mark.parametrize("name", COMMANDS)
def test_each_argument_of_a_complete_line_is_required(name: str) -> None:
    words = COMPLETE[name].split()
    for word in words:
        if (name, word) == ("edit", "--add=b"):
            continue
        rest = " ".join(one for one in words if one != word)
        flag = word.partition("=")[0]
        assert_refused(name, rest, 2, f"usage {flag}" if word[0] == "-" else "usage")


def test_an_edit_is_required() -> None:
    assert_refused("edit", "a.model --output=n", 2, "bad-edit")


@pytest.mark.parametrize(("name", "arguments", "message"), BAD_VALUES)
def test_a_bad_value_is_wrong_usage_whatever_files_contain(
    name: str, arguments: str, message: str
) -> None:
    assert_refused(name, f"{COMPLETE[name]} {arguments}", 2, message)


@pytest.mark.parametrize("name", READING)
def test_a_missing_file_is_a_failure(name: str) -> None:
    status, out, err = run(name, f"{COMPLETE[name]}")
    assert (status, out) == (2 if name == "diff" else 1, "")
    assert_error(err, "cannot-read No such file or directory")
    assert {path.name for path in Path().iterdir()} <= {"n"}


@pytest.fixture
def _inputs() -> None:
    """Write the files that the lines in `COMPLETE` name."""
    pytest.importorskip("pyarrow")
    lines = [f"the cat sat on the mat number {i}" for i in range(100)]
    Path("t.txt").write_text("\n".join(lines))
    spmcompat.count(sentence_iterator=lines, minloglevel=2).save("a.counts")
    spmcompat.train(sentence_iterator=lines, model_prefix="a", vocab_size=32, minloglevel=2)
    spmcompat.export("a.model", to="tokenizer.json", output="a.json", verify="no")
    shutil.copy("a.model", "b.model")


@pytest.mark.slow
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="needs /proc")
@pytest.mark.usefixtures("_inputs")
@pytest.mark.parametrize("name", [name for name in WITH_OUTPUT if name != "compare"])
def test_an_output_that_is_a_descriptor_of_an_input_is_refused(name: str) -> None:
    words = [word.rpartition("=")[2] for word in COMPLETE[name].split()]
    before = {path.name: path.read_bytes() for path in Path().iterdir()}
    for source in (word for word in words if Path(word).exists()):
        with open(source, "r+b") as file:
            output = f"--output=/proc/self/fd/{file.fileno()}"
            status, out, err = run(name, COMPLETE[name].replace("--output=n", output))
        assert (status, out) == (1, "")
        assert_error(err, f"would-overwrite --output {source}")
    assert {path.name: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("name", WITH_OUTPUT)
def test_o_is_output_and_dashes_are_accepted(name: str) -> None:
    for spelling in ("-o n", "-o=n", "--output n", "-output=n"):
        line = COMPLETE[name].replace("--output=n", spelling)
        assert run(name, line) == run(name, COMPLETE[name])
    for flag in (flag for flag in find(name).flags if "_" in flag.name and flag.kind == BOOL):
        assert run(name, f"--{flag.name.replace('_', '-')} --help")[0] == 0


def test_dashes_mean_underscores_in_the_flags_of_spm_train() -> None:
    line = "--input=t.txt --model-prefix=n --vocab-size=0"
    assert_refused("train", line, 2, "bad-value vocab_size")


def test_the_rules_of_boolean_flags_are_the_same_everywhere() -> None:
    assert_refused("diff", "--json true a.model b.model", 2, "usage --json=true")
    assert_refused("diff", "--nojson=true a.model b.model", 2, "usage --nojson")
    for line in ("--json --nojson", "--json=false", "--nojson", "--json --json=no"):
        assert_error(run("diff", f"a.model b.model {line}")[2], "cannot-read a.model")
    assert_error(run("diff", "-- a.model --json")[2], "cannot-read a.model")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("evalute a.model", "usage evalute"),
        ("counts", "usage counts"),
        ("counts a.counts", "usage counts a.counts"),
        ("help evalute", "usage evalute"),
        ("help counts mrge", "usage counts mrge"),
        ("counts mrge", "usage counts mrge"),
        ("coutns", "usage coutns"),
        ("encode a.txt", "usage encode"),
        ("decode", "usage decode"),
        ("zzz", "usage zzz --help"),
        ("", "usage --help"),
        ("--hlep", "usage hlep --help"),
    ],
)
def test_unknown_commands(line: str, message: str) -> None:
    out, err = io.StringIO(), io.StringIO()
    assert main(line.split(), out, err) == 2
    assert (out.getvalue(), err.getvalue().count("\n")) == ("", 1)
    assert err.getvalue().startswith("spmcompat: ")
    assert_error(err.getvalue(), message)


@pytest.mark.parametrize("name", [*COMMANDS, "counts", ""])
def test_the_command_help_shows_the_help_of_a_command(name: str) -> None:
    assert run("help", name) == run(name, "--help")


def test_the_help_of_counts_lists_its_commands() -> None:
    out = run("counts", "-h")[1]
    assert re.findall(r"^  (counts \w+)  ", out, re.MULTILINE) == ["counts merge", "counts show"]


def test_a_folder_with_sources_says_so(tmp_path: Path) -> None:
    package = Path(spmcompat.__file__).parent
    ignored = shutil.ignore_patterns("*.so", "*.pyd", "__pycache__")
    shutil.copytree(package, tmp_path / "spmcompat", ignore=ignored)
    for arguments in (
        ["-m", "spmcompat", "--help"],
        ["-m", "spmcompat", "train", "--input=a", "--model_prefix=m"],
        ["-m", "spmcompat", "evaluate", "m.model", "--text=a"],
        ["-c", "import spmcompat; spmcompat.train"],
    ):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stdout) == (1, "")
        last = done.stderr.splitlines()[-1]
        assert "not compiled. Leave this folder" in last
        assert len(done.stderr.splitlines()) == 1 or arguments[0] == "-c"


def test_spm_train_is_the_command_train() -> None:
    out, err = io.StringIO(), io.StringIO()
    assert train.main(["--help"], out, err) == 0
    assert out.getvalue() == run("train", "--help")[1]


def test_lists() -> None:
    line = ["m", "-o", "n", '--add=a,"b,c"', "--add", "d", "--remove=x", "--quiet"]
    edit = parse(find("edit"), line)
    assert (edit.add, edit.remove, edit.add_control) == (["a", "b,c", "d"], ["x"], [])
    assert (edit.arguments, edit.output, edit.quiet, edit.all) == (["m"], "n", True, False)
    compare = parse(find("compare"), ["--text=t", "-o", "n"])
    assert compare.vocab_size == [8000]
    assert compare.configs[0] == "unigram"
    assert compare.bootstrap is None
    evaluate = parse(find("evaluate"), ["m", "--text=t", "--text=u,v"])
    assert evaluate.text == ["u", "v"]
