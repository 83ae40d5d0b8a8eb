"""Texts to train on: slices of corpora, and generated texts that are hard for a trainer."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tests.parity import corpora


@dataclass(frozen=True)
class Source:
    """A text in memory or on disk; if `whole`, it is not cut into slices."""

    name: str
    data: bytes = b""
    path: Path | None = None
    whole: bool = False

    def size(self) -> int:
        return self.path.stat().st_size if self.path else len(self.data)

    def part(self, begin: int, size: int) -> bytes:
        if self.path is None:
            return self.data[begin : begin + size]
        with self.path.open("rb") as stream:
            stream.seek(begin)
            return stream.read(size)


def sources(folder: str | None) -> list[Source]:
    """Return the corpora in a folder, or the built-in corpora if the folder has none."""
    found = corpora.large(folder)
    if found:
        return [Source(name, path=path) for name, path in found.items()]
    return [Source(name, data=data) for name, data in corpora.small().items()]


def generate(dice: random.Random, kinds: Iterable[str] = ()) -> Source:
    """Return a text of one of the kinds (by default, of any), with random faults and line ends."""
    name = dice.choice(sorted(kinds or KINDS))
    lines = KINDS[name](dice)
    for change, share in ((_repeat, 0.2), (_empty, 0.2), (_lengthen, 0.1), (_break, 0.15)):
        if dice.random() < share:
            lines = change(dice, lines)
    data = dice.choice([b"\n", b"\n", b"\n", b"\r\n"]).join(lines)
    return Source(f"generated {name}", data + dice.choice([b"", b"\n"]), whole=True)


# ---------------------------------------------------------------- kinds of text


def alphabet(dice: random.Random) -> str:
    """Return a few characters: of one script, of several scripts, or from all of Unicode."""
    size = dice.choice([1, 2, 2, 3, 5, 12, 40])
    scripts = list(corpora.SCRIPTS.values())
    pool = dice.choice([*scripts, "".join(scripts), "ab", "0123456789", corpora.NORMALIZED])
    if dice.random() < 0.15:
        pool = "".join(map(chr, _code_points(dice, 3 * size)))
    return "".join(dice.choices(sorted(set(pool)), k=size))


def _code_points(dice: random.Random, count: int) -> list[int]:
    """Draw code points; each length in UTF-8, from 1 byte to 4, is about equally frequent."""
    ends = dice.choices([0x80, 0x800, 0x10000, 0x110000], k=count)
    drawn = [dice.randrange(1, end) for end in ends]
    return [point if not 0xD800 <= point < 0xE000 else 0xFFFD for point in drawn]


def _words(dice: random.Random) -> list[bytes]:
    """Words with frequencies that fall as 1/rank, or are all equal."""
    letters = alphabet(dice)
    longest = dice.choice([1, 3, 6, 12, 40, 300])
    count = dice.choice([1, 5, 30, 200])
    words = ["".join(dice.choices(letters, k=dice.randint(1, longest))) for _ in range(count)]
    weights = [1 / rank ** dice.choice([0, 1]) for rank in range(1, count + 1)]
    return [
        " ".join(dice.choices(words, weights, k=dice.randint(1, 12))).encode()
        for _ in range(dice.choice([3, 30, 200]))
    ]


def _ties(dice: random.Random) -> list[bytes]:
    """Every word over two letters once, so that all words of one length have equal counts."""
    letters = dice.sample(alphabet(dice) + "ab", 2)
    words = [""]
    for _ in range(dice.randint(2, 6)):
        words += [word + letter for word in words for letter in letters]
    words = sorted(set(filter(None, words)))
    dice.shuffle(words)
    step = dice.choice([1, 4, len(words)])
    return [" ".join(words[at : at + step]).encode() for at in range(0, len(words), step)]


def _period(dice: random.Random) -> list[bytes]:
    """Lines that repeat one short word, or one character, without spaces."""
    letters = alphabet(dice)
    lines = []
    for _ in range(dice.choice([1, 5, 30])):
        word = "".join(dice.choices(letters, k=dice.choice([1, 1, 2, 3, 7])))
        lines.append((word * dice.choice([1, 2, 3, 16, 17, 100, 1000]))[:2000].encode())
    return lines


def _substitution(dice: random.Random) -> list[bytes]:
    """Words of a substitution, such as Fibonacci words (many repeats) or Thue-Morse words (few)."""
    letters = (alphabet(dice) + "ab")[:2]
    images = dice.choice([("ab", "a"), ("ab", "ba"), ("aab", "ab"), ("ab", "aa")])
    word = "a"
    while len(word) < dice.choice([30, 300, 3000]):
        word = "".join(images["ab".index(letter)] for letter in word)
    word = word.translate(dict(zip(map(ord, "ab"), letters, strict=True)))
    step = dice.choice([7, 40, 300, len(word)])
    return [word[at : at + step].encode() for at in range(0, len(word), step)]


def _nested(dice: random.Random) -> list[bytes]:
    """For each position in a word, the prefix that ends there or the suffix that begins there."""
    word = "".join(dice.choices(alphabet(dice), k=dice.choice([5, 20, 60])))
    parts = [word[at:] if dice.random() < 0.5 else word[:at] for at in range(1, len(word))]
    return [part.encode() for part in parts for _ in range(dice.choice([1, 1, 3]))]


def _mixed(dice: random.Random) -> list[bytes]:
    """Every script, digits, punctuation, and characters that normalization changes."""
    return (
        corpora.mixed_text(dice.randrange(1 << 30), dice.choice([5, 50, 200])).encode().split(b"\n")
    )


def _messy(dice: random.Random) -> list[bytes]:
    """Broken UTF-8, reserved characters, meta pieces in the text."""
    return corpora.messy_bytes(dice.randrange(1 << 30), dice.choice([5, 50, 200])).split(b"\n")


def _spaces(dice: random.Random) -> list[bytes]:
    """White space of every kind between, before and after words."""
    spaces = [*corpora.SPACES, "\u2581", "\u2581\u2581", "\u2028", "\u0085", "\v", "\x1f", "\u200b"]
    words = [*dice.choices(alphabet(dice), k=5), *dice.choices(corpora.META_TEXT, k=2), "a", "1"]
    return [
        "".join(
            dice.choice(words) + dice.choice(spaces) for _ in range(dice.randint(0, 12))
        ).encode()
        for _ in range(dice.choice([5, 100]))
    ]


def _anywhere(dice: random.Random) -> list[bytes]:
    """Characters from all of Unicode; few occur twice."""
    return [
        "".join(map(chr, _code_points(dice, dice.randint(1, 30)))).replace("\n", " ").encode()
        for _ in range(dice.choice([1, 10, 60]))
    ]


def _bytes(dice: random.Random) -> list[bytes]:
    """Random bytes."""
    return [dice.randbytes(dice.randint(0, 60)).replace(b"\n", b"") for _ in range(40)]


def _numbers(dice: random.Random) -> list[bytes]:
    """Digits, signs and letters, for the options that split them."""
    forms = ["{}", "{}a", "a{}", "-{}", "{}.{}", "{:x}", "x={}", "{}%", "１{}", "²{}", "{}年"]
    return [
        " ".join(
            dice.choice(forms).format(dice.randrange(10 ** dice.randint(1, 6)), 5)
            for _ in range(dice.randint(1, 9))
        ).encode()
        for _ in range(dice.choice([10, 100]))
    ]


def _boilerplate(dice: random.Random) -> list[bytes]:
    """Lines of which some occur hundreds of times: many frequent pairs have nearly equal counts."""
    letters = dice.choice([alphabet(dice), *["abcdefghijklmnopqrstuvwxyz"] * 3])
    letters += " " * dice.choice([0, 0, 0, len(letters) // 5])
    counts = dice.choice([[1, 300], *[[1, 2, 7, 300, 300]] * 2, [1, 2, 7, 1000], [40, 50]])
    lines: list[bytes] = []
    for _ in range(dice.choice([5, 12, 12])):
        line = "".join(dice.choices(letters, k=dice.choice([100, 200, 400, 400]))).encode()
        lines += [line] * min(dice.choice(counts), (900_000 - sum(map(len, lines))) // len(line))
    if dice.random() < 0.5:
        dice.shuffle(lines)
    return lines


KINDS: dict[str, Callable[[random.Random], list[bytes]]] = {
    "words": _words,
    "ties": _ties,
    "period": _period,
    "substitution": _substitution,
    "nested": _nested,
    "mixed": _mixed,
    "messy": _messy,
    "spaces": _spaces,
    "anywhere": _anywhere,
    "bytes": _bytes,
    "numbers": _numbers,
    "boilerplate": _boilerplate,
}


# ---------------------------------------------------------------- faults


def _repeat(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Repeat some lines, so that counts differ more."""
    return [line for line in lines for _ in range(dice.choice([1, 1, 2, 7, 50]))][:3000]


def _empty(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Insert empty and blank lines at random positions, including the beginning and the end."""
    blank = [b"", b"", b" ", "\u3000".encode(), b"\t"]
    for _ in range(dice.choice([1, 3, 20])):
        lines.insert(dice.choice([0, len(lines), dice.randint(0, len(lines))]), dice.choice(blank))
    return lines


def _lengthen(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Add a line that is about as long as the longest allowed sentence, or longer."""
    limit = dice.choice([4192, 4193, 9000, 60_000])
    long = (b" ".join(lines) + b" ") * (limit // max(1, sum(map(len, lines))) + 1)
    return [*lines, long[: limit + dice.randint(-3, 3)]]


def _break(dice: random.Random, lines: list[bytes]) -> list[bytes]:
    """Insert broken or reserved bytes into some lines."""
    oddities = [*corpora.BROKEN, b"\0", "\u2585".encode(), b"\r", b"\t", b"<unk>", b"</s>"]
    for at in dice.sample(range(len(lines)), min(len(lines), 5)):
        cut = dice.randint(0, len(lines[at]))
        lines[at] = lines[at][:cut] + dice.choice(oddities) + lines[at][cut:]
    return lines
