"""Trackers hold what the tables hold: each run read back by the tracker's own reader."""

import builtins
import importlib
import json
import struct
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import ranksweep
from ranksweep import trackers


@pytest.fixture
def expected(results: ranksweep.Results) -> dict[str, tuple[list[tuple[int, float]], dict[str, float]]]:
    """The losses by epoch and the test metrics of every trial, by the tables alone."""
    curves, metrics, found = results.curves(), results.metrics(), {}
    for trial in results.trials().trial:
        losses = curves[(curves.trial == trial) & curves.loss.notna()]
        tests = metrics[metrics.trial == trial]
        names = [
            f"test/{metric}" if cutoff is None or cutoff != cutoff else f"test/{metric}@{int(cutoff)}"
            for metric, cutoff in zip(tests.metric, tests.cutoff.astype("object").where(tests.cutoff.notna(), None), strict=True)
        ]
        found[trial] = list(zip(losses.epoch.tolist(), losses.loss.tolist(), strict=True)), dict(zip(names, tests.value, strict=True))
    return found


def near(found: Mapping[str, float], expected: Mapping[str, float]) -> bool:
    return found.keys() == expected.keys() and all(found[name] == pytest.approx(expected[name], rel=1e-6) for name in found)


def test_runs_have_the_names_of_the_leaderboard(results: ranksweep.Results, expected: Mapping[str, Any]) -> None:
    runs = trackers.trial_runs(results)
    assert len(runs) == len(results.trials()) == 7
    assert {run.name for run in runs} >= {"popularity on toys", "softmax on mf-16 on toys, seed 1"}
    for run in runs:
        losses, test = expected[run.id]
        assert [(epoch, values["train/loss"]) for epoch, values in run.curve if "train/loss" in values] == losses
        assert run.test == test
    assert [run.parameters["loss.temperature"] for run in runs if run.parameters["method"].startswith("mf")] == [0.1, 0.1, 0.2, 0.2]
    picked = trackers.trial_runs(results, picked=True)
    assert len(picked) == 4
    assert all(run.test for run in picked)


def events(folder: Path) -> list[Any]:
    """The events of a folder's one file, by the layout of TFRecord: length, its checksum, content, its checksum."""
    from tensorboardX.proto.event_pb2 import Event

    [file] = folder.glob("events.out.tfevents.*")
    content, found = file.read_bytes(), []
    while content:
        (length,) = struct.unpack("<Q", content[:8])
        found.append(Event.FromString(content[12 : 12 + length]))
        content = content[16 + length :]
    return found


def test_tensorboard_has_curves_and_values(results: ranksweep.Results, expected: Mapping[str, Any], tmp_path: Path) -> None:
    folders = trackers.to_tensorboard(results, tmp_path)
    assert len(folders) == 7
    for folder in folders:
        assert folder.parent == tmp_path / "small"
        losses, test = expected[folder.name.split()[-1]]
        scalars = [(event.step, value) for event in events(folder) for value in event.summary.value]
        found = [(step, value.simple_value) for step, value in scalars if value.tag == "train/loss"]
        assert [step for step, _ in found] == [step for step, _ in losses]
        assert [loss for _, loss in found] == pytest.approx([loss for _, loss in losses], rel=1e-6)
        # tensorboardX writes `_` for what it does not take in names.
        tests = {value.tag: value.simple_value for _, value in scalars if value.tag.startswith("test/")}
        assert near(tests, {name.replace("@", "_"): value for name, value in test.items()})
        assert any(value.tag.startswith("_hparams_/") for _, value in scalars)


def test_mlflow_has_runs_once(results: ranksweep.Results, expected: Mapping[str, Any], tmp_path: Path) -> None:
    from mlflow import MlflowClient

    uri = f"sqlite:///{tmp_path}/mlflow.db"
    ids = trackers.to_mlflow(results, uri)
    assert trackers.to_mlflow(results, uri) == ids
    client = MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("small")
    assert experiment is not None
    runs = client.search_runs([experiment.experiment_id])
    assert sorted(run.info.run_id for run in runs) == sorted(ids)
    for run in runs:
        losses, test = expected[run.data.tags["ranksweep.trial"]]
        history = client.get_metric_history(run.info.run_id, "train/loss") if losses else []
        assert [(point.step, point.value) for point in history] == losses
        found = {name: value for name, value in run.data.metrics.items() if name.startswith("test/")}
        assert near(found, {name.replace("@", "_"): value for name, value in test.items()})
        assert run.data.params["dataset"] == "toys"
        assert run.info.status == "FINISHED"


def records(content: bytes) -> Iterator[bytes]:
    """The records of a log of LevelDB behind a head of seven bytes: blocks of 32 KiB, in which a piece has its checksum, length and role."""
    at, record = 7, b""
    while at + 7 <= len(content):
        if 32768 - at % 32768 < 7:  # what is left of a block is empty
            at += 32768 - at % 32768
            continue
        _, length, role = struct.unpack("<IHB", content[at : at + 7])
        record += content[at + 7 : at + 7 + length]
        at += 7 + length
        if role in (1, 4):  # whole, or the last piece
            yield record
            record = b""


def ended(file: Path, record: Any) -> list[Any]:
    """The records of a run, when the last one stands there: the process that writes them is another."""
    for _ in range(300):
        found = [record.FromString(data) for data in records(file.read_bytes())]
        if any(one.HasField("exit") for one in found):
            return found
        time.sleep(0.1)
    raise AssertionError(f"{file} has no end")


def test_wandb_has_offline_runs(results: ranksweep.Results, expected: Mapping[str, Any], tmp_path: Path) -> None:
    proto: Any = importlib.import_module("wandb.proto.wandb_internal_pb2")
    folders = trackers.to_wandb(results, folder=tmp_path, picked=True)
    assert len(folders) == 4
    for folder in folders:
        [file] = folder.glob("run-*.wandb")
        trial = file.stem.removeprefix("run-")
        losses, test = expected[trial]
        found, summary, name = [], {}, ""
        for record in ended(file, proto.Record):
            name = record.run.display_name or name
            row = {item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.history.item}
            if "train/loss" in row:
                found.append((row["epoch"], row["train/loss"]))
            summary.update({item.key or "/".join(item.nested_key): json.loads(item.value_json) for item in record.summary.update})
        assert found == losses
        assert near({key: value for key, value in summary.items() if key.startswith("test/")}, test)
        assert " on toys" in name


@pytest.mark.parametrize(("package", "extra"), [("tensorboardX", "tensorboard"), ("mlflow", "mlflow"), ("wandb", "wandb")])
def test_a_tracker_that_is_missing_is_named(
    results: ranksweep.Results, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, extra: str
) -> None:
    whole = builtins.__import__

    def without(name: str, globals: Any = None, locals: Any = None, fromlist: Sequence[str] = (), level: int = 0) -> Any:
        if name.split(".")[0] == package:
            raise ModuleNotFoundError(name)
        return whole(name, globals, locals, fromlist, level)

    monkeypatch.setattr(builtins, "__import__", without)
    calls: dict[str, Callable[[], object]] = {
        "tensorboard": lambda: trackers.to_tensorboard(results, tmp_path),
        "mlflow": lambda: trackers.to_mlflow(results, "sqlite://"),
        "wandb": lambda: trackers.to_wandb(results, folder=tmp_path),
    }
    with pytest.raises(ranksweep.Error, match=rf"{package} is not installed: `pip install 'ranksweep\[{extra}\]'`"):
        calls[extra]()
