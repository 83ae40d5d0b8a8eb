"""The steps of ``tokenizers`` produce the same text as the rules of a charsmap."""

import random
from collections.abc import Mapping

import pytest

from spmcompat.normalization.charsmaps import OWN_NAMES, compile_charsmap, decompile, precompiled
from spmcompat.normalization.rules import MARK_CASE
from spmcompat.tools.export.charsmap_steps import JsonObject, analysed, steps_of
from spmcompat.tools.export.patterns import character_class, escaped, longest_of
from tests.searches import LONG, examples

tokenizers = pytest.importorskip("tokenizers", reason="tokenizers is not installed")

pytestmark = pytest.mark.slow

Rules = Mapping[tuple[int, ...], tuple[int, ...]]

OTHERS = ["nfkc_cf", *(name for name in OWN_NAMES if name != MARK_CASE)]
"""Rules that are like those of the short run, for a long search."""


def oracle(rules: Rules, symbols: list[str], text: str) -> str:
    """Replace the longest source at each character; user-defined symbols stay."""
    longest = max(map(len, rules), default=0)
    result, place = "", 0
    while place < len(text):
        found = [symbol for symbol in symbols if text.startswith(symbol, place)]
        if found:
            result += max(found, key=len)
            place += len(max(found, key=len))
            continue
        for length in range(longest, 0, -1):
            source = tuple(map(ord, text[place : place + length]))
            if len(source) == length and source in rules:
                result += "".join(map(chr, rules[source]))
                place += length
                break
        else:
            result += text[place]
            place += 1
    return result


def run(steps: list[JsonObject], text: str) -> str:
    import json

    content = {
        "version": "1.0",
        "added_tokens": [],
        "normalizer": {"type": "Sequence", "normalizers": steps},
        "model": {"type": "BPE", "vocab": {}, "merges": []},
    }
    made = tokenizers.Tokenizer.from_str(json.dumps(content))
    result: str = made.normalizer.normalize_str(text)
    return result


@pytest.mark.parametrize("name", ["nmt_nfkc", MARK_CASE, *(OTHERS if LONG else [])])
def test_every_predefined_rule_is_applied(name: str) -> None:
    """Each source is followed by a character that could combine with it.

    For speed, each text contains 500 sources.
    """
    charsmap = precompiled(name, "")
    rules = decompile(charsmap)
    sources = sorted(rules)
    chosen = random.Random(1).sample(sources, examples(6000))
    # Add every source that is a single character, or whose first character is in a Unicode block
    # that is newer than the library.
    chosen += [
        source for source in sources if len(source) == 1 or source[0] in range(0x10500, 0x17000)
    ]
    steps = steps_of(charsmap, (), frozenset())
    around = ["", "a", "\u0301", " ", "\u1100", "e\u0302"]
    parts = [
        "".join(map(chr, source)) + around[index % len(around)]
        for index, source in enumerate(chosen)
    ]
    for start in range(0, len(parts), 500):
        text = "".join(parts[start : start + 500])
        assert run(steps, text) == oracle(rules, [], text)


def test_only_compositions_newer_than_the_library_are_steps() -> None:
    rules = analysed(precompiled("nmt_nfkc", ""))
    assert rules.composes
    assert len(rules.explicit) < 50 < len(rules.several)


def random_text(chance: random.Random, alphabet: str, least: int, most: int) -> str:
    return "".join(chance.choice(alphabet) for _ in range(chance.randint(least, most)))


@pytest.mark.parametrize("seed", range(60))
def test_rules_and_symbols_of_ones_own(seed: int) -> None:
    """Random rules and symbols use few characters, so many of them overlap or share a prefix."""
    chance = random.Random(seed)
    alphabet = "abcA\u0301\u0302\uff21\u1100\u1161\u11a8 \r\n\x01\x02\u200d\U0001f600\u0600"
    # In some cases, the rules delete U+0001 and U+0002. Then the steps use these two characters as
    # separators.
    rules: dict[tuple[int, ...], tuple[int, ...]] = {}
    if chance.random() < 0.4:
        rules = {(1,): (), (2,): ()}
    longest = chance.choice((1, 3))
    for _ in range(chance.randrange(12)):
        source = tuple(map(ord, random_text(chance, alphabet, 1, longest)))
        target = tuple(map(ord, random_text(chance, alphabet, 0, 2)))
        if source != target:
            rules[source] = target
    if not rules:
        return
    few = alphabet[:5]
    count = chance.randrange(6)
    symbols = list(dict.fromkeys(random_text(chance, few, 1, 3) for _ in range(count)))
    charsmap = compile_charsmap(rules)
    steps = steps_of(charsmap, tuple(symbols), frozenset(symbols))
    for _ in range(60):
        text = random_text(chance, chance.choice((few, alphabet)), 1, 14)
        assert run(steps, text) == oracle(rules, symbols, text), (rules, symbols, text)


def test_symbols_are_found_from_the_left() -> None:
    """A symbol does not begin inside the source of a rule, or inside another symbol."""
    rules = {(0x74, 0x68, 0x65): (0x2A, 0x2A), (0x301,): ()}
    steps = steps_of(compile_charsmap(rules), ("e\u0301",), frozenset(["e\u0301"]))
    assert run(steps, "the\u0301 e\u0301") == "** e\u0301"
    symbols = ["ab", "bA"]
    steps = steps_of(compile_charsmap({(0x41,): (0x78,)}), tuple(symbols), frozenset(symbols))
    assert run(steps, "abA bA A") == "abx bA x"


def test_control_characters_that_the_rules_delete_are_deleted_without_other_rules() -> None:
    steps = steps_of(compile_charsmap({(1,): (), (2,): ()}), (), frozenset())
    assert run(steps, "\x01a\x02b\x01") == "ab"


def test_patterns_find_the_longest_text() -> None:
    texts = ["a", "ab", "abc", "b.c", "\u0301", "x\u0301y", "]", "-", "^", "\\", "&&", " #", "\n"]
    pattern = longest_of([tuple(map(ord, text)) for text in texts])
    replace = tokenizers.normalizers.Replace(tokenizers.Regex(f"\\A(?:{pattern})\\z"), "!")
    for text in texts:
        assert replace.normalize_str(text) == "!"
        assert replace.normalize_str(text + "q") == text + "q"
    first = tokenizers.normalizers.Replace(tokenizers.Regex(pattern), "!")
    assert first.normalize_str("abcabb.cq") == "!!!q"
    for one in "]-^\\&[|{}()*+?.$/#~ \t\u0301":
        only = tokenizers.normalizers.Replace(tokenizers.Regex(character_class([ord(one), 65])), "")
        assert only.normalize_str(f"A{one}B") == "B"
        plain = tokenizers.normalizers.Replace(tokenizers.Regex(escaped(one)), "")
        assert plain.normalize_str(f"A{one}B") == "AB"
