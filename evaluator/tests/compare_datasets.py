"""Holds the evaluator's comparisons over datasets against SciPy, statsmodels and scikit-posthocs on random inputs, to 1e-9.

Run from anywhere: `python evaluator/tests/compare_datasets.py` with the packages of requirements-checks.txt.
The example `datasets` is built and run by cargo, unless the path of a built one is given.
"""

import itertools
import json
import math
import pathlib
import subprocess
import sys

import numpy as np
from scipy import stats
from scikit_posthocs import posthoc_nemenyi_friedman
from statsmodels.stats.multitest import multipletests

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALPHA = 0.05
MOST = 1e6
failures = []


def near(what, ours, theirs):
    """Statistics may be large, so the tolerance is relative above 1."""
    if not np.allclose(ours, theirs, rtol=1e-9, atol=1e-9):
        failures.append(f"{what}: ours {ours}, theirs {theirs}")


def inputs(random):
    """Methods by datasets: few and many of either, distinct values, many ties, clear winners, one order on all datasets."""
    comparisons = []
    for methods, datasets in itertools.product((2, 3, 4, 7, 12), (2, 3, 5, 8, 14, 40)):
        comparisons.append(random.random((methods, datasets)))
        comparisons.append(random.integers(0, 3, (methods, datasets)) / 2)
        comparisons.append(random.random((methods, datasets)) + np.linspace(0, 0.6, methods)[:, None])
    comparisons.append(np.tile(np.arange(5.0)[:, None], 6))
    return comparisons


def ours(comparisons, tails, quantiles):
    given = {"comparisons": [values.tolist() for values in comparisons], "tails": tails, "quantiles": quantiles, "alpha": ALPHA}
    command = sys.argv[1:] or ["cargo", "run", "--quiet", "--package", "evaluator", "--example", "datasets"]
    run = subprocess.run(command, cwd=ROOT, input=json.dumps(given), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def chi_square(values):
    """SciPy takes three methods or more; two are the same formula by hand."""
    methods, datasets = values.shape
    ranks = stats.rankdata(-values, axis=0)
    if np.ptp(values, axis=0).max() == 0:
        return 0.0, 1.0
    if methods > 2:
        found = stats.friedmanchisquare(*values)
        return found.statistic, found.pvalue
    wins, losses = (ranks[0] < ranks[1]).sum(), (ranks[0] > ranks[1]).sum()
    statistic = (wins - losses) ** 2 / (wins + losses)
    return statistic, stats.chi2.sf(statistic, 1)


def exact_p(values):
    """Sums of ranks by dataset, as a table of how many arrangements lead to each."""
    methods, datasets = values.shape
    if math.factorial(methods) ** (datasets - 1) > MOST:
        return None
    ranks = stats.rankdata(-values, axis=0).T * 2
    orders = np.array(list(itertools.permutations(range(methods))))
    ways = {tuple(ranks[0]): 1}
    for others in ranks[1:]:
        arranged, counts = np.unique(others[orders], axis=0, return_counts=True)
        grown = {}
        for sums, count in ways.items():
            for added, times in zip(arranged, counts, strict=True):
                key = tuple(np.add(sums, added))
                grown[key] = grown.get(key, 0) + count * int(times)
        ways = grown
    observed = np.square(ranks.sum(axis=0)).sum()
    return sum(count for sums, count in ways.items() if np.square(sums).sum() >= observed) / sum(ways.values())


def compare(what, values, found):
    methods, datasets = values.shape
    ranks = stats.rankdata(-values, axis=0).mean(axis=1)
    near(f"{what} ranks", found["ranks"], ranks)
    statistic, p_value = chi_square(values)
    near(f"{what} chi-square", found["chi_square"], [statistic, p_value])
    left = datasets * (methods - 1) - statistic
    if left < 1e-9:
        near(f"{what} F", [found["f"][0] is None, found["f"][1]], [True, 0.0])
    else:
        f = (datasets - 1) * statistic / left
        near(f"{what} F", found["f"], [f, stats.f.sf(f, methods - 1, (methods - 1) * (datasets - 1))])
    exact = exact_p(values)
    if exact is None or found["exact_p"] is None:
        near(f"{what} exact p is there", found["exact_p"] is None, exact is None)
    else:
        near(f"{what} exact p", found["exact_p"], exact)
    pairs = list(itertools.combinations(range(methods), 2))
    theirs = posthoc_nemenyi_friedman(values.T).to_numpy()
    near(f"{what} Nemenyi", found["nemenyi"], [theirs[pair] for pair in pairs])
    error = math.sqrt(methods * (methods + 1) / (6 * datasets))
    z = np.array([(ranks[one] - ranks[other]) / error for one, other in pairs])
    p_values = 2 * stats.norm.sf(np.abs(z))
    near(f"{what} z", found["z"], np.column_stack([z, p_values, multipletests(p_values, method="holm")[1]]))
    near(f"{what} against the first", found["against_first"], multipletests(p_values[: methods - 1], method="holm")[1])
    quantile = stats.studentized_range.isf(ALPHA, methods, np.inf) / math.sqrt(2)
    near(f"{what} critical difference", found["critical_difference"], quantile * error)


def main():
    random = np.random.default_rng(2006)
    comparisons = inputs(random)
    tails = [(q, values) for values in (2, 3, 5, 10, 30, 100) for q in (0.001, 0.1, 0.7, 1.5, 2.5, 3.3, 4.0, 5.5, 8.0, 12.0)]
    quantiles = [(tail, values) for values in (2, 3, 6, 10, 50) for tail in (0.001, 0.01, 0.05, 0.1, 0.5)]
    found = ours(comparisons, tails, quantiles)
    for number, (values, row) in enumerate(zip(comparisons, found["comparisons"], strict=True)):
        compare(f"comparison {number} of {values.shape[0]} methods on {values.shape[1]} datasets", values, row)
    near("tails", found["tails"], [stats.studentized_range.sf(q, values, np.inf) for q, values in tails])
    near("quantiles", found["quantiles"], [stats.studentized_range.isf(tail, values, np.inf) for tail, values in quantiles])
    for failure in failures:
        print(failure)
    print(f"{len(comparisons)} comparisons, {len(tails)} tails and {len(quantiles)} quantiles, {len(failures)} disagreements")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
