"""Trains and measures one set of flags on one text, and keeps the results in the work folder."""

from __future__ import annotations

import hashlib
import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache, cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from benchmarks.papers.tables import PAPER, Flags
from spmcompat.engine.lines import (
    LineSegments,
    plan_by_line,
    segments_by_line,
    with_training_cuts,
)
from spmcompat.model.reading import read_model
from spmcompat.model.sentencepiece_model_pb2 import ModelProto
from spmcompat.options.planning import PlanOptions
from spmcompat.plan import TextPlan
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.gold import GoldScores, score_boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.loss import has_loss
from spmcompat.tools.evaluate.models import load_model
from spmcompat.tools.evaluate.pretokens import encoder_of_normalized
from spmcompat.unicode.marks import UNKNOWN_MARK
from spmcompat.unigram.em.steps import segment_log_likelihoods
from spmcompat.unigram.lattice.lattices import Lattices
from spmcompat.unigram.pieces import Pieces

MARK = UNKNOWN_MARK.encode()
BLOCKS = 256
"""The approximate number of blocks of lines in a text. The bootstrap draws blocks."""
_LONGEST = 4192  # the length limit in bytes; training skips longer lines

_Floats = npt.NDArray[np.float64]


class Measured(NamedTuple):
    """The loss and the number of tokens of a model on a text, and the time of its training.

    Attributes
    ----------
    loss, tokens : array of float64
        For each block of the text, the loss in nats and the number of tokens. The loss is NaN
        unless the scores of the model are log probabilities of a Unigram model.
    seconds, cpu_seconds : float
        Wall time and processor time of training.
    measuring_seconds : float
        Processor time of the measurement.
    model : Path
        The model.
    """

    loss: _Floats
    tokens: _Floats
    seconds: float
    cpu_seconds: float
    measuring_seconds: float
    model: Path


class MeasuredText:
    """A text that is cut as in training. Every distinct segment is measured once."""

    def __init__(self, path: Path, workers: Workers) -> None:
        self.path = path
        self._workers = workers

    @cached_property
    def _blocks(self) -> tuple[list[bytes], npt.NDArray[np.int64], npt.NDArray[np.int64], _Floats]:
        """The distinct segments, and three arrays of equal length.

        The arrays have an item for each distinct segment of each block: the index of the block, the
        index of the segment, and the count of the segment in the block.
        """
        ids: dict[bytes, int] = {}
        blocks, segments, counts = [], [], []
        for number, lines in enumerate(_blocks_of_lines(self.path)):
            found = segments_by_line(self._plan, lines, self._workers)
            texts = found.corpus.segment_texts()
            here = np.array([ids.setdefault(text, len(ids)) for text in texts])
            uses = np.bincount(found.segment_of, minlength=len(texts))
            blocks.append(np.full(len(here), number))
            segments.append(here)
            counts.append(uses)
        return (
            list(ids),
            np.concatenate(blocks),
            np.concatenate(segments),
            np.concatenate(counts).astype(np.float64),
        )

    @cached_property
    def _plan(self):  # type: ignore[no-untyped-def]
        """How training reads the text."""
        reading = PlanOptions(
            text=TextPlan(max_sentence_length=_LONGEST),
            character_coverage=math.inf,
            seeding_chunk_bytes=1 << 62,
        )
        trained = ModelProto()
        cut = with_training_cuts(reading, trained, PAPER["pretokenizer"])
        return plan_by_line(cut, _charsmap(), [])

    @cached_property
    def _distinct(self) -> LineSegments:
        """The distinct segments, each read as a line."""
        plain = PlanOptions(
            text=TextPlan(max_sentence_length=1 << 30),
            character_coverage=math.inf,
            add_dummy_prefix=False,
            remove_extra_whitespaces=False,
            split_by_whitespace=False,
            split_by_unicode_script=False,
            split_by_number=False,
            seeding_chunk_bytes=1 << 62,
        )
        # A mark represents a cut of the pretokenizer. It is not text, so a hyphen replaces it.
        texts = [text if text != MARK else b"-" for text in self._blocks[0]]
        return segments_by_line(plan_by_line(plain, b"", []), texts, self._workers)

    def forget(self) -> None:
        """Free the segments. They are read again when they are needed."""
        for name in ("_blocks", "_distinct"):
            self.__dict__.pop(name, None)

    def measure(self, model: Path) -> tuple[_Floats, _Floats]:
        """Return the loss and the number of tokens of each block."""
        texts, block_of, segment_of, count = self._blocks
        proto = ModelProto.FromString(model.read_bytes())
        is_text = np.array([text != MARK for text in texts])
        tokens = np.array([len(ids) for ids in self._encode(proto, texts)], dtype=np.float64)
        losses = np.full(len(texts), math.nan)
        if has_loss(proto):
            losses = self._losses(proto)
        values = [np.where(is_text, part, 0)[segment_of] * count for part in (losses, tokens)]
        size = int(block_of[-1]) + 1
        loss, used = (np.bincount(block_of, part, size) for part in values)
        return loss, used

    def _encode(self, proto: ModelProto, texts: list[bytes]) -> list[npt.NDArray[np.int32]]:
        encoded: list[npt.NDArray[np.int32]] = encoder_of_normalized(proto).encode(
            texts, return_type="numpy", num_threads=self._workers.count
        )
        return encoded

    def _losses(self, proto: ModelProto) -> _Floats:
        """Return the negative log likelihood of each distinct segment."""
        pieces = [(p.piece.encode(), p.score) for p in proto.pieces if p.type == p.NORMAL]
        lattices = Lattices(self._distinct.corpus, Pieces([*pieces, (MARK, 0.0)]), self._workers)
        found = np.array(segment_log_likelihoods(lattices, self._workers))
        return -self._distinct.sum_by_line(found)


def measure(
    text: MeasuredText, flags: Flags, size: int, folder: Path, on: MeasuredText | None = None
) -> Measured:
    """Train a model and measure it, or read the results if the work folder contains them.

    Parameters
    ----------
    text : MeasuredText
        The text to train on.
    flags : mapping of str to str
        The flags to train with.
    size : int
        The number of pieces.
    folder : Path
        The work folder.
    on : MeasuredText, optional
        The text to measure the model on; by default the text to train on.

    Raises
    ------
    RuntimeError
        If training fails.
    """
    chosen = {name: value for name, value in flags.items() if value}
    arguments = {"vocab_size": str(size), "hard_vocab_limit": "false", **chosen}
    named = json.dumps([text.path.name, text.path.stat().st_size, arguments], sort_keys=True)
    name = hashlib.sha256(named.encode()).hexdigest()[:16]
    model = folder / f"{name}.model"
    trained = folder / f"{name}.train.json"
    if not (trained.exists() and model.exists()):
        _write_json(trained, {**_train(text.path, arguments, folder / name), "of": named})
    times = json.loads(trained.read_text(encoding="utf-8"))
    other = f"-{on.path.stem}-{on.path.stat().st_size}" if on is not None else ""
    kept = folder / f"{name}{other}.measured.json"
    if not kept.exists():
        started = time.process_time()
        loss, tokens = (on or text).measure(model)
        took = time.process_time() - started
        _write_json(kept, {"loss": loss.tolist(), "tokens": tokens.tolist(), "cpu_seconds": took})
    found = json.loads(kept.read_text(encoding="utf-8"))
    return Measured(
        np.array(found["loss"], dtype=np.float64),
        np.array(found["tokens"]),
        times["seconds"],
        times["cpu_seconds"],
        found["cpu_seconds"],
        model,
    )


@cache
def count_pieces(model: Path) -> int:
    """Return the number of pieces of a model, which may be smaller than the number asked for."""
    return len(read_model(str(model)).pieces)


def score(model: Path, gold: GoldList) -> GoldScores:
    """Compare the boundaries that a model finds with those of a gold list."""
    return score_boundaries(gold.words, cut(model, gold))


def cut(model: Path, gold: GoldList) -> list[list[str]]:
    """Return the parts into which a model cuts each word of a gold list."""
    return load_model(str(model), Workers(1)).cut([word.text for word in gold.words])


def _train(text: Path, flags: Flags, prefix: Path) -> dict[str, float]:
    # Python looks for modules in the working directory first. So the working directory must not be
    # the checkout, whose modules would hide the installed ones.
    command = [sys.executable, "-m", "spmcompat", "train", f"--input={text.resolve()}"]
    command += [f"--model_prefix={prefix.name}", "--minloglevel=2"]
    command += [f"--{name}={value}" for name, value in flags.items()]
    log = prefix.with_suffix(".log")
    started = time.perf_counter()
    with open(log, "wb") as output:
        process = subprocess.Popen(command, cwd=prefix.parent, stdout=output, stderr=output)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {log.read_text(errors='replace')}")
    return {
        "seconds": time.perf_counter() - started,
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
    }


def _charsmap() -> bytes:
    """Return the charsmap of the default normalization rules, which all models are trained with."""
    from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec
    from spmcompat.options.named_rules import with_named_rules
    from spmcompat.releases import DEFAULT

    return with_named_rules(NormalizerSpec(), DEFAULT).precompiled_charsmap


def _blocks_of_lines(path: Path) -> Iterator[list[bytes]]:
    """Yield the lines that training reads, in about `BLOCKS` blocks."""
    with open(path, "rb") as file:
        kept = [
            line
            for line in (raw.rstrip(b"\r\n") for raw in file)
            if len(line) <= _LONGEST and MARK not in line and _is_visible(line)
        ]
    size = -(-len(kept) // BLOCKS)
    yield from (kept[begin : begin + size] for begin in range(0, len(kept), size))


def _is_visible(line: bytes) -> bool:
    """Return whether anything of a line remains after normalization."""
    return any(
        c.isprintable() and not c.isspace() and c != "\ufffd" for c in line.decode(errors="replace")
    )


def _write_json(path: Path, document: dict[str, object]) -> None:
    temporary = path.with_suffix(".tmp")
    temporary.write_text(json.dumps(document), encoding="utf-8")
    temporary.replace(path)
