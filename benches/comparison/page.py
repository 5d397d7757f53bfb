"""docs/performance.md from the lines of a comparison and the notes that are written by hand."""

import json
import re
from statistics import median

from . import floors, instruction_sets, kinds, model_tasks, ours
from .tasks import GATHER

NOTES = ours.ROOT / "benches/performance_notes.md"
PAGE = ours.ROOT / "docs/performance.md"

# What must be shown (times faster than a peer, at least), and of which peers the fastest counts.
TARGETS = [
    ("mf softmax-at-k electronic", "torch gather", 100),
    ("mf softmax-at-k electronic", "torch (gemm|bmm)", 2.5),
    ("mf softmax-at-k gowalla", "torch gather", 80),
    ("mf softmax-at-k gowalla", "torch (gemm|bmm)", 6),
    ("mf bpr gowalla", "torch", 10),
    ("mf bpr gowalla", "implicit", 1 / 3),
    ("light-gcn bpr gowalla", "torch", 2.5),
    ("light-gcn bpr gowalla", "RecBole", 5),
    ("ranking gowalla", "implicit", 2.2),
    ("ranking gowalla", "torch", 3),
    ("ranking gowalla, with auc", "implicit", 2.2),
    ("ranking gowalla, with auc", "torch", 3),
    ("prepare 10M rows", "polars", 2),
    ("prepare 10M rows", "pandas", 4),
    ("sas-rec movielens-100k", "RecBole", 20),
    ("gru4rec movielens-100k", "RecBole", 10),
    ("neu-mf bce movielens-100k", "RecBole", 3),
    ("mult-vae movielens-100k", "RecBole", 3),
    ("mult-vae electronic", "RecBole", 3),
    ("xsim-gcl bpr gowalla", "torch", 2.5),
    ("sgl bpr gowalla", "torch", 2.5),
    ("item-knn gowalla", "RecBole", 5),
    *(
        (f"{task} {dim} {dataset}", "implicit", least)
        for dataset in ("gowalla", "ml-1m")
        for dim in (64, 256)
        for task, least in (("ials conjugate-gradient", 1.5), ("ials cholesky", 2), ("rg2", 10))
    ),
]
# Of peak memory, by the task.
MEMORY, THREADS = [(r"ials|rg2", 2), (r"", 3)], 1.7
# The task that may take at most so many times its bare product.
PRODUCT = ("ranking gowalla, with auc", 1.5)


class Figures:
    """The runs of one program on one task."""

    def __init__(self, lines):
        self.lines = lines
        self.seconds = median(line["seconds"] for line in lines)
        self.peak = median(line["peak_mb"] for line in lines)
        self.digests = {line.get("digest") for line in lines}
        self.detail = lines[-1].get("detail", {})

    def spread(self):
        seconds = [line["seconds"] for line in self.lines]
        extra = ", from few batches" if self.detail.get("extrapolated") else ""
        return f"{short(self.seconds)} ({short(min(seconds))} to {short(max(seconds))}; {len(seconds)}{extra})"


def short(number):
    return f"{number:.3g}" if number < 100 else f"{number:,.0f}"


def times(number):
    return f"{number:.2f}x" if number < 10 else f"{number:,.0f}x"


def yes(met):
    return "yes" if met else "**no**"


def table(header, rows):
    head = f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n"
    return head + "".join(f"| {' | '.join(row)} |\n" for row in rows)


class Comparison:
    """All lines of a comparison, by task, program and threads."""

    def __init__(self, path):
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        self.machine = next(line for line in lines if line["task"] == "machine")
        peers = (line["detail"]["peer"] for line in lines if "peer" in line.get("detail", {}))
        self.versions = sorted({" ".join(peer.split()[:2]) for peer in peers})
        rates = [line["rates"] for line in lines if "rates" in line]
        self.rates = {key: median(each[key] for each in rates) for key in rates[0]} if rates else {}
        by_run = {}
        for line in lines:
            if "who" in line:
                by_run.setdefault((line["task"], line["who"], line["threads"]), []).append(line)
        figures = {key: Figures(lines) for key, lines in by_run.items()}
        is_quality = lambda key: key[0].startswith(model_tasks.QUALITY)
        self.figures = {key: each for key, each in figures.items() if not is_quality(key)}
        self.of_quality = {key: each for key, each in figures.items() if is_quality(key)}

    def tasks(self):
        return list(dict.fromkeys(task for task, _, _ in self.figures))

    def ours(self, task, threads=2):
        return self.figures.get((task, "ranksweep", threads))

    def peers(self, task, pattern=""):
        """Other programs of a task by time, fastest first."""
        found = [(who, figures) for (of, who, _), figures in self.figures.items() if of == task and who != "ranksweep" and re.match(pattern, who)]
        return sorted(found, key=lambda peer: peer[1].seconds)

    def side_by_side(self):
        for task in self.tasks():
            mine, peers = self.ours(task), self.peers(task)
            if mine is None or not peers:
                continue
            yield [f"**{task}**", "**ranksweep**", mine.spread(), "", f"{mine.peak:,.0f}", ""]
            for at, (who, figures) in enumerate(peers):
                name = f"{who} (fastest)" if at == 0 else who
                ratio, memory = figures.seconds / mine.seconds, figures.peak / mine.peak
                yield ["", name, figures.spread(), times(ratio), f"{figures.peak:,.0f}", times(memory)]

    def targets(self):
        for task, pattern, least in TARGETS:
            mine, peers = self.ours(task), self.peers(task, pattern if "gather" in pattern else f"(?!{re.escape(GATHER)}){pattern}")
            if mine is None or not peers:
                continue
            who, figures = peers[0]
            ratio = figures.seconds / mine.seconds
            yield [task, who, f"at least {times(least)}", times(ratio), yes(ratio >= least)]
        task, most = PRODUCT
        if mine := self.ours(task) if self.rates else None:
            over = mine.seconds / self.floor(task)[1]
            yield [task, "the bare sgemm", f"at most {times(most)} of it", times(over), yes(over <= most)]
        for task in self.tasks():
            mine, peers = self.ours(task), self.peers(task)
            if mine and peers:
                who, figures = min(peers, key=lambda peer: peer[1].peak)
                ratio, least = figures.peak / mine.peak, next(least for pattern, least in MEMORY if re.match(pattern, task))
                yield [f"{task}: peak memory", f"{who} (the least)", f"at least {times(least)}", times(ratio), yes(ratio >= least)]

    def qualities(self):
        """NDCG@20 of ours and of the peer."""
        for task in (task for (task, who, _) in self.of_quality if who == "ranksweep"):
            found = [figures.detail["test"]["ndcg@20"] for (of, _, _), figures in self.of_quality.items() if of == task]
            yield [task.removeprefix(model_tasks.QUALITY), *(f"{value:.4f}" for value in found)]

    def converged(self):
        rows = []
        for who, figures in self.peers(model_tasks.CONVERGENCE):
            detail = figures.detail
            rows.append([who, str(detail["every"]), str(detail["best_epoch"]), short(figures.seconds), f"{detail['validation']:.4f}"])
        return rows

    def threads(self):
        for task in self.tasks():
            one, two = self.ours(task, 1), self.ours(task, 2)
            if one and two:
                ratio = one.seconds / two.seconds
                same = len(one.digests | two.digests) == 1
                yield [task, short(one.seconds), short(two.seconds), times(ratio), yes(ratio >= THREADS), yes(same)]

    def growth(self):
        for task in self.tasks():
            if mine := self.ours(task):
                if task.startswith("growth") or task.startswith("prepare"):
                    yield [task.removeprefix("growth: "), mine.spread(), f"{mine.peak:,.0f}"]

    def floor(self, task):
        """What is counted, and the seconds that its products and its bytes take at least."""
        return floors.FLOORS[task](self.ours(task).detail, self.rates)

    def floors(self):
        for task in floors.FLOORS:
            if mine := self.ours(task):
                words, flops, moved = self.floor(task)
                most = max(flops, moved)
                yield [task, short(mine.seconds), short(flops), short(moved), times(mine.seconds / most), words]


def models(of):
    """The page's section on models other than matrix factorisation and LightGCN."""
    machine = of.machine
    contrastive = any(re.match("xsim-gcl|sgl", task) for task in of.tasks())
    from_few = "; of PyTorch's contrastive models too ([their code](../benches/comparison/torch_models.py))" if contrastive else ""
    body = f"""
## Models

Seconds per epoch, timed as above, of alternating least squares per iteration, of `item-knn` of the whole fit; two threads, in turns, medians of 3 runs (of least squares of {machine["rounds"]}),
each side with the same settings, but for `neu-mf`, whose batches are of 1,024 pairs here and of 2,048 in RecBole. Made by `benches/compare --models` on {machine["machine"]}, ranksweep {machine["commit"]}; {"; ".join(of.versions)}. Models
of sequences see the same targets: every prefix of the last 50 items predicts the next one by the softmax over all items. Ours passes over a history once, in windows whose hidden states are those of all prefixes, so that a
prefix reaches back to the beginning of its window; RecBole passes over 50 padded items for each target, some fifty times as many positions: that, and not the loops alone, is most of the ratio. RecBole's epochs of them are from
few batches{from_few}. `rg2` stands beside implicit's exact solutions.

{table(["task", "program", "seconds", "ranksweep is faster by", "peak MB", "and smaller by"], of.side_by_side())}
{table(["task", "against", "wanted", "reached", "met"], of.targets())}"""
    qualities = list(of.qualities())
    if qualities:
        body += f"""
NDCG@20 on test after {model_tasks.ITERATIONS} iterations; `regularization` {model_tasks.REGULARIZATION}, `alpha` {model_tasks.ALPHA}:

{table(["task", "ranksweep", "implicit"], qualities)}"""
    if converged := of.converged():
        body += f"""
How long each takes until its best epoch on validation, of slatk-gowalla less a tenth of each user's train interactions; seconds include the ranking of the
validation part. Vectors have 64 numbers; values are those that a search on validation picked, of `softmax-at-k` the paper's for slatk-electronic, and
stand in [the tasks](../benches/comparison/model_tasks.py).

{table(["method", "ranked after every epochs", "best epoch", "seconds until it", "its NDCG@20 on validation"], converged)}"""
    return body


def write(path):
    of = Comparison(path)
    rates, machine = of.rates, of.machine
    body = f"""# Performance

Made by `benches/compare` from [performance.jsonl](performance.jsonl), one line a run; not edited by hand but for the notes at its end.
{machine["machine"]}; ranksweep {machine["commit"]}; {"; ".join(of.versions)}. Two threads each, every program started anew, in turns, in
{machine["rounds"]} rounds, when other processes used less than 0.3 cores. Figures are medians (least to most; number of runs). Of a peer the fastest style
counts, with malloc tuned or not; "as released" is how research code is usually written, and stands beside it.

## Side by side

Training is seconds per epoch: of ranksweep the best epoch of a run, of a peer the best or the mean of what its script times (the files' heads say which). Ranking is seconds of ranking and measuring, preparing the whole process. Memory is the peak of the whole process in MB.

{table(["task", "program", "seconds", "ranksweep is faster by", "peak MB", "and smaller by"], of.side_by_side())}
## Targets

{table(["task", "against", "wanted", "reached", "met"], of.targets())}
## Threads

One thread against two: at least {THREADS}x, with the same bytes in the model, the ranks or the tables.

{table(["task", "1 thread, s", "2 threads, s", "ratio", f"at least {THREADS}x", "same bits"], of.threads())}
## Growth

Each tenfold of the work, in seconds and MB.

{table(["task", "seconds", "peak MB"], of.growth())}
## Floors

Measured beside the runs: sgemm {rates["sgemm"]:.0f} GFLOP/s ({rates["sgemm_thin"]:.0f} in the shape of ranking), copying {rates["copy"]:.0f} GB/s (read and written).

{table(["task", "ranksweep, s", "products, s", "bytes, s", "over the floor", "what is counted"], of.floors())}"""
    of_models = Comparison(model_tasks.LINES) if model_tasks.LINES.exists() else None
    body += models(of_models) if of_models else ""
    body += instruction_sets.section(table, short, times)
    body += kinds.section(table, times)
    if NOTES.exists():
        body += f"\n{re.sub(r'^# .*', '## Notes', NOTES.read_text().strip(), count=1)}\n"
    PAGE.write_text(body)
    reached = [row for comparison in (of, of_models) if comparison for row in comparison.targets()]
    print(f"docs/performance.md: {sum(row[-1] == 'yes' for row in reached)} of {len(reached)} targets met")
