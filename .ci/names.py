"""Fails where two types of a crate have one name, so that a name stands for one thing wherever it is read. Run by `./check`."""

import collections
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPE = re.compile(r"^\s*(?:pub(?:\([a-z: ]+\))? )?(?:struct|enum|trait|union) ([A-Z]\w*)", re.MULTILINE)
TESTS = "#[cfg(test)]\nmod tests {"  # types of tests are of their file alone


def main():
    failures = []
    for manifest in sorted(ROOT.rglob("Cargo.toml")):
        source = manifest.parent / "src"
        if "target" in manifest.relative_to(ROOT).parts or not source.is_dir():
            continue
        places = collections.defaultdict(set)  # a type that features choose between stands twice in a file
        for file in sorted(source.rglob("*.rs")):
            if file.name not in ("tests.rs", "testing.rs") and "tests" not in file.relative_to(source).parts:
                for name in TYPE.findall(file.read_text().split(TESTS)[0]):
                    places[name].add(str(file.relative_to(ROOT)))
        failures += [f"`{name}` is a type in {' and in '.join(sorted(files))}" for name, files in sorted(places.items()) if len(files) > 1]
    if failures:
        sys.exit("\n".join(["two types of a crate have one name: give one of them another", *failures]))


main()
