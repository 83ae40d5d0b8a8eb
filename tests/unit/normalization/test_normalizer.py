"""The normalizer and the meta piece matcher, on texts that exercise each of their rules."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from spmcompat.normalization import charsmaps
from spmcompat.normalization.charsmaps import Normalizer, replace_meta_pieces
from tests.kinds import raises_kind
from tests.parity import reference_normalizer as reference

FLAGS = [
    dict(
        zip(
            (
                "add_dummy_prefix",
                "remove_extra_whitespaces",
                "escape_whitespaces",
                "treat_whitespace_as_suffix",
            ),
            values,
            strict=True,
        )
    )
    for values in itertools.product([True, False], repeat=4)
]

USER_RULES = {
    (0x61, 0x62): (0x78,),  # ab -> x
    (0x61, 0x62, 0x20, 0x63): (0x79,),  # "ab c" -> y
    (0x64,): (),
    (0x65,): (0x20,),
    (0x66,): (0x20, 0x20, 0x46, 0x20, 0x20),
    (0x67,): (0x2581,),
    (0x68,): (0x2581, 0x20),
    (0x69,): (0x00, 0x49),  # a target ends at its first U+0000
    (0x6A, 0x301): (0x4A,),
    (0x20, 0x20, 0x20): (0x5F,),
    (0xFFFD,): (0x3F,),
    (0x4E2D, 0x6587): (0x43,),
}

CHARSMAPS = {name: charsmaps.precompiled(name) for name in (*charsmaps.NAMES, "identity")} | {
    "user": charsmaps.compile_charsmap(USER_RULES),
    "space to other": charsmaps.compile_charsmap({(0x20,): (0x5F,)}),
    "space deleted": charsmaps.compile_charsmap({(0x20,): ()}),
    "space doubled": charsmaps.compile_charsmap({(0x20,): (0x20, 0x20)}),
    "space begins": charsmaps.compile_charsmap({(0x20, 0x61): (0x62,)}),
    "space inside": charsmaps.compile_charsmap({(0x61, 0x20, 0x61): (0x62,)}),
    "space ends": charsmaps.compile_charsmap({(0x61, 0x20): (0x62,)}),
}

TEXTS = [
    "",
    " ",
    "   ",
    "a",
    " a ",
    "a b",
    "  Hello   world.  ",
    "ab c abc ab  c",
    "dd",
    " d ",
    "d a d",
    "e",
    "ae eb",
    "a e e b",
    "f",
    " f af fa ",
    "g g",
    "\u2581",
    "\u2581\u2581 a \u2581",
    "a \u2581",
    "a\u2581 \u2581",
    "h h",
    "i ai ia",
    "j\u0301 j\u0300 aj\u0301j",
    "a   b    c      d",
    "\ufffd",
    "中文 中 文中文",
    "é e\u0301 E\u0301\u0300 ﬁ Ⅷ ㍿ ½",
    "Ａ１　ｂ\u00a0\u2003x",
    "\u200b a\u200bb \u200b",
    "\t\ta\tb\r\nc\x0b\x0c",
    "a\0b\0",
    "\x01\x02\x7f",
    "각 각 ᄀ",
    "İıſßẞ Straße",
    "हिन्दी ไทย עִבְרִית العربية",
    "😀 👩‍👩‍👧 🇩🇪",
    "\u2000\u3000\u00a0",
    "\u061ca\u061cb",
    "<s> a</s>",
]

BYTES = [text.encode() for text in TEXTS] + [
    b"\xff",
    b"\x80a",
    b"a\xc3",
    b"\xc3a",
    b"\xc3 a",
    b"\xe4\xb8",
    b"\xe4\xb8 \xad",
    b"\xe4a\xb8\xad",
    b"\xf0\x9f\x98",
    b"\xf0\x9f\x98\x80\xf0\x9f",
    b"\xc0\x80 \xc1\xbf",
    b"\xe0\x80\x80 \xe0\x9f\xbf \xe0\xa0\x80",
    b"\xed\x9f\xbf \xed\xa0\x80 \xed\xbf\xbf \xee\x80\x80",
    b"\xf0\x8f\xbf\xbf \xf0\x90\x80\x80",
    b"\xf4\x8f\xbf\xbf \xf4\x90\x80\x80",
    b"\xf8\x88\x80\x80\x80 \xfe \xff\xff",
    b"j\xcc\x81j\xcc",
    b"a \xe2\x96\x81\xe2\x96",
    b"\xef\xbf\xbd \xef\xbf",
]


@pytest.mark.slow
@pytest.mark.parametrize("flags", FLAGS, ids=lambda flags: "".join("01"[v] for v in flags.values()))
@pytest.mark.parametrize("name", CHARSMAPS)
def test_texts_normalize_as_in_the_library(name: str, flags: dict[str, bool]) -> None:
    ours = Normalizer(CHARSMAPS[name], **flags)
    theirs = reference.Normalizer(CHARSMAPS[name], **flags)
    for text in BYTES:
        assert ours.normalize(text) == theirs.normalize(text), text


@pytest.mark.slow
@pytest.mark.parametrize("name", CHARSMAPS)
def test_every_character_normalizes_as_in_the_library(name: str) -> None:
    ours = Normalizer(CHARSMAPS[name])
    theirs = reference.Normalizer(CHARSMAPS[name])
    for start in range(0, 0x110000, 0x400):
        block = [c for c in range(start, start + 0x400) if not 0xD800 <= c < 0xE000]
        text = "".join(f"{chr(c)}a {chr(c)}\u0301" for c in block).encode()
        assert ours.normalize(text) == theirs.normalize(text), hex(start)


@pytest.mark.parametrize(
    ("name", "has_space"),
    [
        *((name, False) for name in (*charsmaps.NAMES, "identity")),
        ("user", True),
        ("space to other", True),
        ("space deleted", True),
        ("space doubled", True),
        ("space begins", True),
        ("space inside", True),
        ("space ends", True),
    ],
)
def test_which_charsmaps_have_a_source_with_a_space(name: str, has_space: bool) -> None:
    assert charsmaps.any_source_has_space(CHARSMAPS[name]) is has_space


def test_spaces_in_targets_are_not_spaces_in_sources() -> None:
    rules = {source: target for source, target in USER_RULES.items() if 0x20 not in source}
    assert any(0x20 in target for target in rules.values())
    assert not charsmaps.any_source_has_space(charsmaps.compile_charsmap(rules))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (b"", b""),
        (b"abc", b"abc"),
        ("\u00a0a\u00a0\u00a0b\u00a0".encode(), b"a b "),
        ("\u3000".encode(), b""),
        ("\u200b".encode(), b""),
        ("\u2581".encode(), b""),
        ("\u2582".encode(), "\u2582".encode()),
        (b"\xff", "\ufffd".encode()),
        ("¨a".encode(), "\u0308a".encode()),
        ("a¨".encode(), "a \u0308".encode()),
    ],
)
def test_a_raw_token_collapses_spaces_and_keeps_the_last(text: bytes, expected: bytes) -> None:
    normalizer = Normalizer(CHARSMAPS["nmt_nfkc"], add_dummy_prefix=False)
    assert normalizer.normalize_raw_token(text) == expected


@pytest.mark.parametrize("remove", [True, False])
def test_a_raw_token_does_not_depend_on_the_flags(remove: bool) -> None:
    text = "\u00a0a\u00a0\u00a0b".encode()
    normalizer = Normalizer(
        CHARSMAPS["nfkc"], remove_extra_whitespaces=remove, escape_whitespaces=remove
    )
    assert normalizer.normalize_raw_token(text) == b"a b"


def test_a_broken_charsmap_is_refused() -> None:
    with raises_kind("bad-rules"):
        Normalizer(b"abc")
    with raises_kind("bad-rules"):
        charsmaps.any_source_has_space(b"abc")


def test_one_normalizer_serves_several_threads() -> None:
    normalizer = Normalizer(CHARSMAPS["nmt_nfkc"])
    text = "".join(TEXTS).encode() * 200
    with ThreadPoolExecutor(4) as pool:
        results = set(pool.map(normalizer.normalize, [text] * 16))
    assert results == {normalizer.normalize(text)}


@pytest.mark.parametrize(
    ("pieces", "text", "expected"),
    [
        ([], b"<s>a", b"<s>a"),
        ([b"<s>"], b"", b""),
        ([b"<s>"], b"<s>", b"\x1f"),
        ([b"<s>", b"</s>", b"<unk>"], b"a<s>b</s></s><unk><un", b"a\x1fb\x1f\x1f\x1f<un"),
        ([b"ab", b"abcd"], b"abcabcd", b"\x1fc\x1f"),  # the longest match
        ([b"ab", b"bc"], b"abc", b"\x1fc"),  # the leftmost match
        ([b"a", b"a", b""], b"ba", b"b\x1f"),
        (["\u4e2d".encode()], "\u6587\u4e2d".encode(), "\u6587\x1f".encode()),
        ([b"\xb8"], "\u4e2d".encode(), "\u4e2d".encode()),  # no match inside a character
        ([b"a"], b"\xe4a\xb8a", b"\xe4a\xb8\x1f"),  # \xe4 begins three bytes, valid or not
        ([b"a"], b"\xf0aaa", b"\xf0aaa"),
        ([b"a"], b"\xff\xc3", b"\xff\xc3"),
        ([b"b" * size for size in range(1, 70)], b"b" * 70, b"\x1f\x1f"),  # 64, then 6
    ],
)
def test_meta_pieces_become_boundary_marks(
    pieces: list[bytes], text: bytes, expected: bytes
) -> None:
    assert replace_meta_pieces(pieces, text) == expected


def test_meta_pieces_must_not_contain_a_zero_byte() -> None:
    with raises_kind("bad-rules"):
        replace_meta_pieces([b"a\0b"], b"a")
