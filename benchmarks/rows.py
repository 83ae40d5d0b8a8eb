"""The rows of the benchmark, one for each text and set of options, and groups of rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.corpora import MB, Text
from tests.parity.case import Option
from tests.parity.corpora import FOLDER_VARIABLE

PIECES: Mapping[str, Option] = {"vocab_size": 32_000, "hard_vocab_limit": False}
FEW_PIECES: Mapping[str, Option] = {"vocab_size": 2_000, "hard_vocab_limit": False}


@dataclass(frozen=True)
class Row:
    """One text that several sides train on.

    Attributes
    ----------
    name
        Its name on the command line.
    text
        The text; None if the sides only import their package and train nothing.
    options
        Options of the trainer, the same for all sides; ``num_threads`` is added later.
    command
        Whether spmcompat is started as ``spm_train``. The reference then gets every field that
        ``spm_train`` stores in the model.
    ours_only
        Whether to leave out the reference, because it needs too much memory or time.
    every_worker_count
        Whether to measure spmcompat with other numbers of workers, too, and to time its stages.
    least_runs
        Smallest number of runs; higher in rows whose runs are short and vary a lot.
    """

    name: str
    text: Text | None
    options: Mapping[str, Option] = field(default_factory=lambda: PIECES)
    command: bool = False
    ours_only: bool = False
    every_worker_count: bool = True
    least_runs: int = 1


_ENGLISH = ("en-books",)
SIZES = (10, 30, 60, 120)

_CORPORA = (
    Row("en-books", Text("English books", _ENGLISH)),
    Row("code", Text("C, Python and Markdown", ("code-c", "code-python", "code-markdown"))),
    Row("de", Text("German laws and documentation", ("de-gesetze", "de-docs"))),
    Row("ko-nsmc", Text("Korean film reviews", ("ko-nsmc",))),
    Row("ar-hindawi", Text("Arabic books", ("ar-hindawi",))),
    Row("hi-stories", Text("Hindi stories", ("hi-stories",))),
    Row("zh-laws", Text("Chinese laws", ("zh-laws",))),
    Row("ja-aozora", Text("Japanese literature", ("ja-aozora",))),
    # Lines above 1 MB are left out, because they make a sum overflow in the reference.
    Row(
        "long-lines",
        Text("long lines, those up to 1 MB", ("long-lines",)),
        {**PIECES, "max_sentence_length": MB},
    ),
    Row("nospace", Text("no white space", ("nospace",))),
)
_SIZES = tuple(
    Row(f"en-books-{size}", Text("English books", _ENGLISH, size=size * MB)) for size in SIZES
)
_SMALL = Text("300 KB of English books", _ENGLISH, size=300_000)
_START = (
    Row("imports", None, least_runs=10),
    Row("small", _SMALL, FEW_PIECES, every_worker_count=False, least_runs=10),
    Row("small-command", _SMALL, FEW_PIECES, command=True, every_worker_count=False, least_runs=10),
)
_COPIES = Row(
    "en-books-x8",
    Text("English books, eight times over", _ENGLISH, copies=8),
    ours_only=True,
    every_worker_count=False,
)

# Texts that `python -m benchmarks.public` builds.
_PUBLIC = tuple(
    Row(name, Text(title, (name,)), every_worker_count=False)
    for name, title in {
        "public-documentation": "documentation of Django and SymPy",
        "public-python": "Python code of Django, SymPy and Gramps",
        "public-translations": "translations into 100 languages",
    }.items()
)

ROWS: Mapping[str, Row] = {
    row.name: row for row in (*_CORPORA, *_PUBLIC, *_SIZES, *_START, _COPIES)
}
GROUPS: Mapping[str, tuple[str, ...]] = {
    "corpora": tuple(row.name for row in _CORPORA),
    "public": tuple(row.name for row in _PUBLIC),
    "sizes": (*(row.name for row in _SIZES), "en-books"),
    "start": tuple(row.name for row in _START),
    "growth": ("en-books", _COPIES.name),
}


def chosen(names: Sequence[str], found: Mapping[str, Path]) -> tuple[list[Row], dict[str, Path]]:
    """Return the rows to measure, and all files by name.

    Parameters
    ----------
    names : sequence of str
        Names of rows, of groups or of files of the folder, or paths of texts. Without names, every
        row whose text is in the folder is chosen.
    found : mapping of str to Path
        The files of the folder.

    Raises
    ------
    SystemExit
        If a name is unknown, or there is nothing to measure.
    """
    if not names and not found:
        raise SystemExit(
            f"No text is found. Give --folder, set {FOLDER_VARIABLE}, or give the path of a text."
        )
    files = dict(found)
    rows: dict[str, Row] = {}
    for name in names or ROWS:
        for member in GROUPS.get(name, (name,)):
            rows[member] = ROWS.get(member) or _of_file(member, files)
    absent = {n: row.text.missing(files) for n, row in rows.items() if row.text is not None}
    absent = {name: parts for name, parts in absent.items() if parts}
    if names and absent:
        name, parts = next(iter(absent.items()))
        raise SystemExit(
            f"{name}: {', '.join(parts)}.txt is missing. Give --folder, the path of a text, or "
            f"one of these names: {', '.join([*GROUPS, *ROWS])}."
        )
    return [row for name, row in rows.items() if name not in absent], files


def _of_file(name: str, files: dict[str, Path]) -> Row:
    """Return a row for a text that is not in `ROWS`."""
    path = Path(name)
    if name not in files and path.is_file():
        files[name] = path
    return Row(path.stem, Text(path.stem, (name,)))
