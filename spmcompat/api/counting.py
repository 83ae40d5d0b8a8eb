"""Counts a text, and opens stored counts."""

from __future__ import annotations

from spmcompat.errors import ConflictError, WrongTypeError
from spmcompat.options.arguments import check_sentences, make_lists, naming_keywords

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import TextIO

    from typing_extensions import Unpack

    from spmcompat.huggingface.word_parts import WordPartCounter
    from spmcompat.options.keywords import CountOptions, PartOptions, StrPath
    from spmcompat.stored_counts.arrow_counter import ArrowCounter
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences
    from spmcompat.words.table import WordTable


@naming_keywords()
def count(
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    allow_empty: bool = False,
    logstream: TextIO | None = None,
    **options: Unpack[CountOptions],
) -> CountTable:
    """Count a text. Training from the counts writes the same bytes as training from the text.

    Parameters
    ----------
    input : path or sequence of paths
        Files to count, in order. Give either `input` or `sentence_iterator`.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to count, as `train` takes them. A line break at the end of a sentence is removed.
    allow_empty : bool
        Whether the text may contain no sentence. The counts are then empty; they can be merged.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **options
        The options of `train` for reading and normalizing, such as `column`,
        `max_sentence_length`, `normalization_rule_name` and `user_defined_symbols`; and `workers`,
        `minloglevel`, `progress`, `model_type`. ``spmcompat count --help`` lists them.

    Returns
    -------
    CountTable
        The counts. ``a + b`` and ``sum(tables)`` return the counts of the concatenated texts;
        ``save(path)`` writes them to a file.

    Raises
    ------
    TrainingError
        If the text cannot be counted.
    """
    from spmcompat.counts import count_to_table, refuse_options_of_training
    from spmcompat.options.from_keywords import from_values
    from spmcompat.options.given_text import GivenText
    from spmcompat.options.table import OPTIONS

    given = {name: value for name, value in options.items() if value is not None}
    if input is not None:
        given["input"] = input
    make_lists(given)
    check_sentences(sentence_iterator)
    # `from_values` refuses names that are no options.
    refuse_options_of_training(name for name in given if name in OPTIONS)
    text = GivenText(from_values(given), given, sentence_iterator)
    report = text.report(logstream)
    return count_to_table(text.counting_job(), sentence_iterator, report, allow_empty)


@naming_keywords()
def arrow_counter(
    column: str = "text",
    *,
    like: StrPath | None = None,
    table_bytes: int = 1 << 28,
    logstream: TextIO | None = None,
    **options: Unpack[PartOptions],
) -> ArrowCounter | WordPartCounter:
    """Return an object that counts parts of a text, for engines that work on Arrow data.

    Its ``count(batches)`` takes the record batches of a part and yields rows of counts. Add up the
    counts of rows with equal ``pretoken``, ``place`` and ``next``, and write the sums to Parquet
    files with its ``metadata``. `load_counts` and ``--counts`` take the folder. The order of the
    lines is lost: the counts are those of the lines in a fixed order, which is the same however
    the text is divided into parts.

    Parameters
    ----------
    column : str
        The column of strings; each string is a sentence.
    like : path or str
        To count the words for `train_tokenizer` instead: the template, as for that function. Rows
        then have a ``word`` and a ``count``, and there are no other options.
    table_bytes : int
        When the table of distinct pretokens reaches this size in bytes, `count` yields its rows and
        starts a new table.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.
    **options
        The options of `count`, except `workers`, `input`, and the options for samples and TSV
        files.

    Raises
    ------
    TrainingError
        If an option is wrong, or counting needs the order of the lines.
    """
    from spmcompat.counts import counter_of_parts, refuse_options_of_texts
    from spmcompat.options.from_keywords import from_values
    from spmcompat.options.job import counting_job
    from spmcompat.runtime.progress import Report

    if not isinstance(column, str):
        raise WrongTypeError(f"column must be the name of a column, not {type(column).__name__}.")
    if like is not None:
        from spmcompat.huggingface.template import Template
        from spmcompat.huggingface.word_parts import WordPartCounter

        if options:
            name = next(iter(options))
            raise ConflictError(f"{name} has no effect with like, whose template decides.")
        return WordPartCounter(Template.load(like), column)
    if isinstance(table_bytes, bool) or not isinstance(table_bytes, int) or table_bytes < 1:
        raise WrongTypeError(f"table_bytes must be a number of bytes, not {table_bytes!r}.")
    given = {name: value for name, value in options.items() if value is not None}
    refuse_options_of_texts(given)
    make_lists(given)
    job = counting_job(given, from_values(given), has_sentences=True)
    return counter_of_parts(job, column, table_bytes, Report(job.min_log_level, logstream))


@naming_keywords()
def load_counts(path: StrPath) -> CountTable:
    """Open counts that `count` or ``spmcompat count`` saved. Rows are read when they are needed.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of Parquet files, as Spark writes it.

    Raises
    ------
    TrainingError
        If the file does not exist or does not contain counts.
    """
    from spmcompat.stored_counts.table import load_counts

    return load_counts(path)


def load_words(path: StrPath) -> WordTable:
    """Open words that `count_words` or ``spmcompat count --like`` saved.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of Parquet files, as Spark writes it.

    Raises
    ------
    TrainingError
        If the file does not exist or does not contain words.
    """
    from spmcompat.words.table import open_words

    return open_words(path)
