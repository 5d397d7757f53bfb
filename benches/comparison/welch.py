"""Welch's interval for the difference of two means whose variances may differ, by SciPy."""

import json
import subprocess

SCRIPT = """import json, sys
from scipy.stats import ttest_ind
interval = lambda one, other: ttest_ind(one, other, equal_var=False).confidence_interval(0.95)
print(json.dumps([(found.high - found.low) / 2 for found in (interval(*pair) for pair in json.load(sys.stdin))]))"""


def half_widths(python, pairs):
    """Of each pair of samples, from the difference of the means to an end of its interval of 95 %; `python` is an interpreter with SciPy."""
    ran = subprocess.run([python, "-c", SCRIPT], input=json.dumps(pairs), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(ran.stdout)
