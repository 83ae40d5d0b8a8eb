"""Option values as text, read and written as the reference reads and writes them.

Source: ``spec_parser.h``, ``util.cc`` and ``__init__.py`` of ``sentencepiece``. Releases read
numbers in one of two ways: with Abseil, where the whole text must be a number; or with the C++
standard streams, which read the number that the text begins with and ignore the rest.
"""

import io
import math
import re

from spmcompat.errors import BadValueError

INT32 = range(-(2**31), 2**31)
UINT32 = range(2**32)
UINT64 = range(2**64)

_SPACE = " \t\n\v\f\r"
# These patterns are strings, so `re` compiles a pattern only when it is first used. Most runs use
# few of them.
_DECIMAL = r"[+-]?[0-9]+"
_HEXADECIMAL = r"[+-]?0[xX][0-9a-fA-F]+"
_FLOAT = r"(?ai)[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf(?:inity)?|nan)"
_STREAMED_INT = r"[ \t\n\v\f\r]*([+-]?[0-9]+)"
_STREAMED_FLOAT = r"[ \t\n\v\f\r]*([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]*)?)"
_TRUE = frozenset({"1", "t", "true", "y", "yes"})
_FALSE = frozenset({"0", "f", "false", "n", "no"})

TRUTH_VALUES = _TRUE | _FALSE
"""The words for true and false; case does not matter."""


def parse_int(text: str, allowed: range, *, hexadecimal: bool = False) -> int:
    """Read a whole number, with or without a sign and white space around it.

    Parameters
    ----------
    text : str
        The value as it was given.
    allowed : range
        The values that the field can store, such as `INT32`.
    hexadecimal : bool
        Whether numbers such as ``0xFF`` are allowed, as on the command line.

    Raises
    ------
    BadValueError
        If the text is not such a number, or the field cannot store it.
    """
    bare = text.strip(_SPACE)
    if re.fullmatch(_DECIMAL, bare):
        value = to_int(bare)
    elif hexadecimal and re.fullmatch(_HEXADECIMAL, bare):
        value = int(bare, 16)
    else:
        raise BadValueError(f'cannot parse "{text}" as int.{_written_out(bare, allowed)}')
    # An unsigned field rejects a minus sign, even before a zero.
    if value not in allowed or (allowed.start == 0 and bare.startswith("-")):
        raise BadValueError(f'cannot parse "{text}" as int.')
    return value


def _written_out(text: str, allowed: range) -> str:
    """Return the advice to write 8000 for a text such as 8k; empty if there is no such advice."""
    match = re.fullmatch(r"([0-9]{1,9})([kKmM])", text)
    if match is None:
        return ""
    value = int(match[1]) * (1000 if match[2] in "kK" else 1_000_000)
    return f" Write {value}." if value in allowed else ""


def to_int(digits: str | bytes) -> int:
    """Convert any number of decimal digits, with or without a sign, to a number.

    Python refuses to read more than 4,300 digits. No field can store a number of more than 38
    digits, so such a number is read as 2**128, with its sign.
    """
    text = digits.decode() if isinstance(digits, bytes) else digits
    bare = text.lstrip("+-").lstrip("0")
    value = 2**128 if len(bare) > 38 else int(bare or "0")
    return -value if text.startswith("-") else value


def stream_int(text: str, allowed: range) -> int:
    """Read the whole number that a text begins with.

    As in C++, a negative value wraps around in an unsigned field.

    Parameters
    ----------
    text : str
        The value as it was given, with or without white space before it.
    allowed : range
        The values that the field can store, such as `INT32`.

    Raises
    ------
    BadValueError
        If there is no such number, or the field cannot store it.
    """
    match = re.match(_STREAMED_INT, text)
    value = to_int(match[1]) if match else allowed.stop
    if allowed.start == 0 and -allowed.stop < value < 0:
        value += allowed.stop
    if value not in allowed:
        raise BadValueError(f'cannot parse "{text}" as int.')
    return value


def stream_float(text: str) -> float:
    """Read the decimal number that a text begins with, in double precision.

    Raises
    ------
    BadValueError
        If the text does not begin with a number, its exponent has no digits, or it is too large.
    """
    match = re.match(_STREAMED_FLOAT, text)
    if match is None or not match[1][-1:].strip("eE+-") or math.isinf(float(match[1])):
        raise BadValueError(f'cannot parse "{text}" as float.')
    return float(match[1])


def parse_float(text: str) -> float:
    """Read a decimal number, in double precision.

    Raises
    ------
    BadValueError
        If the text is not such a number.
    """
    bare = text.strip(_SPACE)
    if not re.fullmatch(_FLOAT, bare):
        raise BadValueError(f'cannot parse "{text}" as float.')
    return float(bare)


def parse_bool(text: str) -> bool:
    """Read a truth value. An empty text is true, because ``--flag`` alone means true.

    Raises
    ------
    BadValueError
        If the text is not one of the accepted words.
    """
    word = text.lower() if text.isascii() else ""
    if text == "" or word in _TRUE:
        return True
    if word in _FALSE:
        return False
    raise BadValueError(f'cannot parse "{text}" as bool.')


def split_csv(line: str) -> list[str]:
    """Split a line of comma-separated values exactly as the reference does.

    A field may be in double quotes. Inside a quoted field, two quotes represent one quote.
    Text between the closing quote and the next comma is dropped. A comma at the end of the line
    does not add an empty field. A NUL ends a field.
    """
    fields = []
    at = 0
    while at < len(line):
        if line[at] == '"':
            field, at = _quoted_field(line, at + 1)
        else:
            start, at = at, _comma(line, at)
            field = line[start:at]
        fields.append(field.partition("\0")[0])
        at += 1
    return fields


def _quoted_field(line: str, at: int) -> tuple[str, int]:
    """Return the field whose text begins at `at`, and the position of the comma after it."""
    characters = []
    while at < len(line):
        if line[at] == '"':
            at += 1
            if line[at : at + 1] != '"':
                break
        characters.append(line[at])
        at += 1
    return "".join(characters), _comma(line, at)


def _comma(line: str, at: int) -> int:
    """Return the position of the next comma, or the end of the line."""
    found = line.find(",", at)
    return len(line) if found < 0 else found


def to_text(value: object) -> str:
    """Write a keyword's value as text: a list as one line of CSV, anything else by ``str``.

    Raises
    ------
    BadValueError
        If a number has too many digits for Python, or if a list contains U+0000 and Python is older
        than 3.11. In these cases, the reference fails, too.
    """
    if not isinstance(value, list):
        return _item_to_text(value)
    import csv

    line = io.StringIO()
    try:
        csv.writer(line, lineterminator="").writerow([_item_to_text(item) for item in value])
    except csv.Error:
        raise BadValueError("the list contains U+0000. Remove it.") from None
    return line.getvalue()


def _item_to_text(value: object) -> str:
    try:
        return str(value)
    except ValueError:
        if not isinstance(value, int):
            raise
        # The number has more digits than `sys.get_int_max_str_digits` allows.
        raise BadValueError(
            f"cannot parse a number of {value.bit_length():,} bits as int."
        ) from None
