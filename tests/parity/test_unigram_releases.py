"""Unigram models as earlier releases of the reference train them."""

from __future__ import annotations

import pytest

from tests.parity.case import Option
from tests.parity.corpora import fibonacci_text, mixed_text, ties_text, words_text
from tests.parity.harness import Trainers, file_case

SMALL: dict[str, Option] = {"vocab_size": 400, "hard_vocab_limit": False}
TEXTS = {
    "words": words_text(1),
    "mixed": mixed_text(2),
    "ties": ties_text(3, 200, "ab"),
    "scripts": ties_text(4, 200, "aあ漢ñ1"),
    "fibonacci": fibonacci_text(12, 40),
    "repeated": "ab abc ab\n" * 30,
    "end": words_text(5) + "rare word.\nother words.\n" + "rare word.\n" * 3,
}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
@pytest.mark.parametrize("dummy", [True, False], ids=["dummy", "bare"])
def test_small_texts(trainers: Trainers, old_release: str, text: str, dummy: bool) -> None:
    options = {**SMALL, "add_dummy_prefix": dummy}
    trainers.check(options, text, release=old_release)


@pytest.mark.parametrize(
    "option",
    [
        {"split_by_whitespace": False},
        {"split_by_whitespace": False, "max_sentencepiece_length": 40},
        {"treat_whitespace_as_suffix": True},
        {"allow_whitespace_only_pieces": True, "remove_extra_whitespaces": False},
        {
            "allow_whitespace_only_pieces": True,
            "remove_extra_whitespaces": False,
            "treat_whitespace_as_suffix": True,
        },
        {"split_by_unicode_script": False, "split_by_number": False},
        {"split_digits": True},
        {"character_coverage": 0.98},
        {"num_threads": 1},
        {"num_threads": 7, "num_sub_iterations": 1},
        {"shrinking_factor": 0.9},
        {"seed_sentencepiece_size": 0},
        {"seed_sentencepiece_size": 50},
        {"user_defined_symbols": ["a", "▁w"]},
        {"vocab_size": 300, "hard_vocab_limit": True},
    ],
    ids=str,
)
@pytest.mark.parametrize("text", ["words", "mixed"])
def test_each_option_alone(
    trainers: Trainers, old_release: str, option: dict[str, Option], text: str
) -> None:
    case = file_case({**SMALL, **option}, [TEXTS[text] + "a  b   \n x\n"], release=old_release)
    comparison = trainers.run(case)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
def test_a_text_with_counts(trainers: Trainers, old_release: str, split: bool) -> None:
    """In float32, sums above 2**24 are rounded, so the order of the pretokens matters."""
    lines = {f"{word} {n}": n**7 for n, word in enumerate(words_text(6).split()[:40], 1)}
    text = "".join(f"{line}\t{count}\n" for line, count in lines.items())
    options = {**SMALL, "input_format": "tsv", "split_by_whitespace": split}
    trainers.check(options, text, release=old_release)


@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
def test_texts_with_empty_sentences(trainers: Trainers, old_release: str, split: bool) -> None:
    """Empty sentences are replaced by the last sentence, which may be empty, too."""
    lines = words_text(7).splitlines()
    for place in (3, 4, 20, len(lines) // 2):
        lines.insert(place, " ")
    text = "\n".join([*lines, " ", "rare end", " ", " "]) + "\n"
    options = {**SMALL, "split_by_whitespace": split, "num_threads": 5}
    trainers.check(options, text, release=old_release)


@pytest.mark.parametrize("split", [True, False], ids=["pretokens", "sentences"])
@pytest.mark.parametrize("lines", ["\u200b 4|a 4|Ϯ 4|\u200b 1", "ab 1|\u200b 2|ab 2|ac 3|\u200b 1"])
def test_empty_sentences_of_a_small_text(
    trainers: Trainers, old_release: str, lines: str, split: bool
) -> None:
    """The end of the text, and the sentences before the end, influence which seeds are found."""
    counts = lines.replace(" ", "\t").replace("|", "\n")
    options: dict[str, Option] = {
        "vocab_size": 8000,
        "hard_vocab_limit": False,
        "split_by_whitespace": split,
    }
    trainers.check({**options, "input_format": "tsv"}, counts, release=old_release)
    text = "\n".join(line.split(" ")[0] for line in lines.split("|"))
    trainers.check(options, text, release=old_release)


@pytest.mark.parametrize("size", [40, 1_000_000])
def test_a_seed_file_with_repeated_pieces(trainers: Trainers, old_release: str, size: int) -> None:
    pieces = [word[:n] for word in TEXTS["words"].split()[:60] for n in (1, 2, 3, 4)]
    lines = [f"{piece}\t{n % 17 + 1}\n" for n, piece in enumerate(pieces)]
    options = {
        **SMALL,
        "seed_sentencepieces_file": "seeds.tsv",
        "seed_sentencepiece_size": size,
    }
    files = {"seeds.tsv": "".join(lines).encode()}
    comparison = trainers.compare(options, TEXTS["words"], files=files, release=old_release)
    assert comparison.equal, comparison.report()


PIECES = sorted({word[:n] for word in TEXTS["words"].split()[:40] for n in (2, 3, 4)})
ODD_COUNTS = ["0", "-1", "-0", "0x10", "1.5", "1e3", "nan", "inf", "", " 7", "+7", "7x", "7\r"]
ODD_COUNTS += ["9223372036854775807", "9223372036854775808", "-9223372036854775808"]
ODD_COUNTS += ["-9223372036854775809", "4611686018427387904", "7\t8", "\t7", "\x007", "7\x00"]


@pytest.mark.parametrize("count", ODD_COUNTS, ids=repr)
def test_an_odd_count_in_a_seed_file(trainers: Trainers, old_release: str, count: str) -> None:
    lines = [f"{piece}\t{n % 17 + 1}\n" for n, piece in enumerate(PIECES)]
    lines.insert(3, f"{PIECES[7]}\t{count}\n")
    lines.insert(5, f"▁{PIECES[9]}\t{count}\n")
    options = {**SMALL, "seed_sentencepieces_file": "seeds.tsv"}
    files = {"seeds.tsv": "".join(lines).encode()}
    comparison = trainers.compare(options, TEXTS["words"], files=files, release=old_release)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize("coverage", [1.0, 0.98])
@pytest.mark.parametrize("every", [1, 2, 3, 7])
@pytest.mark.parametrize("letters", ["ab", "words"])
def test_seeds_with_a_count_of_zero(
    trainers: Trainers, old_release: str, letters: str, every: int, coverage: float
) -> None:
    """The log-sum-exp of two seeds with a count of 0 is NaN. Further terms may make it a number."""
    text = TEXTS["words"] if letters == "words" else TEXTS["ties"]
    pieces = sorted(
        {f"▁{word}"[i:n] for word in text.split()[:60] for i in (0, 1, 2) for n in (4, 5)}
    )
    lines = [f"{p}\t{0 if n % every == 0 else n % 17 + 1}\n" for n, p in enumerate(pieces)]
    options: dict[str, Option] = {
        **SMALL,
        "seed_sentencepieces_file": "seeds.tsv",
        "character_coverage": coverage,
    }
    files = {"seeds.tsv": "".join(lines).encode()}
    comparison = trainers.compare(options, text, files=files, release=old_release)
    assert comparison.equal, comparison.report()


@pytest.mark.parametrize(
    "line", [b"\t\tab\t\t5\t", b"\tab", b"\t5", b"\xe3\x81b\t5", b"a\x00b\t5", b""]
)
def test_an_odd_line_in_a_seed_file(trainers: Trainers, old_release: str, line: bytes) -> None:
    options = {**SMALL, "seed_sentencepieces_file": "seeds.tsv"}
    files = {"seeds.tsv": b"the\t3\n" + line + b"\nof\t2\n"}
    comparison = trainers.compare(options, TEXTS["words"], files=files, release=old_release)
    assert comparison.equal, comparison.report()
