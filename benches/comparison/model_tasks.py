"""What is run of models other than matrix factorisation and LightGCN: every task, ours and the peers'.

What a paper or RecBole sets by default holds on both sides. Sequences are those of the peers' script: a user's train items in the order of their
numbers, cut at 50, every prefix predicts the item after it, by the softmax over all items.
"""

import csv
import gzip
import json
import subprocess

from . import ours
from .tasks import ELECTRONIC, GOWALLA, ONCE, Run, of_pairs

LINES = ours.ROOT / "docs/performance_models.jsonl"
MOVIELENS, ML_1M = "slatk-movielens-100k", "ml-1m"
ROUNDS = 3
# Of alternating least squares: so many are timed, and NDCG@20 is that after so many.
TIMED_ITERATIONS, ITERATIONS = 4, 15
QUALITY = "NDCG@20 of "
CONVERGENCE = "time to the best validation NDCG@20, gowalla"
CONTRAST = {"dim": 64, "layers": 3, "contrast_temperature": 0.2}
SEQUENTIAL = {
    "sas-rec": ("SASRec", {"dim": 64, "layers": 2, "heads": 2, "hidden": 256, "dropout": 0.5, "max_length": 50}, 3),
    "gru4rec": ("GRU4Rec", {"dim": 64, "hidden": 64, "layers": 1, "dropout": 0.3, "max_length": 50}, 8),
}
ALL_ITEMS = {"losses": [{"kind": "cce"}], "samplers": [{"kind": "all"}], "optimizer": {"kind": "adam", "learning_rate": 0.001}}
# Batches of PyTorch's contrastive models that are timed.
BATCHES = 5
# Of alternating least squares, the same on both sides.
ALPHA, REGULARIZATION = 10, 1
# Each method with the values that a search on validation picked (those of softmax-at-k are the paper's), and after how many epochs it is ranked.
CONVERGING = {
    "ials": (
        {"backbones": [{
            "kind": "ials", "dim": 64, "regularization": 0.01, "convention": {"kind": "rendle", "unobserved_weight": 0.01},
            "solver": {"kind": "conjugate-gradient"},
        }]},
        1,
    ),
    "rg2": ({"backbones": [{"kind": "rg2", "dim": 64, "regularization": 10}]}, 1),
    "rgx": ({"backbones": [{"kind": "rgx", "dim": 64, "regularization": 10}]}, 1),
    "bpr on mf": (ours.BPR | {"optimizer": {"kind": "adam", "learning_rate": 0.0003}}, 1),
    "softmax-at-k on mf": (ours.SOFTMAX_AT_K, 5),
}
# An interpreter's work: the parts of a prepared dataset as a folder that the peers' scripts read.
EXPORT = """import gzip, sys, pyarrow.parquet as parquet
for part in ("train", "test"):
    table = parquet.read_table(f"{sys.argv[1]}/{part}.parquet")
    with gzip.open(f"{sys.argv[2]}/{part}.tsv.gz", "wt", compresslevel=1) as file:
        file.writelines(f"{user}\\t{item}\\n" for user, item in zip(table["user"].to_pylist(), table["item"].to_pylist()))
"""


class ModelTasks:
    """All runs, for an opened comparison: where it works, the peers, the data, and the train pairs of each dataset."""

    def __init__(self, work, peers, data, pairs):
        self.work, self.peers, self.data, self.pairs = work, peers, data, pairs

    def all(self):
        return [
            *(run for kind in SEQUENTIAL for run in self.sequences(kind)),
            *self.neu_mf(),
            *self.mult_vae(MOVIELENS, "movielens-100k"),
            *self.mult_vae(ELECTRONIC, "electronic"),
            *self.contrastive("xsim-gcl", {"contrast_layer": 1, "epsilon": 0.1, "contrast_weight": 0.2}),
            *self.contrastive("sgl", {"edge_dropout": 0.1, "contrast_weight": 0.1}),
            *self.item_knn(),
            *(run for dataset in (GOWALLA, ML_1M) for dim in (64, 256) for run in self.least_squares(dataset, dim)),
            *self.convergence(),
        ]

    def sweep(self, task, dataset, block, batch=1024, epochs=3, **more):
        return ours.Sweep(self.work, task.replace(" ", "-"), dataset, block, batch, epochs, **more)

    def training(self, task, sweep):
        return Run(task, "ranksweep", lambda: sweep.train(self.peers.python), ROUNDS)

    def recbole(self, task, dataset, *arguments, pairs=None):
        run = lambda: self.peers.run("recbole_models.py", *self.peers.dataset(dataset), *arguments)
        return Run(task, "RecBole", lambda: of_pairs(run(), pairs) if pairs else run(), ROUNDS)

    def whole_recbole(self, task, dataset, *arguments):
        """Of a model that the peers' script has not, on the whole train part."""
        run = lambda: self.peers.run(ours.ROOT / "benches/comparison/recbole_fits.py", *self.peers.dataset(dataset), *arguments)
        return Run(task, "RecBole", run, ROUNDS)

    def sequences(self, kind):
        model, values, batches = SEQUENTIAL[kind]
        task = f"{kind} movielens-100k"
        dataset = in_order(MOVIELENS, self.data, self.work)
        block = {"backbones": [{"kind": kind, **values}], **ALL_ITEMS}
        sweep = self.sweep(task, dataset, block, batch=2048)
        yield self.training(task, sweep)
        # A user's first item is no target, and its last two are validation and test on both sides.
        yield self.recbole(task, MOVIELENS, "--model", model, "--epochs", 1, "--max-batches", batches)

    def neu_mf(self):
        task = "neu-mf bce movielens-100k"
        block = ours.BPR | {"backbones": [{"kind": "neu-mf", "dim": 64, "hidden": [[128, 64]], "dropout": 0.1}], "losses": [{"kind": "bce"}]}
        yield self.training(task, self.sweep(task, ours.given(MOVIELENS, self.data), block, epochs=5))
        yield self.recbole(task, MOVIELENS, "--model", "NeuMF", "--epochs", 4, pairs=self.pairs[MOVIELENS])

    def mult_vae(self, dataset, short):
        task = f"mult-vae {short}"
        values = {"dim": 128, "hidden": 600, "dropout": 0.5, "kl_weight": 0.2, "batch_size": 500}
        block = {"backbones": [{"kind": "mult-vae", **values}]}
        yield self.training(task, self.sweep(task, ours.given(dataset, self.data), block))
        yield self.whole_recbole(task, dataset, "--model", "MultiVAE", "--batch", 500)

    def contrastive(self, kind, values):
        task = f"{kind} bpr gowalla"
        model = {"kind": kind, **CONTRAST, **values}
        sweep = self.sweep(task, ours.given(GOWALLA, self.data), ours.BPR | {"backbones": [model]}, batch=2048, epochs=1)
        script = ours.ROOT / "benches/comparison/torch_models.py"
        torch = lambda tuned: lambda: self.peers.run(script, self.data / GOWALLA, json.dumps(model), 1, 1, 0.001, 2048, BATCHES, tuned=tuned)
        yield self.training(task, sweep)
        yield Run(task, "torch CSR, tuned malloc", torch(True), ROUNDS)
        yield Run(task, "torch CSR", torch(False), ONCE)

    def item_knn(self):
        task = "item-knn gowalla"
        block = {"backbones": [{"kind": "item-knn", "neighbours": 100}]}
        yield self.training(task, self.sweep(task, ours.given(GOWALLA, self.data), block, epochs=1))
        yield self.whole_recbole(task, GOWALLA, "--model", "ItemKNN")

    def least_squares(self, name, dim):
        """An iteration, without the first one of the peer's; once, NDCG@20 after 15 of them. RG² stands beside the peer's exact solutions, as measured there."""
        short = name.removeprefix("slatk-")
        given = lambda: self.exported() if name == ML_1M else self.data / name
        common = {"dim": dim, "regularization": REGULARIZATION}
        ials = lambda solver: {"kind": "ials", **common, "convention": {"kind": "implicit", "alpha": ALPHA}, "solver": {"kind": solver}}
        settings = ("--factors", dim, "--regularization", REGULARIZATION, "--alpha", ALPHA)
        of_round = {}

        def implicit(algorithm, *more):
            return self.peers.run("implicit_als.py", "--data", given(), "--algorithm", algorithm, *settings, *more)

        def timed(algorithm):
            of_round[algorithm] = implicit(algorithm, "--iterations", TIMED_ITERATIONS)
            return of_round[algorithm]

        def ranksweep(task, backbone, iterations, quality):
            sweep = self.sweep(task, ours.given(given().name, given().parent), {"backbones": [backbone]}, epochs=iterations)
            return sweep.train(self.peers.python, quality=quality)

        for task, backbone, who, algorithm in (
            ("ials conjugate-gradient", ials("conjugate-gradient"), "implicit, conjugate gradient", "als-cg"),
            ("ials cholesky", ials("cholesky"), "implicit, Cholesky", "als-cholesky"),
            ("rg2", {"kind": "rg2", **common}, "implicit, Cholesky", "als-cholesky"),
        ):
            task = f"{task} {dim} {short}"
            yield Run(task, "ranksweep", lambda task=task, backbone=backbone: ranksweep(task, backbone, TIMED_ITERATIONS, False))
            if backbone["kind"] == "rg2":
                yield Run(task, who, lambda algorithm=algorithm: of_round.pop(algorithm, None) or timed(algorithm))
                continue
            yield Run(task, who, lambda algorithm=algorithm: timed(algorithm))
            of_quality = f"{QUALITY}{task}"
            yield Run(of_quality, "ranksweep", lambda task=task, backbone=backbone: ranksweep(f"quality {task}", backbone, ITERATIONS, True), ONCE)
            yield Run(of_quality, who, lambda algorithm=algorithm: implicit(algorithm, "--iterations", ITERATIONS, "--eval"), ONCE)

    def convergence(self):
        """Ours alone: the seconds until the epoch that is best on validation, ranking included."""
        dataset = ours.given(GOWALLA, self.data)
        dataset["split"] = {"kind": "given", "validation": 0.1, "seed": 2024}
        for who, (block, every) in CONVERGING.items():
            run = lambda who=who, block=block, every=every: self.sweep(
                f"converge {who}", dataset, block, epochs=200, evaluate_every=every, patience=5 if every == 1 else 2
            ).converge(self.peers.python)
            yield Run(CONVERGENCE, who, lambda run=run, every=every: with_detail(run(), every=every), ONCE)

    def exported(self):
        """MovieLens-1M, a fifth of each user's interactions test, as a folder that comes split."""
        folder = self.work / ML_1M
        if not (folder / "test.tsv.gz").exists():
            folder.mkdir(parents=True, exist_ok=True)
            source = {"format": "movielens", "path": str(self.data / ML_1M / "ratings.dat.gz")}
            dataset = {"name": ML_1M, "source": source, "split": {"kind": "random", "test": 0.2, "seed": 1}}
            prepared = self.sweep("export ml-1m", dataset, ours.BPR).folder()
            subprocess.run([self.peers.python, "-c", EXPORT, str(prepared), str(folder)], check=True)
        return folder


def with_detail(result, **more):
    return result | {"detail": result["detail"] | more}


def in_order(name, data, work):
    """A dataset that comes split, whose train part stands in order: of each user by the numbers of items, as in the peers' script."""
    path = work / f"{name}-in-order.csv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with gzip.open(data / name / "train.tsv.gz", "rt") as file:
            pairs = sorted({tuple(map(int, row[:2])) for row in csv.reader(file, delimiter="\t")})
        path.write_text("user,item,time\n" + "".join(f"{user},{item},{time}\n" for time, (user, item) in enumerate(pairs)))
    source = {"format": "delimited", "path": str(path), "columns": {"user": "user", "item": "item", "timestamp": "time"}}
    return {"name": name, "source": source, "split": {"kind": "leave-last", "validation": True}}
