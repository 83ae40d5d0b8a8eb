"""The flags of ``spm_train``: their names, groups and help, and how a command line is read."""

from collections.abc import Collection, Mapping, Sequence

GROUPS: Mapping[str, Mapping[str, str]] = {
    "Input and output": {
        "input": "Text files, comma-separated, one sentence a line.",
        "input_format": "'text', or 'tsv': a word, a tab and its count.",
        "model_prefix": "Writes <model_prefix>.model and <model_prefix>.vocab.",
        "vocabulary_output_piece_score": "Write the scores into the .vocab file.",
    },
    "Which sentences and characters": {
        "input_sentence_size": "Train on this many sentences only; 0 takes all.",
        "shuffle_input_sentence": "Draw those at random instead of taking the first ones.",
        "max_sentence_length": "Skip sentences of more bytes than this.",
        "character_coverage": "Share of the text that the characters of the model must cover.",
        "required_chars": "Characters to keep however rare they are.",
        "required_chars_file": "A file that holds the required characters.",
        "auto_character_coverage": "Let characters compete with pieces (with byte_fallback; bpe, "
        "or unigram with use_sparse_pruning).",
    },
    "Model": {
        "model_type": "unigram, bpe, word or char.",
        "vocab_size": "Number of pieces, meta pieces included.",
        "hard_vocab_limit": "Fail if the text does not give so many pieces.",
        "use_all_vocab": "Take all words or characters; only for word and char models.",
        "byte_fallback": "Spell unknown characters in 256 byte pieces.",
    },
    "What a piece may look like": {
        "max_sentencepiece_length": "Longest piece, in characters.",
        "split_by_unicode_script": "No piece mixes scripts.",
        "split_by_number": "No piece mixes digits with other characters.",
        "split_by_whitespace": "No piece holds white space inside.",
        "split_digits": "Every digit is a piece of its own.",
        "treat_whitespace_as_suffix": "White space ends a piece instead of beginning it.",
        "allow_whitespace_only_pieces": "Pieces may be runs of white space.",
        "pretokenization_delimiter": "No piece crosses this text (unigram, bpe); it is left out.",
    },
    "Normalization": {
        "normalization_rule_name": "nmt_nfkc, nfkc, nmt_nfkc_cf, nfkc_cf or identity.",
        "normalization_rule_tsv": "A file of rules to use instead.",
        "denormalization_rule_tsv": "A file of rules to apply to decoded text.",
        "add_dummy_prefix": "Put white space before the text.",
        "remove_extra_whitespaces": "Strip white space and join runs of it.",
    },
    "Symbols": {
        "control_symbols": "Pieces that no text gives, comma-separated.",
        "control_symbols_file": "A file with one control symbol a line.",
        "user_defined_symbols": "Pieces that are always kept whole, comma-separated.",
        "user_defined_symbols_file": "A file with one user-defined symbol a line.",
        "unk_id": "Id of the unknown piece; -1 leaves it out (with byte_fallback).",
        "bos_id": "Id of the piece that begins a sentence; -1 leaves it out.",
        "eos_id": "Id of the piece that ends a sentence; -1 leaves it out.",
        "pad_id": "Id of the padding piece; -1 leaves it out.",
        "unk_piece": "Text of the unknown piece.",
        "bos_piece": "Text of the piece that begins a sentence.",
        "eos_piece": "Text of the piece that ends a sentence.",
        "pad_piece": "Text of the padding piece.",
        "unk_surface": "What the unknown piece is decoded to.",
    },
    "Unigram training": {
        "num_threads": "Lanes: parts that are summed apart. They define the result; see --workers.",
        "num_sub_iterations": "Rounds of EM between two prunings.",
        "shrinking_factor": "Share of the pieces that a pruning keeps.",
        "seed_sentencepiece_size": "Pieces to begin with; 0 chooses by the vocabulary size.",
        "seed_sentencepieces_file": "A file of pieces to begin with: piece, tab, count.",
        "use_sparse_pruning": "Prune by an L1 penalty on the counts, in fewer passes.",
        "post_l1_debias": "Estimate once more without the penalty, after sparse pruning.",
        "seed_piece_length_power": "A seed scores its count times this power of its length.",
        "min_freq_alpha": "Leave out seeds that occur less than this times N / (K ln K): text of "
        "N bytes, K pieces.",
    },
    "Messages": {
        "minloglevel": "0 tells everything, 1 warnings and errors, 2 errors only.",
        "quiet": "Tell nothing but the error that ends the run.",
        "random_seed": "Draws the lines of --self_test_sample_size in 0.2.0 and 0.2.1.",
        "help": "Show this text.",
        "version": "Show the version.",
    },
    "Extensions (not in the reference spm_train; the model does not store them)": {
        "workers": "Real threads; by default all cores. They never change the result.",
        "sampling_seed": "Seed of the sample that --input_sentence_size draws, and of what "
        "--self_test_sample_size draws without --random_seed.",
        "pretokenizer": "No piece crosses runs of one script and kind of character ('script'), or "
        "the ends of what a pattern matches ('regex:PATTERN'); unigram and bpe.",
        "recipe": "Options that belong together; each can be set too. paper: seeds as in Land and "
        "Pinter; fsp: flat score pruning too; mingram: the fewest tokens.",
        "seed_mode": "Where seeds are looked for: full_text, or pretokens; or bpe: its merges.",
        "prefix_recovery": "A seed that is no valid piece leaves its longest valid prefix.",
        "seed_factor": "Number of seeds, as a multiple of vocab_size; 0 leaves it to "
        "seed_sentencepiece_size.",
        "objective": "likelihood, or fewest_tokens: hard EM of the segmentations of fewest pieces, "
        "the most probable first, and one pruning, by use.",
        "m_step": "digamma, or ml: maximum likelihood.",
        "early_prune_threshold": "Pieces expected less often leave in the M-step.",
        "prune": "What a pruning keeps: likelihood, flat (the highest scores), or exact (by what "
        "the best segmentation loses without each piece).",
        "prune_overshoot": "Pruning ends at so many times the vocabulary; from 1 on.",
        "final_estimate": "Of the final scores: none, renormalize, or em:N.",
        "space_pieces": "prefix, or separate: spaces are pieces of their own (unigram, bpe).",
        "compat": "Release of sentencepiece to train as: 0.2.0, 0.2.1, 0.2.2 or 0.2.3.",
    },
}

# Defaults that no spec holds.
_OWN_DEFAULTS = {
    "model_type": "unigram",
    "normalization_rule_name": "nmt_nfkc",
    "minloglevel": "0",
    "sampling_seed": "12345678",
    "compat": "0.2.3",
    "seed_mode": "full_text",
    "seed_factor": "0",
    "objective": "likelihood",
    "m_step": "digamma",
    "early_prune_threshold": "0.5",
    "prune": "likelihood",
    "prune_overshoot": "1.1",
    "final_estimate": "none",
    "space_pieces": "prefix",
    "seed_piece_length_power": "1",
    "min_freq_alpha": "0",
}
_OWN_BOOLS = {"quiet": "false", "help": "", "version": "", "use_sparse_pruning": "false"}
_OWN_BOOLS |= {"post_l1_debias": "true", "prefix_recovery": "false"}


class UsageError(Exception):
    """The command line cannot be understood; the message is one line."""


def read_flags(
    arguments: Sequence[str], own: Collection[str] = (), *, training: bool = True
) -> tuple[dict[str, str], list[str]]:
    """Read a command line the way Abseil does.

    ``--flag=value``, ``--flag value``, one dash or two, ``--flag`` and ``--noflag`` for truth
    values; of two values for one flag the last counts; ``--`` ends the flags.

    Parameters
    ----------
    arguments : sequence of str
        What follows the name of the program.
    own : collection of str
        Flags of the command itself; none of them needs a value.
    training : bool
        Whether the flags of ``spm_train`` are known too.

    Returns
    -------
    flags : dict of str to str
        Names and values.
    rest : list of str
        What is no flag.

    Raises
    ------
    UsageError
        If a flag is unknown or its value is missing.
    """
    bools = {*own, *_bools()} if training else {*own}
    known = {*own, *training_flags()} if training else bools
    flags: dict[str, str] = {}
    rest: list[str] = []
    waiting = iter(arguments)
    for argument in waiting:
        if argument == "--":
            rest.extend(waiting)
        elif len(argument) < 2 or not argument.startswith("-"):
            rest.append(argument)
        else:
            name, value = _read_flag(argument, known, bools)
            if value is None:
                value = next(waiting, None)
            if value is None:
                raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=VALUE.")
            flags.pop(name, None)
            flags[name] = value
    return flags, rest


def _read_flag(argument: str, known: set[str], bools: set[str]) -> tuple[str, str | None]:
    """Return the name and value of one argument; the value is None if it stands in the next."""
    name, has_value, value = argument.removeprefix("-").removeprefix("-").partition("=")
    negated = name.removeprefix("no")
    if name not in known and negated in bools and name != negated:
        if has_value:
            raise UsageError(f"--{name} takes no value. Write --{negated}=false.")
        return negated, "false"
    if name not in known:
        raise UsageError(f"Unknown command line flag '{name}'.{_suggestion(name, known)}")
    if has_value:
        if name in bools and not value:
            raise UsageError(f"Missing the value for the flag '{name}'. Write --{name}=true.")
        return name, value
    return name, "true" if name in bools else None


def _suggestion(name: str, known: set[str]) -> str:
    """Return a sentence with the closest names."""
    from difflib import get_close_matches  # noqa: PLC0415

    close = get_close_matches(name, sorted(known), n=3, cutoff=0.5)
    return f" Did you mean --{' or --'.join(close)}?" if close else " See --help."


def help_text() -> str:
    """Return the text of ``--help``."""
    import textwrap  # noqa: PLC0415

    defaults = _defaults()
    lines = [
        "Trains a SentencePiece model: the bytes of spm_train, with fewer of its costs.",
        "",
        "usage: spm_train --input=FILE[,FILE...] --model_prefix=NAME [flags]",
    ]
    for title, flags in GROUPS.items():
        lines += ["", f"{title}:"]
        for name, text in flags.items():
            default = defaults.get(name)
            shown = f" [{default}]" if default else ""
            lines += textwrap.wrap(
                f"{text}{shown}",
                width=98,
                initial_indent=f"  --{name}".ljust(36),
                subsequent_indent=" " * 36,
            )
    lines += ["", "Taken and ignored, as in the reference:"]
    lines += textwrap.wrap(
        ", ".join(f"--{name}" for name in sorted(_retired())),
        width=98,
        initial_indent="  ",
        subsequent_indent="  ",
        break_on_hyphens=False,
    )
    return "\n".join(lines) + "\n"


def training_flags() -> set[str]:
    """Return all flags of ``spm_train``."""
    return {name for group in GROUPS.values() for name in group} | _retired()


def _retired() -> set[str]:
    """Return the flags that have no effect."""
    from spmcompat.releases import DEFAULT  # noqa: PLC0415

    return set(DEFAULT.retired_options)


def _bools() -> set[str]:
    """Return the flags that need no value."""
    from spmcompat.model.sentencepiece_model_pb2 import (  # noqa: PLC0415
        NormalizerSpec,
        TrainerSpec,
    )

    found = set(_OWN_BOOLS)
    for message in (TrainerSpec(), NormalizerSpec()):
        for name in type(message).DESCRIPTOR.fields_by_name:
            if isinstance(getattr(message, name), bool):
                found.add(name)
    return found


def _defaults() -> dict[str, str]:
    """Return the defaults to show, as text."""
    from spmcompat.model.sentencepiece_model_pb2 import (  # noqa: PLC0415
        NormalizerSpec,
        TrainerSpec,
    )

    found = {}
    for message in (TrainerSpec(), NormalizerSpec()):
        for name in type(message).DESCRIPTOR.fields_by_name:
            value = getattr(message, name)
            if isinstance(value, bool):
                found[name] = str(value).lower()
            elif isinstance(value, float):
                found[name] = f"{value:g}"
            elif isinstance(value, str | int):
                found[name] = str(value)
    return found | {name: text for name, text in _OWN_BOOLS.items() if text} | _OWN_DEFAULTS
