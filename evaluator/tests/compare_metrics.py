"""Holds the evaluator's metrics against ranx, pytrec_eval and scikit-learn, and those of what lists are like against NumPy and SciPy, on random inputs,
with and without ties.

Run from anywhere: `python evaluator/tests/compare_metrics.py` with the packages of requirements-checks.txt.
The example `metrics` is built and run by cargo, unless the path of a built one is given.
All values of all users agree to 1e-9.
"""

import json
import pathlib
import subprocess
import sys

import numpy as np
import pytrec_eval
import ranx
from scipy.spatial.distance import jensenshannon
from sklearn.metrics import roc_auc_score

ROOT = pathlib.Path(__file__).resolve().parents[2]
CUTOFFS = (1, 2, 5, 10, 20, 50)
NAMES = ("ndcg", "recall", "precision", "hit-rate", "mrr", "map")
OF_LISTS = ("coverage", "gini", "average-popularity", "novelty", "diversity", "popularity-lift", "popularity-deviation")
TREC = {"ndcg": "ndcg_cut", "recall": "recall", "precision": "P", "hit-rate": "success", "map": "map_cut"}
RANX = {"ndcg": "ndcg", "recall": "recall", "precision": "precision", "hit-rate": "hit_rate", "mrr": "mrr", "map": "map"}
failures = []
compared = 0


def problem(random, users, items, levels):
    """Users with scores, masked items and at least one held-out item; `levels` bounds the number of different scores."""
    made = []
    for _ in range(users):
        scores = random.integers(0, levels, items) / levels if levels else random.normal(size=items)
        order = random.permutation(items)
        masked = random.integers(0, items // 3)
        # From one held-out item to more of them than most cutoffs have places.
        held_out = 1 + int((items // 2) * random.random() ** 3)
        made.append(
            {
                "scores": scores.astype(np.float32).tolist(),
                "masked": order[:masked].tolist(),
                "held_out": order[masked : masked + held_out].tolist(),
            }
        )
    return made


def ours(problems):
    metrics = [f"{name}@{cutoff}" for name in NAMES + OF_LISTS for cutoff in CUTOFFS] + ["auc"]
    command = sys.argv[1:] or ["cargo", "run", "--quiet", "--package", "evaluator", "--example", "metrics"]
    given = json.dumps([{"users": users, "metrics": metrics, "recall": recall, "ties": ties} for _, users, recall, ties in problems])
    run = subprocess.run(command, cwd=ROOT, input=given, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def runs(users, ties):
    """Each user's candidates under strictly descending scores, equal ones ordered by the rule for ties; and the relevant items."""
    run, relevant = {}, {}
    for at, user in enumerate(users):
        held_out, masked = set(user["held_out"]), set(user["masked"])
        candidates = [item for item in range(len(user["scores"])) if item not in masked]
        sign = 1 if ties == "pessimistic" else -1
        candidates.sort(key=lambda item: (-user["scores"][item], sign * (item in held_out)))
        run[f"u{at:03}"] = {f"i{item}": float(len(candidates) - place) for place, item in enumerate(candidates)}
        relevant[f"u{at:03}"] = {f"i{item}": 1 for item in held_out}
    return run, relevant


def near(what, mine, theirs):
    global compared
    compared += len(mine)
    if len(mine) != len(theirs) or not np.allclose(mine, theirs, rtol=0, atol=1e-9):
        worst = int(np.argmax(np.abs(np.array(mine) - np.array(theirs))))
        failures.append(f"{what}, user {worst}: ours {mine[worst]}, theirs {theirs[worst]}")


def compare(what, users, recall, ties, mine):
    run, relevant = runs(users, ties)
    keys = list(run)
    sizes = np.array([len(relevant[key]) for key in keys])
    measures = {f"{measure}.{','.join(map(str, CUTOFFS))}" for measure in TREC.values()} | {"recip_rank"}
    trec = pytrec_eval.RelevanceEvaluator(relevant, measures).evaluate(run)
    names = [f"{RANX[name]}@{cutoff}" for name in NAMES for cutoff in CUTOFFS]
    scored = ranx.evaluate(ranx.Qrels(relevant), ranx.Run(run), names, return_mean=False)
    for cutoff in CUTOFFS:
        # Both libraries divide by all held-out items where average precision, and recall when capped, divide by at most the cutoff.
        capped = sizes / np.minimum(sizes, cutoff)
        factors = {"map": capped, "recall": capped if recall == "capped" else np.ones(len(sizes))}
        for name in NAMES:
            factor = factors.get(name, np.ones(len(sizes)))
            label = f"{name}@{cutoff}, {what}, {recall}, {ties}"
            near(f"{label}, ranx", mine[f"{name}@{cutoff}"], scored[f"{RANX[name]}@{cutoff}"] * factor)
            if name == "mrr":
                whole = np.array([trec[key]["recip_rank"] for key in keys])
                near(f"{label}, trec", mine[f"mrr@{cutoff}"], np.where(whole * cutoff >= 1 - 1e-9, whole, 0.0))
            else:
                near(f"{label}, trec", mine[f"{name}@{cutoff}"], np.array([trec[key][f"{TREC[name]}_{cutoff}"] for key in keys]) * factor)
    near(f"auc, {what}", mine["auc"], [area(user) for user in users])
    for cutoff in CUTOFFS:
        for name, values in like(users, cutoff).items():
            near(f"{name}@{cutoff}, {what}", mine[f"{name}@{cutoff}"], values)


def like(users, cutoff):
    """What the users' lists are like, from their masked items as what they have: dense matrices, and other forms of the formulas where there are some."""
    items = len(users[0]["scores"])
    have = np.zeros((len(users), items))
    for at, user in enumerate(users):
        have[at, user["masked"]] = 1
    popularity, readers = have.sum(axis=0), (have.sum(axis=1) > 0).sum()
    unit = have / np.sqrt(np.maximum(popularity, 1))
    alike = unit.T @ unit
    bands = thirds(popularity)
    lists = [listed(user, cutoff) for user in users]
    counts = np.bincount(np.concatenate(lists), minlength=items)
    found = {name: [] for name in OF_LISTS}
    found["coverage"].append(len(set(np.concatenate(lists).tolist())) / items)
    # Half of the relative mean absolute difference.
    found["gini"].append(np.abs(counts[:, None] - counts[None, :]).mean() / (2 * counts.mean()))
    for user, items_listed in zip(users, lists):
        own, popular = np.array(user["masked"], dtype=int), popularity[items_listed]
        found["average-popularity"].append(popular.mean())
        found["novelty"].append(-np.log2(np.maximum(popular, 1) / readers).mean())
        pairs = np.triu_indices(len(items_listed), 1)
        found["diversity"].append((1 - alike[np.ix_(items_listed, items_listed)][pairs]).mean() if len(pairs[0]) else 0.0)
        found["popularity-lift"].append(popular.mean() / popularity[own].mean() - 1 if len(own) else 0.0)
        shares = [np.bincount(bands[which], minlength=3) / max(len(which), 1) for which in (own, items_listed)]
        found["popularity-deviation"].append(jensenshannon(*shares, base=2) ** 2 if len(own) else 0.0)
    return found


def listed(user, cutoff):
    """The best items that are not masked, equal scores by item."""
    scores = np.array(user["scores"])
    scores[user["masked"]] = -np.inf
    order = np.argsort(-scores, kind="stable")
    return order[: min(cutoff, len(scores) - len(user["masked"]))]


def thirds(popularity):
    """0 for the fewest most popular items that have a fifth of all interactions, 2 for the fewest least popular ones, 1 for the others."""
    order = np.argsort(-popularity, kind="stable")
    before = np.cumsum(popularity[order]) - popularity[order]
    behind = np.cumsum(popularity[order][::-1])[::-1] - popularity[order]
    bands = np.ones(len(popularity), dtype=int)
    bands[order[5 * behind < popularity.sum()]] = 2
    bands[order[5 * before < popularity.sum()]] = 0
    return bands


def area(user):
    masked = set(user["masked"])
    candidates = [item for item in range(len(user["scores"])) if item not in masked]
    held_out = set(user["held_out"])
    return roc_auc_score([item in held_out for item in candidates], [user["scores"][item] for item in candidates])


def main():
    random = np.random.default_rng(20260101)
    problems = []
    for items in (12, 60, 900):
        for levels in (0, 40, 3):
            users = problem(random, 40, items, levels)
            what = f"{items} items, {levels or 'any'} scores"
            problems.append((what, users, "standard", "pessimistic"))
            problems.append((what, users, "capped", "optimistic"))
    for given, mine in zip(problems, ours(problems)):
        compare(*given, mine)
    if failures:
        sys.exit("\n".join(failures))
    sys.stdout.write(f"{compared} values agree\n")


main()
