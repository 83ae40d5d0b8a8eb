"""The result of one configuration, and the JSON file that stores it."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import Any, NamedTuple, get_args, get_origin, get_type_hints

from spmcompat.runtime.outputs import write_files
from spmcompat.tools.compare.folder import OPTION
from spmcompat.tools.evaluate.bootstrap import Bootstrap
from spmcompat.tools.evaluate.evaluation import Evaluation
from spmcompat.tools.evaluate.models import Token

# Numbers outside this range cannot come from a comparison, and plots may fail on them.
_INTEGERS = range(2**64)
_LARGEST_FLOAT = 1e15


class Result(NamedTuple):
    """The result of one configuration with one vocabulary size.

    `tokens` contains, for each line that the report shows, the tokens into which the model cuts it.
    `vocabulary` contains all pieces except special pieces, sorted by text. `gold_cuts` maps the
    name of each gold list to the offsets at which the model cuts each of its words.
    """

    config: str
    vocab_size: int
    command: str
    seconds: float
    mib: float
    evaluation: Evaluation
    tokens: tuple[tuple[Token, ...], ...]
    vocabulary: tuple[str, ...]
    gold_cuts: Mapping[str, tuple[tuple[int, ...], ...]]

    @property
    def label(self) -> str:
        """The name of the configuration and the vocabulary size."""
        return f"{self.config} {self.vocab_size:,}"

    @property
    def is_small(self) -> bool:
        """Whether the model has fewer pieces than asked for."""
        # If tokens of spaces are dropped, `pieces` does not count the pieces of spaces.
        return not self.evaluation.drops_spaces and self.evaluation.pieces < self.vocab_size

    def __repr__(self) -> str:
        """Return a summary: the label and the number of tokens."""
        return f"<Result: {self.label}, {self.evaluation.tokens:,} tokens>"

    def fits(
        self,
        lines: Sequence[str],
        gold: Sequence[str],
        bootstrap: Bootstrap | None,
        languages: Sequence[str] = (),
    ) -> bool:
        """Return whether the result has figures for the given lines, gold lists and languages.

        The result must also have been computed with the given bootstrap, because all results in a
        report must have the same figures.
        """
        resampled = self.evaluation.resampled
        scores = self.evaluation.gold
        if len(self.tokens) != len(lines) or [*scores] != [*gold] or [*self.gold_cuts] != [*gold]:
            return False
        if any(len(self.gold_cuts[name]) != scores[name].words for name in gold):
            return False
        of_languages = self.evaluation.languages
        if [*(of_languages.figures if of_languages else ())] != [*languages]:
            return False
        if resampled is None or bootstrap is None:
            return resampled is None and bootstrap is None
        return resampled.settings == bootstrap and all(
            name in self.evaluation.flat() and len(values) == bootstrap.resamples
            for name, values in resampled.samples.items()
        )


def by_config(results: Iterable[Result]) -> dict[str, list[Result]]:
    """Return the results of each configuration."""
    found = defaultdict(list)
    for result in results:
        found[result.config].append(result)
    return found


def by_size(results: Iterable[Result]) -> dict[int, list[Result]]:
    """Return the results for each vocabulary size."""
    found = defaultdict(list)
    for result in results:
        found[result.vocab_size].append(result)
    return found


def write_result(path: Path, result: Result, made_from: Mapping[str, object]) -> None:
    """Store a result together with the settings from which it was computed.

    Raises
    ------
    MissingFileError
        If the file cannot be written.
    """
    document = {"made_from": made_from, "run": _as_json(result)}
    # The command may contain file names that are not UTF-8. Python represents their bytes as
    # surrogates. JSON must not escape the surrogates, so that `encode` can restore the bytes.
    text = json.dumps(document, ensure_ascii=False, indent=1)
    write_files({str(path): [text.encode(errors="surrogateescape")]}, OPTION)


def read_result(path: Path, made_from: Mapping[str, object]) -> Result | None:
    """Return the stored result if it was computed from these settings; otherwise None.

    Additional settings in the file are ignored. If the file is missing or damaged, return None.
    """
    try:
        document = json.loads(path.read_text(encoding="utf-8", errors="surrogateescape"))
        settings = document["made_from"]
        if any(settings[name] != value for name, value in made_from.items()):
            return None
        result: Result = _from_json(Result, document["run"])
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None
    return result


def _as_json(value: object) -> object:
    """Return a value in which every named tuple is a dict."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _as_json(item) for name, item in value.items()}
    return [_as_json(item) for item in value] if isinstance(value, tuple) else value


def _from_json(kind: Any, value: Any) -> Any:
    """Convert a value that was read from JSON to the type `kind`.

    Raises
    ------
    TypeError, ValueError, LookupError
        If the value cannot be converted.
    """
    items = get_args(kind)
    if get_origin(kind) is UnionType:
        return None if value is None else _from_json(items[0], value)
    if get_origin(kind) is tuple and isinstance(value, list):
        return tuple(_from_json(items[0], item) for item in value)
    if isinstance(value, dict):
        if get_origin(kind) is Mapping:
            return {name: _from_json(items[1], item) for name, item in value.items()}
        hints = get_type_hints(kind)
        return kind(**{name: _from_json(hints[name], item) for name, item in value.items()})
    if kind is float and type(value) in (int, float):
        if not abs(value) > _LARGEST_FLOAT:  # True for NaN
            return float(value)
    elif type(value) is kind and (kind is not int or value in _INTEGERS):
        return value
    raise ValueError(f"not a {kind}: {value!r:.60}")
