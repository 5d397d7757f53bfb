"""Checks the licences and the sources of every crate that the workspace builds with.

    python3 .ci/licences.py
    python3 .ci/licences.py --texts FILE      also writes the licences' texts, which go with every program that is given away

A crate passes when one choice of its SPDX expression needs allowed licences only, and when it is our own or comes from crates.io. Known
vulnerabilities are not looked up: the advisory database is a Git repository, which this check must not need. `cargo deny check advisories`
does that where there is a network.
"""

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path

ALLOWED = {
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CDLA-Permissive-2.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
    # As BSD-3-Clause; that of bzip2 and of its port to Rust.
    "bzip2-1.0.6",
}
ROOT = Path(__file__).resolve().parents[1]


def crates():
    command = ["cargo", "metadata", "--format-version", "1", "--locked", "--all-features"]
    run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=False)
    if run.returncode != 0:
        sys.exit("cargo metadata failed")
    return json.loads(run.stdout)["packages"]


def is_allowed(expression):
    """Whether an SPDX expression can be met. `/` is how old crates write OR."""
    tokens = re.findall(r"[()]|[^\s()]+", expression.replace("/", " OR "))

    def term():
        if tokens[0] == "(":
            tokens.pop(0)
            value = choice()
            tokens.pop(0)
            return value
        name = tokens.pop(0)
        if tokens[:1] == ["WITH"]:
            name = f"{name} {tokens.pop(0)} {tokens.pop(0)}"
        return name in ALLOWED

    def both():
        value = term()
        while tokens[:1] == ["AND"]:
            tokens.pop(0)
            value = term() and value
        return value

    def choice():
        value = both()
        while tokens[:1] == ["OR"]:
            tokens.pop(0)
            value = both() or value
        return value

    return choice()


def complaints(crate):
    name, source = f"{crate['name']} {crate['version']}", crate["source"]
    if source and not source.startswith("registry+"):
        yield f"{name}: comes from {source}, expected crates.io"
    if not crate["license"]:
        yield f"{name}: states no licence, only the file {crate['license_file']}; read it, and decide"
    elif not is_allowed(crate["license"]):
        yield f"{name}: `{crate['license']}` is not met by the licences that {Path(__file__).name} allows"


def texts_of(crate):
    """The files of a crate that have its licences' words, or what must be told with it."""
    folder = Path(crate["manifest_path"]).parent
    named = [folder / crate["license_file"]] if crate["license_file"] else []
    usual = (file for file in folder.iterdir() if re.match(r"licen[cs]e|unlicense|copying|notice", file.name, re.IGNORECASE))
    files = {file.resolve() for file in [*named, *usual] if file.is_file()}
    return [file.read_text(encoding="utf-8", errors="replace").strip() for file in sorted(files)]


def third_party(packages):
    """All crates of others with their licences, and each text once, below the crates that have it."""
    others = [crate for crate in packages if crate["source"]]
    lines = ["The programs of ranksweep hold code of these crates, by the licence behind each.", ""]
    crates_of = {}
    for crate in others:
        name = f"{crate['name']} {crate['version']}"
        texts = texts_of(crate)
        without = "" if texts else "; its package has no text"
        lines.append(f"{name}: {crate['license']}, {crate['repository'] or 'https://crates.io/crates/' + crate['name']}{without}")
        for text in texts:
            crates_of.setdefault(text, []).append(name)
    for text, names in crates_of.items():
        lines += ["", "=" * 80, ", ".join(dict.fromkeys(names)), "=" * 80, "", text]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--texts", type=Path, metavar="FILE")
    into = parser.parse_args().texts
    packages = crates()
    found = [complaint for crate in packages for complaint in complaints(crate)]
    if found:
        sys.exit("\n".join(found))
    if into:
        into.write_text(third_party(packages), encoding="utf-8")
    print(f"{len(packages)} crates")


main()
