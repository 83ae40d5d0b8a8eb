"""Operations on trained models: edit, merge, extend, trim, export and import."""

from __future__ import annotations

import os

from spmcompat.errors import BadValueError, UnknownOptionError, WrongTypeError
from spmcompat.options.arguments import (
    as_float,
    as_list,
    as_mapping,
    as_numbers,
    as_texts,
    naming_keywords,
    whole,
)

TYPE_CHECKING = False  # importing typing would take longer than importing this package
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Literal, TextIO

    from typing_extensions import Unpack

    from spmcompat.options.keywords import StrPath, TextOptions
    from spmcompat.stored_counts.table import CountTable
    from spmcompat.text.arrow_producers import Sentences
    from spmcompat.tools.edit.edits import EditResult
    from spmcompat.tools.edit.growing import Change, SizeResult
    from spmcompat.tools.edit.merging_models import MergeResult
    from spmcompat.tools.export.verifying import Verification


@naming_keywords()
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
    text: StrPath | None = None,
) -> EditResult:
    """Change single pieces of a model. Pieces that stay keep their ids, except with `reorder_ids`.

    All names refer to the model before the change; write U+2581 for a space. Either all edits are
    made, or none.

    Parameters
    ----------
    model : path
        A ``.model`` file.
    output : path
        Where to write the new model, and a ``.vocab`` file beside it if the name ends in
        ``.model``. It may be `model` itself. By default nothing is written.
    add_control, add_user_defined, add : sequence of str
        New control pieces, user-defined symbols and normal pieces. A symbol is one token, but a
        Unigram model may prefer pieces that contain or overlap it. New normal pieces get scores
        below the lowest existing score.
    rename : mapping of str to str
        The new text of each piece.
    remove : sequence of str
        Pieces to stop using. They keep their ids and become unused. To change the type of a piece,
        remove and add it in one call.
    set_score : mapping of str to float
        The new scores of normal pieces, old or new.
    use_unused : bool
        Whether to give new pieces the ids of unused pieces and of placeholders such as
        ``<unused0>``.
    reorder_ids : bool
        Whether to drop unused pieces and renumber the remaining ones. Pieces that are not normal
        come first, in their current order, and then the normal pieces by score.
    text : path
        A text to compare the two models on; see `changes` of the result. Needs ``sentencepiece``.

    Returns
    -------
    EditResult
        The new model, and what changed.

    Raises
    ------
    TrainingError
        If an edit is not possible, such as adding a piece that could never be used.
    """
    from spmcompat.tools.edit.editing import edit
    from spmcompat.tools.edit.edits import Edits

    scores = as_mapping("set_score", set_score, (int, float))
    edits = Edits(
        add_control=as_texts("add_control", add_control),
        add_user_defined=as_texts("add_user_defined", add_user_defined),
        add=as_texts("add", add),
        rename=as_mapping("rename", rename, str),
        remove=as_texts("remove", remove),
        set_score={text: as_float(score) for text, score in scores.items()},
        use_unused=bool(use_unused),
        reorder_ids=bool(reorder_ids),
    )
    return edit(model, edits, output, text)


@naming_keywords()
def merge(
    models: Sequence[StrPath],
    *,
    output: StrPath | None = None,
    weights: Sequence[float] | None = None,
    vocab_size: int | None = None,
) -> MergeResult:
    """Merge models of one type. New pieces of the other models follow the pieces of the first.

    Unigram: the probability of a piece is the mean of its probabilities in the models. BPE: the
    merges of the first model come first, then the merges of each other model in that model's order,
    except merges whose parts the earlier merges cannot produce.

    Parameters
    ----------
    models : sequence of paths
        ``.model`` files with the same normalizer.
    output : path
        Where to write the new model, and a ``.vocab`` file beside it if the name ends in
        ``.model``. By default nothing is written.
    weights : sequence of float
        The weight of each model; equal by default. BPE models have no weights.
    vocab_size : int
        The maximum number of pieces; by default, all pieces are taken. New symbols and single
        characters come first, then the best of the other new pieces.

    Returns
    -------
    MergeResult
        The new model, and what changed.

    Raises
    ------
    TrainingError
        If the models cannot be merged: they normalize differently, are of different types, or
        define the same piece with different meanings.
    """
    from spmcompat.tools.edit.editing import merge

    numbers = None if weights is None else as_numbers("weights", weights)
    if vocab_size is not None and whole("vocab_size", vocab_size) < 1:
        raise BadValueError(f"vocab_size must be a whole number above 0, not {vocab_size}.")
    return merge(as_list("models", models), output, numbers, vocab_size)


@naming_keywords()
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
    **options: Unpack[TextOptions],
) -> SizeResult:
    """Add pieces to a model, learned from a new text. Existing pieces keep their ids and scores.

    Parameters
    ----------
    model : path or bytes
        A Unigram or BPE model. The text is normalized and cut by the options that the model stores.
    add : int
        The number of new pieces. This includes all characters that the coverage of the new text
        requires and that the model does not have.
    input, sentence_iterator, counts
        The new text, as for `train`.
    output : path
        Where to write the model. If the name ends in ``.model``, a ``.vocab`` is written beside
        it.
    use_unused : bool
        Whether new pieces first take the ids of unused pieces and of placeholders such as
        ``<unused0>``. Otherwise, their ids follow the last existing id.
    character_coverage : float
        The share of the characters of the new text that the model must cover; by default, the share
        that it was trained with.
    logstream : text stream
        Where to write messages; by default standard error, or the program's own logging.
    **options
        Options of `train` for the text: `column`, `input_format`, `input_column`, `split_lines`,
        `max_sentence_length`, `long_sentences`, `skip_bad_records`, `input_sentence_size`,
        `shuffle_input_sentence`, `sampling_seed`, `pretokenizer`; and `strict`, `workers`,
        `minloglevel`, `progress`.

    Returns
    -------
    SizeResult
        The new model, and the pieces that were added.

    Raises
    ------
    TrainingError
        If the text cannot be read or does not yield `add` pieces. Then nothing is written.
    """
    from functools import partial

    from spmcompat.tools.edit.extending import extend

    change = partial(extend, add=whole("add", add), use_unused=bool(use_unused))
    texts = {**options, "input": input, "counts": counts, "character_coverage": character_coverage}
    return _change_size(model, change, texts, sentence_iterator, output, logstream)


@naming_keywords()
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
    **options: Unpack[TextOptions],
) -> SizeResult:
    """Drop the pieces of a model that a text needs least.

    Meta pieces and, by default, single characters stay. The scores of pieces that stay do not
    change.

    Parameters
    ----------
    model : path or bytes
        A Unigram or BPE model. The text is normalized and cut by the options that the model stores.
    keep : int
        The number of pieces to keep, including meta pieces.
    input, sentence_iterator, counts
        The text, as for `train`.
    output : path
        Where to write the model. If the name ends in ``.model``, a ``.vocab`` is written beside
        it.
    keep_ids : bool
        Whether all pieces keep their ids; dropped pieces then become unused. Otherwise, the
        remaining pieces are renumbered without gaps, in their order.
    drop_characters : bool
        Whether characters may be dropped, too, unless the coverage of the text requires them.
    character_coverage : float
        The share of the characters of the text that must stay, with `drop_characters`; by default,
        the share that the model was trained with.
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
        If the text cannot be read or the model cannot be reduced to `keep` pieces. Then nothing is
        written.
    """
    from functools import partial

    from spmcompat.tools.edit.trimming import trim

    kept, ids, characters = whole("keep", keep), bool(keep_ids), bool(drop_characters)
    change = partial(trim, keep=kept, keep_ids=ids, drop_characters=characters)
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
    """Extend or trim a model with a text. `options` name the text, and state how to read it."""
    from spmcompat.engine import TEXT_OPTIONS, text_of
    from spmcompat.tools.edit.growing import change_size

    given = {name: value for name, value in options.items() if value is not None}
    for name in given:
        if name not in (*TEXT_OPTIONS, "character_coverage"):
            from spmcompat.options.near_names import did_you_mean

            raise UnknownOptionError(
                f'unknown option "{name}": the model decides how the text is read. Leave it out.'
                f"{did_you_mean(name, [*TEXT_OPTIONS, 'character_coverage'])}"
            )
    text = text_of(sentences, **given)
    return change_size(model, text, change, output, text.report(logstream))


@naming_keywords()
def export(
    model: StrPath,
    *,
    to: Literal["tokenizer.json", "hf-folder", "gguf", "tiktoken", "vocab.txt"],
    output: StrPath,
    verify: Literal["required", "if_possible", "no"] | None = None,
    text: StrPath | Iterable[str] | None = None,
    bos_token: str | None = None,
    eos_token: str | None = None,
    pad_token: str | None = None,
    model_max_length: int | None = None,
    split_special_tokens: bool | None = None,
    chat_template: StrPath | None = None,
    logstream: TextIO | None = None,
) -> Verification:
    """Write a model in the format of another library, and verify that both encode text alike.

    Features that the target cannot express exactly are logged as warnings before anything is
    written.

    Parameters
    ----------
    model : path
        A ``.model`` file.
    to : str
        The target; ``spmcompat export --help`` lists them.
    output : path
        The file to write, or the folder if the target is a folder.
    verify : str, optional
        Whether lines are encoded with ``sentencepiece`` and with the library of the target, to
        compare the results. ``required``: nothing is written if they cannot be compared, for
        example because a library is missing. ``if_possible``: the export is written in any case.
        ``no``: nothing is compared. The default is ``required``, and ``if_possible`` for
        ``vocab.txt``, with which no library can encode.
    text : path or iterable of str, optional
        The lines to compare: the path of a text, or the lines themselves. By default, these are
        built-in lines that exports are known to get wrong.
    bos_token, eos_token, pad_token : str, optional
        For ``hf-folder``: the control pieces that begin, end and pad a text; by default, those of
        the model.
    model_max_length : int, optional
        For ``hf-folder``: the largest number of tokens of a text.
    split_special_tokens : bool, optional
        For ``hf-folder``: whether the text of control symbols such as ``<|im_start|>`` is plain
        text, as for ``sentencepiece``. By default, this is true without a chat template, and false
        with one.
    chat_template : path, optional
        For ``hf-folder``: a file with a chat template, to be stored in the folder.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.

    Returns
    -------
    Verification
        How many of the lines are encoded differently, and why. `ok` is true if lines were compared
        and there are no differences except ties that no Unigram export can avoid. If no lines were
        compared, `ok` is false, and `problem` says why.

    Raises
    ------
    TrainingError
        If the model cannot be read, if the target cannot express it, if the export must be verified
        but cannot, or if a file cannot be written. In these cases, no file is written.
    """
    from spmcompat.model.reading import read_model
    from spmcompat.runtime.progress import Report
    from spmcompat.tools.export.exporting import export
    from spmcompat.tools.export.hf_folder import FolderOptions
    from spmcompat.tools.export.verifying import MODES

    if model_max_length is not None:
        whole("model_max_length", model_max_length)
    if not isinstance(split_special_tokens, bool | None):
        raise WrongTypeError(
            f"split_special_tokens must be True or False, not {split_special_tokens!r}."
        )
    folder = FolderOptions(
        bos_token,
        eos_token,
        pad_token,
        model_max_length,
        split_special_tokens,
        None if chat_template is None else os.fspath(chat_template),
    )
    if verify is not None and verify not in MODES:
        raise BadValueError(f"verify must be one of {', '.join(MODES)}, not {verify!r:.300}.")
    return export(
        read_model(model),
        to,
        os.fspath(output),
        text,
        Report(0, logstream).warning,
        [model],
        verifying=verify,
        folder=folder,
    )


@naming_keywords()
def import_model(
    tokenizer: StrPath,
    *,
    output: StrPath,
    approximate: bool = False,
    logstream: TextIO | None = None,
) -> None:
    """Convert a ``tokenizer.json`` to a model, if the model can encode exactly as the file does.

    Parameters
    ----------
    tokenizer : path
        A ``tokenizer.json``, or a folder that contains it.
    output : path
        The model to write.
    approximate : bool
        Whether to write the model even if it encodes some texts differently. The differences are
        logged as warnings, each with an example.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.

    Raises
    ------
    TrainingError
        If no model can encode exactly as the file defines, or a file cannot be read or written.
        Then nothing is written.
    """
    from spmcompat.runtime.progress import Report
    from spmcompat.tools.export.exporting import import_file

    warn = Report(0, logstream).warning
    import_file(os.fspath(tokenizer), os.fspath(output), warn, approximate=bool(approximate))
