"""Merges and vocabularies of a tokenizer.json, compared with Hugging Face's trainer."""

from __future__ import annotations

import json
import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmcompat.bpe.token_trainer import TokenOptions, Tokens, train
from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.workers import Workers
from spmcompat.splitting.expressions import EXPRESSIONS
from spmcompat.text.sources import open_source
from spmcompat.words.reading import read_words
from spmcompat.words.words import Words
from tests.searches import examples
from tests.unit.stages import QUIET

from .corpora import mixed_text, words_text

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import models, pre_tokenizers, trainers  # noqa: E402


def context(workers: int = 2) -> Context:
    return Context(Workers(workers), QUIET)


def trainer_of(options: TokenOptions) -> Any:
    """Return the real trainer with the same options."""
    given = options._asdict()
    given.pop("affixed_letters")
    (given["vocab_size"],) = given.pop("vocab_sizes")
    lists = {name: list(given.pop(name)) for name in ("special_tokens", "initial_alphabet")}
    used = {name: value for name, value in given.items() if value not in (None, "")}
    return trainers.BpeTrainer(**lists, **used, show_progress=False)


def result_of(tokenizer: Any) -> Tokens:
    model = json.loads(tokenizer.to_str())["model"]
    texts = sorted(model["vocab"], key=model["vocab"].__getitem__)
    return Tokens(texts, [(left, right) for left, right in model["merges"]])


def real_tokens(words: Mapping[str, int], options: TokenOptions) -> Tokens:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    repeated = (" ".join([word] * count) for word, count in words.items())
    tokenizer.train_from_iterator(repeated, trainer_of(options))
    return result_of(tokenizer)


def our_tokens(words: Mapping[str, int], options: TokenOptions, workers: int = 2) -> Tokens:
    counted = Words()
    for word, count in words.items():
        counted.add_word(word.encode(), count)
    (tokens,) = train(counted, False, options, context(workers))
    return tokens


def affixed_letters(words: Mapping[str, int], options: TokenOptions) -> set[str]:
    """Return the letters with affixes, whose order differs between two runs of the library."""
    prefix, suffix = options.continuing_subword_prefix, options.end_of_word_suffix
    return {
        (prefix if i > 0 else "") + letter + (suffix if i == len(word) - 1 else "")
        for word in words
        for i, letter in enumerate(word)
    }


WORDS = st.one_of(
    st.text("ab", min_size=1, max_size=12),
    st.text("abcdef", min_size=1, max_size=30),
    st.text("aé漢😀", min_size=1, max_size=8),
    st.builds(lambda text, n: text * n, st.text("abc", min_size=1, max_size=4), st.integers(2, 9)),
)
TEXTS = st.dictionaries(WORDS, st.sampled_from([1, 1, 2, 3, 10, 50]), min_size=1, max_size=60)
AFFIXES = st.sampled_from([*[("", "")] * 4, ("##", ""), ("", "</w>"), ("<", ">")])


@st.composite
def trainer_options(draw: st.DrawFn) -> TokenOptions:
    prefix, suffix = draw(AFFIXES)
    return TokenOptions(
        vocab_sizes=(draw(st.sampled_from([0, 5, 20, 60, 200])),),
        min_frequency=draw(st.integers(0, 3)),
        special_tokens=draw(st.sampled_from([(), ("<s>",), ("ab", "<s>", "a")])),
        initial_alphabet=draw(st.sampled_from([(), ("x", "a"), ("zz",)])),
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        max_token_length=draw(st.sampled_from([None, None, 1, 2, 3, 4, 6, 10])),
    )


@settings(max_examples=examples(2000), deadline=None)
@given(words=TEXTS, options=trainer_options())
def test_all_options(words: dict[str, int], options: TokenOptions) -> None:
    expected = real_tokens(words, options)
    if options.continuing_subword_prefix or options.end_of_word_suffix:
        plain = {*"".join(words), *options.special_tokens}
        affixed = affixed_letters(words, options) - plain
        order = [text for text in expected.texts if text in affixed]
        options = options._replace(affixed_letters=order)
    assert our_tokens(words, options) == expected


def test_the_alphabet_is_limited() -> None:
    words = {"aaab": 5, "cab": 3, "dad": 1, "eaeb": 1}
    for limit in range(6):
        options = TokenOptions((20,), limit_alphabet=limit, initial_alphabet=["x"])
        ours = our_tokens(words, options)
        if limit != 5:  # "d" and "e" are equally frequent, and the library keeps either
            assert ours == real_tokens(words, options)
    assert "d" in our_tokens(words, options._replace(limit_alphabet=5)).texts[:4]


# Words that contain the affix. A merge then gives a text that is a token already, and occurs in the
# text. For some such words, two runs of the library differ even if they order the letters in the
# same way; for these words, 60 runs did not.
WITH_AFFIXES: list[tuple[str, str, dict[str, int]]] = [
    ("##", "", {"###b": 2, "b#a#": 5, "##a": 1}),
    ("##", "", {"a##": 2, "#bab#b": 1, "######b#": 1}),
    ("##", "", {"#a###ab#a": 1, "##b#aa#b#": 5, "bb##a": 1}),
    ("#", "", {"a##b": 50, "b#aabb": 50, "###a": 2}),
    ("#", "", {"#a#a": 2, "##b#a#a": 50, "###": 1}),
    ("#", "", {"a#b#a#": 2, "##b##b#": 5, "##b#a": 50}),
    ("", "#", {"abb": 2, "#aa#aa###": 50, "#bb#b##ab": 50}),
    ("", "#", {"bb###b#": 1, "#aabba": 50, "bbb#b#": 5}),
    ("", "#", {"a##aa#": 2, "b##": 2, "a#ab#bb#b": 5}),
]


@pytest.mark.parametrize(("prefix", "suffix", "words"), WITH_AFFIXES)
def test_words_that_contain_the_affix(prefix: str, suffix: str, words: dict[str, int]) -> None:
    options = TokenOptions((90,), continuing_subword_prefix=prefix, end_of_word_suffix=suffix)
    affixed = affixed_letters(words, options) - {*"".join(words)}
    for _ in range(3):
        expected = real_tokens(words, options)
        assert len(expected.texts) < len({*"".join(words), *affixed}) + len(expected.merges)
        order = [text for text in expected.texts if text in affixed]
        assert our_tokens(words, options._replace(affixed_letters=order)) == expected


def test_workers_and_sizes_change_nothing() -> None:
    dice = random.Random(3)
    words = {"".join(dice.choices("abcdefgh", k=dice.randint(2, 12))): 3 for _ in range(3000)}
    expected = our_tokens(words, TokenOptions((900,)), workers=1)
    assert our_tokens(words, TokenOptions((900,)), workers=3) == expected
    counted = Words()
    for word, count in words.items():
        counted.add_word(word.encode(), count)
    small, large = train(counted, False, TokenOptions((100, 900)), context())
    assert large == expected
    assert small == our_tokens(words, TokenOptions((100,)))


def test_pairs_far_from_each_other() -> None:
    # The words with qz are spread over 370,000 letters.
    letters = random.Random(7)
    words = {"".join(letters.choices("abcdefghij", k=30)): 1 for _ in range(12000)}
    words |= {f"{n}qz": 500 for n in range(8)}
    options = TokenOptions((300,))
    assert our_tokens(words, options) == real_tokens(words, options)


@pytest.mark.parametrize("scanner", sorted({*EXPRESSIONS.values()}))
def test_texts_of_byte_level_tokenizers(scanner: str, tmp_path: Path) -> None:
    path = tmp_path / "text.txt"
    text = f"{mixed_text(200)}{words_text(300)}It's  I'LL\r\n\t x\u3000y 12345\n\n  end"
    path.write_bytes(text.encode())
    letters = byte_letters()
    options = TokenOptions((1500,), special_tokens=["<s>"], initial_alphabet=[*letters.values()])
    source = open_source(TextPlan(input=(str(path),)), None, QUIET)
    words = read_words(source, scanner, False, context())
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = byte_level(scanner)
    tokenizer.train([str(path)], trainer_of(options))
    assert train(words, True, options, context()) == [result_of(tokenizer)]


def byte_level(scanner: str) -> Any:
    if scanner == "gpt2":
        return pre_tokenizers.ByteLevel(add_prefix_space=False)
    expression = next(text for text, name in EXPRESSIONS.items() if name == scanner)
    split = pre_tokenizers.Split(tokenizers.Regex(expression), "isolated")
    after = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    return pre_tokenizers.Sequence([split, after])


def byte_letters() -> dict[int, str]:
    """Return the character with which the library represents each byte."""
    step = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    letters = {}
    for code in (*range(128), *range(0xA1, 0x800), 0x800, 0x1000, 0x10000, 0x40000, 0x100000):
        ((mapped, _),) = step.pre_tokenize_str(chr(code))
        letters.update(zip(chr(code).encode(), mapped, strict=True))
    for lead in range(0xE0, 0xF0):
        code = max((lead & 15) << 12, 0x800)
        ((mapped, _),) = step.pre_tokenize_str(chr(code if code != 0xD000 else 0xD100))
        letters.update(zip(chr(code if code != 0xD000 else 0xD100).encode(), mapped, strict=True))
    return letters
