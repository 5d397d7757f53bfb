"""The losses and samplers that `benches/kinds` times, with the values that each is given, and their table."""

import json
from dataclasses import dataclass

from . import ours

LINES = ours.ROOT / "docs/performance_kinds.jsonl"
# Positives of a user's list.
LIST = 5
UNIFORM = {"kind": "uniform", "negatives": 100}
BPR = {"kind": "bpr"}
SOFTMAX = {"temperature": 0.2}
AT_K = {"cutoff": 20, "temperature": 0.2, "weight_temperature": 2.25, "quantile_every": 5}
SAMPLED = {"ranks": {"kind": "sampled"}}

LOSSES = {
    "bce": {}, "gbce": {"calibration": 0.75}, "bpr": {}, "cce": {}, "softmax": SOFTMAX, "sampled-softmax": {}, "softmax-at-k": AT_K,
    "bsl(form=pairs)": {"positive_temperature": 0.5, "negative_temperature": 0.2, "form": "pairs"},
    "bsl(form=lists)": {"positive_temperature": 0.5, "negative_temperature": 0.2, "form": "lists"},
    "psl": {"temperature": 0.2}, "ccl": {"margin": 0.4, "negative_weight": 50}, "sparsemax": {}, "mse": {}, "rg2": {}, "rgx": {}, "uib": {}, "cml": {"margin": 0.5},
    "sml": {}, "direct-au": {"uniformity": 1}, "smooth-ndcg": {"temperature": 0.1}, "smooth-ap": {"temperature": 0.1},
    "smooth-recall": {"temperature": 0.1}, "approx-ndcg": {}, "neural-ndcg": {"temperature": 1},
    "sog-clr": {"temperature": 0.2, "update_rate": 0.9}, "sog-softmax-at-k": AT_K | {"update_rate": 0.9}, "adap-tau": {},
    "adv-info-nce": SOFTMAX, "llpauc": {"true_positive_rate": 0.5, "false_positive_rate": 0.1}, "guided-rec": {},
    "lambda-rank(ranks=sampled)": SAMPLED, "lambda-loss(ranks=sampled)": SAMPLED, "lambda-loss-at-k(ranks=sampled)": SAMPLED | {"cutoff": 20},
    "lambda-rank(ranks=exact)": {}, "lambda-loss(ranks=exact)": {}, "lambda-loss-at-k(ranks=exact)": {"cutoff": 20},
}
LISTS = {"bsl(form=lists)", "smooth-ndcg", "smooth-ap", "smooth-recall", "approx-ndcg", "neural-ndcg"}
SAMPLER_OF = {"direct-au": {"kind": "in-batch", "negatives": 1}, "guided-rec": {"kind": "uniform", "negatives": 9}}

SAMPLERS = {
    "all": {}, "uniform": {"negatives": 100}, "popularity": {"negatives": 100}, "in-batch": {}, "ppr": {"negatives": 100},
    "dns": {"candidates": 100}, "dns-mn": {"candidates": 100, "negatives": 10}, "softmax": {"candidates": 100, "temperature": 1},
    "softmax-v": {"candidates": 100, "divergence": 1}, "pris": {"candidates": 100}, "warp": {"candidates": 10},
    "aobpr": {"negatives": 1, "scale": 0.05}, "kernel": {"negatives": 5}, "ada-sir": {"negatives": 5}, "irgan": {"negatives": 1},
    "mix-gcf": {"candidates": 16},
}
LOSS_OF = {"all": {"kind": "softmax", **SOFTMAX}, "in-batch": {"kind": "sampled-softmax"}, "warp": {"kind": "warp"}}


@dataclass
class Kind:
    """A loss with a sampler, one of which is what is timed."""

    what: str
    name: str
    loss: dict
    sampler: dict

    @property
    def is_list(self):
        return self.what == "loss" and self.name in LISTS

    @property
    def under(self):
        """The other of the two."""
        return self.sampler["kind"] if self.what == "loss" else self.loss["kind"]

    @property
    def negatives(self):
        """Draws of a pair."""
        return self.sampler.get("candidates", self.sampler.get("negatives"))

    def block(self):
        """The entry of a sweep's grid."""
        return {
            "backbones": [{"kind": "mf", "dim": 64, "init": {"kind": "normal", "std": 0.1}}],
            "losses": [self.loss],
            "samplers": [self.sampler],
            "optimizer": {"kind": "adam", "learning_rate": 0.01},
        }


def all():
    bare = lambda name: name.split("(")[0]
    losses = (Kind("loss", name, {"kind": bare(name), **values}, SAMPLER_OF.get(name, UNIFORM)) for name, values in LOSSES.items())
    samplers = (Kind("sampler", name, LOSS_OF.get(name, BPR), {"kind": name, **values}) for name, values in SAMPLERS.items())
    return [*losses, *samplers]


def write(lines, keep):
    """Stores the lines of a run; of one of some kinds in the place of those that are there."""
    key = lambda line: (line["what"], line["kind"])
    if keep and LINES.exists():
        of_machine, *before = [json.loads(line) for line in LINES.read_text().splitlines()]
        anew = {key(line): line for line in lines[1:]}
        lines = [of_machine, *(anew.pop(key(line), {"commit": of_machine["commit"]} | line) for line in before), *anew.values()]
    LINES.write_text("".join(json.dumps(line) + "\n" for line in lines))


def section(table, times):
    """The page's section; nothing before the first run."""
    if not LINES.exists():
        return ""
    of_machine, *lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    rows, others = {"loss": [], "sampler": []}, {}
    for line in lines:
        mine, torch = (line["pairs_per_second"].get(who) for who in ("ranksweep", "torch"))
        if line.get("commit", of_machine["commit"]) != of_machine["commit"]:
            others.setdefault(line["commit"], []).append(f"`{line['kind']}`")
        count = "all" if line["negatives"] is None else f"{line['negatives']:,}"
        figures = [f"{rate:,}" if rate else "–" for rate in (mine, torch)]
        rows[line["what"]].append([f"`{line['kind']}`", f"`{line['under']}`", count, *figures, times(mine / torch) if mine and torch else "–"])
    anew = "".join(f" {', '.join(names)}: {commit}." for commit, names in others.items())
    rest = ["draws a pair", "ranksweep", "PyTorch", "faster by"]
    return f"""
## Every loss and sampler

Pairs of train interactions per second, more is better: matrix factorisation of slatk-electronic with 64 dimensions, batches of 1,024 pairs, two
threads; of losses of lists, positives per second. Made by `benches/kinds` on {of_machine["machine"]}, ranksweep
{of_machine["commit"]}.{anew} PyTorch is what one writes down from the paper with fused Adam, and tuned malloc; [its code](../benches/comparison/torch_kinds.py).

{table(["loss", "sampler", *rest], rows["loss"])}
{table(["sampler", "loss", *rest], rows["sampler"])}"""
