"""Checks that tests ask no crate for a feature that a build without them lacks.

    python3 .ci/features.py

Where they do, `cargo build` and `cargo test` each build that crate, and all that stands on it, for themselves: DataFusion alone takes minutes.
What tests add belongs into the list of benches/Cargo.toml. It holds for the whole workspace, which checks build, and for its default members, which
users and benches build: `cargo build --release` is followed by no other build of the program that is measured.
"""

import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def features(members, edges):
    """The features that each crate of a registry is built with; several, where it is built several times."""
    command = ["cargo", "tree", *members, "--locked", "--prefix", "none", "--edges", edges, "--format", "{p}\t{f}"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if run.returncode != 0:
        sys.exit("cargo tree failed")
    found = defaultdict(set)
    for line in run.stdout.splitlines():
        crate, _, given = line.removesuffix(" (*)").partition("\t")
        if crate and str(ROOT) not in crate:
            found[crate.strip()].add(given.strip())
    return found


def differ(name, members):
    """How many crates have other features in tests, which it prints."""
    without, tests = features(members, "normal,build"), features(members, "normal,build,dev")
    wrong = [crate for crate in without if without[crate] != tests[crate]]
    for crate in wrong:
        names = lambda found: sorted({name for given in found[crate] for name in given.split(",")})
        print(f"{crate}: tests add {', '.join(sorted(set(names(tests)) - set(names(without)))) or 'a build of other features'}")
    print(f"{name}: {len(without)} crates, {len(wrong)} with other features in tests")
    return len(wrong)


def release_builds():
    """Places of scripts that build a release of more than users do; such a build is another program."""
    scripts = [path for path in (ROOT / "benches").rglob("*") if path.is_file() and path.suffix in ("", ".py")]
    found = [(path, line) for path in scripts for line in path.read_text().splitlines() if "--release" in line and "--workspace" in line]
    for path, line in found:
        print(f"{path.relative_to(ROOT)}: builds the whole workspace in release: {line.strip()}")
    return len(found)


def main():
    sys.exit(bool(differ("workspace", ["--workspace"]) + differ("default members", []) + release_builds()))


if __name__ == "__main__":
    main()
