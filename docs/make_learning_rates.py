"""Writes docs/learning-rates.md: how each loss fares with three learning rates, from the tables of configs/learning-rates.yaml.

    RANKSWEEP_DATA=../shared/data ranksweep run configs/learning-rates.yaml
    pip install -r requirements-checks.txt
    python docs/make_learning_rates.py runs
"""

import json
import sys
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
HEAD = """# Learning rates to begin with

What validation made of three learning rates of Adam for each loss: NDCG@20 of the validation part, [configs/learning-rates.yaml](../configs/learning-rates.yaml), made by
`docs/make_learning_rates.py`. MovieLens (ml-latest-small, 5-core), `mf` of 32 dimensions, batches of 1,024, 32 uniform negatives (in-batch, WARP's and nine where the loss
wants them), 60 epochs at most, one seed; the best rate of each loss in bold, the epoch of its best value beside it. A dash is a training without a model that could be ranked. Keys that the
sweep file gives are not all in the name: it has the temperatures and margins.

What stays below `popularity` at every rate is not to be used so on data of this size: of `llpauc` take `form: release` with `updates: descent`, of `direct-au` the ranking by dot products, which is its default. What was
best in its last epoch would gain by more. One dataset and one seed: where to begin, and not which loss is best.

"""


def main():
    folder = Path(sys.argv[1]) / "sweeps/learning-rates"
    query = f"SELECT backbone, loss, parameters, status, validation, best_epoch, epochs FROM '{folder}/trials.parquet'"
    found = duckdb.sql(query).fetchall()
    floor = next(value for backbone, _, _, _, value, _, _ in found if backbone == "popularity")
    losses, rates = {}, set()
    for _, loss, parameters, status, value, best, epochs in found:
        if loss is not None:
            rate = json.loads(parameters)["optimizer.learning_rate"]
            rates.add(rate)
            losses.setdefault(loss, {})[rate] = (value, best, epochs) if status == "done" and value is not None else None
    rates = sorted(rates)
    best_of = lambda row: max((entry for entry in row.values() if entry), default=(0.0, 0, 0))
    lines = [f"| loss | {' | '.join(f'{rate:g}' for rate in rates)} | best epoch | |", "|---|" + "---|" * (len(rates) + 2)]
    for loss, row in sorted(losses.items(), key=lambda each: -best_of(each[1])[0]):
        value, best, epochs = best_of(row)
        cells = ["–" if row.get(rate) is None else f"{'**' * (row[rate][0] == value)}{row[rate][0]:.4f}{'**' * (row[rate][0] == value)}" for rate in rates]
        remark = "below `popularity`" if value < floor else "its last epoch was its best" if best == epochs else ""
        lines.append(f"| `{loss}` | {' | '.join(cells)} | {best} of {epochs} | {remark} |")
    text = "\n".join(lines)
    (HERE / "learning-rates.md").write_text(f"{HEAD}`popularity` has {floor:.4f}.\n\n{text}\n")


main()
