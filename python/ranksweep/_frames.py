"""Frames of pandas, Polars and Arrow as files that a sweep reads."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from ranksweep._paths import resolved


def stored(frame: Any, folder: str | os.PathLike[str], columns: Sequence[str]) -> str:
    """Writes columns of a frame as a Parquet file whose name has a hash of what it holds, whole or not at all; gives its path.

    Raises `ValueError` for columns that are not there and for values that are missing.
    """
    if "://" in resolved(folder):
        raise ValueError(f"folder is {resolved(folder)!r}: expected a folder of this machine")
    table = of_columns(frame, columns)
    sink = pa.BufferOutputStream()
    pq.write_table(table, sink)
    content = sink.getvalue().to_pybytes()
    file = Path(resolved(folder)) / f"interactions-{hashlib.sha256(content).hexdigest()[:16]}.parquet"
    write(file, content)
    return str(file)


def of_columns(frame: Any, columns: Sequence[str]) -> pa.Table:
    """Columns of a frame, in none of which a value is missing.

    Raises `ValueError` for columns that are not there and for values that are missing.
    """
    if not hasattr(frame, "columns"):
        raise ValueError(f"frame is {type(frame).__name__}, expected one of pandas, Polars or Arrow")
    names = frame.column_names if isinstance(frame, pa.Table) else list(frame.columns)
    for column in columns:
        if column not in names:
            raise ValueError(f"frame has no column {column!r}, it has {', '.join(map(repr, names))}")
    try:
        table = pa.table(frame.select(columns)) if hasattr(frame, "select") else pa.Table.from_pandas(frame[columns], preserve_index=False)
    except (pa.ArrowTypeError, pa.ArrowInvalid) as error:
        raise ValueError(f"a column of frame holds values of several types ({error}): make it one of texts, or of numbers") from error
    for at, column in enumerate(columns):
        table = table.set_column(at, column, texts_of(table[column]))
        missing = table[column].null_count
        if missing:
            raise ValueError(f"frame has {missing:,} rows of {len(table):,} without {column!r}: leave them out, or give them a value")
    # What pandas would read of its own types is nothing to the program, and would be another file with another version of pandas.
    return table.replace_schema_metadata(None)


def texts_of(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of categories of Polars as one of texts: Parquet has no dictionaries of string views."""
    if not pa.types.is_dictionary(column.type) or column.type.value_type != pa.string_view():
        return column
    return pa.chunked_array([chunk.dictionary.cast(pa.string()).take(chunk.indices) for chunk in column.chunks], pa.string())


def write(file: Path, content: bytes) -> None:
    """Writes a file whole or not at all, with the folders that it stands in."""
    file.parent.mkdir(parents=True, exist_ok=True)
    beside = file.with_name(f".{file.name}.{os.getpid()}")
    beside.write_bytes(content)
    os.replace(beside, file)
