"""Recipes: options that belong together, under one name.

Sources: Land and Pinter, "Which Pieces Does Unigram Tokenization Really Need?", for ``paper`` and
``fsp`` (flat score pruning); "MinGram", arXiv 2606.27019, for ``mingram``.
"""

from collections.abc import Mapping

from spmcompat.errors import BadValueError

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


def with_recipe(options: Mapping[str, object]) -> tuple[dict[str, object], str]:
    """Replace the option ``recipe`` by the options that the recipe sets.

    An option that is given itself keeps its value.

    Parameters
    ----------
    options : mapping
        Options by name.

    Returns
    -------
    options : dict
        The options without ``recipe``, with what it sets.
    note : str
        A line that says what the recipe set; empty without a recipe.

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
    listed = " ".join(f"--{key}={value}" for key, value in added.items()) or "nothing"
    return {**added, **rest}, f"--recipe={name} sets {listed}"
