"""The Python interface: `train`, `count` and what belongs to them, and `SentencePieceTrainer`.

This module imports only what Python itself has imported before, so that ``import spmcompat`` takes
no time. The first training imports the rest.
"""

from __future__ import annotations

import os

from spmcompat.errors import BadValueError, UnknownOptionError

TYPE_CHECKING = False  # not that of typing, which takes longer to import than this package
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Literal, Protocol, TextIO, TypeAlias, TypeGuard

    from spmcompat.editing.editing import EditResult, MergeResult
    from spmcompat.editing.growing import Change, SizeResult
    from spmcompat.exporting.verifying import Verification
    from spmcompat.model.writers import Writer
    from spmcompat.runtime.rounds import Round
    from spmcompat.stored_counts.arrow_counter import ArrowCounter
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences

    StrPath: TypeAlias = str | os.PathLike[str]

    class Normalizer(Protocol):
        """A normalizer of the ``sentencepiece`` package, or one like it."""

        def serialized_normalizer_spec(self) -> bytes:
            """Return its ``NormalizerSpec``."""


def train(
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    column: str | None = None,
    counts: CountTable | StrPath | None = None,
    model_prefix: StrPath | None = None,
    model_writer: Writer | Sequence[Writer] | Callable[[int], Writer] | None = None,
    model_type: Literal["unigram", "bpe", "word", "char"] | None = None,
    vocab_size: int | Sequence[int] | None = None,
    hard_vocab_limit: bool | None = None,
    use_all_vocab: bool | None = None,
    input_format: Literal["auto", "text", "tsv", "jsonl", "parquet"] | None = None,
    input_column: str | None = None,
    split_lines: bool | None = None,
    skip_bad_records: bool | None = None,
    input_sentence_size: int | None = None,
    shuffle_input_sentence: bool | None = None,
    max_sentence_length: int | None = None,
    character_coverage: float | None = None,
    required_chars: str | None = None,
    auto_character_coverage: bool | None = None,
    seed_sentencepiece_size: int | None = None,
    seed_sentencepieces_file: StrPath | None = None,
    shrinking_factor: float | None = None,
    num_sub_iterations: int | None = None,
    use_sparse_pruning: bool | None = None,
    post_l1_debias: bool | None = None,
    seed_piece_length_power: float | None = None,
    min_freq_alpha: float | None = None,
    num_threads: int | None = None,
    max_sentencepiece_length: int | None = None,
    split_by_unicode_script: bool | None = None,
    split_by_number: bool | None = None,
    split_by_whitespace: bool | None = None,
    split_digits: bool | None = None,
    treat_whitespace_as_suffix: bool | None = None,
    allow_whitespace_only_pieces: bool | None = None,
    pretokenization_delimiter: str | None = None,
    pretokenizer: Callable[[str], Sequence[str | bytes]] | str | None = None,
    allow_inconsistent_pretokenization: bool | None = None,
    control_symbols: Sequence[str] | None = None,
    user_defined_symbols: Sequence[str] | None = None,
    byte_fallback: bool | None = None,
    vocabulary_output_piece_score: bool | None = None,
    unk_id: int | None = None,
    bos_id: int | None = None,
    eos_id: int | None = None,
    pad_id: int | None = None,
    unk_piece: str | None = None,
    bos_piece: str | None = None,
    eos_piece: str | None = None,
    pad_piece: str | None = None,
    unk_surface: str | None = None,
    normalizer: Normalizer | None = None,
    normalization_rule_name: str | None = None,
    normalization_rule_tsv: StrPath | None = None,
    denormalization_rule_tsv: StrPath | None = None,
    add_dummy_prefix: bool | None = None,
    remove_extra_whitespaces: bool | None = None,
    minloglevel: int | None = None,
    logstream: TextIO | None = None,
    workers: int | None = None,
    sampling_seed: int | None = None,
    recipe: Literal["paper", "fsp", "mingram"] | None = None,
    seed_mode: Literal["full_text", "pretokens", "bpe"] | None = None,
    prefix_recovery: bool | None = None,
    seed_factor: float | None = None,
    objective: Literal["likelihood", "fewest_tokens"] | None = None,
    drop_unused: bool | None = None,
    m_step: Literal["digamma", "ml"] | None = None,
    early_prune_threshold: float | None = None,
    prune: Literal["likelihood", "flat", "exact"] | None = None,
    prune_overshoot: float | None = None,
    final_estimate: str | None = None,
    space_pieces: Literal["prefix", "separate", "dropped"] | None = None,
    dump: StrPath | None = None,
    dump_format: Literal["tsv", "parquet"] | None = None,
    on_round: Callable[[Round], object] | None = None,
    compat: str | None = None,
) -> None:
    """Train a model. An option that is left out, or None, is not stored in the model.

    Parameters
    ----------
    input : path or sequence of paths
        Files to train on, in order. Give either this or `sentence_iterator`. Text files may be
        compressed; JSON Lines and Parquet files, patterns such as ``data/*.txt``, ``-`` for
        standard input, and addresses such as ``s3://bucket/a.txt`` are taken too.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to train on. A line break at the end of a sentence is removed. Arrow data are any
        object with ``__arrow_c_stream__`` or ``__arrow_c_array__``, such as tables, columns and
        readers of pyarrow, polars, pandas, DuckDB and nanoarrow, or an iterable of them; a
        ``LazyFrame`` of polars; and a data set of Hugging Face. Their strings are read without
        making Python objects; nulls are skipped.
    column : str
        The column of Arrow data that are a table. By default ``text``, or else the only column
        that holds strings.
    input_format : str
        ``auto`` (by the names of files), ``text``, ``tsv``, ``jsonl`` or ``parquet``.
    input_column : str
        The field of JSON Lines, or the column of Parquet files, that holds the text. By default
        ``text``, or else the only column of a Parquet file that holds strings.
    split_lines : bool
        Whether every line of a record or of an item is a sentence, instead of the whole record.
    skip_bad_records : bool
        Whether to leave out lines of JSON Lines that cannot be read, instead of ending there.
    counts : CountTable or path
        Counts of a text, as `count` returns or saves them, instead of a text. The options of
        reading and normalizing are those of the counts.
    model_prefix : path
        Where to write the model: ``<model_prefix>.model`` and ``<model_prefix>.vocab``.
    model_writer : object with ``write``
        Receives the bytes of the model instead. With a list as `vocab_size`, a list with a writer
        for each size, or a function that returns the writer of a size. The function is called when
        all models are trained.
    model_type : str
        ``unigram`` (the default), ``bpe``, ``word`` or ``char``.
    vocab_size : int
        Size of the vocabulary, 8000 by default. Or a list of sizes: then one run trains a model of
        each size, with the bytes that its own run would write. ``<model_prefix>-<size>`` is the
        `model_prefix` of each. Either all models are written or none.
    num_threads : int
        Fixes the order in which float32 numbers are added, as the number of threads does in
        ``sentencepiece``. It is part of the result of a Unigram model; 16 by default. For the
        number of real threads see `workers`.
    pretokenizer : callable or str
        A function from a normalized sentence, with U+2581 for spaces, to its parts: no piece
        crosses from one part into the next. It is called for every sentence, perhaps more than
        once, in any order and in several threads; its result may depend on the sentence only. Or
        ``script``: no piece crosses from one run of characters of one script and kind into the
        next. Or ``regex:`` and a pattern of the package ``regex``: no piece crosses the start or
        end of a match.
    allow_inconsistent_pretokenization : bool
        Whether to train even if the parts do not join to the sentence.
    normalizer : object with ``serialized_normalizer_spec()``
        A ``sentencepiece.SentencePieceNormalizer``, for example. It replaces the options for the
        parts of normalization.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    workers : int
        Number of real threads, by default one for each core. It never changes the model.
    sampling_seed : int
        Seed of the sample that `input_sentence_size` draws.
    dump : path
        A new folder for tables of all steps of the training.
    on_round : callable
        A function that is called with a `Round` of `spmcompat.runtime.rounds` after each step of
        the training, in the thread of the caller. If it raises an exception, training ends:
        nothing is written, and the caller gets the exception.
    compat : str
        The release of ``sentencepiece`` to train as; by default the newest that is known.
    **others
        Every other option means the same as the flag of that name: see ``spm_train --help``.

    Raises
    ------
    TrainingError
        If training cannot go on. It is also a ``ValueError`` or an ``OSError`` where a value or
        a file is the reason, and a ``MemoryError`` where memory ran out.
    """
    given = {name: value for name, value in locals().items() if value is not None}
    # A text is split at its commas; the items of a list are not.
    for name in ("input", "control_symbols", "user_defined_symbols"):
        if name in given:
            given[name] = _as_list(given[name])
    for name in ("model_prefix", "seed_sentencepieces_file", "dump"):
        if name in given:
            given[name] = os.fspath(given[name])
    SentencePieceTrainer.train(**given)


def count(
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    column: str | None = None,
    logstream: TextIO | None = None,
    **options: object,
) -> CountTable:
    """Count a text. Training from the counts writes the same bytes as training from the text.

    Parameters
    ----------
    input : path or sequence of paths
        Files to count, in order. Give either this or `sentence_iterator`.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Sentences to count, as `train` takes them. A line break at the end of a sentence is removed.
    column : str
        The column of Arrow data that are a table. By default ``text``, or else the only column
        that holds strings.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **options
        The options of `train` for reading and normalizing, such as `max_sentence_length`,
        `normalization_rule_name` and `user_defined_symbols`; and `workers`, `minloglevel`,
        `model_type`. ``spmcompat count --help`` lists them.

    Returns
    -------
    CountTable
        The counts. ``a + b`` and ``sum(tables)`` are the counts of the texts one behind the other;
        ``save(path)`` writes them to a file.

    Raises
    ------
    TrainingError
        If the text cannot be counted.
    """
    from spmcompat.counts import count_to_table  # noqa: PLC0415
    from spmcompat.options.from_keywords import from_kwargs  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415

    given = {name: value for name, value in options.items() if value is not None}
    if input is not None:
        given["input"] = input
    if column is not None:
        given["column"] = column
    for name in ("input", "control_symbols", "user_defined_symbols"):
        if name in given:
            given[name] = _as_list(given[name])
    _check_sentences(sentence_iterator)
    settings = from_kwargs(given)
    report = Report(settings.min_log_level, logstream)
    return count_to_table(given, settings, sentence_iterator, report)


def arrow_counter(
    column: str = "text",
    *,
    table_bytes: int = 1 << 28,
    logstream: TextIO | None = None,
    **options: object,
) -> ArrowCounter:
    """Return an object that counts parts of a text, for engines that work on Arrow data.

    Its ``count(batches)`` takes the record batches of a part and yields rows of counts. Add up the
    counts of rows with equal ``pretoken``, ``place`` and ``next``, and write the sums to Parquet
    files with its ``metadata``. `load_counts` and ``--counts`` take the folder. The order of the
    lines is lost: the counts are those of the lines in some order, the same for any parts.

    Parameters
    ----------
    column : str
        The column of strings, each a sentence.
    table_bytes : int
        How large the table of distinct pretokens grows, in bytes, before `count` hands its rows on
        and begins a new one.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.
    **options
        Those of `count` but `workers`, `input` and the options of samples and TSV files.

    Raises
    ------
    TrainingError
        If an option is wrong, or counting needs the order of the lines.
    """
    from spmcompat.counts import counter_of_parts, refuse_options_of_texts  # noqa: PLC0415
    from spmcompat.options.from_keywords import from_kwargs  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415

    if not isinstance(column, str):
        raise BadValueError(f"column must be the name of a column, not {type(column).__name__}.")
    if isinstance(table_bytes, bool) or not isinstance(table_bytes, int) or table_bytes < 1:
        raise BadValueError(f"table_bytes must be a number of bytes, not {table_bytes!r}.")
    given = {name: value for name, value in options.items() if value is not None}
    refuse_options_of_texts(given)
    for name in ("control_symbols", "user_defined_symbols"):
        if name in given:
            given[name] = _as_list(given[name])
    settings = from_kwargs(given)
    report = Report(settings.min_log_level, logstream)
    return counter_of_parts(given, settings, column, table_bytes, report)


def load_counts(path: StrPath) -> CountTable:
    """Open counts that `count` or ``spmcompat count`` saved. Rows are read when they are needed.

    Parameters
    ----------
    path : path
        A Parquet file, or a folder of Parquet files, as Spark writes it.

    Raises
    ------
    TrainingError
        If there is no such file, or it holds no counts.
    """
    from spmcompat.stored_counts.table import load_counts  # noqa: PLC0415

    return load_counts(path)


def edit(
    model: StrPath,
    *,
    output: StrPath | None = None,
    add_control: Sequence[str] = (),
    add_user_defined: Sequence[str] = (),
    add: Sequence[str] = (),
    rename: Mapping[str, str] | None = None,
    remove: Sequence[str] = (),
    set_score: Mapping[str, float] | None = None,
    use_unused: bool = False,
    reorder_ids: bool = False,
    report: StrPath | None = None,
) -> EditResult:
    """Change single pieces of a model. Pieces that stay keep their ids, unless you say otherwise.

    All names are those before the change, with U+2581 for a space. Either all edits are made or
    none.

    Parameters
    ----------
    model : path
        A ``.model`` file.
    output : path
        Where to write the new model, and a ``.vocab`` file beside it if the name ends in
        ``.model``. It may be `model` itself. By default nothing is written.
    add_control, add_user_defined, add : sequence of str
        New control pieces, user-defined symbols and normal pieces. The scores of normal pieces
        continue below the lowest.
    rename : mapping of str to str
        The new text of each piece.
    remove : sequence of str
        Pieces that are never used again. They keep their ids and become unused. To change the
        type of a piece, remove and add it in one call.
    set_score : mapping of str to float
        The new scores of normal pieces, old or new.
    use_unused : bool
        Whether new pieces take the ids of unused pieces and of placeholders such as
        ``<unused0>``.
    reorder_ids : bool
        Whether unused pieces are dropped and ids given anew: first all other types of pieces in
        their order, then normal pieces by score.
    report : path
        A text to compare the two models on; see `changes` of the result. Needs ``sentencepiece``.

    Returns
    -------
    EditResult
        The new model, and what changed.

    Raises
    ------
    TrainingError
        If an edit is not possible, such as a piece that could never be used.
    """
    from spmcompat.editing.editing import edit  # noqa: PLC0415
    from spmcompat.editing.edits import Edits  # noqa: PLC0415

    edits = Edits(
        add_control=_as_texts("add_control", add_control),
        add_user_defined=_as_texts("add_user_defined", add_user_defined),
        add=_as_texts("add", add),
        rename=_as_mapping("rename", rename, str),
        remove=_as_texts("remove", remove),
        set_score=_as_mapping("set_score", set_score, (int, float)),
        use_unused=bool(use_unused),
        reorder_ids=bool(reorder_ids),
    )
    return edit(model, edits, output, report)


def merge(
    models: Sequence[StrPath],
    *,
    output: StrPath | None = None,
    weights: Sequence[float] | None = None,
    vocab_size: int | None = None,
) -> MergeResult:
    """Merge models of one type. The ids of the first one stay; new pieces of the others follow.

    Unigram: the probability of a piece is the mean of those in the models. BPE: the merges of the
    first model come first, then those of the others that can be reached from them, each in its own
    order.

    Parameters
    ----------
    models : sequence of paths
        ``.model`` files with the same normalizer.
    output : path
        Where to write the new model, and a ``.vocab`` file beside it if the name ends in
        ``.model``. By default nothing is written.
    weights : sequence of float
        The weight of each model, by default equal ones. BPE takes none.
    vocab_size : int
        The largest number of pieces; by default all are taken. New symbols and single characters
        come first, then the best of the other new pieces.

    Returns
    -------
    MergeResult
        The new model, and what changed.

    Raises
    ------
    TrainingError
        If the models cannot be merged: they normalize differently, are of different types, or give
        one text different meanings.
    """
    from spmcompat.editing.editing import merge  # noqa: PLC0415

    numbers = None if weights is None else list(weights)
    if numbers is not None and not all(isinstance(one, int | float) for one in numbers):
        raise BadValueError(f"weights must be a list of numbers, not {weights!r}.")
    if vocab_size is not None and (
        isinstance(vocab_size, bool) or not isinstance(vocab_size, int) or vocab_size < 1
    ):
        raise BadValueError(f"vocab_size must be a whole number above 0, not {vocab_size!r}.")
    return merge(_as_list(models), output, numbers, vocab_size)


def extend(
    model: StrPath | bytes,
    *,
    add: int,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    counts: CountTable | StrPath | None = None,
    output: StrPath | None = None,
    use_unused: bool = False,
    character_coverage: float | None = None,
    logstream: TextIO | None = None,
    **options: object,
) -> SizeResult:
    """Add pieces to a model, learned from a new text. Ids and scores of the other pieces stay.

    Parameters
    ----------
    model : path or bytes
        A Unigram or BPE model. The text is normalized and cut by the options that it stores.
    add : int
        The number of new pieces. Characters that the model lacks and that the coverage of the
        new text requires are among them.
    input, sentence_iterator, counts
        The new text, as for `train`.
    output : path
        Where to write the model. If the name ends in ``.model``, a ``.vocab`` is written beside
        it.
    use_unused : bool
        Whether new pieces first take the ids of unused pieces and of placeholders such as
        ``<unused0>``. Otherwise they get the ids behind the last one.
    character_coverage : float
        The share of the characters of the new text that the model must cover; by default that of
        its training.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **options
        Options of `train` for the text: `column`, `input_format`, `input_sentence_size`,
        `shuffle_input_sentence`, `sampling_seed`, `pretokenizer`; and `workers`, `minloglevel`.

    Returns
    -------
    SizeResult
        The new model, and the pieces that were added.

    Raises
    ------
    TrainingError
        If the text cannot be read or does not give so many pieces. Nothing is written then.
    """
    from functools import partial  # noqa: PLC0415

    from spmcompat.editing.extending import Growth, extend  # noqa: PLC0415

    change = partial(extend, Growth(_whole("add", add), bool(use_unused)))
    texts = {**options, "input": input, "counts": counts, "character_coverage": character_coverage}
    return _change_size(model, change, texts, sentence_iterator, output, logstream)


def trim(
    model: StrPath | bytes,
    *,
    keep: int,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    counts: CountTable | StrPath | None = None,
    output: StrPath | None = None,
    keep_ids: bool = False,
    drop_characters: bool = False,
    character_coverage: float | None = None,
    logstream: TextIO | None = None,
    **options: object,
) -> SizeResult:
    """Drop the pieces of a model that a text needs least.

    Meta pieces and, by default, single characters stay. The scores of pieces that stay do not
    change.

    Parameters
    ----------
    model : path or bytes
        A Unigram or BPE model. The text is normalized and cut by the options that it stores.
    keep : int
        The number of pieces that are left, with meta pieces.
    input, sentence_iterator, counts
        The text, as for `train`.
    output : path
        Where to write the model. If the name ends in ``.model``, a ``.vocab`` is written beside
        it.
    keep_ids : bool
        Whether all ids stay: then dropped pieces become unused. Otherwise the ids of the pieces
        that are left move together, in their order.
    drop_characters : bool
        Whether characters may fall too, unless the coverage of the text requires them.
    character_coverage : float
        The share of the characters of the text that must stay, with `drop_characters`; by default
        that of the model's training.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **options
        As for `extend`.

    Returns
    -------
    SizeResult
        The new model, and the pieces that were dropped.

    Raises
    ------
    TrainingError
        If the text cannot be read or so few pieces cannot be left. Nothing is written then.
    """
    from functools import partial  # noqa: PLC0415

    from spmcompat.editing.trimming import Cut, trim  # noqa: PLC0415

    change = partial(trim, Cut(_whole("keep", keep), bool(keep_ids), bool(drop_characters)))
    texts = {**options, "input": input, "counts": counts, "character_coverage": character_coverage}
    return _change_size(model, change, texts, sentence_iterator, output, logstream)


def _change_size(
    model: StrPath | bytes,
    change: Change,
    options: dict[str, object],
    sentences: Sentences | None,
    output: StrPath | None,
    logstream: TextIO | None,
) -> SizeResult:
    """Change a model by a text; `options` says where that is."""
    from spmcompat.editing.growing import Sources, change_size  # noqa: PLC0415
    from spmcompat.editing.text import TEXT_OPTIONS  # noqa: PLC0415
    from spmcompat.options.from_keywords import from_kwargs  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415

    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (*TEXT_OPTIONS, "character_coverage"):
            raise UnknownOptionError(
                f'unknown option "{name}": the model decides how the text is read. Leave it out.'
            )
    if "input" in given:
        given["input"] = _as_list(given["input"])
    _check_sentences(sentences)
    settings = from_kwargs(given)
    report = Report(settings.min_log_level, logstream)
    return change_size(Sources(model, settings, given, sentences), change, output, report)


def _whole(name: str, value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise BadValueError(f"{name} must be a whole number, not {value!r}.")
    return value


def export(
    model: StrPath,
    *,
    to: str,
    output: StrPath,
    verify: StrPath | bool | Iterable[str] = True,
    logstream: TextIO | None = None,
) -> Verification | None:
    """Write a model in the format of another library, and verify that it encodes alike.

    What the target cannot express exactly is logged as a warning before anything is written.

    Parameters
    ----------
    model : path
        A ``.model`` file.
    to : str
        The target; ``spmcompat export --help`` lists them.
    output : path
        The file to write, or the folder if the target is a folder.
    verify : path, bool or iterable of str
        The lines to encode with ``sentencepiece`` and with the library of the target: a text, or
        the lines themselves. True means built-in lines that exports are known to get wrong, and
        False none.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.

    Returns
    -------
    Verification or None
        How many of the lines differ, and why; None without lines.

    Raises
    ------
    TrainingError
        If the model cannot be read or expressed, or a file cannot be written. Then no file is.
    """
    from spmcompat.exporting.exporting import export, lines_of  # noqa: PLC0415
    from spmcompat.model.reading import read_model  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415

    message = read_model(model)
    lines = lines_of(message, os.fspath(verify) if isinstance(verify, os.PathLike) else verify)
    report = Report(0, logstream)
    return export(message, to, os.fspath(output), lines, report.warning)


def import_tokenizer(
    tokenizer: StrPath, *, output: StrPath, logstream: TextIO | None = None
) -> None:
    """Make a model of a ``tokenizer.json``, if the model encodes exactly as the file does.

    Parameters
    ----------
    tokenizer : path
        A ``tokenizer.json``.
    output : path
        The model to write.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.

    Raises
    ------
    TrainingError
        If no model does exactly what the file says, or a file cannot be read or written. Then
        nothing is written.
    """
    from spmcompat.exporting.exporting import import_file  # noqa: PLC0415
    from spmcompat.runtime.progress import Report  # noqa: PLC0415

    import_file(os.fspath(tokenizer), os.fspath(output), Report(0, logstream).warning)


class SentencePieceTrainer:
    """The trainer under the names that the ``sentencepiece`` package gives it."""

    @staticmethod
    def train(arg: object = None, logstream: TextIO | None = None, **kwargs: object) -> None:
        """Train a model from one string of flags, or from keywords.

        Parameters
        ----------
        arg : str, optional
            Flags in one string, ``--input=FILE --model_prefix=NAME``. Keywords are ignored then.
        logstream : text stream, optional
            Where to write messages.
        **kwargs
            Any flag of ``spm_train``, and: ``sentence_iterator`` or ``sentence_reader``, an
            iterable of str or bytes, or Arrow data; ``model_writer``, an object with ``write``; and
            ``column``, ``normalizer``, ``pretokenizer``, ``allow_inconsistent_pretokenization``,
            ``on_round`` and ``vocab_size`` as a list, as `train` takes them.

        Raises
        ------
        TrainingError
            If training cannot go on.
        """
        from spmcompat.options.from_keywords import from_kwargs, from_string  # noqa: PLC0415
        from spmcompat.runtime.progress import Report  # noqa: PLC0415
        from spmcompat.training import run  # noqa: PLC0415

        if isinstance(arg, str):
            settings = from_string(arg)
            run(settings, report=Report(settings.min_log_level, logstream))
            return

        sentences = kwargs.pop("sentence_iterator", None)
        sentences = kwargs.pop("sentence_reader", sentences)
        writer = kwargs.pop("model_writer", None)
        _check_sentences(sentences)
        settings = from_kwargs(kwargs)
        run(settings, sentences, writer, Report(settings.min_log_level, logstream))  # type: ignore[arg-type]

    Train = train


def _check_sentences(sentences: object) -> None:
    # A single text is an iterable too, but of characters.
    if sentences is None or (_is_iterable(sentences) and not isinstance(sentences, str | bytes)):
        return
    if not isinstance(sentences, str | bytes):
        from spmcompat.text.arrow_producers import is_arrow_data  # noqa: PLC0415

        if is_arrow_data(sentences):
            return
    raise BadValueError("sentence_iterator must be an iterable of str or bytes, or Arrow data.")


def _as_list(value: object) -> list[str]:
    """Return one path or symbol, or several, as a list."""
    items = [value] if isinstance(value, str | os.PathLike) else value
    if not _is_iterable(items):
        raise BadValueError(f"expected a list, not {type(value).__name__}.")
    return [os.fspath(item) for item in items]


def _as_texts(name: str, value: object) -> list[str]:
    """Return one text, or several, as a list."""
    one = isinstance(value, str) or not _is_iterable(value)
    texts: list[Any] = [value] if one else list(value)  # type: ignore[call-overload]
    if not all(isinstance(text, str) for text in texts):
        raise BadValueError(f"{name} must be a list of texts, not {value!r}.")
    return texts


def _as_mapping(name: str, value: object, kind: type | tuple[type, ...]) -> dict[str, Any]:
    """Return a mapping from texts to values of some type as a dictionary."""
    try:
        items: dict[Any, Any] = dict(value or {})  # type: ignore[call-overload]
    except (TypeError, ValueError):
        items = {None: None}
    if not all(isinstance(one, str) and isinstance(other, kind) for one, other in items.items()):
        wanted = "texts" if kind is str else "numbers"
        raise BadValueError(f"{name} must be a dictionary from pieces to {wanted}, not {value!r}.")
    return items


def _is_iterable(value: object) -> TypeGuard[Iterable[Any]]:
    return hasattr(type(value), "__iter__")
