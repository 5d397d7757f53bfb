"""Trained models in use: lists of the best items, vectors, and a last training on all interactions."""

from __future__ import annotations

import os
import re
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from ranksweep import _frames
from ranksweep._paths import resolved
from ranksweep.commands import File, command, flag, options
from ranksweep.own_models import exported
from ranksweep.results import on_this_machine
from ranksweep.sweep import Settings, Sweep
from ranksweep.table import Table

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def recommend(
    sweep: Sweep | Settings | File,
    k: int = 20,
    *,
    out: File = "recommendations.parquet",
    users: Iterable[Any] | File | None = None,
    histories: Any = None,
    seen: str = "exclude",
    refit: bool = False,
    method: str | None = None,
    trial: str | None = None,
    dataset: str | None = None,
    fold_in: str | None = None,
    ridge: float | None = None,
    storage: File | None = None,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool = True,
) -> Table:
    """The best `k` items of each user, of a sweep that has run: a table with `user_id`, `rank`, `item_id` and `score`, written to `out`.

    The model is that of the leaderboard's winner, of `method` or of `trial`, or with `refit` the one that `refit` has trained on all
    interactions.
    `dataset` names one of several. `users` are the own ids of those who get lists, or the path of a
    file with one in a line, all when left out. `histories` are those of new users
    instead: a frame with the columns `user_id` and `item_id`, or the path of such a file; where a model folds them in by ridge regression
    `ridge` is the weight of its penalty, where it does over the train graph `fold_in` is `attach` or `joint`. `seen` says whether items that a
    user has may come: `exclude`, `include`, or `evaluate`, which leaves out those of train and validation alone. The other arguments mean
    what they mean for `run`.

    Raises `Error` when the program fails, `ValueError` for a frame without these columns or another suffix of `out` than `.parquet`.
    """
    out = resolved(out)
    if not out.endswith(".parquet"):
        raise ValueError(f"out is {out!r}: expected a path that ends in .parquet")
    with tempfile.TemporaryDirectory() as folder:
        given: dict[str, Any] = {
            "k": k,
            "seen": seen,
            "method": method,
            "trial": trial,
            "dataset": dataset,
            "fold-in": fold_in,
            "ridge": ridge,
            "out": out,
        }
        if isinstance(users, str | os.PathLike):
            given["users"] = resolved(users)
        elif hasattr(users, "columns"):
            raise ValueError("users is a frame: expected ids, such as those of one of its columns, or the path of a file of ids")
        elif users is not None:
            given["users"] = Path(folder) / "users.txt"
            given["users"].write_text("".join(f"{user}\n" for user in users), encoding="utf-8")
        if histories is not None:
            is_path = isinstance(histories, str | os.PathLike)
            given["histories"] = resolved(histories) if is_path else _frames.stored(histories, folder, ["user_id", "item_id"])
        flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
        command(["recommend", *flag("--refit", refit)], sweep, [*flags, *options(storage, threads, memory)], progress)
    return Table([Path(on_this_machine(out))])


def refit(
    sweep: Sweep | Settings | File,
    *,
    method: str | None = None,
    trial: str | None = None,
    dataset: str | None = None,
    storage: File | None = None,
    threads: int | None = None,
    memory: str | None = None,
    progress: bool = True,
) -> str:
    """Trains the leaderboard's winner, or another method or trial, once more on train, validation and test, and gives its trial's id.

    `recommend(sweep, refit=True, trial=...)` makes lists of the model; nothing is left to measure it on. The other arguments mean what they
    mean for `run`.
    """
    given = {"method": method, "trial": trial, "dataset": dataset}
    flags = [f"--{name}={value}" for name, value in given.items() if value is not None]
    text = command(["refit"], sweep, [*flags, *options(storage, threads, memory)], progress)
    return str(re.findall(r"\(trial ([0-9a-f]+)\) on all", text)[-1])


@dataclass(frozen=True)
class Embeddings:
    """Vectors of a trained model, whose `similarity` is its score: `dot`, `cosine` or `negative-squared-distance`.

    `users` and `items` have the shapes users x dim and items x dim, in the order of the own ids in `user_ids` and `item_ids`, which is that of
    the dataset's tables `users` and `items`.
    """

    users: NDArray[np.float32]
    items: NDArray[np.float32]
    similarity: str
    user_ids: list[str]
    item_ids: list[str]


def embeddings(
    sweep: Sweep | Settings | File,
    *,
    method: str | None = None,
    trial: str | None = None,
    dataset: str | None = None,
    storage: File | None = None,
) -> Embeddings:
    """The vectors of the leaderboard's winner, of `method` or of `trial`, of a sweep that has run.

    Raises `Error` for a model that has none, such as EASE.
    """
    with tempfile.TemporaryDirectory() as folder:
        text = exported(sweep, folder, "parquet", dataset, method, trial, storage)
        (users, user_ids), (items, item_ids) = (of_side(Path(folder), side) for side in ("user", "item"))
    return Embeddings(users, items, text.split()[-1], user_ids, item_ids)


def of_side(folder: Path, side: str) -> tuple[NDArray[np.float32], list[str]]:
    """The vectors of users or items that were exported with their own ids, and these."""
    table = pq.read_table(folder / f"{side}s.parquet").combine_chunks()
    flat = table["vector"].combine_chunks().flatten().to_numpy()
    vectors: NDArray[np.float32] = flat.reshape(len(table), -1)
    return vectors, table[f"{side}_id"].to_pylist()
