"""Checks for libraries that only some options and commands need."""

import sys
from mmap import mmap

from spmcompat.errors import TrainingError, out_of_memory
from spmcompat.runtime.cores import cores

# The address space in MiB that importing a library takes, with the libraries that it imports. Each
# core takes more, for a thread of the library or of NumPy. pyarrow also imports pandas if it is
# installed.
_MIB_OF_IMPORT = {
    "sentencepiece": 16,
    "tokenizers": 16,
    "numpy": 96,
    "llama_cpp": 96,
    "matplotlib": 160,
    "transformers": 192,
    "pyarrow": 384,
}
_MIB_OF_CORE = 42


class MissingLibraryError(TrainingError):
    """A library that an option or a command needs is not installed."""

    kind = "missing-library"


def is_installed(module: str) -> bool:
    """Return whether a module can be imported, without importing it."""
    # Imported here, because imports can take longer than a small training run.
    from importlib.util import find_spec

    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that contains the module is missing
        return False


def require(module: str, doing: str, extra: str, *, package: str = "", otherwise: str = "") -> None:
    """Raise an error if a library is not installed, or if there is not enough memory to import it.

    Without enough memory, NumPy would end the process or send it the signal of Ctrl-C, and a thread
    of another library would end it.

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
    OutOfMemoryError
        If the address space is too small for the import.
    """
    if is_installed(module):
        _check_memory(module)
        return
    package = package or module
    target = f"'spmcompat[{extra}]'" if extra else package
    message = f"{doing} needs {package}, which is not installed: pip install {target}. {otherwise}"
    raise MissingLibraryError(message.strip())


def _check_memory(module: str) -> None:
    """Raise if the address space is too small to import a library."""
    if module in sys.modules or module not in _MIB_OF_IMPORT:
        return
    needed = _MIB_OF_IMPORT[module] + cores() * _MIB_OF_CORE
    try:
        mmap(-1, needed << 20).close()
    except OSError:
        raise out_of_memory(
            f"Loading {module}",
            f"it needs {needed} MiB of address space",
            "Raise the limit of the process, such as that of ulimit -v.",
        ) from None
