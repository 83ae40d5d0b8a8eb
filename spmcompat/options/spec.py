"""Keywords, strings and flags become one `Settings`.

Python stores only the options that were given; the command line stores every field of both
specs. A model holds its specs, so the two forms give different bytes, and both are kept.

Source: ``sentencepiece_trainer.cc`` and ``spm_train_main.cc`` of ``sentencepiece`` 0.2.3.
"""

import os
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import TypeVar

from spmcompat import extensions
from spmcompat.errors import (
    BadValueError,
    MissingFileError,
    TrainingError,
    UnknownOptionError,
    refuse_impossible,
)
from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.options.values import (
    INT32,
    UINT32,
    UINT64,
    parse_bool,
    parse_float,
    parse_int,
    split_csv,
    stream_float,
    stream_int,
    to_text,
)
from spmcompat.releases import DEFAULT, Release, find_release
from spmcompat.unicode.marks import SPACE_MARK

Given = TypeVar("Given")
Read = TypeVar("Read")

SERIALIZED_NORMALIZER = "_serialized_normalizer_spec"
_OBJECTS = frozenset({"normalizer", "pretokenizer", "allow_inconsistent_pretokenization"})
DEFAULT_SAMPLING_SEED = 12345678
MOST_WORKERS = 1024
"""More are refused: every worker takes memory of its own."""

_TRAINER_FIELDS = frozenset(TrainerSpec.DESCRIPTOR.fields_by_name)
_NORMALIZER_FIELDS = frozenset(NormalizerSpec.DESCRIPTOR.fields_by_name)
_NORMALIZER_KEYWORDS = _NORMALIZER_FIELDS | {"normalization_rule_name"}

_UINT64_FIELDS = frozenset({"input_sentence_size", "differential_privacy_clipping_threshold"})

# Fields that the command line does not store, or not under the name of a flag.
_NOT_FLAGS = frozenset({"name", "precompiled_charsmap", "escape_whitespaces"})


def available_cores() -> int:
    """Return the number of cores that this process may use, at most `MOST_WORKERS`."""
    has_affinity = hasattr(os, "sched_getaffinity")
    cores = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    return min(cores, MOST_WORKERS)


class Settings:
    """All that one training run is told.

    Attributes
    ----------
    trainer, normalizer, denormalizer : message
        The specs; what is set in them is what the model will store.
    workers : int
        Real threads. They never change a byte of the result.
    sampling_seed : int
        Seed of the sample that ``input_sentence_size`` draws.
    random_seed : int, optional
        Seed of the reference's generator, as its command line takes it.
    use_sparse_pruning, post_l1_debias : bool
        Whether a Unigram model is pruned by an L1 penalty, and then estimated without it again.
    seed_piece_length_power, min_freq_alpha : float
        How seeds of a Unigram model are ranked, and which are too rare.
    pretokenizer : callable or str, optional
        From a normalized sentence (str) to its chunks, a sequence of str or bytes; or ``script``
        or ``regex:`` and a pattern.
    allow_inconsistent_pretokenization : bool
        Whether the chunks need not join to the sentence.
    extensions : Extensions
        What no release of the reference has.
    min_log_level : int
        0 tells everything, 1 warnings and errors, 2 errors only.
    recipe : str
        What a recipe set; empty without one.
    notes : list of str
        Warnings that are due before training.
    release : Release
        The release of the reference to train as; no model tells it.
    """

    def __init__(self, release: Release = DEFAULT) -> None:
        self.trainer = TrainerSpec()
        self.normalizer = NormalizerSpec()
        self.denormalizer = NormalizerSpec()
        self.workers = available_cores()
        self.sampling_seed = DEFAULT_SAMPLING_SEED
        self.random_seed: int | None = None
        self.use_sparse_pruning = False
        self.post_l1_debias = True
        self.seed_piece_length_power = 1.0
        self.min_freq_alpha = 0.0
        self.pretokenizer: Callable[[str], Sequence[str | bytes]] | str | None = None
        self.allow_inconsistent_pretokenization = False
        self.extensions = extensions.DEFAULT
        self.min_log_level = 0
        self.recipe = ""
        self.notes: list[str] = []
        self.release = release

    @property
    def trainer_options(self) -> frozenset[str]:
        """The fields of the trainer's spec that the release takes and stores."""
        return _TRAINER_FIELDS - self.release.retired_options - self.release.unknown_options


def release_of(options: Mapping[str, object]) -> Release:
    """Return the release that the options name.

    Raises
    ------
    BadValueError
        If there is none of that name.
    UnknownOptionError
        If it does not know one of the options.
    """
    release = find_release(str(options.get("compat", DEFAULT.version)))
    for name in sorted(release.unknown_options & options.keys()):
        raise UnknownOptionError(
            f'unknown field name "{name}" in TrainerSpec: sentencepiece {release.version} does '
            "not know it. Leave it out, or choose another release with compat."
        )
    return release


# ---------------------------------------------------------------- from Python


def from_kwargs(options: Mapping[str, object]) -> Settings:
    """Build the settings of the Python form: only what is given is stored.

    Parameters
    ----------
    options : mapping
        Option names to values: text, numbers, truth values, lists; and objects as ``normalizer``
        and ``pretokenizer``.

    Raises
    ------
    BadValueError
        If a value cannot be read.
    UnknownOptionError
        If there is no such option, or none in the release.
    """
    others = _OBJECTS | {SERIALIZED_NORMALIZER}
    options, recipe = extensions.with_recipe(options)
    texts = {
        name: _named(name, to_text, value) for name, value in options.items() if name not in others
    }
    settings = Settings(release_of(options))
    settings.recipe = recipe
    if options.get("normalizer"):
        _refuse_two_normalizers(texts)
        settings.normalizer = _parse_normalizer(_serialized(options["normalizer"]))
    elif SERIALIZED_NORMALIZER in options:
        _refuse_two_normalizers(texts)
        settings.normalizer = _parse_normalizer(options[SERIALIZED_NORMALIZER])
    settings.pretokenizer = options.get("pretokenizer")  # type: ignore[assignment]
    inconsistent = options.get("allow_inconsistent_pretokenization", False)
    settings.allow_inconsistent_pretokenization = bool(inconsistent)
    for name, text in texts.items():
        _apply(settings, name, text)
    _set_spaces_apart(settings)
    return settings


def from_string(arguments: str) -> Settings:
    """Build the settings of one string, ``--a=b --c=d``.

    The string is cut at every single space, so a value cannot hold one; of two values for one
    option the first counts.

    Raises
    ------
    BadValueError
        If a value cannot be read.
    UnknownOptionError
        If an option is unknown, which two spaces in a row are too.
    """
    options: dict[str, object] = {}
    for argument in arguments.split(" ") if arguments else ():
        name, _, value = argument.removeprefix("--").partition("=")
        if not name:
            raise UnknownOptionError(
                'unknown field name "" in TrainerSpec. '
                "Put exactly one space between two options and none at the ends."
            )
        if name == SERIALIZED_NORMALIZER:
            options.setdefault(name, value.encode())
        else:
            options.setdefault(name, value)
    return from_kwargs(options)


def _apply(settings: Settings, name: str, text: str) -> None:
    """Store one option that was given as text."""
    _check_unicode(name, text)
    special = _SPECIAL.get(name)
    if special is not None:
        special(settings, text)
    elif name in extensions.Extensions._fields:
        value = _named(name, lambda t: extensions.parse(name, t), text)
        settings.extensions = settings.extensions._replace(**{name: value})  # type: ignore[arg-type]
    elif name in settings.trainer_options:
        _set_field(settings.trainer, name, text, settings.release)
    elif name in _NORMALIZER_FIELDS:
        _set_field(settings.normalizer, name, text, settings.release)
    elif name in settings.release.experimental_flags:
        _set_experimental(settings, name, text)
    elif name in settings.release.retired_options:
        settings.notes.append(f"--{name} is deprecated and ignored.")
    else:
        known = [*_SPECIAL, *extensions.NAMES, *settings.trainer_options, *_NORMALIZER_FIELDS]
        known += settings.release.experimental_flags
        raise UnknownOptionError(
            f'unknown field name "{name}" in TrainerSpec.{did_you_mean(name, known)}'
        )


def _set_field(
    message: TrainerSpec | NormalizerSpec,
    name: str,
    text: str,
    release: Release,
    *,
    hexadecimal: bool = False,
) -> None:
    """Read the text as the type of the field and store it."""
    default = getattr(message, name)
    value: object = text
    if name == "model_type":
        value = _model_type(text)
    elif isinstance(default, bool):
        value = _named(name, parse_bool, text)
    elif isinstance(default, int):
        allowed = UINT64 if name in _UINT64_FIELDS else INT32
        value = _named(name, lambda t: _read_int(t, allowed, release, hexadecimal), text)
    elif isinstance(default, float):
        value = _named(name, stream_float if release.streams_numbers else parse_float, text)
    elif isinstance(default, bytes):
        value = text.encode()
    elif not isinstance(default, str):
        default.extend(split_csv(text))
        return
    setattr(message, name, value)


def _read_int(text: str, allowed: range, release: Release, hexadecimal: bool = False) -> int:
    """Read a whole number as the release does."""
    if release.streams_numbers:
        return stream_int(text, allowed)
    return parse_int(text, allowed, hexadecimal=hexadecimal)


def _named(name: str, parse: Callable[[Given], Read], given: Given) -> Read:
    """Parse a value and say in the error which option it was meant for."""
    try:
        return parse(given)
    except BadValueError as error:
        raise BadValueError(f"{error} It was given for {name}.") from None


def _model_type(text: str) -> int:
    """Return the number of a model type; case does not matter."""
    names = {name.lower(): number for name, number in TrainerSpec.ModelType.items()}
    word = text.lower() if text.isascii() else ""
    if word not in names:
        raise BadValueError(
            f'unknown enumeration value of "{text}" as model_type. Choose from {", ".join(names)}.'
        )
    return names[word]


def _set_denormalization_rules(settings: Settings, path: str) -> None:
    """Name the rules of decoding; nothing else of a normalizer is wanted there."""
    settings.denormalizer.normalization_rule_tsv = path
    settings.denormalizer.add_dummy_prefix = False
    settings.denormalizer.remove_extra_whitespaces = False
    settings.denormalizer.escape_whitespaces = False


def _set_rule_name(settings: Settings, name: str) -> None:
    settings.normalizer.name = name


def _set_pretokenizer(settings: Settings, text: str) -> None:
    settings.pretokenizer = text or None


def _set_workers(settings: Settings, text: str) -> None:
    settings.workers = _named("workers", lambda t: parse_int(t, INT32), text)


def _set_sampling_seed(settings: Settings, text: str) -> None:
    settings.sampling_seed = _named("sampling_seed", lambda t: parse_int(t, UINT64), text)


def _release_is_chosen(settings: Settings, text: str) -> None:
    """Do nothing: the release decides what the other options are, and was looked up first."""


def _set_min_log_level(settings: Settings, text: str) -> None:
    try:
        settings.min_log_level = _read_int(text, INT32, settings.release)
    except BadValueError as error:
        # The reference takes this for an internal error, not for a bad value.
        raise TrainingError(f"{error} It was given for minloglevel.") from None


def _set_experimental(settings: Settings, name: str, text: str) -> None:
    """Store an option that no model holds."""
    parse = parse_bool if isinstance(getattr(settings, name), bool) else parse_float
    setattr(settings, name, _named(name, parse, text))


_SPECIAL: dict[str, Callable[[Settings, str], None]] = {
    "normalization_rule_name": _set_rule_name,
    "denormalization_rule_tsv": _set_denormalization_rules,
    "minloglevel": _set_min_log_level,
    "workers": _set_workers,
    "sampling_seed": _set_sampling_seed,
    "pretokenizer": _set_pretokenizer,
    "compat": _release_is_chosen,
}


def _set_spaces_apart(settings: Settings) -> None:
    """Make the space mark a piece of its own, which no other piece crosses, if that is asked."""
    if settings.extensions.space_pieces == "separate":
        settings.normalizer.add_dummy_prefix = False
        if SPACE_MARK not in settings.trainer.user_defined_symbols:
            settings.trainer.user_defined_symbols.append(SPACE_MARK)


def _refuse_two_normalizers(texts: Mapping[str, str]) -> None:
    """Raise if a whole normalizer is given and a part of one beside it."""
    for name in sorted(_NORMALIZER_KEYWORDS & texts.keys()):
        raise BadValueError(
            f"Cannot specify both {SERIALIZED_NORMALIZER} and normalizer-specific argument: "
            f"{name}. Set it in the normalizer instead."
        )


def _serialized(normalizer: object) -> object:
    """Return the serialized form of a normalizer such as ``sentencepiece`` makes."""
    serialize = getattr(normalizer, "serialized_normalizer_spec", None)
    if serialize is None:
        raise BadValueError(
            "normalizer must be a SentencePieceNormalizer, or another object with "
            f"serialized_normalizer_spec(), not {type(normalizer).__name__}. A rule is named with "
            "normalization_rule_name."
        )
    return serialize()


def _parse_normalizer(serialized: object) -> NormalizerSpec:
    """Read a serialized normalizer."""
    from google.protobuf.message import DecodeError  # noqa: PLC0415

    data = serialized.encode() if isinstance(serialized, str) else serialized
    try:
        if isinstance(data, bytes):
            return NormalizerSpec.FromString(data)
    except DecodeError:
        pass
    raise TrainingError(
        f"Failed to parse {SERIALIZED_NORMALIZER}. "
        "Give the bytes of a normalizer's serialized_normalizer_spec()."
    )


def _check_unicode(name: str, text: str) -> None:
    """Raise if the text has no UTF-8 form."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise BadValueError(
            f"the value of {name} is not valid UTF-8: {text!r}. Write it in UTF-8."
        ) from None


# ---------------------------------------------------------------- from the command line


def from_flags(flags: Mapping[str, str]) -> Settings:
    """Build the settings of the command line: every field of both specs is stored.

    Parameters
    ----------
    flags : mapping
        Flag names to values, each as text.

    Raises
    ------
    BadValueError
        If a value cannot be read.
    MissingFileError
        If a file that holds symbols cannot be read.
    UnknownOptionError
        If the release does not know a flag.
    """
    settings = Settings(release_of(flags))
    options, settings.recipe = extensions.with_recipe(flags)
    flags = {name: str(text) for name, text in options.items()}
    for name, text in flags.items():
        _check_unicode(name, text)
    _store_defaults(settings)
    for name, text in flags.items():
        _apply_flag(settings, name, text)
    # The files come after the flags: one replaces the characters, the others add to the symbols.
    if flags.get("required_chars_file"):
        settings.trainer.required_chars = "".join(_lines(flags["required_chars_file"]))
    if flags.get("control_symbols_file"):
        settings.trainer.control_symbols.extend(_lines(flags["control_symbols_file"]))
    if flags.get("user_defined_symbols_file"):
        settings.trainer.user_defined_symbols.extend(_lines(flags["user_defined_symbols_file"]))
    _set_spaces_apart(settings)
    return settings


def _store_defaults(settings: Settings) -> None:
    """Give every single field of both specs its default, so that it is stored."""
    settings.normalizer.name = "nmt_nfkc"
    for message, names in (
        (settings.trainer, settings.trainer_options),
        (settings.normalizer, _NORMALIZER_FIELDS - _NOT_FLAGS),
    ):
        for name in names:
            default = getattr(message, name)
            if isinstance(default, str | bool | int | float):
                setattr(message, name, default)


def _apply_flag(settings: Settings, name: str, text: str) -> None:
    """Store one flag."""
    if name in settings.trainer_options:
        bare = _bare_bool(text) if isinstance(getattr(settings.trainer, name), bool) else text
        _set_field(settings.trainer, name, bare, settings.release, hexadecimal=True)
    elif name in settings.release.experimental_flags:
        bare = _bare_bool(text) if isinstance(getattr(settings, name), bool) else text
        _set_experimental(settings, name, bare)
    elif name == "random_seed":
        seed = parse_int(text, UINT32, hexadecimal=True)
        # The largest number stands for none.
        settings.random_seed = seed if seed != UINT32[-1] else None
    elif name == "denormalization_rule_tsv" and not text:
        pass
    elif name == "quiet":
        settings.min_log_level = 3 if parse_bool(text) else settings.min_log_level
    elif not name.endswith("_file"):
        _apply(settings, name, text)


def _bare_bool(text: str) -> str:
    """Remove the white space that may stand around the value of a bool flag."""
    return text.strip(" \t\n\v\f\r")


def _lines(path: str) -> list[str]:
    """Read the lines of a file of symbols; only the line feed ends one."""
    refuse_impossible(path, "check the path")
    try:
        with open(path, encoding="utf-8", newline="\n") as file:
            text = file.read()
    except OSError as error:
        raise MissingFileError(f'"{path}": {error.strerror}. Check the path.') from error
    except UnicodeDecodeError as error:
        raise BadValueError(f'"{path}" is not valid UTF-8. Write it in UTF-8.') from error
    return text.removesuffix("\n").split("\n") if text else []


# ---------------------------------------------------------------- charsmaps


def with_charsmaps(settings: Settings) -> Settings:
    """Return the settings with the normalization rules compiled into both normalizers.

    Raises
    ------
    TrainingError
        If the name is unknown or the rules cannot be read.
    """
    normalizer = NormalizerSpec.FromString(settings.normalizer.SerializeToString())
    denormalizer = NormalizerSpec.FromString(settings.denormalizer.SerializeToString())
    if normalizer.normalization_rule_tsv:
        _compile_rules(normalizer, settings.release)
    else:
        normalizer.name = normalizer.name or "nmt_nfkc"
        if not normalizer.precompiled_charsmap:
            from spmcompat.normalization.charsmap import precompiled  # noqa: PLC0415

            # The identity is stored too, as an empty charsmap.
            normalizer.precompiled_charsmap = precompiled(
                normalizer.name, settings.release.characters_without_rules
            )
    if denormalizer.normalization_rule_tsv:
        _compile_rules(denormalizer, settings.release)
    complete = copy(settings)
    complete.normalizer, complete.denormalizer = normalizer, denormalizer
    return complete


def _compile_rules(normalizer: NormalizerSpec, release: Release) -> None:
    """Compile the rules of a TSV file into the normalizer."""
    from spmcompat.normalization.charsmap import compile_charsmap, load_rules  # noqa: PLC0415

    if normalizer.precompiled_charsmap:
        raise TrainingError(
            "precompiled_charsmap is already defined. Give either it or normalization_rule_tsv; "
            "instead of a normalizer that was made of such a file, give the file."
        )
    rules = load_rules(normalizer.normalization_rule_tsv, release.code_points)
    normalizer.precompiled_charsmap = compile_charsmap(
        rules, change_something=release.rules_change_something
    )
    normalizer.name = "user_defined"


def did_you_mean(name: str, known: list[str]) -> str:
    """Return a sentence that suggests the closest known names, or nothing."""
    from difflib import get_close_matches  # noqa: PLC0415

    close = get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f" Did you mean {' or '.join(close)}?" if close else ""
