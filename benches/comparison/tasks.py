"""What is run: every task, ours and the peers', and in how many of the rounds.

The first peers of a task are those that may be its fastest; they run in every round. What only stands beside them (code as released,
default malloc, slow styles) runs in `FEW` rounds.
"""

from dataclasses import dataclass
from typing import Callable

from . import ours

ELECTRONIC, GOWALLA = "slatk-electronic", "slatk-gowalla"
FEW, ONCE = 2, 1
GATHER = "torch gather, as released"


@dataclass
class Run:
    """One process that is started anew in each of its rounds; `start` gives its seconds, peak memory and detail."""

    task: str
    who: str
    start: Callable[[], dict]
    rounds: int = 1_000
    threads: int = 2


def scale(result, factor):
    """A result for so many times the work."""
    return result | {"seconds": result["seconds"] * factor, "detail": result["detail"] | {"scaled_by": round(factor, 4)}}


def of_pairs(result, pairs):
    """RecBole trains on a part of train: the same seconds per pair for all of it."""
    return scale(result, pairs / result["detail"]["train_pairs"])


class Tasks:
    """All runs, for an opened comparison: where it works, the interpreter, the peers, the data."""

    def __init__(self, work, peers, data, pairs):
        self.work, self.peers, self.data, self.pairs = work, peers, data, pairs

    def all(self):
        return [
            *self.softmax_at_k(ELECTRONIC, "electronic", batches=20, epochs=2),
            *self.softmax_at_k(GOWALLA, "gowalla", batches=10, epochs=1),
            *self.bpr(),
            *self.light_gcn(),
            *self.ranking("ranking gowalla"),
            *self.ranking("ranking gowalla, with auc", "auc"),
            *self.preparing(),
            *self.growth(),
        ]

    def training(self, task, sweep, single=3):
        """Ours with 2 threads and with 1."""
        return [
            Run(task, "ranksweep", lambda: sweep.train(self.peers.python)),
            Run(task, "ranksweep", lambda: sweep.train(self.peers.python, threads=1), rounds=single, threads=1),
        ]

    def sweep(self, name, dataset, block, batch=1024, epochs=3):
        return ours.Sweep(self.work, name, dataset, block, batch, epochs)

    def softmax_at_k(self, dataset, short, batches, epochs):
        task = f"mf softmax-at-k {short}"
        sweep = self.sweep(task.replace(" ", "-"), ours.given(dataset, self.data), ours.SOFTMAX_AT_K, epochs=epochs)
        torch = lambda style, count=batches, tuned=False: lambda: self.peers.run(
            "torch_mf.py", *self.peers.dataset(dataset), "--loss", "softmax_at_k", "--style", style, "--max-batches", count, tuned=tuned
        )
        return [
            *self.training(task, sweep, single=3 if epochs > 1 else ONCE),
            Run(task, "torch gemm, tuned malloc", torch("gemm", tuned=True)),
            Run(task, "torch gemm", torch("gemm"), FEW),
            Run(task, "torch bmm, tuned malloc", torch("bmm", count=5, tuned=True), FEW),
            Run(task, GATHER, torch("gather", count=3), ONCE),
        ]

    def bpr(self):
        task = "mf bpr gowalla"
        sweep = self.sweep("mf-bpr-gowalla", ours.given(GOWALLA, self.data), ours.BPR)
        like = ("--loss", "bpr", "--negatives", 1, "--score", "dot", "--lr", 0.001, "--init", "xavier")
        torch = lambda style, tuned=False: lambda: self.peers.run(
            "torch_mf.py", *self.peers.dataset(GOWALLA), *like, "--style", style, tuned=tuned
        )
        recbole = lambda: of_pairs(self.peers.run("recbole_models.py", *self.peers.dataset(GOWALLA), "--model", "BPR"), self.pairs[GOWALLA])
        return [
            *self.training(task, sweep),
            Run(task, "torch bmm, tuned malloc", torch("bmm", tuned=True)),
            Run(task, "torch bmm", torch("bmm"), FEW),
            Run(task, GATHER, torch("gather"), FEW),
            Run(task, "implicit, hogwild SGD", lambda: self.peers.run("implicit_als.py", *self.peers.dataset(GOWALLA), "--algorithm", "bpr")),
            Run(task, "RecBole", recbole, ONCE),
        ]

    def light_gcn(self):
        task = "light-gcn bpr gowalla"
        sweep = self.sweep("light-gcn-bpr-gowalla", ours.given(GOWALLA, self.data), ours.LIGHT_GCN, batch=2048, epochs=1)
        like = ("--loss", "bpr", "--negatives", 1, "--style", "bmm", "--score", "dot", "--lr", 0.001, "--init", "xavier", "--batch", 2048)
        torch = lambda tuned: lambda: self.peers.run(
            "torch_lightgcn.py", *self.peers.dataset(GOWALLA), *like, "--max-batches", 20, tuned=tuned
        )
        recbole = lambda: of_pairs(
            self.peers.run("recbole_models.py", *self.peers.dataset(GOWALLA), "--model", "LightGCN", "--epochs", 1, "--max-batches", 10),
            self.pairs[GOWALLA],
        )
        return [
            *self.training(task, sweep, single=FEW),
            Run(task, "torch CSR, tuned malloc", torch(True)),
            Run(task, "torch CSR", torch(False), FEW),
            Run(task, "RecBole", recbole, FEW),
        ]

    def ranking(self, task, *more):
        """The peers' scripts stop at the top 20; `auc` makes ours find the rank of every held-out item."""
        dataset = self.sweep("mf-bpr-gowalla", ours.given(GOWALLA, self.data), ours.BPR)
        peer = lambda name, tuned=False: lambda: self.peers.run(
            "full_ranking.py", *self.peers.dataset(GOWALLA), "--impl", name, tuned=tuned
        )
        return [
            Run(task, "ranksweep", lambda: ours.rank([*more, dataset.folder()])),
            Run(task, "ranksweep", lambda: ours.rank([*more, dataset.folder()], threads=1), rounds=3, threads=1),
            Run(task, "implicit", peer("implicit")),
            Run(task, "torch, tuned malloc", peer("torch", tuned=True)),
            Run(task, "torch", peer("torch"), FEW),
        ]

    def preparing(self):
        task = "prepare 10M rows"
        csv = lambda: self.peers.csv(self.work, 10)
        sweep = lambda: self.sweep("prepare-10M", ours.ratings(csv()), ours.BPR)
        peer = lambda name, tuned=False: lambda: self.peers.run("k_core.py", "--impl", name, "--csv", csv(), tuned=tuned)
        return [
            Run(task, "ranksweep", lambda: sweep().prepare()),
            Run(task, "ranksweep", lambda: sweep().prepare(threads=1), rounds=3, threads=1),
            Run(task, "polars, streaming", peer("polars-lazy")),
            Run(task, "pandas", peer("pandas")),
            Run(task, "polars, eager", peer("polars"), FEW),
        ]

    def growth(self):
        """Ours alone, at sizes ten times apart."""
        runs = []
        for millions in (1, 10):
            sweep = self.sweep(f"growth-{millions}M", ours.synthetic(millions), ours.BPR)
            runs.append(Run(f"growth: mf bpr {millions}M interactions", "ranksweep", lambda sweep=sweep: sweep.train(self.peers.python), FEW))
        for items in (10_000, 100_000, 1_000_000):
            runs.append(Run(f"growth: ranking 2k users, {items // 1000}k items", "ranksweep", lambda items=items: ours.rank([2_000, items]), FEW))
        large = lambda: self.sweep("prepare-100M", ours.ratings(self.peers.csv(self.work, 100)), ours.BPR)
        return [*runs, Run("growth: prepare 100M rows", "ranksweep", lambda: large().prepare(), ONCE)]
