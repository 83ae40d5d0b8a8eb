"""Chunks by hand; `|` shows where a chunk ends."""

import pytest

from spmcompat.splitting.scanners import chunks


@pytest.mark.parametrize(
    "marked",
    [
        "",
        " ",
        "  ",
        "a",
        "one| two| three",
        " a| b| ",
        "a|  b",
        "a| b|   c| d",
        "a| \n b",
        "a\t b",
        "a\u0085 b\u00a0 c",
        "a| \u3000b| c",
        "\u1680 b| \u200b| é| 日| 😀| \u0301| \ufeff",
        "a| space| may| be| at| any| place| of| eight| or| sixteen| characters",
    ],
)
def test_chunks(marked: str) -> None:
    expected = [chunk.encode() for chunk in marked.split("|") if chunk]
    assert chunks(b"".join(expected)) == expected


def test_a_malformed_text_is_refused() -> None:
    with pytest.raises(ValueError, match="well-formed"):
        chunks(b"a \xf0\x9f\x98")
