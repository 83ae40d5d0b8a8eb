"""Time and memory of training a tokenizer.json: ``python -m benchmarks.tokenizers TEXT...``.

Each trainer makes a byte-level vocabulary with the template gpt2, in a new process. The trainers
take turns, and the smallest time and the smallest peak of all runs count. The command fails if
spmcompat and ``tokenizers`` find other tokens or merges. With ``--also``, other trainers that pip
installs are measured, too. Their results differ: see `OTHERS`.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

from benchmarks.results import machine
from spmcompat.runtime.measure import run
from spmcompat.splitting.expressions import EXPRESSIONS

_THREADS = 2
_GPT2 = next(text for text, scanner in EXPRESSIONS.items() if scanner == "gpt2")
_LINES = "open('text.txt', encoding='utf-8', errors='replace', newline='\\n')"
_OURS = ["-m", "spmcompat", "train_tokenizer", "--like=gpt2", "--input=text.txt", "--minloglevel=1"]

LIBRARY = (
    "from tokenizers import Tokenizer, models, pre_tokenizers as p, trainers; "
    "t = Tokenizer(models.BPE()); t.pre_tokenizer = p.ByteLevel(add_prefix_space=False); "
    "t.train(['text.txt'], trainers.BpeTrainer(vocab_size={size}, show_progress=False, "
    "special_tokens=['<|endoftext|>'], initial_alphabet=p.ByteLevel.alphabet())); "
    "t.save('out.json')"
)
"""The program of the library."""

OTHERS = {
    "rustbpe": (
        "import rustbpe; t = rustbpe.Tokenizer(); "
        "t.train_from_iterator({lines}, {size}, pattern={pattern!r})"
    ),
    "gigatoken": (
        "import gigatoken as g; "
        "g.train_bpe(g.TextFileSource(['text.txt']), {size}, ['<|endoftext|>'])"
    ),
    "bpeasy": "import bpeasy; bpeasy.train_bpe({lines}, {pattern!r}, 10**6, {size})",
}
"""The programs of other trainers. rustbpe and bpeasy break ties in another way, so they find other
merges. gigatoken splits only as GPT-2 does, and reads a file as one text, not line by line."""


def sides(sizes: str, others: list[str]) -> dict[str, list[str]]:
    """Return the command of each trainer by its name in the table."""
    largest = max(map(int, sizes.split(",")))
    ours = [*_OURS, f"--workers={_THREADS}", "--output=ours.json"]
    found = {
        "spmcompat": [*ours, f"--vocab_size={largest}"],
        f"tokenizers {metadata.version('tokenizers')}": ["-c", LIBRARY.format(size=largest)],
    }
    if "," in sizes:
        found[f"spmcompat, {sizes}"] = [*ours, f"--vocab_size={sizes}"]
    for name in others:
        program = OTHERS[name].format(lines=_LINES, pattern=_GPT2, size=largest)
        found[f"{name} {metadata.version(name)}"] = ["-c", program]
    return found


def measure(text: Path, sizes: str, others: list[str], runs: int) -> dict[str, tuple[float, float]]:
    """Return the smallest time in seconds and the smallest peak in MiB of each trainer."""
    environment = {"RAYON_NUM_THREADS": str(_THREADS), "TOKENIZERS_PARALLELISM": "true"}
    best: dict[str, tuple[float, float]] = {}
    for _ in range(runs):
        for name, arguments in sides(sizes, others).items():
            with tempfile.TemporaryDirectory() as folder:
                (Path(folder) / "text.txt").symlink_to(text.resolve())
                done = run([sys.executable, *arguments], Path(folder), environment)
                if done.failure:
                    raise SystemExit(f"{name}: {done.failure}\n{done.log}")
                for path in Path(folder).glob("o*.json"):
                    _check(path, text)
            seconds, mib = best.get(name, (float("inf"), float("inf")))
            best[name] = (min(seconds, done.seconds), min(mib, done.peak_kib / 1024))
    return best


_found: dict[tuple[str, int], Any] = {}


def _check(path: Path, text: Path) -> None:
    """Raise if two trainers found other tokens or merges of a size."""
    model = json.loads(path.read_text(encoding="utf-8"))["model"]
    result = (model["vocab"], [tuple(pair) for pair in model["merges"]])
    if _found.setdefault((text.name, len(model["vocab"])), result) != result:
        raise SystemExit(f"{text}: the tokens or the merges differ")


def table(rows: Mapping[str, Mapping[str, tuple[float, float]]], sizes: Mapping[str, int]) -> str:
    """Return the table of all texts."""
    lines = [
        "| text | size | trainer | time | memory | times the time | times the memory |",
        "|---|--:|---|--:|--:|--:|--:|",
    ]
    for text, found in rows.items():
        ours = found["spmcompat"]
        for name, (seconds, mib) in found.items():
            ratios = f"{seconds / ours[0]:.1f} | {mib / ours[1]:.1f}"
            size = f"{sizes[text] / 1e6:.0f} MB"
            cost = f"{seconds:.2f} s | {mib:,.0f} MiB"
            lines.append(f"| {text} | {size} | {name} | {cost} | {ratios} |")
    return "\n".join(lines)


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("texts", nargs="+", type=Path)
    parser.add_argument("--vocab_size", default="32000", help="the size, or several")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--also", nargs="+", default=[], choices=OTHERS)
    given = parser.parse_args()
    rows = {}
    for text in given.texts:
        rows[text.stem] = measure(text, given.vocab_size, given.also, given.runs)
        print(table(rows, {one.stem: one.stat().st_size for one in given.texts}), flush=True)
    print(f"\n{machine()}")


if __name__ == "__main__":
    main()
