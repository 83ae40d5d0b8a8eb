"""Texts to train on: generated, from the standard library, and from a folder of large files."""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path

FOLDER_VARIABLE = "SPMCOMPAT_CORPORA"

SCRIPTS = {
    "latin": "abcdefghijklmnopqrstuvwxyzéßñ",
    "cyrillic": "абвгдежзийклмнопрстуфхцчшщыьэюя",
    "greek": "αβγδεζηθικλμνξοπρστυφχψω",
    "han": "的一是不了人我在有他这为之大来以个中上们到说国和地也子时道",
    "kana": "あいうえおかきくけこさしすせそアイウエオカキクケコー",
    "hangul": "가나다라마바사아자차카타파하고노도로모",
    "arabic": "ابتثجحخدذرزسشصضطظعغفقكلمنهوي",
    "devanagari": "कखगघचछजझटठडढणतथदधनपफबभमयरलवशषसहािीुूेैोौ्ं",
    "thai": "กขคงจชซดตถทนบปผพฟภมยรลวสหอะาิีึืุูเแโใไ่้",
    "emoji": "😀😁🎉👍🏽👨‍👩‍👧❤️",
    "combining": "áàâãñç̊",
}
NORMALIZED = "ＡＢＣ１２３ｶﾞﾊﾟ㈱㍿ﬁ½①Ⅷ\u00a0\u3000\u200b\u200d\ufeff\u00ad…™ℌ\u061cİſß"
SPACES = [" ", " ", " ", "  ", "\t", " \t ", "\u3000", "\u00a0", "   "]
META_TEXT = ["<unk>", "<s>", "</s>", "<pad>", "<sep>", "<0x41>", "[MASK]", "@", "\u2581", "\u2047"]
BROKEN = [
    b"\xff",
    b"\xc3",
    b"\xe2\x96",
    b"\xed\xa0\x80",
    b"\xf4\x90\x80\x80",
    b"\x80\x80",
    b"\xc0\xaf",
]


def words_text(seed: int, lines: int = 200, script: str = "latin", types: int = 120) -> str:
    """Return lines of words in one script. The word of rank r is drawn with a weight of 1/r."""
    dice = random.Random(seed)
    letters = SCRIPTS[script]
    words = ["".join(dice.choices(letters, k=dice.randint(1, 9))) for _ in range(types)]
    weights = [1 / rank for rank in range(1, types + 1)]
    return "".join(
        " ".join(dice.choices(words, weights, k=dice.randint(1, 12))) + "\n" for _ in range(lines)
    )


def mixed_text(seed: int, lines: int = 150) -> str:
    """Return a text with all scripts, numbers, punctuation and characters that are normalized."""
    dice = random.Random(seed)
    words = [
        "".join(dice.choices(letters, k=dice.randint(1, 6)))
        for letters in SCRIPTS.values()
        for _ in range(12)
    ]
    words += [str(dice.randint(0, 99999)) for _ in range(15)]
    words += ["".join(dice.choices(NORMALIZED, k=3)) for _ in range(15)]
    words += ["...", "x=1;", "(a)", "-", "don't", "e.g.", "http://a.b/c?d=1", "３４", "第1番"]
    text = []
    for _ in range(lines):
        line = ""
        for word in dice.choices(words, k=dice.randint(0, 10)):
            line += word + dice.choice(["", *SPACES])
        text.append(line + "\n")
    return "".join(text)


def ties_text(seed: int, lines: int = 60, letters: str = "abc") -> str:
    """Return words over a tiny alphabet, so that many pieces have equal counts and scores."""
    dice = random.Random(seed)
    return "".join(
        " ".join(
            "".join(dice.choices(letters, k=dice.randint(1, 6))) for _ in range(dice.randint(1, 6))
        )
        + "\n"
        for _ in range(lines)
    )


def long_words_text(seed: int, lengths: Sequence[int] = (280, 320, 400, 500)) -> str:
    """Return random words of the given lengths, each of them three times."""
    dice = random.Random(seed)
    words = ["".join(dice.choices("abcdefgh", k=length)) for length in lengths]
    return f"{' '.join(words)}\n" * 3


def fibonacci_text(rounds: int = 12, break_every: int = 40) -> str:
    """Return slices of a Fibonacci word, whose repeats are as deep as possible."""
    first, second = "a", "ab"
    for _ in range(rounds):
        first, second = second, second + first
    pieces = [second[at : at + break_every] for at in range(0, len(second), break_every)]
    return "\n".join(pieces) + "\n"


def messy_bytes(seed: int, lines: int = 120) -> bytes:
    """Return lines with broken UTF-8, NUL, CR and reserved characters. The last has no newline."""
    dice = random.Random(seed)
    good = mixed_text(seed, lines).encode().split(b"\n")
    oddities = [*BROKEN, b"\0", b"\r", b"\r\n", b"\n", b"\n\n", "▅".encode(), "▁".encode(), b"\x1f"]
    oddities += [text.encode() for text in META_TEXT]
    text = b""
    for line in good:
        at = dice.randint(0, len(line))
        oddity = dice.choice(oddities) if dice.random() < 0.3 else b""
        text += (
            line[:at] + oddity + line[at:] + dice.choice([b"\n", b"\n", b"\n", b"\r\n", b"\n\n"])
        )
    return text + b"the last line has no newline"


def topics_text(limit: int = 60_000) -> str:
    """Return the beginning of the Python language reference, which comes with Python."""
    topics: dict[str, str] = importlib.import_module("pydoc_data.topics").topics
    return "\n".join(topics[name] for name in sorted(topics))[:limit]


def docstrings_text() -> str:
    """Return the docstrings of some standard modules."""
    names = ["argparse", "collections", "csv", "decimal", "difflib", "email", "functools", "heapq"]
    names += ["inspect", "json", "logging", "random", "re", "statistics", "string", "textwrap"]
    texts = []
    for name in names:
        module = importlib.import_module(name)
        texts.append(inspect.getdoc(module) or "")
        texts += [inspect.getdoc(value) or "" for _, value in sorted(vars(module).items())]
    return "\n".join(texts) + "\n"


SMALL: dict[str, Callable[[], str | bytes]] = {
    "topics": lambda: topics_text(400_000),
    "docstrings": docstrings_text,
    "ties": lambda: ties_text(3, 400),
    "ties-wide": lambda: ties_text(4, 400, "aあ漢ñ1"),
    "fibonacci": lambda: fibonacci_text(18),
    "mixed": lambda: mixed_text(5, 3000),
    "messy": lambda: messy_bytes(6, 1500),
    **{
        script: functools.partial(words_text, number, 1200, script, 800)
        for number, script in enumerate(SCRIPTS)
    },
}
"""Functions that make the built-in corpora, by name."""


@functools.cache
def small() -> dict[str, bytes]:
    """Return the built-in corpora, by name."""
    texts = {name: make() for name, make in SMALL.items()}
    return {n: text.encode() if isinstance(text, str) else text for n, text in texts.items()}


def large(folder: str | Path | None = None) -> dict[str, Path]:
    """Return the ``.txt`` files of a folder, by stem.

    The default folder is the value of the environment variable ``SPMCOMPAT_CORPORA``. The result is
    empty if there is no folder.
    """
    folder = folder or os.environ.get(FOLDER_VARIABLE)
    if not folder:
        return {}
    return {path.stem: path for path in sorted(Path(folder).glob("*.txt"))}


def head(path: Path, size: int) -> bytes:
    """Return the first lines of a file that fit into `size` bytes; cut the first if none fits."""
    with path.open("rb") as stream:
        data = stream.read(size + 1)
    if len(data) <= size:
        return data
    cut = data.rfind(b"\n", 0, size) + 1
    return data[: cut or size]
