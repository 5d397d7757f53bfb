"""What the sweeps of papers gave: read from a storage, or from docs/papers/results/ where a sweep was not run again, and held against the sweep files.

make_papers.py makes pages of it.
"""

import csv
import itertools
import json
import re
from pathlib import Path

import duckdb

HERE = Path(__file__).parent
KEPT = HERE / "papers" / "results"
ADDED = "not tested yet (added to the file after its sweep ran)"


def rows(path, query="SELECT * FROM"):
    """A Parquet table as dictionaries."""
    found = duckdb.sql(f"{query} '{path}'")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


def lines(path):
    found = list(csv.DictReader(path.open())) if path.exists() else []
    if cut := [line for line in found if None in line or None in line.values()]:
        raise ValueError(f"{path}: {cut[0]} has other fields than the header; quote what has a comma")
    return found


def several(value):
    return value if isinstance(value, list) else [value]


def claimed(entry):
    """The claims of one entry of a sweep file, in the words of claims.parquet (`in_words` in sweep/src/report/reproduction/claims.rs)."""
    match entry:
        case {"better": better, "worse": others}:
            return [f"{better} above {other}" for other in several(others)]
        case {"faster": faster, "slower": others}:
            return [f"{faster} in fewer epochs than {other}" for other in several(others)]
        case {"equal": [first, *others]}:
            return [f"{first} as good as {other}" for other in others]
        case {"increasing": methods}:
            return [f"rising along {', '.join(methods)}"]
        case {"decreasing": methods}:
            return [f"falling along {', '.join(methods)}"]


def claims_of(sweep):
    """The claims of a sweep file, each as a line of claims.parquet has it, without a result."""
    for entry in sweep.get("claims", []):
        datasets = several(entry.get("dataset", [dataset["name"] for dataset in sweep["datasets"]]))
        metrics = several(entry.get("metric", sweep["training"]["select_by"]))
        for claim, dataset, at in itertools.product(claimed(entry), datasets, metrics):
            metric, _, cutoff = at.partition("@")
            where = {"dataset": dataset, "place": entry.get("place", ""), "metric": metric, "cutoff": int(cutoff) if cutoff else None}
            yield {**where, "claim": claim, "difference": None, "verdict": ADDED}


def claims_with_those_added(file, sweep, result):
    """The claims of a sweep that was run, and those that its file has got since then."""
    def key(row):
        return tuple(row[name] for name in ("dataset", "place", "claim", "metric", "cutoff"))

    now, then = {key(row): row for row in claims_of(sweep)}, {key(row) for row in result["claims"]}
    if gone := then - now.keys():
        raise ValueError(f"{file}: {gone.pop()} has a result and is not among its claims; run it again, or give the claim back")
    return [*result["claims"], *(row for key, row in now.items() if key not in then)]


def kind(name):
    """The kind in a name of a model, a loss or a sampler: `mf` of `mf-32`, `softmax-at-k` of `softmax-at-k(20)`."""
    return re.match("[a-z0-9-]*?(?=-[0-9]|[^a-z0-9-]|$)", name)[0]


def asks_for(sweep, line):
    """Whether a sweep file is to give a printed number: by its table, dataset, metric and cutoff, and the kinds in the method's name."""
    printed = sweep.get("printed", "")
    if Path(printed["values"] if isinstance(printed, dict) else printed).name != line["at"].split(":")[0]:
        return False
    if line["dataset"] not in [dataset["name"] for dataset in sweep["datasets"]]:
        return False
    if line["metric"] not in sweep["evaluation"]["metrics"] or line["cutoff"] not in sweep["evaluation"]["cutoffs"]:
        return False
    loss, model, sampler = re.match("(?:(.+?) on )?(.+?)(?: with (.+))?$", line["method"]).groups()

    def among(name, kinds):
        return name is None or kind(name) in [one["kind"] for one in kinds]

    return any(
        among(model, [one for one in block["backbones"] if any(dim in model for dim in several(one.get("dim", "")))])
        and among(loss, block.get("losses", []))
        and among(sampler, block.get("samplers", []))
        for block in sweep["grid"]
    )


def found(storage, sweep):
    """What a sweep gave, read anew where it is in the storage; none where it was never run."""
    folder, kept = storage / "sweeps" / sweep["name"], KEPT / f"{sweep['name']}.json"
    if (folder / "claims.parquet").exists():
        trials = rows(folder / "trials.parquet")
        planned = [method["configurations"][0]["trials"][0]["trial"] for method in json.loads((folder / "plan.json").read_text())["methods"]]
        result = {
            "numbers": rows(folder / "reproduction.parquet"),
            "claims": rows(folder / "claims.parquet"),
            "datasets": list(dict.fromkeys(trial["dataset"] for trial in trials)),
            "methods": len({trial["method"] for trial in trials}),
            "trials": len(trials),
            "trained": sum(trial["status"] in ("done", "stopped") for trial in trials),
            "untrained": sum(trial["status"] == "missing" for trial in trials),
            "seeds": sorted({trial["seed"] for trial in trials if trial["seed"] is not None}),
            "minutes": round(sum(trial["seconds"] or 0 for trial in trials) / 60),
            "failed": sum(trial["status"] in ("failed", "constant") for trial in trials),
            "version": re.search(r'^version = "(.*)"', (HERE.parent / "Cargo.toml").read_text(), re.M)[1],
            "trainer": planned[0]["version"],
            "revisions": dict(revision for trial in planned for revision in revisions(trial)),
        }
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n")
    return json.loads(kept.read_text()) if kept.exists() else None


def revisions(trial):
    """What a trial says of the revisions of its model, its sampler and its loss."""
    if "backbone_revision" in trial:
        yield f"models/{next(iter(trial['backbone']))}", trial["backbone_revision"]
    if "sampler_revision" in trial:
        yield f"samplers/{next(iter(trial['learning']['sampler']))}", trial["sampler_revision"]
    if "revision" in trial:
        yield f"losses/{next(iter(trial['learning']['loss']))}", trial["revision"]
