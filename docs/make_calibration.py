"""Puts what `calibration` prints into docs/calibration.md, each table below the marker of its name.

    cargo build --release -p evaluator --example calibration
    target/release/examples/calibration simulate --pairs 4000 --families 2000 --bootstraps 200 > simulate.md
    target/release/examples/calibration seeds runs/sweeps/seeds-movielens runs/sweeps/seeds-electronic > seeds.md
    python docs/make_calibration.py simulate.md seeds.md

A table goes between `<!-- NAME -->` and the next `<!-- end -->`; those that are not given stay.
"""

import sys
from pathlib import Path

PAGE = Path(__file__).parent / "calibration.md"
END = "<!-- end -->"


def filled(page, table):
    marker = f"<!-- {table.stem} -->"
    if marker not in page:
        sys.exit(f"{PAGE} has no marker `{marker}`; a table's file is named after its marker")
    head, rest = page.split(marker, 1)
    return f"{head}{marker}\n{table.read_text().strip()}\n{END}{rest.split(END, 1)[1]}"


page = PAGE.read_text()
for table in sys.argv[1:]:
    page = filled(page, Path(table))
PAGE.write_text(page)
