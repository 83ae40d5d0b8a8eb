"""``spmcompat evaluate``: its tables, JSON and CSV, and its errors."""

from __future__ import annotations

import csv
import io
import json
import sys
from pathlib import Path

import pytest
import sentencepiece

import spmcompat
from spmcompat.__main__ import main
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from tests.kinds import assert_error

pytestmark = pytest.mark.reference

TEXT = "the cat sat on the mat\nthe dog sat on the log\n" * 50


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("text.txt").write_text(TEXT, encoding="utf-8")
    for name in ("unigram", "bpe"):
        spmcompat.SentencePieceTrainer.train(
            input="text.txt",
            model_prefix=name,
            model_type=name,
            vocab_size=35,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    Path("gold.tsv").write_text("cats\tcat s\n", encoding="utf-8")
    return tmp_path


def run(*arguments: str) -> tuple[int, str, str]:
    stdout, stderr = io.StringIO(), io.StringIO()
    return main(["evaluate", *arguments], stdout, stderr), stdout.getvalue(), stderr.getvalue()


MODELS = ("unigram.model", "bpe.model", "--text", "text.txt", "--gold", "gold.tsv")

BOOTSTRAP = ("bpe.model", "--text", "text.txt", "--bootstrap", "100")


@pytest.mark.usefixtures("folder")
def test_lines_that_are_not_utf8_are_counted_as_in_training() -> None:
    Path("latin.txt").write_bytes("the cat\ncaf\xe9\n\xe9\xe9 dog\n".encode("latin-1"))
    status, _, err = run("bpe.model", "--text=latin.txt")
    assert status == 0
    (warning,) = [line for line in err.splitlines() if "WARNING" in line]
    log = io.StringIO()
    options = {"vocab_size": 14, "hard_vocab_limit": False}
    spmcompat.train(input="latin.txt", model_prefix="m", logstream=log, **options)
    assert "2 sentences contain bytes that are not UTF-8" in warning
    assert warning.removesuffix(").") in log.getvalue()  # training also names the first line


@pytest.mark.usefixtures("folder")
def test_the_table_has_a_column_for_each_model() -> None:
    status, out, err = run(*MODELS)
    assert status == 0
    lines = out.splitlines()
    assert lines[0].split() == ["unigram.model", "bpe.model"]
    rows = {line[:30].strip(): line.split()[-2:] for line in lines[1:] if line}
    assert rows["model type"] == ["unigram", "bpe"]
    assert rows["loss per character"][1] == "-"
    assert float(rows["loss per character"][0]) > 0
    assert any(line.split()[:2] == ["unigram.model", "bpe.model"] for line in lines[1:])
    size = f"{len(TEXT):,} bytes"
    assert f"Evaluating: {size}" in err
    assert f"Evaluating: done {size} in" in err


@pytest.mark.usefixtures("folder")
def test_json_and_csv_hold_the_same_numbers() -> None:
    status, out, err = run(*MODELS, "--json", "--quiet")
    assert (status, err) == (0, "")
    document = json.loads(out)
    unigram, bpe = document["models"]
    assert unigram["tokens"] <= len(TEXT)
    assert bpe["loss_per_byte"] is None
    assert unigram["gold_words"] == 1
    (pair,) = document["overlaps"]
    assert 0 < pair["jaccard_without_characters"] <= pair["jaccard"] < 1

    _, out, _ = run(*MODELS, "--csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [row["model"] for row in rows] == ["unigram.model", "bpe.model"]
    assert float(rows[0]["loss_per_character"]) == unigram["loss_per_character"]
    assert rows[1]["loss_per_character"] == ""


@pytest.mark.usefixtures("folder")
def test_each_gold_list_has_its_own_figures() -> None:
    Path("other.csv").write_text(",full_word,pt1,rest\n0,dogs,dog,s\n1,it,it,\n2,a,b,c\n")
    _, out, err = run(*MODELS, "--json")
    (alone, _) = json.loads(out)["models"]
    status, out, err = run(*MODELS, "--gold=gold.tsv,other.csv", "--json")
    assert status == 0
    assert "gold.tsv: 1 word" in err
    assert "other.csv: 1 word; left out: 1 row with an empty part, 1 row with parts that" in err
    (both, _) = json.loads(out)["models"]
    gold = {name: value for name, value in alone.items() if name.startswith("gold_")}
    assert {name: both[f"{name}[gold.tsv]"] for name in gold} == gold
    assert not gold.keys() & both.keys()
    assert both["gold_words[other.csv]"] == 1

    _, out, _ = run(*MODELS, "--gold=gold.tsv,other.csv", "--csv")
    assert "gold_f1[other.csv]" in out.splitlines()[0].split(",")
    _, out, _ = run(*MODELS, "--gold=gold.tsv,other.csv")
    labels = [line[: line.index("]") + 1].strip() for line in out.splitlines() if "]" in line]
    assert labels[0] == "gold words [gold.tsv]"
    assert "gold morph score with single tokens [other.csv]" in labels
    _, out, _ = run(*MODELS)
    assert "  gold f1  " in out


@pytest.mark.usefixtures("folder")
def test_vocabularies_are_compared_without_space_marks() -> None:
    Path("affixes.txt").write_text("th-\n-at\n-zzz\n", encoding="utf-8")
    texts, pieces = {}, {}
    for name in ("unigram", "bpe"):
        model = ModelProto.FromString(Path(f"{name}.model").read_bytes())
        normal = [p.piece for p in model.pieces if p.type == 1]
        pieces[name] = len(normal)
        texts[name] = {piece.strip("▁") or piece for piece in normal}
    asked = (*MODELS, "--affixes", "affixes.txt")
    _, out, _ = run(*asked, "--json")
    document = json.loads(out)
    for row, name in zip(document["models"], texts, strict=True):
        assert row["normal_pieces"] == pieces[name]
        assert row["equal_without_spaces"] == pieces[name] - len(texts[name])
        assert row["prefixes"] == ("th" in texts[name])
        assert row["suffixes"] == ("at" in texts[name])
    (pair,) = document["overlaps"]
    assert pair["shared_texts"] == len(texts["unigram"] & texts["bpe"])
    assert pair["texts_only_in_first"] == len(texts["unigram"] - texts["bpe"])
    assert pair["texts_only_in_second"] == len(texts["bpe"] - texts["unigram"])
    _, out, _ = run(*asked, "--csv")
    first, second = csv.DictReader(io.StringIO(out))
    assert [int(row["normal_pieces"]) for row in (first, second)] == [*pieces.values()]
    _, out, _ = run(*asked)
    (head,) = [line.split() for line in out.splitlines() if line.startswith("  vocabulary ")]
    assert head[-2:] == ["prefixes", "suffixes"]
    assert "only in the first" in out
    status, out, _ = run(*MODELS, "--csv")
    assert status == 0
    assert "prefixes" not in out


@pytest.mark.usefixtures("folder")
def test_subsets_of_a_gold_list_have_their_own_figures() -> None:
    Path("lex.csv").write_text("Word,MorphoLexSegm\ncats,{(cat)}>s>\nrerun,{<re<(run)}\n")
    gold = ("--gold", "lex.csv,lex.csv:prefixes,lex.csv:suffixes", "--json")
    status, out, err = run("bpe.model", "--text", "text.txt", *gold)
    assert status == 0
    assert "lex.csv:prefixes: 1 word; left out: 1 row with other affixes" in err
    (model,) = json.loads(out)["models"]
    assert model["gold_words[lex.csv]"] == 2
    assert model["gold_words[lex.csv:prefixes]"] == model["gold_words[lex.csv:suffixes]"] == 1


@pytest.mark.usefixtures("folder")
def test_a_bootstrap_adds_intervals_to_every_form_of_output() -> None:
    asked = ("--bootstrap", "100", "--seed", "3", "--confidence", "90", "--units", "lines")
    _, plain, _ = run(*MODELS, "--json")
    status, out, _ = run(*MODELS, *asked, "--json")
    assert status == 0
    document = json.loads(out)
    usual = json.loads(plain)
    assert usual.keys() == {"models", "overlaps"}
    for model, without in zip(document["models"], usual["models"], strict=True):
        intervals = model.pop("intervals")
        assert model.keys() == without.keys()
        low, high = intervals["tokens"]
        assert low <= model["tokens"] <= high
        assert ("loss_per_character" in intervals) == (model["model_type"] == "unigram")
        assert not {"renyi_efficiency", "words", "unused_pieces", "pieces"} & intervals.keys()
    assert document["bootstrap"] == {
        "resamples": 100,
        "seed": 3,
        "confidence": 90.0,
        "units": "lines",
        "units_drawn": 100,
        "units_in_block": 1,
    }
    tokens = next(d for d in document["differences"] if d["figure"] == "tokens")
    assert (tokens["model"], tokens["baseline"]) == ("bpe.model", "unigram.model")
    assert run(*MODELS, *asked, "--json")[1] == out
    assert run(*MODELS, "--bootstrap", "100", "--confidence", "90", "--json")[1] != out

    _, out, _ = run(*MODELS, *asked, "--csv")
    unigram, bpe = csv.DictReader(io.StringIO(out))
    assert unigram["tokens"] == str(document["models"][0]["tokens"])
    assert float(unigram["tokens_low"]) <= float(unigram["tokens"]) <= float(unigram["tokens_high"])
    assert bpe["loss_per_character_low"] == ""

    _, out, _ = run(*MODELS, *asked, "--baseline", "bpe.model")
    assert "difference from bpe.model" in out
    assert out.splitlines()[-1] == (
        "  In brackets: 90 % intervals from 100 resamples of 100 lines (seed 3)."
    )


@pytest.mark.usefixtures("folder")
def test_the_cost_of_training_a_network_is_in_every_form_of_output() -> None:
    models = ("unigram.model", "bpe.model")
    network = ("--embedding_width=8", "--parameters=500", "--training_bytes=1e6")
    size = sum(len(line) for line in TEXT.splitlines())
    expected = []
    for model in models:
        processor = sentencepiece.SentencePieceProcessor(model_file=model)
        tokens = 1e6 * sum(map(len, processor.encode(TEXT.splitlines()))) / size
        embeddings = 8 * processor.get_piece_size()
        expected.append((embeddings, tokens, 6 * tokens * (500 + embeddings)))
    lowest = min(operations for *_, operations in expected)
    _, out, _ = run(*models, "--text=text.txt", *network, "--json")
    document = json.loads(out)
    _, out, _ = run(*models, "--text=text.txt", *network, "--csv")
    for row, of_csv, (embeddings, tokens, operations) in zip(
        document["models"], csv.DictReader(io.StringIO(out)), expected, strict=True
    ):
        assert row["embedding_parameters"] == embeddings
        assert row["training_tokens"] == pytest.approx(tokens)
        assert row["training_operations"] == pytest.approx(operations)
        assert row["above_lowest"] == pytest.approx(operations / lowest - 1)
        names = ("embedding_parameters", "training_tokens", "training_operations", "above_lowest")
        assert [float(of_csv[name]) for name in names] == [row[name] for name in names]
    assert document["network"] == {
        "embedding_width": 8,
        "parameters": 500.0,
        "training_bytes": 1e6,
    }
    _, out, _ = run(*models, "--text=text.txt", *network)
    rows = {line[:24].strip(): line.split()[-2:] for line in out.splitlines()}
    assert rows["training tokens"] == [f"{tokens:,.0f}" for _, tokens, _ in expected]
    assert "0.00%" in rows["above the lowest"]
    _, out, _ = run(*models, "--text=text.txt", "--embedding_width=8", "--json")
    assert json.loads(out)["models"][0]["training_tokens"] is None
    assert json.loads(out)["models"][0]["embedding_parameters"] == expected[0][0]


@pytest.mark.usefixtures("folder")
def test_documents_are_what_files_and_blank_lines_separate() -> None:
    Path("other.txt").write_text("\n\na\nb\n\n\nc\n", encoding="utf-8")
    given = ("bpe.model", "--text=text.txt,other.txt", "--bootstrap", "100")
    _, out, _ = run(*given, "--units", "documents", "--json")
    assert json.loads(out)["bootstrap"]["units_drawn"] == 3


LANGUAGES = ("--text", "en=text.txt,de=other.txt", "--reference", "de", "--parallel")


@pytest.fixture
def languages(folder: Path) -> Path:
    (folder / "other.txt").write_text("die katze\nder hund 漢\n" * 50, encoding="utf-8")
    return folder


@pytest.mark.usefixtures("languages")
def test_every_form_of_output_has_a_row_for_each_language() -> None:
    _, out, _ = run("unigram.model", "bpe.model", *LANGUAGES, "--json")
    models = json.loads(out)["models"]
    for model in models:
        figures = model["languages"]["figures"]
        assert (model["languages"]["reference"], model["languages"]["are_parallel"]) == ("de", True)
        assert figures["en"]["parity"] == figures["en"]["tokens"] / figures["de"]["tokens"]
        assert figures["en"]["tokens"] + figures["de"]["tokens"] == model["tokens"]
        # The models lose a character of the German text.
        assert model["languages"]["left_out"] == ["de"]
        assert figures["de"]["loses"]
        assert model["worst_language"] == ""  # one language alone is not the worst of several
    for form, delimiter in (("--csv", ","), ("--tsv", "\t")):
        _, out, _ = run("unigram.model", "bpe.model", *LANGUAGES, form)
        rows = list(csv.DictReader(io.StringIO(out), delimiter=delimiter))
        assert [(row["model"], row["language"]) for row in rows] == [
            (name, language)
            for name in ("unigram.model", "bpe.model")
            for language in ("", "en", "de")
        ]
        for model, first in zip(models, rows[::3], strict=True):
            assert (first["gini"], model["gini"]) == ("", None)  # of a single language
            assert first["tokens_per_line"] == ""
        for model, second in zip(models, rows[1::3], strict=True):
            expected = model["languages"]["figures"]["en"]
            assert float(second["tokens_per_byte"]) == expected["tokens_per_byte"]
            assert float(second["parity"]) == expected["parity"]
    _, text, _ = run("unigram.model", "bpe.model", *LANGUAGES)
    _, page, _ = run("unigram.model", "bpe.model", *LANGUAGES, "--html")
    assert "de (loses text)" in text
    lines = text.replace("de (loses text)", "de").splitlines()
    shown = [line.split() for line in lines if line.startswith(("  en ", "  de "))]
    assert [(row[0], row[1]) for row in shown] == [
        (language, name) for language in ("en", "de") for name in ("unigram.model", "bpe.model")
    ]
    assert "said to be parallel" in text
    for row in shown:
        assert all(f">{cell}</td>" in page for cell in row if cell != "de")
    assert page.startswith("<!DOCTYPE html>")
    assert page.count("<table>") == page.count("</table>") == 4


@pytest.mark.usefixtures("languages")
def test_html_shows_names_as_text() -> None:
    Path("<b>.model").write_bytes(Path("bpe.model").read_bytes())
    status, page, _ = run("<b>.model", "--text", "<i>=text.txt", "--html")
    assert status == 0
    assert "&lt;b&gt;.model" in page
    assert "&lt;i&gt;" in page
    assert "<b>" not in page
    assert "<i>" not in page


@pytest.mark.usefixtures("folder")
def test_counts_give_the_figures_of_the_text() -> None:
    spmcompat.count(input="text.txt", minloglevel=2).save("text.counts")
    status, out, _ = run("unigram.model", "bpe.model", "--counts=text.counts", "--json")
    assert status == 0
    counted = json.loads(out)
    _, out, _ = run("unigram.model", "bpe.model", "--text=text.txt", "--json")
    measured = json.loads(out)
    assert counted["overlaps"] == measured["overlaps"]
    for one, other in zip(counted["models"], measured["models"], strict=True):
        both = one.keys() & other.keys()
        assert {"tokens", "unknown_rate", "renyi_efficiency", "unused_pieces"} <= both
        assert "loss_per_character" not in one
        assert "words" not in one
        assert {name: one[name] for name in both} == {name: other[name] for name in both}
    status, table, _ = run("bpe.model", "--counts=text.counts", "--gold=gold.tsv")
    assert status == 0
    assert "tokens per pretoken" in table
    assert "gold f1" in table
    assert "loss" not in table


@pytest.mark.usefixtures("folder")
def test_each_pretoken_can_be_encoded_alone() -> None:
    _, out, _ = run("bpe.model", "--text", "text.txt", "--json")
    status, cut, _ = run("bpe.model", "--text", "text.txt", "--json", "--pretokenizer", "regex:.")
    assert status == 0
    whole, alone = json.loads(out)["models"][0], json.loads(cut)["models"][0]
    # Each character is one token, and so is the space mark that the encoder puts before each line.
    lines = TEXT.splitlines()
    assert alone["tokens"] == sum(map(len, lines)) + len(lines)
    assert alone["whole_words"] == whole["whole_words"]


@pytest.mark.usefixtures("folder")
def test_spaces_are_dropped_only_on_request() -> None:
    status, out, _ = run(*MODELS, "--json", "--drop_spaces")
    assert status == 0
    dropped = json.loads(out)["models"]
    kept = json.loads(run(*MODELS, "--json")[1])["models"]
    assert [model["drops_spaces"] for model in dropped + kept] == [True, True, False, False]
    for without, with_spaces in zip(dropped, kept, strict=True):
        assert without["tokens"] <= with_spaces["tokens"]
        assert without["pieces"] == with_spaces["pieces"] - 1
    assert "drops spaces" not in run(*MODELS)[1]
    (row,) = [line for line in run(*MODELS, "--drop_spaces")[1].splitlines() if "drops" in line]
    assert row.split() == ["drops", "spaces", "yes", "yes"]


@pytest.mark.usefixtures("folder")
def test_a_missing_model_is_reported_before_a_missing_library(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("spmcompat.runtime.libraries.is_installed", lambda name: name == "numpy")
    assert "No such file" in run("nowhere.model", "--text", "text.txt")[2]
    assert "is not installed" in run("bpe.model", "--text", "text.txt")[2]


@pytest.mark.usefixtures("folder")
def test_several_texts_add_up_and_workers_change_nothing() -> None:
    _, twice, _ = run("unigram.model", "--text=text.txt,text.txt", "--json")
    _, once, _ = run("unigram.model", "--text", "text.txt", "--json", "--workers", "1")
    a, b = json.loads(twice)["models"][0], json.loads(once)["models"][0]
    assert a["tokens"] == 2 * b["tokens"]
    assert a["loss_per_character"] == pytest.approx(b["loss_per_character"], rel=1e-6)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("text.txt", "--text", "text.txt"), "bad-model text.txt"),
        (
            ("nowhere.model", "--text", "text.txt"),
            "cannot-read nowhere.model No such file or directory",
        ),
        (
            ("bpe.model", "--text", "nowhere.txt"),
            "cannot-read nowhere.txt No such file or directory",
        ),
        (("bpe.model", "--text", "/dev/null"), "bad-value --text"),
        (("bpe.model", "--text", "/dev/zero"), "cannot-read /dev/zero"),
        (("bpe.model\033[2J", "--text", "/dev/null"), "cannot-read"),
        (("/dev/null", "--text", "text.txt"), "bad-model /dev/null"),
        (("x" * 300, "--text", "text.txt"), "cannot-read File name too long"),
        (("a\0b", "--text", "text.txt"), "impossible-path a\\x00b"),
        (("a\0b.json", "--text", "text.txt"), "impossible-path"),
        (("\ud800", "--text", "text.txt"), "impossible-path"),
        (("bpe.model", "--text", "x" * 300), "cannot-read --text File name too long"),
        (("bpe.model", "--text", "\ud800"), "impossible-path --text"),
        (("bpe.model", "--text", "text.txt", "--gold", "\ud800"), "impossible-path --gold"),
        ((*BOOTSTRAP, "--units", "documents"), "bad-value"),
        (
            ("a.json", "--text", "text.txt", "--pretokenizer", "script"),
            "conflicting-options a.json",
        ),
        (
            ("bpe.model", "--counts", "nowhere.counts"),
            "cannot-read nowhere.counts No such file or directory",
        ),
        (("bpe.model", "--counts", "text.txt"), "bad-counts text.txt"),
        (("a.json", "--counts", "text.counts"), "conflicting-options --counts"),
        ((".", "--counts", "text.counts"), "conflicting-options --counts"),
        ((".", "--text", "text.txt"), "cannot-read tokenizer.json"),
        (("bpe.model", "--text", "text.txt", "--language_column", "x"), "bad-value text.txt"),
        (("bpe.model", "--text", "text.txt", "--gold", "."), "cannot-read --gold Is a directory"),
        (("bpe.model", "--text", "text.txt", "--gold", "text.txt"), "bad-word-list text.txt:1"),
    ],
)
def test_an_error_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run(*arguments, "--quiet")
    assert (status, out) == (1, "")
    assert err.count("\n") == 1
    assert_error(err, message)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("m.model",), "usage --text --counts"),
        (("--text", "t"), "usage"),
        (("m.model", "--text=t", "--json", "--csv"), "usage --json --csv"),
        *(
            (("m.model", "--text=t", "--workers", count), "usage --workers 1024")
            for count in ("0", "1025", "9" * 5000, "-1", "٣", "x")
        ),
        (("m.model", "--text=t", "--csv", "--html"), "usage --csv --html"),
        (("m.model", "--text=t", "--counts=c"), "usage --counts --text"),
        (("m.model", "--counts=c", "--pretokenizer=script"), "usage --counts --pretokenizer"),
        (("m.model", "--counts=c", "--bootstrap=100"), "usage --counts --bootstrap"),
        (("m.model", "--counts=c", "--reference=en"), "usage --counts --reference"),
        (("m.model", "--counts=c", "--text_column=t"), "usage --text_column --language_column"),
        (("m.model", "--text=en=a,b"), "bad-value"),
        (("m.model", "--text=en=a,de=b", "--reference=x"), "usage"),
        (("m.model", "--text=a", "--reference=x"), "usage --text=LANGUAGE=FILE"),
        (("m.model", "--text=en=a", "--language_column=x"), "conflicting-options --text"),
        (
            (*BOOTSTRAP, "--language_column=x", "--units=documents"),
            "usage --units=documents",
        ),
        (("bpe.model", "--text", "text.txt", "--seed", "1"), "usage --seed --bootstrap=N"),
        (("bpe.model", "--text", "text.txt", "--baseline", "x"), "usage --baseline --bootstrap"),
        (("bpe.model", "--text", "text.txt", "--bootstrap", "99"), "usage 100"),
        (("bpe.model", "--text", "text.txt", "--bootstrap", "9" * 5000), "usage 100 100000"),
        ((*BOOTSTRAP, "--seed", "-1"), "usage --seed"),
        ((*BOOTSTRAP, "--confidence", "nan"), "usage --confidence 99.99"),
        ((*BOOTSTRAP, "--confidence", "100"), "usage --confidence 99.99"),
        ((*BOOTSTRAP, "--baseline", "x.model"), "usage --baseline"),
        (("bpe.model", "--text", "text.txt", "--parameters", "1e9"), "usage --embedding_width=N"),
        (("bpe.model", "--text", "text.txt", "--embedding_width", "0"), "usage"),
        (("bpe.model", "--text", "text.txt", "--parameters", "nan"), "usage --parameters"),
        (("bpe.model", "--text", "text.txt", "--pretokenizer", "x"), "bad-value pretokenizer"),
        (("bpe.model", "--text", "text.txt", "--pretokenizer", "regex:("), "bad-value"),
        (("bpe.model", "--text", "text.txt", "--gold=gold.tsv,gold.tsv"), "usage gold.tsv"),
    ],
)
def test_wrong_usage_is_one_line(arguments: tuple[str, ...], message: str) -> None:
    status, out, err = run(*arguments, "--quiet")
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert_error(err, message)


@pytest.mark.usefixtures("folder")
def test_the_error_says_how_to_install_sentencepiece(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    status, _, err = run("bpe.model", "--text", "text.txt", "--quiet")
    assert status == 1
    assert_error(err, "missing-library spmcompat[eval]")


@pytest.mark.usefixtures("folder")
def test_a_text_may_have_bytes_that_are_not_utf8() -> None:
    Path("odd.txt").write_bytes(b"the \xe2\x96 cat\n\xed\xa0\x80 dog \xff\xff\nthe log\n" * 3)
    status, out, _ = run("unigram.model", "bpe.model", "--text", "odd.txt", "--json")
    assert status == 0
    for model in json.loads(out)["models"]:
        assert model["words"] == 3 * 8
        assert 0 < model["lost_characters"] < 0.5
