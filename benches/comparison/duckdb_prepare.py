"""Preparation by DuckDB, as `k_core.py` of the peers has it for Polars: one row for each user and item, rating >= 3, 10-core in rounds of degree
counts and semi-joins, 80/20 by a hash, Parquet.

    python duckdb_prepare.py CSV MEMORY THREADS
"""

import json
import sys
import tempfile
from pathlib import Path

import duckdb

CORE = 10

csv, memory, threads = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    db = duckdb.connect(str(Path(folder) / "scratch.duckdb"))
    db.sql(f"SET memory_limit = '{memory}'; SET threads = {threads}; SET temp_directory = '{folder}/spill'; SET preserve_insertion_order = false")
    db.sql(f"""CREATE TABLE edges AS SELECT user_id, item_id, max(timestamp) AS time FROM read_csv('{csv}') WHERE rating >= 3 GROUP BY ALL""")
    count = lambda: db.sql("SELECT count(*) FROM edges").fetchall()[0][0]
    before, rounds = -1, -1
    while (left := count()) != before:
        before, rounds = left, rounds + 1
        for side in ("user_id", "item_id"):
            db.sql(f"""CREATE OR REPLACE TABLE edges AS SELECT edges.* FROM edges SEMI JOIN
                (SELECT {side} FROM edges GROUP BY {side} HAVING count(*) >= {CORE}) USING ({side})""")
    for side in ("user_id", "item_id"):
        db.sql(f"CREATE TABLE {side}s AS SELECT {side}, row_number() OVER (ORDER BY {side}) - 1 AS place FROM edges GROUP BY {side}")
    split = f"""SELECT u.place AS user, i.place AS item, row_number() OVER (PARTITION BY u.place ORDER BY hash(edges.user_id, edges.item_id)) <=
        floor(0.2 * count(*) OVER (PARTITION BY u.place)) AS held FROM edges JOIN user_ids u USING (user_id) JOIN item_ids i USING (item_id)"""
    db.sql(f"CREATE TABLE split AS {split}")
    for name, where in (("train", "NOT held"), ("test", "held")):
        db.sql(f"COPY (SELECT user, item FROM split WHERE {where} ORDER BY user, item) TO '{folder}/{name}.parquet' (COMPRESSION zstd)")
    print(json.dumps({"interactions": left, "rounds": rounds}))
