"""The description of one option: the columns of the table of options."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from spmcompat.releases import RELEASES

# Kinds of values.
BOOL, INT32, UINT32, UINT64 = "bool", "int32", "uint32", "uint64"
FLOAT, TEXT, LIST, CHOICE, BYTES = "float", "text", "list", "choice", "bytes"
MODEL_TYPE = "model type"  # a choice that a model stores as a number; case does not matter
FILE, PATH = "file", "path"  # the path of a file to read; the path of an output
OBJECT = "object"  # a Python object

# Where the value of an option is stored: in one of three specs of the model, or elsewhere.
TRAINER, NORMALIZER, DENORMALIZER = "trainer_spec", "normalizer_spec", "denormalizer_spec"
SETTINGS = "settings"  # in `Settings.own`: no spec of a model has the option
ELSEWHERE = "elsewhere"  # not stored; the code that reads flags or keywords handles the option

UNIGRAM, BPE, WORD, CHAR = "unigram", "bpe", "word", "char"


class Option(NamedTuple):
    """One option.

    Attributes
    ----------
    name : str
        The name of the flag and of the keyword.
    kind : str
        The type of the value: `BOOL`, `INT32` and so on.
    help : str
        What the option does, for ``--help``, the documentation and the docstring of ``train``.
    stored_in : str
        Where the value is stored: `TRAINER`, `NORMALIZER`, `DENORMALIZER`, `SETTINGS` or
        `ELSEWHERE`.
    field : str
        The name under which the value is stored, if it differs from the name of the option.
    default : object
        The default. For an option that is stored in a spec, the table takes it from the schema of
        the model, unless the row has one.
    least, most : float, optional
        The smallest and the largest allowed value.
    choices : tuple of str
        The allowed values of a `CHOICE`, or of a `TEXT` that is checked elsewhere. ``name:N`` means
        ``name:`` and a whole number from `least` to `most`.
    python_type : str
        The type of the keyword, in the terms of ``keywords.py``, if `kind` does not determine it.
    python_help : str
        What the docstring of ``train`` says instead of `help`.
    models : tuple of str
        The model types that use the option; empty if all do. For other model types, the option is
        refused if ``sentencepiece`` lacks it or refuses it, too; see `refusals`.
    needs, excludes : tuple of str
        The options that must be set together with this one, and those that cannot. ``name`` means
        a value other than the default, and ``name=value`` a certain value. An option is needed only
        by the model types that use it.
    refusals : mapping of str to str
        The sentences with which errors begin, where they are not made from the names. The keys are
        items of `needs` and `excludes`, or ``models`` for another model type. Sentences about two
        options of ``sentencepiece`` keep its wording.
    flag, keyword : bool
        Whether the command line accepts the option, and whether Python accepts it.
    in_reference : bool
        Whether some release of ``sentencepiece`` has the option.
    selects_text : bool
        Whether the option determines which text is read or how the text is divided into sentences.
    """

    name: str
    kind: str
    help: str
    stored_in: str = TRAINER
    field: str = ""
    default: object = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    python_type: str = ""
    python_help: str = ""
    models: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    refusals: Mapping[str, str] = MappingProxyType({})
    flag: bool = True
    keyword: bool = True
    in_reference: bool = True
    selects_text: bool = False

    @property
    def stored_as(self) -> str:
        """The name under which the value is stored."""
        return self.field or self.name

    @property
    def releases(self) -> list[str]:
        """The releases of ``sentencepiece`` in which the option has an effect."""
        return [
            version
            for version, release in RELEASES.items()
            if self.in_reference
            and self.name not in release.unknown_options | release.retired_options
        ]
