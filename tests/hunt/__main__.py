"""Searches for differences between spmcompat and the real library.

``python -m tests.hunt --minutes 30 --seed 1`` trains both sides with random options on slices of
corpora and on generated texts, and compares every byte that they write. It prints a running count,
minimizes each difference, saves it as a test, and ends with a line of totals. A case depends only
on the seed, its number, the options of the command and the corpora.
"""

from __future__ import annotations

import argparse
import itertools
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from spmcompat.releases import RELEASES
from tests.hunt import found
from tests.hunt.cases import make_case
from tests.hunt.shrink import shrink
from tests.hunt.texts import KINDS, sources
from tests.parity import corpora, difference
from tests.parity.case import DEFAULT_RELEASE, Case, Failure
from tests.parity.harness import Comparison, Trainers
from tests.parity.ours_from_sizes import of_one_size
from tests.parity.sides import OURS

CASES = 500
EQUAL, BOTH_FAIL, BOTH_HANG, DIFFERENT = "equal", "both fail", "both hang", "different"
REFERENCE_CRASHED, REFERENCE_HANGS = "reference crashed, ours succeeded", "reference hangs"
REFUSED = "refused"  # spmcompat refuses the case: counts do not suffice, or a file is not UTF-8
VERDICTS = (
    EQUAL,
    BOTH_FAIL,
    BOTH_HANG,
    REFERENCE_CRASHED,
    REFERENCE_HANGS,
    REFUSED,
    DIFFERENT,
)
FORMS_OF_OURS = {
    "counts": "tests.parity.ours_from_counts",
    "sizes": "tests.parity.ours_from_sizes",
}
"""Modules of ours for forms that the reference does not have."""


def verdict(comparison: Comparison) -> str:
    """Return one of `VERDICTS`."""
    ours, reference = comparison.ours.failure, comparison.reference.failure
    if reference and reference.types[0] == "Timeout":
        if ours is None:
            return REFERENCE_HANGS
        if ours.types[0] == "Timeout":
            return BOTH_HANG
    if reference and reference.types[0] == "Crash" and ours is None:
        return REFERENCE_CRASHED
    if not comparison.equal:
        return REFUSED if ours and _is_refusal(ours) else DIFFERENT
    return BOTH_FAIL if reference else EQUAL


def _is_refusal(failure: Failure) -> bool:
    """Return whether spmcompat fails, as documented, where the reference succeeds."""
    # A slice of a corpus may happen to begin with the byte order mark of UTF-16. spmcompat refuses
    # such a text: see docs/deviations.md.
    return failure.types[0] == "NeedsSentences" or "convert it with iconv" in failure.message


def manner(comparison: Comparison) -> tuple[str, ...]:
    """Return how the two sides differ, which must not change when a case is minimized."""
    return (verdict(comparison), *difference.kinds(comparison.ours, comparison.reference))


def parse_arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.hunt", description=__doc__)
    parser.add_argument(
        "--release", default=DEFAULT_RELEASE, choices=RELEASES, help="release to train as"
    )
    parser.add_argument(
        "--cases", type=int, help=f"number of cases (default: {CASES}; no limit with --minutes)"
    )
    parser.add_argument("--minutes", type=float, help="do not start a case after this time")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first case (default: 0)"
    )
    parser.add_argument("--only", type=int, help="run only this case, with a full report")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random cases (default: 1)")
    parser.add_argument(
        "--form",
        choices=["python", "cli", *FORMS_OF_OURS],
        default="python",
        help="how both sides are called; counts: ours trains from counts of the text, in Python; "
        "sizes: ours trains several sizes in one run, in Python",
    )
    parser.add_argument(
        "--types", default="unigram,bpe,word,char", help="model types, separated by commas"
    )
    parser.add_argument(
        "--generated",
        type=float,
        default=0.5,
        metavar="SHARE",
        help="share of cases with a generated text; other cases use a slice of a corpus",
    )
    parser.add_argument(
        "--texts",
        default="",
        metavar="KINDS",
        help="kinds of generated texts, separated by commas (default: all): " + ", ".join(KINDS),
    )
    parser.add_argument("--corpora", help=f"folder of texts (default: ${corpora.FOLDER_VARIABLE})")
    parser.add_argument(
        "--workers",
        type=int,
        nargs="+",
        default=[1, 2, 3],
        help="numbers of worker threads; each case draws one of them",
    )
    parser.add_argument(
        "--timeout", type=float, default=180.0, help="time limit of each side, in seconds"
    )
    parser.add_argument(
        "--shrink",
        type=float,
        default=60.0,
        metavar="SECONDS",
        help="time for minimizing one difference, in seconds",
    )
    parser.add_argument(
        "--found",
        type=Path,
        default=found.FOLDER,
        metavar="FOLDER",
        help="where to save differences as tests",
    )
    parser.add_argument(
        "--ours", help="module to compare with the reference (default: the module of the form)"
    )
    return parser.parse_args(argv)


def numbers(arguments: argparse.Namespace) -> Iterator[int]:
    """Yield case numbers until enough cases have been made or the time is up."""
    if arguments.only is not None:
        yield arguments.only
        return
    cases = arguments.cases or (CASES if arguments.minutes is None else None)
    end = time.monotonic() + 60 * (float("inf") if arguments.minutes is None else arguments.minutes)
    for number in itertools.count(arguments.first):
        if time.monotonic() > end or (cases is not None and number >= arguments.first + cases):
            return
        yield number


def main(argv: Sequence[str] | None = None) -> int:
    """Run the hunt; return 0 if there are no differences."""
    arguments = parse_arguments(argv)
    texts = sources(arguments.corpora)
    tally: Counter[str] = Counter()
    seconds = [0.0, 0.0]
    started = time.perf_counter()
    ours = arguments.ours or FORMS_OF_OURS.get(arguments.form, OURS)
    with Trainers(ours=ours, timeout=arguments.timeout) as trainers:
        for number in numbers(arguments):
            case, corpus = make_case(
                arguments.seed,
                number,
                texts,
                "cli" if arguments.form == "cli" else "python",
                arguments.workers,
                arguments.types.split(","),
                arguments.generated,
                arguments.release,
                arguments.texts.split(",") if arguments.texts else (),
            )
            if arguments.form == "sizes":
                case = of_one_size(case)
            comparison = trainers.run(case)
            result = verdict(comparison)
            tally[result] += 1
            seconds[0] += comparison.ours.seconds
            seconds[1] += comparison.reference.seconds
            if result not in (EQUAL, BOTH_FAIL, REFUSED):
                print(f"\ncase {number} ({corpus}): {result}: {repeat(arguments, number)}")
                print("\n".join(comparison.differences[:12]), flush=True)
            if result == DIFFERENT:
                print(f"saved: {keep(arguments, number, comparison, trainers)}", flush=True)
            if arguments.only is not None:
                print(trainers.explain(comparison))
            done = sum(tally.values())
            if sys.stdout.isatty():
                print(f"{done}: {counts(tally)}", end="\r", flush=True)
            elif done % 25 == 0:
                print(f"{done}: {counts(tally)}", flush=True)
    print(
        f"\nhunt: sentencepiece {arguments.release}, {arguments.types}, form {arguments.form}, "
        f"seed {arguments.seed}, {sum(tally.values())} cases over {len(texts)} corpora and "
        f"generated texts: {counts(tally)}; ours {seconds[0]:.0f} s, reference {seconds[1]:.0f} s, "
        f"{time.perf_counter() - started:.0f} s in total"
    )
    return 1 if tally[DIFFERENT] else 0


def counts(tally: Counter[str]) -> str:
    return ", ".join(f"{tally[name]} {name}" for name in VERDICTS)


def repeat(arguments: argparse.Namespace, number: int) -> str:
    """Return the command that repeats a case."""
    folder = f" --corpora {arguments.corpora}" if arguments.corpora else ""
    kinds = f" --texts {arguments.texts}" if arguments.texts else ""
    return (
        f"python -m tests.hunt --release {arguments.release} --seed {arguments.seed} "
        f"--types {arguments.types} --form {arguments.form} "
        f"--generated {arguments.generated:g}{kinds}{folder} --only {number}"
    )


def keep(
    arguments: argparse.Namespace, number: int, comparison: Comparison, trainers: Trainers
) -> Path:
    """Minimize a difference and save it as a test."""
    wanted = manner(comparison)

    def fails(case: Case) -> bool:
        return manner(trainers.run(case)) == wanted

    small = shrink(comparison.case, fails, arguments.shrink)
    name = f"{arguments.release.replace('.', '_')}_seed_{arguments.seed}_case_{number}"
    return found.save(small, name, repeat(arguments, number), arguments.found)


if __name__ == "__main__":
    sys.exit(main())
