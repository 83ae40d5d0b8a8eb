"""``spmcompat count`` and ``spmcompat counts``: their output, and what they refuse."""

from __future__ import annotations

import gzip
import io
import json
import random
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.cli import train
from tests.kinds import assert_error, raises_kind
from tests.processes import read_until, start_python

pytest.importorskip("pyarrow")

TEXT = "the cat sat on the mat\nthe dog sat on the log\n" * 50
OPTIONS = ("--vocab_size=35", "--hard_vocab_limit=false", "--minloglevel=2")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT, encoding="utf-8")
    Path("more.txt").write_text("another cat\n" * 30, encoding="utf-8")
    return tmp_path


def run_count(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["count", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


def run_counts(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["counts", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


def run_train(*arguments: str) -> int:
    return train.main((*arguments, *OPTIONS), io.StringIO(), io.StringIO())


def test_training_from_counts_writes_the_files_of_training_from_the_text() -> None:
    status, _, err = run_count("--input=text.txt,more.txt", "--output=c.counts")
    assert status == 0
    size = Path("c.counts").stat().st_size
    assert f"Saved c.counts: the counts of 130 sentences, {size:,} bytes" in err
    assert run_train("--counts=c.counts", "--model_prefix=m") == 0
    from_counts = [Path(f"m{end}").read_bytes() for end in (".model", ".vocab")]
    assert run_train("--input=text.txt,more.txt", "--model_prefix=m") == 0
    assert [Path(f"m{end}").read_bytes() for end in (".model", ".vocab")] == from_counts


def test_options_of_counting_are_those_of_training() -> None:
    flags = ("--user_defined_symbols=cat,<x>", "--max_sentence_length=100", "--bos_piece=<b>")
    assert run_count("--input=text.txt", "--output=c.counts", "--quiet", *flags)[0] == 0
    assert run_train("--counts=c.counts", "--model_prefix=m") == 0
    from_counts = Path("m.model").read_bytes()
    assert run_train("--input=text.txt", "--model_prefix=m", *flags) == 0
    assert Path("m.model").read_bytes() == from_counts


def test_files_of_symbols_are_stored_with_the_counts() -> None:
    Path("symbols.txt").write_text("cat\n<a,b>\n", encoding="utf-8")
    flags = ("--user_defined_symbols_file=symbols.txt",)
    assert run_count("--input=text.txt", "--output=c.counts", "--quiet", *flags)[0] == 0
    assert run_train("--input=text.txt", "--model_prefix=m", *flags) == 0
    from_text = Path("m.model").read_bytes()
    Path("symbols.txt").unlink()
    assert run_train("--counts=c.counts", "--model_prefix=m") == 0
    assert Path("m.model").read_bytes() == from_text


def test_quiet_writes_nothing() -> None:
    assert run_count("--input=text.txt", "--output=c.counts", "--quiet") == (0, "", "")


def test_merged_counts_are_those_of_the_texts_one_behind_the_other() -> None:
    for name in ("text", "more"):
        run_count(f"--input={name}.txt", f"--output={name}.counts", "--quiet")
    status, out, _ = run_counts("merge", "text.counts", "more.counts", "--output=both.counts")
    assert (status, out) == (0, "both.counts: the counts of 130 sentences\n")
    assert run_train("--counts=both.counts", "--model_prefix=m") == 0
    from_counts = Path("m.model").read_bytes()
    assert run_train("--input=text.txt,more.txt", "--model_prefix=m") == 0
    assert Path("m.model").read_bytes() == from_counts


def test_empty_counts_change_nothing_when_they_are_merged() -> None:
    Path("none.txt").write_text("")
    Path("blank.txt").write_text("\n  \n")
    Path("none.jsonl.gz").write_bytes(gzip.compress(b""))
    empty = {"none.txt": "n.counts", "blank.txt": "b.counts", "none.jsonl.gz": "j.counts"}
    for name, output in empty.items():
        status, _, err = run_count(f"--input={name}", f"--output={output}")
        assert (status, Path(output).exists()) == (1, False)
        assert_error(err, "empty-corpus --input")
        assert run_count(f"--input={name}", f"--output={output}", "--allow_empty")[0] == 0
        assert len(spmcompat.load_counts(output)) == spmcompat.load_counts(output).sentences == 0
    for name in ("text", "more"):
        flags = (f"--input={name}.txt", f"--output={name}.counts", "--quiet", "--allow_empty")
        assert run_count(*flags)[0] == 0
    full = ["text.counts", "more.counts"]
    mixed = ["n.counts", full[0], "j.counts", "b.counts", full[1], "n.counts"]
    for weights in ((), ("--weights=1.5,2",), ("--temperature=0",), ("--min_count=40",)):
        of_mixed = ("--weights=9,1.5,9,9,2,9",) if "--weights=1.5,2" in weights else weights
        assert run_counts("merge", *full, "--output=a.counts", *weights)[0] == 0
        assert run_counts("merge", *mixed, "--output=c.counts", *of_mixed)[0] == 0
        expected, found = spmcompat.load_counts("a.counts"), spmcompat.load_counts("c.counts")
        assert found.to_arrow().equals(expected.to_arrow())
        assert found.sentences == expected.sentences
        assert found.origin.first_character == expected.origin.first_character
    models = []
    for name in ("a", "c"):
        assert run_train(f"--counts={name}.counts", "--model_prefix=m") == 0
        models.append(Path("m.vocab").read_bytes())
    assert models[0] == models[1]


def test_empty_counts_alone() -> None:
    Path("none.txt").write_text("")
    assert run_count("--input=none.txt", "--output=n.counts", "--allow_empty", "--quiet")[0] == 0
    assert (
        run_counts("merge", "n.counts", "n.counts", "--output=m.counts", "--temperature=0.3")[0]
        == 0
    )
    status, out, _ = run_counts("show", "m.counts")
    assert (status, "rows" in out) == (0, True)
    for kind in ("unigram", "bpe", "word", "char"):
        err = io.StringIO()
        flags = ("--counts=m.counts", "--model_prefix=m", f"--model_type={kind}", *OPTIONS)
        assert train.main(flags, io.StringIO(), err) == 1
        assert_error(err.getvalue(), "empty-corpus")
        assert err.getvalue().count("\n") == 1
    empty = spmcompat.count(sentence_iterator=[], allow_empty=True, minloglevel=2)
    counts = spmcompat.count(sentence_iterator=["a b"], minloglevel=2)
    assert (empty + counts + empty).to_arrow().equals(counts.to_arrow())


def test_rows_of_counts_that_claim_to_be_empty_are_refused() -> None:
    import pyarrow.parquet as pq

    assert run_count("--input=text.txt", "--output=c.counts", "--quiet")[0] == 0
    table = pq.read_table("c.counts")
    metadata = pq.read_metadata("c.counts").metadata
    document = json.loads(metadata[b"spmcompat"]) | {"sentences": 0}
    changed = table.replace_schema_metadata({b"spmcompat": json.dumps(document)})
    pq.write_table(changed, "c.counts")
    for command in (
        lambda: run_counts("merge", "c.counts", "c.counts", "--output=m.counts")[2],
        lambda: run_counts("show", "c.counts")[2],
    ):
        assert "its metadata state that the text has no sentence" in command()


def test_show_names_the_options_and_the_changes() -> None:
    run_count("--input=text.txt", "--output=c.counts", "--quiet", "--normalization_rule_name=nfkc")
    merging = ("merge", "c.counts", "--output=d.counts", "--min_count=60", "--quiet")
    assert run_counts(*merging) == (0, "", "")
    status, out, _ = run_counts("show", "c.counts", "d.counts")
    assert status == 0
    first, second = out.split("\n\n")[0], out
    assert "sentences" in first
    assert f"{len(TEXT):,}" in next(line for line in first.splitlines() if "bytes read" in line)
    assert "▁the" in first
    assert "--normalization_rule_name  nfkc" in first
    assert "dropped pretokens with fewer than 60 occurrences, 33.1667% of the text" in second


def test_control_characters_of_files_do_not_reach_the_terminal() -> None:
    Path("text.txt").write_text("\x1b[2J\u202e a\n" * 3, encoding="utf-8")
    flags = ("--normalization_rule_name=identity", "--control_symbols=\x1b]0;x\x07")
    assert run_count("--input=text.txt", "--output=c.counts", "--quiet", *flags)[0] == 0
    status, out, _ = run_counts("show", "c.counts")
    assert status == 0
    assert r"▁\x1b[2J\u202e" in out
    assert r"\x1b]0;x\x07" in out
    assert out.replace("\n", "").isprintable()


def test_weights_and_temperature() -> None:
    for name in ("text", "more"):
        run_count(f"--input={name}.txt", f"--output={name}.counts", "--quiet")
    status, out, _ = run_counts(
        "merge", "text.counts", "more.counts", "--weights=0.5,2", "--output=w.counts"
    )
    assert status == 0
    assert "110 sentences" in out
    assert "merged with the weights 0.5, 2.0" in out
    status, out, _ = run_counts(
        "merge", "text.counts", "more.counts", "--temperature=0", "--output=t.counts"
    )
    assert (status, "130 sentences" in out) == (0, True)
    weighed = spmcompat.load_counts("t.counts").to_arrow().to_pylist()
    assert sum(r["count"] for r in weighed if r["pretoken"] == "▁another") == 65


def test_the_function_merges_as_the_command_does() -> None:
    for name in ("text", "more"):
        run_count(f"--input={name}.txt", f"--output={name}.counts", "--quiet")
    flags = ("--weights=0.5,2", "--min_count=3", "--output=w.counts")
    assert run_counts("merge", "text.counts", "more.counts", *flags)[0] == 0
    merged = spmcompat.merge_counts(
        [spmcompat.load_counts("text.counts"), Path("more.counts")],
        weights=[0.5, 2],
        min_count=3,
        output="p.counts",
        minloglevel=2,
    )
    assert merged.to_arrow() == spmcompat.load_counts("w.counts").to_arrow()
    assert merged.origin == spmcompat.load_counts("w.counts").origin


@pytest.mark.parametrize(
    ("counts", "options", "message"),
    [
        ([], {}, "bad-value"),
        ("text.counts", {"weights": [1, 2]}, "bad-value weights"),
        ([5], {}, "wrong-type"),
        (["text.counts"], {"temperature": 2}, "bad-value"),
        (["text.counts"], {"output": "text.counts"}, "would-overwrite text.counts"),
    ],
)
def test_a_bad_argument_of_merge_counts(
    counts: list[str], options: dict[str, Any], message: str
) -> None:
    run_count("--input=text.txt", "--output=text.counts", "--quiet")
    with raises_kind(message) as caught:
        spmcompat.merge_counts(counts, **{"output": "new.counts", **options})
    assert f"--{message}" not in str(caught.value)
    assert not Path("new.counts").exists()


@pytest.mark.parametrize(
    ("name", "kind"), [("c.counts", "wrong-format"), ("c.parquet", "bad-value")]
)
def test_counts_are_not_read_as_text(name: str, kind: str) -> None:
    run_count("--input=text.txt", f"--output={name}", "--quiet")
    stderr = io.StringIO()
    arguments = (f"--input={name}", "--model_prefix=m", *OPTIONS)
    assert train.main(arguments, io.StringIO(), stderr) == 1
    assert_error(stderr.getvalue(), f"{kind} {name} --counts --input")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--output=c.counts",), "usage --input"),
        (("--input=text.txt",), "usage --output"),
        (("--input=text.txt", "--output=c", "--vocab_size=5"), "usage"),
        (("--input=text.txt", "--output=c", "what"), "usage what"),
        (("--input=text.txt", "--output=c", "--max_sentence_length=x"), "bad-value"),
    ],
)
def test_usage_errors_of_count(arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run_count(*arguments)
    assert status == 2
    assert_error(err, message)
    assert err.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("--input=none.txt", "--output=c.counts"),
            "cannot-read none.txt No such file or directory",
        ),
        (("--input=text.txt", "--output=none/c.counts"), "cannot-write none/c.counts"),
        (("--input=text.txt", "--output=c", "--split_by_whitespace=false"), "needs-sentences"),
    ],
)
def test_failures_of_count(arguments: tuple[str, ...], message: str) -> None:
    status, _, err = run_count(*arguments)
    assert status == 1
    assert_error(err, message)
    assert sorted(path.name for path in Path().iterdir()) == ["more.txt", "text.txt"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--weights=1",), "usage --weights"),
        (("--weights=1,x",), "usage --weights"),
        (("--weights=1,-1",), "usage --weights"),
        (("--temperature=2",), "usage --temperature"),
        (("--temperature=0", "--weights=1,1"), "usage --weights --temperature"),
        (("--min_count=0",), "usage --min_count"),
        (("--min_count=x",), "usage --min_count"),
    ],
)
def test_usage_errors_of_merge(arguments: tuple[str, ...], message: str) -> None:
    for name in ("text", "more"):
        run_count(f"--input={name}.txt", f"--output={name}.counts", "--quiet")
    status, _, err = run_counts(
        "merge", "text.counts", "more.counts", "--output=w.counts", *arguments
    )
    assert (status, err.count("\n")) == (2, 1)
    assert_error(err, message)
    assert err.count("\n") == 1
    assert not Path("w.counts").exists()


@pytest.mark.slow
@pytest.mark.parametrize("command", ["count", "merge"])
def test_ctrl_c_leaves_no_file(folder: Path, command: str) -> None:
    text = folder / "big.txt"
    dice = random.Random(1)
    text.write_text("".join(f"w{dice.randrange(10**6)} the\n" for _ in range(300_000)))
    arguments = ["count", f"--input={text}", "--output=c.counts"]
    if command == "merge":
        assert run_count(*arguments[1:], "--quiet")[0] == 0
        arguments = ["counts", "merge", *["c.counts"] * 40, "--output=d.counts"]
    with start_python(["-m", "spmcompat", *arguments], folder, stderr=subprocess.PIPE) as process:
        read_until(process.stderr, b"Reading" if command == "count" else b"Merging")
        process.send_signal(signal.SIGINT)
        assert process.stderr is not None
        rest = process.stderr.read()
    assert process.returncode == 130
    assert b"interrupted; no file was written." in rest.splitlines()[-1]
    left = {"big.txt", "more.txt", "text.txt"} | ({"c.counts"} if command == "merge" else set())
    assert {path.name for path in folder.iterdir()} == left


def test_help_lists_the_flags_of_counting() -> None:
    status, out, _ = run_count("--help")
    assert status == 0
    assert "--max_sentence_length" in out
    assert "--vocab_size " not in out


def test_counts_of_records_train_as_those_of_lines() -> None:
    lines = TEXT.splitlines()
    records = "".join(f"{json.dumps({'body': line})}\n" for line in lines)
    Path("text.jsonl.gz").write_bytes(gzip.compress(records.encode() + b"{\nnull\n"))
    flags = ("--input_format=jsonl", "--input_column=body", "--skip_bad_records", "--quiet")
    assert run_count("--input=*.jsonl.gz", "--output=c.counts", *flags)[0] == 0
    assert run_train("--counts=c.counts", "--model_prefix=m") == 0
    from_counts = Path("m.vocab").read_bytes()
    assert run_train("--input=text.txt", "--model_prefix=m") == 0
    assert Path("m.vocab").read_bytes() == from_counts
    status, out, _ = run_counts("show", "c.counts")
    assert status == 0
    shown = {line.split()[0]: line.split()[-1] for line in out.splitlines()[1:]}
    assert shown["--input"] == "*.jsonl.gz"
    assert shown["--input_column"] == "body"
    assert "--input_format" not in shown
    assert "skipped, null" in out
    assert "skipped, broken" in out
    # Counts of texts from different file formats can be merged.
    assert run_count("--input=more.txt", "--output=d.counts", "--quiet")[0] == 0
    merged = run_counts("merge", "c.counts", "d.counts", "--output=e.counts", "--quiet")
    assert merged[0] == 0, merged
    assert run_train("--counts=e.counts", "--model_prefix=m") == 0
    from_counts = Path("m.vocab").read_bytes()
    assert run_train("--input=text.txt,more.txt", "--model_prefix=m") == 0
    assert Path("m.vocab").read_bytes() == from_counts


def test_errors_of_input_write_no_counts() -> None:
    Path("a.txt").write_bytes(gzip.compress(TEXT.encode()))
    status, _, err = run_count("--input=a.txt", "--output=c.counts")
    assert status == 1
    assert_error(err, "wrong-format a.txt.gz")
    assert not Path("c.counts").exists()


@pytest.mark.parametrize(
    ("counting", "training"),
    [
        ("--byte_fallback", "--unk_id=-1"),
        ("--byte_fallback", "--auto_character_coverage --use_sparse_pruning"),
        ("--pad_id=0 --unk_id=1 --bos_id=2 --eos_id=3", "--bos_id=0 --pad_id=2"),
        ("--user_defined_symbols_file=symbols", "--user_defined_symbols_file=symbols"),
    ],
)
def test_flags_that_are_right_because_of_options_of_the_counts(
    counting: str, training: str
) -> None:
    Path("symbols").write_text("cat\n")
    assert run_count("--input=text.txt", "--output=c.counts", *counting.split())[0] == 0
    for counts in ("--counts=c.counts", "--language_counts=c.counts,c.counts --model_type=bpe"):
        if "sparse" in training and "bpe" in counts:
            continue
        arguments = f"{counts} {training} --vocab_size=400 --hard_vocab_limit=false --minloglevel=2"
        err = io.StringIO()
        status = train.main([*arguments.split(), "--model_prefix=m"], io.StringIO(), err)
        assert (status, err.getvalue()) == (0, "")


def test_values_are_read_as_by_the_release_of_the_counts() -> None:
    assert run_count("--input=text.txt", "--output=c.counts", "--compat=0.2.0")[0] == 0
    arguments = ("--counts=c.counts", "--model_prefix=m", "--vocab_size=35x")
    options = ("--hard_vocab_limit=false", "--minloglevel=2")
    assert train.main((*arguments, *options), io.StringIO(), io.StringIO()) == 0
    err = io.StringIO()
    assert train.main((*arguments, "--compat=0.2.3"), io.StringIO(), err) == 2
    assert_error(err.getvalue(), "bad-value")
    status = train.main((*arguments[:2], "--vocab_size=0"), io.StringIO(), io.StringIO())
    assert status == 2
