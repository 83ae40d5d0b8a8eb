"""Trains the vocabulary of a tokenizer, from a template to the content of tokenizer.json files."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import TYPE_CHECKING, NamedTuple

from spmcompat.bpe.token_trainer import (
    ParityTokenOptions,
    TokenOptions,
    Tokens,
    byte_texts,
    train,
    train_parity,
)
from spmcompat.errors import BadValueError, naming_stage
from spmcompat.huggingface.files import TrainedTokenizer, checked_outputs, save
from spmcompat.huggingface.reading import read_with_tokenizer, tokenizer_of
from spmcompat.huggingface.template import Json, Splitting, Template, TemplateError
from spmcompat.options.arguments import notes_of_spaces
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.threads import prepare_thread
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import WordText, open_source
from spmcompat.words.reading import read_words, sampled_texts
from spmcompat.words.words import Words

if TYPE_CHECKING:
    from tokenizers import Tokenizer

    from spmcompat.words.table import WordOrigin, WordTable


class Languages(NamedTuple):
    """The words of several languages, which choose the merges one after another.

    Attributes
    ----------
    training : sequence of WordTable
        The words of each language.
    development : sequence of WordTable
        The development words of each language, or none.
    options : ParityTokenOptions
        The options of the trainer that only these trainings have.
    """

    training: Sequence[WordTable]
    development: Sequence[WordTable]
    options: ParityTokenOptions

    @property
    def files(self) -> list[str]:
        """The files that contain the words."""
        return [file for table in (*self.training, *self.development) for file in table.files]


class TokenizerJob(NamedTuple):
    """A training: everything that follows from the options before the text is read.

    Attributes
    ----------
    template : Template
        The tokenizer.
    special_tokens : sequence of dict
        The special tokens as in the list ``added_tokens``, without ids.
    options : TokenOptions
        The options of the trainer, without the special tokens and the bytes of the alphabet.
    text : WordText, WordTable or Languages
        The text, or its words, or those of several languages.
    workers : int
        The number of worker threads. It never changes the result.
    output : str
        Where to write the tokenizer; empty if it is not written.
    to : str
        The format of the output, from `TARGETS`.
    inputs : sequence of str
        The files that are read. No output may replace them.
    """

    template: Template
    special_tokens: Sequence[Json]
    options: TokenOptions
    text: WordText | WordTable | Languages
    workers: int
    output: str
    to: str
    inputs: Sequence[str]


def run(job: TokenizerJob, report: Report) -> list[TrainedTokenizer]:
    """Train a vocabulary for each size, write the tokenizers, and return them.

    Parameters
    ----------
    job : TokenizerJob
        What to train.
    report : Report
        Receives log lines and progress.

    Raises
    ------
    TrainingError
        If training cannot continue. In this case nothing is written.
    """
    return naming_stage(lambda: _run(job, report), lambda: report.current)


def _run(job: TokenizerJob, report: Report) -> list[TrainedTokenizer]:
    prepare_thread()
    template = job.template
    options = complete_options(template, job.special_tokens, job.options)
    affixes = affixes_of(template.is_bpe, options)
    # Filled without a text first, so that errors are found before the text is read.
    untrained = template.filled(Tokens([*options.special_tokens], []), job.special_tokens, affixes)
    paths: list[str] = []
    if job.output:
        inputs = [*job.inputs, *template.files]
        paths = checked_outputs(job.output, job.to, options.vocab_sizes, untrained, inputs)
    known = {token["content"] for token in template.special_tokens}
    new = [name for name in options.special_tokens if name not in known]
    for warning in [*template.warnings(), *notes_of_spaces("special_tokens", new)]:
        report.warning(warning)
    context = Context(Workers(job.workers), report)
    trained = [
        TrainedTokenizer(template.filled(tokens, job.special_tokens, affixes))
        for tokens in _tokens(template, job.text, options, context)
    ]
    report.step("Writing")
    save(dict(zip(paths, trained, strict=False)), job.to, report)
    report.costs()
    return trained


def _tokens(
    template: Template,
    text: WordText | WordTable | Languages,
    options: TokenOptions,
    context: Context,
) -> list[Tokens]:
    """Return the vocabulary for each size."""
    if isinstance(text, WordText):
        words = cut_words(template, text, context)
        return train(words, template.splitting.are_bytes, options, context)
    if not isinstance(text, Languages):
        return train(stored_words(template, text), text.origin.are_bytes, options, context)
    from spmcompat.words.table import check_same

    first = text.training[0]
    for table in (*text.training, *text.development):
        check_same(first.origin, table.origin, first.name, table.name)
    training, development = (
        [stored_words(template, table) for table in tables] for tables in text[:2]
    )
    languages = [*zip_longest(training, development)]
    return train_parity(languages, first.origin.are_bytes, options, text.options, context)


def complete_options(
    template: Template, special_tokens: Sequence[Json], options: TokenOptions
) -> TokenOptions:
    """Return options with the special tokens, and with all bytes if the template is byte-level."""
    names = [token["content"] for token in special_tokens]
    name, number = Counter(names).most_common(1)[0] if names else ("", 1)
    if number > 1:
        raise BadValueError(f"special_tokens lists {name!r} twice. Give each token once.")
    alphabet = byte_texts().values() if template.is_byte_level else ()
    return options._replace(
        special_tokens=names, initial_alphabet=[*alphabet, *options.initial_alphabet]
    )


def affixes_of(is_bpe: bool, options: TokenOptions) -> Json:
    """Return the fields of a model that the options of the trainer determine."""
    prefix = options.continuing_subword_prefix
    if is_bpe:
        suffix = options.end_of_word_suffix
        return {"continuing_subword_prefix": prefix or None, "end_of_word_suffix": suffix or None}
    return {"continuing_subword_prefix": prefix} if prefix else {}


def word_origin_of(template: Template) -> WordOrigin:
    """Return how the words of a text are counted for a template."""
    from spmcompat.words.table import WordOrigin

    parts = {name: template.document[name] for name in ("normalizer", "pre_tokenizer")}
    return WordOrigin(parts, template.splitting.are_bytes)


def count_words(template: Template, text: WordText, context: Context) -> WordTable:
    """Return the table of the words into which a template cuts a text.

    Raises
    ------
    TrainingError
        If the text cannot be read.
    """
    from spmcompat.words.table import table_of

    words = cut_words(template, text, context)
    context.report.step("Sorting")
    return table_of(words, word_origin_of(template))


def stored_words(template: Template, table: WordTable) -> Words:
    """Return the words of a table.

    Raises
    ------
    TrainingError
        If the words cannot be read, or the text was cut in another way than a template does.
    """
    from spmcompat.words.table import check_same

    origin = word_origin_of(template)._replace(are_bytes=table.origin.are_bytes)
    check_same(origin, table.origin, template.name, table.name)
    return table.words()


def cut_words(template: Template, text: WordText, context: Context) -> Words:
    """Read a text, and count the words into which a template cuts it.

    Raises
    ------
    TrainingError
        If the text cannot be read.
    """
    return cut_text(
        text, template.splitting, lambda: _library_tokenizer(template, context), context
    )


def cut_text(
    text: WordText, splitting: Splitting, tokenizer: Callable[[], Tokenizer], context: Context
) -> Words:
    """Read a text, and count its words.

    Parameters
    ----------
    text : WordText
        The text.
    splitting : Splitting
        How it is cut.
    tokenizer : callable
        Returns the tokenizer of the library, if the library has to cut the text.
    context : Context
        The worker threads and the report.
    """
    source = open_source(text.plan, text.sentences, context.report, text.column)
    source = sampled_texts(source, text.plan, context.report)
    if not splitting.scanner:
        return read_with_tokenizer(source, tokenizer(), context, text.plan)
    return read_words(
        source,
        splitting.scanner,
        splitting.adds_space,
        context,
        splitting.normalizes,
        text.plan,
    )


def _library_tokenizer(template: Template, context: Context) -> Tokenizer:
    """Return the tokenizer with which the library cuts texts as a template says."""
    try:
        tokenizer = tokenizer_of({**template.document, "added_tokens": [], "post_processor": None})
    except ValueError as error:
        raise TemplateError(f"{template.name}: tokenizers cannot read it: {error}.") from None
    context.report.info(
        "The library tokenizers cuts the text, which takes most of the time: spmcompat itself has "
        "no scanner for the normalizer and the pre-tokenizer of this template."
    )
    return tokenizer
