"""Trains the vocabularies of tokenizer.json files, and of tokenizers in memory."""

from __future__ import annotations

from spmcompat.options.arguments import as_list, check_sentences, naming_keywords

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any, TextIO, TypedDict, TypeVar

    from tokenizers import AddedToken, Tokenizer
    from tokenizers.trainers import ParityBpeTrainer, Trainer
    from transformers import PreTrainedTokenizerFast
    from typing_extensions import Unpack

    from spmcompat.huggingface.files import TrainedTokenizer
    from spmcompat.options.given_text import GivenText
    from spmcompat.options.keywords import InputFormat, Progress, StrPath
    from spmcompat.runtime.context import Context
    from spmcompat.text.arrow_producers import Sentences
    from spmcompat.text.sources import WordText
    from spmcompat.words.table import WordTable

    _T = TypeVar("_T")

    class ReadingOptions(TypedDict, total=False):
        """How to read a text."""

        input_format: InputFormat | None
        input_column: str | None
        column: str | None
        split_lines: bool | None
        skip_bad_records: bool | None
        strict: bool | None
        input_sentence_size: int | None
        shuffle_input_sentence: bool | None
        sampling_seed: int | None
        workers: int | None
        minloglevel: int | None
        progress: Progress | None


@naming_keywords()
def train_tokenizer(
    like: StrPath,
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    counts: WordTable | StrPath | None = None,
    language_counts: Sequence[WordTable | StrPath] | None = None,
    language_development: Sequence[WordTable | StrPath] | None = None,
    language_ratios: Sequence[float] | None = None,
    language_first_merges: int = 0,
    language_window: int = 0,
    language_alpha: float = 2.0,
    vocab_size: int | Sequence[int] = 30000,
    special_tokens: Sequence[str] | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    limit_alphabet: int | None = None,
    initial_alphabet: Sequence[str] = (),
    continuing_subword_prefix: str | None = None,
    end_of_word_suffix: str | None = None,
    output: StrPath | None = None,
    to: str = "tokenizer.json",
    logstream: TextIO | None = None,
    **reading: Unpack[ReadingOptions],
) -> TrainedTokenizer | list[TrainedTokenizer]:
    """Train the vocabulary of a tokenizer.json.

    The tokens and merges are those of ``BpeTrainer`` or ``WordPieceTrainer`` of the library
    ``tokenizers`` 0.23.3, with which the method ``train_new_from_iterator`` of transformers trains,
    too. Lines of files include their ends.

    Parameters
    ----------
    like : path or str
        The template, from which everything else comes: a tokenizer.json, a folder that contains
        one, or ``gpt2``, ``cl100k``, ``o200k``, ``llama3``, ``qwen2`` or ``bert``.
    input : path or sequence of paths
        Files to train on. Give either `input`, `sentence_iterator`, `counts` or `language_counts`.
    sentence_iterator : iterable of str or bytes, or Arrow data
        Texts to train on, as `train` takes them, but with the line breaks at their ends.
    counts : WordTable or path
        The words of a text, from `count_words` or ``spmcompat count --like``.
    language_counts : sequence of WordTable or path
        The words of each language, for parity-aware BPE as ``ParityBpeTrainer`` trains it: before
        each merge, the language with the most tokens chooses its most frequent pair.
    language_development : sequence of WordTable or path
        For each language, the words in which its tokens are counted.
    language_ratios : sequence of float
        The language chooses whose text was shortened least: by the number of tokens at first,
        divided by their number now and by the ratio of the language.
    language_first_merges : int
        The number of merges at the beginning that are chosen by the counts in all languages.
    language_window : int
        The number of latest choices to look at: a language that made more than `language_alpha`
        times the mean of all languages may not choose. 0 turns this off.
    language_alpha : float
        See `language_window`.
    vocab_size : int or sequence of int
        The number of tokens, or several numbers: one run trains them all.
    special_tokens : sequence of str
        The special tokens, in the order of their ids, from 0; an empty list for none. By default,
        those of the template.
    min_frequency : int
        Pairs that occur less often are not merged.
    max_token_length : int
        A token of more than two letters (bytes or characters) has fewer letters than this.
    limit_alphabet : int
        The maximum number of letters that become tokens; the rarest are dropped.
    initial_alphabet : sequence of str
        Letters that become tokens even if they do not occur. A byte-level template adds all bytes.
    continuing_subword_prefix, end_of_word_suffix : str
        The affixes of tokens inside words and at their ends. By default, those of the template.
    output : path
        Where to write the tokenizer. With several sizes, each name gets its size
        (``out-16000.json``). By default nothing is written.
    to : str
        The format of the output: ``tokenizer.json``, ``hf-folder``, ``vocab.json`` (with
        ``merges.txt``), ``vocab.txt`` or ``tiktoken``.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **reading
        The options of `train` for reading: `input_format`, `input_column`, `column`, `split_lines`,
        `skip_bad_records`, `strict`, `input_sentence_size`, `shuffle_input_sentence`,
        `sampling_seed`, `workers`, `minloglevel` and `progress`.

    Returns
    -------
    TrainedTokenizer or list of TrainedTokenizer
        The tokenizer; a list if `vocab_size` is a sequence.

    Raises
    ------
    TrainingError
        If the template, an option or the text is wrong, or a file cannot be written.
    """
    from spmcompat.cli.flags import from_python
    from spmcompat.cli.train_tokenizer import command, tokenizer_job
    from spmcompat.errors import ConflictError
    from spmcompat.huggingface.training import run

    values = {
        "like": like,
        "language_first_merges": language_first_merges,
        "language_window": language_window,
        "language_alpha": language_alpha,
        "vocab_size": vocab_size,
        "special_tokens": special_tokens,
        "min_frequency": min_frequency,
        "max_token_length": max_token_length,
        "limit_alphabet": limit_alphabet,
        "initial_alphabet": initial_alphabet,
        "continuing_subword_prefix": continuing_subword_prefix,
        "end_of_word_suffix": end_of_word_suffix,
        "output": output,
        "to": to,
    }
    text_given = input is not None or sentence_iterator is not None
    if text_given + (counts is not None) + (language_counts is not None) > 1:
        raise ConflictError("Give either a text, counts or language_counts: counts replace a text.")
    given = from_python(command()._replace(required=[("like",)]), (), values)
    if special_tokens is None:
        given.special_tokens = None
    given.language_counts, given.language_development = language_counts, language_development
    given.language_ratios = language_ratios
    text = _text(input, sentence_iterator, reading)
    trained = run(tokenizer_job(given, text, counts), text.report(logstream))
    return trained[0] if isinstance(vocab_size, int) else trained


@naming_keywords()
def count_words(
    like: StrPath,
    *,
    input: StrPath | Sequence[StrPath] | None = None,
    sentence_iterator: Sentences | None = None,
    logstream: TextIO | None = None,
    **reading: Unpack[ReadingOptions],
) -> WordTable:
    """Count the words of a text. Training from them gives the same tokenizer as from the text.

    Parameters
    ----------
    like : path or str
        The template that cuts the text into words, as for `train_tokenizer`.
    input, sentence_iterator
        The text, as for `train_tokenizer`.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **reading
        The options of `train` for reading: `input_format`, `input_column`, `column`, `split_lines`,
        `skip_bad_records`, `strict`, `input_sentence_size`, `shuffle_input_sentence`,
        `sampling_seed`, `workers`, `minloglevel` and `progress`.

    Returns
    -------
    WordTable
        The words. ``a + b`` and ``sum(tables)`` return the words of several texts; ``save(path)``
        writes them to a file.

    Raises
    ------
    TrainingError
        If the template, an option or the text is wrong.
    """
    from spmcompat.huggingface.template import Template
    from spmcompat.huggingface.training import count_words

    text = _text(input, sentence_iterator, reading)
    context = text.context(text.report(logstream))
    return count_words(Template.load(like), text.words(), context)


@naming_keywords()
def train_from_iterator(
    tokenizer: Tokenizer,
    iterator: Sentences,
    trainer: Trainer | None = None,
    length: int | None = None,
    *,
    workers: int | None = None,
) -> None:
    """Train a tokenizer as its method ``train_from_iterator`` does, with the same result.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The tokenizer, with the model BPE or WordPiece. Its vocabulary is replaced.
    iterator : iterable of str or of lists of str, or Arrow data
        The texts.
    trainer : BpeTrainer or WordPieceTrainer
        The trainer. It is not changed.
    length : int
        Ignored: progress is shown in bytes.
    workers : int
        The number of worker threads; by default, one for each core. It never changes the result.

    Raises
    ------
    TrainingError
        If the model or the trainer is of another type, or a text cannot be read. The tokenizer is
        not changed.
    """
    _train(tokenizer, _items(iterator), trainer, workers)


@naming_keywords()
def train_from_files(
    tokenizer: Tokenizer,
    files: StrPath | Sequence[StrPath],
    trainer: Trainer | None = None,
    *,
    workers: int | None = None,
) -> None:
    """Train a tokenizer as its method ``train`` does, with the same result.

    Lines include their ends. `train_tokenizer` also reads other formats than plain text.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        As for `train_from_iterator`.
    files : path or sequence of paths
        The files.
    trainer : BpeTrainer or WordPieceTrainer
        As for `train_from_iterator`.
    workers : int
        As for `train_from_iterator`.

    Raises
    ------
    TrainingError
        As for `train_from_iterator`.
    """
    from spmcompat.plan import TextPlan
    from spmcompat.text.sources import WordText

    paths = tuple(as_list("files", files))
    plan = TextPlan(paths, input_format="text", long_sentences="keep")
    _train(tokenizer, WordText(plan), trainer, workers)


@naming_keywords()
def train_parity_from_iterators(
    tokenizer: Tokenizer,
    train_iterators: Sequence[Sentences],
    trainer: ParityBpeTrainer | None = None,
    dev_iterators: Sequence[Sentences] | None = None,
    ratio: Sequence[float] | None = None,
    *,
    workers: int | None = None,
) -> None:
    """Train a tokenizer as the ``train_from_iterator`` of a ``ParityBpeTrainer`` does.

    The result is the same, except that the method of the library never ends in a few cases, in
    which this function ends with a warning.

    Parameters
    ----------
    tokenizer : tokenizers.Tokenizer
        The tokenizer. Its model is replaced.
    train_iterators : sequence of iterables of str or of lists of str, or of Arrow data
        The texts of each language.
    trainer : ParityBpeTrainer
        The trainer. It is not changed.
    dev_iterators : sequence, optional
        The texts of each language that decide which language chooses a merge.
    ratio : sequence of float, optional
        The ratio of each language; by default, those of the trainer.
    workers : int
        The number of worker threads; by default, one for each core. It never changes the result.

    Raises
    ------
    TrainingError
        If an option is not possible, or a text cannot be read. The tokenizer is not changed.
    """
    from spmcompat.errors import BadValueError
    from spmcompat.huggingface.trainers import parity_trainer, train_parity

    chosen = parity_trainer(trainer)
    development = [*dev_iterators] if dev_iterators else [None] * len(train_iterators)
    if len(development) != len(train_iterators):
        raise BadValueError(
            f"train_iterators has {len(train_iterators)} texts, but dev_iterators has "
            f"{len(development)}. Give one of each for every language."
        )
    texts = [
        (_items(training), None if other is None else _items(other))
        for training, other in zip(train_iterators, development, strict=True)
    ]
    _in_context(
        lambda context: train_parity(tokenizer, chosen, texts, ratio, context),
        chosen.show_progress,
        workers,
    )


@naming_keywords()
def train_new_from_iterator(
    tokenizer: PreTrainedTokenizerFast,
    text_iterator: Sentences,
    vocab_size: int,
    length: int | None = None,
    new_special_tokens: Sequence[str | AddedToken] | None = None,
    special_tokens_map: Mapping[str, str] | None = None,
    *,
    workers: int | None = None,
    **kwargs: Any,
) -> PreTrainedTokenizerFast:
    """Train a tokenizer of transformers as its method of the same name does, with the same result.

    Parameters
    ----------
    tokenizer : transformers.PreTrainedTokenizerFast
        The tokenizer, with the model BPE or WordPiece. It is not changed.
    text_iterator : iterable of str or of lists of str, or Arrow data
        The texts.
    vocab_size : int
        The number of tokens.
    length : int
        Ignored: progress is shown in bytes.
    new_special_tokens : sequence of str or AddedToken
        Special tokens that follow those of the tokenizer.
    special_tokens_map : mapping of str to str
        New texts of special tokens.
    workers : int
        The number of worker threads; by default, one for each core. It never changes the result.
    **kwargs
        Options of the trainer, such as `min_frequency`.

    Returns
    -------
    transformers.PreTrainedTokenizerFast
        A tokenizer of the same class.

    Raises
    ------
    TrainingError
        If the model is of another type, or a text cannot be read.
    """
    from spmcompat.huggingface.trainers import train_fast

    given = {
        "new_special_tokens": new_special_tokens and [*new_special_tokens],
        "special_tokens_map": special_tokens_map,
        **kwargs,
    }
    text = _items(text_iterator)
    trained: PreTrainedTokenizerFast = _in_context(
        lambda context: train_fast(tokenizer, vocab_size, given, text, context),
        kwargs.get("show_progress", True),
        workers,
    )
    return trained


def _train(
    tokenizer: Tokenizer, text: WordText, trainer: Trainer | None, workers: int | None
) -> None:
    from spmcompat.huggingface.trainers import GivenTrainer, train_in_place, trainer_for

    given = GivenTrainer.of(trainer_for(tokenizer, trainer))
    _in_context(
        lambda context: train_in_place(tokenizer, given, text, context),
        given.shows_progress,
        workers,
    )


def _text(
    input: StrPath | Sequence[StrPath] | None, sentences: Sentences | None, reading: ReadingOptions
) -> GivenText:
    """Return the text that the arguments of a function name."""
    from spmcompat.errors import UnknownOptionError
    from spmcompat.options.given_text import WORD_OPTIONS, text_of

    options = {name: value for name, value in reading.items() if value is not None}
    unknown = next((name for name in options if name not in {*WORD_OPTIONS, "column"}), None)
    if unknown is not None:
        raise UnknownOptionError(
            f"{unknown} is not an option for reading words: {', '.join(WORD_OPTIONS)}, column."
        )
    return text_of(sentences, **options, **({} if input is None else {"input": input}))


def _items(iterator: Sentences) -> WordText:
    from spmcompat.plan import TextPlan
    from spmcompat.text.sources import WordText

    check_sentences(iterator)
    return WordText(TextPlan(long_sentences="keep"), iterator)


def _in_context(train: Callable[[Context], _T], shows_progress: bool, workers: int | None) -> _T:
    from spmcompat.errors import naming_stage
    from spmcompat.runtime.context import Context
    from spmcompat.runtime.cores import available_cores
    from spmcompat.runtime.progress import Report
    from spmcompat.runtime.workers import Workers

    report = Report(0 if shows_progress else 1)
    context = Context(Workers(workers or available_cores()), report)
    return naming_stage(lambda: train(context), lambda: report.current)
