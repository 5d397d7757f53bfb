"""A sweep file as dataclasses, with the keys of the file.

What is left out (None) is not written, so that the program's default holds. Kinds and their settings are the program's: `ranksweep.kinds()`
prints them, and it refuses what it does not know with the nearest name. Where one value is written a list of them is tuned, as in a file.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from ranksweep import _yaml

Settings = Mapping[str, Any]


class Kind(dict[str, Any]):
    """A kind and its settings, as `{kind: mf, dim: 32}` in a sweep file."""

    def __init__(self, kind: str, **settings: Any) -> None:
        super().__init__(kind=kind, **settings)

    def __repr__(self) -> str:
        kind, *settings = self.items()
        return f"{type(self).__name__}({', '.join([repr(kind[1]), *(f'{name}={value!r}' for name, value in settings)])})"


class Backbone(Kind):
    """A model: `Backbone("mf", dim=32)`."""


class Loss(Kind):
    """A loss: `Loss("softmax-at-k", cutoff=20, temperature=[0.1, 0.2])`."""


class Sampler(Kind):
    """A negative sampler: `Sampler("uniform", negatives=100)`."""


class Optimizer(Kind):
    """An optimizer: `Optimizer("adam", learning_rate=[0.01, 0.003])`."""


class Search(Kind):
    """How tuned values are searched: `Search("random", trials=20)`."""


class Split(Kind):
    """How interactions are held out: `Split("random", test=0.2, validation=0.1, seed=1)`."""


class Source(dict[str, Any]):
    """Where interactions come from: `Source("movielens", path="ml-latest-small/ratings.csv")`."""

    def __init__(self, format: str, **settings: Any) -> None:
        super().__init__(format=format, **settings)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        folder: str | os.PathLike[str],
        *,
        user: str = "user_id",
        item: str = "item_id",
        rating: str | None = None,
        timestamp: str | None = None,
    ) -> "Source":
        """The interactions of a frame of pandas, Polars or Arrow, by the names of its columns; written as a Parquet file into `folder`.

        The file's name has a hash of what it holds: the same frame is the same dataset, and a changed one another.

        Raises `ValueError` for columns that are not there and for values that are missing.
        """
        from ranksweep._frames import stored

        columns = {"user": user, "item": item, "rating": rating, "timestamp": timestamp}
        given = {key: name for key, name in columns.items() if name is not None}
        return cls("parquet", path=stored(frame, folder, list(given.values())), columns=given)


class Section:
    """A part of a sweep file."""

    def __new__(cls, *values: Any, **settings: Any) -> Any:
        """Says which setting is meant, where a name is none."""
        known = [field.name for field in fields(cls)]  # type: ignore[arg-type]
        for name in settings:
            if name not in known:
                nearest = get_close_matches(name, known, n=1)
                hint = f"did you mean `{nearest[0]}`?" if nearest else f"it has {', '.join(known)}"
                raise TypeError(f"{cls.__name__} has no `{name}`: {hint}")
        return super().__new__(cls)

    def content(self) -> dict[str, Any]:
        """The part as plain dicts and lists, without what is left out."""
        values = {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]
        return {name: plain(value) for name, value in values.items() if value is not None}


def plain(value: Any) -> Any:
    """A value with its sections as dicts."""
    if isinstance(value, Section):
        return value.content()
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


@dataclass
class Dataset(Section):
    """An entry of `datasets`: where the interactions come from, how they are cleaned and split."""

    name: str
    source: Settings
    min_rating: float | None = None
    k_core: int | Settings | None = None
    split: Settings | None = None
    train_share: Settings | None = None
    noise: float | Settings | None = None


@dataclass(kw_only=True)
class Training(Section):
    """How long the methods learn, and which validation metric picks. A block may have the first five of its own."""

    epochs: int | None = None
    batch_size: int | None = None
    evaluate_every: int | None = None
    patience: int | None = None
    rows: str | None = None
    select_by: str | None = None
    ridge: float | None = None
    fold_in: str | None = None
    checkpoint_minutes: float | None = None
    time_limit_minutes: float | None = None


@dataclass
class Block(Section):
    """A block of the grid: all its backbones with all its losses and samplers; backbones alone where they fit without sampling."""

    backbones: Sequence[Settings]
    losses: Sequence[Settings] | None = None
    samplers: Sequence[Settings] | None = None
    optimizer: Settings | None = None
    training: Training | Settings | None = None


@dataclass(kw_only=True)
class Significance(Section):
    """Which tests say whether differences are real."""

    tests: Sequence[str] | None = None
    over: str | None = None
    family: str | Settings | None = None
    correction: str | None = None
    alpha: float | None = None
    margin: float | str | None = None
    resamples: int | None = None
    bootstrap_resamples: int | None = None
    seed: int | None = None


@dataclass(kw_only=True)
class Evaluation(Section):
    """How the test part is ranked, by which metrics, and how methods are compared."""

    metrics: Sequence[str] | None = None
    cutoffs: Sequence[int] | None = None
    primary: str | None = None
    users: str | None = None
    sampled_candidates: Settings | None = None
    mask: str | None = None
    recall: str | None = None
    ties: str | None = None
    significance: Significance | Settings | None = None


@dataclass(kw_only=True)
class Preparation(Section):
    """What the datasets are prepared by; it changes no byte of them."""

    engine: str | None = None
    executors: int | None = None


@dataclass(kw_only=True)
class Sweep(Section):
    """A whole sweep file: what is compared on which data, and where the results go."""

    name: str
    storage: str | os.PathLike[str] | None = None
    datasets: Sequence[Dataset | Settings]
    grid: Sequence[Block | Settings]
    training: Training | Settings | None = None
    seeds: Sequence[int] | None = None
    search: Settings | None = None
    evaluation: Evaluation | Settings | None = None
    printed: str | os.PathLike[str] | Settings | None = None
    claims: Sequence[Settings] | None = None
    device: str | None = None
    preparation: Preparation | Settings | None = None
    resources: Settings | None = None

    def to_yaml(self) -> str:
        """The text of the sweep file.

        Raises `TypeError` or `ValueError` for a value that no sweep file can hold, with the keys that lead to it.
        """
        return _yaml.document(self.content())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Writes the sweep file, for `ranksweep run` and for others to read."""
        Path(path).expanduser().write_text(self.to_yaml(), encoding="utf-8")
