"""Holds the evaluator's tests against SciPy, statsmodels and limma's published formulas on random inputs.

Run from anywhere: `python evaluator/tests/compare_significance.py` with the packages of requirements-checks.txt.
The example `significance` is built and run by cargo, unless the path of a built one is given.
Exact and asymptotic values agree to 1e-9; what is sampled agrees within its sampling error.
"""

import collections
import itertools
import json
import pathlib
import subprocess
import sys

import numpy as np
from scipy import integrate, optimize, special, stats
from statsmodels.stats.multitest import multipletests

ROOT = pathlib.Path(__file__).resolve().parents[2]
# The spread of seeds of sets of which all methods but seven have sixty times as much.
FAR_APART = 0.002
RESAMPLES = 20_000
LEVEL = 0.9
failures = []


def near(what, ours, theirs, tolerance=1e-9):
    """Statistics may be large, so the tolerance is relative above 1."""
    if not np.allclose(ours, theirs, rtol=tolerance, atol=tolerance):
        failures.append(f"{what}: ours {ours}, theirs {theirs}")


def inputs(random):
    """Pairs of methods: few and many users, continuous, with many ties and zeros, skewed, nearly equal, apart by the same for all users."""
    pairs = []
    for users in (2, 3, 5, 9, 14, 20, 21, 35, 50, 51, 80, 300, 5000):
        base = random.beta(0.5, 2.0, users)
        pairs.append((random.random(users), random.random(users)))
        pairs.append((base, np.clip(base + random.normal(0.01, 0.05, users), 0, 1)))
        pairs.append((random.integers(0, 4, users) / 4, random.integers(0, 4, users) / 4))
        pairs.append((base, np.where(random.random(users) < 0.7, base, random.permutation(base))))
        pairs.append((base + 0.3, base))
    return pairs


def sets(random):
    """Sets of methods with replicates: equal and unequal numbers, variances of seeds alike and far apart, one method's or two's far above all others', one seed, many zeros."""
    found = []
    for counts, spread in (([2, 2], 0.01), ([3, 3, 3], 0.01), ([5, 2, 3, 4], 0.1), ([2] * 8, 0.02), ([1, 3, 3], 0.05), ([10, 10], 0.001), ([3] * 6, 0.3), ([3] * 9, FAR_APART), ([4] * 8, FAR_APART)):
        users = int(random.integers(20, 400))
        base = random.beta(0.5, 2.0, users) * (random.random(users) < 0.4)
        methods = []
        for place, count in enumerate(counts):
            level, apart = random.choice([0.3, 1.0, 2.0]), random.choice([0.1, 1.0, 3.0])
            if spread == FAR_APART:
                level, apart = 1.0, 60 if place < len(counts) - 7 else 1
            seeds = random.normal(0, spread * apart, count)
            methods.append([(level * base + seed + random.normal(0.01, 0.05, users)).tolist() for seed in seeds])
        found.append(methods)
    return found


def ours(pairs, families, p_values):
    given = {
        "sets": families,
        "pairs": [{"a": a.tolist(), "b": b.tolist()} for a, b in pairs],
        "p_values": p_values.tolist(),
        "resamples": RESAMPLES,
        "level": LEVEL,
    }
    command = sys.argv[1:] or ["cargo", "run", "--quiet", "--package", "evaluator", "--example", "significance"]
    run = subprocess.run(command, cwd=ROOT, input=json.dumps(given), capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    return json.loads(run.stdout)


def every_sign(values):
    """All 2^n sums of the values under signs."""
    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums - value, sums + value])
    return sums


def signed_rank_p(ranks, smaller):
    """SciPy's exact distribution knows no ties: here all subsets of the mid-ranks are counted by their sum, in whole numbers."""
    ways = collections.Counter({0.0: 1})
    for rank in ranks:
        ways = ways + collections.Counter({total + rank: count for total, count in ways.items()})
    return min(1.0, 2 * sum(count for total, count in ways.items() if total <= smaller) / 2 ** len(ranks))


def compare_paired_t(what, d, found):
    theirs = stats.ttest_1samp(d, 0)
    near(f"{what} t", found["paired-t"]["statistic"], theirs.statistic)
    near(f"{what} t p", found["paired-t"]["p_value"], theirs.pvalue)
    interval = theirs.confidence_interval(LEVEL)
    near(f"{what} t interval", found["t-interval"], [interval.low, interval.high])
    d_z = d.mean() / d.std(ddof=1) * (1 - 3 / (4 * (len(d) - 1) - 1))
    near(f"{what} d_z", found["randomization"]["effect_size"], d_z)


def compare_alike(what, d, found):
    """Users who all differ by the same: the t-test with two users more, a unit above and below, and no more degrees of freedom."""
    more = np.concatenate([d, [d.mean() + 1, d.mean() - 1]])
    statistic = d.mean() / (more.std(ddof=1) / np.sqrt(len(more)))
    near(f"{what} t of users alike", found["paired-t"]["p_value"], 2 * stats.t.sf(abs(statistic), len(d) - 1))


def compare_wilcoxon(what, d, found):
    nonzero = d[d != 0]
    ranks = stats.rankdata(np.abs(nonzero))
    plus, minus = ranks[nonzero > 0].sum(), ranks[nonzero < 0].sum()
    near(f"{what} W", found["wilcoxon"]["statistic"], min(plus, minus))
    near(f"{what} rank-biserial", found["wilcoxon"]["effect_size"], (plus - minus) / (plus + minus))
    tied = len(np.unique(np.abs(nonzero))) < len(nonzero)
    if len(nonzero) > 50:
        p_value = stats.wilcoxon(nonzero, correction=True, method="asymptotic").pvalue
    elif not tied:
        p_value = stats.wilcoxon(nonzero, method="exact").pvalue
    else:
        p_value = signed_rank_p(ranks, min(plus, minus))
    near(f"{what} W p", found["wilcoxon"]["p_value"], p_value)
    return ("tied " if tied else "distinct ") + ("asymptotic" if len(nonzero) > 50 else "exact")


def compare_randomization(what, a, b, d, found):
    nonzero = d[d != 0]
    if len(nonzero) <= 20:
        p_value, tolerance = np.mean(np.abs(every_sign(nonzero)) >= abs(nonzero.sum()) - 1e-11), 1e-9
    else:
        signs = np.random.default_rng(7).choice([-1.0, 1.0], (RESAMPLES, len(nonzero)))
        p_value = np.mean(np.abs(signs @ nonzero) >= abs(nonzero.sum()) - 1e-11)
        tolerance = 5 * np.sqrt(2 * max(p_value * (1 - p_value), 1 / RESAMPLES) / RESAMPLES)
    if abs(found["randomization"]["p_value"] - p_value) > tolerance:
        failures.append(f"{what} randomization: ours {found['randomization']['p_value']}, theirs {p_value} within {tolerance}")
    near(f"{what} mean difference", found["randomization"]["statistic"], a.mean() - b.mean())


def compare_mann_whitney(what, a, b, found):
    theirs = stats.mannwhitneyu(a, b, use_continuity=True, method="asymptotic")
    near(f"{what} U", found["mann-whitney"]["statistic"], theirs.statistic)
    near(f"{what} U p", found["mann-whitney"]["p_value"], theirs.pvalue)
    delta = np.mean(np.sign(a[:, None] - b[None, :]))
    near(f"{what} delta", found["mann-whitney"]["effect_size"], delta)


def fit_f_dist(variances, degrees):
    """limma's fitFDist (Smyth 2004, section 6.2): degrees of freedom, at most those of all variances together, and variance of the prior."""
    half = degrees / 2
    variances = np.maximum(variances, 1e-5 * np.median(variances))
    e = np.log(variances) - special.digamma(half) + np.log(half)
    excess = (e.var(ddof=1) if len(e) > 1 else 0) - special.polygamma(1, half).mean()
    if excess <= 0:
        return degrees.sum(), np.average(variances, weights=degrees)
    prior = optimize.brentq(lambda log: special.polygamma(1, np.exp(log)) / excess - 1, -20, 20, xtol=1e-15, rtol=1e-15)
    half = np.exp(prior)
    return min(2 * half, degrees.sum()), np.exp(e.mean() + special.digamma(half) - np.log(half))


def outlying(variances, degrees):
    """The places of variances that are no draw of the others': the largest few, held against what is fitted to the rest."""
    falling = np.argsort(-variances)
    for count in range(min(len(variances) // 3, 5), 0, -1):
        rest, last = falling[count:], falling[count - 1]
        d0, s0 = fit_f_dist(variances[rest], degrees[rest])
        is_far = variances[last] > 4 * np.average(variances[rest], weights=degrees[rest])
        if is_far and len(variances) * stats.f.sf(variances[last] / s0, degrees[last], d0) < 0.01:
            return falling[:count]
    return falling[:0]


def moderated(methods):
    """Variance, degrees of freedom and interaction of each method's replicates, by NumPy."""
    counts = np.array([len(method) for method in methods])
    raw = np.array([np.mean(method, axis=1).var(ddof=1) if len(method) > 1 else np.nan for method in methods])
    known = counts > 1
    scale = np.array([np.var(method, axis=1, ddof=1).mean() for method in methods])
    d = counts - 1.0
    own = np.zeros(len(methods), bool)
    own[np.flatnonzero(known)[outlying((raw / scale)[known], d[known])]] = True
    d0, s0 = fit_f_dist((raw / scale)[known & ~own], d[known & ~own])
    variance = np.where(own, raw, scale * (d0 * s0 + d * np.nan_to_num(raw / scale)) / (d0 + d))
    interaction = np.full(len(methods), np.nan)
    for place, method in enumerate(methods):
        if known[place]:
            y = np.array(method)
            left = y - y.mean(axis=0) - y.mean(axis=1, keepdims=True) + y.mean()
            interaction[place] = (left**2).sum() / ((y.shape[0] - 1) * (y.shape[1] - 1)) / y.shape[1]
    interaction[~known] = interaction[known].mean()
    return (d0, s0), variance, np.where(own, d, np.minimum(d0 + d, d[known & ~own].sum())), interaction


class Crossed:
    """The p-value of a difference whose variance has a part by users and one by seeds, with an interaction that both hold (docs/statistics.md)."""

    def __init__(self, users, seeds, interaction, users_degrees, seeds_degrees):
        self.users, self.users_degrees = max(users - interaction, 0), users_degrees
        self.seeds, self.seeds_degrees = seeds, seeds_degrees
        self.nothing = interaction * min(max(seeds_degrees - 1, 0), 1) / 3
        self.least = users if seeds > 0 else 0
        if self.seeds == 0:
            self.users = users

    def p_value(self, size):
        """Never smaller than that of users alone, as seeds can only add to the variance."""
        return max(self.averaged(size), 2 * stats.t.sf(size / np.sqrt(self.least), self.users_degrees) if self.least > 0 else 0)

    def averaged(self, size):
        if self.users == 0 or self.seeds == 0:
            variance, degrees = (self.seeds, self.seeds_degrees) if self.seeds > 0 else (self.users, self.users_degrees)
            return 2 * stats.t.sf(size / np.sqrt(variance), degrees)

        def weight(y):
            density = -self.seeds_degrees / 2 * (y + np.exp(-y) - 1)
            return np.exp(density) * (np.exp(-y) + self.seeds / self.users) ** (1 / 4) * (1 + (self.nothing / self.seeds * np.exp(-y)) ** 4)

        def tail(y):
            variance = self.users + self.seeds * np.exp(y)
            degrees = self.users_degrees * (variance / self.users) ** 2
            two_sided = 2 * (stats.norm.sf if degrees > 1e9 else lambda t: stats.t.sf(t, degrees))(size / np.sqrt(variance))
            return weight(y) * two_sided

        width = np.sqrt(2 / self.seeds_degrees)
        ends = np.concatenate([-4 * width * np.array([2.5, 1, 0.5, 0.25]), width * np.array([0, 0.25, 0.5, 1, 2, 4, 8, 16]), [16 * width + 60 / self.seeds_degrees]])
        return self.integral(tail, ends) / self.integral(weight, ends)

    @staticmethod
    def integral(function, ends):
        ends = np.maximum(ends, -8)
        return sum(integrate.quad(function, low, high, epsabs=0, epsrel=1e-12, limit=200)[0] for low, high in itertools.pairwise(ends) if low < high)


def compare_crossed(what, methods, found):
    prior, variance, degrees, interaction = moderated(methods)
    near(f"{what} prior", found["prior"], prior)
    near(f"{what} variances", np.array(found["variances"]) * 1e4, variance * 1e4)
    near(f"{what} degrees", found["degrees"], degrees)
    d = np.mean(methods[0], axis=0) - np.mean(methods[1], axis=0)
    parts = [variance[place] / len(methods[place]) for place in (0, 1)]
    q1, q2 = d.var(ddof=1) / len(d), sum(parts)
    q3 = min(q1, sum(interaction[place] / len(methods[place]) for place in (0, 1)))
    nu = q2 / sum(part / degrees[place] for place, part in enumerate(parts))
    for over, parts in {"users-and-seeds": (q1, q2, q3), "users": (q1, 0, 0), "seeds": (0, q2, 0)}.items():
        theirs = Crossed(*parts, len(d) - 1, nu)
        near(f"{what} {over} error", found[over]["error"], np.sqrt(parts[0] + max(0, parts[1] - parts[2])))
        near(f"{what} {over} p", found[over]["p_value"], theirs.p_value(abs(d.mean())))
        near(f"{what} {over} half", theirs.p_value(found[over]["half"]), 1 - LEVEL)


def compare_bootstrap(what, d, found):
    drawn = np.random.default_rng(3).multinomial(len(d), np.full(len(d), 1 / len(d)), RESAMPLES) @ d / len(d)
    half = np.quantile(np.abs(drawn - d.mean()), LEVEL) * np.sqrt(len(d) / (len(d) - 1))
    near(f"{what} bootstrap", found["bootstrap"], [d.mean() - half, d.mean() + half], tolerance=0.06 * half)


def main():
    random = np.random.default_rng(2024)
    pairs = inputs(random)
    p_values = np.concatenate([random.random(30) ** 4, [0.01, 0.01, 1.0, 0.0]])
    families = sets(random)
    found = ours(pairs, families, p_values)
    ways = []
    for number, ((a, b), tests) in enumerate(zip(pairs, found["pairs"], strict=True)):
        what, d = f"pair {number} of {len(a)} users", a - b
        compare_mann_whitney(what, a, b, tests)
        compare_randomization(what, a, b, d, tests)
        if np.ptp(d) > 1e-12:
            compare_paired_t(what, d, tests)
            ways.append(compare_wilcoxon(what, d, tests))
        else:
            compare_alike(what, d, tests)
        if len(d) >= 20 and np.ptp(d) > 1e-12:
            compare_bootstrap(what, d, tests)
    for number, (methods, tests) in enumerate(zip(families, found["sets"], strict=True)):
        compare_crossed(f"set {number} of {len(methods)} methods", methods, tests)
    for ours_name, name in (("bonferroni", "bonferroni"), ("holm", "holm"), ("benjamini-hochberg", "fdr_bh")):
        near(ours_name, found["corrections"][ours_name], multipletests(p_values, method=name)[1])
    for failure in failures:
        print(failure)
    counts = ", ".join(f"{count} {way}" for way, count in sorted(collections.Counter(ways).items()))
    print(f"{len(pairs)} pairs, {len(families)} sets with replicates, {len(failures)} disagreements (signed ranks: {counts})")
    sys.exit(bool(failures))


if __name__ == "__main__":
    main()
