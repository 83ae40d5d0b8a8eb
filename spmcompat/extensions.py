"""Training options that no release of the reference has: off by default, and in no model.

Sources: Land and Pinter, "Which Pieces Does Unigram Tokenization Really Need?", for the seeds, the
loop and flat pruning; Gow-Smith et al. 2022, "Improving Tokenisation by Alternative Treatment of
Spaces", for spaces as pieces of their own; "MinGram", arXiv 2606.27019, for the fewest tokens.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from spmcompat.errors import BadValueError
from spmcompat.options.values import UINT32, parse_bool, parse_float, parse_int, to_int


class Extensions(NamedTuple):
    """What is set of them; the names are those of the flags.

    Attributes
    ----------
    seed_mode : str
        ``full_text``: substrings that branch in the text. ``pretokens``: those that branch in the
        distinct segments, and whole segments. ``bpe``: the merges of BPE.
    prefix_recovery : bool
        Whether a substring that is no valid piece leaves its longest valid prefix.
    seed_factor : float
        Seeds as a multiple of ``vocab_size``; 0 leaves ``seed_sentencepiece_size`` to decide.
    objective : str
        ``likelihood``, over all segmentations, or ``fewest_tokens``: of the best segmentations.
    m_step : str
        ``digamma``, or ``ml``: maximum likelihood.
    early_prune_threshold : float
        Pieces expected less often are dropped in the M-step.
    prune : str
        ``likelihood``: by the second-best segmentation of each piece. ``flat``: by score.
        ``exact``: by what the best segmentation of the corpus loses without each piece.
    prune_overshoot : float
        The loop ends at so many times the size of the vocabulary; at 1, with EM at the final size.
    final_estimate : str
        Of the final pieces: ``none``, ``renormalize``, or ``em:N``, N more steps of EM.
    space_pieces : str
        ``prefix``: white space begins pieces. ``separate``: it is a piece of its own.
    """

    seed_mode: str = "full_text"
    prefix_recovery: bool = False
    seed_factor: float = 0.0
    objective: str = "likelihood"
    m_step: str = "digamma"
    early_prune_threshold: float = 0.5
    prune: str = "likelihood"
    prune_overshoot: float = 1.1
    final_estimate: str = "none"
    space_pieces: str = "prefix"

    @property
    def final_steps(self) -> int:
        """Steps of EM over the final pieces."""
        name, _, steps = self.final_estimate.partition(":")
        return to_int(steps) if name == "em" else 0


DEFAULT = Extensions()
NAMES = (*Extensions._fields, "recipe")
BPE_TOO = frozenset({"space_pieces"})
"""All others are for Unigram models only."""

RECIPES: Mapping[str, Mapping[str, str]] = {
    "paper": {"seed_mode": "pretokens", "seed_factor": "10"},
    "fsp": {
        "seed_mode": "pretokens",
        "seed_factor": "10",
        "prune": "flat",
        "prune_overshoot": "1",
    },
    "mingram": {"seed_mode": "bpe", "seed_factor": "1.15", "objective": "fewest_tokens"},
}
"""Options that belong together; what is given beside them counts more."""


def parse(name: str, text: str) -> object:
    """Return the value of an extension.

    Raises
    ------
    BadValueError
        If the text is no value of it.
    """
    return _PARSERS[name](text)


def with_recipe(options: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """Put the options of the recipe in that the options name, and tell what it set.

    Raises
    ------
    BadValueError
        If there is no such recipe.
    """
    rest = dict(options)
    name = rest.pop("recipe", None)
    if not name:
        return rest, ""
    if name not in RECIPES:
        raise BadValueError(f'there is no recipe "{name}". Choose from {", ".join(RECIPES)}.')
    added = {key: value for key, value in RECIPES[str(name)].items() if key not in rest}
    told = " ".join(f"--{key}={value}" for key, value in added.items()) or "nothing"
    return {**added, **rest}, f"--recipe={name} sets {told}"


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse_choice(text: str) -> str:
        if text not in choices:
            raise BadValueError(f'"{text}" is none of {", ".join(choices)}.')
        return text

    return parse_choice


def _at_least(least: float) -> Callable[[str], float]:
    def parse_number(text: str) -> float:
        value = parse_float(text)
        if not least <= value < float("inf"):
            raise BadValueError(f"{text} is no number from {least:g} on.")
        return value

    return parse_number


def _final_estimate(text: str) -> str:
    name, colon, steps = text.partition(":")
    if name == "em" and colon and 1 <= parse_int(steps, UINT32) <= 1000:
        return f"em:{parse_int(steps, UINT32)}"
    if text not in ("none", "renormalize"):
        raise BadValueError(f'"{text}" is none of none, renormalize, em:1 to em:1000.')
    return text


_PARSERS: Mapping[str, Callable[[str], object]] = {
    "seed_mode": _one_of("full_text", "pretokens", "bpe"),
    "prefix_recovery": parse_bool,
    "seed_factor": _at_least(0),
    "objective": _one_of("likelihood", "fewest_tokens"),
    "m_step": _one_of("digamma", "ml"),
    "early_prune_threshold": _at_least(0),
    "prune": _one_of("likelihood", "flat", "exact"),
    "prune_overshoot": _at_least(1),
    "final_estimate": _final_estimate,
    "space_pieces": _one_of("prefix", "separate"),
}
