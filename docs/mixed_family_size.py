"""How often a family errs in which some methods fit at once and others have few seeds, by which kind of pair.

    python docs/mixed_family_size.py

Needs the package `ranksweep` with its arrays. No methods differ: a user's value is what all methods share, the method's own and, of a learned method, that of the seed, and each seed
shifts all users. Prints for each number of seeds and each correction the share of sets in which a pair is called different: of two methods that fit at once, of one of
either kind, of two learned ones, of any. docs/statistics.md has the table.
"""

import numpy as np

from ranksweep import significance

SETS, USERS, OF_EACH_KIND, RESAMPLES = 1_500, 400, 4, 1_000
KINDS = ("ff", "fl", "ll")


def drawn(random, seeds):
    """The users' values of each method: `f0` and so on fit at once, `l0` and so on are learned."""
    shared = random.normal(size=USERS)
    methods = {f"f{at}": shared + random.normal(size=USERS) * 0.7 for at in range(OF_EACH_KIND)}
    for at in range(OF_EACH_KIND):
        own = shared + random.normal(size=USERS) * 0.6
        of_seeds = random.normal(size=(seeds, USERS)) * 0.35
        methods[f"l{at}"] = own + of_seeds + random.normal(size=(seeds, 1)) * 0.7 / np.sqrt(USERS)
    return methods


def errs(methods, correction):
    """Whether a pair of each kind is called different."""
    settings = {"tests": ["paired-t"], "correction": correction, "bootstrap_resamples": RESAMPLES}
    fixed = [name for name in methods if name.startswith("f")]
    rows = significance.compare(methods, settings, fixed=fixed, frame="arrow").to_pylist()
    wrong = {"".join(sorted(row[side][0] for side in ("method_a", "method_b"))) for row in rows if row["significant"]}
    return [kind in wrong for kind in KINDS] + [bool(wrong)]


def main():
    print("| seeds | correction | a pair of methods that fit at once errs | one of both kinds | a pair of learned ones | any |\n|---|---|---|---|---|---|")
    for seeds in (2, 3):
        random = np.random.default_rng(11)
        found = {"romano-wolf": [], "holm": []}
        for _ in range(SETS):
            methods = drawn(random, seeds)
            for correction, results in found.items():
                results.append(errs(methods, correction))
        for correction, results in found.items():
            shares = " | ".join(f"{share:.3f}" for share in np.mean(results, axis=0))
            print(f"| {seeds} | `{correction}` | {shares} |", flush=True)


main()
