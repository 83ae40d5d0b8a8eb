"""The named rules of this package: without accents, and with marks for capitals."""

from __future__ import annotations

import functools
import hashlib
import random
import re
import sys
import unicodedata
from collections.abc import Callable, Iterator

import pytest

from spmcompat.normalization import charsmaps
from spmcompat.normalization.charsmaps import Normalizer, case_restoring, precompiled
from spmcompat.releases import RELEASES, Release
from spmcompat.unicode.marks import CASE_MARK
from tests.parity import reference_normalizer as reference
from tests.searches import LONG

STRIPPING = [name for name in charsmaps.OWN_NAMES if name.endswith("_strip_accents")]
MARKING = "nmt_nfkc_mark_case"


@functools.cache
def assigned() -> list[str]:
    """Return the characters that are assigned in the Unicode version of this Python."""
    points = map(chr, range(1, sys.maxunicode + 1))
    return [c for c in points if unicodedata.category(c) not in ("Cn", "Cs")]


# Patterns for the names of marks that are accents, and for the exceptions among these marks.
ACCENT = re.compile("COMBINING|HEBREW|ARABIC|SYRIAC|COPTIC COMBINING")
NO_ACCENT = re.compile(
    "LONG SOLIDUS OVERLAY$|.*(KATAKANA|DEVANAGARI|PERMIC|BINDU BELOW|GRANTHA|MUSICAL|GLAGOLITIC)"
)


def is_accent(c: str) -> bool:
    name = unicodedata.name(c, "")
    return (
        unicodedata.category(c) == "Mn"
        and not 0x20D0 <= ord(c) <= 0x20FF  # marks for symbols
        and ACCENT.match(name) is not None
        and NO_ACCENT.match(name.removeprefix("COMBINING ")) is None
    )


def without_accents(text: str) -> str:
    """Decompose, remove the accents, and compose again."""
    decomposed = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in decomposed if not is_accent(c)))


def function_of(charsmap: bytes) -> Callable[[str], str]:
    """Return a function that applies only the charsmap, with spmcompat's normalizer."""
    normalizer = Normalizer(
        charsmap, add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False
    )
    return lambda text: normalizer.normalize(text.encode()).decode()


def library_function_of(charsmap: bytes) -> Callable[[str], str]:
    """Return a function that applies only the charsmap, with the real library's normalizer."""
    normalizer = reference.Normalizer(
        charsmap, add_dummy_prefix=False, remove_extra_whitespaces=False, escape_whitespaces=False
    )
    return lambda text: normalizer.normalize(text.encode()).decode()


DIGESTS = {
    "nmt_nfkc_strip_accents": "4877fbe7e52e68ded7c4fa7f07d84e20764285008c32a30c69e4254c67e5a030",
    "nmt_nfkc_cf_strip_accents": "dae6104d57052e1b8b8fcc1522afc505430206c544a44d08fd706fc5930c71da",
    MARKING: "31339d4cdfc3ed4f0a5da01e2f64f9870383ed14c0a7e166cd8816015bdf6ea2",
    "": "d0da7f85d4aa23ac19ba3c9d6522d065987bb15de9c14b3bbf0bbc359422dfd8",
}


@pytest.mark.slow
@pytest.mark.parametrize("name", DIGESTS)
def test_the_bytes_never_change(name: str) -> None:
    """The charsmaps are equal in all versions of Python, so that models can be reproduced."""
    charsmap = precompiled(name) if name else case_restoring()
    assert hashlib.sha256(charsmap).hexdigest() == DIGESTS[name]


# tests/parity/test_derived_rules.py compares the others in models.
@pytest.mark.slow
@pytest.mark.parametrize("name", charsmaps.OWN_NAMES if LONG else [MARKING])
def test_the_library_compiles_the_rules_to_the_same_bytes(name: str) -> None:
    blob = precompiled(name)
    rules = reference.decompile(blob)
    assert rules == charsmaps.decompile(blob)
    assert reference.compile_charsmap(rules) == blob


def test_the_library_compiles_the_rules_for_decoding_to_the_same_bytes() -> None:
    rules = reference.decompile(case_restoring())
    assert reference.compile_charsmap(rules) == case_restoring()


@pytest.mark.slow
@pytest.mark.parametrize("release", RELEASES.values(), ids=RELEASES)
def test_the_rules_are_derived_from_those_of_the_release(release: Release) -> None:
    characters = release.characters_without_rules
    plain = function_of(precompiled("nmt_nfkc", characters))
    stripped = function_of(precompiled("nmt_nfkc_strip_accents", characters))
    marked = function_of(precompiled(MARKING, characters))
    restore = function_of(case_restoring(characters))
    for text in ("Ünïcödé \u061c", "\ua7f1 \ua7f2", "ÀÇ"):
        assert stripped(text) == without_accents(plain(text))
        assert restore(marked(text)) == plain(text)


# ---------------------------------------------------------------- accents


@pytest.mark.slow
@pytest.mark.parametrize("name", STRIPPING)
def test_every_character_loses_its_accents(name: str) -> None:
    plain = function_of(precompiled(name.removesuffix("_strip_accents")))
    stripped = function_of(precompiled(name))
    # `plain` is applied twice because of İ: case folding leaves İ unchanged, but it changes the I
    # that remains without the dot. The only exception is U+0345, the iota subscript. If it stands
    # alone, case folding turns it into a letter. After a letter, it is an accent.
    different = [c for c in assigned() if stripped(c) != plain(without_accents(plain(c)))]
    assert different == ["\u0345"] * ("_cf_" in name)


LETTERS = "aeoszAEIOÅÄÇñøłßếǕǭᾳΐόςΩЙйёїאשּׁبأآؤ ﬁ½≠가한が日क1.,"
MARKS = "\u0300\u0301\u0302\u0307\u0308\u030c\u0323\u0327\u0328\u0345\u05b8\u064b\u0653\u0654"


def random_texts(seed: int, count: int) -> Iterator[str]:
    """Yield texts with any number of marks in any order."""
    rng = random.Random(seed)
    for _ in range(count):
        parts = rng.choices([LETTERS, MARKS], [2, 1], k=rng.randint(1, 12))
        yield "".join(map(rng.choice, parts))


@pytest.mark.parametrize("function", [function_of, library_function_of])
def test_any_sequence_of_accents_is_removed(
    function: Callable[[bytes], Callable[[str], str]],
) -> None:
    stripped = function(precompiled("nmt_nfkc_strip_accents"))
    for text in random_texts(1, 5000):
        assert stripped(text) == without_accents(unicodedata.normalize("NFKC", text)), ascii(text)


@pytest.mark.slow
@pytest.mark.parametrize("name", STRIPPING)
def test_an_accented_letter_has_the_result_of_its_decomposition(name: str) -> None:
    stripped = function_of(precompiled(name))
    for c in assigned():
        decomposed = unicodedata.normalize("NFD", c)
        if len(decomposed) > 1 and any(map(is_accent, decomposed)):
            assert stripped(decomposed) == stripped(c)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Ünïcödé Ελλάδα ёй", "Unicode Ελλαδα еи"),
        ("Việt Nam", "Viet Nam"),
        ("شُكْرًا أآؤ", "شكرا ااو"),
        ("שָׁלוֹם", "שלום"),
        # Marks that represent vowels or consonants stay.
        ("हिन्दी भाषा में", "हिन्दी भाषा में"),
        ("ภาษาไทยที่นี่", "ภาษาไทยที่นี่"),
        ("がぎぐ パンダ", "がぎぐ パンダ"),
        ("한국어 \u1112\u1161\u11ab", "한국어 한"),
        # Symbols stay, and so do letters that have no decomposition.
        ("øłđßı ≠∉ ❤\ufe0f", "øłđßı ≠∉ ❤\ufe0f"),
        # NFKC replaces a spacing accent with a space and a combining accent.
        ("rock´n´roll", "rock n roll"),
    ],
)
def test_what_stays_and_what_is_lost(text: str, expected: str) -> None:
    assert library_function_of(precompiled("nmt_nfkc_strip_accents"))(text) == expected


@pytest.mark.parametrize("text", ["\u1112\u0301\u1161", "か\u0301\u3099", "=\u0301\u0338"])
def test_what_an_accent_separates_is_not_composed(text: str) -> None:
    """A charsmap scans the text once, from left to right, and never changes its own output."""
    stripped = function_of(precompiled("nmt_nfkc_strip_accents"))
    assert stripped(text) == text[0] + text[2] != without_accents(text)


# ---------------------------------------------------------------- capitals


@pytest.fixture(scope="module")
def restored() -> Callable[[str], str]:
    """A function that marks and then restores capitals, with the real library's normalizer."""
    mark, restore = library_function_of(precompiled(MARKING)), library_function_of(case_restoring())
    return lambda text: restore(mark(text))


@pytest.mark.slow
def test_every_character_is_restored() -> None:
    plain = function_of(precompiled("nmt_nfkc"))
    mark, restore = function_of(precompiled(MARKING)), function_of(case_restoring())
    for c in map(chr, [*range(1, 0xD800), *range(0xE000, sys.maxunicode + 1)]):
        assert restore(mark(c)) == plain(c)


@pytest.mark.slow
def test_every_text_is_restored(restored: Callable[[str], str]) -> None:
    plain = library_function_of(precompiled("nmt_nfkc"))
    rng = random.Random(2)
    cased = [c for c in assigned() if c.lower() != c or c.upper() != c]
    others = [*assigned(), *MARKS, *[CASE_MARK] * 20_000]
    for _ in range(5000):
        text = "".join(rng.choice(rng.choice((cased, others))) for _ in range(rng.randint(1, 20)))
        assert restored(text) == plain(text), ascii(text)


def test_capitals_become_small_letters() -> None:
    """All capitals change, except those of Cherokee, and İ, whose small form has two characters."""
    plain, mark = function_of(precompiled("nmt_nfkc")), function_of(precompiled(MARKING))
    unchanged = set()
    for c in assigned():
        if unicodedata.category(c) not in ("Lu", "Lt") or plain(c) != c:
            continue
        if mark(c) == c:
            unchanged.add(c)
        else:
            assert mark(c) == CASE_MARK + c.lower()
    assert {c for c in unchanged if "CHEROKEE" not in unicodedata.name(c)} == {"İ"}


def test_only_capitals_are_marked() -> None:
    plain, mark = function_of(precompiled("nmt_nfkc")), function_of(precompiled(MARKING))
    for c in assigned():
        capitals = [d for d in plain(c) if unicodedata.category(d) in ("Lu", "Lt")]
        if not capitals and c != CASE_MARK:
            assert mark(c) == plain(c)


def test_stray_case_marks_are_not_decoded(restored: Callable[[str], str]) -> None:
    """Networks may generate stray case marks. A case mark in a text is doubled to preserve it."""
    restore = library_function_of(case_restoring())
    assert restore(f"{CASE_MARK} a{CASE_MARK}1{CASE_MARK}") == " a1"
    for text in (CASE_MARK, f"{CASE_MARK}a", f"A{CASE_MARK}B", CASE_MARK * 3 + "C"):
        assert restored(text) == text
