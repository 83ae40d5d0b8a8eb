"""The framework of exports: limits, files, verification, and the causes of differences."""

import io
import math
import os
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

import spmcompat
from spmcompat.errors import BadValueError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.libraries import require
from spmcompat.tools.export import targets
from spmcompat.tools.export.causes import (
    NORMALIZER,
    OTHER,
    SYMBOLS,
    TIE,
    UNKNOWN_PIECE,
    Reference,
    cause_of,
)
from spmcompat.tools.export.exporting import export, lines_of
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.limits import Limit
from spmcompat.tools.export.targets import Loaded
from spmcompat.tools.export.verifying import IF_POSSIBLE
from tests.kinds import raises_kind
from tests.unit.tools.export.models import changed, differences, train, trained


class Fake:
    """A target that writes the given files."""

    def __init__(self, written: dict[str, bytes], limits: Sequence[Limit] = ()) -> None:
        self.written = written
        self.known = list(limits)
        self.problem = ""

    def limits(self, model: ModelProto) -> list[Limit]:
        return self.known

    def files(self, model: ModelProto) -> dict[str, bytes]:
        return self.written

    def load(self, path: str) -> Loaded:
        if self.problem:
            require(self.problem, "the check", "formats")
        read = {
            name: Path(path, name).read_bytes() if name else Path(path).read_bytes()
            for name in self.written
        }
        assert read == self.written
        return Loaded(lambda lines: [[0] for _ in lines])


@pytest.fixture(scope="module")
def model() -> ModelProto:
    return trained("unigram", "identity", "plain")


def use(monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    monkeypatch.setattr("spmcompat.tools.export.exporting.target_of", lambda name: fake)


def test_limits_are_said_before_anything_is_written(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "out"
    said = []

    def warn(line: str) -> None:
        assert not output.exists()
        said.append(line)

    use(monkeypatch, Fake({"": b"x"}, [Limit("Not exact.", "Train with --a."), Limit("Nor that.")]))
    assert not export(model, "fake", str(output), None, warn).ok
    assert said == ["fake: Not exact. Train with --a.", "fake: Nor that."]
    assert output.read_bytes() == b"x"


def test_limits_are_not_said_if_the_output_is_refused(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Fake({"": b"x"}, [Limit("Not exact.", "Train with --a.")]))
    given = tmp_path / "m.model"
    given.write_bytes(b"")
    with raises_kind("would-overwrite"):
        export(model, "fake", str(given), None, pytest.fail, [str(given)])


def test_a_refusal_writes_nothing(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake({"": b"x"}, [Limit("It is a word model.", "Train so.", refuses=True), Limit("A.")])
    use(monkeypatch, fake)
    with raises_kind("cannot-export"):
        export(model, "fake", str(tmp_path / "out"), None, pytest.fail)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model.pieces.add(piece="</s>"), "cannot-export </s>"),
        (lambda model: setattr(model.pieces[9], "score", math.inf), "cannot-export"),
    ],
)
def test_pieces_that_no_target_can_express_are_refused(
    model: ModelProto, change: Callable[[ModelProto], object], words: str, tmp_path: Path
) -> None:
    refused = changed(model, change)
    with raises_kind(words):
        export(refused, "tokenizer.json", str(tmp_path / "out"), None, pytest.fail)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize("output", ["", "file"])
def test_a_folder_is_refused_before_the_export_if_it_cannot_be_one(
    model: ModelProto, output: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("file").write_text("text")
    with raises_kind(f"cannot-write {output} --output"):
        export(model, "hf-folder", output, None, pytest.fail)
    assert os.listdir() == ["file"]


def test_a_chat_template_of_an_earlier_export_is_not_left(
    model: ModelProto, tmp_path: Path
) -> None:
    (tmp_path / "hf").mkdir()
    (tmp_path / "hf/chat_template.jinja").write_text("{{ messages }}")
    with raises_kind("would-overwrite --chat_template"):
        export(model, "hf-folder", str(tmp_path / "hf"), None, print)
    assert [one.name for one in (tmp_path / "hf").iterdir()] == ["chat_template.jinja"]


def test_a_folder_is_written_whole_or_not_at_all(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Fake({"a": b"1", "b": b"2"}))
    export(model, "fake", str(tmp_path / "new" / "out"), ["x"], pytest.fail)
    assert sorted(os.listdir(tmp_path / "new" / "out")) == ["a", "b"]
    (tmp_path / "file").write_text("")
    with raises_kind("cannot-write --output"):
        export(model, "fake", str(tmp_path / "file"), None, pytest.fail)
    half = tmp_path / "half"
    (half / "b").mkdir(parents=True)
    with raises_kind("cannot-write --output"):
        export(model, "fake", str(half), None, pytest.fail)
    assert os.listdir(half) == ["b"]


def test_a_missing_library_is_said_and_the_files_are_written(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = Fake({"": b"x"})
    fake.problem = "nothing_of_that_name"
    use(monkeypatch, fake)
    with raises_kind("not-verified nothing_of_that_name"):
        export(model, "fake", str(tmp_path / "out"), ["a"], pytest.fail)
    assert not os.listdir(tmp_path)
    found = export(model, "fake", str(tmp_path / "out"), ["a"], pytest.fail, verifying=IF_POSSIBLE)
    assert not found.ok
    assert found.problem == (
        "not verified: the check needs nothing_of_that_name, which is not installed: pip install "
        "'spmcompat[formats]'."
    )
    assert (tmp_path / "out").exists()


def test_one_extra_installs_all_that_the_check_needs(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(monkeypatch, Fake({"": b"x"}))
    monkeypatch.setattr(
        "spmcompat.runtime.libraries.is_installed", lambda module: module != "sentencepiece"
    )
    found = export(model, "fake", str(tmp_path / "out"), ["a"], pytest.fail, verifying=IF_POSSIBLE)
    assert not found.ok
    assert found.problem.endswith("pip install 'spmcompat[formats]'.")


def test_every_target_has_the_functions() -> None:
    for name in targets.TARGETS:
        target = targets.target_of(name)
        assert callable(target.limits)
        assert callable(target.files)
        assert callable(target.load)
    with raises_kind("bad-value tokenizer.json", BadValueError):
        targets.target_of("none")


def test_lines_to_verify_with(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\r\n\n é\u2028b".encode())
    assert list(lines_of(str(path)) or []) == ["a\r", "", " é\u2028b"]
    assert lines_of(None) is None
    assert lines_of(["x"]) == ["x"]
    with raises_kind("cannot-read --text"):
        lines_of(str(tmp_path / "none"))
    path.write_bytes(b"\xff\n")
    with raises_kind("not-utf8 UTF-8", BadValueError):
        list(lines_of(str(path)) or [])


def test_built_in_lines_that_the_target_cannot_express_are_left_out(
    model: ModelProto, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(
        monkeypatch,
        Fake({"": b"x"}, [Limit("No marks."), Limit("No a.", inexpressible="a|\\A\\Z")]),
    )
    output = str(tmp_path / "out")
    found = export(model, "fake", output, None, lambda _: None)
    others = [line for line in hard_lines(model) if line and "a" not in line]
    assert found.lines == len(others) < len(hard_lines(model))
    assert export(model, "fake", output, ["a", ""], lambda _: None).lines == 2


def test_hard_lines_hold_the_symbols_of_the_model() -> None:
    lines = hard_lines(trained("bpe", "identity", "symbols"))
    for symbol in ("<mask>", "<ctl>", "¶", "<s>", "<unk>", "@@"):
        assert symbol in lines
    assert "" in lines
    assert len(lines) == len(set(lines))


def test_each_cause_is_named() -> None:
    def add(model: ModelProto) -> None:
        model.pieces.add(piece="ab", score=-9)

    learned = train("unigram", ["a b c d"] * 9, vocab_size=30, control_symbols="<c>")
    model = changed(learned, add)
    reference = Reference(model)
    ids = {piece.piece: index for index, piece in enumerate(model.pieces)}
    same = Loaded(lambda lines: [], reference.normalize)
    other_text = Loaded(lambda lines: [], lambda line: line.upper())

    def cause(line: str, actual: list[str], loaded: Loaded = same) -> str:
        (expected,) = reference.encode([line])
        return cause_of(reference, loaded, line, expected, [ids[piece] for piece in actual])

    assert cause("c d", ["c"], other_text) == NORMALIZER
    assert cause("c d", ["▁", "c", "▁"]) == NORMALIZER
    assert cause("c<c>", ["▁", "c", "<c>"]) == SYMBOLS
    assert cause("c é", ["▁", "c", "▁", "<unk>", "<unk>"]) == UNKNOWN_PIECE
    assert cause("ab", ["▁", "ab"]) == OTHER
    # Both segmentations of "abab" consist of the same pieces, so their scores are equal.
    one, other = [ids[text] for text in ("a", "b", "ab")], [ids[text] for text in ("ab", "a", "b")]
    assert cause_of(reference, same, "abab", one, other) == TIE


@pytest.mark.slow
def test_the_normalizer_is_not_blamed_for_a_removed_piece() -> None:
    """The normalizer of the export replaces an unknown character, which changes no token."""
    model = train("bpe", ["the cat sat"] * 9, vocab_size=40)
    merged = next(piece for piece in model.pieces if len(piece.piece) == 2)
    merged.type = ModelProto.SentencePiece.UNUSED
    found = differences(model, [f"{merged.piece} <", f"{merged.piece} < > <s"])
    assert found.different == 2
    assert NORMALIZER not in found.causes


def test_a_tie_may_leave_other_characters_unknown() -> None:
    model = train("unigram", ["a b c d"] * 9, vocab_size=30, user_defined_symbols="@@")
    reference = Reference(model)
    same = Loaded(lambda lines: [], reference.normalize)

    def cause(line: str, *pieces: str) -> str:
        (expected,) = reference.encode([line])
        actual = [model_id(model, piece) for piece in pieces]
        return cause_of(reference, same, line, expected, actual)

    assert reference.pieces(reference.encode(["@@@"])[0]) == ["▁", "<unk>", "@@"]
    assert cause("@@@", "▁", "@@", "<unk>") == TIE
    # Either the given pieces do not spell the line, or they leave more of it unknown than the
    # reference does.
    assert cause("@@@", "▁", "@@") == SYMBOLS
    assert cause("@@@", "@@", "<unk>") == SYMBOLS
    assert cause("@@@", "▁", "<unk>", "@@", "<unk>") == SYMBOLS
    assert cause("@@@", "▁", "<unk>") == SYMBOLS
    # The reference encodes consecutive unknown characters as one piece.
    assert reference.pieces(reference.encode(["x@@@"])[0]) == ["▁", "<unk>", "@@", "<unk>"]
    assert cause("x@@@", "▁", "<unk>", "@@") == TIE
    assert cause("x@@@", "▁", "<unk>", "<unk>", "@@") == SYMBOLS


def test_a_tie_of_bpe_needs_equal_scores() -> None:
    model = trained("bpe", "identity", "plain")
    reference = Reference(model)
    same = Loaded(lambda lines: [], reference.normalize)
    (expected,) = reference.encode(["the"])
    characters = [model_id(model, one) for one in "▁the"]
    assert cause_of(reference, same, "the", expected, characters) == OTHER


def model_id(model: ModelProto, text: str) -> int:
    return next(index for index, one in enumerate(model.pieces) if one.piece == text)


def test_the_functions_of_the_package(tmp_path: Path) -> None:
    pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    path, stream = tmp_path / "m.model", io.StringIO()
    path.write_bytes(trained("unigram", "identity", "plain").SerializeToString())
    output = tmp_path / "tokenizer.json"
    found = spmcompat.export(
        path, to="tokenizer.json", output=output, text=["The fox"], logstream=stream
    )
    assert (found.ok, found.lines, found.different, found.problem) == (True, 1, 0, "")
    assert "WARNING spmcompat: tokenizer.json: " in stream.getvalue()
    for options in ({"verify": "no"}, {"verify": "if_possible", "text": []}):
        none = spmcompat.export(
            path,
            to="tokenizer.json",
            output=output,
            logstream=stream,
            **options,  # type: ignore[arg-type]
        )
        assert (none.ok, none.lines, none.to_dict()["ok"]) == (False, 0, False)
        assert none.problem.startswith("not verified")
    spmcompat.import_model(output, output=tmp_path / "back.model", logstream=stream)
    assert (tmp_path / "back.model").stat().st_size > 1000
