"""The options of a bootstrap on the command line."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from spmcompat.errors import BadValueError
from spmcompat.options.values import to_int

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.bootstrap import Bootstrap

_FEWEST, _MOST = 100, 100_000


def add_bootstrap_options(parser: argparse.ArgumentParser) -> None:
    """Add the options; all values are text, which `read_bootstrap` checks."""
    parser.add_argument(
        "--bootstrap",
        metavar="N",
        help="compute confidence intervals from N resamples of the text, for example 1000; every "
        "model gets the same resamples",
    )
    parser.add_argument(
        "--confidence", metavar="PERCENT", help="with --bootstrap: confidence level [95]"
    )
    parser.add_argument("--seed", metavar="N", help="with --bootstrap: seed of the resamples [0]")


def add_units_option(parser: argparse.ArgumentParser) -> None:
    """Add the option that chooses what is resampled."""
    parser.add_argument(
        "--units",
        choices=("lines", "documents"),
        help="with --bootstrap: resample lines that are not blank, or documents, which blank lines "
        "and files separate [lines]",
    )


def read_bootstrap(arguments: argparse.Namespace) -> Bootstrap | None:
    """Return the bootstrap that the options ask for; None if they ask for none.

    Raises
    ------
    BadValueError
        If a value is not valid, or an option needs --bootstrap.
    """
    from spmcompat.tools.evaluate.bootstrap import Bootstrap  # noqa: PLC0415

    if arguments.bootstrap is None:
        for name in ("units", "confidence", "seed"):
            if getattr(arguments, name, None) is not None:
                raise BadValueError(f"--{name} needs --bootstrap N.")
        return None
    defaults = Bootstrap(_whole_number("bootstrap", arguments.bootstrap, _FEWEST, _MOST))
    seed, confidence = arguments.seed, arguments.confidence
    return Bootstrap(
        defaults.resamples,
        defaults.seed if seed is None else _whole_number("seed", seed, 0, 2**64 - 1),
        defaults.confidence if confidence is None else _percent(confidence),
        getattr(arguments, "units", None) or defaults.units,
    )


def _whole_number(name: str, text: str, least: int, most: int) -> int:
    if not (text.isascii() and text.isdecimal() and least <= to_int(text) <= most):
        raise BadValueError(f"--{name} takes a whole number from {least} to {most}, not {text!r}.")
    return to_int(text)


def _percent(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not (text.isascii() and 1 <= value <= 99.99):
        raise BadValueError(f"--confidence takes a percentage from 1 to 99.99, not {text!r}.")
    return value
