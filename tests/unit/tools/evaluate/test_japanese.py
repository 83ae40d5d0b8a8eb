"""Boundary scores in a language without spaces: words, phrases and sentences of a Japanese list."""

from __future__ import annotations

import itertools
import subprocess
from pathlib import Path

import pytest

import spmcompat
from spmcompat.runtime.workers import Workers
from spmcompat.tools.compare.configs import Config
from spmcompat.tools.compare.training import command_for_tokenizers
from spmcompat.tools.evaluate.gold import score_boundaries
from spmcompat.tools.evaluate.gold_lists import read_gold
from spmcompat.tools.evaluate.models import load_model
from tests.oracle.morphology import ends, morph_scores

pytestmark = pytest.mark.reference

WORDS = (
    "東京 都",
    "学生 たち",
    "食べ ます",
    "図書館",
    "新しい 本",
    "コーヒー を 飲む",
    "私 は 学生 です",
    "東京 都 に 住む",
    "猫 が 好き な 人",
    "図書館 で 新しい 本 を 読み ます",
    "明日 は 友だち と 東京 へ 行き ます 。",
)
KINDS = {
    "unigram": {},
    "bpe": {"model_type": "bpe"},
    "char": {"model_type": "char"},
    "separate": {"space_pieces": "separate"},
    "suffix": {"treat_whitespace_as_suffix": True},
    "no dummy prefix": {"add_dummy_prefix": False},
    "bytes": {"byte_fallback": True, "character_coverage": 0.98, "vocab_size": 320},
}


@pytest.fixture(scope="module")
def gold(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("gold") / "japanese.tsv"
    lines = (f"{morphs.replace(' ', '')}\t{morphs}\n" for morphs in WORDS)
    path.write_text("".join(lines), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A text with short lines. Every second line has no spaces."""
    path = tmp_path_factory.mktemp("text") / "japanese.txt"
    lines = [
        "".join(pair).replace(" ", "") + ("\n" if i % 2 else " 本 です\n")
        for i, pair in enumerate(itertools.product(WORDS, repeat=2))
    ]
    path.write_text("".join(lines), encoding="utf-8")
    return path


def expected_scores(words: list[list[str]], tokens: list[list[str]]) -> dict[str, float]:
    """Compute the boundary scores by counting the boundaries of each word."""
    hits = cuts = golds = 0
    for morphs, parts in zip(words, tokens, strict=True):
        assert "".join(parts) == "".join(morphs)
        found, right = set(ends(parts)[:-1]) - {0}, set(ends(morphs)[:-1])
        hits, cuts, golds = hits + len(found & right), cuts + len(found), golds + len(right)
    precision, recall = hits / cuts, hits / golds
    return {
        "precision": precision,
        "recall": recall,
        "f1": 2 * precision * recall / (precision + recall),
        "mean_length": sum(map(len, tokens)) / len(tokens),
    }


@pytest.mark.parametrize("kind", KINDS)
def test_marks_of_spaces_are_no_part_of_an_entry(
    kind: str, gold: Path, text: Path, tmp_path: Path
) -> None:
    from sentencepiece import SentencePieceProcessor

    options = {"vocab_size": 80, "hard_vocab_limit": False, "minloglevel": 2, **KINDS[kind]}
    spmcompat.SentencePieceTrainer.train(
        input=text, model_prefix=tmp_path / "m", normalization_rule_name="identity", **options
    )
    found = read_gold(gold)
    words = [morphs.split() for morphs in WORDS]
    assert [word.text for word in found.words] == ["".join(morphs) for morphs in words]
    model = load_model(str(tmp_path / "m.model"), Workers(1))
    parts = model.cut([word.text for word in found.words])
    processor = SentencePieceProcessor(model_file=str(tmp_path / "m.model"))
    if kind == "bytes":
        # The three byte pieces of a character form one part, which ends where the character ends.
        texts = [word.text for word in found.words]
        assert any(
            "<0x" in piece for line in processor.encode(texts, out_type=str) for piece in line
        )
        tokens = parts
    else:
        pieces = [processor.encode(word.text, out_type=str) for word in found.words]
        tokens = [[p.strip("▁") for p in line if p != "▁"] for line in pieces]
    expected = expected_scores(words, tokens)
    scores = score_boundaries(found.words, parts)
    assert {name: getattr(scores, name) for name in expected} == pytest.approx(expected)
    recall, _, count = morph_scores(
        list(zip(words, tokens, strict=True)), by_tokens=False, single_tokens=True
    )
    assert scores.morph_score_with_single_tokens == pytest.approx(recall)
    assert scores.morph_score_words_with_single_tokens == count == 5
    if kind == "char":
        assert scores.recall == 1
        assert scores.mean_length == sum(len("".join(m)) for m in words) / len(words)


SIZES = {"unigram": 50, "bytelevel-bpe": 290}


@pytest.mark.parametrize("kind", SIZES)
def test_tokenizers_of_hugging_face_cut_entries_of_any_length(
    kind: str, gold: Path, text: Path, tmp_path: Path
) -> None:
    tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")
    path = tmp_path / "tokenizer.json"
    config = Config(kind, f"tokenizers.{kind}")
    command = command_for_tokenizers(config, SIZES[kind], text, path)
    subprocess.run(command, check=True, capture_output=True, cwd=tmp_path)
    found = read_gold(gold)
    parts = load_model(str(path), Workers(1)).cut([word.text for word in found.words])
    plain = tokenizers.Tokenizer.from_file(str(path))
    tokens = []
    for word in found.words:
        encoded = plain.encode(word.text, add_special_tokens=False)
        both = zip(encoded.tokens, encoded.offsets, strict=True)
        # Of several tokens for one character, the last one has the text.
        begins = [begin for token, (begin, _) in both if token not in ("▁", "Ġ")]
        tokens.append([word.text[a:b] for a, b in itertools.pairwise([*begins, len(word.text)])])
    assert parts == tokens
    if kind == "unigram":
        pieces = [plain.encode(word.text).tokens for word in found.words]
        assert parts == [[p.strip("▁") for p in line if p != "▁"] for line in pieces]
    words = [morphs.split() for morphs in WORDS]
    expected = expected_scores(words, tokens)
    scores = score_boundaries(found.words, parts)
    assert {name: getattr(scores, name) for name in expected} == pytest.approx(expected)


@pytest.mark.parametrize("pieces", [["▁東京", "都"], ["▁", "東京", "都"], ["▁東京都"]])
def test_an_entry_has_the_same_boundaries_with_each_kind_of_mark(
    pieces: list[str], gold: Path, tmp_path: Path
) -> None:
    """The space mark before the first word adds no boundary, even if it is a separate token."""
    from spmcompat.model.sentencepiece_model_pb2 import ModelProto

    model = ModelProto()
    model.trainer_spec.model_type = 1
    model.normalizer_spec.add_dummy_prefix = True
    model.normalizer_spec.escape_whitespaces = True
    for piece, kind in [("<unk>", 2), ("<s>", 3), ("</s>", 3), *((p, 1) for p in pieces)]:
        model.pieces.add(piece=piece, score=0.0 if kind > 1 else -1.0, type=kind)
    path = tmp_path / "m.model"
    path.write_bytes(model.SerializeToString())
    (parts,) = load_model(str(path), Workers(1)).cut(["東京都"])
    assert parts == [text for piece in pieces if (text := piece.strip("▁"))]
