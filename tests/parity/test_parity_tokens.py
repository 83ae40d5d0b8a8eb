"""Parity-aware merges and vocabularies of a tokenizer.json, compared with Hugging Face's trainer.

The library differs between two runs in three ways, which are not compared: the ids of letters with
affixes (the order of the library is given to our trainer), the choice between equally frequent
letters of which some are dropped, and development words that become equal only by a merge. For some
options, the library never ends; then our trainer gives a warning.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from spmcompat.api.tokenizers import train_parity_from_iterators
from spmcompat.bpe.token_trainer import ParityTokenOptions, TokenOptions, Tokens, train_parity
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.words.words import Words
from tests.kinds import raises_kind
from tests.searches import examples

from .corpora import mixed_text, words_text
from .test_tokens import AFFIXES, TEXTS, WITH_AFFIXES, affixed_letters, byte_letters, result_of

tokenizers = pytest.importorskip("tokenizers")
from tokenizers import models, pre_tokenizers, trainers  # noqa: E402

Counts = Mapping[str, int]
NEVER_ENDS = "would never end"


class Language(NamedTuple):
    training: Counts
    development: Counts | None = None


class Options(NamedTuple):
    """The arguments of the library's trainer, and the order of the letters with affixes."""

    num_merges: int = 32000
    variant: str = "base"
    min_frequency: int = 0
    ratio: Sequence[float] | None = None
    global_merges: int = 0
    window_size: int = 100
    alpha: float = 2.0
    total_symbols: bool = False
    special_tokens: Sequence[str] = ()
    limit_alphabet: int | None = None
    initial_alphabet: Sequence[str] = ()
    continuing_subword_prefix: str = ""
    end_of_word_suffix: str = ""
    max_token_length: int | None = None
    affixed_letters: Sequence[str] = ()

    def shared(self) -> TokenOptions:
        names = {*TokenOptions._fields} & {*self._fields}
        return TokenOptions([self.num_merges], **{name: getattr(self, name) for name in names})

    def parity(self) -> ParityTokenOptions:
        window = self.window_size if self.variant == "window" else 0
        return ParityTokenOptions(
            self.ratio, self.global_merges, window, self.alpha, self.total_symbols
        )


class Warnings(Report):
    """A report that only collects warnings."""

    def __init__(self) -> None:
        super().__init__(min_log_level=3)
        self.warnings: list[str] = []

    def warning(self, message: str) -> None:
        self.warnings.append(message)


def real_tokens(
    languages: Sequence[Language], options: Options, *, byte_level: bool = False
) -> Tokens:
    given = options._asdict()
    given.pop("affixed_letters")
    lists = {name: list(given.pop(name)) for name in ("special_tokens", "initial_alphabet")}
    used = {name: value for name, value in given.items() if value not in (None, "")}
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    if byte_level:
        tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    development = None
    if any(language.development is not None for language in languages):
        development = [repeated(language.development or {}) for language in languages]
    training = [repeated(language.training) for language in languages]
    trainer: Any = trainers.ParityBpeTrainer(**lists, **used, show_progress=False)
    trainer.train_from_iterator(tokenizer, training, development)
    return result_of(tokenizer)


def repeated(words: Counts) -> list[list[str]]:
    return [[word] * count for word, count in words.items()]


def words_of(counts: Counts) -> Words:
    words = Words()
    for word, count in counts.items():
        words.add_word(word.encode(), count)
    return words


def our_tokens(
    languages: Sequence[Language],
    options: Options,
    are_bytes: bool = False,
    workers: int = 2,
) -> tuple[Tokens, bool]:
    """Return our result, and whether the library would never end."""
    report = Warnings()
    texts = [
        (words_of(training), None if development is None else words_of(development))
        for training, development in languages
    ]
    context = Context(Workers(workers), report)
    (tokens,) = train_parity(texts, are_bytes, options.shared(), options.parity(), context)
    return tokens, any(NEVER_ENDS in warning for warning in report.warnings)


def with_order_of(expected: Tokens, languages: Sequence[Language], options: Options) -> Options:
    """Return the options with the order in which the library numbered the letters with affixes."""
    if not (options.continuing_subword_prefix or options.end_of_word_suffix):
        return options
    words = {word: 1 for language in languages for word in language.training}
    texts = [*language_texts(languages)]
    plain = {*"".join(texts), *options.special_tokens}
    affixed = affixed_letters(words, options) - plain  # type: ignore[arg-type]
    return options._replace(affixed_letters=[text for text in expected.texts if text in affixed])


def language_texts(languages: Sequence[Language]) -> list[str]:
    return [word for language in languages for counts in language for word in counts or ()]


def has_clear_limit(languages: Sequence[Language], options: Options) -> bool:
    """Return whether the rarest letter that is kept is more frequent than the others."""
    counts: Counter[str] = Counter()
    for language in languages:
        for words in language:
            for word, count in (words or {}).items():
                counts.update({letter: n * count for letter, n in Counter(word).items()})
    counts.update(dict.fromkeys(options.initial_alphabet, 2**60))
    limit = options.limit_alphabet
    ordered = sorted(counts.values(), reverse=True)
    if limit is None or limit >= len(ordered) or limit == 0:
        return True
    return ordered[limit - 1] < 2**60 and ordered[limit - 1] > ordered[limit]


LANGUAGES = st.lists((TEXTS | st.just({})).map(Language), min_size=1, max_size=8)


@st.composite
def cases(draw: st.DrawFn) -> tuple[list[Language], Options]:
    languages = draw(LANGUAGES)
    mode = draw(st.sampled_from(["training", "development", "ratio", "both"]))
    ratio = None
    if mode in ("development", "both"):
        texts = st.none() | TEXTS | st.just({})
        languages = [language._replace(development=draw(texts)) for language in languages]
    if mode in ("ratio", "both"):
        ratios = st.sampled_from([0.3, 0.5, 1.0, 1.1, 2.0, 3.7])
        ratio = draw(st.lists(ratios, min_size=len(languages), max_size=len(languages)))
        if all(language.development is None for language in languages):
            assume(all(language.training for language in languages))
    prefix, suffix = draw(AFFIXES)
    options = Options(
        num_merges=draw(st.sampled_from([0, 5, 30, 100, 400])),
        variant=draw(st.sampled_from(["base", "window"])),
        min_frequency=draw(st.integers(0, 4)),
        ratio=ratio,
        global_merges=draw(st.sampled_from([0, 0, 3, 20, 500])),
        window_size=draw(st.sampled_from([1, 2, 5, 100])),
        alpha=draw(st.sampled_from([0.5, 1.0, 1.3, 2.0, 8.0])),
        total_symbols=draw(st.booleans()),
        special_tokens=draw(st.sampled_from([(), ("<s>",), ("ab", "<s>", "a")])),
        limit_alphabet=draw(st.sampled_from([None, None, None, 0, 1, 2, 4, 6])),
        initial_alphabet=draw(st.sampled_from([(), ("x", "a")])),
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        max_token_length=draw(st.sampled_from([None, None, 1, 2, 3, 4, 6, 10])),
    )
    if not has_clear_limit(languages, options):
        options = options._replace(limit_alphabet=None)
    return languages, options


@settings(max_examples=examples(2000), deadline=None)
@given(case=cases(), are_bytes=st.booleans())
def test_all_options(case: tuple[list[Language], Options], are_bytes: bool) -> None:
    languages, options = case
    if are_bytes:
        options = options._replace(limit_alphabet=None)
    first, never_ends = our_tokens(languages, options, are_bytes)
    if never_ends:
        return
    expected = real_tokens(languages, options, byte_level=are_bytes)
    if options.continuing_subword_prefix or options.end_of_word_suffix:
        mapped = as_bytes(languages) if are_bytes else languages
        options = with_order_of(expected, mapped, options)
        first, _ = our_tokens(languages, options, are_bytes)
    assert first == expected


def as_bytes(languages: Sequence[Language]) -> list[Language]:
    letters = byte_letters()

    def mapped(words: Counts | None) -> Counts | None:
        if words is None:
            return None
        return {"".join(map(letters.__getitem__, word.encode())): n for word, n in words.items()}

    return [Language(mapped(one) or {}, mapped(other)) for one, other in languages]


@pytest.mark.parametrize("variant", ["base", "window"])
@pytest.mark.parametrize("mode", ["training", "development", "ratio"])
@pytest.mark.parametrize("global_merges", [0, 50])
def test_texts_of_byte_level_tokenizers(variant: str, mode: str, global_merges: int) -> None:
    texts = [mixed_text(200), words_text(300), "mañana 漢字 " * 50 + "один два три" * 9]
    languages = [Language(Counter(text.split(" "))) for text in texts]
    for language in languages:
        assert isinstance(language.training, Counter)
        language.training.pop("", None)
    if mode == "development":
        languages = [one._replace(development=languages[0].training) for one in languages]
    options = Options(
        num_merges=900,
        variant=variant,
        global_merges=global_merges,
        ratio=[1.0, 1.5, 0.7] if mode == "ratio" else None,
        special_tokens=["<s>"],
        initial_alphabet=[*byte_letters().values()],
    )
    ours, _ = our_tokens(languages, options, are_bytes=True)
    assert ours == real_tokens(languages, options, byte_level=True)


PARTS = st.dictionaries(
    st.text("ab#", min_size=1, max_size=9), st.sampled_from([1, 2, 5, 50]), min_size=1, max_size=6
)


@settings(max_examples=examples(900), deadline=None)
@given(
    texts=st.lists(PARTS, min_size=1, max_size=3),
    affixes=st.sampled_from([("#", ""), ("##", ""), ("", "#"), ("#", "#"), ("a", "b")]),
    limit=st.sampled_from([None, None, 3, 4, 6]),
    global_merges=st.sampled_from([0, 4, 90]),
    min_frequency=st.sampled_from([0, 3]),
)
def test_words_that_contain_the_affix(
    texts: list[dict[str, int]],
    affixes: tuple[str, str],
    limit: int | None,
    global_merges: int,
    min_frequency: int,
) -> None:
    check_affixes(texts, None, affixes, limit, global_merges, min_frequency)


@settings(max_examples=examples(600), deadline=None)
@given(
    texts=st.lists(PARTS, min_size=2, max_size=2),
    development=PARTS,
    affixes=st.sampled_from([("#", ""), ("##", ""), ("", "#"), ("#", "#")]),
)
def test_development_words_that_contain_the_affix(
    texts: list[dict[str, int]], development: dict[str, int], affixes: tuple[str, str]
) -> None:
    check_affixes(texts, development, affixes)


@pytest.mark.parametrize(("prefix", "suffix", "words"), WITH_AFFIXES)
def test_fixed_words_that_contain_the_affix(
    prefix: str, suffix: str, words: dict[str, int]
) -> None:
    check_affixes([words, {"abab#": 3}], None, (prefix, suffix))


def check_affixes(
    texts: Sequence[Counts],
    development: Counts | None,
    affixes: tuple[str, str],
    limit: int | None = None,
    global_merges: int = 0,
    min_frequency: int = 0,
) -> None:
    languages = [Language(text) for text in texts]
    if development is not None:
        languages[-1] = languages[-1]._replace(development=development)
    prefix, suffix = affixes
    options = Options(
        num_merges=90,
        min_frequency=min_frequency,
        global_merges=global_merges,
        continuing_subword_prefix=prefix,
        end_of_word_suffix=suffix,
        max_token_length=limit,
    )
    expected = real_tokens(languages, options)
    if development is not None:
        merges = {tuple(real_tokens(languages, options).merges) for _ in range(5)}
        assume(merges == {tuple(expected.merges)})
    options = with_order_of(expected, languages, options)
    ours, _ = our_tokens(languages, options)
    assert ours == expected


def test_workers_change_nothing() -> None:
    languages = [Language(dict.fromkeys(words_text(500).split(), 2)), Language({"zxzx": 40})]
    options = Options(num_merges=300)
    assert our_tokens(languages, options, workers=1) == our_tokens(languages, options, workers=3)


ENDLESS = Options(variant="window", window_size=1, alpha=0.5)
ENDLESS_LANGUAGES = [Language({"abcdefgh": 1}), Language({"cd": 1})]


def test_the_window_excludes_all_languages_that_have_pairs() -> None:
    """The library then loops forever. Our trainer ignores the window."""
    ours, never_ends = our_tokens(ENDLESS_LANGUAGES, ENDLESS)
    assert never_ends
    assert len(ours.merges) == 7
    assert {"cd", "abcdefgh"} < {*ours.texts}
    # A process of its own, which imports only the library.
    script = f"""
from tokenizers import Tokenizer, models, trainers
languages = {[[*language.training] for language in ENDLESS_LANGUAGES]}
trainer = trainers.ParityBpeTrainer(variant="window", window_size=1, alpha=0.5)
trainer.train_from_iterator(Tokenizer(models.BPE()), languages)
"""
    with pytest.raises(subprocess.TimeoutExpired):
        subprocess.run([sys.executable, "-c", script], timeout=3, check=True)


def test_the_window_makes_an_exhausted_language_choose() -> None:
    """Only the second language has pairs left, but it made more than half of the last choices."""
    languages = [Language({"ab": 1}), Language({"cdefghijklm": 9}), Language({"xyz": 9})]
    options = Options(variant="window", window_size=3, alpha=1.5)
    assert our_tokens(languages, options) == (real_tokens(languages, options), False)


def test_costs_are_rounded() -> None:
    """The costs 3 / 0.3 and 1 / 0.1 are equal if they are rounded as in the library."""
    languages = [Language({"abcabc": 1}), Language({"defg": 1})]
    options = Options(ratio=[0.3, 0.1])
    ours, _ = our_tokens(languages, options)
    assert ours.merges[:3] == [("b", "c"), ("a", "bc"), ("abc", "abc")]
    assert ours == real_tokens(languages, options)


def test_a_language_without_letters_and_with_a_ratio() -> None:
    languages = [Language({"abc": 1}), Language({})]
    for first, second in (languages, languages[::-1]):
        options = Options(ratio=[1.0, 2.0])
        ours, never_ends = our_tokens([first, second], options)
        assert ours.merges == [("b", "c"), ("a", "bc")]
        assert never_ends == bool(first.training)
    assert ours == real_tokens([second, first][::-1], options)


@pytest.mark.parametrize(
    "changes",
    [
        {"ratio": [1.0]},
        {"ratio": [1.0, 0.0]},
        {"ratio": [1.0, float("inf")]},
        {"variant": "window", "window_size": 0},
        {"variant": "window", "alpha": 0.0},
        {"variant": "window", "alpha": float("nan")},
    ],
)
def test_bad_options(changes: dict[str, Any]) -> None:
    trainer = trainers.ParityBpeTrainer(**changes, show_progress=False)
    texts = [["ab"], ["cd"]]
    with pytest.raises((RuntimeError, ValueError)):
        trainer.train_from_iterator(tokenizers.Tokenizer(models.BPE()), texts)
    with raises_kind(f"bad-value {next(reversed(changes))}"):
        train_parity_from_iterators(tokenizers.Tokenizer(models.BPE()), texts, trainer)


def test_no_languages() -> None:
    with raises_kind("bad-value languages"):
        our_tokens([], Options())
    with pytest.raises(ValueError, match="must not be empty"):
        real_tokens([], Options())
