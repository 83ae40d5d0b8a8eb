"""``spmcompat edit``: what it reads, writes, shows and refuses."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.pieces import UNUSED, pieces_of
from spmcompat.model.reading import read_model
from tests.kinds import assert_error, raises_kind
from tests.unit.tools.edit.models import by_text, processor, trained

pytestmark = pytest.mark.reference


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("m.model").write_bytes(trained("unigram").SerializeToString())
    Path("text.txt").write_text("the cat\nthe dog, other\nЖ\n\n", encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["edit", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


def refused(*arguments: str, status: int = 1) -> str:
    before = sorted(Path.cwd().iterdir())
    got, out, err = run("m.model", "--output=n.model", *arguments)
    assert (got, out) == (status, "")
    assert sorted(Path.cwd().iterdir()) == before, "a file was written"
    assert err.startswith("spmcompat edit: ")
    assert err.count("\n") == 1
    return err


def test_all_options_at_once() -> None:
    status, out, err = run(
        "m.model",
        "--output=n.model",
        '--add_control=<a>,"<b,c>"',
        "--add_user_defined=<d>",
        "--add=Ж,Щ",
        "--rename=<s>=<bos>",
        "--rename=</s>=<eos>",
        "--remove=▁the",
        "--set_score=Ж=-12.5",
    )
    assert (status, err) == (0, "")
    size = len(read_model("m.model").pieces)
    assert out.splitlines()[0] == f"n.model: {size + 5} pieces, {size} before"
    *ids, removed = [line.split() for line in out.splitlines()[2:]]
    added = [[str(size + i), text] for i, text in enumerate(["<a>", "<b,c>", "<d>", "Ж", "Щ"])]
    assert ids == [["1", "<bos>"], ["2", "<eos>"], *added]
    assert removed == ["removed:", "1", "piece:", "▁the"]
    new = read_model("n.model")
    assert by_text(new)["Ж"][1].score == -12.5
    assert by_text(new)["▁the"][1].type == UNUSED
    processor(new)


def test_the_vocab_file_is_written_beside() -> None:
    assert run("m.model", "--output=n.model", "--add_control=<a>")[0] == 0
    lines = Path("n.vocab").read_text(encoding="utf-8").splitlines()
    assert [line.split("\t")[0] for line in lines] == [
        piece.text for piece in pieces_of(read_model("n.model"))
    ]
    assert run("m.model", "--output=o", "--add_control=<a>")[0] == 0
    assert Path("o").read_bytes() == Path("n.model").read_bytes()
    assert sorted(path.name for path in Path.cwd().iterdir()) == [
        "m.model", "n.model", "n.vocab", "o", "text.txt",
    ]  # fmt: skip


def test_the_model_itself_can_be_replaced() -> None:
    assert run("m.model", "--output=m.model", "--add_control=<a>", "--quiet") == (0, "", "")
    assert "<a>" in by_text(read_model("m.model"))


def test_quiet_writes_nothing() -> None:
    flags = ("--text=text.txt", "--remove=▁the", "--quiet")
    assert run("m.model", "--output=n.model", *flags) == (0, "", "")


def test_the_report_names_words_and_tokens() -> None:
    status, out, _ = run("m.model", "--output=n.model", "--remove=▁the", "--text=text.txt")
    assert status == 0
    old, new = processor(read_model("m.model")), processor(read_model("n.model"))
    lines = ["the cat", "the dog, other", "Ж", ""]
    tokens = [sum(len(ids) for ids in one.encode(lines)) for one in (old, new)]
    _, removed, counts, words, _, *rows = out.splitlines()
    assert removed == "removed: 1 piece: ▁the"
    assert counts == (
        f"{tokens[0]} tokens before, {tokens[1]} after; 2 of 4 lines are cut differently"
    )
    assert words == "words that are cut differently: 1"
    assert [row.split() for row in rows] == [["2", "the", "▁the", *new.encode("the", out_type=str)]]


def test_unknown_words_that_become_known_are_reported() -> None:
    out = run("m.model", "--output=n.model", "--add=Ж", "--text=text.txt")[1]
    assert out.splitlines()[-1].split() == ["1", "Ж", "▁", "<unk>", "▁", "Ж"]
    flags = ("--rename=<unk>=[UNK]", "--text=text.txt")
    assert "differently: 0" in run("m.model", "--output=n.model", *flags)[1]


def test_long_reports_are_cut_unless_all_is_asked_for() -> None:
    words = [f"the{first}{second}" for first in "abcde" for second in "xyzqv"]
    Path("text.txt").write_text("\n".join(words), encoding="utf-8")
    flags = ("m.model", "--output=n.model", "--remove=▁the", "--text=text.txt")
    short, long = run(*flags)[1], run(*flags, "--all")[1]
    assert "...and 5 more; --all shows them" in short
    assert len(long.splitlines()) == 5 + 25


def test_pieces_that_contain_a_new_symbol_are_reported() -> None:
    flags = ("m.model", "--output=n.model", "--remove=in", "--add_user_defined=in")
    unreachable, covering = run(*flags)[1].splitlines()[-2:]
    reason, pieces = re.split(r" pieces?: ", unreachable)
    count = len(pieces.split())
    assert reason == f"never used any more, because they contain a new symbol: {count}"
    assert "▁in" in pieces.split()
    assert covering.startswith("used instead of a new symbol that they contain, unless you")
    assert "ing" in covering.split()


def test_dropped_samples_are_reported() -> None:
    model = trained("unigram", compat="0.2.0", self_test_sample_size=3)
    Path("m.model").write_bytes(model.SerializeToString())
    assert "dropped 3 self-test samples" in run("m.model", "--output=n.model", "--add=Ж")[1]


def test_a_piece_with_an_equals_sign_is_renamed() -> None:
    assert run("m.model", "--output=n.model", "--add_control=<q=b,<q,<r==", "--quiet")[0] == 0
    assert run("n.model", "--output=o.model", "--rename=<r===d=", "--quiet")[0] == 0
    assert "d=" in by_text(read_model("o.model"))
    status, _, err = run("n.model", "--output=o.model", "--rename=<q=b=x")
    assert status == 1
    assert_error(err, "bad-value --rename=<q=b=x <q b=x <q=b spmcompat.edit")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--remove=the",), "bad-edit ▁the"),
        (("--remove=<unk>",), "bad-edit"),
        (("--add=▁the",), "bad-edit ▁the"),
        (("--add=Ａ",), "bad-edit normalizer"),
        (("--rename=▁the=",), "bad-edit ▁the"),
        (("--rename=▁the=▁of",), "bad-edit ▁of"),
        (("--add=Ж", "--use_unused"), "bad-edit"),
        (("--add=Ж", "--text=none.txt"), "cannot-read none.txt --text No such file or directory"),
    ],
)
def test_mistakes_are_one_line_and_write_nothing(flags: tuple[str, ...], message: str) -> None:
    assert_error(refused(*flags), message)


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        ((), "bad-edit"),
        (("--use_unused",), "bad-edit"),
        (("--add=,Ж",), "bad-edit add"),
        (("--rename=▁the",), "usage --rename OLD=NEW ▁the"),
        (("--rename=▁the=▁x", "--rename=▁the=▁y"), "usage --rename ▁the"),
        (("--set_score=▁the",), "usage --set_score PIECE=SCORE ▁the"),
        (("--set_score=▁the=high",), "usage --set_score PIECE=SCORE"),
        (("--set_score=▁the=0",), "bad-edit"),
        (("--set_score=▁the=-3", "--set_score=▁the=-4"), "usage --set_score ▁the"),
        (("--add_control=\udcff",), "bad-edit UTF-8"),
    ],
)
def test_wrong_usage_is_one_line(flags: tuple[str, ...], message: str) -> None:
    assert_error(refused(*flags, status=2), message)


def test_files_that_cannot_be_read_or_written() -> None:
    status, _, err = run("none.model", "--output=n.model", "--add=Ж")
    assert status == 1
    assert_error(err, "cannot-read none.model No such file or directory")
    status, _, err = run("text.txt", "--output=n.model", "--add=Ж")
    assert status == 1
    assert_error(err, "bad-model text.txt")
    status, _, err = run("m.model", "--output=none/n.model", "--add=Ж")
    assert status == 1
    assert_error(err, "cannot-write none/n.model No such file or directory")


def test_output_is_needed() -> None:
    status, _, err = run("m.model", "--add=Ж")
    assert status == 2
    assert_error(err, "usage --output")


def test_spmcompat_has_the_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["edit", "m.model", "--output=n.model", "--add=Ж"]) == 0
    assert "n.model: " in capsys.readouterr().out


def test_python() -> None:
    result = spmcompat.edit(
        "m.model",
        output="n.model",
        add_control=["<a>"],
        add="Ж",
        rename={"<s>": "<bos>"},
        set_score={"▁the": -3},
        remove=(text for text in ["▁of"]),
        text="text.txt",
    )
    assert Path("n.model").read_bytes() == result.model
    assert result.size == result.old_size + 2
    assert set(result.ids) == {"<a>", "Ж", "<bos>", "▁the"}
    assert result.changes is not None
    assert result.changes.lines == 4
    assert spmcompat.edit(Path("m.model"), add="Ж").changes is None


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"add": [3]}, "wrong-type add"),
        ({"remove": 3}, "wrong-type"),
        ({"rename": {"a": 1}}, "wrong-type"),
        ({"rename": "a"}, "wrong-type"),
        ({"set_score": {"a": "b"}}, "wrong-type set_score"),
        ({"set_score": {"▁the": -(10**400)}}, "bad-edit ▁the 32-bit"),
        ({}, "bad-edit"),
    ],
)
def test_wrong_keywords(keywords: dict[str, object], message: str) -> None:
    with raises_kind(message):
        spmcompat.edit("m.model", **keywords)  # type: ignore[arg-type]
