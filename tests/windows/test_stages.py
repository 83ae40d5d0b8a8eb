"""The C++ stages give the same results without Python; tools/windows also runs them on Windows."""

import os
import shutil
import struct
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from spmcompat.bpe.merges import Merges
from spmcompat.runtime.workers import Workers
from spmcompat.unigram.em.steps import best_path_counts, expected_counts, m_step
from spmcompat.unigram.lattice.lattices import Lattices, has_avx2
from spmcompat.unigram.pruning.pruning import LossWeights, find_losses
from spmcompat.unigram.seeding.seeds import SeedRule, seed_from_corpus
from tests.parity import corpora
from tests.unit import stages

HERE = Path(__file__).parent


@pytest.fixture(scope="module")
def text() -> str:
    return corpora.mixed_text(1, lines=2000) + corpora.topics_text()


@pytest.fixture(scope="module")
def printed(text: str, tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The output of the program, in lines."""
    compiler = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")
    if compiler is None:
        pytest.skip("needs a C++ compiler")
    folder = tmp_path_factory.mktemp("stages")
    flags = ["-std=c++17", "-O1", "-ffp-contract=off", "-pthread", f"-I{HERE.parents[1]}"]
    source, program = str(HERE / "stages.cpp"), str(folder / "stages")
    subprocess.run([*compiler.split(), *flags, "-o", program, source], check=True)
    (folder / "text").write_text(text, encoding="utf-8", newline="\n")
    ran = subprocess.run([program, str(folder / "text")], capture_output=True, check=True)
    return ran.stdout.decode().splitlines()


def lines_of(printed: list[str], kind: str) -> list[str]:
    return [line.removeprefix(f"{kind} ") for line in printed if line.startswith(f"{kind} ")]


def test_the_kernels_equal_the_expressions_of_the_reference(printed: list[str]) -> None:
    assert ("any processor: 0 different" in printed, "avx2: 0 different" in printed) == (
        True,
        has_avx2(),
    )
    assert len(set(lines_of(printed, "kernel"))) == 1


def test_the_stages_equal_those_of_the_package(text: str, printed: list[str]) -> None:
    workers = Workers(2)
    corpus = stages.read(text.split("\n"), remove_extra_whitespaces=True, character_coverage=1.0)
    assert lines_of(printed, "character") == [f"U+{c:04X} {count}" for c, count in corpus.alphabet]
    assert lines_of(printed, "segments") == [str(corpus.segments)]

    merges = Merges(corpus.segment_counts(workers), 2000, workers)
    merges.make(2000)
    assert lines_of(printed, "merge") == [f"{piece.decode()} {count}" for piece, count in merges]

    counts: list[int] = []
    rule = SeedRule(20_000, vocab_size=8000)
    seeds = seed_from_corpus(corpus, rule, workers, stages.QUIET, counts=counts)
    found = [f"{piece.decode()} {count}" for (piece, _), count in zip(seeds, counts, strict=True)]
    assert lines_of(printed, "seed") == found[len(corpus.alphabet) :]

    lattices = Lattices(corpus, seeds, workers)
    for _ in range(3):
        for _ in range(2):
            expected = expected_counts(lattices, 16, workers)
            lattices.renumber(*m_step(lattices.pieces, expected, workers), workers)
        best = best_path_counts(lattices, 16, workers)
        size = len(lattices.pieces) * 3 // 4
        losses = find_losses(lattices, best, LossWeights.by_pieces(best), workers)
        lattices.renumber(*losses.select(size), workers)
    assert lines_of(printed, "unigram") == [
        f"{piece.decode()} {struct.unpack('<I', struct.pack('<f', score))[0]:08x}"
        for piece, score in lattices.pieces
    ]


def test_every_line_is_compared(printed: list[str]) -> None:
    kinds = Counter(line.split(" ")[0] for line in printed)
    assert set(kinds) - {"any", "avx2:", "kernel", "sentences"} == {
        "character",
        "segments",
        "merge",
        "seed",
        "unigram",
    }
