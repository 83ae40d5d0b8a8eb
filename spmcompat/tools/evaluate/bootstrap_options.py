"""The flags of a bootstrap."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from spmcompat.cli.flags import Flag
from spmcompat.engine import CHOICE, FLOAT, UINT64
from spmcompat.errors import UsageError

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.bootstrap import Bootstrap

BOOTSTRAP_FLAGS = (
    Flag(
        "bootstrap",
        "Compute confidence intervals from N resamples of the text, for example 1000. Every model "
        "gets the same resamples.",
        UINT64,
        least=100,
        most=100_000,
    ),
    Flag(
        "confidence",
        "With --bootstrap: confidence level, 95 by default.",
        FLOAT,
        metavar="PERCENT",
        least=1,
        most=99.99,
    ),
    Flag("seed", "With --bootstrap: seed of the resamples, 0 by default.", UINT64, least=0),
)

UNITS = Flag(
    "units",
    "With --bootstrap: resample lines that are not blank (the default), or documents. A document "
    "ends at a blank line or at the end of a file.",
    CHOICE,
    choices=("lines", "documents"),
)


def read_bootstrap(given: SimpleNamespace) -> Bootstrap | None:
    """Return the bootstrap that the flags describe; None without ``--bootstrap``.

    Raises
    ------
    UsageError
        If a flag is given that needs ``--bootstrap``, but ``--bootstrap`` is not given.
    """
    from spmcompat.tools.evaluate.bootstrap import Bootstrap

    names = ("seed", "confidence", "units")
    values = {name: getattr(given, name, None) for name in names}
    chosen = {name: value for name, value in values.items() if value is not None}
    if given.bootstrap is not None:
        return Bootstrap(given.bootstrap, **chosen)
    for name in chosen:
        raise UsageError(f"--{name} needs --bootstrap=N.")
    return None
