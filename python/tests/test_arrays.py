"""Metrics and tests of arrays: to the bit those of the program, and those of trec_eval and SciPy."""

import importlib
import multiprocessing
import re
import sys
from importlib.metadata import requires, version
from typing import Any

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest
import pytrec_eval
import scipy.sparse
import scipy.stats
from conftest import small
from numpy.typing import NDArray
from safetensors.numpy import load_file

import ranksweep
from ranksweep import metrics, significance

NAMES = ["ndcg@20", "ndcg@5", "recall@20", "recall@5", "auc", "novelty@20", "novelty@5", "diversity@20", "diversity@5"]


def by_user(dataset: ranksweep.PreparedDataset, *parts: str) -> list[NDArray[np.int64]]:
    """The items of each user in some parts."""
    pairs = pa.concat_tables([getattr(dataset, part)("arrow").select(["user", "item"]) for part in parts])
    users, items = pairs["user"].to_numpy(), pairs["item"].to_numpy()
    return [items[users == user] for user in range(dataset.manifest["users"])]


def test_metrics_are_those_of_the_program(results: ranksweep.Results) -> None:
    [dataset] = results.datasets
    stored = results.per_user("polars")
    trials = results.trials("polars").filter(selected=True, backbone="mf-16")
    assert len(trials) == 2
    for id in trials["trial"]:
        trial = results.trial(id)
        tensors = load_file(trial.folder / trial.done["checkpoint"] / "scorer.safetensors")
        found = metrics.of_vectors(
            tensors["users"],
            tensors["items"],
            by_user(dataset, "test"),
            [*NAMES, "coverage@20"],
            similarity="cosine",
            masked=by_user(dataset, "train", "validation"),
            history=by_user(dataset, "train"),
        )
        of_lists = results.metrics("polars").filter(trial=id, metric="coverage", cutoff=20)
        np.testing.assert_array_equal(found["coverage@20"], of_lists["value"].to_numpy())
        for name in NAMES:
            metric, _, cutoff = name.partition("@")
            rows = stored.filter(trial=id, metric=metric).filter(cutoff=int(cutoff)) if cutoff else stored.filter(trial=id, metric=metric)
            expected = np.full(dataset.manifest["users"], np.nan)
            expected[rows["user"].to_numpy()] = rows["value"].to_numpy()
            np.testing.assert_array_equal(found[name], expected)


@pytest.fixture(scope="module")
def case() -> dict[str, Any]:
    """Scores of 150 users for 80 items, some of which are held out and some masked; user 3 has nothing held out."""
    random = np.random.default_rng(3)
    scores = random.normal(size=(150, 80)).astype(np.float32)
    drawn = [random.permutation(80)[: random.integers(2, 30)] for _ in range(150)]
    held_out = [items[: len(items) // 2] for items in drawn]
    held_out[3] = held_out[3][:0]
    return {"scores": scores, "held_out": held_out, "masked": [items[len(items) // 2 :] for items in drawn]}


def test_metrics_are_those_of_trec_eval(case: dict[str, Any]) -> None:
    found = metrics.of_scores(case["scores"], case["held_out"], ["ndcg@10", "recall@10", "precision@10", "hit-rate@10"], masked=case["masked"])
    relevant = {str(user): {str(item): 1 for item in items} for user, items in enumerate(case["held_out"]) if len(items)}
    candidates = [np.setdiff1d(np.arange(80), masked) for masked in case["masked"]]
    run = {user: {str(item): float(case["scores"][int(user), item]) for item in candidates[int(user)]} for user in relevant}
    names = {"ndcg@10": "ndcg_cut_10", "recall@10": "recall_10", "precision@10": "P_10", "hit-rate@10": "success_10"}
    evaluated = pytrec_eval.RelevanceEvaluator(relevant, {"ndcg_cut.10", "recall.10", "P.10", "success.10"}).evaluate(run)
    for ours, theirs in names.items():
        expected = [evaluated[str(user)][theirs] if str(user) in evaluated else np.nan for user in range(150)]
        np.testing.assert_allclose(found[ours], expected, rtol=0, atol=1e-12, err_msg=ours)


def test_scores_and_vectors_agree(case: dict[str, Any]) -> None:
    random = np.random.default_rng(5)
    users, items = random.integers(-9, 9, size=(150, 6)), random.integers(-9, 9, size=(80, 6))
    lists: dict[str, Any] = {"held_out": case["held_out"], "masked": case["masked"]}
    for ties in ["pessimistic", "optimistic"]:
        names = ["ndcg@20", "map@20", "auc", "gini@20", "popularity-lift@20", "diversity@5"]
        of_vectors = metrics.of_vectors(users, items, metrics=names, ties=ties, **lists)
        of_scores = metrics.of_scores(users @ items.T, metrics=names, ties=ties, **lists)
        for name, values in of_vectors.items():
            np.testing.assert_array_equal(values, of_scores[name])
    worst = metrics.of_scores(np.zeros((150, 80)), metrics=["mrr@80"], ties="pessimistic", **lists)["mrr@80"]
    best = metrics.of_scores(np.zeros((150, 80)), metrics=["mrr@80"], ties="optimistic", **lists)["mrr@80"]
    expected = [1 / (80 - len(masked) - len(held_out) + 1) for held_out, masked in zip(case["held_out"], case["masked"], strict=True)]
    ranked = ~np.isnan(worst)
    np.testing.assert_allclose(worst[ranked], np.array(expected)[ranked], rtol=1e-12)
    assert (best[ranked] == 1).all()
    assert np.flatnonzero(~ranked).tolist() == [3]


def test_lists_are_described_by_what_users_have(case: dict[str, Any]) -> None:
    """Of five items 0 is had by two of three users, 1 by one; user 2 is shown 3 and 4, which nobody has."""
    scores = [[0, 0, 3, 2, 1], [0, 3, 2, 1, 0], [0, 0, 1, 2, 3]]
    lists: dict[str, Any] = {"held_out": [[4], [4], [0]], "masked": [[0, 1], [0], []]}
    names = ["average-popularity@2", "novelty@2", "coverage@2", "gini@2"]
    found = metrics.of_scores(scores, metrics=names, **lists)
    np.testing.assert_allclose(found["average-popularity@2"], [0, 0.5, 0])
    np.testing.assert_allclose(found["novelty@2"], [1, 1, 1])
    # The lists are 2 3, 1 2 and 4 3: one place each for 1 and 4, two for 2 and 3, none for 0.
    np.testing.assert_allclose(found["coverage@2"], [0.8])
    np.testing.assert_allclose(found["gini@2"], [1 / 3])
    other = metrics.of_scores(scores, metrics=names, history=[[2], [2], [2, 3]], **lists)
    np.testing.assert_allclose(other["average-popularity@2"], [2, 1.5, 0.5])


def test_lists_may_be_sparse_matrices(case: dict[str, Any]) -> None:
    def sparse(rows: list[NDArray[np.int64]]) -> Any:
        users = np.repeat(np.arange(150), [len(row) for row in rows])
        return scipy.sparse.coo_array((np.ones(len(users)), (users, np.concatenate(rows))), shape=(150, 80))

    expected = metrics.of_scores(**case)
    found = metrics.of_scores(case["scores"], sparse(case["held_out"]), masked=sparse(case["masked"]))
    np.testing.assert_array_equal(found["ndcg@20"], expected["ndcg@20"])


def asked(_: int) -> tuple[float, float]:
    """A metric and a p-value, which threads compute."""
    random = np.random.default_rng(5)
    scores, values = random.normal(size=(150, 80)), random.random((3, 2, 150))
    ndcg = metrics.of_scores(scores, [[user % 80] for user in range(150)], metrics=["ndcg@20"])["ndcg@20"].mean()
    tested = significance.compare({"a": values[0], "b": values[1], "c": values[2]}, {"tests": ["paired-t"]})
    return float(ndcg), float(tested.p_value.sum())


@pytest.mark.skipif(sys.platform == "win32", reason="it has no fork")
@pytest.mark.filterwarnings("ignore:.*fork")
def test_a_forked_process_has_threads_of_its_own() -> None:
    expected = asked(0)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        assert pool.map_async(asked, [0]).get(timeout=60) == [expected]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"scores": np.zeros(3)}, "scores has the shape (3,), expected two dimensions"),
        ({"scores": np.full((150, 80), -np.inf)}, "scores[0, 0] is -inf; what is not to be ranked belongs into `masked`"),
        ({"held_out": {0: [1]}}, "held_out is a mapping, expected a list that has a row for each of 150 users"),
        ({"held_out": [[0]]}, "held_out has 1 rows, expected one for each of 150 users"),
        ({"held_out": [[80]] * 150}, "held_out has the item 80, which is none of the 80 items"),
        ({"held_out": [[-1]] * 150}, "held_out has the item -1, which is none of the 80 items"),
        ({"held_out": [[0.5]] * 150}, "held_out[0] is of the type float64, expected the numbers of items"),
        ({"held_out": np.full((150, 80), 3)}, "held_out[0, 0] is 3, expected 0 or 1 in a matrix of users x items: pass `held_out > 0`"),
        ({"held_out": scipy.sparse.coo_array((150, 81))}, "held_out has the shape (150, 81), expected (150, 80)"),
        ({"held_out": [[1]] * 150, "masked": [[1]] * 150}, "item 1 of user 0 is held out and masked"),
        ({"held_out": [[1]] * 150, "masked": [[]] * 100 + [[1]] * 50}, "item 1 of user 100 is held out and masked"),
        ({"metrics": ["ndgc@20"]}, "`ndgc@20` is no metric: expected one of ndcg, recall, precision"),
        ({"metrics": ["ndcg"]}, "a cutoff is missing; write for example `ndcg@20`"),
        ({"ties": "random"}, "ties: unknown variant `random`, expected `pessimistic` or `optimistic`"),
        ({"recall": "full"}, "recall: unknown variant `full`"),
        ({"held_out": None}, "held_out is None, expected the items of each user"),
        ({"metrics": ["NDCG@20"]}, "`NDCG@20` is no metric: did you mean `ndcg`?"),
        ({"metrics": ["novelty@5"], "masked": None, "history": None}, "novelty@5 needs to know what users have: pass history, or masked"),
    ],
)
def test_what_cannot_be_measured_is_named(case: dict[str, Any], change: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        metrics.of_scores(**(case | change))


def test_scores_of_masked_items_may_be_infinite_and_lists_dense(case: dict[str, Any]) -> None:
    expected = metrics.of_scores(**case)["ndcg@20"]
    scores = case["scores"].copy()
    dense = np.zeros(scores.shape, bool)
    for user, (masked, held_out) in enumerate(zip(case["masked"], case["held_out"], strict=True)):
        scores[user, masked] = -np.inf
        dense[user, held_out] = True
    for held_out in (dense, dense.astype(int)):
        np.testing.assert_array_equal(metrics.of_scores(scores, held_out, "ndcg@20", masked=case["masked"])["ndcg@20"], expected)


def test_vectors_that_do_not_fit_are_named(case: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="users have vectors of 2 numbers, items of 3"):
        metrics.of_vectors(np.ones((1, 2)), np.ones((4, 3)), [[0]])
    with pytest.raises(ValueError, match="similarity: unknown variant `angle`"):
        metrics.of_vectors(np.ones((1, 2)), np.ones((4, 2)), [[0]], similarity="angle")


def test_tests_are_those_of_the_program(results: ranksweep.Results) -> None:
    stored = results.significance("arrow").to_pandas()
    stored = stored[(stored.metric == "ndcg") & (stored.cutoff == 20)]
    users = results.per_user("polars").filter(metric="ndcg", cutoff=20)
    methods: dict[str, Any] = {}
    for method, seed, trial in results.trials("polars").filter(selected=True).select("method", "seed", "trial").iter_rows():
        values = users.filter(trial=trial).sort("user")["value"].to_numpy()
        methods[method] = values if seed is None else [*methods.get(method, []), values]
    settings = small(results.folder).evaluation.significance  # type: ignore[union-attr]
    assert isinstance(settings, ranksweep.Significance)
    fixed = [name for name, values in methods.items() if not isinstance(values, list)]
    assert fixed == ["popularity", "ease"]
    found = significance.compare(methods, settings, fixed=fixed, frame="arrow").to_pandas()
    expected = stored.drop(columns=["dataset", "metric", "cutoff", "primary"]).reset_index(drop=True)
    assert len(found) == 3 * 2
    assert found.equals(expected)


def test_tests_are_those_of_scipy() -> None:
    random = np.random.default_rng(11)
    a = random.beta(2, 5, size=200)
    methods = {"a": a, "b": np.clip(a + random.normal(0.01, 0.05, size=200), 0, 1)}
    found = significance.compare(methods, {"tests": ["paired-t", "wilcoxon", "mann-whitney"], "over": "users"}).set_index("test")
    expected = {
        "paired-t": scipy.stats.ttest_rel(*methods.values()),
        "wilcoxon": scipy.stats.wilcoxon(*methods.values(), method="asymptotic", correction=True),
        "mann-whitney": scipy.stats.mannwhitneyu(*methods.values(), method="asymptotic", use_continuity=True),
    }
    for test, theirs in expected.items():
        np.testing.assert_allclose(found.p_value[test], theirs.pvalue, rtol=1e-6, err_msg=test)
    np.testing.assert_allclose(found.statistic["paired-t"], expected["paired-t"].statistic, rtol=1e-9)
    assert found.difference["paired-t"] == pytest.approx(methods["a"].mean() - methods["b"].mean())


def test_of_one_training_nothing_is_known_of_other_seeds() -> None:
    random = np.random.default_rng(12)
    one, other = random.random((2, 50))
    assert set(significance.compare({"a": one, "b": other}).over) == {"users"}
    assert set(significance.compare({"a": one, "b": other}, fixed=["a", "b"]).over) == {"users-and-seeds"}
    single, several = significance.compare({"a": one[None], "b": other}), significance.compare({"a": one, "b": other})
    assert single.equals(several)


@pytest.mark.parametrize(
    ("fixed", "reason"),
    [
        (["c"], "fixed has 'c', which is none of the methods ['a', 'b']"),
        (["b"], "fixed has 'b', which has 2 seeds; expected one array of the users' values"),
    ],
)
def test_what_has_no_seed_is_a_method_with_one_array(fixed: list[str], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        significance.compare({"a": [0.1, 0.2], "b": [[0.3, 0.1], [0.2, 0.1]]}, fixed=fixed)


@pytest.mark.parametrize(
    ("methods", "settings", "reason"),
    [
        ({"a": [0.1, 0.2]}, {}, "methods has 1 of them, expected two or more"),
        ({"a": [0.1, 0.2], "b": [0.1]}, {}, "methods['b'] has 1 users, the first method 2"),
        ({"a": [0.1, np.nan], "b": [0.1, 0.2]}, {}, "methods['a'] has values that are not finite"),
        ({"a": 0.1, "b": [0.1]}, {}, "methods['a'] has the shape (), expected values by user, or by seed and user"),
        ({"a": [0.1, 0.2], "b": [0.3, 0.1]}, {"alpha": 2}, "`alpha` is 2"),
        ({"a": [0.1, 0.2], "b": [0.3, 0.1]}, {"test": ["paired-t"]}, "settings: unknown field `test`, expected one of `tests`"),
        ([[0.1, 0.2], [0.3, 0.1]], {}, "methods is list, expected a mapping of names to arrays"),
        ({1: [0.1, 0.2], 2: [0.3, 0.1]}, {}, "methods has the name 1, expected a text"),
        ({"a": [0.1, 0.2], "b": [0.3, 0.1]}, {"family": {"against": "c"}}, "family is against 'c', which is none of the methods ['a', 'b']"),
        ({"a": [0.1, 0.2], "b": [0.3, 0.1]}, {"tests": ["t"]}, "unknown variant `t`, expected one of `paired-t`"),
    ],
)
def test_what_cannot_be_compared_is_named(methods: Any, settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ValueError, match=re.escape(reason)):
        significance.compare(methods, settings)


def test_a_wheel_that_is_not_installed_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ranksweep_native", None)
    monkeypatch.delitem(sys.modules, "ranksweep._native")
    with pytest.raises(ModuleNotFoundError, match=r"ranksweep_native is not installed: `pip install 'ranksweep\[arrays\]'`"):
        importlib.import_module("ranksweep._native")


def test_the_two_wheels_are_of_one_version() -> None:
    needed = [name for name in requires("ranksweep") or [] if name.startswith("ranksweep-native")]
    assert len(needed) == 1
    assert needed[0].split(";")[0].strip() == f"ranksweep-native=={version('ranksweep-native')}"
    assert version("ranksweep") == version("ranksweep-native")


class OfAnotherLibrary:
    """An array that NumPy can read, as a tensor of PyTorch is."""

    def __init__(self, array: Any) -> None:
        self.array = np.asarray(array)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self.array

    def __len__(self) -> int:
        return len(self.array)

    def __iter__(self) -> Any:
        return iter(self.array)


def test_a_matrix_of_another_library_is_a_matrix() -> None:
    scores, held_out = [[3, 2, 1, 0], [0, 1, 2, 3]], [[0, 1, 0, 0], [1, 0, 0, 1]]
    found = metrics.of_scores(scores, OfAnotherLibrary(held_out), ["recall@1", "hit-rate@2"])
    assert found["recall@1"].tolist() == [0, 0.5]
    assert found["hit-rate@2"].tolist() == [1, 1]
    with pytest.raises(ValueError, match=r"held_out\[0\] has 0 or 1 for each of 4 items, expected the numbers of items: pass the rows"):
        metrics.of_scores(scores, held_out, "recall@1")


def test_values_can_be_changed() -> None:
    values = metrics.of_scores([[3, 2, 1], [1, 2, 3]], [[0], []], "recall@1")["recall@1"]
    values[np.isnan(values)] = 0
    assert values.tolist() == [1, 0]


def test_labels_say_whose_values_are_whose() -> None:
    random = np.random.default_rng(0)
    one = random.normal(0.3, 0.1, 300)
    other = one + random.normal(0.004, 0.02, 300)
    asked = {"tests": ["paired-t"]}
    expected = significance.compare({"one": one, "other": other}, asked, frame="arrow")
    frame = pandas.DataFrame({"one": one, "other": other}, index=[f"u{user}" for user in range(300)])
    shuffled = frame.other.sample(frac=1, random_state=1)
    by_seeds = pandas.DataFrame([frame.one]), pandas.DataFrame([shuffled])
    for given in (frame, polars.DataFrame({"one": one, "other": other}), {"one": frame.one, "other": shuffled}):
        assert significance.compare(given, asked, frame="arrow").equals(expected)
    assert significance.compare({"one": by_seeds[0], "other": by_seeds[1]}, asked, frame="arrow").equals(expected)
    assert significance.compare({"one": frame.one.reset_index(drop=True), "other": other}, asked, frame="arrow").equals(expected)
    with pytest.raises(ValueError, match=r"methods\['one'\] has users \['u0', 'u1', 'u2'\]…, and methods\['other'\] has none"):
        significance.compare({"one": frame.one, "other": shuffled.to_numpy()}, asked)
    with pytest.raises(ValueError, match=r"methods\['other'\] is of other users than methods\['one'\]"):
        significance.compare({"one": frame.one, "other": frame.other.rename({"u0": "v0"})}, asked)


def test_rows_with_labels_are_not_taken_by_their_places() -> None:
    held_out = pandas.DataFrame({"user": [1, 1, 0, 2], "item": [0, 1, 2, 3]})
    scores = np.random.default_rng(0).normal(size=(3, 8))
    ordered = held_out.groupby("user").item.apply(list)
    by_lists = metrics.of_scores(scores, [[2], [0, 1], [3]])["ndcg@20"]
    np.testing.assert_array_equal(metrics.of_scores(pandas.DataFrame(scores), ordered)["ndcg@20"], by_lists)
    with pytest.raises(ValueError, match=r"held_out has the index \[1, 0, 2\]…, and rows are taken by their places: expected 0, 1, 2"):
        metrics.of_scores(scores, held_out.groupby("user", sort=False).item.apply(list))
    with pytest.raises(ValueError, match=r"scores has the index \['a', 'b', 'c'\]"):
        metrics.of_scores(pandas.DataFrame(scores, index=list("abc")), ordered)
    with pytest.raises(ValueError, match=r"scores has the columns \[0, 2, 3\]…, and items are taken by their places: expected 0, 1, 2"):
        metrics.of_scores(pandas.DataFrame(scores).drop(columns=1), ordered)
    masked = pandas.DataFrame(np.zeros((3, 8), int))
    with pytest.raises(ValueError, match=r"masked has the columns \[7, 6, 5\]…"):
        metrics.of_scores(scores, ordered, masked=masked[masked.columns[::-1]])


def test_lists_are_ranked_as_the_scores_that_they_are_of() -> None:
    """Lists of the best 20 by `numpy.argsort`, of which some are shorter, as implicit fills them."""
    random = np.random.default_rng(5)
    scores = random.normal(size=(30, 60))
    drawn = [random.permutation(60)[:12] for _ in range(30)]
    known, held_out = [row[:8] for row in drawn], [row[8:] for row in drawn]
    for user, row in enumerate(known):
        scores[user, row] = -np.inf
    listed = np.argsort(-scores, axis=1)[:, :20]
    names = ["ndcg@20", "recall@5", "precision@20", "hit-rate@1", "mrr@20", "map@10", "coverage@20", "gini@5", "novelty@10"]
    expected = metrics.of_scores(scores, held_out, names, masked=known)
    for recommended in (listed, list(listed), np.hstack([listed, np.full((30, 3), -1)]), pandas.DataFrame(listed)):
        found = metrics.of_lists(recommended, held_out, names, items=60, masked=known)
        for name in names:
            np.testing.assert_array_equal(found[name], expected[name], err_msg=name)
    # What is masked is passed over, so that lists of all items are as good.
    everything = metrics.of_lists(np.argsort(-scores, axis=1), held_out, ["ndcg@20"], items=60, masked=known)
    np.testing.assert_array_equal(everything["ndcg@20"], expected["ndcg@20"])
    short = metrics.of_lists([[3], []], [[3], [1]], ["recall@5", "mrr@5"], items=5)
    np.testing.assert_array_equal([short["recall@5"], short["mrr@5"]], [[1, 0], [1, 0]])


def test_lists_that_are_none_are_refused() -> None:
    held_out = [[3], [1]]
    with pytest.raises(ValueError, match="item 2 stands twice in the list of user 1"):
        metrics.of_lists([[0, 1], [2, 2]], held_out, items=5)
    with pytest.raises(ValueError, match=re.escape("recommended has the item 7, which is none of the 5 items")):
        metrics.of_lists([[0], [7]], held_out, items=5)
    with pytest.raises(ValueError, match="recommended has no order, expected an array of users x K"):
        metrics.of_lists(scipy.sparse.eye(2, 5, format="csr"), held_out, items=5)
    with pytest.raises(ValueError, match="of the type float64, expected the numbers of items"):
        metrics.of_lists([[0.5], [1.0]], held_out, items=5)
    with pytest.raises(ValueError, match="held_out has 1 rows, expected one for each of 2 users"):
        metrics.of_lists([[0], [1]], [[3]], items=5)
