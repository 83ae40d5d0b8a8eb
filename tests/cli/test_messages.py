"""The wording of messages. No other test asserts it, so a message can be reworded here alone.

The tables have at least one message of each kind that a command or a call produces without faults
that are hard to make. The other tests assert the kind of an error and the names in its message; see
``tests/kinds.py``.
"""

from __future__ import annotations

import gzip
import io
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import spmcompat
from spmcompat.__main__ import main
from spmcompat.releases import RELEASES
from tests.kinds import assert_error, message_of, raises_kind

pytest.importorskip("pyarrow")  # some commands need it

TEXT = "".join(f"The cat number {n} sat on the mat and ran to the hat.\n" for n in range(300))

FILES = {
    "t.txt": TEXT.encode(),
    "empty.txt": b"\n",
    "long.txt": f"{'a ' * 5000}\n{TEXT}".encode(),
    "u16.txt": TEXT.encode("utf-16"),
    "latin.txt": b"caf\xe9\n",
    "z.txt": gzip.compress(TEXT.encode()),
    "cut.txt.gz": gzip.compress(TEXT.encode())[:-9],
    "bad.jsonl": b'{"text": "a"}\n{"text": \n',
    "two.csv": b"a,b\nx,y\n",
    "bad.tsv": b"a\t1\nb\n",
    "huge.tsv": b"a\t9223372036854775807\n" * 3,
    "rules.tsv": b"41\t61\nxyz\t61\n",
    "bad.toml": b"x = [",
    "gold.tsv": b"a word\n",
    "wordpiece.json": b'{"model": {"type": "WordPiece", "vocab": {"a": 0}}}',
}

# For each kind, command lines and their messages. FOLDER stands for the folder of the test.
COMMANDS: dict[str, dict[str, str]] = {
    "bad-value": {
        "train --input=t.txt --model_prefix=n --vocab_size=8k": (
            'cannot parse "8k" as int. Write 8000. It was given for vocab_size.'
        ),
        "train --input=t.txt --model_prefix=n --vocab_size=0": (
            "vocab_size must be at least 1, not 0."
        ),
        "train --input=t.txt --model_prefix=n --model_type=x": (
            'unknown enumeration value of "x" as model_type. Choose from unigram, '
            "bpe, word, char. It was given for model_type."
        ),
        "train --input=t.txt --model_prefix=n --compat=1": (
            f'compat must be one of {", ".join(RELEASES)}, not "1".'
        ),
        "train --input=t.txt --model_prefix=n --split_digits=perhaps": (
            'cannot parse "perhaps" as bool. It was given for split_digits.'
        ),
        "train --input=t.txt --model_prefix=n --input_sentence_size=50": (
            "input_sentence_size must be 0 (all) or greater than 100, not 50."
        ),
        "train --input=t.txt --model_prefix=n --normalization_rule_name=none": (
            "No precompiled charsmap is found: none: choose one of nmt_nfkc, nfkc, "
            "nmt_nfkc_cf, nfkc_cf, identity, nmt_nfkc_strip_accents, "
            "nmt_nfkc_cf_strip_accents, nmt_nfkc_mark_case."
        ),
    },
    "usage": {
        "train --inptu=t.txt": ("Unknown command line flag 'inptu'. Did you mean --input?"),
        "train --model_prefix=n": (
            "--input or --counts or --language_counts is missing. See --help."
        ),
        "train --input=t.txt --model_prefix=n --byte_fallback false": (
            "--byte_fallback false: the value of this flag needs an equals sign. "
            "Write --byte_fallback=false."
        ),
        "train --input=t.txt --model_prefix=n --vocab_size": (
            "Missing the value for the flag 'vocab_size'. Write --vocab_size=VALUE."
        ),
        "evalute u.model": ("unknown command 'evalute'. Did you mean evaluate?"),
        "diff u.model": ("two models are needed, not 1. See --help."),
        "train --input=t.txt --counts=t.counts --model_prefix=n": (
            "Give either --input or --counts."
        ),
        "evaluate u.model --text=t.txt --baseline=u.model": ("--baseline needs --bootstrap=N."),
        "evaluate u.model --text=t.txt --text_column=x": (
            "--text_column needs --language_column=NAME."
        ),
        "show u.model --strict": ("--strict needs --check."),
        "evaluate --text=t.txt": ("at least one model is needed, not 0. See --help."),
        "train t.txt --model_prefix=n": (
            "--input is missing, and 't.txt' is not a flag. Write --input=t.txt."
        ),
        "export u.model --to=docx --output=n": (
            "--to takes one of tokenizer.json, hf-folder, gguf, tiktoken, vocab.txt, not 'docx'."
        ),
        "extend u.model --input=t.txt --add=0 --output=n.model": (
            "--add takes a whole number from 1, not '0'."
        ),
        "train --input=t.txt --model_prefix=m --escape_whitespaces": (
            "Unknown command line flag 'escape_whitespaces'. Did you mean "
            "--split_by_whitespace or --remove_extra_whitespaces?"
        ),
        "completion fish": ("the shell must be bash or zsh, not 'fish'."),
    },
    "conflicting-options": {
        "train --input=t.txt --model_prefix=n --skip_bad_records": (
            "skip_bad_records has no effect: no input is JSON Lines or CSV. Leave "
            "it out, or give input_format=jsonl or csv."
        ),
        "train --input=t.txt --model_prefix=n --vocab_size=40 --model_type=bpe --use_all_vocab": (
            "--use_all_vocab=true is valid for WORD/CHAR model. Leave use_all_vocab "
            "out, or change model_type."
        ),
        "train --input=t.txt --model_prefix=n --dump_format=parquet": (
            "dump_format needs dump. Give both or neither."
        ),
    },
    "vocabulary-too-large": {
        "train --input=t.txt --model_prefix=n --vocab_size=9999": (
            "Vocabulary size too high (9999). Please set it to a value <= 52. Or "
            "pass hard_vocab_limit=false to accept a smaller vocabulary."
        ),
    },
    "vocabulary-too-small": {
        "train --input=t.txt --model_prefix=n --vocab_size=10": (
            "Vocabulary size is smaller than required_chars. 10 vs 29. Increase "
            "vocab_size or decrease character_coverage with --character_coverage "
            "option: this corpus needs a vocab_size of 29 or more."
        ),
        "train --input=t.txt --model_prefix=n --vocab_size=3": (
            "Vocabulary size is smaller than required_chars. 3 vs at least 4: 3 "
            "meta pieces and one character. Increase vocab_size or decrease "
            "character_coverage with --character_coverage option."
        ),
    },
    "bad-symbol": {
        "train --input=t.txt --model_prefix=n --user_defined_symbols=a,a": (
            "a is already defined. duplicated symbols are not allowed. Remove one of the two."
        ),
        "train --input=t.txt --model_prefix=n --bos_id=9999": (
            "bos_id is 9999, but the last id is 7999. Set bos_id below vocab_size, "
            "or to -1 to leave <s> out."
        ),
        "train --input=t.txt --model_prefix=n --bos_id=0": (
            "bos_id 0 is already taken by <unk>. Give <s> another id, or -1 to leave it out."
        ),
        "train --input=t.txt --model_prefix=n --unk_id=-1": (
            "<unk> must be defined. Set unk_id to 0 or more, or use byte_fallback."
        ),
        "train --input=t.txt --model_prefix=n --model_type=bpe --vocab_size=5 --bos_id=7": (
            "bos_id is 7, but the last id is 4. Set bos_id below vocab_size, or to "
            "-1 to leave <s> out."
        ),
    },
    "bad-rules": {
        "train --input=t.txt --model_prefix=n --normalization_rule_tsv=rules.tsv": (
            "rules.tsv, line 2: Invalid hex codepoint: 'xyz': write hexadecimal "
            "code points separated by spaces, for example '41 301'."
        ),
    },
    "cannot-read": {
        "train --input=none.txt --model_prefix=n": (
            '"none.txt": No such file or directory. Check the path given for input.'
        ),
        "train --input=n*.txt --model_prefix=n": (
            '"n*.txt": no file matches this pattern. Check the pattern given for input.'
        ),
        "train --input=. --model_prefix=n": (
            '".": Is a directory. Give a pattern in quotation marks: "./*.txt". In '
            "Python, give texts as sentence_iterator."
        ),
        "train --input=t.txt --model_prefix=n --control_symbols_file=none": (
            '"none": No such file or directory. Check the path.'
        ),
        "edit none.model --add=x --output=n.model": (
            '"none.model": No such file or directory. Check the path.'
        ),
    },
    "cannot-write": {
        "train --input=t.txt --model_prefix=none/n": (
            '"none/n.model": No such file or directory. Make the folder FOLDER/none first.'
        ),
        "count --input=t.txt --output=.": ('".": Is a directory. Choose another --output.'),
    },
    "would-overwrite": {
        "count --input=t.txt --output=t.txt": (
            '"t.txt" is the same file as the input "t.txt", which would be lost. '
            "Choose another --output."
        ),
    },
    "wrong-format": {
        "train --input=u.model --model_prefix=n": (
            "u.model is a SentencePiece model: give a text as input. To read the "
            "bytes of the model as text, give --input_format=text."
        ),
        "train --input=u16.txt --model_prefix=n": (
            "u16.txt is in UTF-16: convert it with iconv -f UTF-16 -t UTF-8."
        ),
        "train --input=z.txt --model_prefix=n": (
            "z.txt contains gzip data, not text: rename it to z.txt.gz, so that it is decompressed."
        ),
    },
    "broken-file": {
        "train --input=cut.txt.gz --model_prefix=n": (
            "cut.txt.gz ends early: its last gzip member is incomplete. Copy or "
            "make the file again."
        ),
    },
    "not-utf8": {
        "export u.model --to=tokenizer.json --output=n --text=latin.txt": (
            '"latin.txt": not a text in UTF-8. Check --text.'
        ),
    },
    "broken-record": {
        "train --input=bad.jsonl --model_prefix=n": (
            "bad.jsonl:2: broken record: not valid JSON: expecting value, at "
            "character 10 of the line. Repair the line, or give --skip_bad_records "
            "to skip broken lines; --input_format=text reads lines as they are."
        ),
        "train --input=bad.tsv --input_format=tsv --model_prefix=n": (
            "bad.tsv:2: Input format must be: word <tab> freq."
        ),
    },
    "wrong-column": {
        "train --input=two.csv --model_prefix=n --input_column=c": (
            "two.csv: there is no column 'c'. The columns are: a (strings), b "
            "(strings). Name one of them with --input_column."
        ),
    },
    "strict": {
        "train --input=long.txt --model_prefix=n --strict --vocab_size=40": (
            "Skipped 1 too long sentences with 10000 bytes, 38.33% of the text "
            "(over 4192 bytes; raise --max_sentence_length, or give "
            "--long_sentences=split, to train on them; the first: long.txt, from "
            "byte 0 on). Leave strict out to train on this text."
        ),
    },
    "empty-corpus": {
        "train --input=empty.txt --model_prefix=n": (
            "The input contains no sentence: every line is empty, too long or "
            "broken, or contains U+2585. Check --input and --max_sentence_length."
        ),
    },
    "too-large": {
        "train --input=huge.tsv --input_format=tsv --model_prefix=n": (
            "INTERNAL: (all_chars_count) > (0): the counts of the text add up to "
            "2**63 characters or more, which sentencepiece cannot count. Divide all "
            "counts by the same number."
        ),
    },
    "not-finite": {
        "train --input=t.txt --model_prefix=n --vocab_size=40 --seed_piece_length_power=1e30": (
            "[std::isfinite(score)] With seed_piece_length_power=1e+30 the score of "
            "a seed is not a finite number. Choose a power nearer to 1."
        ),
    },
    "bad-counts": {
        "train --counts=t.txt --model_prefix=n": (
            "t.txt is not a Parquet file, or is damaged. Give a file that spmcompat count wrote."
        ),
    },
    "counts-mismatch": {
        "train --counts=t.counts --model_prefix=n --normalization_rule_name=identity": (
            "t.counts: the text was counted with normalization_rule_name=nmt_nfkc, "
            "and the option for training is normalization_rule_name=identity. Leave "
            "normalization_rule_name out, or count again."
        ),
    },
    "needs-sentences": {
        "count --input=t.txt --output=n --split_by_whitespace=false": (
            "cannot count: with split_by_whitespace=false, pieces cross spaces and "
            "EM reads whole sentences; counts do not contain sentences. Train from "
            "the text itself (--input)."
        ),
    },
    "bad-model": {
        "diff t.txt u.model": ('"t.txt": not a SentencePiece model. Give a .model file.'),
    },
    "models-differ": {
        "merge u.model w.model --output=n.model": (
            "u.model and w.model cannot be merged: trainer_spec.model_type differs. "
            "Train them with the same options."
        ),
    },
    "bad-edit": {
        "edit u.model --output=n.model": (
            "nothing to change. Give at least one edit, such as --remove=PIECE."
        ),
        "edit u.model --remove=none --output=n.model": (
            "--remove: no piece is 'none'. Write U+2581 for a space."
        ),
        "edit u.model --remove=<unk> --output=n.model": (
            "<unk> is the unknown piece, which a model needs. You can rename it."
        ),
        "edit u.model --add_control=<s> --output=n.model": (
            "<s> is already defined: it is the piece of id 1. Duplicated symbols "
            "are not allowed. To change its type, remove it in the same call."
        ),
        "edit u.model --set_score=t=0 --output=n.model": (
            "--set_score: the score of t must be below 0. A piece of score 0 ranks "
            "above all others, and would change how existing text is cut."
        ),
    },
    "bad-tokenizer-json": {
        "import t.txt --output=n.model": (
            '"t.txt": not a tokenizer.json: it is not JSON. spmcompat export makes '
            "one from a .model file."
        ),
    },
    "cannot-import": {
        "import wordpiece.json --output=n.model": (
            '"wordpiece.json": the part "model" (WordPiece) cannot be imported: its '
            "type must be Unigram or BPE. Import a file that spmcompat export or "
            "transformers has written, or one that works in the same way."
        ),
    },
    "cannot-export": {
        "export w.model --to=tokenizer.json --output=n": (
            "tokenizer.json cannot express this model. It is a word model: unknown "
            "words in a row are one piece, and no model of the library does that. "
            "Train with --model_type=unigram or bpe."
        ),
    },
    "bad-word-list": {
        "evaluate u.model --text=t.txt --gold=gold.tsv": (
            "gold.tsv:1: expected a word, a tab and the word's morphs, or a list of "
            "MorphScore, LADEC, MorphyNet, MorphoLex or DagoBERT, found 'a word'."
        ),
    },
    "bad-config": {
        "compare --text=t.txt --configs=bad.toml --output=n --vocab_size=40": (
            "bad.toml: Invalid value (at end of document)."
        ),
    },
    "not-comparable": {
        "parity --input=t.txt --vocab_size=40 --split_lines": (
            "split_lines cannot be compared: sentencepiece lacks it. Leave it out."
        ),
    },
    "wrong-model-type": {
        "trim w.model --input=t.txt --keep=10 --output=n.model": (
            "trim is for unigram and bpe models, but this is a word model. Its "
            "pieces are the most frequent ones of a text: train it again."
        ),
    },
}


def failing() -> Iterator[str]:
    """Yield a sentence, and then fail."""
    yield "a sentence"
    raise KeyError("gone")


# For each kind, calls of functions and their messages.
CALLS: dict[str, list[tuple[Callable[[], object], str]]] = {
    "wrong-type": [
        (
            lambda: train(sentence_iterator="t.txt"),
            "sentence_iterator must be an iterable of str or bytes, or Arrow data. To train on a "
            "file, give input.",
        ),
        (
            lambda: train(sentence_iterator=[5]),
            "Iterator must return str or bytes. It returned int.",
        ),
        (
            lambda: spmcompat.edit("u.model", output="n.model", add=3),  # type: ignore[arg-type]
            "add must be a list of texts, not 3.",
        ),
    ],
    "unknown-option": [
        (
            lambda: train(input="t.txt", vocabsize=40),
            'unknown field name "vocabsize" in TrainerSpec. Did you mean vocab_size?',
        ),
    ],
    "conflicting-options": [
        (
            lambda: train(input="t.txt", sentence_iterator=["a"]),
            "SentenceIterator and trainer_spec.input() must be exclusive. Both are given. Give "
            "either input or sentence_iterator.",
        ),
    ],
    "iterator-failed": [
        (
            lambda: train(sentence_iterator=failing()),
            "INTERNAL: the sentence iterator raised KeyError: 'gone'",
        ),
    ],
    "pretokenizer-failed": [
        (
            lambda: train(sentence_iterator=["a b"] * 9, pretokenizer=lambda text: ["c"]),
            "Pretokenized output mismatch at character 0 of '▁a▁b': joined='c', original='▁a▁b'. "
            "Return chunks whose concatenation is the sentence, or set "
            "allow_inconsistent_pretokenization=True.",
        ),
    ],
}


def train(**options: object) -> None:
    """Train a model of 40 pieces into memory, without messages."""
    chosen = {"model_writer": io.BytesIO(), "minloglevel": 3, "vocab_size": 40} | options
    if "vocabsize" in options:
        del chosen["vocab_size"]
    spmcompat.train(**chosen)  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files and models that the command lines name."""
    path = tmp_path_factory.mktemp("messages")
    for name, content in FILES.items():
        (path / name).write_bytes(content)
    for model_type in ("unigram", "word"):
        train(
            input=path / "t.txt",
            model_writer=None,
            model_prefix=path / model_type[0],
            model_type=model_type,
            hard_vocab_limit=False,
        )
    spmcompat.count(input=path / "t.txt", minloglevel=3).save(path / "t.counts")
    return path


@pytest.mark.parametrize(
    ("kind", "line"), [(kind, line) for kind, lines in COMMANDS.items() for line in lines]
)
def test_a_command(kind: str, line: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    err = io.StringIO()
    assert main(shlex.split(line), io.StringIO(), err)
    assert_error(err.getvalue(), kind)
    message = message_of(err.getvalue()).replace(str(folder), "FOLDER")
    assert message == COMMANDS[kind][line]


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, n) for kind, calls in CALLS.items() for n in range(len(calls))]
)
def test_a_function(kind: str, number: int, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    call, message = CALLS[kind][number]
    with raises_kind(kind) as caught:
        call()
    assert str(caught.value) == message
