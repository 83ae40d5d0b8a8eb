"""Every check that can be made before the corpus is read.

Nothing that the reference trains is refused here; what it would refuse, perhaps after hours, is
refused at once.

Source: ``VerifySpec`` and the head of ``TrainerInterface::LoadSentences`` of ``sentencepiece``
0.2.3.
"""

import os
import stat
from collections.abc import Sequence

from spmcompat import extensions
from spmcompat.errors import BadValueError, MissingFileError, TrainingError
from spmcompat.model.meta_pieces import MetaPiece, meta_pieces
from spmcompat.model.sentencepiece_model_pb2 import TrainerSpec
from spmcompat.model.writers import is_replaceable
from spmcompat.options.spec import MOST_WORKERS, Settings
from spmcompat.pretokenization.pretokenizer import find_cut
from spmcompat.releases import Release

# Fields and the smallest and largest values they may have, both included.
_RANGES: dict[str, tuple[float, float]] = {
    "character_coverage": (0.98, 1.0),
    "max_sentencepiece_length": (1, 512),
    "num_sub_iterations": (1, 10),
    "num_threads": (1, 1024),
    "shrinking_factor": (0.5, 0.95),
    "max_sentence_length": (10, 2**30),
    "self_test_sample_size": (0, 1000),
}


_SIMPLE = (TrainerSpec.WORD, TrainerSpec.CHAR)


def verify(settings: Settings, *, has_sentences: bool, has_writer: bool) -> dict[int, MetaPiece]:
    """Check the settings and return the meta pieces they define.

    Parameters
    ----------
    settings : Settings
        What the run was told.
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
        If the options cannot be trained with.
    """
    spec = settings.trainer
    _check_algorithm(settings)
    _check_extensions(settings)
    _check_ranges(spec, flat_pruning=settings.extensions.prune == "flat")
    _check_differential_privacy(spec)
    meta = meta_pieces(spec, settings.release)
    if not callable(settings.pretokenizer):  # else the reference calls it first
        check_room(spec, len(meta))
    if not settings.normalizer.escape_whitespaces:
        raise TrainingError(
            "escape_whitespaces must be true to train. Leave it out, or make the normalizer with "
            "escape_whitespaces=True."
        )
    if not 1 <= settings.workers <= MOST_WORKERS:
        raise BadValueError(f"workers must be from 1 to {MOST_WORKERS}, not {settings.workers}.")
    _check_input(spec, settings.release, has_sentences=has_sentences)
    _check_output(spec, has_writer=has_writer)
    return meta


def cautions(settings: Settings) -> list[str]:
    """Return warnings about options that are allowed but seldom meant."""
    spec = settings.trainer
    found: list[str] = []
    if spec.unk_id == -1:
        found.append(
            "unk_id is -1: sentencepiece 0.2.2 and earlier cannot load such a model; 0.2.3 can."
        )
    return found


def _check_algorithm(settings: Settings) -> None:
    """Raise if the algorithm is not there, or is told what it cannot do."""
    spec = settings.trainer
    simple = spec.model_type in _SIMPLE
    if spec.use_all_vocab and not simple:
        raise TrainingError("--use_all_vocab=true is valid for WORD/CHAR model. Leave it out.")
    if spec.seed_sentencepieces_file and spec.model_type != TrainerSpec.UNIGRAM:
        raise TrainingError(
            "seed_sentencepieces_file is only supported for UNIGRAM model. Leave it out."
        )
    _check_pretokenization(settings)
    if spec.auto_character_coverage:
        _check_auto_character_coverage(settings)
    if spec.input_format not in ("", "text", "tsv"):
        raise TrainingError(
            f"Supported formats are 'text' and 'tsv'. input_format is {spec.input_format!r}."
        )


def _check_pretokenization(settings: Settings) -> None:
    """Raise unless the text is pre-tokenized in one way at most, for models that can be."""
    spec, pretokenizer = settings.trainer, settings.pretokenizer
    name = "pretokenization_delimiter" if pretokenizer is None else "pretokenizer"
    if pretokenizer is None and not spec.pretokenization_delimiter:
        return
    if spec.model_type in _SIMPLE:
        raise TrainingError(
            f"PretokenizerForTraining is only supported in UNIGRAM or BPE mode. Leave {name} out."
        )
    if pretokenizer is None:
        return
    if spec.pretokenization_delimiter:
        raise TrainingError(
            "pretokenizer callback and pretokenization_delimiter cannot be set simultaneously. "
            "Leave one of the two out."
        )
    if pretokenizer == "script" and spec.treat_whitespace_as_suffix:
        raise TrainingError(
            "pretokenizer=script joins spaces to what stands behind them, and so cannot be set "
            "together with treat_whitespace_as_suffix. Leave one of the two out."
        )
    find_cut(pretokenizer)


def _check_auto_character_coverage(settings: Settings) -> None:
    """Raise if characters cannot compete with pieces."""
    spec = settings.trainer
    name = "--auto_character_coverage"
    if spec.model_type in _SIMPLE:
        raise TrainingError(f"{name} is only supported in UNIGRAM or BPE model mode. Leave it out.")
    if spec.model_type == TrainerSpec.UNIGRAM and not settings.use_sparse_pruning:
        raise TrainingError(
            f"{name} in UNIGRAM mode requires --use_sparse_pruning=true. Set it too."
        )
    if not spec.byte_fallback:
        raise TrainingError(f"{name} requires --byte_fallback=true. Set it too.")
    if spec.required_chars:
        raise TrainingError(
            f"{name} cannot be used together with --required_chars or --required_chars_file. "
            "Leave one of the two out."
        )


def _check_extensions(settings: Settings) -> None:
    """Raise if an extension is for other models, or contradicts another option."""
    spec, given = settings.trainer, settings.extensions
    for name, value in given._asdict().items():
        if value == getattr(extensions.DEFAULT, name):
            continue
        allowed = [TrainerSpec.UNIGRAM]
        allowed += [TrainerSpec.BPE] if name in extensions.BPE_TOO else []
        if spec.model_type not in allowed:
            kinds = " and ".join(TrainerSpec.ModelType.Name(t).lower() for t in allowed)
            raise TrainingError(f"{name} is for {kinds} models only. Leave it out.")
    if spec.seed_sentencepieces_file:
        _refuse(given, "seed_sentencepieces_file", "seed_mode", "prefix_recovery", "seed_factor")
    if settings.use_sparse_pruning:
        _refuse(
            given, "use_sparse_pruning", "objective", "m_step", "early_prune_threshold", "prune"
        )
    if given.objective == "fewest_tokens":
        _refuse(given, "objective=fewest_tokens", "m_step", "early_prune_threshold", "prune")
        _refuse(given, "objective=fewest_tokens", "prune_overshoot", "final_estimate")
    if given.seed_mode == "bpe":
        _refuse(given, "seed_mode=bpe", "prefix_recovery")


def _refuse(given: extensions.Extensions, option: str, *names: str) -> None:
    """Raise if one of the extensions is set that an option has no use for."""
    for name in names:
        if getattr(given, name) != getattr(extensions.DEFAULT, name):
            raise TrainingError(f"{option} has no use for {name}. Leave one of the two out.")


def _check_ranges(spec: TrainerSpec, *, flat_pruning: bool) -> None:
    """Raise if a number is out of range or a reserved piece is empty."""
    if spec.vocab_size <= 0:
        raise TrainingError(f"vocab_size must be greater than 0, not {spec.vocab_size}.")
    for name, (low, high) in _RANGES.items():
        value = getattr(spec, name)
        if name == "shrinking_factor" and flat_pruning and 0 <= value < 1:
            continue
        if not low <= value <= high:
            raise TrainingError(f"{name} must be from {low} to {high}, not {value:g}.")
    if 0 < spec.input_sentence_size <= 100:
        raise TrainingError(
            f"input_sentence_size must be 0 (all) or greater than 100, "
            f"not {spec.input_sentence_size}."
        )
    for kind in ("unk", "bos", "eos", "pad"):
        if not getattr(spec, f"{kind}_piece"):
            raise TrainingError(f"{kind}_piece must not be empty.")


def _check_differential_privacy(spec: TrainerSpec) -> None:
    """Raise if counts would be changed at random, or dropped; both at 0 change nothing."""
    changed = spec.differential_privacy_noise_level > 0
    clipped = spec.differential_privacy_clipping_threshold > 0
    if spec.enable_differential_privacy and (changed or clipped):
        raise TrainingError(
            "differential privacy is not supported: its noise is another one in every process. "
            "Leave enable_differential_privacy out."
        )


def check_room(spec: TrainerSpec, meta_pieces: int) -> None:
    """Raise if the meta pieces do not fit, or not even one character beside them.

    Parameters
    ----------
    spec : TrainerSpec
        The options of the run.
    meta_pieces : int
        Number of meta pieces.
    """
    size, fixed = spec.vocab_size, meta_pieces
    if spec.auto_character_coverage:
        if size <= fixed:
            raise TrainingError(
                f"Vocabulary size must be larger than the number of meta pieces ({size} vs "
                f"{fixed}). Increase vocab_size."
            )
    elif spec.model_type != TrainerSpec.UNIGRAM:
        if size < fixed:
            raise TrainingError(
                f"vocab_size {size} is smaller than the number of meta pieces, {fixed}. Increase "
                "vocab_size."
            )
    elif size < fixed + 1:
        raise TrainingError(
            f"Vocabulary size is smaller than required_chars. {size} vs at least {fixed + 1}: "
            f"{fixed} meta pieces and one character. Increase vocab_size or decrease "
            "character_coverage with --character_coverage option."
        )


def check_alphabet(alphabet: int, meta_pieces: int, vocab_size: int) -> None:
    """Raise if the vocabulary cannot hold all required characters of the corpus.

    Parameters
    ----------
    alphabet : int
        Number of required characters.
    meta_pieces : int
        Number of meta pieces.
    vocab_size : int
        Size of the vocabulary.
    """
    least = alphabet + meta_pieces
    if least > vocab_size:
        raise TrainingError(
            f"Vocabulary size is smaller than required_chars. {vocab_size} vs {least}. "
            "Increase vocab_size or decrease character_coverage with --character_coverage "
            f"option: this corpus needs a vocab_size of {least} or more."
        )


def check_counted(alphabet: Sequence[tuple[int, int]]) -> None:
    """Raise if a required character does not stand in the text, which BPE once could not bear."""
    missing = [chr(character) for character, count in alphabet if count == 0]
    if missing:
        raise TrainingError(
            f'required_chars holds "{missing[0]}", which the text does not hold: this release of '
            "sentencepiece cannot train BPE then. Remove it, or choose another release with compat."
        )


def _check_input(spec: TrainerSpec, release: Release, *, has_sentences: bool) -> None:
    """Raise unless there is exactly one source of sentences, and it can be read."""
    if has_sentences == bool(spec.input):
        raise TrainingError(
            "SentenceIterator and trainer_spec.input() must be exclusive. "
            "Give either input or sentence_iterator."
        )
    # Reading may stop before it comes to a later file.
    stops_early = spec.input_sentence_size > 0 and not spec.shuffle_input_sentence
    for path in spec.input[:1] if stops_early else spec.input:
        if not (release.folder_is_empty_file and os.path.isdir(path)):
            _check_readable(path, "input")
    _check_readable(spec.seed_sentencepieces_file, "seed_sentencepieces_file")


def _check_readable(path: str, option: str) -> None:
    """Raise if a file cannot be read. It is not opened: a pipe can be opened only once."""
    # As an input, the empty name is standard input.
    if not path:
        return
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "No such file or directory"
        raise MissingFileError(f'"{path}": {reason}. Check {option}.') from error
    if stat.S_ISDIR(mode):
        raise MissingFileError(f'"{path}": Is a directory. Give a file as {option}.')
    if not os.access(path, os.R_OK):
        raise MissingFileError(f'"{path}": Permission denied. Make the file readable.')


def _check_output(spec: TrainerSpec, *, has_writer: bool) -> None:
    """Raise unless there is exactly one place for the model, and it can be written."""
    if has_writer == bool(spec.model_prefix):
        raise TrainingError(
            "ModelProto and trainer_spec.model_prefix() must be exclusive. "
            "Give either model_prefix or model_writer."
        )
    if has_writer:
        return
    if "\0" in spec.model_prefix:
        raise BadValueError("model_prefix holds a NUL character. Remove it.")
    for path in (f"{spec.model_prefix}.model", f"{spec.model_prefix}.vocab"):
        _check_writable(path)


def _check_writable(path: str) -> None:
    """Raise if a file could not be written at the end."""
    target = os.path.realpath(path)
    folder = os.path.dirname(target)
    if os.path.isdir(target):
        raise MissingFileError(f'"{path}": Is a directory. Choose another model_prefix.')
    if not os.path.isdir(folder):
        raise MissingFileError(
            f'"{path}": No such file or directory. Make the folder {folder} first.'
        )
    try:
        os.lstat(target)
    except FileNotFoundError:
        pass
    except OSError as error:  # such as a name that is too long
        raise MissingFileError(
            f'"{path}": {error.strerror}. Choose another model_prefix.'
        ) from error
    place = folder if is_replaceable(target) else target
    if not os.access(place, os.W_OK):
        raise MissingFileError(
            f'"{path}": Permission denied. Choose a model_prefix in a folder that can be written.'
        )
