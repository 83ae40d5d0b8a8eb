"""Damaged gold lists of every format, read by ``spmcompat evaluate``."""

from __future__ import annotations

import csv
import io
import itertools
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path

from spmcompat.__main__ import main
from tests.hostile.mutations import damage_bytes

_COLUMNS_OF_VERSION_2 = (
    *("stem", "lemma", "preceding_part", "following_part", "wordform"),
    *("unique", "language"),
)
LISTS = {
    "morphs.tsv": [["cats", "cat s"], ["unseen", "un seen"], ["dogs", "dog s"], ["über", "über"]],
    "morphscore_1.csv": [
        ["full_word", "pt1", "rest"],
        *(["cats", "cat", "s"], ["unseen", "un", "seen"], ["dogs", "dog", "s"]),
    ],
    "morphscore_2.csv": [
        [*_COLUMNS_OF_VERSION_2],
        ["cat", "cat", "", "s", "cats", "unique", "en"],
        ["see", "see", "un", "n", "unseen", "unique", "en"],
    ],
    "ladec.csv": [
        ["c1", "c2", "stim", "correctParse"],
        *(["cat", "fish", "catfish", "yes"], ["dog", "house", "doghouse", "1"]),
        ["do", "ghouse", "doghouse", "no"],
    ],
    "derivational.tsv": [
        ["see", "unsee", "V", "V", "un", "prefix"],
        ["cat", "catlike", "N", "J", "like", "suffix"],
    ],
    "inflectional.tsv": [["cat", "cats", "N;PL", "cat|s"], ["sit", "sits", "V;SG", "sit|s"]],
    "morpholex.csv": [
        ["Word", "POS", "MorphoLexSegm"],
        *(["catlike", "JJ", "{(cat)}>like>"], ["unseen", "JJ", "{<un<(seen)}"]),
        ["catfish", "NN", "{(cat)}{(fish)}"],
    ],
    "dagobert.txt": [
        ["cats", "catlike", "cat", "Cats.", "a ___ dog", "Yes."],
        ["dogs", "unseen", "seen", "", "the ___ cats", ""],
    ],
}
_AFFIXES = [["un-"], ["-like"], ["-s"]]
FIELDS = (
    *(
        "{",
        ">",
        "<un<",
        "|||",
        "",
        " ",
        "\0",
        "\x1b]0;x\x07",
        "\ud800",
        "\ufeff",
        "\r",
        "\n",
        "\t",
        '"',
        ",",
        "|",
        "\u0085",
    ),
    *("ß", "\u0301", "İ", "▁", "cat", "suffix", "yes", "a" * 70_000),
)
FLAGS = ([], ["--json"], ["--csv"], ["--bootstrap=100"], ["--drop_spaces"])
SUBSETS = (*[""] * 6, ":prefixes", ":suffixes")


def prepare(folder: Path) -> None:
    """Train a small model, and write a list of each format."""
    text = folder / "text.txt"
    text.write_text("The cats sat on unseen dogs, and the dogs saw the catfish.\n" * 20)
    flags = [f"--input={text}", f"--model_prefix={folder / 'm'}", "--vocab_size=40"]
    assert main(["train", *flags, "--hard_vocab_limit=false"]) == 0
    for name, rows in LISTS.items():
        (folder / name).write_text(_written(name, rows), encoding="utf-8")
    for name, flags in itertools.zip_longest(LISTS, FLAGS, fillvalue=[]):
        assert main(_command(folder / str(name), folder, [*flags])) == 0


def command(chance: random.Random, valid: Path, folder: Path) -> Callable[[], int]:
    """Damage the bytes or the fields of a gold list, and return a command that evaluates on it."""
    name = chance.choice(list(LISTS))
    damaged = folder / name
    if chance.random() < 0.4:
        damaged.write_bytes(damage_bytes((valid / name).read_bytes(), chance))
    else:
        written = _written(name, _damage_rows(LISTS[name], chance))
        damaged.write_text(written, encoding="utf-8", errors="surrogatepass")
    damaged = damaged.with_name(damaged.name + chance.choice(SUBSETS))
    flags = [*chance.choice(FLAGS)]
    if chance.random() < 0.1:
        affixes = folder / "affixes.txt"
        written = _written(affixes.name, _damage_rows(_AFFIXES, chance))
        affixes.write_text(written, encoding="utf-8", errors="surrogatepass")
        flags.append(f"--affixes={affixes}")
    return partial(main, _command(damaged, valid, flags))


def _command(path: Path, valid: Path, flags: list[str]) -> list[str]:
    text, model = str(valid / "text.txt"), str(valid / "m.model")
    return ["evaluate", "--text", text, "--gold", str(path), "--quiet", *flags, model]


def _written(name: str, rows: list[list[str]]) -> str:
    for ending, separator in ((".tsv", "\t"), (".txt", "|||")):
        if name.endswith(ending):
            return "".join(separator.join(row) + "\n" for row in rows)
    written = io.StringIO()
    csv.writer(written, lineterminator="\n").writerows(rows)
    return written.getvalue()


def _damage_rows(rows: list[list[str]], chance: random.Random) -> list[list[str]]:
    """Change a few fields and rows. Most lists can still be read afterwards."""
    rows = [[*row] for row in rows]
    for _ in range(chance.randint(1, 4)):
        row = chance.choice(rows)
        place = chance.randrange(len(row)) if row else 0
        match chance.randrange(6):
            case 0 if row:
                row[place] = chance.choice(FIELDS)
            case 1 if row:
                row[place] += chance.choice(FIELDS)
            case 2 if row:
                del row[place]
            case 3:
                row.insert(place, chance.choice(FIELDS))
            case 4 if row:
                row[place] *= chance.choice([2, 100, 1_000])
            case _:
                rows += [[*row]] * chance.choice([1, 2, 100])
    return rows
