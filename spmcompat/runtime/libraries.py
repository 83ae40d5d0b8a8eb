"""Libraries that only some options and commands need."""

from spmcompat.errors import TrainingError


class MissingLibraryError(TrainingError):
    """A library that an option or a command needs is not installed."""


def is_installed(module: str) -> bool:
    """Tell whether a module can be imported, without importing it."""
    # A small training takes no longer than the imports.
    from importlib.util import find_spec  # noqa: PLC0415

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # of the package that holds the module
        return False


def require(module: str, doing: str, extra: str, *, package: str = "", otherwise: str = "") -> None:
    """Raise if a library is not installed.

    Parameters
    ----------
    module : str
        The name to import.
    doing : str
        What needs it; the message begins with it.
    extra : str
        The extra of spmcompat that installs it; empty if there is none.
    package : str
        The name of the library for pip, if it is not that of the module.
    otherwise : str
        A sentence with another remedy.

    Raises
    ------
    MissingLibraryError
        It says what to install.
    """
    if is_installed(module):
        return
    package = package or module
    wanted = f"'spmcompat[{extra}]'" if extra else package
    message = f"{doing} needs {package}, which is not installed: pip install {wanted}. {otherwise}"
    raise MissingLibraryError(message.strip())
