"""Sets the results of finished sweeps beside papers' numbers: docs/reproduction.md and docs/hard-negatives.md.

    pip install -r requirements-checks.txt
    python docs/make_reproduction.py runs

The numbers of paper 001 are in configs/paper-001.csv; of paper 003 the order and the shape of the curves are looked at, as its split is
another. What was found out about the differences is written by hand, in docs/reproduction_notes.md and docs/hard_negatives_notes.md, and
goes below the tables. What a sweep gave is kept in docs/reproduction/, so that a sweep can be run again without the others:
those that are not in the folder keep their lines.
"""

import csv
import itertools
import json
import re
import sys
from pathlib import Path

import duckdb
import numpy as np
from scipy import stats
from statsmodels.stats.multitest import multipletests

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "evaluator" / "tests"))
from compare_significance import Crossed, fit_f_dist  # noqa: E402
PAPER = HERE.parent / "configs" / "paper-001.csv"
NOTES = HERE / "reproduction_notes.md"
# The lines of the page that each sweep gave.
KEPT = HERE / "reproduction"
# The paper's order, best first: of every dataset and backbone it reports.
ORDER = ["softmax-at-k(20)", "softmax", "lambda-loss-at-k(20)", "lambda-loss", "lambda-rank", "bpr"]
# A loss with exact ranks is above the same by samples.
CLAIMS = [*[((better, ""), (worse, "")) for better, worse in itertools.combinations(ORDER, 2)],
          *[((loss, ""), (f"{loss} by samples", sampler))
            for sampler, loss in itertools.product(["uniform-200", "uniform-1"], ["lambda-loss-at-k(20)", "lambda-loss"])]]
TESTS = {"paired-t": "t", "bootstrap": "bootstrap", "wilcoxon": "Wilcoxon", "randomization": "randomization", "mann-whitney": "Mann-Whitney"}


def bare(part):
    """A part's name without the values that tell it from others of the sweep: `mf-64` of `mf-64(init=normal)`; sampled ranks are told."""
    head, _, inside = (part or "").rstrip(")").partition("(")
    first = list(itertools.takewhile(lambda value: "=" not in value, inside.split(", "))) if inside else []
    return (f"{head}({', '.join(first)})" if first else head) + (" by samples" if "ranks=sampled" in inside else "")


def rows(path):
    """A Parquet table as dictionaries."""
    found = duckdb.sql(f"SELECT * FROM '{path}'")
    return [dict(zip(found.columns, row)) for row in found.fetchall()]


class Sweep:
    """The tables of one finished sweep."""

    def __init__(self, storage, name):
        self.name = name
        folder = storage / "sweeps" / name
        if not (folder / "leaderboard.parquet").exists():
            sys.exit(f"{folder} has no leaderboard.parquet; first: ranksweep run configs/{name}.yaml")
        self.board = rows(folder / "leaderboard.parquet")
        self.pairs = rows(folder / "significance.parquet")
        manifests = [json.loads(path.read_text()) for path in sorted((storage / "datasets").glob("*/manifest.json"))]
        self.manifests = {manifest["name"]: manifest for manifest in manifests}

    def find(self, dataset, backbone, loss, sampler, metric, cutoff):
        """The leaderboard's row of a method, of any sampler where none is named; none where it has no result."""
        wanted = (dataset, backbone, loss, metric, cutoff)
        for row in self.board:
            found = (row["dataset"], bare(row["backbone"]), bare(row["loss"]), row["metric"], row["cutoff"])
            if found == wanted and sampler in ("", row["sampler"]):
                return row if row["mean"] is not None else None
        return None

    def compare(self, one, other):
        """Each test of two leaderboard rows, as seen from the first."""
        same = ["dataset", "metric", "cutoff"]
        for pair in self.pairs:
            if [pair[key] for key in same] != [one[key] for key in same]:
                continue
            if (pair["method_a"], pair["method_b"]) == (one["method"], other["method"]):
                yield pair
            elif (pair["method_b"], pair["method_a"]) == (one["method"], other["method"]):
                low, high = (None if end is None else -end for end in (pair["ci_high"], pair["ci_low"]))
                yield pair | {"difference": -pair["difference"], "ci_low": low, "ci_high": high}


def p_value(p):
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def table(header, lines):
    head = f"| {' | '.join(header)} |\n|{'---|' * len(header)}\n"
    return head + "".join(f"| {' | '.join(line)} |\n" for line in lines)


def numbers(paper, sweep):
    """Each printed number, ours, and whether they agree."""
    for line in paper:
        row = sweep.find(*[line[key] for key in ("dataset", "backbone", "loss", "sampler", "metric")], int(line["cutoff"]))
        title = f"{line['loss']} on {line['backbone']}" + (f", {line['sampler']}" if line["sampler"] else "")
        cells = [line["table"], line["dataset"], title, f"{line['metric']}@{line['cutoff']}", line["paper"]]
        if row is None:
            yield [*cells, "no result", "", "", "no"]
            continue
        off = row["mean"] / float(line["paper"]) - 1
        spread = f"{row['seeds']}" + (f" (± {row['seed_std']:.4f})" if row["seed_std"] is not None else "")
        agrees = abs(off) <= float(line["tolerance"])
        ours = f"{row['mean']:.4f} [{row['ci_low']:.4f}, {row['ci_high']:.4f}]"
        yield [*cells, ours, spread, f"{off:+.1%}", f"{'yes' if agrees else '**no**'} ({float(line['tolerance']):.0%})"]


def said(difference, significant, scope=""):
    if significant:
        return ("holds" if difference > 0 else "**reversed**") + scope
    return "undecided" if difference > 0 else "undecided, reversed in the mean"


NUMBER = re.compile(r"[+-]?\d+\.\d+")
MODELS = ", for these trained models (one seed)"


def spreads(numbers):
    """Seeds of each method of a sweep at NDCG@20, and the standard deviation of their means, from the lines of the page."""
    found = {}
    for line in numbers:
        count, _, deviation = line[6].partition(" (± ")
        if line[3] == "ndcg@20" and count:
            found[line[2].replace(" on ", "|", 1)] = (int(count), float(deviation.rstrip(")")) if deviation else None)
    return found


def over_users_and_seeds(difference, low, high, seeds, prior):
    """The p-value over users and seeds from what the page prints: the interval over users (its level is 95%), and the spread of seeds, moderated over
    the sweep's methods as docs/statistics.md has it. The interaction of users and seeds is not printed and stays counted twice, which is cautious."""
    d0, s0, pooled = prior
    users = ((high - low) / 2 / stats.norm.isf(0.025)) ** 2
    parts, degrees = zip(*[((s0 if np.isinf(d0) else (d0 * s0 + (n - 1) * s**2) / (d0 + n - 1)) / n, min(d0 + n - 1, pooled)) for n, s in seeds])
    nu = sum(parts) / sum(part / d for part, d in zip(parts, degrees))
    return Crossed(users, sum(parts), 0, np.inf, nu).p_value(abs(difference))


def judged(sweep):
    """The claims of a sweep whose tables are not kept: the verdicts of its lines, which are over users alone, with the seeds that it printed."""
    found = spreads(sweep["numbers"])
    known = [(n, s) for n, s in found.values() if s is not None]
    if known:
        d0, s0 = fit_f_dist(np.array([s**2 for _, s in known]), np.array([n - 1.0 for n, _ in known]))
        prior = (d0, s0, sum(n - 1 for n, _ in known))
    lines, p_values = [], []
    for line in sweep["order"]:
        better, worse = line[2].split(" above ")
        methods = [found.get(f"{name.partition(', ')[0]}|{line[1]}" + "".join(name.partition(", ")[1:])) for name in (better, worse)]
        difference, low, high = (float(number) for number in NUMBER.findall(line[5])[:3])
        if all(method and method[1] is not None for method in methods):
            p_values.append((len(lines), over_users_and_seeds(difference, low, high, methods, prior)))
            lines.append([*line[:7], ""])
        elif any(method and method[0] == 1 for method in methods):
            lines.append([*line[:7], said(difference, line[7] in ("holds", "**reversed**"), MODELS)])
        else:
            lines.append([*line[:7], said(difference, line[7] in ("holds", "**reversed**"), " over users; the spread of seeds was not kept")])
    if p_values:
        adjusted = multipletests([p for _, p in p_values], method="holm")[1]
        for (place, _), p in zip(p_values, adjusted):
            difference = float(NUMBER.findall(lines[place][5])[0])
            lines[place][7] = f"{said(difference, p < 0.05)} over users and seeds (p {'= ' if p >= 0.001 else ''}{p_value(p)})"
    return lines


def order(paper, sweep):
    """The paper's order of losses, pair by pair, and what our tests say of it."""
    for dataset in dict.fromkeys(line["dataset"] for line in paper):
        backbones = dict.fromkeys(bare(row["backbone"]) for row in sweep.board if row["dataset"] == dataset and row["loss"])
        for backbone, (better, worse) in itertools.product(sorted(backbones, reverse=True), CLAIMS):
            found = [sweep.find(dataset, backbone, *method, "ndcg", 20) for method in (better, worse)]
            if None in found:
                continue
            printed = {(line["loss"], line["sampler"]): float(line["paper"]) for line in paper
                       if (line["dataset"], line["backbone"], line["metric"], line["cutoff"]) == (dataset, backbone, "ndcg", "20")}
            both = better in printed and worse in printed
            theirs = f"{printed[better] / printed[worse] - 1:+.1%}" if both else "not printed"
            tests = {pair["test"]: pair for pair in sweep.compare(*found)}
            first = next(iter(tests.values()))
            ours = f"{first['difference'] / found[1]['mean']:+.1%}"
            interval = f"{first['difference']:+.4f} [{first['ci_low']:+.4f}, {first['ci_high']:+.4f}]"
            p = "; ".join(f"{TESTS[test]} {p_value(pair['p_adjusted'])}" for test, pair in tests.items())
            claim = f"{better[0]} above {', '.join(filter(None, worse))}"
            scope = MODELS if first["over"] == "users" else " over users and seeds"
            yield [dataset, backbone, claim, theirs, ours, interval, p, said(first["difference"], first["verdict"] == "better" or first["verdict"] == "worse", scope)]


def data(sweep):
    for dataset in dict.fromkeys(row["dataset"] for row in sweep.board):
        manifest = sweep.manifests[dataset]
        sizes = [manifest[key] for key in ("users", "items", "train", "validation", "test")]
        yield [dataset, *[f"{size:,}" for size in sizes], f"[configs/{sweep.name}.yaml](../configs/{sweep.name}.yaml)"]


def lines(paper, storage, name):
    """The lines of the page from one sweep, read anew where it is in the storage."""
    kept = KEPT / f"{name}.json"
    if (storage / "sweeps" / name / "leaderboard.parquet").exists():
        sweep = Sweep(storage, name)
        paper = [line for line in paper if line["sweep"] == name]
        found = {"data": list(data(sweep)), "numbers": list(numbers(paper, sweep)), "order": list(order(paper, sweep))}
        kept.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n")
    return json.loads(kept.read_text())


HARDNESS = "paper-003-gowalla"
SMALL = "paper-003-movielens"
CUTOFFS = [5, 10, 20, 50, 100, 200]


def by_sampler(sweep):
    """The table of a sweep's samplers, and its rows by sampler, metric and cutoff."""
    found = {(row["sampler"], row["metric"], row["cutoff"]): row for row in sweep.board}
    samplers = list(dict.fromkeys(row["sampler"] for row in sweep.board))
    best = {cutoff: max(found[sampler, "ndcg", cutoff]["mean"] for sampler in samplers) for cutoff in CUTOFFS}

    def value(sampler, cutoff):
        mean = found[sampler, "ndcg", cutoff]["mean"]
        return f"**{mean:.4f}**" if mean == best[cutoff] else f"{mean:.4f}"

    def against_uniform(sampler):
        pairs = sweep.compare(found[sampler, "ndcg", 20], found["uniform-1", "ndcg", 20])
        tests = {pair["test"]: pair for pair in pairs}
        if not tests:
            return ["", ""]
        first = next(iter(tests.values()))
        interval = f"{first['difference']:+.4f} [{first['ci_low']:+.4f}, {first['ci_high']:+.4f}]"
        return [interval, "; ".join(f"{TESTS[test]} {p_value(pair['p_adjusted'])}" for test, pair in tests.items())]

    lines = [[sampler, *[value(sampler, cutoff) for cutoff in CUTOFFS], *against_uniform(sampler)] for sampler in samplers]
    return table(["sampler", *[f"@{cutoff}" for cutoff in CUTOFFS], "above uniform @20", "adjusted p"], lines), found


def optimum(sweep, found):
    """Which M of DNS(M, 200) is best, by the length of the list."""
    named = [(re.fullmatch(r"dns-mn-(\d+)(\(candidates=200\))?", sampler), sampler) for sampler in dict.fromkeys(row["sampler"] for row in sweep.board)]
    curve = {int(match[1]): sampler for match, sampler in named if match}
    best = lambda metric, cutoff: str(max(curve, key=lambda kept: found[curve[kept], metric, cutoff]["mean"]))
    lines = [[f"@{cutoff}", best("ndcg", cutoff), best("recall", cutoff)] for cutoff in CUTOFFS]
    return table(["K", "best M by NDCG", "best M by Recall"], lines)


def section(storage, name):
    """What docs/hard-negatives.md has of a sweep, read anew where it is in the storage; none where it was never run."""
    kept = KEPT / f"{name}.json"
    if (storage / "sweeps" / name / "leaderboard.parquet").exists():
        sweep = Sweep(storage, name)
        samplers, found = by_sampler(sweep)
        scope = next(pair for pair in sweep.pairs if pair["test"] == "paired-t" and pair["metric"] == "ndcg" and pair["cutoff"] == 20)
        tests = f"The t test is over {scope['over'].replace('-', ' ')}, Wilcoxon's over users; adjusted over all pairs of methods, after Romano and Wolf or Holm."
        lines = {"data": list(data(sweep)), "tests": tests, "samplers": samplers, "optimum": optimum(sweep, found) if name == HARDNESS else ""}
        kept.write_text(json.dumps(lines, indent=1, ensure_ascii=False) + "\n")
    return json.loads(kept.read_text()) if kept.exists() else None


def hardness(storage):
    """docs/hard-negatives.md: paper 003's samplers, by the length of the list."""
    large, small = section(storage, HARDNESS), section(storage, SMALL)
    if not (large and small):
        return print("docs/hard-negatives.md left as it is: one of its sweeps was never run")
    page = f"""# Hard negatives: how hard, for which K

Made by `python docs/make_reproduction.py runs` from the tables of two sweeps, or from docs/reproduction/ where a sweep was not run again; not edited by
hand but for the notes at its end. "On the Theories Behind Hard Negative Sampling for Recommendation" (paper 003), Table 2 and Figures 8 to 10.

{table(["dataset", "users", "items", "train", "validation", "test", "sweep file"], [*large["data"], *small["data"]])}
NDCG on the test part by sampler, `bpr` on `mf-64` (`warp` has its own loss); the best of each column in bold. The difference is that of NDCG@20
from one uniform negative, with its 95% interval.

## Gowalla, one seed

{large["tests"]}

{large["samplers"]}
Which M of DNS(M, 200) is best, by the length of the list:

{large["optimum"]}
## Movielens, three seeds

Every sampler of the paper's Table 2; `irgan` needs a small catalogue. Where a sampler has values to tune, those that validation picked. {small["tests"]}

{small["samplers"]}"""
    notes = HERE / "hard_negatives_notes.md"
    if notes.exists():
        page += f"\n{re.sub(r'^# .*', '## Notes', notes.read_text().strip(), count=1)}\n"
    (HERE / "hard-negatives.md").write_text(page)
    print("docs/hard-negatives.md written")


def main():
    storage = Path(sys.argv[1])
    hardness(storage)
    paper = list(csv.DictReader(PAPER.open()))
    names = dict.fromkeys(line["sweep"] for line in paper)
    known = [name for name in names if (storage / "sweeps" / name / "leaderboard.parquet").exists() or (KEPT / f"{name}.json").exists()]
    for name in names:
        if name not in known:
            print(f"left out, as it was never run: {name}")
    sweeps = [lines(paper, storage, name) for name in known]
    for sweep in sweeps:
        if any("paired t" in line[6] for line in sweep["order"]):
            sweep["order"] = judged(sweep)
    every = {part: [line for sweep in sweeps for line in sweep[part]] for part in ("data", "numbers", "order")}
    agreeing = every["numbers"]
    # A printed number is met when every reading and sweep of it meets it.
    cells = {}
    for line in agreeing:
        cell = (line[1], line[2].partition(",")[0], *line[3:5])
        cells[cell] = cells.get(cell, True) and line[-1].startswith("yes")
    yes = sum(cells.values())
    page = f"""# Reproduction: paper 001, SL@K

Made by `python docs/make_reproduction.py runs` from the result tables of the sweeps below, or from docs/reproduction/ where a sweep was not
run again; not edited by hand but for the notes at its end, which say what is from which run.
"Towards Optimizing Top-K Ranking Metrics in Recommender Systems", its printed numbers in [configs/paper-001.csv](../configs/paper-001.csv).

{table(["dataset", "users", "items", "train", "validation", "test", "sweep file"], every["data"])}
## The numbers

{yes} of {len(cells)} printed numbers are met within tolerance, in {len(agreeing)} lines: some stand in two tables of the paper, in two sweeps here, or in two
readings of the paper, and a number counts as met when all of its lines meet it. {sum(line[6] == "1" for line in agreeing)} lines are of a single seed. Intervals are 95% t over users of
the mean over seeds, so they do not hold the spread of seeds, whose standard deviation stands beside their number. The paper prints single runs without intervals.

{table(["table", "dataset", "method", "metric", "paper", "ours", "seeds", "difference", "within"], agreeing)}
## The order of the losses

By ndcg@20, the first named above the second. Intervals and p-values are over users alone, of these trained models, adjusted after Holm over all pairs
of methods of the dataset. Verdicts count the spread over seeds where it is known, and say where it is not: with several seeds they are by the t test over users and
seeds ([statistics.md](statistics.md)), for sweeps whose tables are not kept from what is printed here, adjusted after Holm over the claims of the sweep.

{table(["dataset", "backbone", "claim", "paper", "ours", "difference", "adjusted p", "verdict"], every["order"])}"""
    if NOTES.exists():
        page += f"\n{re.sub(r'^# .*', '## Notes', NOTES.read_text().strip(), count=1)}\n"
    (HERE / "reproduction.md").write_text(page)
    print(f"docs/reproduction.md: {yes} of {len(cells)} numbers within tolerance")


main()
