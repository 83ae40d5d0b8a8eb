"""Trains and evaluates one set of flags on one language, and keeps the result in a folder."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

from benchmarks.papers.tables import BYTES, LANGUAGES, Flags
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.tools.evaluate.evaluation import Evaluation, evaluate
from spmcompat.tools.evaluate.gold import GoldScores, score_boundaries
from spmcompat.tools.evaluate.gold_lists import GoldList
from spmcompat.tools.evaluate.models import load_model


class Measured(NamedTuple):
    """Loss and tokens of a model on its training text, its training time, and its path."""

    loss: float
    tokens: int
    seconds: float
    model: Path


def write_text(language: str, corpora: Path, folder: Path) -> Path:
    """Write the first megabytes of a language to one file."""
    target = folder / f"{language}.txt"
    if target.exists():
        return target
    temporary = target.with_suffix(".tmp")
    left = BYTES
    with open(temporary, "wb") as output:
        for name in LANGUAGES[language]:
            with open(corpora / f"{name}.txt", "rb") as source:
                for line in source:
                    if left <= 0:
                        break
                    output.write(line)
                    left -= len(line)
    temporary.replace(target)
    return target


def measure(text: Path, flags: Flags, size: int, folder: Path) -> Measured:
    """Train and evaluate, or read the result if the folder has it.

    Raises
    ------
    RuntimeError
        If the training fails.
    """
    given = {"vocab_size": str(size), "hard_vocab_limit": "false", **flags}
    named = json.dumps([text.name, text.stat().st_size, given, 0], sort_keys=True)
    name = hashlib.sha256(named.encode()).hexdigest()[:16]
    kept, model = folder / f"{name}.json", folder / f"{name}.model"
    if kept.exists() and model.exists():
        found = json.loads(kept.read_text(encoding="utf-8"))
        return Measured(found["loss"], found["tokens"], found["seconds"], model)
    seconds = _train(text, given, folder / name)
    evaluation = _evaluate(model, text)
    result = Measured(evaluation.loss_per_character, evaluation.tokens, seconds, model)
    document = {**result._asdict(), "model": model.name, "of": named}
    kept.write_text(json.dumps(document), encoding="utf-8")
    return result


def score(model: Path, gold: GoldList) -> GoldScores:
    """Compare the boundaries that a model finds with those of a gold list."""
    parts = load_model(str(model), Workers(1)).cut([word.text for word in gold.words])
    return score_boundaries(gold.words, parts)


def _train(text: Path, flags: Flags, prefix: Path) -> float:
    # Python looks for modules in the working directory first: not in the folder of the checkout.
    command = [sys.executable, "-m", "spmcompat", "train", f"--input={text.resolve()}"]
    command += [f"--model_prefix={prefix.name}", "--minloglevel=2"]
    command += [f"--{name}={value}" for name, value in flags.items()]
    started = time.perf_counter()
    done = subprocess.run(command, cwd=prefix.parent, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
    return time.perf_counter() - started


def _evaluate(model: Path, text: Path) -> Evaluation:
    loaded = load_model(str(model), Workers(os.cpu_count() or 1))
    (evaluation,) = evaluate([loaded], [str(text)], [], Report(min_log_level=2))
    return evaluation
