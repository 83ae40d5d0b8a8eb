"""The extractor of JSON Lines compared with the module json."""

from __future__ import annotations

import json
import random

from hypothesis import example, given, settings
from hypothesis import strategies as st

from spmcompat.text.columns import JsonLines
from tests.searches import examples
from tests.unit.text.json_oracle import Found, expected, sentences_of

COLUMN = "text"
NESTED = "a.text.b"
# Letters, every character that JSON escapes, and surrogates.
CHARACTERS = st.one_of(
    st.sampled_from('ab"\\/\b\f\n\r\t\0\x1f\x7f{}[],: u0\u00e9漢😀\ufeff\ufffd\u2028'),
    st.characters(),
    st.integers(0xD800, 0xDFFF).map(chr),
)
TEXTS = st.text(CHARACTERS, max_size=12)
PARTS = ["a", "text", "b", "a.text", "text.b", NESTED]
KEYS = st.one_of(st.sampled_from([*PARTS, "te\\xt", "", "id", "Text", "text "]), TEXTS)
VALUES = st.recursive(
    st.one_of(
        st.none(),
        st.booleans(),
        st.integers(-(10**40), 10**40),
        st.floats(),
        TEXTS,
    ),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(KEYS, inner, max_size=4)),
    max_leaves=12,
)
SPACES = st.sampled_from(["", "", " ", "\t", " \r "])


@st.composite
def objects(draw: st.DrawFn) -> str:
    """The text of a JSON object in which keys may occur twice."""
    pairs = draw(st.lists(st.tuples(KEYS, VALUES), max_size=5))
    if draw(st.booleans()):
        pairs.append((COLUMN, draw(TEXTS)))
    draw(st.randoms()).shuffle(pairs)
    written = [
        f"{draw(SPACES)}{dumped(draw, key)}{draw(SPACES)}:{draw(SPACES)}{dumped(draw, value)}"
        for key, value in pairs
    ]
    return draw(SPACES) + "{" + ",".join(written) + draw(SPACES) + "}" + draw(SPACES)


def dumped(draw: st.DrawFn, value: object) -> str:
    return json.dumps(value, ensure_ascii=draw(st.booleans()))


@st.composite
def damaged(draw: st.DrawFn) -> bytes:
    """A record in which some bytes are dropped, repeated or replaced."""
    line = bytearray(draw(st.one_of(objects(), VALUES.map(json.dumps))).encode(errors="replace"))
    for _ in range(draw(st.integers(0, 3))):
        at = draw(st.integers(0, len(line)))
        piece = draw(st.sampled_from([b"", b"\\", b'"', b"}", b",", b"0", b"\xff", b"-", b"\\u12"]))
        line[at : at + draw(st.integers(0, 2))] = piece
    return bytes(line).replace(b"\n", b" ")


LINES = st.one_of(
    objects().map(lambda text: text.replace("\n", " ").encode(errors="surrogatepass")),
    VALUES.map(lambda value: json.dumps(value).encode()),
    damaged(),
    st.binary(max_size=20).map(lambda data: data.replace(b"\n", b"")),
    st.just(b""),
    st.just(b" \t"),
)


def read(text: bytes, column: str = COLUMN) -> Found:
    lines = JsonLines(column, 1 << 30)
    buffer = lines.read(text, "name", 1)
    broken, first, _ = lines.broken
    return Found(
        sentences_of(buffer), buffer.lines, buffer.nulls, broken, first if broken else None
    )


@settings(max_examples=examples(400))
@example([b'{"text": "\\ud83d\\ude00 \\ud83d \\ude00"}'])
@example(
    [b'{"text": "a", "text": "b"}', b'{"text": "a", "text": null}', b'{"text": 1, "text": ""}']
)
@example([b'{"text": "a"} x', b'{"text": "a"', b'"a" "b"', b"nul", b"null", b"[]", b"NaN"])
@example([b'{"t\\u0065xt": "by an escape"}', b'{"text":"a",}', b'{"a": [1,], "text": "b"}'])
@example([b'{"text": "a", "n": 01}', b'{"text": "a", "n": 1.}', b'{"text": "a", "n": -}'])
@example([b'{"text": "a", "n": -0.5e+10}', b'{"text": "a", "n": 1e}', b'{"text": "\\u00e"}'])
@given(st.lists(LINES, max_size=6))
def test_records_are_those_of_the_module_json(lines: list[bytes]) -> None:
    assert read(b"\n".join(lines)) == expected(lines, COLUMN)


@st.composite
def nested(draw: st.DrawFn) -> bytes:
    """An object with a text in a nested field, perhaps in lists, and with other values."""
    values = st.one_of(TEXTS, VALUES, st.lists(st.one_of(TEXTS, st.none()), max_size=3))
    written = json.dumps(draw(values))
    for key in reversed(draw(st.sampled_from([PARTS[:3], ["a", "text.b"], [NESTED]]))):
        if draw(st.integers(0, 3)) == 0:
            written = f"[{written}, null]"
        others = draw(st.lists(st.tuples(KEYS, VALUES), max_size=2))
        pairs = [f"{json.dumps(other)}: {json.dumps(value)}" for other, value in others]
        pairs.insert(draw(st.integers(0, len(pairs))), f"{json.dumps(key)}: {written}")
        written = "{" + ", ".join(pairs) + "}"
    return written.encode()


@settings(max_examples=examples(400))
@example([b'{"a.text.b": null, "a": {"text": {"b": "x"}}}', b'{"a": {"text.b": ["x", [null]]}}'])
@example([b'{"a": {"text": {"b": "x"}}, "a": {}}', b'{"a": {"text": {"b": "x"}}, "a": null}'])
@example([b'{"a": {"text": {"b": "x"}}, "a.text.b": 5}', b'{"a": [{"text": {"b": "x"}}, {}]}'])
@example([b'{"a": ["x", {"text": {"b": "y"}}]}', b'{"a": {"text": {"b": ["x\\n", 1]}}}', b'["x"]'])
@given(st.lists(st.one_of(nested(), LINES), max_size=6))
def test_nested_fields_and_lists_are_those_of_the_module_json(lines: list[bytes]) -> None:
    assert read(b"\n".join(lines), NESTED) == expected(lines, NESTED)


@settings(max_examples=10)
@given(st.integers(0, 2**32))
def test_nesting_of_any_depth_is_passed_over(seed: int) -> None:
    dice = random.Random(seed)
    opened = [dice.choice(["[", '{"text":']) for _ in range(dice.randrange(20_000))]
    closed = ["]" if one == "[" else "}" for one in reversed(opened)]
    inner = "".join([*opened, "1", *closed])
    assert read(f'{{"deep": {inner}, "text": "a"}}\n'.encode()).sentences == [b"a"]
    if closed:
        damaged = inner[:-1] + ("}" if inner[-1] == "]" else "]")
        assert read(f'{{"deep": {damaged}, "text": "a"}}\n'.encode()).broken == 1
