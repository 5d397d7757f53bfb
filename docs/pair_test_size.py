"""Prints how often the test of two equal methods over users and seeds is wrong at 0.05, by numerical integration: the table of docs/statistics.md.

    pip install numpy scipy
    python docs/pair_test_size.py

The users' part of the variance is known here, `Q1 = 1`; a share `Q3` of it is interaction, and seeds add `tau`. `Q2` is an estimate of
`Q3 + tau` with `nu` degrees of freedom: the p-value's critical difference is found for 400 of its quantiles. No p-value is below that of users alone.
"""

import numpy as np
from scipy import stats

SHARES = [0, 0.1, 1 / 3, 0.5]
TAUS = [0, 0.1, 1 / 3, 1, 2, 4, 20]
ALPHA = 0.05


def critical(interaction, estimates, nu, matching, nothing):
    """The differences whose p-value is ALPHA, for estimates Q2, with the prior (1 + A / theta)^matching (1 + (kappa / theta)^4) / theta."""
    users, kappa = 1 - interaction, nothing * interaction * min(nu - 1, 1)
    y = np.linspace(-5, 28 / min(nu, 4) + 4, 300)
    theta = estimates[:, None] * np.exp(y)
    logs = -nu / 2 * (y + np.exp(-y)) + matching * (np.log(users + theta) - y) + np.log1p((kappa / theta) ** 4)
    weights = np.exp(logs - logs.max(axis=1, keepdims=True))
    weights /= weights.sum(axis=1, keepdims=True)
    low, high = np.full(len(estimates), 1e-3), np.full(len(estimates), 1e4)
    for _ in range(45):
        middle = np.sqrt(low * high)
        p_values = (weights * 2 * stats.norm.sf(middle[:, None] / np.sqrt(users + theta))).sum(axis=1)
        low, high = np.where(p_values > ALPHA, middle, low), np.where(p_values > ALPHA, high, middle)
    return np.maximum(middle, stats.norm.isf(ALPHA / 2))


def size(interaction, tau, nu, matching, nothing):
    """The probability of a p-value below ALPHA when the methods are equal."""
    chances = (np.arange(400) + 0.5) / 400
    estimates = (interaction + tau) * stats.chi2.ppf(chances, nu) / nu
    grid = np.geomspace(estimates[0], estimates[-1], 40)
    differences = np.exp(np.interp(np.log(estimates), np.log(grid), np.log(critical(interaction, grid, nu, matching, nothing))))
    return (2 * stats.norm.sf(differences / np.sqrt(1 + tau))).mean()


def main():
    forms = {"w = 0": (0, 0), "w = 1/3": (1 / 3, 0), "w = 1/2": (1 / 2, 0), "w = 1": (1, 0), "w = 1/4, κ = Q3 / 3": (1 / 4, 1 / 3)}
    print("| ν |", " | ".join(f"`{name}`" for name in forms), "|")
    print("|---|" + "---|" * len(forms))
    for nu in (1, 2, 4, 8):
        cells = []
        for form in forms.values():
            sizes = [size(interaction, tau, nu, *form) for interaction in SHARES for tau in TAUS if interaction + tau > 0]
            cells.append(f"{min(sizes):.3f} to {max(sizes):.3f}")
        print(f"| {nu} |", " | ".join(cells), "|")


if __name__ == "__main__":
    main()
