"""Frames equal the Parquet files, cell by cell; what is not there or not whole is an error."""

import hashlib
import json
import shutil
import sys
from pathlib import Path
from typing import Any, get_args

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from conftest import small

import ranksweep
from ranksweep.results import PreparedDataset
from ranksweep.table import Frame

TABLES = {"leaderboard", "tuning", "trials", "metrics", "groups", "significance", "variance_components", "curves"}


def equal(table: ranksweep.Table, *files: Path) -> int:
    """Holds a table in every frame against its files, and gives its rows."""
    expected = pa.concat_tables([pq.read_table(file) for file in files])
    assert table("arrow").equals(expected)
    assert pa.table(table("polars")).cast(expected.schema).equals(expected)
    assert pa.Table.from_pandas(table(), schema=expected.schema, preserve_index=False).equals(expected)
    assert table.paths == list(files)
    return int(expected.num_rows)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_a_table_of_a_sweep_is_its_file(results: ranksweep.Results, name: str) -> None:
    assert equal(getattr(results, name), results.folder / f"{name}.parquet") > 0


def test_tables_of_users_are_read_as_one(results: ranksweep.Results) -> None:
    stray = results.folder / "per_user" / "stray.parquet"
    stray.write_bytes(b"of nobody")
    files = sorted(file for file in results.folder.glob("per_user/*.parquet") if file != stray)
    assert equal(results.per_user, *files) == 300 * 9 * len(files)
    stray.unlink()


def test_datasets_and_trials_are_found_from_a_sweep(results: ranksweep.Results) -> None:
    [dataset] = results.datasets
    rows = {name: equal(getattr(dataset, name), dataset.folder / f"{name}.parquet") for name in ["users", "items", "train", "test"]}
    assert (rows["users"], rows["items"]) == (dataset.manifest["users"], dataset.manifest["items"])
    trials = results.trials()
    learned = results.trial(trials[trials.loss == "softmax"].trial.iloc[0])
    assert equal(learned.curve, learned.folder / learned.done["curve"]) == 10
    assert equal(learned.per_user, learned.folder / learned.done["checkpoint"] / "per_user.parquet") > 200
    with pytest.raises(ranksweep.Error, match="there is no such folder"):
        results.trial("0123456789abcdef")


def test_whole_numbers_with_nulls_stay_whole_in_pandas(results: ranksweep.Results) -> None:
    trials, metrics = results.trials(), results.metrics()
    assert str(trials.seed.dtype) == "UInt64"
    assert trials.seed.dropna().tolist() == [1, 2, 1, 2]
    assert metrics[metrics.metric == "auc"].cutoff.isna().all()
    assert set(metrics.cutoff.dropna()) == {5, 20}


def test_a_frame_that_is_none_is_named(results: ranksweep.Results) -> None:
    with pytest.raises(ValueError, match="frame is 'dask', expected 'pandas', 'polars' or 'arrow'"):
        results.leaderboard("dask")  # type: ignore[call-overload]
    assert set(get_args(Frame)) == {"pandas", "polars", "arrow"}


@pytest.mark.parametrize(("frame", "name"), [("pandas", "pandas"), ("polars", "Polars")])
def test_a_frame_that_is_not_installed_is_named(results: ranksweep.Results, frame: Any, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, frame, None)
    with pytest.raises(ranksweep.Error, match=f"^{name} is not installed: `pip install {frame}`, or ask for frame="):
        results.leaderboard(frame)


def test_a_changed_file_is_an_error(results: ranksweep.Results, tmp_path: Path) -> None:
    copy = shutil.copytree(results.folder, tmp_path / "small")
    changed = bytearray((copy / "metrics.parquet").read_bytes())
    changed[len(changed) // 2] ^= 1
    (copy / "metrics.parquet").write_bytes(changed)
    found = ranksweep.open(copy)
    with pytest.raises(ranksweep.Error, match=r"metrics\.parquet: the file is not the one that was written"):
        found.metrics()
    (copy / "trials.parquet").unlink()
    with pytest.raises(ranksweep.Error, match=r"trials\.parquet: there is no such table"):
        found.trials()


def test_what_holds_no_results_is_an_error(storage: Path) -> None:
    with pytest.raises(ranksweep.Error, match=r"nowhere: there is no such folder"):
        ranksweep.open(storage / "nowhere")
    with pytest.raises(ranksweep.Error, match=r"there is no tables\.json; a sweep that has run has one"):
        ranksweep.open(storage)
    with pytest.raises(ranksweep.Error, match="the folder is not on this machine"):
        ranksweep.open("s3://bucket/runs/sweeps/x")


def test_results_show_the_leaderboard(results: ranksweep.Results) -> None:
    rows = results.leaderboard()
    rows = rows[(rows.metric == "ndcg") & (rows.cutoff == 20)].sort_values("rank")
    lines = str(results).splitlines()
    assert lines[0] == "toys"
    assert lines[1].split() == ["#", "method", "ndcg@20", "95%", "interval", "letters", "seeds", "tried"]
    for line, row in zip(lines[2:], rows.itertuples(), strict=True):
        assert line.split()[0] == str(row.rank)
        assert f"{row.title} " in line
        assert f"{row.mean:.4f}  {row.ci_low:.4f} to {row.ci_high:.4f}" in line
    assert results._repr_html_().count("<tr>") == 1 + len(rows)


def test_the_report_is_shown_in_a_frame(results: ranksweep.Results) -> None:
    page = results.report(height=300)
    assert page.path == results.folder / "report.html"
    shown = page._repr_html_()
    assert shown.startswith('<iframe srcdoc="&lt;!doctype html&gt;')
    assert "height: 300px" in shown
    assert shown.count('"') == 4


def test_a_comparison_has_its_tables(tmp_path: Path) -> None:
    sweep = small(tmp_path)
    [first] = sweep.datasets
    assert isinstance(first, ranksweep.Dataset)
    second = ranksweep.Dataset("games", {"format": "synthetic", "users": 200, "items": 100, "interactions": 3000}, split=first.split)
    sweep.datasets = [first, second]
    results = ranksweep.run(sweep, progress=False)
    comparison = ranksweep.compare(sweep, metric="recall@5", against="popularity")
    assert comparison.folder == results.folder / "compare"
    assert equal(comparison.average_ranks, comparison.folder / "average_ranks.parquet") == 3
    assert equal(comparison.friedman, comparison.folder / "friedman.parquet") == 1
    assert equal(comparison.dataset_pairs, comparison.folder / "dataset_pairs.parquet") == 3
    assert "<svg" in comparison.page().path.read_text()
    assert ranksweep.compare(sweep, out=tmp_path / "here").folder == tmp_path / "here"


def test_a_table_that_goes_on_in_further_files_is_read_whole(tmp_path: Path) -> None:
    files = {}
    for place, name in enumerate(["train", "train-2", "train-10", "train-set"]):
        file = tmp_path / f"{name}.parquet"
        pq.write_table(pa.table({"user": [place]}), file)
        files[file.name] = {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()}
    (tmp_path / "manifest.json").write_text(json.dumps({"files": files}))
    assert PreparedDataset(tmp_path).train("arrow")["user"].to_pylist() == [0, 1, 2]
