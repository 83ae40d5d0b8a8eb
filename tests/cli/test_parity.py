"""``spmcompat parity`` and its pytest fixture, which compare our models with the real library's."""

import bz2
import gzip
import importlib.metadata
import io
import json
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.cli.help import help_text
from spmcompat.cli.process import FAILURE, INTERRUPTED, USAGE
from spmcompat.releases import DEFAULT
from spmcompat.runtime.measure import Process
from spmcompat.tools.parity import check
from spmcompat.tools.parity.command import DIFFERENT, EQUAL, command
from tests.kinds import assert_error, raises_kind
from tests.parity import corpora

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.reference

SMALL = ("--vocab_size=60", "--hard_vocab_limit=false", "--num_threads=2")
INSTALLED = importlib.metadata.version("sentencepiece")


def _main(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main(["parity", *arguments], out, err)
    return status, out.getvalue(), err.getvalue()


@pytest.fixture(autouse=True)
def _in_a_folder_with_text(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.txt").write_text(corpora.words_text(seed=5, lines=300, types=60))


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ["--input=t.txt"],
        ["--input", "t.txt", "--model_type=bpe", "--nosplit_by_number", "--byte_fallback"],
        ["--input=t.txt", "--model_type=char", "--workers=1", "--quiet", "--random_seed=3"],
        ['--input=t.txt,"with, comma.txt"', "--model_type=word", "--model_prefix=/no/such/m"],
        ["--input=t.txt", "--control_symbols=<a>", "--control_symbols_file=c", "--unk_surface="],
        ["--input=t.txt", "--normalization_rule_tsv=r.tsv", "--required_chars_file=c"],
    ],
    ids=str,
)
def test_equal_bytes_are_reported_and_no_file_is_left_behind(flags: list[str]) -> None:
    Path("with, comma.txt").write_text("some more words\n")
    Path("c").write_text("ß\nø\n")
    Path("r.tsv").write_text("41\t42\n")
    size = () if "--byte_fallback" in flags else SMALL
    status, out, err = _main(*flags, *size, *(["--vocab_size=330"] if not size else []))
    assert (status, out.splitlines()[-1]) == (EQUAL, "equal, byte for byte")
    assert f"sentencepiece {INSTALLED}  spmcompat {spmcompat.__version__}" in out
    assert "Traceback" not in err
    assert sorted(path.name for path in Path().iterdir()) == [
        "c",
        "r.tsv",
        "t.txt",
        "with, comma.txt",
    ]


def test_a_difference_is_reported() -> None:
    # The reference draws a different sample in each process.
    status, out, _ = _main("--input=t.txt", "--input_sentence_size=101", *SMALL)
    assert status == DIFFERENT
    assert "draws another sample in every process" in out
    assert "\nDIFFERENT\n" in out
    assert "id in sentencepiece  id in spmcompat" in out
    assert "\n.vocab: line " in out


def test_a_failure_of_one_side_is_a_difference() -> None:
    status, out, _ = _main("--input=t.txt", "--seed_sentencepieces_file=nowhere", *SMALL)
    assert status == DIFFERENT
    assert "\nDIFFERENT\n  spmcompat: spm_train: " in out


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "reason"),
    [
        (["--vocab_size=99999"], "Vocabulary size too high (99999)"),
        (["--user_defined_symbols=<unk>"], "<unk> must not be defined"),
        (["--normalization_rule_name=none"], "No precompiled charsmap is found: none"),
    ],
)
def test_two_failures_are_reported_with_their_reasons(flags: list[str], reason: str) -> None:
    status, out, _ = _main("--input=t.txt", *flags)
    assert status == DIFFERENT
    result = out.splitlines()[-3:]
    assert result[0].startswith("both fail")
    assert result[1].startswith("  sentencepiece: RuntimeError: ")
    assert result[2].startswith("  spmcompat: spm_train: ")
    assert reason in result[2]


@pytest.mark.slow
def test_json_holds_both_sides() -> None:
    status, out, _ = _main("--input=t.txt", *SMALL, "--json")
    report = json.loads(out)
    assert (status, report["equal"], report["both_fail"], report["compat"]) == (
        0,
        True,
        False,
        INSTALLED,
    )
    assert report["difference"]["equal"]
    for name in ("reference", "ours"):
        assert report[name]["seconds"] > 0
        assert report[name]["peak_kib"] > 1000
        assert report[name]["model_bytes"] == report["difference"]["left_bytes"]
    status, out, _ = _main("--input=t.txt", "--vocab_size=99999", "--json")
    report = json.loads(out)
    assert (status, report["equal"], report["both_fail"], report["difference"]) == (
        1,
        False,
        True,
        None,
    )


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ([], "usage --input"),
        (["--input=t.txt", "junk"], "usage junk"),
        (["--inptu=t.txt"], "usage --input"),
        (["--input=t.txt", "--use_sparse_pruning"], "not-comparable --use_sparse_pruning"),
        (["--input=t.txt", "--counts=c"], "not-comparable"),
        (["--input=t.txt", "--input_format=jsonl"], "not-comparable input_format=jsonl"),
        (["--input=t.txt", "--recipe=paper"], "not-comparable"),
        (["--input=t.txt", "--split_lines"], "not-comparable split_lines"),
        (["--input=t.txt", "--vocab_size=80,90"], "not-comparable vocab_size"),
        (["--input=t.txt", "--compat=0.1.99"], "bad-value compat"),
    ],
)
def test_an_error_is_one_line(flags: list[str], message: str) -> None:
    status, out, err = _main(*flags)
    assert (status, out, err.count("\n")) == (USAGE, "", 1)
    assert err.startswith("spmcompat parity: ")
    assert_error(err, message)


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("nowhere.txt", "cannot-read nowhere.txt No such file or directory"),
        ("t.txt,nowhere.txt", "cannot-read nowhere.txt No such file or directory"),
        (".", "cannot-read"),
    ],
)
def test_an_input_that_cannot_be_read_is_an_error(path: str, reason: str) -> None:
    status, out, err = _main(f"--input={path}", *SMALL)
    assert (status, out, err.count("\n")) == (FAILURE, "", 1)
    assert_error(err, f"{reason} --input")


@pytest.mark.parametrize(
    ("name", "data", "found"),
    [
        ("t.txt.gz", gzip.compress(b"a text"), "wrong-format t.txt.gz"),
        ("t.jsonl", b'{"text": "a text"}', "wrong-format t.jsonl"),
        ("t.txt", "a text".encode("utf-16"), "wrong-format UTF-16"),
        ("t.txt", bz2.compress(b"a text"), "wrong-format bzip2"),
        ("t.parquet", b"PAR1\x15", "wrong-format t.parquet"),
    ],
    ids=["gzip", "jsonl", "utf-16", "bzip2", "parquet"],  # gzip data contains the time
)
def test_a_file_that_sentencepiece_cannot_read_is_refused_before_training(
    name: str, data: bytes, found: str
) -> None:
    Path(name).write_bytes(data)
    status, out, err = _main(f"--input={name}", *SMALL)
    assert (status, out, err.count("\n")) == (FAILURE, "", 1)
    assert_error(err, found)
    with raises_kind(found):
        spmcompat.parity(input=name, vocab_size=60)


@pytest.mark.parametrize("sentences", [[["a b"]], ["a b", None], [1]], ids=str)
def test_sentences_that_sentencepiece_cannot_read_are_refused(sentences: list[object]) -> None:
    with raises_kind("not-comparable sentence_iterator"):
        spmcompat.parity(sentence_iterator=sentences, vocab_size=10)  # type: ignore[arg-type]


def test_arrow_data_are_refused_because_the_reference_takes_none() -> None:
    pa = pytest.importorskip("pyarrow")
    for data in (pa.table({"text": ["a b"]}), pa.array(["a b"])):
        with raises_kind("not-comparable sentence_iterator"):
            spmcompat.parity(sentence_iterator=data, vocab_size=10)


def test_help_is_printed() -> None:
    assert _main("--help") == (EQUAL, help_text(command()), "")


def test_the_error_says_how_to_install_the_reference(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", missing)
    status, _, err = _main("--input=t.txt")
    assert status == FAILURE
    assert_error(err, "missing-library spmcompat[parity]")


def test_an_unknown_release_is_compared_as_the_newest_known_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(check, "installed", lambda: "99.0.0")
    status, out, _ = _main("--input=t.txt", *SMALL)
    assert status == EQUAL
    assert "sentencepiece 99.0.0  spmcompat" in out
    assert (
        "sentencepiece 99.0.0 is installed, which this spmcompat does not know; "
        f"spmcompat trains as {DEFAULT.version}."
    ) in out


def test_ctrl_c_ends_the_command_with_a_status_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> Process:
        raise KeyboardInterrupt

    monkeypatch.setattr(check, "run", interrupted)
    status, out, err = _main("--input=t.txt")
    assert (status, out) == (INTERRUPTED, "")
    assert err.endswith("interrupted; no file was written.\n")


# ---------------------------------------------------------------- the pytest fixture

USES = """
def test_equal(spmcompat_parity):
    found = spmcompat_parity(input="t.txt", vocab_size=60, hard_vocab_limit=False)
    assert found.ours.model

def test_iterator(spmcompat_parity):
    lines = (f"{number} words" for number in range(100))
    spmcompat_parity(sentence_iterator=lines, vocab_size=25, model_type="bpe")

def test_different(spmcompat_parity):
    spmcompat_parity(input="t.txt", vocab_size=60, input_sentence_size=101, hard_vocab_limit=False)

def test_both_fail(spmcompat_parity):
    spmcompat_parity(input="t.txt", vocab_size=99999)

def test_one_fails(spmcompat_parity):
    spmcompat_parity(input="t.txt", vocab_size=60, seed_sentencepieces_file="nowhere",
                     hard_vocab_limit=False)

def test_no_input(spmcompat_parity):
    spmcompat_parity(input="nowhere.txt", vocab_size=60)

def test_objects(spmcompat_parity):
    spmcompat_parity(input="t.txt", vocab_size=60, normalizer=object())
"""


@pytest.mark.slow
def test_the_pytest_fixture_fails_a_test_unless_the_bytes_are_equal(
    pytester: pytest.Pytester,
) -> None:
    text = corpora.words_text(seed=5, lines=300, types=60)
    pytester.makefile(".txt", t=text)
    pytester.makepyfile(USES)
    result = pytester.runpytest("-p", "spmcompat.tools.parity.pytest_plugin", "-rf")
    result.assert_outcomes(passed=2, failed=5)
    result.stdout.fnmatch_lines_random(
        [
            "*spmcompat and sentencepiece wrote different files:",
            "*pieces only in spmcompat: *",
            "*both fail*",
            "*spmcompat and sentencepiece failed to train:",
            "*Failed: spmcompat failed to train:",
            '*nowhere.txt": No such file or directory. Check input.',
            "*Vocabulary size too high (99999)*",
            "*normalizer cannot be sent to two processes. Leave it out.",
        ]
    )
    assert "check.py" not in result.stdout.str()
