"""Welch's interval for the difference of two means whose variances may differ (Welch, Biometrika 1947)."""

import math
import statistics

# Steps of Simpson's rule, and halvings of an interval that has the quantile.
STEPS, HALVINGS = 400, 50


def half_width(one, other, confidence=0.95):
    """From the difference of the means to an end of its interval."""
    parts = [statistics.variance(values) / len(values) for values in (one, other)]
    freedom = sum(parts) ** 2 / sum(part**2 / (len(values) - 1) for part, values in zip(parts, (one, other)))
    return quantile((1 + confidence) / 2, freedom) * math.sqrt(sum(parts))


def quantile(probability, freedom):
    """Of Student's t, above the median."""
    low, high = 0.0, 1.0
    while 0.5 + above_median(high, freedom) < probability:
        low, high = high, 2 * high
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if 0.5 + above_median(middle, freedom) < probability else (low, middle)
    return high


def above_median(value, freedom):
    """The probability of Student's t between 0 and a value."""
    log = math.lgamma((freedom + 1) / 2) - math.lgamma(freedom / 2) - math.log(freedom * math.pi) / 2
    density = lambda t: math.exp(log - (freedom + 1) / 2 * math.log1p(t * t / freedom))
    width = value / STEPS
    inner = sum((4 if at % 2 else 2) * density(at * width) for at in range(1, STEPS))
    return width / 3 * (density(0.0) + inner + density(value))
