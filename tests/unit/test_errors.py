"""How messages show text that comes from files."""

from __future__ import annotations

import pytest

from spmcompat.errors import printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("▁naïve 猫 \\", "▁naïve 猫 \\"),
        ("\x1b[2J\a", r"\x1b[2J\x07"),
        ("a\nb\tc\x7f\x9b", r"a\nb\tc\x7f\x9b"),
        ("\u2028\u202e\ud800\U000e0001", r"\u2028\u202e\ud800\U000e0001"),
    ],
)
def test_a_file_sends_no_control_characters_to_a_terminal(text: str, shown: str) -> None:
    assert printable(text) == shown
