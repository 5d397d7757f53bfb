"""Checks that tests ask no crate for a feature that a build without them lacks.

    python3 .ci/features.py

Where they do, `cargo build` and `cargo test` each build that crate, and all that stands on it, for themselves: DataFusion alone takes minutes.
What tests add belongs into the list of benches/Cargo.toml.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def features(edges):
    """The features that each crate of a registry is built with; several, where it is built several times."""
    command = ["cargo", "tree", "--workspace", "--locked", "--prefix", "none", "--edges", edges, "--format", "{p}\t{f}"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit("cargo tree failed")
    found = defaultdict(set)
    for line in run.stdout.splitlines():
        crate, _, given = line.removesuffix(" (*)").partition("\t")
        if crate and str(ROOT) not in crate:
            found[crate.strip()].add(given.strip())
    return found


def main():
    without, tests = features("normal,build"), features("normal,build,dev")
    wrong = [crate for crate in without if without[crate] != tests[crate]]
    for crate in wrong:
        names = lambda found: sorted({name for given in found[crate] for name in given.split(",")})
        print(f"{crate}: tests add {', '.join(sorted(set(names(tests)) - set(names(without)))) or 'a build of other features'}")
    print(f"{len(without)} crates, {len(wrong)} with other features in tests")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
