"""Compares ``pretokenizer=script`` and ``regex:PATTERN`` with the real library.

The result must be the real library's result for a text with each pretoken on its own line.
"""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from typing import Any

import pytest
import sentencepiece

import spmcompat
from spmcompat.model.reading import parse
from tests.oracle.characters import BOUNDARY, SPACE, UNKNOWN
from tests.oracle.pretokenizing import matches, script_runs, without_symbols

from . import corpora
from .case import Option

SOFT: dict[str, Option] = {"vocab_size": 900, "hard_vocab_limit": False, "num_threads": 3}
LINE = (
    "１２ 3,4 x=a+b ﾊﾟｰﾃｨｰ カー漢字ひら がな。 a\u0301b \u0301c d\u200d  العـالمي\u00a0a \u0301 b\n"
)
TEXT = corpora.mixed_text(11, 250) + LINE * 5 + corpora.topics_text(8000)
MESSY = corpora.messy_bytes(5).decode(errors="replace").replace("\r", "")
REPEATED = "aa-ab--ab---1.2.3 ...ab, ,ab 12 -ab ab!ab!\n" * 30

PATTERNS = [
    r"regex:'(?:[sdmt]|ll|ve|re)| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    r"regex:\p{N}{1,3}",
    "regex:▁?[a-e]+",
    "regex:(?=b)",
    "regex:",
]

OPTIONS: list[dict[str, Option]] = [
    {},
    {"add_dummy_prefix": False},
    {"remove_extra_whitespaces": False},
    {"remove_extra_whitespaces": False, "allow_whitespace_only_pieces": True},
    {"split_by_unicode_script": False, "split_by_number": False},
    {"split_by_number": False},
    {"split_digits": True},
    {"character_coverage": 0.98},
    {"user_defined_symbols": ["the", "▁of", "e", "\u0301"], "control_symbols": ["<sep>"]},
    {"user_defined_symbols": ["the", "e", "\u0301"]},
    {"normalization_rule_name": "identity"},
    {"normalization_rule_name": "identity", "split_by_unicode_script": False},
]

Pieces = list[tuple[str, float]]


def pieces(model: bytes) -> Pieces:
    return [(piece.piece, piece.score) for piece in parse(model).pieces]


def trained(trainer: Any, sentences: list[str], options: Mapping[str, Any]) -> Pieces:
    model = io.BytesIO()
    trainer(sentence_iterator=iter(sentences), model_writer=model, minloglevel=2, **options)
    return pieces(model.getvalue())


def pretokens(
    lines: list[str], pretokenizer: str, options: Mapping[str, Any]
) -> Iterator[tuple[str, list[str]]]:
    """Yield each line with its pretokens, after the real library has normalized it.

    Lines without pretokens are left out, because the real library would move the last sentence of
    the text to the position of an empty sentence, which changes the order.
    """
    as_suffix = options.get("treat_whitespace_as_suffix", False)
    prefix = options.get("add_dummy_prefix", True)
    normalizer = sentencepiece.SentencePieceNormalizer(
        rule_name=options.get("normalization_rule_name", "nmt_nfkc"),
        add_dummy_prefix=prefix and not as_suffix,
        escape_whitespaces=True,
        remove_extra_whitespaces=options.get("remove_extra_whitespaces", True),
    )
    symbols = [*options.get("user_defined_symbols", []), *options.get("control_symbols", [])]
    for line in lines:
        if not line or UNKNOWN in line:
            continue
        text = normalizer.normalize(line)
        if text and prefix and as_suffix:
            text += SPACE
        text = without_symbols(text, [*symbols, "<unk>", "<s>", "</s>"])
        if pretokenizer == "script":
            found = script_runs(text)
        else:
            found = matches(pretokenizer.removeprefix("regex:"), text)
        if cut := [*filter(None, BOUNDARY.join(found).split(BOUNDARY))]:
            yield line, cut


def both(text: str, pretokenizer: str, options: Mapping[str, Any], **own: int) -> list[Pieces]:
    """Train spmcompat on a text, and the real library on the pretokens of this text."""
    options = {**SOFT, **options}
    known = [*pretokens(text.split("\n"), pretokenizer, options)]
    lines = [line for line, _ in known]
    cut = [pretoken for _, found in known for pretoken in found]
    as_they_are: dict[str, Option] = {
        "normalization_rule_name": "identity",
        "add_dummy_prefix": False,
        "remove_extra_whitespaces": False,
    }
    ours = trained(spmcompat.train, lines, {**options, **own, "pretokenizer": pretokenizer})
    reference = sentencepiece.SentencePieceTrainer.train
    return [ours, trained(reference, cut, {**options, **as_they_are})]


def require_equal(text: str, pretokenizer: str, options: Mapping[str, Any], **own: int) -> None:
    ours, reference = both(text, pretokenizer, options, **own)
    assert ours == reference


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("option", OPTIONS, ids=str)
def test_script_equals_its_pretokens_one_a_line(option: dict[str, Option], model_type: str) -> None:
    options: dict[str, Option] = {"model_type": model_type, **option}
    require_equal(TEXT, "script", options)
    require_equal(MESSY, "script", options, workers=2)


@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
@pytest.mark.parametrize("option", [*OPTIONS, {"treat_whitespace_as_suffix": True}], ids=str)
def test_a_pattern_equals_its_pretokens_one_a_line(
    option: dict[str, Option], model_type: str
) -> None:
    pytest.importorskip("regex")
    for pattern in PATTERNS:
        require_equal(TEXT, pattern, {"model_type": model_type, **option})


@pytest.mark.parametrize("split_by_script", [True, False])
@pytest.mark.parametrize("pretokenizer", ["script", "regex:[a-z]+|-"])
def test_repeated_boundaries_count_for_nothing(pretokenizer: str, split_by_script: bool) -> None:
    pytest.importorskip("regex")
    options = {"split_by_unicode_script": split_by_script, "vocab_size": 40}
    require_equal(REPEATED, pretokenizer, options)


@pytest.mark.parametrize("pretokenizer", ["script", "regex:[a-z]+ |-"])
def test_pretokens_with_spaces_train_as_one_a_line(pretokenizer: str) -> None:
    """The real library sums over the lines in the order of the text, so it rounds differently."""
    pytest.importorskip("regex")
    for text in (TEXT, REPEATED):
        ours, reference = both(text, pretokenizer, {"split_by_whitespace": False})
        assert {piece for piece, _ in ours} == {piece for piece, _ in reference}
        assert dict(ours) == pytest.approx(dict(reference), abs=1e-3)
    ours, reference = both(TEXT, pretokenizer, {"split_by_whitespace": False, "model_type": "bpe"})
    assert ours == reference


def test_a_boundary_mark_between_separate_spaces_leaves_no_pretoken() -> None:
    options: dict[str, Option] = {
        **SOFT,
        "normalization_rule_name": "identity",
        "space_pieces": "separate",
        "pretokenizer": "script",
    }
    marked = ["ab \x1f abc", "ab\x1f abd \x1f\x1f"] * 5
    plain = [line.replace(BOUNDARY, "") for line in marked]
    assert trained(spmcompat.train, marked, options) == trained(spmcompat.train, plain, options)
