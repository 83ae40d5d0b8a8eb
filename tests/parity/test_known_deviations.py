"""Tests of the deviations that docs/deviations.md lists, with spmcompat and with the reference.

Each test names the row of the page that it demonstrates. If a later change removes the deviation,
the test fails and says so; then remove the row and the test.
"""

from __future__ import annotations

import gzip
import io
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import pytest

import spmcompat
from tests.kinds import raises_kind
from tests.parity.case import Case, Option, Outcome
from tests.parity.corpora import words_text
from tests.parity.harness import Comparison, Trainers, file_case, sentences_case
from tests.parity.own_types import ShortWriter

PAGE = Path(__file__).resolve().parents[2] / "docs" / "deviations.md"
GONE = "both sides do the same now: remove it from docs/deviations.md, and remove this test"
NOT_REPEATED = "their bytes can be repeated now: remove it from docs/deviations.md, or compare them"
IF_LARGE = pytest.mark.skipif(
    "SPMCOMPAT_LARGE" not in os.environ, reason="set SPMCOMPAT_LARGE to run it: 5 GB, minutes"
)

TEXT = words_text(1)
SOFT: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False}
ALL_CHARACTERS: dict[str, Option] = {
    "vocab_size": 600,
    "hard_vocab_limit": False,
    "auto_character_coverage": True,
    "use_sparse_pruning": True,
    "byte_fallback": True,
}

Test = TypeVar("Test", bound=Callable[..., None])
WITHOUT_TEST = [
    "Machines other than x86-64 Linux",  # a test would need such a machine
    # The wheel of the reference has no command line. So only the command line of spmcompat is
    # tested, in tests/cli/test_train.py.
    "A truth value apart from its flag, such as `--byte_fallback false` or `--byte_fallback 0`, "
    "on the command line",
    "An argument without a flag, such as `b.txt` in `--input a.txt b.txt`, on the command line",
    "File names and symbols on the command line that are not UTF-8",
    "A `.model` or `.vocab` that can be written, in a folder that cannot",  # root writes anywhere
]
"""Rows of ``docs/deviations.md`` that no test in this module can demonstrate."""

with_test: list[str] = []
"""Rows of the page that a test below shows."""


def deviation(row: str) -> Callable[[Test], Test]:
    """Return a decorator for the test that demonstrates a row of ``docs/deviations.md``."""
    with_test.append(row)
    return lambda test: test


def run_again_elsewhere(trainers: Trainers, case: Case) -> Comparison:
    """Train with spmcompat and with the reference, in new processes."""
    trainers.ours.close()
    trainers.of_release(case.release).close()
    return trainers.run(case)


def both(trainers: Trainers, case: Case) -> tuple[Outcome, Outcome]:
    """Return the outcomes of spmcompat and of the reference; fail the test if they are equal."""
    comparison = trainers.run(case)
    failures = (comparison.ours.failure, comparison.reference.failure)
    crashed = {failure is not None and failure.crashed for failure in failures}
    # If only one of the two crashes, that is a deviation, although the comparison regards an
    # exception of spmcompat as equal to a crash of the reference.
    if comparison.equal and len(crashed) == 1:
        pytest.fail(GONE)
    return comparison.ours, comparison.reference


def assert_trains(outcome: Outcome) -> None:
    assert outcome.failure is None, outcome.failure
    assert outcome.output(".model")


def assert_fails(outcome: Outcome, kind: str, key: str) -> None:
    """Require an exception of type `kind` whose message contains `key`, and no output files."""
    assert outcome.failure is not None, "training succeeded"
    assert kind in outcome.failure.types, outcome.failure
    assert key in outcome.failure.message
    assert not outcome.outputs


def assert_fails_late(outcome: Outcome) -> None:
    """Require a model, and the exception that Python raises if the library lost another one."""
    assert outcome.failure is not None, "training succeeded"
    assert "SystemError" in outcome.failure.types, outcome.failure
    assert outcome.output(".model")


def assert_process_ends(outcome: Outcome) -> None:
    assert outcome.failure is not None, "training succeeded"
    assert outcome.failure.types == ("Crash",), outcome.failure


def pieces(outcome: Outcome) -> list[str]:
    vocab = outcome.output(".vocab")
    assert vocab is not None
    return [line.partition("\t")[0] for line in vocab.decode().splitlines()]


def test_the_page_has_the_same_rows() -> None:
    lines = [line for line in PAGE.read_text().splitlines() if line.startswith("|")]
    cells = [line.strip("|").partition(" | ")[0].strip() for line in lines]
    rows = [cell for cell in cells if cell != "input" and not cell.startswith("---")]
    assert sorted(rows) == sorted(WITHOUT_TEST + with_test)


def test_a_deviation_that_is_gone_is_told(trainers: Trainers) -> None:
    with pytest.raises(pytest.fail.Exception, match="remove it from docs"):
        both(trainers, file_case(SOFT, [TEXT]))


# ---------------------------------------------------------------- several sizes


@deviation("A comma in `vocab_size`, such as `8000,16000`")
@pytest.mark.parametrize("release", ["0.2.1", "0.2.3"])
def test_a_comma_in_the_size(trainers: Trainers, release: str) -> None:
    options = {**SOFT, "vocab_size": "300,400"}
    ours, theirs = both(trainers, file_case(options, [TEXT], release=release))
    written = {f"m-{size}{end}" for size in (300, 400) for end in (".model", ".vocab")}
    assert set(ours.outputs) == written
    if release == "0.2.1":
        assert set(theirs.outputs) == {"m.model", "m.vocab"}
        assert len(pieces(theirs)) <= 300
    else:
        assert theirs.failure is not None


@deviation("A list of one number as `vocab_size`, from Python")
def test_a_list_of_one_size(trainers: Trainers) -> None:
    options = {**SOFT, "vocab_size": ["300"]}
    ours, theirs = both(trainers, file_case(options, [TEXT]))
    assert set(ours.outputs) == {"m-300.model", "m-300.vocab"}
    assert set(theirs.outputs) == {"m.model", "m.vocab"}


# ---------------------------------------------------------------- files that are not plain text


@deviation(
    "A file that contains gzip, zstd, xz, bzip2, Parquet or Arrow data, such as `a.gz`",
)
def test_a_file_that_contains_gzip_data(trainers: Trainers) -> None:
    options = {**SOFT, "model_type": "char", "max_sentence_length": 100_000}
    packed = gzip.compress(TEXT.encode())
    files = {"a.gz": packed, "a.txt": packed}
    ours, theirs = both(trainers, Case({**options, "input": "a.gz", "model_prefix": "m"}, files))
    assert_trains(theirs)
    plain = trainers.ours.run(file_case(options, [TEXT]))
    assert pieces(ours) == pieces(plain)
    ours, theirs = both(trainers, Case({**options, "input": "a.txt", "model_prefix": "m"}, files))
    assert_trains(theirs)
    assert_fails(ours, "TrainingError", "rename it to a.txt.gz")


def test_a_file_that_contains_arrow_data(trainers: Trainers) -> None:
    options = {**SOFT, "model_type": "char", "input": "a.txt", "model_prefix": "m"}
    content = b"ARROW1\0\0\n" + TEXT.encode()
    ours, theirs = both(trainers, Case(options, {"a.txt": content}))
    assert_trains(theirs)
    assert_fails(ours, "TrainingError", "rename it to end in .arrow")


@deviation("A file in UTF-16 or UTF-32, an old Feather file or a zip archive")
@pytest.mark.parametrize(
    ("content", "remedy"),
    [
        (TEXT.encode("utf-16"), "iconv -f UTF-16 -t UTF-8"),
        (TEXT.encode("utf-32"), "iconv -f UTF-32 -t UTF-8"),
        (TEXT.encode("utf-16-le"), "iconv -f UTF-16LE -t UTF-8"),
        (TEXT.encode("utf-32-be"), "iconv -f UTF-32BE -t UTF-8"),
        (b"FEA1\0\n" + TEXT.encode(), "Feather"),
        (b"PK\x03\x04\n" + TEXT.encode(), "unpack it"),
    ],
)
def test_a_file_that_is_not_text(trainers: Trainers, content: bytes, remedy: str) -> None:
    options = {**SOFT, "model_type": "char", "max_sentence_length": 1_000_000}
    case = Case({**options, "input": "a.txt", "model_prefix": "m"}, {"a.txt": content})
    ours, theirs = both(trainers, case)
    assert_trains(theirs)
    assert_fails(ours, "TrainingError", remedy)


@deviation("A text file that is named like a compressed, Parquet or Arrow file, such as `a.gz`")
@pytest.mark.parametrize("name", ["a.gz", "a.parquet"])
def test_a_text_file_that_is_named_as_a_packed_one(trainers: Trainers, name: str) -> None:
    case = Case({**SOFT, "input": name, "model_prefix": "m"}, {name: TEXT.encode()})
    ours, theirs = both(trainers, case)
    assert_trains(theirs)
    assert_fails(
        ours, "TrainingError", "although its name says so" if name == "a.gz" else "Parquet"
    )
    trainers.check({**SOFT, "input": name, "input_format": "text"}, files=case.files)


@deviation("A file with a name that ends in `.jsonl` or `.ndjson`")
def test_a_file_that_is_named_jsonl(trainers: Trainers) -> None:
    lines = "".join(f"{json.dumps({'text': line})}\n" for line in TEXT.splitlines())
    case = Case({**SOFT, "input": "a.jsonl", "model_prefix": "m"}, {"a.jsonl": lines.encode()})
    ours, theirs = both(trainers, case)
    assert_trains(ours)
    assert "{" in "".join(pieces(theirs))
    assert "{" not in "".join(pieces(ours))
    trainers.check({**SOFT, "input": "a.jsonl", "input_format": "text"}, files=case.files)


@deviation("A SentencePiece model as `input`, such as `m.model`")
@pytest.mark.parametrize("model_type", ["unigram", "bpe"])
def test_a_model_as_text(trainers: Trainers, model_type: str) -> None:
    trained = trainers.reference.run(file_case({**SOFT, "model_type": model_type}, [TEXT]))
    files = {"a.model": trained.outputs["m.model"]}
    options = {**SOFT, "model_type": "char", "max_sentence_length": 1_000_000}
    options |= {"input": "a.model", "model_prefix": "m"}
    ours, theirs = both(trainers, Case(options, files))
    assert_trains(theirs)
    assert_fails(ours, "TrainingError", "a.model is a SentencePiece model")
    trainers.check({**options, "input_format": "text"}, files=files)


@deviation(
    "`input_format=auto`, `csv`, `jsonl`, `parquet` or `arrow`; a pattern, `-` or an address as "
    "`input`, if there is no such file"
)
@pytest.mark.parametrize(
    "options", [{"input_format": "auto"}, {"input_format": "jsonl"}, {"input": "t*[0].txt"}]
)
def test_input_that_the_reference_does_not_know(
    trainers: Trainers, options: dict[str, Option]
) -> None:
    text = "".join(f"{json.dumps(line)}\n" for line in TEXT.splitlines())
    ours, theirs = both(trainers, file_case({**SOFT, **options}, [text]))
    assert_trains(ours)
    assert theirs.failure is not None
    assert "RuntimeError" in theirs.failure.types


# ---------------------------------------------------------------- random choices


@deviation("`input_sentence_size` with shuffling, 0.2.2 and 0.2.3")
@pytest.mark.parametrize("release", ["0.2.2", "0.2.3"])
def test_a_sample_of_the_sentences(trainers: Trainers, release: str) -> None:
    options = {**SOFT, "model_type": "word", "vocab_size": 1500, "input_sentence_size": 101}
    case = file_case(options, [words_text(2, lines=3000, types=2000)], release=release)
    # A new process is needed for the log of the reference: an earlier test may have changed the log
    # level in this process.
    first, second = (run_again_elsewhere(trainers, case) for _ in range(2))
    for outcome in (first.ours, first.reference, second.ours, second.reference):
        assert_trains(outcome)
        assert "Done! preprocessed 101 sentences." in outcome.log
    if first.reference.outputs == second.reference.outputs:
        pytest.fail(NOT_REPEATED)
    assert first.ours.outputs == second.ours.outputs


def test_our_sample_depends_on_its_seed(trainers: Trainers) -> None:
    options = {**SOFT, "model_type": "word", "vocab_size": 1500, "input_sentence_size": 101}
    case = file_case(options, [words_text(2, lines=3000, types=2000)])
    seeded = replace(case, options={**case.options, "sampling_seed": 2})
    assert trainers.ours.run(case).outputs != trainers.ours.run(seeded).outputs


@deviation(
    "More lines than `self_test_sample_size`: up to 0.2.2; with `--random_seed`, 0.2.2 alone"
)
@pytest.mark.parametrize(
    ("release", "form"),
    [("0.2.0", "python"), ("0.2.1", "python"), ("0.2.2", "python"), ("0.2.2", "cli")],
)
def test_samples_for_self_tests(trainers: Trainers, release: str, form: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "char", "self_test_sample_size": 9}
    seed: dict[str, Option] = {"random_seed": 1} if form == "cli" else {}
    case = file_case({**options, **seed}, [words_text(3, lines=2000)], form=form, release=release)
    first, second = trainers.run(case), run_again_elsewhere(trainers, case)
    # All runs learn the same pieces. Their models differ only in the self-test samples.
    vocabularies = [c.output(".vocab") for c in (first.ours, first.reference, second.reference)]
    assert len(set(vocabularies)) == 1
    if first.reference.output(".model") == second.reference.output(".model"):
        pytest.fail(NOT_REPEATED)
    assert first.ours.outputs == second.ours.outputs


@deviation("`enable_differential_privacy` with a noise level or a threshold above 0, up to 0.2.2")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1", "0.2.2"])
def test_differential_privacy(trainers: Trainers, release: str) -> None:
    privacy: dict[str, Option] = {
        "enable_differential_privacy": True,
        "differential_privacy_noise_level": 1,
        "differential_privacy_clipping_threshold": 1,
    }
    case = file_case({**SOFT, **privacy}, [TEXT], release=release)
    first, second = trainers.run(case), run_again_elsewhere(trainers, case)
    assert_trains(first.reference)
    if first.reference.outputs == second.reference.outputs:
        pytest.fail(NOT_REPEATED)
    assert_fails(first.ours, "TrainingError", "differential privacy is not supported")


# ---------------------------------------------------------------- text that is not kept in memory


# The text has more than 500 MiB if each line is repeated as often as its count says. The reference
# needs minutes for such a text, so one test trains only with spmcompat.
MUCH = f"a\t1\n{'い' * 1000}\t180000\n"
COUNTED: dict[str, Option] = {**SOFT, "input_format": "tsv", "max_sentence_length": 10_000}
FROM_ITERATOR = sentences_case(COUNTED, MUCH.splitlines())
COUNTS_CALLS = file_case(COUNTED, [MUCH], pretokenizer="counts calls")


@deviation(
    "Unigram: more than 500 MiB of normalized text from an iterator or a pipe, without a sample"
)
@IF_LARGE
def test_an_iterator_over_much_text(trainers: Trainers) -> None:
    _, theirs = both(trainers, FROM_ITERATOR)
    assert_trains(theirs)


def test_ours_fails_with_an_iterator_over_much_text(trainers: Trainers) -> None:
    ours = trainers.ours.run(FROM_ITERATOR)
    assert_fails(ours, "TrainingError", "has to be read again, but an iterator can be read only")


def late() -> list[str]:
    """Return over 16 MB of lines with counts. The last line has a high count and no space."""
    lines = [f"{number} {'あ ' * 1000}\t1" for number in range(4400)]
    return [*lines, f"{'い' * 100}\t100000000"]


@deviation(
    "Unigram, word, BPE up to 0.2.1: an iterator or a pipe in which U+2581 falls below "
    "`character_coverage` only after 16 MB"
)
def test_a_space_mark_that_gets_rare_late(trainers: Trainers) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "word", "input_format": "tsv"}
    more: dict[str, Option] = {"character_coverage": 0.98, "max_sentence_length": 10000}
    ours, theirs = both(trainers, sentences_case({**options, **more}, late()))
    assert_trains(theirs)
    assert_fails(ours, "TrainingError", "add U+2581 to required_chars")


@deviation("A `pretokenizer`, and a text that is read more than once")
@IF_LARGE
def test_calls_of_a_pretokenizer(trainers: Trainers) -> None:
    ours, theirs = both(trainers, COUNTS_CALLS)
    assert len(theirs.outputs["calls"]) == len(MUCH.splitlines())
    assert ours.output(".model") == theirs.output(".model")


def test_ours_calls_a_pretokenizer_again(trainers: Trainers) -> None:
    ours = trainers.ours.run(COUNTS_CALLS)
    assert len(ours.outputs["calls"]) > len(MUCH.splitlines())


def test_calls_of_a_pretokenizer_on_a_text_that_is_read_once(trainers: Trainers) -> None:
    comparison = trainers.run(file_case(SOFT, [TEXT], pretokenizer="counts calls"))
    assert comparison.equal, comparison.report()
    assert len(comparison.ours.outputs["calls"]) == len(TEXT.splitlines())


# ---------------------------------------------------------------- options that make no sense


@deviation("A `seed_sentencepieces_file` that does not exist")
def test_a_missing_seed_file(trainers: Trainers) -> None:
    case = file_case({**SOFT, "seed_sentencepieces_file": "nowhere.tsv"}, [TEXT])
    ours, theirs = both(trainers, case)
    assert_trains(theirs)
    assert {len(piece) for piece in pieces(theirs)[3:]} == {1}
    assert_fails(ours, "OSError", '"nowhere.tsv": No such file or directory.')


@deviation("An input that has the name of an output, such as `m.vocab` for `model_prefix=m`")
def test_an_input_that_is_an_output(trainers: Trainers) -> None:
    seeds = "".join(f"{character}\t1\n" for character in sorted({*TEXT} - {" ", "\n"}))
    options = {**SOFT, "seed_sentencepieces_file": "m.vocab"}
    case = file_case(options, [TEXT], files={"m.vocab": seeds.encode()})
    ours, theirs = both(trainers, case)
    assert_trains(theirs)
    assert theirs.output(".vocab") != seeds.encode()
    assert ours.failure is not None
    assert '"m.vocab" is the same file as the input "m.vocab"' in ours.failure.message
    assert ours.output(".model") is None
    assert ours.output(".vocab") in (None, seeds.encode())


@deviation("A folder as `model_prefix`, such as `out/`, `.` or `..`")
@pytest.mark.parametrize("prefix", [".", "..", "./", ".//."])
def test_a_folder_as_prefix(trainers: Trainers, prefix: str) -> None:
    ours, theirs = both(trainers, file_case({**SOFT, "model_prefix": prefix}, [TEXT]))
    assert theirs.failure is None
    assert {name.lstrip(".") for name in theirs.outputs} == {"model", "vocab"}
    assert_fails(ours, "ValueError", "model_prefix")


@deviation("A NUL character in `model_prefix`")
def test_nul_in_a_name(trainers: Trainers) -> None:
    ours, theirs = both(trainers, file_case({**SOFT, "model_prefix": "m\0more"}, [TEXT]))
    plain = trainers.reference.run(file_case(SOFT, [TEXT]))
    # The reference cuts both file names at the NUL, so the .vocab file overwrites the .model file.
    assert theirs.failure is None
    assert theirs.outputs == {"m": plain.output(".vocab")}
    assert_fails(ours, "ValueError", "model_prefix contains a NUL character.")


@deviation("`auto_character_coverage` in a Unigram model, and NUL characters in the text")
def test_nul_as_a_character(trainers: Trainers) -> None:
    ours, theirs = both(trainers, file_case(ALL_CHARACTERS, ["a\0b\n" * 50]))
    assert_trains(theirs)
    assert "\0" in pieces(theirs)
    assert_fails(ours, "TrainingError", "The text contains U+0000")


@deviation(
    "`auto_character_coverage` in a Unigram model, and a `pretokenizer` that cuts inside characters"
)
def test_halves_of_characters(trainers: Trainers) -> None:
    case = file_case(ALL_CHARACTERS, ["abc d\n"], pretokenizer="half characters")
    ours, theirs = both(trainers, case)
    assert_trains(theirs)
    assert_trains(ours)
    assert sorted(pieces(ours)) == sorted(pieces(theirs))
    assert "\ufffd" in pieces(ours)
    assert ours.output(".vocab") != theirs.output(".vocab")


@deviation("TSV counts by which the text has 2^63 characters or more")
@pytest.mark.parametrize("kind", ["bpe", "word", "char"])
def test_counts_that_add_up_to_too_many_characters(trainers: Trainers, kind: str) -> None:
    """In the reference, the sum of the counts wraps at 2^64, here to a positive number."""
    text = f"abc\t{2**62}\n" * 5 + "abd\t7\nbcd ab\t5\n"
    options: dict[str, Option] = {**SOFT, "input_format": "tsv", "model_type": kind}
    ours, theirs = both(trainers, file_case(options, [text]))
    assert_fails(ours, "TrainingError", "2**63 characters or more")
    assert_trains(theirs)


# ---------------------------------------------------------------- errors


@deviation('An option with a lone surrogate, such as `"\\ud800"`, from Python')
def test_a_lone_surrogate(trainers: Trainers) -> None:
    ours, theirs = both(trainers, file_case({**SOFT, "control_symbols": "\ud800"}, [TEXT]))
    assert_fails(theirs, "TypeError", "incompatible function arguments")
    assert_fails(ours, "ValueError", "the value of control_symbols is not valid UTF-8")


class NoBytes:
    """An object whose method does not return a serialized normalizer."""

    def serialized_normalizer_spec(self) -> int:
        return 5


@deviation("A `normalizer` that is not a normalizer object")
def test_no_normalizer(trainers: Trainers) -> None:
    ours, theirs = both(trainers, file_case({**SOFT, "normalizer": "nfkc"}, [TEXT]))
    assert_fails(theirs, "AttributeError", "no attribute 'serialized_normalizer_spec'")
    assert_fails(ours, "ValueError", "normalizer must be a SentencePieceNormalizer")
    options: dict[str, Option] = {**SOFT, "normalizer": NoBytes()}  # type: ignore[dict-item]
    ours, theirs = both(trainers, file_case(options, [TEXT]))
    assert_fails(theirs, "TypeError", "")
    assert_fails(ours, "TrainingError", "Failed to parse _serialized_normalizer_spec.")


@deviation("A `model_writer` that has no method `write`, or takes text")
@pytest.mark.parametrize(
    ("writer", "kind", "message"),
    [
        ("m.model", "AttributeError", "does not have a write method: str"),
        (io.StringIO(), "TypeError", "takes text, not bytes: StringIO"),
    ],
    ids=["a path", "a text stream"],
)
def test_a_bad_writer(trainers: Trainers, writer: object, kind: str, message: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_writer": writer}  # type: ignore[dict-item]
    ours, theirs = both(trainers, Case(options, sentences=TEXT.split("\n")))
    assert_fails(theirs, kind, "")
    assert_fails(ours, "ValueError", message)


@deviation("A `model_writer` that writes only a part of what it gets, such as an unbuffered file")
@pytest.mark.parametrize("most", [0, 1000, 5000])
def test_a_writer_of_parts(trainers: Trainers, most: int) -> None:
    options: dict[str, Option] = {**SOFT, "model_writer": ShortWriter(most)}  # type: ignore[dict-item]
    ours, theirs = both(trainers, Case(options, sentences=TEXT.split("\n")))
    complete = trainers.ours.run(sentences_case(SOFT, TEXT.split("\n"), writer=True))
    model = complete.output(".model")
    assert model is not None
    assert theirs.failure is None
    assert theirs.outputs == {"short.model": model[:most]}
    if most == 0:
        assert ours.failure is not None
        assert "OSError" in ours.failure.types
    else:
        assert ours.outputs == {"short.model": model}


@deviation("A list, or another iterable that is not an iterator, as `sentence_iterator`")
def test_a_list(trainers: Trainers) -> None:
    lines = TEXT.split("\n")
    ours, theirs = both(trainers, sentences_case(SOFT, lines, handing="list itself"))
    assert_fails(theirs, "TypeError", "'list' is not an instance of 'iterator'")
    assert ours.outputs == trainers.reference.run(sentences_case(SOFT, lines)).outputs


@deviation("An exception in an iterator after its first item, up to 0.2.1")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1"])
def test_an_iterator_that_fails(trainers: Trainers, release: str) -> None:
    case = sentences_case(SOFT, TEXT.split("\n"), fails=KeyError("k"), release=release)
    ours, theirs = both(trainers, case)
    assert_fails_late(theirs)
    assert_fails(ours, "TrainingError", "KeyError")


@deviation("A list of strings as an item of `sentence_iterator`, such as a batch of a data set")
def test_lists_as_items(trainers: Trainers) -> None:
    lines = TEXT.split("\n")
    batches = [lines[:7], (), lines[7], tuple(lines[8:])]
    ours, theirs = both(trainers, sentences_case(SOFT, batches))  # type: ignore[arg-type]
    assert_fails(theirs, "ValueError", "Iterator must return str or bytes")
    assert ours.outputs == trainers.reference.run(sentences_case(SOFT, lines)).outputs


@deviation("`KeyboardInterrupt` or `SystemExit` in a `pretokenizer` or an iterator")
@pytest.mark.parametrize(
    ("function", "kind"), [("exits", "SystemExit"), ("interrupts", "KeyboardInterrupt")]
)
def test_a_pretokenizer_that_exits(trainers: Trainers, function: str, kind: str) -> None:
    ours, theirs = both(trainers, file_case(SOFT, [TEXT], pretokenizer=function))
    assert_fails(theirs, "RuntimeError", f"Pretokenizer failed: {kind}")
    assert_fails(ours, kind, "")


@pytest.mark.parametrize("release", ["0.2.1", "0.2.2", "0.2.3"])
@pytest.mark.parametrize("error", [SystemExit(3), KeyboardInterrupt()], ids=repr)
def test_an_iterator_that_exits(trainers: Trainers, release: str, error: BaseException) -> None:
    case = sentences_case(SOFT, TEXT.split("\n"), fails=error, release=release)
    ours, theirs = both(trainers, case)
    if release == "0.2.1":
        assert_fails_late(theirs)
    else:
        assert_fails(theirs, "RuntimeError", type(error).__name__)
    assert_fails(ours, type(error).__name__, "")


@deviation("An unknown option and a bad value in one call, from Python")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1"])
def test_two_mistakes(trainers: Trainers, release: str) -> None:
    mistakes: list[tuple[str, Option]] = [("vocab_size", "many"), ("no_such_option", 1)]
    value_first, option_first = (
        trainers.run(file_case(dict(order), [TEXT], release=release))
        for order in (mistakes, mistakes[::-1])
    )
    if value_first.equal and option_first.equal:
        pytest.fail(GONE)
    for comparison in (value_first, option_first):
        assert_fails(comparison.reference, "OSError", 'unknown field name "no_such_option"')
    assert_fails(value_first.ours, "ValueError", 'cannot parse "many" as int.')
    assert_fails(option_first.ours, "OSError", 'unknown field name "no_such_option"')


# ---------------------------------------------------------------- crashes of the reference


@deviation("BPE up to 0.2.1, when nothing is left to merge at a multiple of 100 pieces")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1"])
def test_a_log_that_ends_the_program(trainers: Trainers, release: str) -> None:
    # An earlier case may have changed the log level of the process, so minloglevel is given here.
    options: dict[str, Option] = {**SOFT, "model_type": "bpe", "minloglevel": 0}
    options["add_dummy_prefix"] = False
    case = file_case(options, ["1\n"], release=release)
    ours, theirs = both(trainers, case)
    assert_process_ends(theirs)
    assert_trains(ours)
    silent = trainers.run(replace(case, options={**case.options, "minloglevel": 1}))
    assert silent.equal, silent.report()
    assert silent.reference.outputs == ours.outputs


@deviation("BPE up to 0.2.2: `required_chars` with characters that the text does not contain")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1", "0.2.2"])
def test_a_required_character_that_does_not_occur(trainers: Trainers, release: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "bpe", "required_chars": "漢"}
    ours, theirs = both(trainers, file_case(options, [TEXT], release=release))
    assert_process_ends(theirs)
    assert_fails(ours, "TrainingError", 'required_chars contains "漢"')


@deviation("BPE up to 0.2.2: a pair of characters beyond the 65,536th character of a pretoken")
@pytest.mark.parametrize("release", ["0.2.0", "0.2.1", "0.2.2"])
def test_a_pretoken_that_is_too_long(trainers: Trainers, release: str) -> None:
    options: dict[str, Option] = {**SOFT, "model_type": "bpe", "max_sentence_length": 1_000_000}
    ours, theirs = both(trainers, file_case(options, ["ab" * 40_000 + "\n"], release=release))
    assert_process_ends(theirs)
    assert_fails(ours, "TrainingError", "a pretoken is too long")


# ---------------------------------------------------------------- Hugging Face's trainers


def trained_by_both(make: Callable[[], Any], trainer: Any, items: Iterable[Any]) -> list[Any]:
    """Return the tokenizers that spmcompat and the library train on the same items."""
    ours, theirs = make(), make()
    spmcompat.train_from_iterator(ours, items, trainer)
    theirs.train_from_iterator(items, trainer)
    return [ours, theirs]


def results(make: Callable[[], Any], trainer: Any, items: Sequence[str]) -> list[set[str]]:
    """Return the different results of many runs of spmcompat, and of the library."""
    runs = [trained_by_both(make, trainer, items) for _ in range(20)]
    return [{one.to_str() for one in side} for side in zip(*runs, strict=True)]


def splitting(model: Any) -> Any:
    from tokenizers import Tokenizer, pre_tokenizers

    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    return tokenizer


@deviation("A prefix or suffix of letters, as in WordPiece (`##`)")
def test_letters_with_affixes() -> None:
    library = pytest.importorskip("tokenizers")
    trainer = library.trainers.WordPieceTrainer(vocab_size=14, show_progress=False)
    items = ["ab ac ad ae af"]
    ours, theirs = results(lambda: splitting(library.models.WordPiece()), trainer, items)
    if len(theirs) == 1:
        pytest.fail(GONE)
    (result,) = ours
    letters = ["a", "b", "c", "d", "e", "f", "##b", "##c", "##d", "##e", "##f"]
    assert [*json.loads(result)["model"]["vocab"]] == [*letters, "ab", "ac", "ad"]


@deviation("`limit_alphabet`, and letters at the limit that are equally frequent")
def test_equally_frequent_letters() -> None:
    library = pytest.importorskip("tokenizers")
    trainer = library.trainers.BpeTrainer(limit_alphabet=3, show_progress=False)
    items = ["aa b c d e f"]
    ours, theirs = results(lambda: splitting(library.models.BPE()), trainer, items)
    if len(theirs) == 1:
        pytest.fail(GONE)
    (result,) = ours
    assert [*json.loads(result)["model"]["vocab"]] == ["a", "b", "c", "aa"]


@IF_LARGE
@deviation("A pair of letters or tokens that occurs 2^31 times or more")
def test_a_pair_with_a_large_count() -> None:
    library = pytest.importorskip("tokenizers")
    trainer = library.trainers.BpeTrainer(show_progress=False)
    items = ["ab" * 2**19] * (2**12 + 1)
    ours, theirs = trained_by_both(lambda: library.Tokenizer(library.models.BPE()), trainer, items)
    if theirs.get_vocab_size() > 2:
        pytest.fail(GONE)
    assert json.loads(ours.to_str())["model"]["merges"][0] == ["a", "b"]


@deviation("A file that is not UTF-8")
def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    library = pytest.importorskip("tokenizers")
    path = tmp_path / "bad.txt"
    path.write_bytes(b"good\nbad \xff\n")
    with pytest.raises(Exception, match="UTF-8") as theirs:
        library.Tokenizer(library.models.BPE()).train([str(path)])
    assert "bad.txt" not in str(theirs.value), GONE
    with raises_kind("not-utf8 bad.txt:2"):
        spmcompat.train_from_files(library.Tokenizer(library.models.BPE()), path)


@deviation("Items of type `bytes`, or Arrow data")
def test_items_of_bytes() -> None:
    library = pytest.importorskip("tokenizers")
    trainer = library.trainers.BpeTrainer(show_progress=False)
    with pytest.raises(TypeError):
        splitting(library.models.BPE()).train_from_iterator([b"abab"], trainer)
    ours = splitting(library.models.BPE())
    spmcompat.train_from_iterator(ours, [b"abab"], trainer)
    assert "abab" in ours.get_vocab()


@deviation("A tokenizer with another model than BPE or WordPiece")
def test_other_models() -> None:
    library = pytest.importorskip("tokenizers")
    theirs = splitting(library.models.WordLevel())
    theirs.train_from_iterator(["a b"])
    assert theirs.get_vocab_size() == 2
    with raises_kind("wrong-type WordLevel"):
        spmcompat.train_from_iterator(splitting(library.models.WordLevel()), ["a b"])
