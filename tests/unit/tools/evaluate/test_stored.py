"""Evaluation on stored counts gives the same figures as evaluation on the text."""

from __future__ import annotations

import io
import itertools
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentencepiece import SentencePieceProcessor

import spmcompat
from spmcompat.errors import BadValueError, TrainingError
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.stored_counts.table import CountTable, load_counts
from spmcompat.tools.evaluate.evaluation import evaluate
from spmcompat.tools.evaluate.gold import GoldWord
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.stored import CountsEvaluation, evaluate_counts
from tests.kinds import raises_kind

from .conftest import Train

TYPES = ("unigram", "bpe", "word", "char")
# The figures that both a text and its counts determine.
SHARED = (
    "pieces",
    "tokens",
    "unknown_rate",
    "byte_piece_rate",
    "renyi_efficiency",
    "renyi_efficiency_observed",
    "unused_pieces",
    "drops_spaces",
)
# Characters and a script that the models do not know, and unusual spaces.
STRANGE = "new wörds  and   spaces \n\n漢字 12.5%\n Ａｂｃ x\n漢\n漢 漢 字\n"


@pytest.fixture(scope="module")
def held_out(text: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("held-out") / "text.txt"
    path.write_text(text.read_text(encoding="utf-8")[:20_000] + STRANGE, encoding="utf-8")
    return path


def count(path: Path, **options: object) -> CountTable:
    return spmcompat.count(input=path, minloglevel=2, max_sentence_length=1 << 20, **options)


def of_counts(
    model: Path, table: CountTable, *, drop_spaces: bool = False
) -> tuple[CountsEvaluation, str]:
    """Evaluate a model on a table of counts; return its figures and the messages."""
    messages = io.StringIO()
    workers, report = Workers(2), Report(1, messages)
    loaded = load_model(str(model), workers)
    (result,) = evaluate_counts([loaded], table, [], workers, report, drop_spaces=drop_spaces)
    return result, messages.getvalue()


def of_text(model: Path, path: Path, pretokenizer: str | None = None, **options: bool) -> object:
    loaded = load_model(str(model), Workers(1), pretokenizer)
    (result,) = evaluate([loaded], [str(path)], [], Report(3), **options)
    return result


def shared(result: object) -> dict[str, object]:
    return {name: getattr(result, name) for name in SHARED}


def read(model: Path) -> ModelProto:
    return ModelProto.FromString(model.read_bytes())


@pytest.mark.slow
@pytest.mark.parametrize("byte_fallback", [False, True])
@pytest.mark.parametrize("model_type", ["unigram", "bpe", "char"])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"treat_whitespace_as_suffix": True},
        {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
        {"add_dummy_prefix": False, "normalization_rule_name": "identity"},
    ],
)
def test_the_figures_of_counts_are_those_of_the_text(
    train: Train,
    held_out: Path,
    model_type: str,
    byte_fallback: bool,
    options: dict[str, object],
) -> None:
    size = {"vocab_size": 400, "byte_fallback": byte_fallback}
    model = train("m", model_type=model_type, **size, **options)
    result, messages = of_counts(model, count(held_out, **options))
    assert shared(result) == shared(of_text(model, held_out))
    assert (result.left_out, messages) == (0, "")


@pytest.mark.parametrize("model_type", TYPES)
def test_tokens_are_those_of_each_pretoken_alone(
    train: Train, held_out: Path, model_type: str
) -> None:
    model = train("m", model_type=model_type)
    encoder = SentencePieceProcessor(model_file=str(model))
    plain = read(model)
    plain.normalizer_spec.Clear()
    plain.normalizer_spec.name = "identity"
    plain.normalizer_spec.add_dummy_prefix = False
    plain.normalizer_spec.remove_extra_whitespaces = False
    alone = SentencePieceProcessor(model_proto=plain.SerializeToString())
    uses: Counter[int] = Counter()
    characters = utf8 = pretokens = 0
    for line in held_out.read_text(encoding="utf-8").split("\n"):
        for word in encoder.normalize(line).replace("▁", " ▁").split():
            uses.update(alone.encode(word))
            pretokens += 1
            characters += len(word)
            utf8 += len(word.replace("▁", "_").encode())
    result, _ = of_counts(model, count(held_out))
    tokens = sum(uses.values())
    assert (result.tokens, result.pretokens) == (tokens, pretokens)
    assert result.unknown_rate == uses[0] / tokens
    assert result.tokens_per_pretoken == tokens / pretokens
    assert result.normalized_characters_per_token == characters / tokens
    assert result.normalized_bytes_per_token == utf8 / tokens
    assert shared(result) == shared(of_text(model, held_out, "space"))


def test_unknown_words_that_are_neighbours_are_reported(train: Train, held_out: Path) -> None:
    model = train("m", model_type="word")
    result, messages = of_counts(model, count(held_out))
    encoded = SentencePieceProcessor(model_file=str(model)).encode(
        held_out.read_text(encoding="utf-8").split("\n")
    )
    joined = sum(map(len, encoded))
    assert result.tokens > joined
    assert "unknown words are separate tokens" in messages
    known = Counter(token for line in encoded for token in line if token != 0)
    assert result.tokens - round(result.unknown_rate * result.tokens) == sum(known.values())


def test_float32_can_decide_by_the_text_before_a_pretoken(train: Train, tmp_path: Path) -> None:
    """``ab`` + ``c`` is slightly better than ``a`` + ``bc``, but rounds to a tie in a long line."""
    model = read(train("m"))
    del model.pieces[3:]
    scores = {"▁": -1.0, "x": -1.1, "a": -1.0, "bc": -3.0, "ab": -3.0, "c": -0.999999}
    for piece, score in scores.items():
        model.pieces.add(piece=piece, score=score)
    path = tmp_path / "tie.model"
    path.write_bytes(model.SerializeToString())
    encoder = SentencePieceProcessor(model_file=str(path))
    assert encoder.encode("abc", out_type=str) == ["▁", "ab", "c"]
    lines = ["x " * length + "abc" for length in range(300)]
    ends = Counter(tuple(encoder.encode(line, out_type=str)[-2:]) for line in lines)
    assert set(ends) == {("a", "bc"), ("ab", "c")}
    text = tmp_path / "text.txt"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    result, _ = of_counts(path, count(text))
    assert shared(result) == shared(of_text(path, text, "space"))
    assert shared(result) != shared(of_text(path, text))
    assert result.tokens == sum(map(len, encoder.encode(lines)))


def test_a_file_and_its_workers_change_nothing(
    train: Train, held_out: Path, tmp_path: Path
) -> None:
    model = train("m", model_type="bpe")
    table = count(held_out)
    table.save(tmp_path / "a.counts")
    in_memory, _ = of_counts(model, table)
    stored, _ = of_counts(model, load_counts(tmp_path / "a.counts"))
    assert stored == in_memory


def test_spaces_are_dropped_and_gold_words_are_cut(train: Train, held_out: Path) -> None:
    model = train("m", model_type="char")
    result, _ = of_counts(model, count(held_out), drop_spaces=True)
    assert shared(result) == shared(of_text(model, held_out, drop_spaces=True))
    gold = GoldList("g", (GoldWord("cats", frozenset({3})),), "")
    workers = Workers(1)
    loaded = load_model(str(model), workers)
    (scored,) = evaluate_counts([loaded], count(held_out), [gold], workers, Report(3))
    assert scored.gold["g"].recall == 1
    assert scored.flat()["gold_recall"] == 1


def test_text_of_meta_pieces_is_left_out(train: Train, tmp_path: Path) -> None:
    model = train("m", model_type="bpe")
    path, rest = tmp_path / "text.txt", tmp_path / "rest.txt"
    path.write_text("one <s>two three\nthree a<unk>\n", encoding="utf-8")
    rest.write_text("one three\nthree\n", encoding="utf-8")
    result, messages = of_counts(model, count(path))
    assert (result.left_out, result.pretokens) == (2, 5)
    assert "do not include 2 of 5 pretokens" in messages
    assert result.tokens == of_counts(model, count(rest))[0].tokens
    # If counting does not define <s> and <unk> as meta pieces, no pretoken is left out.
    others = {"unk_piece": "<?>", "bos_id": -1, "eos_id": -1}
    complete, messages = of_counts(model, count(path, **others))
    assert shared(complete) == shared(of_text(model, path))
    assert messages == ""


def test_skipped_lines_and_changes_are_reported(train: Train, tmp_path: Path) -> None:
    model = train("m", model_type="bpe")
    path = tmp_path / "text.txt"
    path.write_text("one\n" + "two " * 50 + "\n▅\n", encoding="utf-8")
    table = spmcompat.count(input=path, minloglevel=3, max_sentence_length=100)
    _, messages = of_counts(model, table)
    assert "do not contain 2 lines" in messages
    changed = CountTable(table.origin._replace(changes=("dropped",)), table.to_arrow())
    assert "changed after counting: dropped" in of_counts(model, changed)[1]


@pytest.mark.parametrize(
    ("of_model", "counting", "message"),
    [
        ({}, {"add_dummy_prefix": False}, "counts-mismatch add_dummy_prefix"),
        (
            {},
            {"remove_extra_whitespaces": False},
            "counts-mismatch --remove_extra_whitespaces=true",
        ),
        ({}, {"treat_whitespace_as_suffix": True}, "counts-mismatch treat_whitespace_as_suffix"),
        ({}, {"normalization_rule_name": "nfkc"}, "counts-mismatch"),
        ({}, {"space_pieces": "separate"}, "counts-mismatch space_pieces"),
        ({}, {"pretokenizer": "script"}, "counts-mismatch pretokenizer"),
        ({}, {"pretokenization_delimiter": "||"}, "counts-mismatch pretokenization_delimiter"),
        ({"user_defined_symbols": ["and"]}, {}, "counts-mismatch"),
        ({"user_defined_symbols": ["a b"]}, {}, "counts-mismatch"),
    ],
)
def test_counts_that_do_not_determine_the_tokens_are_refused(
    train: Train,
    held_out: Path,
    of_model: dict[str, object],
    counting: dict[str, object],
    message: str,
) -> None:
    model = train("m", model_type="bpe", **of_model)
    with raises_kind(message):
        of_counts(model, count(held_out, **counting))


def test_a_model_whose_pieces_cross_spaces_is_refused(train: Train, held_out: Path) -> None:
    model = train("m", model_type="bpe", split_by_whitespace=False, vocab_size=200)
    assert any("▁" in piece.piece[1:] for piece in read(model).pieces)
    with raises_kind("counts-mismatch"):
        of_counts(model, count(held_out))


def test_symbols_that_both_have_are_left_out(train: Train, tmp_path: Path) -> None:
    symbols = {"user_defined_symbols": ["<sep>"]}
    model = train("m", model_type="unigram", **symbols)
    path = tmp_path / "text.txt"
    path.write_text("one<sep> two\nthree\n", encoding="utf-8")
    assert of_counts(model, count(path, **symbols))[0].left_out == 1


def test_counts_that_overflow_are_refused(train: Train, tmp_path: Path) -> None:
    model = train("m", model_type="bpe")
    path = tmp_path / "text.txt"
    path.write_text("large\n", encoding="utf-8")
    table = count(path)
    rows = table.to_arrow().to_pylist()
    rows = [{**rows[0], "place": 0, "next": 9601, "count": 2**60}, *rows]
    large = CountTable(table.origin, pa.Table.from_pylist(rows, schema=table.to_arrow().schema))
    with raises_kind("bad-value add", BadValueError):
        of_counts(model, large)


def test_a_damaged_file_is_refused(train: Train, held_out: Path, tmp_path: Path) -> None:
    model = train("m", model_type="bpe")
    path = tmp_path / "a.counts"
    table = count(held_out)
    table.save(path)
    metadata = pq.read_schema(path).metadata
    rows = table.to_arrow()
    twice = pa.concat_tables([rows, rows]).replace_schema_metadata(metadata)
    pq.write_table(twice, path)
    with pytest.raises(TrainingError):
        of_counts(model, load_counts(path))


def test_batches_can_divide_the_rows_of_a_pretoken(
    train: Train, held_out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = train("m", model_type="bpe")
    table = count(held_out)
    whole, _ = of_counts(model, table)
    batches = CountTable.batches
    monkeypatch.setattr(CountTable, "batches", lambda self: batches(self, 7))
    assert of_counts(model, table)[0] == whole
    names = [row["pretoken"] for row in table.to_arrow().to_pylist()]
    assert any(a == b for a, b in itertools.pairwise(names))
