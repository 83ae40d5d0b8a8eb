"""The parity table: spmcompat and the reference train on every text of a folder.

Then the bytes of their models are compared.

``python -m benchmarks.parity --folder CORPORA`` takes the first 2 MB of each file, cut after a
whole line, and trains with ``num_threads`` 1, 2 and 16. ``--type bpe`` trains another model type,
only with ``num_threads`` 16. ``--whole`` trains 32,000 pieces on whole files, by default on a short
list of files, and only with ``num_threads`` 16.
``--cache FOLDER`` keeps the results of the reference, which saves time during development; without
it, every run is repeated. ``--release 0.2.1`` compares with that release, in a separate virtual
environment.
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
# With the default options of this benchmark, both trainers refuse these texts: the texts have too
# many different characters, or lines that are too long.
SPECIAL: dict[str, dict[str, Option]] = {
    "mixed-messy": {"vocab_size": 12_000},
    "zh-poetry": {"vocab_size": 12_000},
    "long-lines": {"max_sentence_length": 100_000},
}


@dataclass(frozen=True)
class Row:
    """One training run to compare."""

    corpus: str
    text: Path
    options: Mapping[str, Option]


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.parity", description=__doc__)
    parser.add_argument("corpora", nargs="*", help="names of texts (default: all of the folder)")
    parser.add_argument(
        "--folder", help=f"folder of the texts (default: ${corpora.FOLDER_VARIABLE})"
    )
    parser.add_argument(
        "--type", default="unigram", choices=sides.MODEL_TYPES, help="model type to train"
    )
    parser.add_argument(
        "--release",
        default=DEFAULT.version,
        choices=list(RELEASES),
        help="release of the reference (default: %(default)s)",
    )
    parser.add_argument(
        "--num_threads", type=int, nargs="+", help="values of num_threads (default: see above)"
    )
    parser.add_argument("--vocab_size", type=int, help="pieces (default: 4000; 32000 with --whole)")
    parser.add_argument(
        "--head", type=int, default=HEAD, help="bytes of each file (default: %(default)s)"
    )
    parser.add_argument("--whole", action="store_true", help="train on whole files")
    parser.add_argument(
        "--workers", type=int, default=0, help="workers of spmcompat (default: all cores)"
    )
    parser.add_argument("--cache", type=Path, help="folder to keep results of the reference in")
    return parser.parse_args(argv)


def rows(arguments: argparse.Namespace, scratch: Path) -> Iterator[Row]:
    """Yield the training runs of the parity table, in order."""
    found = corpora.large(arguments.folder)
    names = arguments.corpora or (WHOLE if arguments.whole else sorted(found))
    missing = [name for name in names if name not in found]
    if missing or not names:
        raise SystemExit(f"Not in the folder: {', '.join(missing)}." if names else "Give --folder.")
    size = arguments.vocab_size or (32_000 if arguments.whole else 4_000)
    # Among all model types, only Unigram models depend on num_threads.
    default = [1, 2, 16] if arguments.type == "unigram" and not arguments.whole else [16]
    for name in names:
        text = found[name]
        if not arguments.whole:
            text = scratch / f"{name}.txt"
            text.write_bytes(corpora.head(found[name], arguments.head))
        for threads in arguments.num_threads or default:
            options = {"vocab_size": size, "hard_vocab_limit": False, "num_threads": threads}
            if arguments.type != "unigram":
                options["model_type"] = arguments.type
            yield Row(name, text, options)
            if {**options, **SPECIAL.get(name, {})} != options and not (
                arguments.whole and "vocab_size" in SPECIAL[name]
            ):
                yield Row(name, text, {**options, **SPECIAL[name]})


def reference_of(release: str) -> Side:
    """Return the installed ``sentencepiece`` if it is the given release, or else install it."""
    installed = sides.reference()
    return installed if installed.version == release else sides.release(release)


def of_reference(side: Side, row: Row, cache: Path | None) -> tuple[Run, bool]:
    """Return the run of the reference, and whether it comes from the cache."""
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
    """Print the table; return 0 if all rows are equal."""
    arguments = parse_arguments(argv)
    try:
        ours_side = sides.ours(arguments.workers or len(os.sched_getaffinity(0)))
        reference = reference_of(arguments.release)
    except MissingSideError as error:
        raise SystemExit(str(error)) from None
    versions = {"spmcompat": ours_side.version, "sentencepiece": reference.version, **machine()}
    print(", ".join(f"{name} {value}" for name, value in versions.items()))
    print(
        f"{'corpus':<20}{'MB':>8}{'vocab':>7}{'threads':>8}{'ours s':>9}{'MiB':>7}"
        f"{'ref s':>9}{'MiB':>7}  verdict"
    )
    verdicts: list[str] = []
    seconds = [0.0, 0.0]
    cached = 0
    with tempfile.TemporaryDirectory() as scratch:
        for row in rows(arguments, Path(scratch)):
            theirs, from_cache = of_reference(reference, row, arguments.cache)
            ours = train(ours_side, row.text, {**row.options, "compat": arguments.release})
            verdicts.append(verdict(ours, theirs))
            seconds[0] += ours.seconds
            seconds[1] += theirs.seconds
            cached += from_cache
            print(
                f"{row.corpus:<20}{row.text.stat().st_size / 1e6:8.1f}"
                f"{row.options['vocab_size']:>7}{row.options['num_threads']:>8}{ours.seconds:9.2f}"
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
        + (f" ({cached} rows marked * from the cache)" if cached else ", none from the cache")
    )
    return 0 if different == 0 else 1


if __name__ == "__main__":
    sys.exit(main())
