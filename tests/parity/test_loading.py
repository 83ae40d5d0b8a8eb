"""Loads models of every type and release in the newest ``sentencepiece`` and in 0.2.1."""

from __future__ import annotations

import functools
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from spmcompat.releases import RELEASES
from tests.parity.case import Option
from tests.parity.corpora import mixed_text, topics_text
from tests.parity.environments import (
    NOTHING_ELSE,
    MissingEnvironmentError,
    python_of_release,
)
from tests.parity.harness import Comparison, Trainers

TEXT = topics_text(100_000) + mixed_text(1, 300)
LINES = [line for line in (TEXT + mixed_text(2, 600)).splitlines() if line][-1000:]

# A program that prints, for each model, the ids, the pieces and the decoded text of each line of a
# file.
_USE = """\
import sys
import sentencepiece

lines, *models = sys.argv[1:]
for model in models:
    processor = sentencepiece.SentencePieceProcessor(model_file=model)
    for line in open(lines, encoding="utf-8"):
        ids = processor.encode(line.rstrip("\\n"))
        print(ids, [processor.id_to_piece(i) for i in ids], repr(processor.decode(ids)))
"""


@pytest.fixture(params=["newest", "0.2.1"])
def library(request: pytest.FixtureRequest) -> Path:
    """An interpreter in which a certain release of the library is installed."""
    if request.param == "newest":
        return Path(sys.executable)
    try:
        return python_of_release(request.param)
    except MissingEnvironmentError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def compared(trainers: Trainers) -> Callable[[str, str], Comparison]:
    """Return a function that trains a model with a release, once for both libraries."""

    @functools.cache
    def compare(release: str, model_type: str) -> Comparison:
        options: dict[str, Option] = {"model_type": model_type, "vocab_size": 4000}
        options["hard_vocab_limit"] = False
        return trainers.check(options, TEXT, release=release)

    return compare


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("release", RELEASES)
def test_the_library_encodes_alike_with_our_model(
    compared: Callable[[str, str], Comparison],
    library: Path,
    release: str,
    model_type: str,
    tmp_path: Path,
) -> None:
    comparison = compared(release, model_type)
    assert len(LINES) == 1000
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(LINES), encoding="utf-8")
    models = []
    for name, outcome in [("ours", comparison.ours), ("theirs", comparison.reference)]:
        models.append(tmp_path / f"{name}.model")
        models[-1].write_bytes(outcome.output(".model") or b"")
    command = [str(library), "-c", _USE, str(lines), *map(str, models)]
    environment = {**os.environ, **NOTHING_ELSE}
    done = subprocess.run(command, env=environment, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    outputs = done.stdout.decode().splitlines()
    assert len(outputs) == 2 * len(LINES)
    assert outputs[: len(LINES)] == outputs[len(LINES) :]
