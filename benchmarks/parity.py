"""The parity table: both sides on every corpus of a folder, bytes compared.

``python -m benchmarks.parity --folder CORPORA`` takes the first 2 MB of each file, cut at a line
end, with 1, 2 and 16 lanes; ``--type bpe`` trains another model type, once. ``--whole`` takes the
named files, or its default list, whole, at 32,000 pieces and 16 lanes. ``--cache FOLDER`` keeps
the reference's digests between runs while developing; without it every figure is live.
``--release 0.2.1`` compares with that release in an environment of its own.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import sides
from benchmarks.corpora import digest
from benchmarks.measure import Run, train
from benchmarks.results import machine
from benchmarks.sides import MissingSideError, Side
from spmcompat.releases import DEFAULT, RELEASES
from tests.parity import corpora
from tests.parity.case import Option

WHOLE = ["en-books", "code-c", "zh-laws", "ja-aozora", "hi-stories", "ar-hindawi", "ko-nsmc"]
WHOLE += ["mixed-messy", "long-lines", "nospace", "edge-bytes"]
HEAD = 2_000_000
# With the table's own options both sides refuse these: too many characters, too long lines.
ROOM: dict[str, dict[str, Option]] = {
    "mixed-messy": {"vocab_size": 12_000},
    "zh-poetry": {"vocab_size": 12_000},
    "long-lines": {"max_sentence_length": 100_000},
}


@dataclass(frozen=True)
class Row:
    """One training to compare."""

    corpus: str
    text: Path
    options: Mapping[str, Option]


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=__doc__)
    parser.add_argument("corpora", nargs="*", help="names (default: all of the folder)")
    parser.add_argument("--folder", help=f"of the corpora (default: ${corpora.FOLDER_VARIABLE})")
    parser.add_argument("--type", default="unigram", choices=sorted(DEFAULT.model_types))
    parser.add_argument(
        "--release", default=DEFAULT.version, choices=list(RELEASES), help="of the reference"
    )
    parser.add_argument("--lanes", type=int, nargs="+")
    parser.add_argument("--vocab_size", type=int)
    parser.add_argument("--head", type=int, default=HEAD, help="bytes of each file")
    parser.add_argument("--whole", action="store_true", help="whole files instead of their heads")
    parser.add_argument("--workers", type=int, default=0, help="of ours (default: the cores)")
    parser.add_argument("--cache", type=Path, help="folder for the reference's results")
    return parser.parse_args(argv)


def rows(given: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Yield the trainings of the table, in order."""
    found = corpora.large(given.folder)
    names = given.corpora or (WHOLE if given.whole else sorted(found))
    missing = [name for name in names if name not in found]
    if missing or not names:
        raise SystemExit(f"no such corpus: {', '.join(missing) or 'give --folder'}")
    size = given.vocab_size or (32_000 if given.whole else 4_000)
    # Only unigram models depend on the lanes.
    lanes_of_type = [1, 2, 16] if given.type == "unigram" and not given.whole else [16]
    for name in names:
        text = found[name]
        if not given.whole:
            text = scratch / f"{name}.txt"
            text.write_bytes(corpora.head(found[name], given.head))
        for lanes in given.lanes or lanes_of_type:
            options = {"vocab_size": size, "hard_vocab_limit": False, "num_threads": lanes}
            if given.type != "unigram":
                options["model_type"] = given.type
            yield Row(name, text, options)
            if {**options, **ROOM.get(name, {})} != options and not (
                given.whole and "vocab_size" in ROOM[name]
            ):
                yield Row(name, text, {**options, **ROOM[name]})


def reference_of(release: str) -> Side:
    """Return the installed ``sentencepiece``, or another release of it."""
    installed = sides.reference()
    return installed if installed.version == release else sides.release(release)


def of_reference(side: Side, row: Row, cache: Path | None) -> tuple[Run, bool]:
    """Train the reference, or take its result from the cache; tell which."""
    if cache is None:
        return train(side, row.text, row.options), False
    key = json.dumps([side.version, digest(row.text), row.options], sort_keys=True)
    kept = cache / f"run-{hashlib.sha256(key.encode()).hexdigest()}.json"
    if kept.is_file():
        return Run.from_json(json.loads(kept.read_text())), True
    run = train(side, row.text, row.options)
    cache.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(run.to_json()))
    return run, False


def verdict(ours: Run, theirs: Run) -> str:
    if ours.failure and theirs.failure:
        return "both fail"
    if ours.failure or theirs.failure:
        return f"ONE FAILS: {ours.failure or theirs.failure}"
    return "equal" if ours.sha256 == theirs.sha256 else "DIFFERENT"


def main(argv: Sequence[str] | None = None) -> int:
    """Print the table; 0 when no row differs."""
    given = arguments(argv)
    try:
        ours_side = sides.ours(given.workers or len(os.sched_getaffinity(0)))
        reference = reference_of(given.release)
    except MissingSideError as error:
        raise SystemExit(str(error)) from None
    told = {"spmcompat": ours_side.version, "sentencepiece": reference.version, **machine()}
    print(", ".join(f"{name} {value}" for name, value in told.items()))
    print(
        f"{'corpus':<20}{'MB':>8}{'vocab':>7}{'lanes':>6}{'ours s':>9}{'MiB':>7}"
        f"{'ref s':>9}{'MiB':>7}  verdict"
    )
    verdicts: list[str] = []
    seconds = [0.0, 0.0]
    cached = 0
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(given, Path(scratch)):
            theirs, from_cache = of_reference(reference, row, given.cache)
            ours = train(ours_side, row.text, {**row.options, "compat": given.release})
            verdicts.append(verdict(ours, theirs))
            seconds[0] += ours.seconds
            seconds[1] += theirs.seconds
            cached += from_cache
            print(
                f"{row.corpus:<20}{row.text.stat().st_size / 1e6:8.1f}"
                f"{row.options['vocab_size']:>7}{row.options['num_threads']:>6}{ours.seconds:9.2f}"
                f"{ours.peak_kib / 1024:7.0f}{theirs.seconds:9.2f}{theirs.peak_kib / 1024:7.0f}"
                f"{'*' if from_cache else ' '} {verdicts[-1]}",
                flush=True,
            )
    equal, both_fail = verdicts.count("equal"), verdicts.count("both fail")
    different = len(verdicts) - equal - both_fail
    print(
        f"parity: {len(verdicts)} rows: {equal} equal, {both_fail} both fail, {different} "
        f"different; ours "
        f"{seconds[0]:.0f} s, reference {seconds[1]:.0f} s"
        + (f" ({cached} rows marked * from the cache)" if cached else ", all live")
    )
    return 0 if different == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
