"""How often the t-test over seeds alone calls equal methods different, with and without the rule for variances that are no draw of the others'.

    python docs/moderated_test_size.py

Means of seeds are normal draws. Of six methods none, one or two have seeds that spread more than those of the others: by 20 and by 7 times their variance. Prints for
each number of seeds the share of pairs that differ at 0.05, and the mean width of their intervals in standard deviations of the others: of pairs of the others, of one of these with
one of the others, of the two. docs/statistics.md has the table. Variances are moderated as evaluator/src/significance/moderation.rs says, by NumPy and SciPy.
"""

import itertools

import numpy as np
from scipy import special, stats

METHODS, SETS, LEVEL, OUTLYING = 6, 4_000, 0.05, 0.01
SPREADS = {"alike": [1.0] * 6, "one of 20 times": [20.0] + [1.0] * 5, "two of 7 times": [7.0] * 2 + [1.0] * 4}


def fit(variances, degrees):
    """The degrees of freedom and the variance that methods have in common (Smyth 2004), and the degrees of freedom of all together."""
    together, half = degrees.sum(), degrees / 2
    logs = np.log(np.maximum(variances, 1e-5 * np.median(variances))) - special.digamma(half) + np.log(half)
    excess = logs.var(ddof=1) - special.polygamma(1, half).mean()
    if excess <= 0:
        return together, np.average(variances, weights=degrees), together
    half = 0.5 + 1 / excess
    for _ in range(40):
        half += special.polygamma(1, half) * (1 - special.polygamma(1, half) / excess) / special.polygamma(2, half)
    return min(2 * half, together), np.exp(logs.mean() + special.digamma(half) - np.log(half)), together


def moderated(variances, degrees, robust):
    """Each method's variance and its degrees of freedom."""
    falling, own, rest = np.argsort(-variances), np.zeros(len(variances), bool), fit(variances, degrees)
    for count in range(len(variances) // 3 if robust else 0, 0, -1):
        common, last = fit(variances[falling[count:]], degrees[falling[count:]]), falling[count - 1]
        is_far = variances[last] > 4 * variances[falling[count:]].mean()
        if is_far and len(variances) * stats.f.sf(variances[last] / common[1], degrees[last], common[0]) < OUTLYING:
            own[falling[:count]], rest = True, common
            break
    prior, variance, together = rest
    drawn = (prior * variance + degrees * variances) / (prior + degrees)
    return np.where(own, variances, drawn), np.where(own, degrees, np.minimum(prior + degrees, together))


def main():
    random = np.random.default_rng(7)
    pairs = np.array(list(itertools.combinations(range(METHODS), 2)))
    print("| seeds | methods | rule | pairs of the others | one of these and one of the others | the two |\n|---|---|---|---|---|---|")
    for seeds, (name, spreads) in itertools.product((2, 3, 5), SPREADS.items()):
        apart = (np.array(spreads) > 1)[pairs].sum(axis=1)
        found = {rule: [] for rule in (False, True)}
        for _ in range(SETS):
            draws = random.normal(size=(METHODS, seeds)) * np.sqrt(spreads)[:, None]
            for rule, results in found.items():
                variance, degrees = moderated(draws.var(axis=1, ddof=1), np.full(METHODS, seeds - 1.0), rule)
                error = variance[pairs].sum(axis=1) / seeds
                of_pair = error / ((variance / degrees)[pairs].sum(axis=1) / seeds)
                half = stats.t.isf(LEVEL / 2, of_pair) * np.sqrt(error)
                results.append((np.abs(np.diff(draws.mean(axis=1)[pairs], axis=1)[:, 0]) > half, 2 * half))
        for rule, results in found.items():
            different, width = np.mean(results, axis=0)
            cells = [f"{different[apart == kind].mean():.3f} ({width[apart == kind].mean():.1f})" if (apart == kind).any() else "" for kind in (0, 1, 2)]
            print(f"| {seeds} | {name} | {'used' if rule else 'without'} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
