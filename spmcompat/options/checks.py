"""All checks that are possible before the corpus is read.

Except for differential privacy, options with which the reference can train are never refused here.
Options that the reference refuses, perhaps only after hours of training, are refused immediately.

Source: ``VerifySpec`` and the beginning of ``TrainerInterface::LoadSentences`` of ``sentencepiece``
0.2.3.
"""

import math
import os
import stat
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import deepcopy
from typing import TypeVar

from spmcompat.errors import (
    BadSettingError,
    BadSymbolError,
    BadValueError,
    ConflictError,
    ExclusiveError,
    MissingFileError,
    SmallVocabularyError,
    TrainingError,
    UnwritableError,
    printable,
    refuse_impossible,
)
from spmcompat.model.meta_pieces import RESERVED, MetaPiece, meta_pieces
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.normalization.rules import MARK_CASE
from spmcompat.options.conflicts import refuse_conflicts
from spmcompat.options.extension_options import OPTIONS_WITH_COUNTS
from spmcompat.options.named_rules import marks_case
from spmcompat.options.option import CHOICE, Option
from spmcompat.options.settings import Settings, runs_of, value_of
from spmcompat.options.table import OPTIONS
from spmcompat.pretokenization.pretokenizer import find_cut
from spmcompat.releases import Release
from spmcompat.runtime.libraries import require
from spmcompat.runtime.outputs import check_output, refuse_inputs
from spmcompat.runtime.runs import Runs
from spmcompat.text.files import check_file
from spmcompat.text.formats import (
    AUTO,
    FORMATS,
    OWN_FORMATS,
    RECORDS,
    TEXT_RECORDS,
    TSV,
    listed,
    titles,
)
from spmcompat.text.opening import format_of_path, is_remote
from spmcompat.text.paths import expand, hint_about_texts, pattern_of_folder
from spmcompat.text.remote import local_path
from spmcompat.unicode.marks import CASE_MARK, SPACE_MARK

Found = TypeVar("Found")

_SIMPLE = (TrainerSpec.WORD, TrainerSpec.CHAR)


def check_settings(
    settings: Settings, *, has_sentences: bool, has_writer: bool
) -> dict[int, MetaPiece]:
    """Check the settings and return the meta pieces they define.

    If several vocabulary sizes are given, an error names the size, unless all sizes have the same
    error.

    Parameters
    ----------
    settings : Settings
        The settings of the run.
    has_sentences : bool
        Whether sentences come from an iterator instead of files.
    has_writer : bool
        Whether the model goes to a writer instead of files.

    Returns
    -------
    dict of int to MetaPiece
        Meta pieces by id.

    Raises
    ------
    BadValueError
        If an option of this package has an impossible value.
    MissingFileError
        If an input cannot be read or an output cannot be written.
    TrainingError
        If it is not possible to train with the options.
    """
    meta = check_options(settings)
    if not settings.normalizer.escape_whitespaces:
        raise BadSettingError(
            "escape_whitespaces must be true to train. Leave it out, or make the normalizer with "
            "escape_whitespaces=True."
        )
    _check_text(settings, has_sentences=has_sentences)
    if settings.release.finds_inputs_first:
        _for_each_size(settings, lambda run: _check_room(run.trainer, len(meta)))
    _check_readable(settings.trainer.seed_sentencepieces_file, "seed_sentencepieces_file")
    _check_prefix(settings.trainer.model_prefix)
    _for_each_size(settings, lambda run: _check_output(run, has_writer=has_writer))
    _check_dump(settings)
    refuse_conflicts(settings)
    if settings.languages is not None and settings.release.bpe_active_set:
        raise ConflictError(
            "language_counts chooses pairs as sentencepiece 0.2.2 and later do. Choose one of "
            "these releases with compat, or leave compat out."
        )
    return meta


def _check_text(settings: Settings, *, has_sentences: bool) -> None:
    """Check that there is one text that can be read. See `check_settings` for the errors."""
    if settings.column is not None and not has_sentences:
        raise ConflictError(
            "column names a column of Arrow data: give the data as sentence_iterator, or leave "
            "column out."
        )
    if settings.counts is None:
        _check_input(settings, has_sentences=has_sentences)
    elif has_sentences:
        raise ConflictError("Give either sentence_iterator or counts.")


def check_options(settings: Settings) -> dict[int, MetaPiece]:
    """Check all options that do not depend on files, as `check_settings` does."""
    _check_listeners(settings)
    refuse_conflicts(settings, unknown=OPTIONS_WITH_COUNTS)
    find_cut(settings.pretokenizer)
    _check_input_format(settings.trainer.input_format)
    _check_case_marks(settings)
    return _for_each_size(settings, _check_numbers)


def _for_each_size(settings: Settings, check: Callable[[Settings], Found]) -> Found:
    """Call a check with the settings of each vocabulary size, and return the last result."""
    runs = runs_of(settings)
    errors: list[tuple[Runs[Settings], TrainingError]] = []
    for run in runs.alone():
        try:
            found = check(run.common)
        except TrainingError as error:
            errors.append((run, error))
    if not errors:
        return found
    run, first = errors[0]
    is_common = len(errors) == len(runs) and len({str(error) for _, error in errors}) == 1
    with (runs if is_common else run).naming_errors():
        raise first


def _check_numbers(settings: Settings) -> dict[int, MetaPiece]:
    """Check the numbers, and that the meta pieces fit into the vocabulary. Return these pieces."""
    spec = settings.trainer
    check_ranges(settings)
    for kind in RESERVED:
        if not getattr(spec, f"{kind}_piece"):
            raise BadSymbolError(f"{kind}_piece must not be empty.")
    _check_differential_privacy(spec)
    meta = meta_pieces(spec, settings.release)
    if settings.own.space_pieces == "dropped":
        meta = _without_space(spec, settings.release)
    # The reference calls a pretokenizer function before it checks that the vocabulary has room for
    # the meta pieces. So if there is such a function, only check_alphabet makes this check.
    if not callable(settings.pretokenizer) and not settings.release.finds_inputs_first:
        _check_room(spec, len(meta))
    return meta


def _check_listeners(settings: Settings) -> None:
    """Raise if `dump` or `on_round` is given together with several vocabulary sizes."""
    name = "dump" if settings.own.dump else "on_round"
    if settings.sizes and (settings.own.dump or settings.on_round is not None):
        raise ConflictError(
            f"{name} follows a single training run, but vocab_size lists {len(settings.sizes)} "
            f"sizes, whose runs share steps. Give one size, or leave {name} out."
        )


def _without_space(spec: TrainerSpec, release: Release) -> dict[int, MetaPiece]:
    """Return the meta pieces by id, without U+2581, which gets the last id of the model instead."""
    others = deepcopy(spec)
    others.ClearField("user_defined_symbols")
    others.user_defined_symbols.extend(s for s in spec.user_defined_symbols if s != SPACE_MARK)
    return meta_pieces(others, release)


def _check_input_format(given: str) -> None:
    """Raise if no format has this name."""
    if given and given not in FORMATS:
        raise BadSettingError(
            "Supported formats are 'text' and 'tsv'. spmcompat also accepts "
            f"{listed(OWN_FORMATS, 'and')}, but input_format is {given!r}."
        )


def check_pretokenization(settings: Settings) -> None:
    """Raise if two pretokenizers are given, or if the model type does not support pretokenizers."""
    names = ("pretokenizer", "pretokenization_delimiter", "treat_whitespace_as_suffix")
    refuse_conflicts(settings, names)
    find_cut(settings.pretokenizer)


def _check_case_marks(settings: Settings) -> None:
    """Raise if capitals would be marked, but decoding could not restore them."""
    if not marks_case(settings.normalizer):
        return
    if settings.denormalizer.normalization_rule_tsv:
        raise ConflictError(
            f"normalization_rule_name={MARK_CASE} has its own rules for decoded text, which "
            "restore the capitals. Leave denormalization_rule_tsv out."
        )
    for symbol in settings.trainer.user_defined_symbols:
        if CASE_MARK in symbol:
            raise BadValueError(
                f"The symbol {printable(symbol)} contains U+{ord(CASE_MARK):04X}, the case mark of "
                f"normalization_rule_name={MARK_CASE}. Remove the character from the symbol."
            )


def check_ranges(settings: Settings) -> None:
    """Raise if a number is out of range."""
    spec = settings.trainer
    for option in OPTIONS.values():
        if option.least is None or option.kind == CHOICE:
            continue
        value = value_of(settings, option.name)
        if option.name == "shrinking_factor" and settings.own.prune == "flat":
            _check_flat_shrinking(value)
        else:
            _check_range(option, value)
    if 0 < spec.input_sentence_size <= 100:
        raise BadSettingError(
            f"input_sentence_size must be 0 (all) or greater than 100, "
            f"not {spec.input_sentence_size}."
        )


def _check_flat_shrinking(value: float) -> None:
    """Raise if the shrinking factor is not possible with ``prune=flat``."""
    if not 0 <= value < 1:
        raise BadSettingError(
            f"shrinking_factor must be at least 0 and below 1 with prune=flat, not {value:g}."
        )


def _check_range(option: Option, value: float) -> None:
    """Raise if a number is out of the range of its option."""
    least, most = option.least, option.most
    error = BadSettingError if option.in_reference else BadValueError
    if least is not None and most is not None and not least <= value <= most:
        raise error(f"{option.name} must be from {least} to {most}, not {value:g}.")
    if least is not None and value < least:
        raise error(f"{option.name} must be at least {least}, not {value}.")
    if not option.in_reference and not math.isfinite(value):
        raise error(f"{option.name} must be a finite number, not {value}.")


def _check_differential_privacy(spec: TrainerSpec) -> None:
    """Raise if differential privacy is enabled, and one of its numbers is above 0."""
    changed = spec.differential_privacy_noise_level > 0
    clipped = spec.differential_privacy_clipping_threshold > 0
    if spec.enable_differential_privacy and (changed or clipped):
        raise BadSettingError(
            "differential privacy is not supported: its noise is different in each process. "
            "Leave enable_differential_privacy out."
        )


def _check_room(spec: TrainerSpec, meta_pieces: int) -> None:
    """Raise if the vocabulary has no room for the meta pieces.

    Unigram also requires room for one character.
    """
    size, fixed = spec.vocab_size, meta_pieces
    if spec.auto_character_coverage:
        if size <= fixed:
            raise SmallVocabularyError(
                f"Vocabulary size must be larger than the number of meta pieces ({size} vs "
                f"{fixed}). Increase vocab_size."
            )
    elif spec.model_type != TrainerSpec.UNIGRAM:
        if size < fixed:
            raise SmallVocabularyError(
                f"vocab_size {size} is smaller than the number of meta pieces, {fixed}. Increase "
                "vocab_size."
            )
    elif size < fixed + 1:
        raise SmallVocabularyError(
            f"Vocabulary size is smaller than required_chars. {size} vs at least {fixed + 1}: "
            f"{fixed} meta pieces and one character. Increase vocab_size or decrease "
            "character_coverage with --character_coverage option."
        )


def check_alphabet(
    spec: TrainerSpec, alphabet: Sequence[tuple[int, int]], meta_pieces: int, release: Release
) -> None:
    """Check that the vocabulary has room for the alphabet, before the text is cut.

    Parameters
    ----------
    spec : TrainerSpec
        The spec of the run.
    alphabet : sequence of (int, int)
        The required characters of the corpus and their counts.
    meta_pieces : int
        Number of meta pieces.
    release : Release
        The release to train as.

    Raises
    ------
    TrainingError
        If the alphabet does not fit into the vocabulary, or if the text lacks a required character
        and the release cannot train BPE in this case.
    """
    if spec.model_type in _SIMPLE:
        return
    _check_room(spec, meta_pieces)
    least = len(alphabet) + meta_pieces
    if least > spec.vocab_size and not spec.auto_character_coverage:
        raise SmallVocabularyError(
            f"Vocabulary size is smaller than required_chars. {spec.vocab_size} vs {least}. "
            "Increase vocab_size or decrease character_coverage with --character_coverage "
            f"option: this corpus needs a vocab_size of {least} or more."
        )
    missing = [chr(character) for character, count in alphabet if count == 0]
    is_bpe = spec.model_type == TrainerSpec.BPE
    if missing and is_bpe and release.bpe_needs_required_chars:
        raise BadSettingError(
            f'required_chars contains "{missing[0]}", but the text does not: this release of '
            "sentencepiece cannot train BPE in that case. Remove the character, or choose another "
            "release with compat."
        )


def _check_input(settings: Settings, *, has_sentences: bool) -> None:
    """Raise unless there is exactly one source of sentences, and it can be read."""
    spec, release = settings.trainer, settings.release
    if has_sentences == bool(spec.input):
        number = "Both are given" if has_sentences else "Neither is given"
        raise ExclusiveError(
            "SentenceIterator and trainer_spec.input() must be exclusive. "
            f"{number}. Give either input or sentence_iterator."
        )
    if has_sentences:
        _check_no_options_of_files(settings)
        return
    # If only the first sentences are taken, reading may end before later files, so only the first
    # file is checked.
    stops_early = spec.input_sentence_size > 0 and not spec.shuffle_input_sentence
    given = spec.input[:1] if stops_early else spec.input
    for path in given:
        _check_no_space(path)
    paths = expand(given)
    if len(given) == len(spec.input):
        _check_options_have_effect(settings, paths)
    for path in paths:
        if release.folder_is_empty_file and os.path.isdir(path):
            continue
        if not is_remote(path):
            _check_readable(path, "input", paths)
        check_file(
            path, spec.input_format or settings.input_format, bool(settings.own.input_column)
        )


def _check_options_have_effect(settings: Settings, paths: Sequence[str]) -> None:
    """Raise if an option applies only to records, and no input contains such records."""
    input_format = settings.trainer.input_format or settings.input_format
    has_column = bool(settings.own.input_column)
    formats = {format_of_path(path, input_format, has_column) for path in paths}
    if has_column and formats.isdisjoint(RECORDS):
        raise ConflictError(
            f"input_column has no effect: no input is {titles(RECORDS)}, and a line of text has no "
            f"fields. Leave input_column out, or give input_format={listed(RECORDS)}."
        )
    if settings.own.skip_bad_records and formats.isdisjoint(TEXT_RECORDS):
        raise ConflictError(
            f"skip_bad_records has no effect: no input is {titles(TEXT_RECORDS)}. Leave it out, or "
            f"give input_format={listed(TEXT_RECORDS)}."
        )


def _check_no_options_of_files(settings: Settings) -> None:
    """Raise if an option applies only to files, but sentences are given."""
    given = {
        f"input_format={settings.input_format}": settings.input_format != AUTO,
        "input_column": bool(settings.own.input_column),
        "skip_bad_records": settings.own.skip_bad_records,
    }
    for name, is_given in given.items():
        if is_given:
            raise ConflictError(
                f"{name} is for files, but sentence_iterator is given. Leave {name} out; for Arrow "
                "data, use column."
            )
    if settings.own.split_lines and settings.trainer.input_format == TSV:
        raise ConflictError(
            "split_lines is not for sentences with counts (input_format=tsv): each is one line, "
            "with one count. Leave split_lines out."
        )


def _check_no_space(path: str) -> None:
    """Raise if a path does not exist, but exists without the white space at its ends."""
    bare = path.strip()
    if path != bare and bare and not os.path.exists(path) and os.path.exists(bare):
        raise MissingFileError(
            f'"{path}": No such file or directory, but there is "{bare}". Remove the space next to '
            "the comma in input."
        )


def _check_readable(path: str, option: str, inputs: Sequence[str] = ()) -> None:
    """Raise if a file cannot be read, without opening it: a pipe can be opened only once.

    If the file is one of several `inputs`, an error considers that they may be texts.
    """
    # An empty path is standard input; for seed_sentencepieces_file, it means no file.
    if not path:
        return
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "No such file or directory"
        raise MissingFileError(
            f'"{path}": {reason}. Check the path given for {option}.{hint_about_texts(inputs)}'
        ) from error
    if stat.S_ISDIR(mode):
        remedy = f"Give a file as {option}"
        if option == "input" and (pattern := pattern_of_folder(path)):
            remedy = f'Give a pattern in quotation marks: "{pattern}"'
        raise MissingFileError(f'"{path}": Is a directory. {remedy}.{hint_about_texts(inputs)}')
    if not os.access(path, os.R_OK):
        raise MissingFileError(f'"{path}": Permission denied. Make the file readable.')


def _check_prefix(prefix: str) -> None:
    """Raise if a prefix is the path of a folder, without the beginning of a file name."""
    if prefix and os.path.basename(prefix) in ("", ".", ".."):
        raise BadValueError(
            f"model_prefix {printable(prefix)} is a folder. Add a name for the files: "
            f"{printable(os.path.join(prefix, 'm'))}."
        )


def _check_output(settings: Settings, *, has_writer: bool) -> None:
    """Raise unless there is exactly one output for the model, and it can be written."""
    spec = settings.trainer
    if has_writer == bool(spec.model_prefix):
        number = "Both are given" if has_writer else "Neither is given"
        raise ExclusiveError(
            "ModelProto and trainer_spec.model_prefix() must be exclusive. "
            f"{number}. Give either model_prefix or model_writer."
        )
    if has_writer:
        return
    if "\0" in spec.model_prefix:
        raise BadValueError("model_prefix contains a NUL character. Remove it.")
    paths = [f"{spec.model_prefix}.model", f"{spec.model_prefix}.vocab"]
    for path in paths:
        check_output(path, "model_prefix")
    refuse_inputs(paths, input_files(settings), "model_prefix")


def input_files(settings: Settings) -> list[str]:
    """Return the paths of the files that a run reads. No output may replace them."""
    found = [settings.trainer.seed_sentencepieces_file, *settings.symbol_files]
    found += [settings.normalizer.normalization_rule_tsv]
    found += [settings.denormalizer.normalization_rule_tsv]
    found = [path for path in found if path]
    for path in settings.trainer.input:
        local = local_path(path) if is_remote(path) else path
        with suppress(MissingFileError):
            found += [local] if is_remote(local) else expand([local])
    tables = [] if settings.counts is None else [settings.counts]
    if settings.languages is not None:
        tables += [*settings.languages.training, *settings.languages.development]
    return [*found, *(path for table in tables for path in table.files)]


def _check_dump(settings: Settings) -> None:
    """Raise if `dump` cannot be written."""
    folder = settings.own.dump
    if not folder:
        return
    if settings.own.dump_format == "parquet":
        tsv = "Or choose dump_format=tsv."
        require("pyarrow", "dump_format=parquet", "parquet", otherwise=tsv)
    refuse_impossible(folder, "Choose another dump")
    target = os.path.realpath(folder)
    parent = os.path.dirname(target)
    try:
        if os.listdir(target):
            raise UnwritableError(
                f'dump "{folder}": Directory not empty. Choose a new folder, or remove this one.'
            )
    except FileNotFoundError:
        if not os.path.isdir(parent):
            raise UnwritableError(
                f'dump "{folder}": No such file or directory. Make the folder {parent} first.'
            ) from None
    except OSError as error:
        if isinstance(error, MissingFileError):
            raise
        raise UnwritableError(f'dump "{folder}": {error.strerror}. Choose another dump.') from error
    if not os.access(parent, os.W_OK):
        raise UnwritableError(
            f'dump "{folder}": Permission denied. Choose a folder where files can be written.'
        )
