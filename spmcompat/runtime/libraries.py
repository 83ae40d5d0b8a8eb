"""Checks for libraries that only some options and commands need."""

from spmcompat.errors import TrainingError


class MissingLibraryError(TrainingError):
    """A library that an option or a command needs is not installed."""


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    # Imported here, because imports can take longer than a small training run.
    from importlib.util import find_spec  # noqa: PLC0415

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that contains the module is missing
        return False


def require(module: str, doing: str, extra: str, *, package: str = "", otherwise: str = "") -> None:
    """Raise an error if a library is not installed.

    Parameters
    ----------
    module : str
        The name to import.
    doing : str
        The option or command that needs the library. The message begins with it.
    extra : str
        The extra of spmcompat that installs the library; empty if there is none.
    package : str
        The name of the library for pip, if it differs from the name of the module.
    otherwise : str
        A sentence with another remedy.

    Raises
    ------
    MissingLibraryError
        If the library is not installed. The message says what to install.
    """
    if is_installed(module):
        return
    package = package or module
    target = f"'spmcompat[{extra}]'" if extra else package
    message = f"{doing} needs {package}, which is not installed: pip install {target}. {otherwise}"
    raise MissingLibraryError(message.strip())
