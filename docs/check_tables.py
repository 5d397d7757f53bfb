"""Checks docs/tables.md against the tables of a finished sweep, and those of theory: columns, types, nulls, and every example in its real client.

    pip install -r requirements-checks.txt
    python docs/check_tables.py runs quickstart
"""

import os
import re
import sys
from pathlib import Path

import duckdb
import pyarrow.parquet as pq

PAGE = Path(__file__).with_name("tables.md")
FOLDERS = {
    "Tables of a sweep": "sweeps/{sweep}",
    "Tables of a comparison": "compare",
    "Tables of a dataset": "datasets/*",
    "Tables of a trial": "trials/*",
    "Tables of stored checkpoints": "again",
    "Tables of theory": "theory",
}
# The tables of a sweep file with `printed` or `claims`, and the sweep of ./check that has these.
OF_A_PAPER, BESIDE_A_PAPER = {"reproduction.parquet", "claims.parquet"}, "datasets"
ALSO = {"train.parquet": ["validation.parquet", "test.parquet"]}


def documented(page):
    """(folder, file, [(column, type)]) of each table of the page."""
    for section in page.split("\n## ")[1:]:
        title, _, body = section.partition("\n")
        for part in body.split("\n### ")[1:]:
            if title in FOLDERS:
                file = part.partition("\n")[0]
                yield FOLDERS[title], file, re.findall(r"^\| `(\w+)` \| (\w+\??) \|", part, re.M)


def stored(path):
    """The same of a file. A `?` marks a column that may hold nulls."""
    return [(field.name, str(field.type) + "?" * field.nullable) for field in pq.read_schema(path)]


def check_columns(storage, sweep, page):
    for folder, file, columns in documented(page):
        for name in [file, *ALSO.get(file, [])]:
            paths = sorted(storage.glob(f"{folder.format(sweep=BESIDE_A_PAPER if name in OF_A_PAPER else sweep)}/{name}"))
            if not paths:
                sys.exit(f"{storage}: no {name}")
            for path in paths:
                if stored(path) != columns:
                    sys.exit(f"{path}: has {stored(path)}, docs/tables.md says {columns}")
            print(f"{name}: {len(columns)} columns in {len(paths)} file(s)")


def check_examples(folder, page):
    os.chdir(folder)
    for language, code in re.findall(r"^```(sql|python)\n(.*?)^```", page, re.M | re.S):
        print(f"\n{code.rstrip()}\n")
        if language == "sql":
            result = duckdb.sql(code)
            print(result)
            if not result.fetchall():
                sys.exit("the query found no rows")
        else:
            exec(compile(code, "docs/tables.md", "exec"), {})


def main():
    storage, sweep = Path(sys.argv[1]).resolve(), sys.argv[2]
    page = PAGE.read_text()
    check_columns(storage, sweep, page)
    check_examples(storage / "sweeps" / sweep, page)


main()
