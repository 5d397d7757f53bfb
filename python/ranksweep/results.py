"""What ranksweep has found, as tables: of a sweep, a prepared dataset, a trial and a comparison. docs/tables.md has every column."""

from __future__ import annotations

import hashlib
import html
import json
import os
import re
from pathlib import Path
from typing import Any

from ranksweep._leaderboard import Leaderboard
from ranksweep._program import Error
from ranksweep.table import Table


def open(folder: str | os.PathLike[str]) -> Results:
    """The results of a sweep that has run, from their folder: `open("runs/sweeps/quickstart")`.

    Raises `Error` where no results are, and for a URL: a folder elsewhere is copied first, or its Parquet files are read where they are.
    """
    return Results(on_this_machine(folder))


def on_this_machine(folder: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """The folder.

    Raises `Error` for a URL.
    """
    if "://" in os.fspath(folder):
        raise Error(f"{os.fspath(folder)}: the folder is not on this machine; copy it, or read its Parquet files where they are")
    return os.path.expanduser(folder)


class Page:
    """A page of HTML that needs no network. A notebook shows it; `path` is its file."""

    def __init__(self, path: Path, height: int) -> None:
        if not path.is_file():
            raise Error(f"{path}: there is no such page; `report` makes it")
        self.path = path
        self.height = height

    def __repr__(self) -> str:
        return f"Page({self.path})"

    def _repr_html_(self) -> str:
        content = html.escape(self.path.read_text(encoding="utf-8"))
        return f'<iframe srcdoc="{content}" style="width: 100%; height: {self.height}px; border: 0"></iframe>'


class Tables:
    """Any folder with tables of ranksweep, such as those of `ranksweep theory` or of `ranksweep evaluate --checkpoints`.

    One that a command made on an object store has its `url` alone: reading a table of it raises `Error`.
    """

    #: The file that stands in a finished folder and has the checksums of the others.
    marker: str | None = None
    #: What to do where the marker is missing.
    remedy = ""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self.is_here = "://" not in os.fspath(folder)
        self.url = str(Path(folder).expanduser().resolve()) if self.is_here else os.fspath(folder)
        if self.is_here and not self.folder.is_dir():
            raise Error(f"{self.folder}: there is no such folder")
        if self.is_here and self.marker is not None:
            self.read_json(self.marker)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.url})"

    @property
    def folder(self) -> Path:
        """The folder on this machine.

        Raises `Error` for one on an object store.
        """
        return Path(on_this_machine(self.url))

    @property
    def checksums(self) -> dict[Path, str]:
        """The checksums of the folder's files, where it has a marker."""
        folder = self.folder
        files = {} if self.marker is None else self.read_json(self.marker)["files"]
        return {folder / name: file["sha256"] for name, file in files.items()}

    def table(self, name: str) -> Table:
        """The table of a name, `leaderboard` or `per_user`: a file, or all files of a folder."""
        path, inside, checksums = self.folder / f"{name}.parquet", self.folder / name, self.checksums
        if not path.is_file() and inside.is_dir():
            kept = [file for file in checksums if file.parent == inside]
            return Table(sorted(kept or inside.glob("*.parquet")), checksums)
        return Table([path], checksums)

    def read_json(self, name: str) -> Any:
        """A JSON file of the folder."""
        folder = self.folder
        try:
            return json.loads((folder / name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise Error(f"{folder}: there is no {name}; {self.remedy}") from None


class Results(Tables):
    """The results of a sweep that has run. A notebook shows it as the leaderboard, `print` likewise.

    They stay those that were opened: when the sweep runs again under its name with another plan, they are read from its history.
    """

    marker = "tables.json"
    remedy = "a sweep that has run has one: `ranksweep run` makes it, `ranksweep evaluate --partial` also of a sweep that has not ended"

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        self._hash: str | None = None
        super().__init__(folder)
        if self.is_here:
            self._hash = hash_of_plan(self.folder)

    @property
    def folder(self) -> Path:
        """The folder on this machine that holds the results now.

        Raises `Error` for one on an object store, and where another run has replaced the results and they are not kept.
        """
        folder = super().folder
        if self._hash is None or hash_of_plan(folder) == self._hash:
            return folder
        kept = [earlier for earlier in folder.glob("history/*-*") if (earlier / "tables.json").is_file()]
        kept = [earlier for earlier in kept if hash_of_plan(earlier) == self._hash]
        if not kept:
            raise Error(f"{folder}: another run has replaced these results, and they are not kept; open the folder again for the new ones")
        return kept[-1]

    @property
    def plan(self) -> dict[str, Any]:
        """What was planned: datasets, methods, trials and the evaluation, with every value fixed."""
        plan: dict[str, Any] = self.read_json("plan.json")
        return plan

    @property
    def leaderboard(self) -> Table:
        """Every method of every dataset by every metric, best first."""
        return self.table("leaderboard")

    @property
    def tuning(self) -> Table:
        """The validation value to be expected of the best of 1, 2, … configurations of each method."""
        return self.table("tuning")

    @property
    def trials(self) -> Table:
        """Every trial of the plan, and what became of it."""
        return self.table("trials")

    @property
    def metrics(self) -> Table:
        """Test metrics of the selected trials."""
        return self.table("metrics")

    @property
    def groups(self) -> Table:
        """What every selected trial reached in groups of users by the length of their histories, and of items by their popularity."""
        return self.table("groups")

    @property
    def per_user(self) -> Table:
        """The metrics of each user, of the selected trials."""
        return self.table("per_user")

    @property
    def significance(self) -> Table:
        """Every comparison of two methods of a dataset, by every metric and every test."""
        return self.table("significance")

    @property
    def variance_components(self) -> Table:
        """Each method's mean by each metric, and where its uncertainty comes from."""
        return self.table("variance_components")

    @property
    def curves(self) -> Table:
        """Loss and validation by epoch, of all trials."""
        return self.table("curves")

    @property
    def reproduction(self) -> Table:
        """A paper's numbers beside ours; of a sweep with `printed` or `claims` alone."""
        return self.table("reproduction")

    @property
    def claims(self) -> Table:
        """A paper's claims, and what our tests say of them; of a sweep with `printed` or `claims` alone."""
        return self.table("claims")

    @property
    def all_trials(self) -> Table:
        """Test metrics of every trial, picked or not; written by `evaluate(..., all=True)` alone, and not for selecting."""
        return self.table("all_trials")

    @property
    def datasets(self) -> list[PreparedDataset]:
        """The sweep's prepared datasets, one for each split, in the order of the plan."""
        folders = [f"{entry['preparation']['name']}-{entry['fingerprint']}" for entry in self.plan["datasets"]]
        return [PreparedDataset(self._storage / "datasets" / name) for name in folders]

    def trial(self, id: str) -> Trial:
        """A trial as it was trained, by its id: the column `trial` of the tables."""
        return Trial(self._storage / "trials" / id)

    @property
    def _storage(self) -> Path:
        """Where the trials and datasets are: tables of a sweep's history stand two folders deeper than its last ones."""
        return self.folder.parents[3 if self.folder.parent.name == "history" else 1]

    def report(self, height: int = 800) -> Page:
        """The report, which a notebook shows in a frame of so many pixels."""
        return Page(self.folder / "report.html", height)

    def __str__(self) -> str:
        return self._leaderboard().text() if self.is_here else repr(self)

    def _repr_html_(self) -> str:
        return self._leaderboard().html() if self.is_here else html.escape(repr(self))

    def _leaderboard(self) -> Leaderboard:
        evaluation = self.plan["evaluation"]
        return Leaderboard(self.leaderboard("arrow").to_pylist(), evaluation["primary"], 1 - evaluation["significance"]["alpha"])


def hash_of_plan(folder: Path) -> str | None:
    """By what a folder's plan differs from others."""
    try:
        return hashlib.sha256((folder / "plan.json").read_bytes()).hexdigest()
    except FileNotFoundError:
        return None


class PreparedDataset(Tables):
    """A dataset as it was split: own ids, and interactions by dense ids."""

    marker = "manifest.json"
    remedy = "`ranksweep prepare` makes the dataset"

    def table(self, name: str) -> Table:
        """The table of a name, `train` or `users`, whose rows may go on in further files: `train-2.parquet` and so on."""
        first = super().table(name)
        parts = re.compile(rf"{re.escape(name)}-(\d+)\.parquet")
        more = sorted((int(found[1]), file) for file in first.checksums if (found := parts.fullmatch(file.name)))
        return Table([*first.paths, *(file for _, file in more)], first.checksums)

    @property
    def manifest(self) -> dict[str, Any]:
        """Sizes, checksums, settings, and the counts after every step."""
        manifest: dict[str, Any] = self.read_json("manifest.json")
        return manifest

    @property
    def users(self) -> Table:
        """The users' own ids."""
        return self.table("users")

    @property
    def items(self) -> Table:
        """The items' own ids."""
        return self.table("items")

    @property
    def train(self) -> Table:
        """The interactions to learn from."""
        return self.table("train")

    @property
    def validation(self) -> Table:
        """The interactions by which values are picked."""
        return self.table("validation")

    @property
    def test(self) -> Table:
        """The interactions that methods are judged by."""
        return self.table("test")

    @property
    def fold_in(self) -> Table:
        """What is known of users whom no training sees; of datasets whose split holds users out alone."""
        return self.table("fold-in")


class Trial(Tables):
    """A trial that has ended."""

    marker = "done.json"
    remedy = "the trial is not trained to its end"

    @property
    def done(self) -> dict[str, Any]:
        """How it ended: its state, epochs, seconds and validation value, or its error."""
        done: dict[str, Any] = self.read_json("done.json")
        return done

    @property
    def curve(self) -> Table:
        """Loss and validation by epoch; of trials that learn in epochs alone."""
        return self._named("curve", "")

    @property
    def per_user(self) -> Table:
        """The validation values of each user at the kept epoch."""
        return self._named("checkpoint", "per_user.parquet")

    def _named(self, key: str, file: str) -> Table:
        name = self.done.get(key)
        if name is None:
            raise Error(f"{self.folder}: the trial has no {key}")
        return Table([self.folder / name / file], self.checksums)


class Comparison(Tables):
    """What several datasets together say of methods. A notebook shows the page."""

    @property
    def average_ranks(self) -> Table:
        """Every method over all datasets, best average rank first."""
        return self.table("average_ranks")

    @property
    def friedman(self) -> Table:
        """Whether the methods differ at all: one row."""
        return self.table("friedman")

    @property
    def dataset_pairs(self) -> Table:
        """Every pair of methods over all datasets."""
        return self.table("dataset_pairs")

    def page(self, height: int = 800) -> Page:
        """The page with the critical-difference diagram, which a notebook shows in a frame of so many pixels."""
        return Page(self.folder / "compare.html", height)

    def _repr_html_(self) -> str:
        return self.page()._repr_html_()
