"""Counts the words of parts of a text, for engines such as Spark, Dask and Ray."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from spmcompat.huggingface.template import Template
from spmcompat.huggingface.training import count_words, word_origin_of
from spmcompat.plan import TextPlan
from spmcompat.runtime.context import Context
from spmcompat.runtime.progress import Report
from spmcompat.runtime.workers import Workers
from spmcompat.text.sources import WordText
from spmcompat.words.table import KEY

if TYPE_CHECKING:
    import pyarrow as pa


class WordPartCounter:
    """Counts the words of parts of a text.

    An engine calls `count` for each part, in any process, adds up the counts of equal words, and
    writes the sums to Parquet files with `metadata`. The counter can be pickled.

    Parameters
    ----------
    template : Template
        The template that cuts the text into words.
    column : str
        The column of strings. Each string is a text.
    """

    def __init__(self, template: Template, column: str) -> None:
        self._template = template
        self.column = column

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows that `count` yields."""
        import pyarrow as pa

        return pa.schema([("word", pa.string()), ("count", pa.int64())])

    @property
    def metadata(self) -> dict[str, str]:
        """The metadata that the Parquet files must contain in addition to the rows."""
        return {KEY: word_origin_of(self._template)._replace(has_total=True).to_json().decode()}

    def count(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Count the words of a part of the text.

        Parameters
        ----------
        batches : iterable of pyarrow.RecordBatch
            The text. A null is skipped.

        Yields
        ------
        pyarrow.RecordBatch
            Words with their counts, and the sum of the counts with an empty word.

        Raises
        ------
        TrainingError
            If a batch does not have the column, or the column does not contain strings.
        """
        import pyarrow as pa
        import pyarrow.compute as pc

        text = WordText(TextPlan(long_sentences="keep"), batches, self.column)
        context = Context(Workers(1), Report(min_log_level=1))
        words = count_words(self._template, text, context)
        for batch in words.batches():
            yield batch.cast(self.schema)
        if total := pc.sum(words.to_arrow().column("count")).as_py():
            yield pa.RecordBatch.from_pylist([{"word": "", "count": total}], self.schema)
