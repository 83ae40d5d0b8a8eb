"""Counts the text in a column of a Spark DataFrame.

This module uses only the DataFrame API, so it also works with Spark Connect. The driver does not
receive any data. It only checks the options and compiles the normalization rules.
"""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TextIO

from spmcompat.api.counting import arrow_counter
from spmcompat.errors import WrongColumnError, WrongTypeError
from spmcompat.runtime.libraries import MissingLibraryError, require
from spmcompat.version import __version__

if TYPE_CHECKING:
    import pyarrow as pa
    from pyspark.sql import DataFrame
    from typing_extensions import Unpack

    from spmcompat.huggingface.word_parts import WordPartCounter
    from spmcompat.options.keywords import PartOptions, StrPath
    from spmcompat.stored_counts.arrow_counter import ArrowCounter

TABLE_BYTES = 1 << 27
"""The default of `table_bytes`, in bytes."""


def count(
    df: DataFrame,
    column: str = "text",
    *,
    like: StrPath | None = None,
    table_bytes: int = TABLE_BYTES,
    logstream: TextIO | None = None,
    **options: Unpack[PartOptions],
) -> DataFrame:
    """Count a text with Spark. Training from the counts does not need Spark.

    ``count(df, "text").write.parquet("counts")`` writes a folder that ``spm_train --counts=counts``
    and `spmcompat.train` accept without conversion. There is an order of the lines for which
    training directly on the lines gives the same model. The bytes of the model do not depend on the
    partitions, and are the same in every run.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        The text: each row is a sentence. A line break at the end of a row is removed.
    column : str
        The column of the text, which must have the type string. Nulls are skipped and counted.
    like : path or str
        To count words for `spmcompat.train_tokenizer` instead: the template, as for that function.
        The folder is then for its `counts`, and there are no other options.
    table_bytes : int
        The size, in bytes, at which a task passes the rows of its table of distinct pretokens to
        Spark and starts a new table. A Python worker may need three times as much memory.
    logstream : text stream
        Where to write warnings; by default standard error, or the program's own logging.
    **options
        The options of `spmcompat.count`, except `workers`, `input` and the options for samples and
        TSV files. They are checked immediately. A file of normalization rules is read on the
        driver.

    Returns
    -------
    pyspark.sql.DataFrame
        The counts: ``pretoken`` (string), ``place`` (byte), ``next`` (int), ``count`` (long); with
        `like`, ``word`` (string) and ``count`` (long). No row is computed before Spark needs it.

    Raises
    ------
    TrainingError
        If an option or the column is wrong, or counting needs the order of the lines. If spmcompat
        is missing on a worker, the Spark job that reads the rows fails and says so.
    """
    require_pyspark()
    from pyspark.sql import functions as sql
    from pyspark.sql.pandas.types import from_arrow_schema

    _check_column(df, column)
    counter = arrow_counter(
        "text", like=like, table_bytes=table_bytes, logstream=logstream, **options
    )
    quoted = "`" + column.replace("`", "``") + "`"
    # The column gets a plain name, because mapInArrow does not accept a dot in a column name.
    text = df.select(sql.col(quoted).alias("text"))
    first, *others = (name for name in counter.schema.names if name != "count")
    # Strings get the type StringType, which is compared byte by byte.
    rows = text.mapInArrow(_counting(counter), from_arrow_schema(counter.schema))
    sums = rows.groupBy(first, *others).agg(sql.sum("count").alias("count"))
    named = sql.col(first).alias(first, metadata=counter.metadata)
    return sums.select(named, *others, "count")


def require_pyspark() -> None:
    """Raise an error if pyspark is not installed or too old.

    Raises
    ------
    TrainingError
        If pyspark is not installed or too old. The message says what to install.
    """
    require("pyspark", "Counting with Spark", "spark")
    import pyspark

    if int(pyspark.__version__.split(".", maxsplit=1)[0]) < 4:
        raise MissingLibraryError(
            f"Counting with Spark needs pyspark 4 or later, and {pyspark.__version__} is "
            "installed: pip install 'spmcompat[spark]'."
        )


def _check_column(df: DataFrame, column: object) -> None:
    """Raise an error if a text cannot be read from the column.

    Raises
    ------
    BadValueError
        If `df` is not a DataFrame or is streaming, or the column is missing, ambiguous or not of
        the type string.
    """
    from pyspark.sql.types import CharType, StringType, VarcharType

    if not hasattr(df, "mapInArrow"):
        raise WrongTypeError(f"df must be a Spark DataFrame, not {type(df).__name__}.")
    names = df.columns
    if names.count(str(column)) != 1:
        number = "more than one column" if column in names else "no column"
        raise WrongColumnError(
            f"the DataFrame has {number} {column!r}. Its columns are: {', '.join(names)}."
        )
    kind = df.schema[names.index(str(column))].dataType
    if not isinstance(kind, StringType | CharType | VarcharType):
        raise WrongColumnError(
            f"the column {column!r} has the type {kind.simpleString()}, not string. Convert it "
            "first."
        )
    if df.isStreaming:
        raise WrongTypeError("df is a streaming DataFrame, which has no end. Count a static one.")


def _counting(
    counter: ArrowCounter | WordPartCounter,
) -> Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]:
    """Return the function that a worker calls to count its part of the text.

    Spark pickles this function by value, because it is a local function. So even a worker without
    spmcompat can begin to run it, and then raises the error that says what is missing.
    """
    pickled = pickle.dumps(counter)
    driver_release = __version__

    def count(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        import pickle
        import sys

        page = "See 'The package on the workers' in docs/spark.md."
        try:
            import spmcompat
        except ModuleNotFoundError as error:
            if error.name != "spmcompat":
                raise
            raise ModuleNotFoundError(
                "spmcompat is not installed on this Spark worker, whose Python is "
                f"{sys.executable}. {page}"
            ) from None
        if spmcompat.__version__ != driver_release:
            raise RuntimeError(
                f"this Spark worker has spmcompat {spmcompat.__version__}, but the driver has "
                f"{driver_release}. Install the same release. {page}"
            )
        yield from pickle.loads(pickled).count(batches)

    return count
