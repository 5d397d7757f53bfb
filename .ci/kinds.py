#!/usr/bin/env python3
"""Whether each kind is known by its own file and by the list of its kinds alone.

A loss, sampler, backbone, optimizer, source, split, metric, significance test or correction is added by one file and one line in a list. Code elsewhere
that names one of them, tests and examples aside, may have to be touched for the next: it stands in `KNOWN` with its reason, or this fails.

    python3 .ci/kinds.py
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CRATES = ["dataset", "pipeline", "vectors", "evaluator", "trainer", "cluster", "sweep", "python/native"]

# The enum of a kind, the list that it is made by, and the folder of the kinds' files.
ENUMS = {
    "Loss": ("trainer/losses/src/lib.rs", r"^losses! \{(.*?)^\}", "trainer/losses/src"),
    "Sampler": ("trainer/samplers/src/lib.rs", r"^samplers! \{(.*?)^\}", "trainer/samplers/src"),
    "Backbone": ("trainer/models/src/lib.rs", r"^backbones! \{(.*?)^\}", "trainer/models/src"),
    "Optimizer": ("trainer/optimizers/src/lib.rs", r"^optimizers! \{(.*?)^\}", "trainer/optimizers/src"),
    "Source": ("pipeline/src/source/mod.rs", r"^sources! \{(.*?)^\}", "pipeline/src/source"),
    "Split": ("pipeline/src/split/mod.rs", r"^splits! \{(.*?)^\}", "pipeline/src/split"),
    "Metric": ("evaluator/src/metric/mod.rs", r"^metrics! \{(.*?)^\}", "evaluator/src/metric"),
    "Test": ("evaluator/src/significance/mod.rs", r"^tests! \{(.*?)^\}", "evaluator/src/significance"),
    "Correction": ("evaluator/src/significance/correction/mod.rs", r"^corrections! \{(.*?)^\}", "evaluator/src/significance/correction"),
}

# Code that names a kind, and why the next kind does not touch it.
KNOWN = {
    "evaluator/src/settings.rs": "the metrics of a sweep that names none",
    "evaluator/src/significance/contrast.rs": "claims are adjusted after Holm",
    "evaluator/src/significance/settings.rs": "the correction of a sweep that names none",
    "sweep/src/file/sweep_file.rs": "the metric that stops a training of a sweep that names none",
    "sweep/src/report/example.rs": "the sweep that is drawn in examples and tests of the report",
    "sweep/src/report/reproduction/words.rs": "claims are judged by the t test",
    "sweep/src/runner/pilots.rs": "standard errors are those of the t test",
    "sweep/src/study/bounds.rs": "losses whose bounds theory states; its enum is `theory::bounds::Loss`",
    "sweep/src/study/quantiles/model.rs": "quantiles are estimated from uniform draws",
    "trainer/models/src/enmf.rs": "the optimizer where a file names none",
    "trainer/models/src/mult_vae/mod.rs": "the optimizer where a file names none",
    "trainer/samplers/src/adaptive/irgan/generator.rs": "the optimizer of the generator",
    "trainer/src/device_checks/timings.rs": "what is timed",
    "trainer/src/fit/loss_state/quantiles.rs": "quantiles are estimated from uniform draws",
}


def main():
    found = {}
    files = [path for crate in CRATES for path in sorted((ROOT / crate).rglob("*.rs")) if is_code(path)]
    for enum, (at, pattern, folder) in ENUMS.items():
        text = (ROOT / at).read_text()
        kinds = re.findall(r"^\s+(?:#.*\n\s+)*([A-Z]\w+)(?:\(.*\))?(?: in \w+)?,$", re.search(pattern, text, re.M | re.S)[1], re.M)
        if len(kinds) < 2:
            sys.exit(f"kinds: {at} has no list of the kinds of {enum}")
        print(f"{enum}: {len(kinds)} kinds")
        for path in files:
            name = str(path.relative_to(ROOT))
            if name.startswith(folder):
                continue
            code = without_tests(path.read_text())
            for kind in sorted(set(re.findall(rf"\b{enum}::({'|'.join(kinds)})\b", code))):
                found.setdefault(name, []).append(f"{enum}::{kind}")
    unknown = {name: kinds for name, kinds in found.items() if name not in KNOWN}
    for name, kinds in unknown.items():
        print(f"{name} names {', '.join(kinds)}: a kind says what it is in its own file; or give the reason in .ci/kinds.py")
    for name in KNOWN.keys() - found.keys():
        print(f".ci/kinds.py: {name} names no kind any more")
    return 1 if unknown or KNOWN.keys() - found.keys() else 0


def is_code(path):
    parts = path.relative_to(ROOT).parts
    return "tests" not in parts and "examples" not in parts and not re.search(r"(^|_)(tests|testing)\.rs$", path.name) and "checks" not in parts


def without_tests(text):
    text = re.sub(r"^\s*//.*$", "", text, flags=re.M)
    return re.split(r"^#\[cfg\(test\)\]\n(?:pub\S* )?mod \w+ \{", text, maxsplit=1, flags=re.M)[0]


if __name__ == "__main__":
    sys.exit(main())
