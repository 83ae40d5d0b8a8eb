"""Random rules and random bytes: charsmaps and normalized texts equal those of the library."""

from __future__ import annotations

import functools
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spmcompat.errors import TrainingError
from spmcompat.normalization import charsmaps
from spmcompat.normalization.charsmaps import Normalizer, replace_meta_pieces
from tests.parity import reference_normalizer as reference
from tests.searches import examples

SPACE = "\u2581".encode()

# Few characters, many of which share bytes, so that rules overlap and often match.
CHARACTERS = [*map(ord, " abcé\u0301\u0300\u2581\u2582中丮\ufffd😀😁"), 0x7F, 0x10FFFF]

points = st.lists(st.sampled_from(CHARACTERS), max_size=5).map(tuple)
rule_sets = st.dictionaries(points.filter(bool), points, min_size=1, max_size=60).map(
    lambda rules: {s: t for s, t in rules.items() if s != t} or {(0x61,): (0x62,)}
)
characters = st.one_of(
    st.sampled_from([chr(c).encode() for c in CHARACTERS]),
    st.sampled_from([b" ", b"  ", b"\t", b"\0", b"\xe2", b"\x96", b"\x81", b"\xf0\x9f", b"\xff"]),
    st.sampled_from(["\u00a0", "\u3000", "\u200b", "ﬁ", "Å", "각", "\u0308"]).map(str.encode),
    st.characters(codec="utf-8").map(str.encode),
    st.binary(max_size=3),
)
texts = st.lists(characters, max_size=40).map(b"".join)
flags = st.fixed_dictionaries(
    {
        "add_dummy_prefix": st.booleans(),
        "remove_extra_whitespaces": st.booleans(),
        "escape_whitespaces": st.booleans(),
        "treat_whitespace_as_suffix": st.booleans(),
    }
)

NAMES = (*charsmaps.NAMES, *charsmaps.OWN_NAMES, "identity")
precompiled = functools.cache(charsmaps.precompiled)


@functools.cache
def ours(name: str) -> Normalizer:
    return Normalizer(precompiled(name))


@functools.cache
def theirs(name: str) -> reference.Normalizer:
    return reference.Normalizer(precompiled(name))


@settings(max_examples=examples(500), deadline=None)
@given(rule_sets)
def test_rules_compile_to_the_bytes_of_the_library(rules: reference.Rules) -> None:
    blob = charsmaps.compile_charsmap(rules)
    assert blob == reference.compile_charsmap(rules)
    assert charsmaps.decompile(blob) == rules


@settings(max_examples=examples(500), deadline=None)
@given(rule_sets, st.lists(texts, min_size=1, max_size=10), flags)
def test_texts_normalize_as_in_the_library_by_any_rules(
    rules: reference.Rules, lines: list[bytes], options: dict[str, bool]
) -> None:
    blob = charsmaps.compile_charsmap(rules)
    ours = Normalizer(blob, **options)
    theirs = reference.Normalizer(blob, **options)
    for line in lines:
        assert ours.normalize(line) == theirs.normalize(line)


@settings(max_examples=examples(1000), deadline=None)
@given(st.sampled_from(sorted(NAMES)), texts)
def test_texts_normalize_as_in_the_library_by_predefined_rules(name: str, text: bytes) -> None:
    assert ours(name).normalize(text) == theirs(name).normalize(text)


@given(texts, flags)
def test_copying_plain_characters_at_once_changes_nothing(
    text: bytes, options: dict[str, bool]
) -> None:
    # The normalizer copies plain characters at once. A character is not plain if the source of a
    # rule begins with it, even if that rule never matches.
    present = {ord(c) for c in text.decode(errors="ignore")} | set(range(1, 128))
    unused = 0x10FFFE
    text = text.replace(chr(unused).encode(), b"")
    slow = charsmaps.compile_charsmap({(c, unused): () for c in present if c > 0})
    expected = Normalizer(slow, **options).normalize(text)
    assert Normalizer(b"", **options).normalize(text) == expected


@given(st.sampled_from(sorted(NAMES)), texts)
def test_a_raw_token_is_normalized_as_within_a_text(name: str, text: bytes) -> None:
    raw = text.replace(b" ", b"")
    inside = Normalizer(precompiled(name), add_dummy_prefix=False).normalize(raw)
    marked = ours(name).normalize_raw_token(raw).replace(b" ", SPACE)
    assert re.sub(rb"(?:\xe2\x96\x81)+\Z", b"", marked) == inside


@settings(max_examples=examples(500), deadline=None)
@given(rule_sets)
def test_a_space_is_found_in_any_source(rules: reference.Rules) -> None:
    found = charsmaps.any_source_has_space(charsmaps.compile_charsmap(rules))
    assert found == any(0x20 in source for source in rules)


@settings(max_examples=examples(500), deadline=None)
@given(rule_sets, st.lists(texts, min_size=1, max_size=6))
def test_independent_raw_tokens_join_to_the_normalized_text(
    rules: reference.Rules, lines: list[bytes]
) -> None:
    spaceless = {s: t for s, t in rules.items() if 0x20 not in s} or {(0x61,): (0x62, 0x20)}
    normalizer = Normalizer(charsmaps.compile_charsmap(spaceless))
    raw_tokens = filter(None, b" ".join(lines).split(b" "))
    texts = {raw: normalizer.normalize_raw_token(raw) for raw in raw_tokens}
    regular = [r for r, text in texts.items() if text and b"  " not in text and SPACE not in text]
    whole = normalizer.normalize(b" ".join(regular))
    assert whole == b"".join(
        SPACE + texts[raw].removesuffix(b" ").replace(b" ", SPACE) for raw in regular
    )


def naive_replace(pieces: list[bytes], text: bytes) -> bytes:
    out = b""
    while text:
        matches = sorted({len(piece) for piece in pieces if piece and text.startswith(piece)})
        if matches:
            step = matches[:64][-1]
            out += b"\x1f"
        else:
            step = 1 + sum(text[0] >= lead for lead in (0xC0, 0xE0, 0xF0))
            out += text[:step]
        text = text[step:]
    return out


short = st.lists(
    st.sampled_from([b"<", b"s", b">", b"\xe4", b"\xb8", b"\xad", b"\xf0"]), max_size=4
)


@settings(max_examples=examples(500), deadline=None)
@given(
    st.lists(short.map(b"".join), max_size=8),
    st.lists(st.one_of(short.map(b"".join), st.binary(max_size=3)), max_size=12).map(b"".join),
)
def test_meta_pieces_are_replaced_as_by_a_naive_search(pieces: list[bytes], text: bytes) -> None:
    assert replace_meta_pieces(pieces, text) == naive_replace(pieces, text)


@settings(max_examples=examples(500), deadline=None)
@given(rule_sets, st.data(), texts)
def test_damaged_charsmaps_are_accepted_or_refused_as_by_the_library(
    rules: reference.Rules, data: st.DataObject, text: bytes
) -> None:
    blob = bytearray(charsmaps.compile_charsmap(rules))
    for _ in range(data.draw(st.integers(1, 4))):
        position = data.draw(st.integers(0, len(blob) - 1))
        blob[position] ^= data.draw(st.integers(1, 255))
    damaged = bytes(blob[: data.draw(st.integers(len(blob) - 3, len(blob)))])
    try:
        theirs = reference.Normalizer(damaged)
    except RuntimeError:
        with pytest.raises(TrainingError):
            Normalizer(damaged)
        return
    Normalizer(damaged)
    assert Normalizer(damaged).normalize(text) == theirs.normalize(text)
