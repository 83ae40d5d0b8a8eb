"""Converts a table of counts to the counts that training reads."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING

from spmcompat.counting.counts import Counts
from spmcompat.counting.rows import RowTable
from spmcompat.errors import BadValueError, CountsMismatchError, NeedsSentencesError, printable
from spmcompat.plan import Plan
from spmcompat.runtime.context import Context
from spmcompat.runtime.threads import return_freed_memory
from spmcompat.stored_counts import arrow
from spmcompat.stored_counts.counting import check_order_is_free
from spmcompat.stored_counts.origin import Origin, differing_names, digest, rules_of, symbols_of
from spmcompat.stored_counts.table import CountTable
from spmcompat.unicode.marks import SPACE_MARK

if TYPE_CHECKING:
    import pyarrow as pa

# Maps a field of the plan to the options that determine it, as messages name them. A field is not
# listed if only the option of the same name determines it.
_OPTIONS_OF_RULES = {
    "whitespace_as_suffix": "treat_whitespace_as_suffix (or model_type)",
    "allow_whitespace_only_pieces": "allow_whitespace_only_pieces (or model_type)",
    "split_by_whitespace": "split_by_whitespace (or model_type)",
    "spaces_apart": "space_pieces",
    "boundary": "compat",
    "copies": "compat",
    "script_runs": "pretokenizer",
    "calls_pretokenizer": "pretokenizer",
    "boundaries_end_pretokens": "pretokenizer",
    "uniform_starts": "auto_character_coverage, or symbol with U+2581,",
}


def load(plan: Plan, table: CountTable, context: Context) -> Counts:
    """Return the counts of a table in the form in which `read_counts` returns those of a text.

    Raises
    ------
    TrainingError
        If the table was made with rules that differ from those of the plan, or is broken.
    """
    check_order_is_free(plan, "train from counts")
    _check_space_mark(plan)
    _check_rules(plan, table)
    symbols = SymbolCheck(table.name, table.origin, symbols_of(plan), chr(plan.cutting.boundary))
    rows = RowTable(plan, context.workers)
    reading = table.reading()
    with context.report.stage("Loading counts", len(table), "rows") as stage:

        def work(worker: int, part: Iterator[pa.RecordBatch]) -> None:
            for batch in part:
                symbols.check(batch)
                rows.add(worker, arrow.to_columns(batch))
                stage.advance(batch.num_rows)

        with arrow.freeing_at_once():
            context.workers.feed(reading.parts, work)
    return_freed_memory()
    reading.finish()
    context.report.info(f"Loaded the counts of {table.origin.lines} sentences")
    return rows.take_counts(table.origin.sentences, table.origin.facts)


def _check_rules(plan: Plan, table: CountTable) -> None:
    """Raise if the text was counted with rules that differ from those of the plan."""
    origin, rules = table.origin, rules_of(plan)
    for name in differing_names(origin.rules, rules):
        option = _OPTIONS_OF_RULES.get(name, name)
        raise CountsMismatchError(
            f"{table.name}: the text was counted with a different {option} than training uses. "
            f"Count again with the same {option}, or train with that of the counts."
        )
    delimiter = plan.counting.delimiter.decode()
    if origin.delimiter != delimiter:
        raise CountsMismatchError(
            f"{table.name}: the text was counted with pretokenization_delimiter="
            f"{origin.delimiter!r}, but training uses {delimiter!r}. Use the same delimiter."
        )
    if origin.charsmap != digest(plan.charsmap):
        raise CountsMismatchError(
            f"{table.name}: the text was counted with different normalization rules than training "
            "uses. Count again with the same rules, or train with those of the counts."
        )


def _check_space_mark(plan: Plan) -> None:
    """Raise if the space mark is a symbol, and the trainer joins pretokens without space marks."""
    if plan.counting.keeps_pretokens and SPACE_MARK.encode() in plan.meta_pieces:
        raise NeedsSentencesError(
            "With U+2581 (the space mark) as a symbol, a Unigram or word model depends on whole "
            "sentences, which counts do not contain. Train from the text itself (--input), or "
            "count the text with space_pieces=separate instead of the symbol; BPE and char models "
            "can be trained from these counts."
        )


class SymbolCheck:
    """Checks that other symbols, such as those of training, would give the same table of counts.

    Before a text is counted, it is cut at every symbol. So a symbol that only training has must not
    occur in the text. The check searches the pretokens for the symbol without its last character,
    because normalization may have changed that character in the text. If the text was counted with
    a symbol that training does not have, no pretoken may contain a boundary mark, because a
    boundary mark shows that the text was cut at a symbol.

    Parameters
    ----------
    name : str
        The name of the table in messages.
    origin : Origin
        The origin of the table.
    symbols : collection of str
        The symbols to compare with those of the table.
    boundary : str
        The boundary mark.
    """

    def __init__(self, name: str, origin: Origin, symbols: Collection[str], boundary: str) -> None:
        self._name = name
        self._of_training = frozenset(symbols)
        self._of_counts = frozenset(origin.symbols)
        self._missing = [s for s in origin.symbols if s not in symbols]
        self._boundary = boundary
        extra = sorted(s for s in symbols if s not in origin.symbols)
        for symbol in extra:
            is_plain = symbol.isascii() and symbol.isprintable() and " " not in symbol
            if origin.normalization_rules or not is_plain or len(symbol) < 2:
                raise self._refusal(symbol)
        self._pattern = "(?i)" + "|".join(re.escape(symbol[:-1]) for symbol in extra)
        self._extra = extra

    def check(self, batch: pa.RecordBatch) -> None:
        """Raise if a symbol may occur in one of the pretokens.

        Raises
        ------
        BadValueError
            If a symbol may occur. The message names it.
        """
        if self._extra:
            found = arrow.first_match(batch, self._pattern)
            if found is not None:
                folded = found.casefold()
                raise self._refusal(next(s for s in self._extra if s[:-1].casefold() in folded))
        if self._missing and arrow.first_match(batch, re.escape(self._boundary)) is not None:
            missing = printable(", ".join(self._missing))
            remedy = "Train with the same symbols, or count again without them."
            if any(_follows_space(symbol, self._of_training) for symbol in self._missing):
                remedy = "Train with model_type=word, or count again without this model_type."
            raise CountsMismatchError(
                f"{self._name}: the text was cut at the symbols {missing}, which training does not "
                f"have. {remedy}"
            )

    def _refusal(self, symbol: str) -> BadValueError:
        remedy = "Count again with the same symbols."
        if _follows_space(symbol, self._of_counts):
            remedy = "Count again with model_type=word."
        return CountsMismatchError(
            f"{self._name}: the text was not cut at the symbol {printable(symbol)}, and the text "
            f"may contain it. {remedy}"
        )


def _follows_space(symbol: str, symbols: Collection[str]) -> bool:
    """Return whether a text is cut at `symbol` only for word models, because of `symbols`.

    For a word model, each symbol is also a symbol after a space mark.
    """
    return symbol[:1] == SPACE_MARK and symbol[1:] in symbols
