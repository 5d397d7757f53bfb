"""Frames as data: what a sweep makes of them, and what it says of those that it cannot take."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import ranksweep


def ratings() -> pandas.DataFrame:
    random = np.random.default_rng(0)
    frame: pandas.DataFrame = pandas.DataFrame(
        {
            "who": [f"u{number}" for number in random.integers(0, 40, 1500)],
            "what": random.integers(0, 60, 1500),
            "stars": random.integers(1, 6, 1500).astype(float),
            "when": pandas.Timestamp("2024-01-01") + pandas.to_timedelta(random.permutation(1500), unit="h"),
            "note": None,
        },
        index=random.permutation(1500),
    )
    return frame


def sweep_of(source: ranksweep.Source, storage: Path) -> ranksweep.Sweep:
    data = ranksweep.Dataset("own", source, min_rating=3, k_core=5, split=ranksweep.Split("temporal", test=0.2, validation=0.1))
    return ranksweep.Sweep(name="own", storage=storage, datasets=[data], grid=[ranksweep.Block([ranksweep.Backbone("popularity")])])


def test_a_frame_is_the_data_of_a_sweep(tmp_path: Path) -> None:
    columns = {"user": "who", "item": "what", "rating": "stars", "timestamp": "when"}
    own, frame = tmp_path / "own.csv", ratings()
    frame.to_csv(own, index=False)
    expected = ranksweep.prepare(sweep_of(ranksweep.Source("delimited", path=own, columns=columns), tmp_path / "file"), progress=False)[0]
    frames: list[Any] = [frame, polars.from_pandas(frame), pa.Table.from_pandas(frame), frame.astype({"who": "category", "what": "Int64"})]
    categories: list[Any] = [polars.Categorical, polars.Enum(sorted(set(frame.who)))]
    frames += [polars.from_pandas(frame).with_columns(polars.col("who").cast(kind)) for kind in categories]
    for at, given in enumerate(frames):
        source = ranksweep.Source.from_frame(given, tmp_path / "data", **columns)
        [dataset] = ranksweep.prepare(sweep_of(source, tmp_path / str(at)), progress=False)
        for part in ("users", "items", "train", "validation", "test"):
            assert dataset.table(part)("arrow").equals(expected.table(part)("arrow")), (at, part)
    again = ranksweep.Source.from_frame(frame, tmp_path / "data", **columns)
    other = ranksweep.Source.from_frame(frame[1:], tmp_path / "data", **columns)
    assert again == ranksweep.Source.from_frame(frame, tmp_path / "data", **columns) != other
    assert not list((tmp_path / "data").glob(".*")), "nothing half-written is left"


def test_what_a_frame_lacks_is_named(tmp_path: Path) -> None:
    frame = ratings()
    with pytest.raises(ValueError, match="frame has no column 'user_id', it has 'who', 'what', 'stars', 'when', 'note'"):
        ranksweep.Source.from_frame(frame, tmp_path, item="what")
    mixed = frame.assign(who=[7, *frame.who[1:]])
    with pytest.raises(ValueError, match="a column of frame holds values of several types"):
        ranksweep.Source.from_frame(mixed, tmp_path, user="who", item="what")
    frame.iloc[[3, 7], 2] = np.nan
    with pytest.raises(ValueError, match="frame has 2 rows of 1,500 without 'stars': leave them out"):
        ranksweep.Source.from_frame(frame, tmp_path, user="who", item="what", rating="stars")
    with pytest.raises(ValueError, match="frame is list, expected one of pandas, Polars or Arrow"):
        ranksweep.Source.from_frame([("u", "i")], tmp_path)
    with pytest.raises(ValueError, match="expected a folder of this machine"):
        ranksweep.Source.from_frame(frame, "s3://bucket/data", user="who", item="what")
    with pytest.raises(TypeError, match=r"datasets\[0\]\.source is of the type DataFrame.*`Source\.from_frame` makes a source of it"):
        sweep_of(frame, tmp_path).to_yaml()  # type: ignore[arg-type]
