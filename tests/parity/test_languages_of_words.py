"""Parity-aware training from stored words, compared with ParityBpeTrainer on the texts."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.bpe.token_trainer import byte_texts
from spmcompat.huggingface.template import Template
from tests.kinds import raises_kind

from .corpora import mixed_text, words_text

pytest.importorskip("pyarrow")
tokenizers = pytest.importorskip("tokenizers")
from tokenizers import Tokenizer, models, pre_tokenizers, trainers  # noqa: E402

LANGUAGES = [
    mixed_text(200).splitlines(keepends=True),
    words_text(300).splitlines(keepends=True),
    ["mañana 漢字 " * 3 + "один два три\n"] * 9,
]
SIZES = [400, 300, 700]
BYTES = [*byte_texts().values()]


def words(like: Any, texts: list[list[str]]) -> list[spmcompat.WordTable]:
    return [spmcompat.count_words(like, sentence_iterator=text) for text in texts]


def result_of(document: dict[str, Any]) -> Any:
    return document["model"]["vocab"], document["model"]["merges"]


def expected(tokenizer: Any, development: Any = None, **options: Any) -> Any:
    """Return the result of the library."""
    trainer = trainers.ParityBpeTrainer(show_progress=False, total_symbols=True, **options)
    trainer.train_from_iterator(tokenizer, LANGUAGES, development)
    return result_of(json.loads(tokenizer.to_str()))


def bare(like: str) -> Any:
    document = Template.load(like).document
    return Tokenizer.from_str(json.dumps({**document, "added_tokens": [], "post_processor": None}))


CASES: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "base": ({}, {}),
    "window": (
        {"language_window": 10, "language_alpha": 1.5, "language_first_merges": 50},
        {"variant": "window", "window_size": 10, "alpha": 1.5, "global_merges": 50},
    ),
    "ratios": ({"language_ratios": [1, 2.5, 0.1]}, {"ratio": [1.0, 2.5, 0.1]}),
    "frequent": ({"min_frequency": 4, "max_token_length": 5},) * 2,
}


@pytest.mark.parametrize("like", ["gpt2", "llama3"])
@pytest.mark.parametrize(
    ("case", "with_development"),
    # With development words, the library ignores ratios, and we refuse them.
    [*product(CASES, [False]), *product(sorted({*CASES} - {"ratios"}), [True])],
)
def test_templates(like: str, case: str, with_development: bool) -> None:
    ours, theirs = CASES[case]
    development = [text[::5] for text in LANGUAGES] if with_development else None
    special = ["<s>", "<|begin_of_text|>", "<|endoftext|>"]
    trained = spmcompat.train_tokenizer(
        like,
        language_counts=words(like, LANGUAGES),
        language_development=development and words(like, development),
        vocab_size=SIZES,
        special_tokens=special,
        **ours,
    )
    for size, found in zip(SIZES, trained, strict=True):
        theirs = {"special_tokens": special, "initial_alphabet": BYTES, **theirs}
        assert result_of(found.document) == expected(
            bare(like), development, num_merges=size, **theirs
        )


def test_the_function_for_texts_and_a_template_of_the_library(tmp_path: Path) -> None:
    template = Tokenizer(models.BPE())
    template.pre_tokenizer = pre_tokenizers.Whitespace()
    template.save(str(tmp_path / "template.json"))
    tables = words(tmp_path / "template.json", LANGUAGES)
    options = {"limit_alphabet": 60, "initial_alphabet": ["x"]}
    found = spmcompat.train_tokenizer(
        tmp_path / "template.json", language_counts=tables, vocab_size=200, **options
    )
    trainer = trainers.ParityBpeTrainer(
        num_merges=200, total_symbols=True, show_progress=False, **options
    )
    spmcompat.train_parity_from_iterators(template, LANGUAGES, trainer)
    assert result_of(found.document) == result_of(json.loads(template.to_str()))


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tables = words("gpt2", LANGUAGES)
    for number, table in enumerate(tables):
        table.save(f"{number}.words")
    line = ["train_tokenizer", "--like=gpt2", "--language_counts=0.words,1.words,2.words"]
    line += ["--vocab_size=400,300", "--output=a.json", "--language_ratios=1,0.5,2.5"]
    assert main(line) == 0
    found = spmcompat.train_tokenizer(
        "gpt2", language_counts=tables, language_ratios=[1, 0.5, 2.5], vocab_size=[400, 300]
    )
    assert isinstance(found, list)
    for one in found:
        one.save(f"b-{len(one.vocab)}.json")
    for size in (400, 300):
        assert Path(f"a-{size}.json").read_bytes() == Path(f"b-{size}.json").read_bytes()
    assert main([*line[:3], "--output=0.words"]) == 1  # an input


def test_contradictions_are_refused(tmp_path: Path) -> None:
    tables = words("gpt2", LANGUAGES[:2])

    def train(like: str = "gpt2", **options: Any) -> None:
        spmcompat.train_tokenizer(like, **{"language_counts": tables, **options})

    with raises_kind("conflicting-options language_ratios language_counts"):
        train(language_ratios=[1])
    with raises_kind("conflicting-options language_development language_counts"):
        train(language_development=tables[:1])
    with raises_kind("conflicting-options language_ratios language_development"):
        train(language_ratios=[1, 2], language_development=tables)
    for name, value in {"language_window": 9, "language_ratios": [1]}.items():
        with raises_kind(f"conflicting-options {name} language_counts"):
            train(language_counts=None, counts=tables[0], **{name: value})
    with raises_kind("conflicting-options language_alpha language_window"):
        train(language_alpha=3)
    with raises_kind("conflicting-options counts"):
        train(counts=tables[0])
    with raises_kind("conflicting-options counts"):
        train(sentence_iterator=["a"])
    with raises_kind("bad-value language_alpha"):
        train(language_window=9, language_alpha=0.5)
    with raises_kind("bad-value language_ratios"):
        train(language_ratios=[1, 0])
    with raises_kind("conflicting-options language_counts WordPiece"):
        train("bert", language_counts=words("bert", LANGUAGES))
    with raises_kind("counts-mismatch pre_tokenizer"):
        train(language_counts=[*tables, *words("llama3", LANGUAGES[2:])])
