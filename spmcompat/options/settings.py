"""The settings of one training run: the values of the options, with their types."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy, deepcopy
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from spmcompat.model.sentencepiece_model_pb2 import NormalizerSpec, TrainerSpec
from spmcompat.options.named_rules import (
    case_restorer,
    marks_case,
    with_named_rules,
    with_rules_of_file,
)
from spmcompat.options.option import NORMALIZER, SETTINGS, TRAINER
from spmcompat.options.table import OPTIONS
from spmcompat.releases import DEFAULT, Release
from spmcompat.runtime.cores import available_cores
from spmcompat.runtime.runs import Runs
from spmcompat.text.formats import AUTO

if TYPE_CHECKING:
    from spmcompat.normalization.rules import Rules
    from spmcompat.options.languages import LanguageTables
    from spmcompat.runtime.rounds import OnRound
    from spmcompat.stored_counts.table import CountTable


class Settings:
    """The values of all options of a training run.

    The defaults are those of the table of options and of the schema.

    Attributes
    ----------
    trainer : TrainerSpec
    normalizer, denormalizer : NormalizerSpec
        The specs; the model stores the fields that are set in them.
    own : SimpleNamespace
        The values of the options whose `Option.stored_in` is `SETTINGS`, by `Option.stored_as`.
    input_format : str
        The value of the option, unless it is a format of ``sentencepiece``, which is stored in the
        trainer spec.
    random_seed : int, optional
        The seed of the reference's random generator, as on its command line.
    pretokenizer : callable or str, optional
        A function that takes a normalized sentence (str) and returns its parts, a sequence of str
        or bytes; or ``script``; or ``regex:`` and a pattern.
    allow_inconsistent_pretokenization : bool
        Whether the joined parts may differ from the sentence.
    column : str, optional
        The column of Arrow data that contains the sentences.
    on_round : callable, optional
        A function that is called with a ``Step`` after each step.
    recipe : str
        A line that states which options the recipe has set; empty without a recipe.
    notes : list of str
        Warnings to show before training.
    release : Release
        The release of the reference to train as; a model does not store it.
    symbol_files : list of str
        The files from which symbols and characters were read.
    counts : CountTable, optional
        The counts to train from instead of a text.
    languages : LanguageTables, optional
        The counts of each language for parity-aware BPE; `counts` are their sum.
    rules : mapping, optional
        The rules of the file that ``normalization_rule_tsv`` names, if they are known. Otherwise
        training reads the file.
    sizes : tuple of int
        The sizes of several vocabularies to train; empty for a single one, whose size is in the
        spec.
    """

    def __init__(self, release: Release = DEFAULT) -> None:
        self.trainer = TrainerSpec()
        self.normalizer = NormalizerSpec()
        self.denormalizer = NormalizerSpec()
        own = {o.stored_as: o.default for o in OPTIONS.values() if o.stored_in == SETTINGS}
        self.own = SimpleNamespace(**own | {"workers": available_cores()})
        self.input_format = AUTO
        self.random_seed: int | None = None
        self.pretokenizer: Callable[[str], Sequence[str | bytes]] | str | None = None
        self.allow_inconsistent_pretokenization = False
        self.column: str | None = None
        self.on_round: OnRound | None = None
        self.recipe = ""
        self.notes: list[str] = []
        self.release = release
        self.symbol_files: list[str] = []
        self.counts: CountTable | None = None
        self.languages: LanguageTables | None = None
        self.rules: Rules | None = None
        self.sizes: tuple[int, ...] = ()

    @property
    def vocab_size(self) -> int:
        """The size of the vocabulary; the largest of several sizes."""
        return self.trainer.vocab_size


def value_of(settings: Settings, name: str) -> Any:
    """Return the value of an option that the table of options lists."""
    if name == "compat":
        return settings.release.version
    option = OPTIONS[name]
    holders = {
        TRAINER: settings.trainer,
        NORMALIZER: settings.normalizer,
        SETTINGS: settings.own,
    }
    return getattr(holders.get(option.stored_in, settings), option.stored_as)


def with_charsmaps(settings: Settings) -> Settings:
    """Return the settings with the normalization rules compiled into both normalizers.

    Raises
    ------
    TrainingError
        If the name of the rules is unknown, or the rules cannot be read.
    """
    complete = copy(settings)
    complete.normalizer = with_named_rules(settings.normalizer, settings.release, settings.rules)
    if marks_case(complete.normalizer):
        complete.denormalizer = case_restorer(settings.release)
        # Rules of a file are kept, so that `checks` refuses them.
        complete.denormalizer.MergeFrom(settings.denormalizer)
    else:
        complete.denormalizer = with_rules_of_file(settings.denormalizer, settings.release)
    return complete


def runs_of(settings: Settings) -> Runs[Settings]:
    """Return, for each vocabulary size, the settings that a separate run would have.

    If a list of sizes was given, each model is written to ``<model_prefix>-<size>``.
    """
    runs = []
    for size in settings.sizes:
        own = copy(settings)
        own.trainer = deepcopy(settings.trainer)
        own.trainer.vocab_size = size
        if settings.trainer.model_prefix:
            own.trainer.model_prefix = f"{settings.trainer.model_prefix}-{size}"
        runs.append(own)
    return Runs(runs or [settings])
