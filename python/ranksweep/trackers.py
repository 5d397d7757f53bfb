"""Sweeps in experiment trackers: every trial as a run of MLflow, Weights & Biases or TensorBoard, with its values, curve and test metrics.

Each tracker is an extra of this package: `pip install 'ranksweep[mlflow]'`, `'ranksweep[wandb]'`, `'ranksweep[tensorboard]'`.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from ranksweep._leaderboard import named
from ranksweep._program import Error
from ranksweep.results import Results

#: Entries that MLflow takes in one request: metrics, and parameters.
MLFLOW_METRICS = 1000
MLFLOW_PARAMETERS = 100


@dataclass(frozen=True)
class TrialRun:
    """A trial as trackers have it."""

    id: str
    #: The method as the leaderboard calls it, the dataset, and the seeds.
    name: str
    #: The values of the trial, and where it belongs.
    parameters: dict[str, Any]
    #: By epoch: the training loss, and the validation metric where it was evaluated.
    curve: list[tuple[int, dict[str, float]]]
    #: Test metrics, `test/ndcg@20`; of picked trials alone.
    test: dict[str, float]


def trial_runs(results: Results, picked: bool = False) -> list[TrialRun]:
    """The trials of a sweep that have a model, or the picked ones alone: those that were ranked on test."""
    titles = {(row["dataset"], row["method"]): row["title"] for row in results.leaderboard("arrow").to_pylist()}
    curves: dict[str, dict[int, dict[str, float]]] = {}
    for row in results.curves("arrow").to_pylist():
        points = curves.setdefault(row["trial"], {}).setdefault(row["epoch"], {})
        if row["loss"] is not None:
            points["train/loss"] = row["loss"]
        if row["value"] is not None:
            points[f"validation/{named(row)}"] = row["value"]
    tests: dict[str, dict[str, float]] = {}
    for row in results.metrics("arrow").to_pylist():
        tests.setdefault(row["trial"], {})[f"test/{named(row)}"] = row["value"]
    runs = []
    for row in results.trials("arrow").to_pylist():
        if row["status"] not in ("done", "stopped") or (picked and not row["selected"]):
            continue
        title = titles.get((row["dataset"], row["method"]), row["method"])
        seeds = [f"{of} {row[key]}" for of, key in [("split", "split_seed"), ("seed", "seed")] if row[key] is not None]
        facts = {key: row[key] for key in ["dataset", "method", "seed", "split_seed", "status", "selected", "device"]}
        values = {**json.loads(row["parameters"]), **{key: value for key, value in facts.items() if value is not None}}
        curve = sorted(curves.get(row["trial"], {}).items())
        runs.append(TrialRun(row["trial"], ", ".join([f"{title} on {row['dataset']}", *seeds]), values, curve, tests.get(row["trial"], {})))
    if not runs:
        raise Error(f"{results.folder}: no trial has a model")
    return runs


def to_tensorboard(results: Results, folder: str | os.PathLike[str], picked: bool = False) -> list[Path]:
    """Writes an event file for each trial into a folder of its own; `tensorboard --logdir FOLDER` shows them.

    Curves are scalars by epoch; the values of a trial and its test metrics are its row of the HParams page. Gives the trials' folders.
    """
    try:
        from tensorboardX import SummaryWriter
        from tensorboardX.summary import hparams
    except ModuleNotFoundError:
        raise missing("tensorboardX", "tensorboard") from None
    written = []
    for run in trial_runs(results, picked):
        at = Path(folder).expanduser() / results.plan["name"] / f"{without_slashes(run.name)} {run.id}"
        with SummaryWriter(os.fspath(at)) as writer:
            for epoch, values in run.curve:
                for name, value in values.items():
                    writer.add_scalar(name, value, epoch)
            plain = {
                name: value if isinstance(value, int | float | bool | str) else json.dumps(value) for name, value in run.parameters.items()
            }
            for summary in hparams(plain, run.test):
                writer.file_writer.add_summary(summary)
            for name, value in run.test.items():
                writer.add_scalar(name, value, 0)
        written.append(at)
    return written


def to_mlflow(results: Results, tracking_uri: str | None = None, experiment: str | None = None, picked: bool = False) -> list[str]:
    """Makes a run of MLflow for each trial; gives their ids.

    The experiment has the sweep's name when left out, and the tracking server is the one that MLflow's own settings name. A run carries the tag
    `ranksweep.trial`: a trial that the experiment has already is left as it is. MLflow takes no `@` in names: `ndcg@20` is `ndcg_20` there.
    """
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param, RunTag
    except ModuleNotFoundError:
        raise missing("mlflow", "mlflow") from None
    client = MlflowClient(tracking_uri=tracking_uri)
    plan = results.plan
    name = experiment or plan["name"]
    found = client.get_experiment_by_name(name)
    experiment_id = found.experiment_id if found else client.create_experiment(name)
    ids = []
    for run in trial_runs(results, picked):
        known = client.search_runs([experiment_id], f"tags.`ranksweep.trial` = '{run.id}' and attributes.status = 'FINISHED'", max_results=1)
        if known:
            ids.append(known[0].info.run_id)
            continue
        tags = {"ranksweep.trial": run.id, "ranksweep.sweep": plan["name"], "mlflow.source.name": "ranksweep"}
        run_id = client.create_run(experiment_id, run_name=run.name, tags=tags).info.run_id
        metrics = [Metric(allowed(name), value, 0, epoch) for epoch, values in run.curve for name, value in values.items()]
        metrics += [Metric(allowed(name), value, 0, 0) for name, value in run.test.items()]
        for batch in batched(metrics, MLFLOW_METRICS):
            client.log_batch(run_id, metrics=batch)
        for params in batched([Param(allowed(name), str(value)) for name, value in run.parameters.items()], MLFLOW_PARAMETERS):
            client.log_batch(run_id, params=params)
        client.log_batch(run_id, tags=[RunTag("ranksweep.folder", str(results.folder))])
        client.set_terminated(run_id)
        ids.append(run_id)
    return ids


def to_wandb(
    results: Results,
    project: str | None = None,
    folder: str | os.PathLike[str] = ".",
    mode: Literal["offline", "online"] = "offline",
    picked: bool = False,
) -> list[Path]:
    """Makes a run of Weights & Biases for each trial, grouped by the sweep's name; gives their folders.

    Offline runs are written below `folder`, for `wandb sync FOLDER/wandb/offline-run-*`; the project has the sweep's name when left out. A
    run's id is the trial's, so that a sweep that is written again gives the same runs.
    """
    try:
        import wandb
    except ModuleNotFoundError:
        raise missing("wandb", "wandb") from None
    name = results.plan["name"]
    settings = wandb.Settings(silent=True, console="off", disable_git=True, x_disable_stats=True)
    written = []
    folder = Path(folder).expanduser()
    folder.mkdir(parents=True, exist_ok=True)
    for run in trial_runs(results, picked):
        tracked = wandb.init(
            project=project or name,
            group=name,
            id=run.id,
            name=run.name,
            config=run.parameters,
            dir=os.fspath(folder),
            mode=mode,
            settings=settings,
            reinit="create_new",
        )
        tracked.define_metric("epoch")
        tracked.define_metric("*", step_metric="epoch")
        for epoch, values in run.curve:
            tracked.log({"epoch": epoch, **values})
        tracked.summary.update(run.test)
        written.append(Path(tracked.dir).parent)
        tracked.finish()
    return written


def allowed(name: str) -> str:
    """A name as MLflow takes it."""
    return name.replace("@", "_")


def without_slashes(name: str) -> str:
    """A name as a folder may have it."""
    return name.replace("/", "_")


def batched(entries: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """The entries in lists of at most so many."""
    rest = iter(entries)
    while batch := list(islice(rest, size)):
        yield batch


def missing(package: str, extra: str) -> Error:
    """That a tracker is not installed."""
    return Error(f"{package} is not installed: `pip install 'ranksweep[{extra}]'`")
