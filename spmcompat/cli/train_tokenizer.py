"""The command ``spmcompat train_tokenizer``, and what it shares with `train_tokenizer`."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, TextIO

from spmcompat.cli.flags import Command, Flag
from spmcompat.options.option import CHOICE, UINT64

if TYPE_CHECKING:
    from spmcompat.huggingface.template import Template
    from spmcompat.huggingface.training import Languages, TokenizerJob
    from spmcompat.options.given_text import GivenText
    from spmcompat.options.keywords import StrPath
    from spmcompat.words.table import WordTable

_DEFAULT_SIZE = 30000

LANGUAGE_FLAGS = {
    "language_counts": (
        "FILE,FILE",
        "Train parity-aware BPE, as ParityBpeTrainer does, from files of words, one for each "
        "language: before each merge, the language with the most tokens chooses its most frequent "
        "pair.",
    ),
    "language_development": (
        "FILE,FILE",
        "With language_counts, count the tokens of the languages in these files of words, one for "
        "each language in the same order. The texts should be translations of each other.",
    ),
    "language_ratios": (
        "N,N",
        "With language_counts, the language chooses whose text was shortened least: by the number "
        "of tokens at first, divided by their number now and by its number in this list. A "
        "language with a higher number chooses more merges.",
    ),
    "language_first_merges": (),
    "language_window": (),
    "language_alpha": (),
}
"""The flags of parity-aware BPE: how the help shows the value, and what it says.

Flags without these are like the options of training.
"""


def command() -> Command:
    """Return the description of the command."""
    from spmcompat.huggingface.files import TARGETS
    from spmcompat.huggingface.template import SHIPPED
    from spmcompat.options.given_text import WORD_OPTIONS
    from spmcompat.options.table import OPTIONS

    targets = "; ".join(f"{name} is {target.help}" for name, target in TARGETS.items())
    return Command(
        "spmcompat train_tokenizer",
        "Trains the vocabulary of a tokenizer.json. It finds the tokens and merges of the trainers "
        "of Hugging Face's tokenizers, faster and in less memory. Everything else comes from a "
        "template: how texts are normalized and split, the decoder, the special tokens.",
        "--like=TEMPLATE --input=FILE,FILE|--counts=FILE|--language_counts=FILE,FILE --output=FILE "
        "[flags]",
        _run,
        [
            Flag(
                "like",
                "The template: a tokenizer.json, a folder that contains one, or one of "
                f"{', '.join(SHIPPED)}.",
                metavar="TEMPLATE",
            ),
            Flag(
                "counts",
                "Train from the words that spmcompat count --like has counted.",
                metavar="FILE",
            ),
            *map(_language_flag, LANGUAGE_FLAGS),
            Flag(
                "output",
                "Where to write the tokenizer. With several sizes, each name gets its size: "
                "out-16000.json.",
                metavar="PATH",
            ),
            Flag("to", f"The format: {targets}.", CHOICE, "tokenizer.json", choices=[*TARGETS]),
            Flag(
                "vocab_size",
                "The number of tokens, or several numbers: one run trains them all.",
                UINT64,
                default=(_DEFAULT_SIZE,),
                metavar="N,N",
                least=1,
                most=2**31 - 1,
                many=True,
            ),
            Flag(
                "special_tokens",
                "The special tokens, in the order of their ids, from 0. By default, those of the "
                "template.",
                metavar="TOKEN,TOKEN",
                many=True,
            ),
            Flag(
                "min_frequency",
                "Pairs that occur less often are not merged.",
                UINT64,
                default=0,
                least=0,
                most=2**62,
            ),
            Flag(
                "max_token_length",
                "A token of more than two letters (bytes or characters) has fewer letters than "
                "this.",
                UINT64,
                least=0,
                most=2**31,
            ),
            Flag(
                "limit_alphabet",
                "The maximum number of letters that become tokens; the rarest are dropped.",
                UINT64,
                least=0,
                most=2**31,
            ),
            Flag(
                "initial_alphabet",
                "Letters that become tokens even if they do not occur in the text. A byte-level "
                "template adds all bytes.",
                metavar="C,C",
                many=True,
            ),
            Flag(
                "continuing_subword_prefix",
                "The prefix of tokens inside words, such as ##. By default, that of the template.",
                metavar="TEXT",
            ),
            Flag(
                "end_of_word_suffix",
                "The suffix of tokens at the end of words, such as </w>. By default, that of the "
                "template.",
                metavar="TEXT",
            ),
        ],
        {"Flags of spm_train": [OPTIONS[name] for name in WORD_OPTIONS]},
        required=[("like",), ("input", "counts", "language_counts"), ("output",)],
        exclusive=[
            ("input", "counts"),
            ("input", "language_counts"),
            ("counts", "language_counts"),
        ],
        success="the tokenizer was written",
        failure="training failed; one line says why and what to do",
    )


def _language_flag(name: str) -> Flag:
    """Return the flag with the name and the values of an option of training."""
    from spmcompat.options.extension_options import LANGUAGE_OPTIONS
    from spmcompat.options.table import OPTIONS

    option, (metavar, help) = OPTIONS[name], LANGUAGE_FLAGS[name] or ("", OPTIONS[name].help)
    is_list = name in LANGUAGE_OPTIONS
    return Flag(name, help, option.kind, option.default, metavar, least=option.least, many=is_list)


def _run(given: SimpleNamespace, _: TextIO, stderr: TextIO) -> None:
    from spmcompat.huggingface.training import run
    from spmcompat.options.given_text import text_of_flags

    text = text_of_flags(given.options)
    given.special_tokens = given.special_tokens or None  # the flag takes at least one
    run(tokenizer_job(given, text, given.counts), text.report(stderr))


def tokenizer_job(
    given: SimpleNamespace, text: GivenText, counts: WordTable | StrPath | None
) -> TokenizerJob:
    """Return the job that the flags of the command describe.

    Parameters
    ----------
    given : namespace
        The values of the flags. If `special_tokens` is None, they are those of the template.
    text : GivenText
        The text.
    counts : WordTable or path, optional
        The words of the text, instead of the text.

    Raises
    ------
    TrainingError
        If the template, an option or the text is not possible.
    """
    from spmcompat.bpe.token_trainer import TokenOptions
    from spmcompat.errors import ConflictError, UsageError
    from spmcompat.huggingface.template import Template
    from spmcompat.huggingface.training import TokenizerJob
    from spmcompat.options.table import OPTIONS

    sizes = given.vocab_size
    if twice := [size for size in sizes if sizes.count(size) > 1]:
        raise UsageError(f"--vocab_size lists {twice[0]} twice. Give each size once.")
    template = Template.load(given.like)
    options = TokenOptions(
        sizes,
        given.min_frequency,
        limit_alphabet=given.limit_alphabet,
        initial_alphabet=given.initial_alphabet,
        continuing_subword_prefix=template.prefix_or(given.continuing_subword_prefix),
        end_of_word_suffix=template.suffix_or(given.end_of_word_suffix),
        max_token_length=given.max_token_length,
    )
    named = given.special_tokens
    special = template.special_tokens if named is None else template.described(named)
    stored: Languages | WordTable | None = _languages(given, template)
    if counts is not None:
        from spmcompat.words.table import open_words

        stored = open_words(counts)
    of_texts = [o for o in text.options if OPTIONS[o].selects_text or o in ("strict", "column")]
    if stored is not None and of_texts:
        raise ConflictError(
            f"{of_texts[0]} is for reading a text, but counts are given. Leave it out."
        )
    return TokenizerJob(
        template,
        special,
        options,
        text.words() if stored is None else stored,
        text.workers,
        given.output or "",
        given.to,
        text.files if stored is None else stored.files,
    )


def _languages(given: SimpleNamespace, template: Template) -> Languages | None:
    """Return the words of each language, or None without ``language_counts``."""
    from spmcompat.errors import ConflictError
    from spmcompat.options.languages import language_items
    from spmcompat.options.table import OPTIONS

    counts, development, ratios = language_items(vars(given))
    for name in ("language_first_merges", "language_window", "language_alpha"):
        for need in OPTIONS[name].needs:
            if getattr(given, name) != OPTIONS[name].default and not getattr(given, need):
                raise ConflictError(f"{name} needs {need}. Give both or neither.")
    if development and ratios:
        raise ConflictError(
            "language_ratios has no effect with language_development. Leave one of the two out."
        )
    if not counts:
        return None
    if not template.is_bpe:
        raise ConflictError(f"language_counts is for BPE, and {template.name} is WordPiece.")
    from spmcompat.bpe.token_trainer import ParityTokenOptions
    from spmcompat.huggingface.training import Languages
    from spmcompat.words.table import open_words

    return Languages(
        [open_words(item) for item in counts],
        [open_words(item) for item in development],
        ParityTokenOptions(
            [*map(float, ratios)] or None,
            given.language_first_merges,
            given.language_window,
            given.language_alpha,
            total_symbols=True,
        ),
    )
