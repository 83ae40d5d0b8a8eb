"""The options that ``spm_train`` stores, as keywords for the ``sentencepiece`` Python package.

The Python package does not include ``spm_train``, and stores only the options that it is given.
The table is independent of the options of spmcompat. This module does not import any dependency,
because it also runs in environments where only ``sentencepiece`` is installed.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from spmcompat.engine import Release, split_csv

OptionValue: TypeAlias = str | int | float | bool | list[str]

DEFAULTS: Mapping[str, OptionValue] = {
    "input_format": "",
    "model_type": "unigram",
    "vocab_size": 8000,
    "self_test_sample_size": 0,
    "character_coverage": 0.9995,
    "input_sentence_size": 0,
    "shuffle_input_sentence": True,
    "seed_sentencepiece_size": 1000000,
    "seed_sentencepieces_file": "",
    "shrinking_factor": 0.75,
    "num_threads": 16,
    "num_sub_iterations": 2,
    "max_sentencepiece_length": 16,
    "max_sentence_length": 4192,
    "split_by_unicode_script": True,
    "split_by_number": True,
    "split_by_whitespace": True,
    "split_digits": False,
    "pretokenization_delimiter": "",
    "treat_whitespace_as_suffix": False,
    "allow_whitespace_only_pieces": False,
    "required_chars": "",
    "byte_fallback": False,
    "auto_character_coverage": False,
    "vocabulary_output_piece_score": True,
    "train_extremely_large_corpus": False,
    "enable_differential_privacy": False,
    "differential_privacy_noise_level": 0.0,
    "differential_privacy_clipping_threshold": 0,
    "normalization_rule_name": "nmt_nfkc",
    "normalization_rule_tsv": "",
    "add_dummy_prefix": True,
    "remove_extra_whitespaces": True,
    "hard_vocab_limit": True,
    "use_all_vocab": False,
    "unk_id": 0,
    "bos_id": 1,
    "eos_id": 2,
    "pad_id": -1,
    "unk_piece": "<unk>",
    "bos_piece": "<s>",
    "eos_piece": "</s>",
    "pad_piece": "<pad>",
    "unk_surface": " \u2047 ",
}
"""Options that ``spm_train`` always stores, if the release has them, and their defaults."""

_LINES_FLAGS = ("control_symbols", "user_defined_symbols")
_NOT_STORED = ("random_seed",)


def every_field(flags: Mapping[str, OptionValue], release: Release) -> dict[str, OptionValue]:
    """Return the keywords that make the Python trainer store the same options as ``spm_train``.

    Parameters
    ----------
    flags : mapping
        The flags of the command line, as text or as Python values. Files of symbols or
        characters are read.
    release : Release
        The release of ``spm_train``.

    Raises
    ------
    OSError
        If a file of symbols or characters cannot be read.
    """
    absent = release.unknown_options | release.retired_options
    options = {name: value for name, value in DEFAULTS.items() if name not in absent}
    options.update(flags)
    for name in _NOT_STORED:
        options.pop(name, None)
    for name in _LINES_FLAGS:
        path = options.pop(f"{name}_file", "")
        if path:
            options[name] = _as_list(options.get(name, [])) + _lines(str(path))
    path = options.pop("required_chars_file", "")
    if path:
        options["required_chars"] = "".join(_lines(str(path)))
    return options


def _as_list(value: OptionValue) -> list[str]:
    return value if isinstance(value, list) else split_csv(str(value))


def _lines(path: str) -> list[str]:
    lines = Path(path).read_bytes().decode().split("\n")
    return lines[:-1] if lines[-1] == "" else lines
