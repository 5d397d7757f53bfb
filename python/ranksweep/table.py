"""Stored tables as frames of pandas, Polars or Arrow."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args, overload

import pyarrow as pa
import pyarrow.parquet as pq

from ranksweep._program import Error

if TYPE_CHECKING:
    import pandas
    import polars

#: The frames that tables come in.
Frame = Literal["pandas", "polars", "arrow"]


class Table:
    """A stored table: one Parquet file, or several of the same columns that are read as one."""

    def __init__(self, paths: Sequence[Path], checksums: dict[Path, str] | None = None) -> None:
        self.paths = list(paths)
        self.checksums = checksums or {}

    def __repr__(self) -> str:
        files = str(self.paths[0]) if len(self.paths) == 1 else f"{len(self.paths)} files in {self.paths[0].parent}"
        return f"Table({files})"

    @overload
    def __call__(self, frame: Literal["pandas"] = "pandas") -> pandas.DataFrame: ...
    @overload
    def __call__(self, frame: Literal["polars"]) -> polars.DataFrame: ...
    @overload
    def __call__(self, frame: Literal["arrow"]) -> pa.Table: ...
    def __call__(self, frame: Frame = "pandas") -> Any:
        """The content as a frame of pandas, Polars or Arrow.

        A column of whole numbers that may hold nulls stays one in pandas, too: it has the type `UInt32` or `UInt64`.

        Raises `Error` where a file is missing or not what was written.
        """
        return framed(pa.concat_tables([pq.read_table(pa.BufferReader(self.content(path))) for path in self.paths]), frame)

    def content(self, path: Path) -> bytes:
        """The bytes of a file, held against its checksum where a marker has one."""
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            advice = "docs/tables.md has the command, or the key of the sweep file, that makes each"
            raise Error(f"{path}: there is no such table; {advice}") from None
        expected = self.checksums.get(path)
        if expected is not None and hashlib.sha256(content).hexdigest() != expected:
            raise Error(f"{path}: the file is not the one that was written; the same command as before makes it anew")
        return content


def framed(table: pa.Table, frame: Frame) -> Any:
    """The table as a frame of pandas, Polars or Arrow."""
    if frame not in get_args(Frame):
        raise ValueError(f"frame is {frame!r}, expected 'pandas', 'polars' or 'arrow'")
    return table if frame == "arrow" else to_pandas(table) if frame == "pandas" else to_polars(table)


def to_pandas(table: pa.Table) -> pandas.DataFrame:
    """The table as a frame of pandas."""
    try:
        import pandas
    except ModuleNotFoundError:
        raise Error("pandas is not installed: `pip install pandas`, or ask for frame='polars' or frame='arrow'") from None
    frame: pandas.DataFrame = table.to_pandas()
    for field in table.schema:
        if field.nullable and pa.types.is_integer(field.type):
            column = table[field.name]
            frame[field.name] = pandas.arrays.IntegerArray(column.fill_null(0).to_numpy(), column.is_null().to_numpy(), copy=True)
    return frame


def to_polars(table: pa.Table) -> polars.DataFrame:
    """The table as a frame of Polars."""
    try:
        import polars
    except ModuleNotFoundError:
        raise Error("Polars is not installed: `pip install polars`, or ask for frame='pandas' or frame='arrow'") from None
    return polars.DataFrame(polars.from_arrow(table))
