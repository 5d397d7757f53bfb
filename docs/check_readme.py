"""Checks README.md and CONTRIBUTING.md against what they speak of: their Rust stands in the linked file, the sweep file has a plan, the tables' examples run.

    pip install -r requirements-checks.txt
    python docs/check_readme.py target/debug/ranksweep runs quickstart
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import duckdb

ROOT = Path(__file__).resolve().parents[1]


def blocks(page):
    """(language, code, the file linked last before it) of every block."""
    linked = None
    for link, language, code in re.findall(r"\]\((\S+?\.rs)\)|^```(\w+)\n(.*?)^```", page, re.M | re.S):
        linked = link or linked
        if language:
            yield language, code, linked


def check_rust(code, page, file):
    if code not in (ROOT / file).read_text():
        sys.exit(f"{page} shows lines that are not in {file}:\n{code}")
    print(f"{len(code.splitlines())} lines of {file}")


def check_sweep(code, ranksweep):
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "sweep.yaml"
        file.write_text(code)
        print(subprocess.run([ranksweep, "plan", file], check=True, capture_output=True, text=True).stdout)


def main():
    ranksweep, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve() / "sweeps" / sys.argv[3]
    os.chdir(folder)
    for page in ["README.md", "CONTRIBUTING.md"]:
        for language, code, linked in blocks((ROOT / page).read_text()):
            if language == "rust":
                check_rust(code, page, linked)
            elif language == "yaml":
                check_sweep(code, ranksweep)
            elif language == "sql":
                print(duckdb.sql(code))
            elif language == "python" and "import ranksweep" not in code:  # those are of python/tests/test_docs.py
                exec(compile(code, page, "exec"), {})


main()
