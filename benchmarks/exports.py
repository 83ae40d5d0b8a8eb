"""Counts the lines that exports encode differently: ``python -m benchmarks.exports --folder DIR``.

It trains one model for each combination of a type, normalization rules and a form (`TYPES`,
`RULES`, `FORMS`) on some lines of each text in the folder, and exports it. Then it encodes other
lines of each text and the built-in hard lines with sentencepiece and with the library of the
target. It writes one row for each model.
"""

from __future__ import annotations

import argparse
import io
import itertools
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

import spmcompat
from spmcompat.model.reading import parse
from spmcompat.tools.export.causes import CAUSES, Reference
from spmcompat.tools.export.exporting import write_export
from spmcompat.tools.export.hard_lines import hard_lines
from spmcompat.tools.export.targets import target_of
from spmcompat.tools.export.verifying import compare_encodings

TYPES = ("unigram", "bpe")
RULES: dict[str, dict[str, object]] = {
    "nmt_nfkc": {},
    "identity": {"normalization_rule_name": "identity"},
    "nfkc_cf": {"normalization_rule_name": "nfkc_cf"},
    "own": {},  # the rules of `OWN_RULES`
}
# Rules for one or several characters, which produce no, one or several characters, or a space.
# One source is the beginning of another source.
OWN_RULES = """\
41\t61
FF21\t61
DF\t73 73
74 68\tFE
74 68 65\t2A 2A
65 301\tE9
301\t
2026\t2E 2E 2E
9\t20
A\t20
"""
FORMS: dict[str, dict[str, object]] = {
    "plain": {},
    "byte_fallback": {"byte_fallback": True},
    "user-defined symbols": {
        "user_defined_symbols": ["<mask>", "<MASK>", "@@", "\u2581the", "e\u0301", "<m"],
        "control_symbols": ["<ctl>", "\u00b6"],
    },
    "white space as suffix": {"treat_whitespace_as_suffix": True},
    "no dummy prefix": {"add_dummy_prefix": False},
    "extra spaces kept": {"remove_extra_whitespaces": False},
}
_LONGEST = 10_000  # the maximum number of characters of a line
_LEARNED = 200  # the number of lines of each text on which the models are trained


def lines_of(path: Path, start: int, count: int) -> list[str]:
    """Return `count` lines of a text, beginning with line `start`."""
    with path.open(encoding="utf-8", errors="replace", newline="\n") as file:
        chosen = itertools.islice(file, start, start + count)
        return [line.removesuffix("\n")[:_LONGEST] for line in chosen]


def trained(
    lines: list[str], model_type: str, options: dict[str, object], vocab_size: int
) -> bytes:
    """Return a model that was trained on the lines."""
    written = io.BytesIO()
    spmcompat.train(
        sentence_iterator=iter(lines),
        model_writer=written,
        model_type=model_type,
        vocab_size=vocab_size,
        character_coverage=0.999,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def cases(
    types: Sequence[str], names: Sequence[str], rules_file: Path
) -> Iterator[tuple[str, str, str, dict[str, object]]]:
    """Yield the type, the rules, the form and the options of each model."""
    for model_type, rules, (form, options) in itertools.product(types, names, FORMS.items()):
        named = RULES[rules]
        own = {"normalization_rule_tsv": str(rules_file)} if rules == "own" else {}
        yield model_type, rules, form, {**named, **own, **options}


def row(model: bytes, to: str, texts: list[list[str]]) -> tuple[int, Counter[str]]:
    """Return the number of lines, and how many of them are encoded differently, by cause."""
    message, target = parse(model), target_of(to)
    reference, causes, total = Reference(message), Counter[str](), 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "export")
        write_export(target.files(message), path)
        loaded = target.load(path)
        for lines in [hard_lines(message), *texts]:
            found = compare_encodings(reference, loaded, lines)
            total += found.lines
            causes.update(found.causes)
    return total, causes


def main() -> None:
    """Write the table to standard output."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.exports", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="folder with NAME.txt")
    parser.add_argument("--to", default="tokenizer.json", help="the target [%(default)s]")
    parser.add_argument("--lines", type=int, default=1000, help="lines of each text [%(default)s]")
    parser.add_argument("--vocab_size", type=int, default=8000)
    parser.add_argument("--types", nargs="+", default=list(TYPES), choices=TYPES)
    parser.add_argument("--rules", nargs="+", default=list(RULES), choices=RULES)
    parser.add_argument(
        "--options", nargs="+", default=[], help="trainer options NAME=VALUE, for all models"
    )
    arguments = parser.parse_args()

    common = dict(option.split("=", 1) for option in arguments.options)
    target = target_of(arguments.to)
    paths = sorted(arguments.folder.glob("*.txt"))
    count = arguments.lines
    learned = [line for path in paths for line in lines_of(path, 0, _LEARNED)]
    # The lines to encode follow the first `count` lines. A shorter text has no such lines. In this
    # case, its first lines are encoded, although the models were trained on some of them.
    texts = [lines_of(path, count, count) or lines_of(path, 0, count) for path in paths]
    print(f"{len(paths)} texts, {arguments.lines:,} lines of each, and the hard lines\n")
    print(f"| type | rules | form | lines | {' | '.join(CAUSES)} |")
    print(f"|---|---|---|---|{'---|' * len(CAUSES)}")
    with tempfile.TemporaryDirectory() as folder:
        rules_file = Path(folder) / "rules.tsv"
        rules_file.write_text(OWN_RULES)
        for model_type, rules, form, options in cases(arguments.types, arguments.rules, rules_file):
            model = trained(learned, model_type, {**options, **common}, arguments.vocab_size)
            refusals = [limit for limit in target.limits(parse(model)) if limit.refuses]
            if refusals:
                reasons = " ".join(limit.text for limit in refusals)
                print(f"| {model_type} | {rules} | {form} | refused: {reasons} |", flush=True)
                continue
            total, causes = row(model, arguments.to, texts)
            numbers = " | ".join(f"{causes[cause]:,}" for cause in CAUSES)
            print(f"| {model_type} | {rules} | {form} | {total:,} | {numbers} |", flush=True)


if __name__ == "__main__":
    main()
