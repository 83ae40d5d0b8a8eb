"""The flags that describe a network whose training cost is estimated."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING

from spmcompat.cli.flags import Flag
from spmcompat.engine import FLOAT, UINT64
from spmcompat.errors import UsageError

if TYPE_CHECKING:
    from spmcompat.tools.evaluate.network_costs import Network

NETWORK_FLAGS = (
    Flag(
        "embedding_width",
        "Width of the embeddings of a network that uses the model: report the number of parameters "
        "of its embedding table.",
        UINT64,
        least=1,
        most=1 << 20,
    ),
    Flag(
        "parameters",
        "With --embedding_width and --training_bytes: number of parameters of the network without "
        "embeddings, for example 7e9. Report how many operations its training takes.",
        FLOAT,
        least=1,
        most=1e15,
    ),
    Flag(
        "training_bytes",
        "With --parameters: size of the text that the network is trained on, in bytes without line "
        "ends, for example 1e12; a text that is read twice counts twice.",
        FLOAT,
        least=1,
        most=1e18,
    ),
)


def read_network(given: SimpleNamespace) -> Network | None:
    """Return the network that the flags describe; None without ``--embedding_width``.

    Raises
    ------
    UsageError
        If a flag is given without another flag that it needs.
    """
    needed = {
        "parameters": ("embedding_width", "training_bytes"),
        "training_bytes": ("embedding_width", "parameters"),
    }
    for name, others in needed.items():
        for other in others:
            if getattr(given, name) is not None and getattr(given, other) is None:
                raise UsageError(f"--{name} needs --{other}=N.")
    if given.embedding_width is None:
        return None
    from spmcompat.tools.evaluate.network_costs import Network

    return Network(given.embedding_width, given.parameters, given.training_bytes)
