"""Vectors of one's own stand in the leaderboard, with the numbers that the same vectors have elsewhere."""

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import scipy.sparse as sp
from conftest import small

import ranksweep
from ranksweep import metrics


def test_vectors_stand_beside_other_methods(tmp_path: Path) -> None:
    sweep = small(tmp_path / "runs")
    exported = ranksweep.export(sweep, tmp_path / "exported")
    parts = {part: sp.load_npz(exported / "toys" / f"{part}.npz") for part in ("train", "validation", "test")}
    users, items = parts["train"].shape
    ids = (exported / "toys" / "user_ids.txt").read_text().splitlines()
    assert len(ids) == users
    random = np.random.default_rng(0)
    vectors = {seed: (random.normal(size=(users, 8)), random.normal(size=(items, 8))) for seed in (1, 2)}
    users_of, items_of = ({seed: pair[side] for seed, pair in vectors.items()} for side in (0, 1))
    own = ranksweep.external("my model", users_of, items_of, tmp_path / "vectors", similarity="cosine")
    sweep.grid = [ranksweep.Block([ranksweep.Backbone("popularity"), own])]
    results = ranksweep.run(sweep, progress=False)

    board = results.leaderboard()
    found = board[(board.title == "external(my model)") & (board.metric == "ndcg") & (board.cutoff == 20)]
    asked: dict[str, Any] = {"metrics": ["ndcg@20"], "masked": parts["train"] + parts["validation"], "similarity": "cosine"}
    each = [metrics.of_vectors(user, item, parts["test"], **asked)["ndcg@20"] for user, item in vectors.values()]
    assert found["mean"].item() == pytest.approx(np.nanmean(each), abs=1e-12)


def test_arrays_are_evaluated_on_a_dataset(tmp_path: Path) -> None:
    [dataset] = small(tmp_path).datasets
    asked = ranksweep.Evaluation(metrics=["ndcg", "recall"], cutoffs=[20])
    empty = ranksweep.Sweep(name="e", storage=tmp_path, datasets=[dataset], grid=[ranksweep.Block([ranksweep.Backbone("popularity")])])
    exported = ranksweep.export(empty, tmp_path / "exported")
    parts = {part: sp.load_npz(exported / "toys" / f"{part}.npz") for part in ("train", "validation", "test")}
    left, values, right = np.linalg.svd(parts["train"].toarray(), full_matrices=False)
    users, items = left[:, :8] * values[:8], right[:8].T
    results = ranksweep.evaluate(users=users, items=items, dataset=dataset, name="svd", evaluation=asked, storage=tmp_path, progress=False)
    board = results.leaderboard()
    assert set(board.title) == {"external(svd)", "popularity"}
    masked = parts["train"] + parts["validation"]
    expected = metrics.of_vectors(users, items, parts["test"], metrics=["ndcg@20", "recall@20"], masked=masked)
    for metric in ("ndcg", "recall"):
        found = board[(board.title == "external(svd)") & (board.metric == metric)]
        assert found["mean"].item() == pytest.approx(np.nanmean(expected[f"{metric}@20"]), abs=1e-6)
    again = ranksweep.evaluate(users=users, items=items, dataset=dataset, name="svd", evaluation=asked, storage=tmp_path, progress=False)
    assert again.folder == results.folder
    assert not (results.folder / "history").exists()
    wrongs: list[tuple[dict[str, Any], str]] = [
        ({"users": users, "items": items}, "expected a sweep, or users"),
        ({"storage": "s3://b", "users": users}, "users, items"),
        ({"users": users, "items": items, "dataset": dataset, "partial": True}, "partial and all are of a sweep's trials"),
        ({"sweep": empty, "evaluation": asked}, "evaluation is of vectors, and a sweep is ranked by its own file"),
    ]
    for wrong, words in wrongs:
        with pytest.raises(ValueError, match=words):
            ranksweep.evaluate(**wrong)
    with pytest.raises(ValueError, match="expected a folder of this machine"):
        ranksweep.evaluate(users=users, items=items, dataset=dataset, storage="s3://bucket/runs")


def test_one_array_is_one_trial(tmp_path: Path) -> None:
    one = ranksweep.external("a-b", np.zeros((3, 2)), np.zeros((4, 2)), tmp_path)
    paths = {side: one[side] for side in ("users", "items")}
    assert one == {"kind": "external", "name": "a-b", **paths, "similarity": "dot"}
    assert re.fullmatch(r"a-b-items-[0-9a-f]{8}\.npy", Path(one["items"]).name)
    assert np.load(one["items"]).shape == (4, 2)
    # `printf 'a b' | sha256sum`
    other = ranksweep.external("a b", np.ones((3, 2)), np.ones((4, 2)), tmp_path)
    assert re.fullmatch(r"a-b-c8687a08-users-[0-9a-f]{8}\.npy", Path(other["users"]).name)
    accented = ranksweep.external("modèle", [[1.0]], [[1.0]], tmp_path)
    assert re.fullmatch(r"mod-le-[0-9a-f]{8}-users-[0-9a-f]{8}\.npy", Path(accented["users"]).name)
    # Those of another training of the same name stand beside the first.
    again = ranksweep.external("a-b", np.ones((3, 2)), np.ones((4, 2)), tmp_path)
    assert again["users"] != one["users"]
    assert not np.load(one["users"]).any()
    assert not list(tmp_path.glob(".*")), "nothing half-written is left"
    one_way, other_way = ({first: [[1.0]], second: [[2.0]]} for first, second in ((1, 2), (2, 1)))
    of_seeds = ranksweep.external("m", one_way, one_way, tmp_path)
    assert ranksweep.external("m", other_way, other_way, tmp_path)["users"] != of_seeds["users"]


def test_results_stay_those_that_were_opened(tmp_path: Path) -> None:
    source = ranksweep.Source("synthetic", users=30, items=20, interactions=300)
    dataset = ranksweep.Dataset("toys", source, split=ranksweep.Split("random", test=0.2, seed=1))
    random = np.random.default_rng(1)
    first, second = ([random.normal(size=(30, 4)), random.normal(size=(20, 4))] for _ in range(2))
    ranked = [ranksweep.evaluate(users=of[0], items=of[1], dataset=dataset, storage=tmp_path, progress=False) for of in (first, second)]
    alone = ranksweep.evaluate(users=first[0], items=first[1], dataset=dataset, storage=tmp_path / "alone", progress=False)
    means = [results.leaderboard("arrow")["mean"].to_pylist() for results in [*ranked, alone]]
    assert means[0] == means[2] != means[1]
    assert ranked[0].per_user("arrow").num_rows == alone.per_user("arrow").num_rows
    assert ranked[0].folder.parent.name == "history"
    assert ranked[1].folder.parent.name == "sweeps"


def test_each_split_has_vectors_of_its_own(tmp_path: Path) -> None:
    sweep = small(tmp_path / "runs")
    source = ranksweep.Source("synthetic", users=60, items=40, interactions=900)
    data = ranksweep.Dataset("toys", source, split=ranksweep.Split("cross-validation", folds=3, validation=0.1, seed=1))
    sweep.datasets = [data]
    exported = ranksweep.export(sweep, tmp_path / "exported")
    folders = sorted(exported.iterdir())
    assert [folder.name for folder in folders] == ["toys-1", "toys-2", "toys-3"]
    train = {fold: sp.load_npz(folder / "train.npz") for fold, folder in enumerate(folders, 1)}
    random = np.random.default_rng(0)
    users, items = train[1].shape
    sides = [{(fold, seed): random.normal(size=(rows, 4)) for fold in train for seed in (1, 2)} for rows in (users, items)]
    alone = [{(fold, None): side[fold, 1] for fold in train} for side in sides]
    of_seeds = ranksweep.external("seeds", sides[0], sides[1], tmp_path / "vectors")
    of_splits = ranksweep.external("splits", alone[0], alone[1], tmp_path / "vectors")
    assert of_seeds["users"].endswith("-{split_seed}-{seed}.npy")
    assert of_splits["users"].endswith("-{split_seed}.npy")
    sweep.grid = [ranksweep.Block([ranksweep.Backbone("popularity"), of_seeds, of_splits])]
    rows = ranksweep.run(sweep, progress=False).trials("arrow").to_pylist()
    found = {(row["method"], row["split_seed"], row["seed"]) for row in rows if row["method"] != "popularity"}
    expected = {("external(seeds)", fold, seed) for fold in (1, 2, 3) for seed in (1, 2)}
    assert found == expected | {("external(splits)", fold, None) for fold in (1, 2, 3)}
    board = ranksweep.evaluate(users=alone[0], items=alone[1], dataset=data, storage=tmp_path / "runs", progress=False)
    assert {row["title"] for row in board.leaderboard("arrow").to_pylist()} == {"popularity", "external(vectors)"}


def test_own_ids_of_a_frame_place_its_rows(tmp_path: Path) -> None:
    [dataset] = small(tmp_path).datasets
    prepared = ranksweep.prepare(small(tmp_path), progress=False)[0]
    random = np.random.default_rng(1)
    sides = {side: random.normal(size=(prepared.manifest[side], 4)) for side in ("users", "items")}
    labelled = {side: pandas.DataFrame(sides[side], index=prepared.table(side)()[f"{side[:-1]}_id"]) for side in sides}
    shuffled = {side: frame.sample(frac=1, random_state=0) for side, frame in labelled.items()}
    default = {side: frame.reset_index(drop=True) for side, frame in labelled.items()}
    means = []
    for at, given in enumerate([sides, labelled, shuffled, default]):
        results = ranksweep.evaluate(**given, dataset=dataset, storage=tmp_path / str(at), progress=False)
        board = results.leaderboard("polars").filter(title="external(vectors)", metric="ndcg", cutoff=20)
        means.append(board["mean"].item())
    assert len(set(means)) == 1, means
    with pytest.raises(ValueError, match="some frames have an index of own ids and others have not"):
        ranksweep.external("x", {1: sides["users"], 2: labelled["users"]}, {1: sides["items"], 2: labelled["items"]}, tmp_path)


def test_a_folder_with_braces_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="expected a path without braces"):
        ranksweep.external("x", [[1.0]], [[1.0]], tmp_path / "of {seed}")


@pytest.mark.parametrize("seeds", [[1, (1, 1)], [(1, 1), (2, None)], [(1,)], ["1"], []])
def test_seeds_of_several_forms_are_refused(tmp_path: Path, seeds: list[Any]) -> None:
    side = {seed: [[1.0]] for seed in seeds}
    with pytest.raises(ValueError, match="expected whole numbers, or pairs of a split's seed and a seed"):
        ranksweep.external("x", side, side, tmp_path)


def test_other_seeds_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"users have seeds \[1, 2\] and items seeds \[1\]: expected the same seeds"):
        ranksweep.external("x", {1: [[1.0]], 2: [[1.0]]}, {1: [[1.0]]}, tmp_path)
    with pytest.raises(ValueError, match="users have one array and items seeds"):
        ranksweep.external("x", [[1.0]], {1: [[1.0]]}, tmp_path)


def test_arrays_that_are_no_vectors_of_one_length_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"items have the shape \(2,\), expected two dimensions: items x dim"):
        ranksweep.external("x", [[1.0]], [1.0, 2.0], tmp_path)
    with pytest.raises(ValueError, match=r"users of seed 2 have the shape \(1, 2\) and items \(1, 1\): expected vectors of as many numbers"):
        ranksweep.external("x", {2: [[1, 2]]}, {2: [[1]]}, tmp_path)
    assert not list(tmp_path.iterdir())


def test_formats_are_the_programs(tmp_path: Path) -> None:
    with pytest.raises(ranksweep.Error, match="recbole"):
        ranksweep.export(small(tmp_path), tmp_path / "out", "csvv")


@pytest.mark.parametrize("dataset", ["toys", {"source": {"format": "synthetic"}}])
def test_vectors_need_a_dataset_with_a_name(dataset: Any) -> None:
    with pytest.raises(ValueError, match=r"^dataset is .*: expected a Dataset, or a mapping with its keys$"):
        ranksweep.evaluate(users=[[1.0]], items=[[1.0]], dataset=dataset, progress=False)
