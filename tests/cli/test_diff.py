"""``spmcompat diff``: its report, its JSON, its exit status, and its errors."""

import io
import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import COMMANDS, main
from spmcompat.cli.help import help_text
from spmcompat.cli.process import USAGE
from spmcompat.model.reading import parse
from spmcompat.tools.diff.command import DIFFERENT, EQUAL, command
from tests.kinds import assert_error
from tests.parity import corpora


def _main(*arguments: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    status = main(["diff", *arguments], out, err)
    return status, out.getvalue(), err.getvalue()


def _train(model: str, **options: str) -> None:
    written = io.BytesIO()
    spmcompat.train(
        input="t.txt",
        model_writer=written,
        vocab_size=400,
        minloglevel=2,
        **options,
    )
    Path(model).write_bytes(written.getvalue())


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a model, its copy, and a model with other normalization rules.

    The rules are few, because a comparison of two predefined sets takes more than a second.
    """
    folder = tmp_path_factory.mktemp("models")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("t.txt").write_text(corpora.mixed_text(3))
        Path("a.tsv").write_text("".join(f"{n:X}\t2E\n" for n in range(0x4E00, 0x4E40)))
        Path("b.tsv").write_text("".join(f"{n:X}\t{n + 32:X}\n" for n in range(0x41, 0x5B)))
        for name in ("a", "b"):
            _train(f"{name}.model", normalization_rule_tsv=f"{name}.tsv")
        Path("copy.model").write_bytes(Path("a.model").read_bytes())
    return folder


@pytest.fixture(autouse=True)
def _in_the_folder(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(models)


def test_equal_models_are_equal_byte_for_byte() -> None:
    status, out, err = _main("a.model", "copy.model")
    assert (status, err) == (EQUAL, "")
    assert out.splitlines()[-1] == "equal, byte for byte"


def test_the_report_explains_why_one_model_stores_more_fields() -> None:
    flags = "--input=t.txt --model_prefix=flags --vocab_size=400 --minloglevel=2"
    assert main(["train", *flags.split(), "--normalization_rule_tsv=a.tsv"]) == 0
    reason = "differ (the command line stores all options, Python only the given ones)"
    assert reason in _main("a.model", "flags.model")[1]
    assert reason not in _main("a.model", "b.model")[1]


def test_the_report_names_what_differs_and_is_short() -> None:
    status, out, _ = _main("a.model", "b.model")
    assert status == DIFFERENT
    assert "normalizer_spec.normalization_rule_tsv  'a.tsv'  'b.tsv'" in out
    assert re.search(r"^  41  +-  +61  +.A.$", out, re.MULTILINE)
    assert "pieces only in left" in out
    assert "units in the last place" in out
    assert "...and " in out
    assert len(out.splitlines()) < 100


def test_vocabularies_are_compared_without_space_marks() -> None:
    Path("affixes.txt").write_text("a-\n-b\n-zzz\n")
    texts, pieces = [], []
    for name in ("a", "b"):
        normal = [p.piece for p in parse(Path(f"{name}.model").read_bytes()).pieces if p.type == 1]
        pieces.append(len(normal))
        texts.append({piece.strip("▁") or piece for piece in normal})
    status, out, _ = _main("a.model", "b.model", "--affixes=affixes.txt", "--json")
    found = json.loads(out)["vocabularies"]
    assert status == DIFFERENT
    for side, number, own in zip(("left", "right"), pieces, texts, strict=True):
        assert found[side] == {
            "normal_pieces": number,
            "equal_without_spaces": number - len(own),
            "prefixes": "a" in own,
            "suffixes": "b" in own,
        }
    shared = len(texts[0] & texts[1])
    assert found["texts"] == {
        "shared": shared,
        "only_first": len(texts[0]) - shared,
        "only_second": len(texts[1]) - shared,
    }
    _, out, _ = _main("a.model", "b.model")
    rows = dict(re.findall(r"^  (texts in both models|other texts) +(.*)$", out, re.MULTILINE))
    assert rows["texts in both models"].split() == [str(shared), str(shared)]
    assert rows["other texts"].split() == [str(len(own) - shared) for own in texts]
    assert "prefixes" not in out
    status, out, _ = _main("a.model", "copy.model", "--affixes=affixes.txt")
    assert status == EQUAL
    assert "prefixes" in out
    assert _main("a.model", "copy.model", "--affixes=nowhere")[0] == USAGE


def test_all_leaves_nothing_out_of_the_report() -> None:
    status, out, _ = _main("--all", "a.model", "b.model")
    assert status == DIFFERENT
    assert "...and " not in out
    report = json.loads(_main("--json", "a.model", "b.model")[1])
    for piece in report["pieces"]["only_left"]:
        assert repr(piece["piece"]) in out


def test_columns_align_with_their_headings() -> None:
    lines = _main("a.model", "b.model")[1].splitlines()
    at = next(at for at, line in enumerate(lines) if line.startswith("scores:"))
    head, *rows = lines[at + 1 : at + 11]
    assert all(row[head.index("piece") :].startswith(("'", '"')) for row in rows)
    assert all(row[head.index("units") + 5 - 1].isdigit() for row in rows)


def test_json_holds_the_whole_comparison() -> None:
    status, out, _ = _main("--json", "a.model", "b.model")
    report = json.loads(out)
    assert (status, report["equal"], report["same_content"]) == (DIFFERENT, False, False)
    assert (report["left"], report["right"]) == ("a.model", "b.model")
    name = "normalizer_spec.normalization_rule_tsv"
    assert {"name": name, "left": "a.tsv", "right": "b.tsv"} in report["fields"]
    (charsmap,) = report["charsmaps"]
    assert {"source": "A", "left": None, "right": "a"} in charsmap["rules"]
    status, out, _ = _main("a.model", "--json", "copy.model")
    assert (status, json.loads(out)["equal"]) == (EQUAL, True)


@pytest.mark.slow
def test_rules_of_predefined_sets_are_compared() -> None:
    for name in ("nfkc", "nfkc_cf"):
        _train(f"{name}.model", normalization_rule_name=name)
    (charsmap,) = json.loads(_main("--json", "nfkc.model", "nfkc_cf.model")[1])["charsmaps"]
    assert {"source": "A", "left": None, "right": "a"} in charsmap["rules"]


def test_a_score_that_json_cannot_hold_is_text(models: Path) -> None:
    changed = parse((models / "a.model").read_bytes())
    changed.pieces[5].score = float("-inf")
    Path("inf.model").write_bytes(changed.SerializeToString())
    out = _main("--json", "a.model", "inf.model")[1]

    def refuse(name: str) -> None:
        pytest.fail(f"{name} is not JSON")

    (score,) = json.loads(out, parse_constant=refuse)["pieces"]["scores"]
    assert score["right"] == "-inf"


def test_models_of_equal_content_may_be_written_in_different_ways() -> None:
    model = Path("a.model").read_bytes()
    # A second, empty trainer_spec: protobuf merges it into the first one.
    Path("again.model").write_bytes(model + b"\x12\x00")
    status, out, _ = _main("a.model", "again.model")
    assert status == DIFFERENT
    assert "The content is the same. Only its serialization differs." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["a.model", "nowhere"], "cannot-read nowhere No such file or directory"),
        (["a.model", "."], "cannot-read tokenizer.json No such file or directory"),
        (["a.model", "x" * 300], "cannot-read File name too long"),
        (["a.model", "a\0b"], "impossible-path"),
        (["a.model", "\ud800"], "impossible-path"),
        (["a.model", "/dev/null"], "bad-model"),
        (["t.txt", "a.model"], "bad-model t.txt"),
        (["a.model"], "usage"),
        (["a.model", "b.model", "c.model"], "usage"),
        (["--jsn", "a.model", "b.model"], "usage --json"),
        (["--vocab_size=5", "a.model", "b.model"], "usage"),
    ],
)
def test_an_error_is_one_line(arguments: list[str], message: str) -> None:
    status, out, err = _main(*arguments)
    assert (status, out, err.count("\n")) == (USAGE, "", 1)
    assert err.startswith("spmcompat diff: ")
    assert_error(err, message)


def test_help_is_printed() -> None:
    assert _main("--help") == (EQUAL, help_text(command()), "")


def test_the_program_escapes_characters_and_bears_a_closed_pipe() -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": str(Path(spmcompat.__file__).parents[1]),
        "PYTHONIOENCODING": "ascii",
    }
    command = [sys.executable, "-m", "spmcompat", "diff", "--all", "a.model", "b.model"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (DIFFERENT, "")
    assert "\\u2581" in done.stdout
    # If the reader closes the pipe early, the program ends without a traceback.
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""


def test_spmcompat_lists_its_commands_and_its_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "a.model", "copy.model"]) == EQUAL
    assert main(["--help"]) == 0
    out = capsys.readouterr().out
    assert all(f"\n  {name}" in out for name in COMMANDS)
    assert main(["--version"]) == 0
    assert spmcompat.__version__ in capsys.readouterr().out
    for arguments in ([], ["difference"]):
        assert main(arguments) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)


@pytest.fixture(scope="module")
def tokenizers(models: Path) -> Path:
    """Return a folder with two tokenizers: one is trained with fewer merges."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(models)
        spmcompat.train_tokenizer(
            like="gpt2", input="t.txt", vocab_size=[300, 400], output="g.json", minloglevel=2
        )
    return models


def test_two_tokenizer_files(tokenizers: Path) -> None:
    found = spmcompat.diff("g-300.json", "g-400.json")
    assert not found.equal
    assert found.merges is not None
    assert (found.pieces.common, found.pieces.only_left, found.pieces.moved) == (300, [], [])
    assert [piece.id for piece in found.pieces.only_right] == [*range(300, 400)]
    assert (found.merges.first_id, found.merges.only_left) == (43, [])
    assert [merge.piece.replace(" ", "") for merge in found.merges.only_right] == [
        piece.piece for piece in found.pieces.only_right
    ]
    status, out, err = _main("g-300.json", "g-400.json")
    assert (status, err) == (DIFFERENT, "")
    assert "merges only in right: 100" in out


def test_other_values_of_a_tokenizer(tokenizers: Path) -> None:
    document = json.loads(Path("g-300.json").read_text())
    document["pre_tokenizer"]["add_prefix_space"] = True
    document["added_tokens"][0]["lstrip"] = True
    document["model"]["merges"][:2] = document["model"]["merges"][1::-1]
    Path("other.json").write_text(json.dumps(document))
    found = spmcompat.diff("g-300.json", "other.json")
    assert found.merges is not None
    assert found.fields == [("pre_tokenizer.add_prefix_space", False, True)]
    assert [(one.left, one.right) for one in found.pieces.stored] == [
        ("special", "lstrip, special")
    ]
    assert (found.pieces.only_right, found.merges.only_right) == ([], [])
    assert len(found.merges.moved) == 1
    assert not found.same_content
    document = json.loads(Path("g-300.json").read_text())
    Path("spaced.json").write_text(json.dumps(document, indent=3))
    assert spmcompat.diff("g-300.json", "spaced.json").same_content


def test_tokens_with_the_same_id(tokenizers: Path) -> None:
    document = json.loads(Path("g-300.json").read_text())
    document["model"]["vocab"]["twice"] = 299
    Path("twice.json").write_text(json.dumps(document))
    found = spmcompat.diff("g-300.json", "twice.json")
    assert [(piece.id, piece.piece) for piece in found.pieces.only_right] == [(299, "twice")]
    assert not found.pieces.only_left


def test_words_that_are_cut_differently(tokenizers: Path) -> None:
    library = pytest.importorskip("tokenizers")
    left, right = (library.Tokenizer.from_file(f"g-{size}.json") for size in (300, 400))
    words = Path("t.txt").read_text().split()
    changed = [
        word for word in words if left.encode(f" {word}").tokens != right.encode(f" {word}").tokens
    ]
    cuts = spmcompat.diff("g-300.json", "g-400.json", text="t.txt").cuts
    assert cuts is not None
    assert (cuts.words, cuts.changed) == (len(words), len(changed))
    assert {one.word: one.occurrences for one in cuts.changed_words} == Counter(changed)
    occurrences = [one.occurrences for one in cuts.changed_words]
    assert occurrences == sorted(occurrences, reverse=True)
    assert all(
        "".join(one.left) == "".join(one.right) == f" {one.word}" for one in cuts.changed_words
    )
    _, out, _ = _main("g-300.json", "g-400.json", "--text=t.txt", "--json")
    written = json.loads(out)["cuts"]
    assert written["changed"] == cuts.changed
    assert written["changed_words"] == [one._asdict() for one in cuts.changed_words]


def test_words_of_models() -> None:
    cuts = spmcompat.diff("a.model", "copy.model", text="t.txt").cuts
    assert cuts is not None
    assert (cuts.changed, cuts.changed_words) == (0, [])
    _, out, _ = _main("a.model", "b.model", "--text=t.txt")
    assert "words are cut differently" in out


def test_a_model_and_a_tokenizer_are_not_compared(tokenizers: Path) -> None:
    status, out, err = _main("a.model", "g-300.json")
    assert (status, out) == (USAGE, "")
    assert_error(err, "conflicting-options")


@pytest.mark.slow
def test_files_are_compared_with_a_commit(tokenizers: Path, tmp_path: Path) -> None:
    def git(*arguments: str) -> None:
        names = ["-c", "user.name=a", "-c", "user.email=a@b"]
        subprocess.run(["git", *names, *arguments], cwd=tmp_path, check=True, capture_output=True)

    file, new = tmp_path / "tokenizer.json", tmp_path / "new.json"
    git("init")
    file.write_bytes(Path("g-300.json").read_bytes())
    git("add", ".")
    git("commit", "-m", "a")
    file.write_bytes(Path("g-400.json").read_bytes())
    new.write_bytes(file.read_bytes())
    status, out, err = _main("--since=HEAD", str(file), str(new), "--text=t.txt")
    assert (status, err) == (EQUAL, "")
    assert "tokens only in right: 100" in out
    assert "words are cut differently" in out
    assert out.endswith("new.json: new since HEAD\n")
    status, out, err = _main("--since=nowhere", str(file))
    assert (status, out) == (USAGE, "")
    assert_error(err, "cannot-read")
    status, _, err = _main("--since=HEAD", "g-300.json")
    assert status == USAGE
    assert_error(err, "cannot-read")
