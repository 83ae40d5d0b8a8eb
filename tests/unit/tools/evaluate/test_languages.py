"""The figures of each language, and the Gini coefficient of their costs."""

from __future__ import annotations

import itertools
import json
import math
import random
import tracemalloc
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sentencepiece import SentencePieceProcessor

from spmcompat.errors import BadValueError
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.text.tables import rows_of
from spmcompat.tools.evaluate.bootstrap import Bootstrap
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate
from spmcompat.tools.evaluate.languages import gini
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.texts import TextFiles, Texts, texts_of
from tests.kinds import raises_kind

from .conftest import Train
from .tokenizers_by_hand import wordpiece

PARALLEL = {
    "en": ["the cat sat", "", "a dog ran", "the end 漢"],
    "de": ["die katze sass", "", "ein hund lief davon", "ende"],
    "xx": ["漢字 かな", "漢", "字字", "い"],
}


@pytest.mark.parametrize(
    ("costs", "expected"),
    [([1, 1, 1], 0), ([0, 0, 0, 1], 0.75), ([1, 2, 3, 4], 0.25), ([5, 5], 0), ([0, 3], 0.5)],
)
def test_known_gini_coefficients(costs: list[float], expected: float) -> None:
    assert gini(costs) == pytest.approx(expected, abs=1e-15)


def test_gini_is_half_the_relative_mean_difference() -> None:
    draw = random.Random(1)
    for _ in range(200):
        costs = [draw.uniform(0.1, 9) for _ in range(draw.randint(2, 30))]
        pairs = [abs(a - b) for a, b in itertools.product(costs, costs)]
        mean = sum(costs) / len(costs)
        expected = sum(pairs) / len(costs) ** 2 / (2 * mean)
        draw.shuffle(costs)
        assert gini(costs) == pytest.approx(expected, rel=1e-9)
        assert gini([7 * cost for cost in costs]) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("costs", [[], [1.0], [0.0, 0.0], [1.0, math.nan]])
def test_gini_needs_several_known_costs(costs: list[float]) -> None:
    assert math.isnan(gini(costs))


@pytest.fixture
def model(train: Train) -> Path:
    return train("m", model_type="bpe")


def measure(
    model: Path,
    texts: Texts,
    reference: str | None = None,
    parallel: bool = False,
    drop_spaces: bool = False,
) -> Evaluation:
    (result,) = evaluate(
        [load_model(str(model), Workers(1))],
        texts,
        [],
        Report(3),
        reference=reference,
        parallel=parallel,
        drop_spaces=drop_spaces,
    )
    return result


def files(folder: Path, texts: dict[str, list[str]]) -> TextFiles:
    for name, lines in texts.items():
        (folder / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return TextFiles([str(folder / name) for name in texts], [*texts])


def test_parallel_texts_are_compared_by_line(model: Path, tmp_path: Path) -> None:
    encoder = SentencePieceProcessor(model_file=str(model))
    result = measure(model, files(tmp_path, PARALLEL), "de", parallel=True)
    assert result.languages is not None
    assert result.languages.are_parallel
    assert [*result.languages.figures] == ["en", "de", "xx"]
    costs = {}
    for name, lines in PARALLEL.items():
        ids = [token for line in lines for token in encoder.encode(line)]
        text = "".join(lines)
        costs[name] = len(ids)
        found = result.languages.figures[name]
        assert (found.lines, found.tokens) == (4, len(ids))
        assert found.words == sum(len(line.split()) for line in lines)
        assert found.tokens_per_line == len(ids) / 4
        assert found.tokens_per_word == len(ids) / found.words
        assert found.tokens_per_character == len(ids) / len(text)
        assert found.tokens_per_byte == len(ids) / len(text.encode())
        assert found.unknown_rate == ids.count(0) / len(ids)
    for name, found in result.languages.figures.items():
        assert found.parity == pytest.approx(costs[name] / costs["de"], rel=1e-12)
    # The model lacks the characters of the third text, which therefore has few tokens.
    assert result.languages.left_out == tuple(
        name for name, found in result.languages.figures.items() if found.loses
    )
    kept = {name: costs[name] for name in costs if name not in result.languages.left_out}
    # One language alone is not the worst of several.
    assert [*kept] == ["de"]
    assert result.languages.worst == result.flat()["worst_language"] == ""
    assert math.isnan(result.languages.gini)
    # Without the names of the languages, the figures of the whole text are the same.
    plain = measure(model, TextFiles([str(tmp_path / name) for name in PARALLEL]))
    assert plain.languages is None
    assert result._replace(languages=None) == plain


@pytest.mark.parametrize("lines", [3, 4])
def test_other_texts_are_compared_by_byte(model: Path, tmp_path: Path, lines: int) -> None:
    """Equal numbers of lines do not make texts parallel."""
    texts = {"en": ["the cat sat", "a dog ran", "the end", "ende"], "de": PARALLEL["de"][:lines]}
    found = measure(model, files(tmp_path, texts)).languages
    assert found is not None
    assert not found.are_parallel
    assert ("--parallel" in found.summary) == (lines == 4)
    costs = {name: figures.tokens_per_byte for name, figures in found.figures.items()}
    assert found.figures["de"].parity == costs["de"] / costs["en"]
    assert found.worst == max(costs, key=lambda name: costs[name])
    assert found.gini == gini([*costs.values()])
    assert found.left_out == ()


def test_parallel_texts_have_equal_numbers_of_lines(model: Path, tmp_path: Path) -> None:
    texts = {**PARALLEL, "de": PARALLEL["de"][:3]}
    with raises_kind("bad-value --parallel", BadValueError):
        measure(model, files(tmp_path, texts), parallel=True)


UNKNOWN_LANGUAGES = {
    "en": ["the cat sat on the mat", "a dog ran to the end"] * 20,
    "de": ["die katze sass auf der matte", "ein hund lief davon"] * 20,
    "ru": ["кошка сидела на коврике", "собака убежала"] * 20,
    "ja": ["猫がマットに座った", "犬は走り去った"] * 20,
}


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "char", "word"])
@pytest.mark.parametrize("parallel", [False, True])
def test_a_language_that_becomes_unknown_is_not_the_cheapest(
    train: Train, tmp_path: Path, model_type: str, parallel: bool
) -> None:
    path = train("m", model_type=model_type)
    result = measure(path, files(tmp_path, UNKNOWN_LANGUAGES), parallel=parallel)
    found = result.languages
    assert found is not None
    assert {"ru", "ja"} <= {*found.left_out}
    figures = found.figures
    for name in UNKNOWN_LANGUAGES:
        assert bool(figures[name].loses) == (name in found.left_out)
    assert figures["ru"].lost_characters > 0.9
    if model_type != "word":  # A word model loses every word that it does not know.
        assert found.left_out == ("ru", "ja")
        assert figures["en"].lost_characters == figures["de"].lost_characters == 0
        name = "tokens_per_line" if parallel else "tokens_per_byte"
        costs = {one: getattr(figures[one], name) for one in ("en", "de")}
        assert found.worst == max(costs, key=lambda one: costs[one])
        assert found.gini == gini([*costs.values()])
        assert min(getattr(one, name) for one in figures.values()) < min(costs.values())
    lost = sum(
        one.lost_characters * sum(len("".join(line.split())) for line in UNKNOWN_LANGUAGES[name])
        for name, one in figures.items()
    )
    visible = sum(
        len("".join(line.split())) for text in UNKNOWN_LANGUAGES.values() for line in text
    )
    assert result.lost_characters == pytest.approx(lost / visible)


def test_a_model_with_bytes_loses_no_language(train: Train, tmp_path: Path) -> None:
    path = train("m", byte_fallback=True, vocab_size=400)
    found = measure(path, files(tmp_path, UNKNOWN_LANGUAGES)).languages
    assert found is not None
    assert found.left_out == ()
    costs = [one.tokens_per_byte for one in found.figures.values()]
    assert found.gini == gini(costs)


@pytest.mark.parametrize("drop_spaces", [False, True])
def test_a_language_whose_spaces_are_dropped_loses_text(
    train: Train, tmp_path: Path, drop_spaces: bool
) -> None:
    path = train("m", space_pieces="separate", byte_fallback=True, vocab_size=400)
    texts = files(tmp_path, {"en": ["the cat sat", "a"], "de": ["die katze", "ein hund lief"]})
    found = measure(path, texts, drop_spaces=drop_spaces).languages
    assert found is not None
    assert found.left_out == (("en", "de") if drop_spaces else ())
    assert (found.worst == "") == math.isnan(found.gini) == drop_spaces
    assert all(bool(one.loses) == drop_spaces for one in found.figures.values())


def test_a_language_whose_spaces_are_not_shown_loses_text(tmp_path: Path) -> None:
    """The vocabulary splits at punctuation, so that "cat ," and "cat," have the same tokens."""
    texts = files(tmp_path, {"en": ["cat, cat ,"], "de": ["cat cats the"], "xx": ["the cat"]})
    found = measure(wordpiece(tmp_path, "BertPreTokenizer"), texts).languages
    assert found is not None
    assert found.left_out == ("en",)
    assert found.worst in {"de", "xx"}


def test_the_files_of_a_language_are_one_text(model: Path, tmp_path: Path) -> None:
    files(tmp_path, PARALLEL)
    paths = [str(tmp_path / name) for name in ("en", "de", "en")]
    found = measure(model, TextFiles(paths, ["en", "de", "en"])).languages
    once = measure(model, TextFiles(paths[:2], ["en", "de"])).languages
    assert found is not None
    assert once is not None
    assert found.figures["en"].tokens == 2 * once.figures["en"].tokens
    assert found.figures["de"].tokens == once.figures["de"].tokens


def rows() -> list[dict[str, str | None]]:
    """Return one row for each line, alternating between languages, and then a row without text."""
    found: list[dict[str, str | None]] = [
        {"lang": name, "body": lines[i]} for i in range(4) for name, lines in PARALLEL.items()
    ]
    return [*found, {"lang": "en", "body": None}]


@pytest.mark.parametrize("form", ["jsonl", "parquet"])
def test_a_table_gives_the_figures_of_the_files(model: Path, tmp_path: Path, form: str) -> None:
    expected = measure(model, files(tmp_path, PARALLEL)).languages
    path = tmp_path / f"table.{form}"
    if form == "jsonl":
        lines = (json.dumps(row, ensure_ascii=False) for row in rows())
        path.write_text("\n".join(lines), encoding="utf-8")
    else:
        table = pa.Table.from_pylist(rows())
        languages = table.column("lang").dictionary_encode()
        pq.write_table(table.set_column(0, "lang", languages), path, row_group_size=5)
    found = measure(model, texts_of([str(path)], "body", "lang")).languages
    assert found == expected


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"body": "a", "lang": null}', "bad-value table.jsonl"),
        ('{"body": "a", "lang": ""}', "bad-value table.jsonl"),
        ('{"body": "a", "lang": "a\\u001b[2J"}', "bad-value table.jsonl"),
        ('{"body": "a", "lang": "' + "x" * 101 + '"}', "bad-value table.jsonl"),
        ('{"body": "a"}', "broken-record lang"),
        ('{"body": "a", "lang": "en"}\n{"body": 3, "lang": "en"}', "broken-record jsonl:2"),
        ('{"body": "a", "lang": ["en"]}', "broken-record table.jsonl"),
        ('{"body": "\\ud800", "lang": "en"}', "broken-record table.jsonl"),
        ('"text"', "broken-record table.jsonl"),
        ("null", "broken-record table.jsonl"),
        ("[1]", "broken-record table.jsonl"),
        ("{" * 100_000, "broken-record table.jsonl"),
        (
            '{"body": "' + "x" * (3 << 20) + '", "lang": "en"}',
            "bad-value table.jsonl",
        ),
        (
            "".join(f'{{"body": "a", "lang": "{i}"}}\n' for i in range(1001)),
            "wrong-column 1000",
        ),
    ],
)
def test_a_broken_table_is_refused(model: Path, tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text(content, encoding="utf-8")
    with raises_kind(message):
        measure(model, texts_of([str(path)], "body", "lang"))


def test_equal_cells_of_a_table_are_decoded_once(tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    cells = pa.DictionaryArray.from_arrays(pa.array([0] * 5000), ["x" * (1 << 20)])
    languages = pa.DictionaryArray.from_arrays(pa.array([0, None] * 2500), ["en"])
    pq.write_table(pa.table({"text": cells, "lang": languages}), path)
    tracemalloc.start()
    found = [*itertools.islice(rows_of(str(path), {"--a": "text", "--b": "lang"}), 4000)]
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert [language for _, language in found] == ["en", None] * 2000
    assert len(str(found[-1][0])) == 1 << 20
    assert peak < 100 << 20


@pytest.mark.parametrize("kind", [pa.large_string(), pa.binary(), pa.string_view()])
def test_columns_of_other_string_types_are_read(tmp_path: Path, kind: pa.DataType) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"a": pa.array(["x", None, "ä"], kind), "b": ["1", "2", "3"]}), path)
    assert [*rows_of(str(path), {"--a": "b", "--b": "a"})] == [("1", "x"), ("2", None), ("3", "ä")]


def test_a_column_of_numbers_is_refused(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    pq.write_table(pa.table({"body": ["a"], "lang": [1]}), path)
    with raises_kind("wrong-column lang"):
        measure(model, texts_of([str(path)], "body", "lang"))


@pytest.mark.parametrize("columns", [("text", "lang"), ("body", "language")])
@pytest.mark.parametrize("name", ["table.jsonl", "table.parquet"])
def test_the_message_names_the_flag_of_the_column(
    name: str, columns: tuple[str, str], model: Path, tmp_path: Path
) -> None:
    path = tmp_path / name
    if path.suffix == ".jsonl":
        path.write_text('{"body": "a", "lang": "en"}\n')
    else:
        pq.write_table(pa.table({"body": ["a"], "lang": ["en"]}), path)
    flag = "text_column" if columns[0] == "text" else "language_column"
    kind = "broken-record" if path.suffix == ".jsonl" else "wrong-column"
    with raises_kind(f"{kind} --{flag}"):
        measure(model, texts_of([str(path)], *columns))


def test_plain_text_is_not_a_table(model: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    path.write_text("a\n")
    with raises_kind("bad-value text.txt", BadValueError):
        measure(model, texts_of([str(path)], "body", "lang"))


def test_the_sizes_of_batches_add_up_to_the_size_of_the_files(tmp_path: Path) -> None:
    paths = [tmp_path / "a.txt", tmp_path / "b.txt"]
    paths[0].write_bytes(b"a\r\n\r\nbc\n\n")
    paths[1].write_bytes(b"no line end")
    for languages in (None, ["en", "de"]):
        texts = TextFiles([*map(str, paths)], languages)
        assert sum(batch.size for batch in texts.batches()) == texts.size == 20


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"a\r\n\r\nb\rc\n\nno line end")
    lines = [line for batch in TextFiles([str(path)]).batches() for line in batch.lines]
    assert lines == [b"a\r", b"\r", b"b\rc", b"", b"no line end"]


def test_the_size_of_the_texts_in_tables_is_not_known(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "abc", "lang": "en"}\n' * 2)
    texts = texts_of([str(path)], "text", "lang")
    assert (texts.size, [batch.size for batch in texts.batches()]) == (None, [8])


def test_values_name_languages(tmp_path: Path) -> None:
    named = texts_of(["en=a.txt", "de=b=c.txt", "en=d.txt"], "text", None)
    assert isinstance(named, TextFiles)
    assert (named.paths, named.languages) == (["a.txt", "b=c.txt", "d.txt"], ["en", "de"])
    plain = texts_of(["./en=a.txt", str(tmp_path)], "text", None)
    assert isinstance(plain, TextFiles)
    assert plain.languages == []


@pytest.mark.parametrize(
    ("values", "column", "message"),
    [
        (["en=a.txt", "b.txt"], None, "bad-value b.txt"),
        (["en=a.txt"], "lang", "conflicting-options --text"),
        (["e\n=a.txt"], None, "bad-value a.txt"),
    ],
)
def test_names_must_be_consistent(values: list[str], column: str | None, message: str) -> None:
    with raises_kind(message, BadValueError):
        texts_of(values, "text", column)


def test_an_empty_text_and_an_unknown_reference_are_refused(model: Path, tmp_path: Path) -> None:
    texts = files(tmp_path, {**PARALLEL, "empty": []})
    with raises_kind("bad-value empty", BadValueError):
        measure(model, texts)
    with raises_kind("bad-value --reference", BadValueError):
        measure(model, files(tmp_path, PARALLEL), "fr")


def test_intervals_do_not_depend_on_languages(model: Path, tmp_path: Path) -> None:
    texts = files(tmp_path, PARALLEL)
    bootstrap = Bootstrap(100)
    found = []
    for given in (texts, TextFiles(texts.paths)):
        loaded = load_model(str(model), Workers(1))
        found += evaluate([loaded], given, [], Report(3), bootstrap=bootstrap)
    assert found[0].languages is not None
    assert found[0].resampled == found[1].resampled
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(map(json.dumps, rows())), encoding="utf-8")
    loaded = load_model(str(model), Workers(1))
    table = texts_of([str(path)], "body", "lang")
    (of_table,) = evaluate([loaded], table, [], Report(3), bootstrap=bootstrap)
    assert of_table.resampled is not None
    assert of_table.resampled.intervals == found[0].resampled.intervals


def test_large_tables_are_read_in_batches(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "table.jsonl"
    path.write_text("\n".join(map(json.dumps, rows())), encoding="utf-8")
    whole = measure(model, texts_of([str(path)], "body", "lang")).languages
    monkeypatch.setattr("spmcompat.tools.evaluate.texts._BATCH_BYTES", 10)
    assert measure(model, texts_of([str(path)], "body", "lang")).languages == whole
