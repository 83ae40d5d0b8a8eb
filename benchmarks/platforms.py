"""Trains the same models on several platforms, and compares their bytes.

``python -m benchmarks.platforms train --package spmcompat --texts FOLDER --results FOLDER`` trains
all four model types on the first 300 KB of each text of a folder, cut after a whole line. It needs
only the package that it measures, so it also runs on a platform that is emulated.
``python -m benchmarks.platforms compare FOLDER FOLDER...`` compares the models of the first folder
with those of each other folder. ``tools/aarch64`` runs both commands.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.parity import corpora

HEAD = 300_000
TYPES = ["unigram", "bpe", "word", "char"]
TEXTS = ["en-books", "en-docs", "de-docs", "fr-courses", "fi-courses", "tr-docs", "ru-docs"]
TEXTS += ["el-courses", "ar-hindawi", "he-courses", "hi-stories", "ta-courses", "th-wisesight"]
TEXTS += ["zh-laws", "ja-aozora", "ko-nsmc", "vi-courses", "code-c", "mixed-messy", "nospace"]
# The suffixes of the result files.
MODEL, VOCABULARY, FAILURE = ".model", ".vocab", ".failure"


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.platforms", description=__doc__)
    commands = parser.add_subparsers(required=True)
    train = commands.add_parser("train", help="train all models")
    train.set_defaults(run=train_all)
    train.add_argument("names", nargs="*", default=TEXTS, help="names of texts (default: 20)")
    train.add_argument("--package", choices=["spmcompat", "sentencepiece"], required=True)
    train.add_argument("--texts", required=True, help="folder of the texts (NAME.txt)")
    train.add_argument("--results", type=Path, required=True, help="new folder for the models")
    train.add_argument("--vocab_size", type=int, default=4000, help="pieces (default: 4000)")
    train.add_argument(
        "--head", type=int, default=HEAD, help="bytes of each text (default: %(default)s)"
    )
    compare = commands.add_parser("compare", help="compare the models of several folders")
    compare.set_defaults(run=compare_all)
    compare.add_argument("folders", type=Path, nargs="+", help="each is compared with the first")
    return parser.parse_args(argv)


def train_all(arguments: argparse.Namespace) -> int:
    """Train all model types on all texts; for a run that fails, write its message to a file."""
    found = corpora.large(arguments.texts)
    missing = [name for name in arguments.names if name not in found]
    if missing:
        raise SystemExit(f"Not in the folder: {', '.join(missing)}.")
    trainer = importlib.import_module(arguments.package).SentencePieceTrainer
    results = arguments.results.resolve()
    results.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as scratch:
        # A model stores the names of the text file and of the model file, so the names must be the
        # same on every platform.
        os.chdir(scratch)
        for name in arguments.names:
            Path("text.txt").write_bytes(corpora.head(found[name].resolve(), arguments.head))
            for kind in TYPES:
                started = time.monotonic()
                outcome = train_one(trainer.train, kind, arguments.vocab_size, results, name)
                print(f"{name} {kind}: {outcome}, {time.monotonic() - started:.1f} s", flush=True)
        os.chdir(results)  # leave the scratch folder, which is about to be removed
    return 0


def train_one(
    train: Callable[..., object], kind: str, vocab_size: int, results: Path, name: str
) -> str:
    """Train on the text in the current folder; return "trained" or "failed"."""
    try:
        train(
            input="text.txt",
            model_prefix="m",
            model_type=kind,
            vocab_size=vocab_size,
            hard_vocab_limit=False,
            minloglevel=2,
        )
    except (RuntimeError, ValueError, OSError) as error:
        (results / f"{name}-{kind}{FAILURE}").write_text(f"{error}\n", encoding="utf-8")
        return "failed"
    for suffix in (MODEL, VOCABULARY):
        shutil.move(f"m{suffix}", results / f"{name}-{kind}{suffix}")
    return "trained"


def compare_all(arguments: argparse.Namespace) -> int:
    """Print which models differ; return 0 if all models of all folders are equal."""
    first, *others = arguments.folders
    stems = sorted({path.stem for folder in arguments.folders for path in folder.iterdir()})
    different = 0
    for folder in others:
        differences = {stem: difference(first, folder, stem) for stem in stems}
        for stem, text in differences.items():
            if text:
                print(f"{folder.name}: {stem}: {text}")
        for kind in TYPES:
            of_kind = [text for stem, text in differences.items() if stem.endswith(f"-{kind}")]
            unequal = sum(map(bool, of_kind))
            different += unequal
            print(f"{folder.name}: {kind}: {len(of_kind)} models, {unequal} differ")
    return 0 if different == 0 else 1


def difference(first: Path, second: Path, stem: str) -> str:
    """Return how the results of a run in two folders differ; empty if they are equal."""
    one, two = ({p.suffix: p for p in folder.glob(f"{stem}.*")} for folder in (first, second))
    if one.keys() != two.keys():
        return f"{first.name} has {sorted(one)}, {second.name} has {sorted(two)}"
    if FAILURE in one:
        return ""  # Both failed. Their messages are not compared, because the packages may differ.
    if all(digest(one[suffix]) == digest(two[suffix]) for suffix in one):
        return ""
    pieces = [scores(side[VOCABULARY]) for side in (one, two)]
    only = len(pieces[0].keys() ^ pieces[1].keys())
    shared = pieces[0].keys() & pieces[1].keys()
    rescored = sum(pieces[0][piece] != pieces[1][piece] for piece in shared)
    return (
        f"{only} pieces in one of them only, {rescored} of {len(shared)} others score differently"
    )


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def scores(vocabulary: Path) -> dict[str, str]:
    """Return the score of each piece in a ``.vocab`` file."""
    lines = vocabulary.read_text(encoding="utf-8").removesuffix("\n").split("\n")
    return dict(line.rsplit("\t", 1) for line in lines)


if __name__ == "__main__":
    main_arguments = parse_arguments(None)
    sys.exit(main_arguments.run(main_arguments))
