#!/usr/bin/env python3
"""Writes interactions of the shape that the peers' `k_core.py` generates as Parquet files of 20 million rows: for sizes whose CSV would fill the disk.

    zipf_parquet.py MILLIONS FOLDER     # needs numpy and pyarrow

Users are Zipf-distributed with exponent 0.8, one for 20 rows, items with 1.0, one for 100; ratings and times are as there.
"""

import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 20_000_000


def table(random, size, exponent):
    """The distribution of a bounded Zipf law, and shuffled ids."""
    cdf = np.cumsum(np.arange(1, size + 1, dtype=float) ** -exponent)
    return cdf / cdf[-1], random.permutation(size).astype(np.int32)


def draw(random, cdf, ids):
    """Ids by the inverse of the distribution. Draws are looked up in a rough order, in which neighbours stay in the cache."""
    draws = random.random(ROWS)
    order = np.argsort((draws * 65536).astype(np.uint16), kind="stable")
    drawn = np.empty(ROWS, np.int32)
    drawn[order] = ids[np.searchsorted(cdf, draws[order])]
    return drawn


def main():
    rows, folder = int(sys.argv[1]) * 1_000_000, Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(1)
    users, items = table(random, rows // 20, 0.8), table(random, rows // 100, 1.0)
    for part in range(rows // ROWS):
        at = folder / f"part-{part:03}.parquet"
        if at.exists():
            continue
        own = np.random.default_rng([1, part])
        columns = {
            "user_id": draw(own, *users),
            "item_id": draw(own, *items),
            "rating": own.choice(np.arange(1, 6, dtype=np.int8), ROWS, p=[0.08, 0.07, 0.15, 0.3, 0.4]),
            "timestamp": own.integers(1_300_000_000, 1_500_000_000, ROWS),
        }
        unfinished = at.with_suffix(".unfinished")
        pq.write_table(pa.table(columns), unfinished, compression="snappy", use_dictionary=["rating"], row_group_size=1_000_000)
        unfinished.rename(at)


if __name__ == "__main__":
    main()
