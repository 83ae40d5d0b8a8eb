"""The table of counts of a text, computed from its definition, for texts without custom rules.

Words are separated by single spaces, and every sentence begins with a space mark.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

MARK = "\u2581"
INSIDE, AT_END, AT_TEXT_END = 0, 1, 2

Row = tuple[str, int, int]


def rows(sentences: Sequence[str]) -> Counter[Row]:
    """Return how often each pretoken occurs with each place and next character."""
    found: Counter[Row] = Counter()
    filled = [sentence.split() for sentence in sentences if sentence.split()]
    for number, words in enumerate(filled):
        for position, word in enumerate(words):
            is_last = position == len(words) - 1
            ends_text = is_last and number == len(filled) - 1
            place = AT_TEXT_END if ends_text else AT_END if is_last else INSIDE
            found[MARK + word, place, 0 if ends_text else ord(MARK)] += 1
    return found


def repeated(counts: Counter[Row], weight: Fraction, is_last: bool) -> Counter[Row]:
    """Return the counts of a text that is repeated.

    An integer weight is the number of copies of the text. The space mark that begins the next copy
    follows the end of each copy except the last. If the weight is a fraction, the count of each row
    times the weight is rounded to the nearest whole number; halves are rounded up. The row that
    ends the last text always stays.
    """
    found: Counter[Row] = Counter()
    for row, count in counts.items():
        copies = int(count * weight + Fraction(1, 2))
        if row[1] != AT_TEXT_END:
            found[row] += copies
            continue
        copies = max(copies, 1) if is_last else copies
        found[row] += min(copies, 1)
        found[row[0], AT_END, ord(MARK)] += max(copies - 1, 0)
    return +found


def concatenated(texts: Sequence[Counter[Row]]) -> Counter[Row]:
    """Return the counts of concatenated texts. Only the end of the last text stays a text end."""
    found: Counter[Row] = Counter()
    for number, text in enumerate(texts):
        for (pretoken, place, following), count in text.items():
            if place == AT_TEXT_END and number < len(texts) - 1:
                found[pretoken, AT_END, ord(MARK)] += count
            else:
                found[pretoken, place, following] += count
    return found


def without_rare(counts: Counter[Row], least: int) -> Counter[Row]:
    """Drop pretokens that occur fewer than `least` times, but not the row that ends the text."""
    totals: Counter[str] = Counter()
    for (pretoken, _, _), count in counts.items():
        totals[pretoken] += count
    return Counter(
        {
            row: count
            for row, count in counts.items()
            if totals[row[0]] >= least or row[1] == AT_TEXT_END
        }
    )


def without_order(counts: Counter[Row]) -> Counter[Row]:
    """Return the counts that the sentences would have if their text were unordered.

    By definition, an unordered text ends with the sentence whose last pretoken comes first in byte
    order.
    """
    found: Counter[Row] = Counter()
    for (pretoken, place, following), count in counts.items():
        if place == AT_TEXT_END:
            found[pretoken, AT_END, ord(MARK)] += count
        else:
            found[pretoken, place, following] += count
    last = min((row for row in found if row[1] == AT_END), key=lambda row: row[0].encode())
    found[last] -= 1
    found[last[0], AT_TEXT_END, 0] = 1
    return +found


def in_that_order(sentences: Sequence[str]) -> list[str]:
    """Order the sentences so that counting them gives the result of `without_order`.

    Blank sentences come last. Anywhere else, the last sentence would be moved to their positions.
    """
    filled = [sentence for sentence in sentences if sentence.split()]
    last = min(filled, key=lambda sentence: sentence.split()[-1].encode())
    filled.remove(last)
    return [*filled, last, *(sentence for sentence in sentences if not sentence.split())]
