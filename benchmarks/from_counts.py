"""The parity table of counts: spmcompat trains from counts, the reference from the text.

``python -m benchmarks.from_counts --folder CORPORA`` takes the first 2 MB of each file, cut after a
whole line. It trains each model type in two ways and compares every byte with the reference:

- from the counts of the text, which were saved and loaded;
- from the counts of seven parts of the text, which were counted separately and merged in another
  order. The reference trains on the parts in that order. When it comes to a blank line, it moves
  the last line of the text to the position of the blank line. Counts do not contain the positions
  of lines, so here the reference gets each part with its lines already moved. The last column says
  whether the model also equals the model of the whole text, except for the names of the input files
  that it stores.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import sentencepiece

import spmcompat
from benchmarks import ROOT
from benchmarks.parity import HEAD, SPECIAL
from benchmarks.sides import MODEL_TYPES
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.stored_counts.merging import Merging
from spmcompat.stored_counts.table import write_counts
from tests.parity import corpora
from tests.parity.case import Option

PARTS = 7
# The last part of the text stays last; the order of the other parts changes.
ORDER = (3, 1, 0, 5, 2, 4, 6)
LONGEST = 4192
RESERVED = "\u2585".encode()
_QUIET = {"minloglevel": 2}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table. Return 0 if spmcompat and the reference agree in all rows."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.from_counts", description=__doc__)
    parser.add_argument("corpora", nargs="*", help="names of texts (default: all of the folder)")
    parser.add_argument(
        "--folder", help=f"folder of the texts (default: ${corpora.FOLDER_VARIABLE})"
    )
    parser.add_argument("--type", nargs="+", default=list(MODEL_TYPES), choices=MODEL_TYPES)
    parser.add_argument(
        "--head", type=int, default=HEAD, help="bytes of each file (default: %(default)s)"
    )
    arguments = parser.parse_args(argv)
    found = corpora.large(arguments.folder)
    names = arguments.corpora or sorted(found)
    if not names:
        raise SystemExit("Give --folder.")
    print(f"spmcompat {spmcompat.__version__}, sentencepiece {sentencepiece.__version__}")
    verdicts: list[str] = []
    as_whole = 0
    for name in names:
        data = corpora.head(found[name], arguments.head)
        for kind in arguments.type:
            with tempfile.TemporaryDirectory() as folder:
                os.chdir(folder)  # so that models do not store the name of the folder
                saved, merged, whole = compare(name, kind, data)
                os.chdir(ROOT)
            verdicts += [saved, merged]
            as_whole += whole
            print(
                f"{name:<16}{kind:<9}{saved:<11}{merged:<11}{'yes' if whole else 'no'}", flush=True
            )
    different = len(verdicts) - verdicts.count("equal") - verdicts.count("both fail")
    print(
        f"from counts: {len(verdicts)} rows: {verdicts.count('equal')} equal, "
        f"{verdicts.count('both fail')} both fail, {different} different; of "
        f"{len(verdicts) // 2} merged ones, {as_whole} also equal the model of the whole text"
    )
    return 1 if different else 0


def compare(name: str, kind: str, data: bytes) -> tuple[str, str, bool]:
    """Train from the counts of the text and from merged counts; return a verdict on each model.

    Also return whether the merged counts give the model of the whole text.
    """
    options: dict[str, Option] = {
        "model_type": kind,
        "vocab_size": 4000,
        "hard_vocab_limit": False,
        **SPECIAL.get(name, {}),
        **_QUIET,
    }
    Path("text.txt").write_bytes(data)
    of_counting = {k: v for k, v in options.items() if k == "max_sentence_length"}
    of_training = {k: v for k, v in options.items() if k not in of_counting}
    spmcompat.count(input="text.txt", **of_counting, **_QUIET).save("text.counts")
    train_ours("ours", of_training, "text.counts")
    train_reference("reference", {**options, "input": ["text.txt"]})
    longest = int(of_counting.get("max_sentence_length", LONGEST))
    paths = write_parts(data, longest)
    for path in paths:
        spmcompat.count(input=path, **of_counting, **_QUIET).save(f"{path}.counts")
    merging = Merging([spmcompat.load_counts(f"{path}.counts") for path in paths])
    write_counts("merged.counts", merging.origin, merging)
    train_ours("merged", of_training, "merged.counts")
    for path in paths:
        Path(path).write_bytes(with_lines_moved(Path(path).read_bytes(), longest))
    train_reference("parts", {**options, "input": paths})
    whole = without_input("merged.model") == without_input("reference.model")
    return verdict("ours", "reference"), verdict("merged", "parts"), whole


def write_parts(data: bytes, longest: int) -> list[str]:
    """Divide a text into parts, and write each part that contains a sentence to a file.

    Return the names of the files in the order of `ORDER`.
    """
    lines = data.splitlines(keepends=True)
    size = -(-len(lines) // PARTS)
    names = []
    for number in ORDER:
        part = b"".join(lines[number * size : (number + 1) * size])
        if with_lines_moved(part, longest):
            names.append(f"part{number}.txt")
            Path(names[-1]).write_bytes(part)
    return names


def with_lines_moved(text: bytes, longest: int) -> bytes:
    """Return the sentences of a text in the order in which the reference trains on them."""
    normalizer = sentencepiece.SentencePieceNormalizer(rule_name="nmt_nfkc")
    lines = [line for line in text.split(b"\n") if line]
    left = [line for line in lines if len(line) <= longest and RESERVED not in line]
    position = 0
    while position < len(left):
        if normalizer.Normalize(left[position]).strip():
            position += 1
        else:
            last = left.pop()
            if position < len(left):
                left[position] = last
    return b"".join(line + b"\n" for line in left)


def train_ours(name: str, options: dict[str, Option], counts: str) -> None:
    train(spmcompat.SentencePieceTrainer, name, {**options, "counts": counts})


def train_reference(name: str, options: dict[str, Option]) -> None:
    train(sentencepiece.SentencePieceTrainer, name, options)


def train(trainer: Any, name: str, options: dict[str, Option]) -> None:
    """Train with one prefix for all models, because models store it. Then rename the files."""
    try:
        trainer.train(model_prefix="m", **options)
    except (OSError, RuntimeError, ValueError) as error:
        Path(f"{name}.failure").write_text(str(error))
        return
    for end in (".model", ".vocab"):
        os.replace(f"m{end}", f"{name}{end}")


def verdict(ours: str, reference: str) -> str:
    failures = [os.path.exists(f"{name}.failure") for name in (ours, reference)]
    if any(failures):
        return "both fail" if all(failures) else "ONE FAILS"
    equal = all(
        Path(f"{ours}{end}").read_bytes() == Path(f"{reference}{end}").read_bytes()
        for end in (".model", ".vocab")
    )
    return "equal" if equal else "DIFFERENT"


def without_input(path: str) -> bytes:
    """Return a model without the names of its input files; empty if there is no model."""
    if not os.path.exists(path):
        return b""
    model = ModelProto.FromString(Path(path).read_bytes())
    model.trainer_spec.ClearField("input")
    return model.SerializeToString()


if __name__ == "__main__":
    sys.exit(main())
