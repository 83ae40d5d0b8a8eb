"""Loads models of every type and release in the newest ``sentencepiece`` and in 0.2.1."""

from __future__ import annotations

import os
import subprocess
import sys
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
from tests.parity.harness import Trainers

TEXT = topics_text(100_000) + mixed_text(1, 300)
LINES = [line for line in (TEXT + mixed_text(2, 600)).splitlines() if line][-1000:]

# A program that prints the ids, the pieces and the decoded text of each line of a file.
_USE = """\
import sys
import sentencepiece

processor = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
for line in open(sys.argv[2], encoding="utf-8"):
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


@pytest.mark.parametrize("model_type", ["unigram", "bpe", "word", "char"])
@pytest.mark.parametrize("release", RELEASES)
def test_the_library_encodes_alike_with_our_model(
    trainers: Trainers, library: Path, release: str, model_type: str, tmp_path: Path
) -> None:
    try:
        trainers.of_release(release)
    except MissingEnvironmentError as error:
        pytest.skip(str(error))
    options: dict[str, Option] = {"model_type": model_type, "vocab_size": 4000}
    options["hard_vocab_limit"] = False
    comparison = trainers.check(options, TEXT, release=release)
    assert len(LINES) == 1000
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(LINES), encoding="utf-8")
    outputs = []
    for name, outcome in [("ours", comparison.ours), ("theirs", comparison.reference)]:
        model = tmp_path / f"{name}.model"
        model.write_bytes(outcome.output(".model") or b"")
        command = [str(library), "-c", _USE, str(model), str(lines)]
        environment = {**os.environ, **NOTHING_ELSE}
        done = subprocess.run(command, env=environment, capture_output=True, check=False)
        assert done.returncode == 0, done.stderr.decode()
        outputs.append(done.stdout.decode().splitlines())
    assert len(outputs[0]) == len(LINES)
    assert outputs[0] == outputs[1]
