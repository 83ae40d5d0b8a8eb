"""The papers' tables of English words and affixes, on small models."""

from __future__ import annotations

from pathlib import Path

import pytest

import spmcompat
from benchmarks.papers import words
from benchmarks.papers.tables import PUBLISHED_BOUNDARIES, PUBLISHED_GROUPS
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.tools.evaluate.gold import GoldWord
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.vocabularies import Affixes
from tests.oracle.morphology import morph_scores
from tests.parity import corpora

pytestmark = pytest.mark.reference


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "en.txt"
    path.write_text(corpora.words_text(5, 300, "latin", 200), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def models(text: Path) -> dict[str, Path]:
    options = {
        "baseline": {},
        "FSP": {"recipe": "fsp"},
        "BPE": {"model_type": "bpe"},
        "bpe, prefix": {"model_type": "bpe"},
        "bpe, separate": {"model_type": "bpe", "space_pieces": "separate"},
    }
    for name, given in options.items():
        spmcompat.SentencePieceTrainer.train(
            input=text,
            model_prefix=text.parent / name,
            vocab_size=100,
            hard_vocab_limit=False,
            minloglevel=2,
            **given,
        )
    return {name: text.parent / f"{name}.model" for name in options}


@pytest.fixture(scope="module")
def gold(text: Path) -> GoldList:
    """Return the longest words of the text, each with a boundary after two characters."""
    found = sorted({w for w in text.read_text().split() if len(w) > 5})[:40]
    return GoldList("lex.csv", tuple(GoldWord(w, frozenset({2})) for w in found), {}, "MorphoLex")


def pieces(path: Path, word: str) -> list[str]:
    from sentencepiece import SentencePieceProcessor

    found = SentencePieceProcessor(model_file=str(path)).encode(word, out_type=str)
    return [p.strip("▁") for p in found if p != "▁"]


def test_published_boundaries_are_next_to_ours(models: dict[str, Path], gold: GoldList) -> None:
    chosen = {name: models[name] for name in ("bpe, prefix", "baseline")}
    head, bpe, baseline = words.boundary_lines(chosen, gold)
    assert "published: precision" in head
    assert bpe.split()[-3:] == ["0.434", "0.495", "2.67"]
    both = [
        (["ab", "x" * (len(w.text) - 2)], pieces(models["bpe, prefix"], w.text)) for w in gold.words
    ]
    recall, precision, count = morph_scores(both, by_tokens=False, single_tokens=False)
    hits = sum(2 in _ends(parts) for _, parts in both)
    cuts = sum(len(t) - 1 for _, t in both)
    figures = bpe.removeprefix("bpe, prefix").split()
    assert float(figures[0]) == pytest.approx(hits / cuts, abs=6e-4)
    assert float(figures[1]) == pytest.approx(hits / len(both), abs=6e-4)
    assert float(figures[5]) == pytest.approx(recall, abs=6e-4)
    assert float(figures[8]) == pytest.approx(precision, abs=6e-4)
    assert int(figures[7]) == count
    # The label "baseline" has one word, while "bpe, prefix" has two. The row of the baseline also
    # lacks the published values, which are three words.
    assert len(baseline.split()) == len(bpe.split()) - 4
    subset = gold._replace(name="lex.csv:prefixes")
    assert [*words.boundary_lines(chosen, subset)][1].endswith("0.335   0.402    2.54")
    assert "published" not in next(words.boundary_lines(chosen, gold._replace(format="ours")))


def _ends(parts: list[str]) -> list[int]:
    return [len("".join(parts[:i])) for i in range(1, len(parts))]


def test_groups_are_next_to_the_published_ones(
    models: dict[str, Path], gold: GoldList, text: Path
) -> None:
    chosen = {name: models[name] for name in ("baseline", "FSP", "BPE")}
    lines = [*words.group_lines(chosen, gold, text)]
    table = {line[:40].strip(): line[40:].split() for line in lines[1 : lines.index("")]}
    assert all(name in table for name in PUBLISHED_GROUPS)
    assert table["all"][-3:] == ["258", "/", "9.5"]
    assert table["none"][-3:] == ["1,000", "/", "12.6"]
    uses = text.read_text().split()
    expected: dict[str, list[str]] = {name: [] for name in PUBLISHED_GROUPS}
    for word in gold.words:
        cuts = {name: _ends(pieces(path, word.text)) for name, path in chosen.items()}
        found = [name for name, ends in cuts.items() if 2 in ends]
        if all(cuts.values()) and len(found) != 2:
            key = "none" if not found else "all" if len(found) == 3 else f"only {found[0]}"
            expected[key].append(word.text)
    for name, members in expected.items():
        assert int(table[name][0]) == len(members)
        share = 100 * sum(uses.count(word) for word in members) / len(uses)
        assert float(table[name][2]) == pytest.approx(share, abs=6e-5)
    assert any(expected.values())


def test_vocabularies_are_next_to_the_published_ones(models: dict[str, Path]) -> None:
    pair = ("bpe, prefix", "bpe, separate")
    affixes = Affixes(frozenset("abc"), frozenset("xyz"))
    head, *rows, share = words.vocabulary_lines(models, [pair], affixes)
    texts = []
    for name in pair:
        model = ModelProto.FromString(models[name].read_bytes())
        normal = [p.piece for p in model.pieces if p.type == 1]
        texts.append((len(normal), {piece.strip("▁") or piece for piece in normal}))
    for row, name, (number, own), (_, other) in zip(rows, pair, texts, texts[::-1], strict=True):
        figures = row.removeprefix(name).split()
        assert [int(figures[i]) for i in (0, 1, 3, 4)] == [
            *(number, number - len(own), len(own), len(own - other))
        ]
        assert [int(figures[i]) for i in (5, 6)] == [len({*"abc"} & own), len({*"xyz"} & own)]
    assert "published" in head
    assert rows[0].endswith("14,613, 1,459, 114, 182")
    assert share.startswith(f"{len(texts[0][1] & texts[1][1]) / len(texts[0][1]):.1%} of the texts")


def test_published_scores_are_those_of_lists_with_a_reader() -> None:
    assert {name for name, _ in PUBLISHED_BOUNDARIES} == {
        *("LADEC", "MorphoLex", "MorphyNet", "DagoBERT")
    }
