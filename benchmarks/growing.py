"""The tables of docs/editing.md: larger and smaller vocabularies, evaluated on held-out text.

``python -m benchmarks.growing --folder CORPORA`` trains a model on an old text and makes it larger
for each new text: by `extend`, by `merge`, by training a new model on both texts, and by appending
the best pieces that a model of the new text has and the old model lacks. Then it makes the model
smaller: by `trim`, by training a new model, and by dropping the pieces that the text uses least.

The models are evaluated on every tenth block of 100 lines of each text, which is held out. Nothing
is random.
"""

from __future__ import annotations

import argparse
import io
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import sentencepiece

import spmcompat
from spmcompat.model.pieces import NORMAL, Piece, pieces_of
from spmcompat.model.reading import parse
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.runtime.cores import available_cores
from spmcompat.runtime.progress import Report
from spmcompat.runtime.rounding import to_float32
from spmcompat.runtime.workers import Workers
from spmcompat.tools.edit.reach import unreachable
from spmcompat.tools.edit.vocabulary import with_pieces
from spmcompat.tools.evaluate.evaluation import evaluate
from spmcompat.tools.evaluate.models import load_model
from tests.parity import corpora

_BLOCK = 100
SCORES = ("score 0", "scores of its model", "below the lowest")
_QUIET = Report(3)


class Text(NamedTuple):
    """A text in two files: one for training, and one that is held out."""

    name: str
    learned: str
    held_out: str


class Row(NamedTuple):
    """A model, and its figures on the held-out parts of the texts."""

    name: str
    pieces: int
    bytes_per_token: Sequence[float]
    renyi: Sequence[float]
    lost: float
    changed: float
    unreachable: int


def main(argv: Sequence[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growing", description=__doc__)
    parser.add_argument(
        "--folder", help=f"folder of the texts (default: ${corpora.FOLDER_VARIABLE})"
    )
    parser.add_argument("--old", default="en-docs", help="text of the model (default: %(default)s)")
    parser.add_argument(
        "--new",
        nargs="+",
        default=["code-python", "de-docs", "ja-docs"],
        help="new texts (default: %(default)s)",
    )
    parser.add_argument("--type", nargs="+", default=["unigram", "bpe"], help="kinds of models")
    parser.add_argument("--size", type=int, default=16000, help="pieces of the old model")
    parser.add_argument("--add", type=int, default=8000, help="pieces that are added")
    parser.add_argument("--keep", type=int, default=8000, help="pieces that are left")
    arguments = parser.parse_args(argv)
    found = corpora.large(arguments.folder)
    print(f"spmcompat {spmcompat.__version__}, sentencepiece {sentencepiece.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        names = [arguments.old, *arguments.new]
        old, *new = [parts(name, found[name], Path(folder)) for name in names]
        for kind in arguments.type:
            model = train(kind, arguments.size, [old])
            for text in new:
                models = larger(model, kind, old, text, arguments.add)
                print(f"\n{kind}, {old.name} + {text.name}\n")
                show(judged(models, [old, text], Path(folder)), [old, text])
            print(f"\n{kind}, {old.name}, smaller\n")
            show(judged(smaller(model, kind, old, arguments.keep), [old], Path(folder)), [old])


def parts(name: str, path: Path, folder: Path) -> Text:
    """Write the training part and the held-out part of a text into a folder."""
    text = Text(name, str(folder / f"{name}.txt"), str(folder / f"{name}.held-out.txt"))
    with (
        path.open("rb") as lines,
        open(text.learned, "wb") as most,
        open(text.held_out, "wb") as few,
    ):
        for number, line in enumerate(lines):
            (few if number // _BLOCK % 10 == 9 else most).write(line)
    return text


def train(kind: str, size: int, texts: Sequence[Text]) -> ModelProto:
    """Train a model on the texts."""
    written = io.BytesIO()
    spmcompat.train(
        input=[text.learned for text in texts],
        model_writer=written,
        model_type=kind,  # type: ignore[arg-type]
        vocab_size=size,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    return parse(written.getvalue())


def larger(
    model: ModelProto, kind: str, old: Text, new: Text, add: int
) -> Iterator[tuple[str, ModelProto]]:
    """Yield the model, and then a larger model for each method of adding pieces."""
    yield "the model", model
    donor = train(kind, 2 * add, [new])
    for scores in SCORES:
        yield f"appended by hand, {scores}", appended(model, donor, add, scores)
    data = model.SerializeToString()
    yield "`merge` with a model of the new text", merged(model, donor, len(model.pieces) + add)
    yield "`extend`", parse(spmcompat.extend(data, add=add, input=new.learned, minloglevel=2).model)
    yield "newly trained on both", train(kind, len(model.pieces) + add, [old, new])


def appended(model: ModelProto, donor: ModelProto, add: int, scores: str) -> ModelProto:
    """Append the best pieces of the donor that the model lacks, single characters first."""
    pieces = pieces_of(model)
    known = {piece.text for piece in pieces}
    found = [piece for piece in pieces_of(donor) if piece.type == NORMAL]
    found = [piece for piece in found if piece.text not in known]
    found.sort(key=lambda piece: len(piece.text) > 1)
    lowest = min(piece.score for piece in pieces if piece.type == NORMAL)
    chosen = {
        SCORES[0]: [0.0] * add,
        SCORES[1]: [piece.score for piece in found[:add]],
        SCORES[2]: [to_float32(lowest - 1 - rank) for rank in range(add)],
    }[scores]
    new = [Piece(piece.text, score) for piece, score in zip(found, chosen, strict=False)]
    return with_pieces(model, [*pieces, *new])


def merged(model: ModelProto, donor: ModelProto, size: int) -> ModelProto:
    """Merge two models, and return the result."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/first.model", f"{folder}/second.model"]
        for path, one in zip(paths, (model, donor), strict=True):
            Path(path).write_bytes(one.SerializeToString())
        return parse(spmcompat.merge(paths, vocab_size=size).model)


def smaller(
    model: ModelProto, kind: str, text: Text, keep: int
) -> Iterator[tuple[str, ModelProto]]:
    """Yield the model, and then a smaller model for each method of removing pieces."""
    yield "the model", model
    yield "least used pieces dropped by hand", cut(model, text, keep)
    data = model.SerializeToString()
    yield "`trim`", parse(spmcompat.trim(data, keep=keep, input=text.learned, minloglevel=2).model)
    yield "newly trained", train(kind, keep, [text])


def cut(model: ModelProto, text: Text, keep: int) -> ModelProto:
    """Drop those pieces of several characters that the text uses least, and return the model."""
    encoder = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
    uses = np.zeros(len(model.pieces), dtype=np.int64)
    with open(text.learned, encoding="utf-8", errors="replace") as lines:
        for ids in encoder.encode(lines.read().split("\n")):
            uses += np.bincount(ids, minlength=len(uses))
    pieces = pieces_of(model)
    merged = [i for i, one in enumerate(pieces) if one.type == NORMAL and len(one.text) > 1]
    merged.sort(key=lambda i: (uses[i], pieces[i].score))
    dropped = set(merged[: len(pieces) - keep])
    origins = [i for i in range(len(pieces)) if i not in dropped]
    return with_pieces(model, [pieces[i] for i in origins], origins)


def judged(
    models: Iterator[tuple[str, ModelProto]], texts: Sequence[Text], folder: Path
) -> Iterator[Row]:
    """Yield a row for each model. The other models are compared with the first one."""
    words = words_of(texts[0].held_out)
    cuts: list[list[str]] = []
    workers = Workers(available_cores())
    for name, model in models:
        path = folder / "judged.model"
        path.write_bytes(model.SerializeToString())
        found = [
            evaluate([load_model(str(path), workers)], [text.held_out], [], _QUIET)[0]
            for text in texts
        ]
        encoder = sentencepiece.SentencePieceProcessor(model_proto=model.SerializeToString())
        own = encoder.encode(list(words), out_type=str)
        cuts = cuts or own
        yield Row(
            name,
            len(model.pieces),
            [one.bytes_per_token for one in found],
            [one.renyi_efficiency for one in found],
            found[-1].lost_characters,
            share_changed(words, cuts, own),
            len(unreachable(pieces_of(model), model.trainer_spec)),
        )


def words_of(path: str) -> Mapping[str, int]:
    """Return the words of a text and their counts."""
    with open(path, encoding="utf-8", errors="replace") as lines:
        return Counter(word for line in lines for word in line.split())


def share_changed(
    words: Mapping[str, int], before: Sequence[Sequence[str]], after: Sequence[Sequence[str]]
) -> float:
    """Return the share of a text's words whose pieces differ between `before` and `after`."""
    changed = sum(
        count
        for count, one, other in zip(words.values(), before, after, strict=True)
        if one != other
    )
    return changed / sum(words.values())


def show(rows: Iterator[Row], texts: Sequence[Text]) -> None:
    """Print a table in Markdown."""
    names = [text.name for text in texts]
    head = ["", "pieces"]
    head += [f"bytes per token, {name}" for name in names]
    head += [f"Rényi efficiency, {name}" for name in names]
    head += [f"lost characters, {names[-1]}", f"changed words, {names[0]}", "unreachable"]
    print(f"| {' | '.join(head)} |")
    print(f"|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        cells = [row.name, f"{row.pieces:,}"]
        cells += [f"{value:.3f}" for value in (*row.bytes_per_token, *row.renyi)]
        cells += [f"{row.lost:.2%}", f"{row.changed:.1%}", f"{row.unreachable:,}"]
        print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
