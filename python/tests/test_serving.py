"""Trained models in use, from Python: to the bit those of the program."""

from pathlib import Path

import numpy as np
import pandas
import pyarrow as pa
import pytest
from conftest import small
from test_arrays import by_user

import ranksweep
from ranksweep import metrics


def trial_of(results: ranksweep.Results, backbone: str) -> str:
    trials = results.trials("polars").filter(selected=True, backbone=backbone)
    return str(trials["trial"][0])


def test_embeddings_are_those_that_were_ranked(results: ranksweep.Results, storage: Path) -> None:
    trial = trial_of(results, "mf-16")
    found = ranksweep.embeddings(small(storage), method="softmax on mf-16")
    [dataset] = results.datasets
    assert found.similarity == "cosine"
    assert found.users.shape == (dataset.manifest["users"], 16)
    assert found.user_ids == dataset.users("arrow")["user_id"].to_pylist()
    assert found.item_ids == dataset.items("arrow")["item_id"].to_pylist()
    masked = by_user(dataset, "train", "validation")
    asked = metrics.of_vectors(found.users, found.items, by_user(dataset, "test"), similarity=found.similarity, masked=masked)
    stored = results.per_user("polars").filter(trial=trial, metric="ndcg", cutoff=20)
    np.testing.assert_array_equal(asked["ndcg@20"][stored["user"].to_numpy()], stored["value"].to_numpy())
    with pytest.raises(ranksweep.Error, match="ease has no vectors whose similarity is its score"):
        ranksweep.embeddings(small(storage), trial=trial_of(results, "ease"))


def test_vectors_of_a_trial_are_exported(results: ranksweep.Results, storage: Path, tmp_path: Path) -> None:
    trial = trial_of(results, "mf-16")
    out = ranksweep.export(small(storage), tmp_path / "vectors", "npy", trial=trial)
    np.testing.assert_array_equal(np.load(out / "users.npy"), ranksweep.embeddings(small(storage), trial=trial).users)


def test_lists_are_those_of_the_winner(results: ranksweep.Results, storage: Path, tmp_path: Path) -> None:
    [dataset] = results.datasets
    ids = dataset.users("arrow")["user_id"].to_pylist()
    lists = ranksweep.recommend(small(storage), 3, out=tmp_path / "lists.parquet", progress=False)
    assert len(lists()) == 3 * len(ids)
    two = ranksweep.recommend(small(storage), 3, out=tmp_path / "two.parquet", users=[ids[7], ids[2]], progress=False)("arrow")
    assert set(two["user_id"].to_pylist()) == {ids[7], ids[2]}
    file = tmp_path / "users.txt"
    file.write_text(f"{ids[7]}\n{ids[2]}\n", encoding="utf-8")
    assert ranksweep.recommend(small(storage), 3, out=tmp_path / "of_file.parquet", users=file, progress=False)("arrow").equals(two)
    with pytest.raises(ranksweep.Error, match="12"):
        ranksweep.recommend(small(storage), 3, out=tmp_path / "none.parquet", users="12", progress=False)
    with pytest.raises(ValueError, match="users is a frame: expected ids"):
        ranksweep.recommend(small(storage), users=dataset.users("pandas"))
    trial = trial_of(results, "mf-16")
    vectors = ranksweep.embeddings(small(storage), trial=trial)
    of_trial = ranksweep.recommend(small(storage), 3, out=tmp_path / "trial.parquet", trial=trial, seen="include", progress=False)("arrow")
    unit_users, unit_items = (side / np.linalg.norm(side, axis=1, keepdims=True) for side in (vectors.users, vectors.items))
    best = np.argsort(-(unit_users @ unit_items.T), axis=1)[:, :3]
    assert of_trial["item_id"].to_pylist() == [vectors.item_ids[item] for items in best for item in items]
    with pytest.raises(ValueError, match=r"expected a path that ends in \.parquet"):
        ranksweep.recommend(small(storage), out="lists.csv")


def test_new_users_have_lists_by_their_histories(results: ranksweep.Results, storage: Path, tmp_path: Path) -> None:
    items = results.datasets[0].items("arrow")["item_id"].to_pylist()
    frame = pandas.DataFrame({"user_id": ["new", "new", "newer"], "item_id": [items[3], items[5], items[0]], "note": ["", None, ""]})
    frame.to_csv(tmp_path / "histories.csv", index=False)
    asked = [
        ranksweep.recommend(small(storage), 4, out=tmp_path / f"{at}.parquet", histories=histories, progress=False)("arrow")
        for at, histories in enumerate([frame, pa.Table.from_pandas(frame), tmp_path / "histories.csv"])
    ]
    assert set(asked[0]["user_id"].to_pylist()) == {"new", "newer"}
    assert asked[0].equals(asked[1])
    assert asked[0].equals(asked[2])
    with pytest.raises(ValueError, match="frame has no column 'user_id', it has 'user', 'item_id', 'note'"):
        ranksweep.recommend(small(storage), out=tmp_path / "x.parquet", histories=frame.rename(columns={"user_id": "user"}))


def test_a_model_is_trained_on_all_interactions(results: ranksweep.Results, storage: Path, tmp_path: Path) -> None:
    trial = ranksweep.refit(small(storage), method="popularity", progress=False)
    assert trial == trial_of(results, "popularity") == ranksweep.refit(small(storage), method="popularity", storage=storage, progress=False)
    out = tmp_path / "lists.parquet"
    lists = ranksweep.recommend(small(storage), 1, out=out, refit=True, trial=trial, seen="include", progress=False)("polars")
    [dataset] = results.datasets
    counts = np.bincount(np.concatenate(by_user(dataset, "train", "validation", "test")))
    assert set(lists["item"]) == {int(counts.argmax())}
