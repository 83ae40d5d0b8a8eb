"""How messages show text that comes from files."""

from __future__ import annotations

import pytest

from spmcompat.errors import MissingFileError, printable, refuse_impossible


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


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("a" * 100_000, "File name too long"),
        ("\0" * 100_000, "the path contains a NUL character or a lone surrogate"),
        (b"\0\1" * 100_000, "the path contains a NUL character or a lone surrogate"),
    ],
)
def test_a_text_in_place_of_a_path_is_shortened(path: str, reason: str) -> None:
    with pytest.raises(MissingFileError) as error:
        refuse_impossible(path, "Check it")
    assert str(error.value).endswith(f"...: {reason}. Check it.")
    assert len(str(error.value)) < 2000
