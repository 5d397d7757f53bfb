"""The runs of ranksweep: whole processes of the release build on generated sweep files, as users start them.

Training holds nothing out, as the peers do. An epoch's seconds are the best difference in the curve; of the first epoch they
include starting the threads, of the last one the writing of the checkpoint. With softmax-at-k every epoch includes a whole update of
the quantiles, of which the peers are charged a fifth.
"""

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

from . import machine

ROOT = Path(__file__).resolve().parents[2]
BINARY = ROOT / "target/release/ranksweep"
RANKING = ROOT / "target/release/examples/full_ranking"

SOFTMAX_AT_K = {
    "backbones": [{"kind": "mf", "dim": 64, "init": {"kind": "normal", "std": 1.0}}],
    "losses": [{"kind": "softmax-at-k", "cutoff": 20, "temperature": 0.2, "weight_temperature": 2.25, "quantile_every": 1}],
    "samplers": [{"kind": "uniform", "negatives": 1000}],
    "optimizer": {"kind": "adam", "learning_rate": 0.1},
}
BPR = {
    "backbones": [{"kind": "mf", "dim": 64}],
    "losses": [{"kind": "bpr"}],
    "samplers": [{"kind": "uniform", "negatives": 1}],
    "optimizer": {"kind": "adam", "learning_rate": 0.001},
}
# Of models of sequences.
CCE = BPR | {"losses": [{"kind": "cce"}], "samplers": [{"kind": "uniform", "negatives": 100}]}
LIGHT_GCN = BPR | {"backbones": [{"kind": "light-gcn", "dim": 64, "layers": 3}]}


def build(sources=ROOT, env=None):
    """The release build of a folder of sources: of the workspace's default members, as users have it."""
    command = ["cargo", "build", "--release", "--bin", "ranksweep", "--example", "full_ranking", "--locked", "--quiet"]
    subprocess.run(command, cwd=sources, env=os.environ | (env or {}), check=True)


def version(folder=ROOT):
    """The commit that a folder of a repository is at."""
    commit = subprocess.run(["git", "describe", "--always", "--dirty", "--exclude", "*"], cwd=folder, stdout=subprocess.PIPE, text=True, check=False)
    return commit.stdout.strip() or "unknown"


def given(name, data):
    """A dataset that comes split."""
    part = lambda which: str(data / name / f"{which}.tsv.gz")
    return {"name": name, "source": {"format": "splits", "train": part("train"), "test": part("test")}}


def in_time(name, data):
    """A dataset with times: the last interaction of each user is test, the one before it validation."""
    source = {"ml-100k": ("recbole", "ml-100k.inter.gz"), "ml-1m": ("movielens", "ratings.dat.gz")}[name]
    split = {"kind": "leave-last", "validation": True}
    return {"name": name, "source": {"format": source[0], "path": str(data / name / source[1])}, "split": split}


def synthetic(millions):
    """A dataset of so many million interactions, 50 for each user and 100 for each item, all of them train but a few."""
    size = {"users": 20_000 * millions, "items": 10_000 * millions, "interactions": 1_000_000 * millions}
    split = {"kind": "random", "test": 0.02, "seed": 1}
    return {"name": f"synthetic-{millions}M", "source": {"format": "synthetic", **size}, "split": split}


def ratings(csv):
    """The peers' CSV, or a folder of Parquet files of its columns, and what they do with it."""
    columns = {"user": "user_id", "item": "item_id", "rating": "rating", "timestamp": "timestamp"}
    source = {"format": "delimited", "path": str(csv)} if csv.is_file() else {"format": "parquet", "path": str(csv / "*.parquet")}
    source["columns"] = columns
    return {"name": csv.stem, "source": source, "min_rating": 3, "k_core": 10, "split": {"kind": "random", "test": 0.2, "seed": 0}}


class Sweep:
    """One method on one dataset, with a storage of its own under the work folder."""

    def __init__(self, work, name, dataset, block, batch, epochs, **training):
        self.storage, self.dataset = work / name, dataset
        self.file = work / f"{name}.json"
        training = {"epochs": epochs, "batch_size": batch, "evaluate_every": epochs, "select_by": "ndcg@20", **training}
        evaluation = {"metrics": ["ndcg"], "cutoffs": [20]}
        sweep = {"name": name, "storage": str(self.storage), "datasets": [dataset], "grid": [block], "training": training, "evaluation": evaluation}
        work.mkdir(parents=True, exist_ok=True)
        # YAML holds JSON.
        self.file.write_text(json.dumps(sweep, indent=1))

    def command(self, what, threads):
        return [str(BINARY), what, str(self.file), "--threads", str(threads)]

    def prepare(self, threads=2):
        """From nothing to the stored dataset: the whole process."""
        shutil.rmtree(self.storage / "datasets", ignore_errors=True)
        ran = machine.run(self.command("prepare", threads))
        manifest = self.manifest()
        digest = hashlib.sha256(json.dumps(manifest["files"], sort_keys=True).encode()).hexdigest()
        return ran | {"seconds": ran["wall"], "digest": digest, "detail": sizes(manifest)}

    def manifest(self):
        return json.loads(next(self.storage.glob("datasets/*/manifest.json")).read_text())

    def make(self):
        """The dataset, unless it is there."""
        if not list(self.storage.glob("datasets/*/manifest.json")):
            self.prepare()
        return self

    def folder(self):
        return next(self.make().storage.glob("datasets/*/manifest.json")).parent

    def train(self, python, threads=2, quality=False):
        """The best epoch's seconds, or those of a fit without epochs, and the digest of the stored model; `quality` adds NDCG@20 on test."""
        ran, trial, ended = self.trained(threads)
        at = [0.0, *(point["seconds"] for point in self.curve(python, trial, ended))]
        seconds = [after - before for before, after in zip(at, at[1:])] or [ended["detail"]["seconds"]]
        # In pieces: what this process holds at its peak, the next one is charged with.
        with (trial / ended["checkpoint"] / "scorer.safetensors").open("rb") as model:
            digest = hashlib.file_digest(model, "sha256").hexdigest()
        detail = sizes(self.manifest()) | {"epochs": [round(each, 3) for each in seconds]}
        if quality:
            detail["test"] = {"ndcg@20": self.evaluate(python)}
        return ran | {"seconds": min(seconds), "digest": digest, "detail": detail}

    def converge(self, python, threads=2):
        """The seconds until the epoch that is best on validation."""
        ran, trial, ended = self.trained(threads)
        [best] = [point for point in self.curve(python, trial, ended) if point["epoch"] == ended["detail"]["best_epoch"]]
        detail = {"best_epoch": best["epoch"], "epochs": ended["detail"]["epochs"], "validation": ended["detail"]["validation"]}
        return ran | {"seconds": best["seconds"], "detail": detail}

    def trained(self, threads):
        """A training from nothing: its process, the folder of its trial, and how that ended."""
        self.make()
        shutil.rmtree(self.storage / "trials", ignore_errors=True)
        ran = machine.run(self.command("train", threads))
        trial = next(self.storage.glob("trials/*/done.json")).parent
        ended = json.loads((trial / "done.json").read_text())
        if ended["status"] != "done":
            raise RuntimeError(f"{self.file}: {ended['detail']}")
        return ran, trial, ended

    def curve(self, python, trial, ended):
        """The points of a training's curve."""
        return table(python, trial / ended["curve"], ["epoch", "seconds"])

    def evaluate(self, python):
        """NDCG@20 of the trained model on test."""
        machine.run(self.command("run", 2))
        [row] = table(python, self.storage / "sweeps" / self.file.stem / "metrics.parquet", ["value"])
        return row["value"]


def table(python, file, columns):
    """The rows of a Parquet file, read by an interpreter that can."""
    read = "import json, sys, pyarrow.parquet as p; print(json.dumps(p.read_table(sys.argv[1], columns=sys.argv[2:]).to_pylist()))"
    out = subprocess.run([python, "-c", read, str(file), *columns], stdout=subprocess.PIPE, text=True, check=True).stdout
    return json.loads(out)


def sizes(manifest):
    return {key: manifest[key] for key in ("users", "items", "train", "test")}


def rank(arguments, threads=2):
    """Seconds of ranking and measuring alone; the arguments are those of the example `full_ranking`."""
    ran = machine.run([str(RANKING), *map(str, arguments)], {"RAYON_NUM_THREADS": str(threads)})
    said = machine.last_json(ran["out"])
    detail = {key: said[key] for key in ("users", "items", "means")}
    return ran | {"seconds": said["seconds"], "digest": said["digest"], "detail": detail}


def clean(work):
    """Forgets what earlier comparisons prepared: another build may prepare it otherwise."""
    for storage in work.glob("*/datasets"):
        shutil.rmtree(storage)
