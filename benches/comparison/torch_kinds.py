"""Losses and samplers in plain PyTorch, as one writes them down from a paper: pairs per second of a matrix factorisation with each.

    python torch_kinds.py DATA            # all, one JSON line each
    python torch_kinds.py DATA --only dns

64 dimensions, batches of 1,024 pairs, fused Adam, vectors looked up and multiplied by one batched product. Negatives are uniform over what the
user does not know in train, by a table of all pairs. A few batches are timed, after one that is not. What is computed once in several epochs
(quantiles, temperatures) is left out.
"""

import argparse
import gzip
import json
import math
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

DIM, BATCH, NEGATIVES = 64, 1024, 100
POSITIVES = 5


class Data:
    """Train pairs, and which items each user knows."""

    def __init__(self, folder):
        rows = np.loadtxt(gzip.open(Path(folder) / "train.tsv.gz", "rt"), dtype=np.int64, usecols=(0, 1))
        (_, users), (_, items) = (np.unique(column, return_inverse=True) for column in rows.T)
        self.pairs = torch.from_numpy(np.stack([users, items], 1))
        self.users, self.items = int(users.max()) + 1, int(items.max()) + 1
        self.known = torch.zeros(self.users, self.items, dtype=torch.bool)
        self.known[self.pairs[:, 0], self.pairs[:, 1]] = True
        self.counts = torch.bincount(self.pairs[:, 1], minlength=self.items)
        self.lists = [torch.nonzero(row).flatten() for row in self.known]

    def unknown(self, users, draw):
        """Draws `[B, N]` until none is known to its user."""
        ids = draw(None)
        while (bad := self.known[users[:, None], ids]).any():
            ids[bad] = draw(int(bad.sum()))
        return ids

    def uniform(self, users, count):
        return self.unknown(users, lambda left: torch.randint(self.items, (left,) if left else (len(users), count)))


class Model(torch.nn.Module):
    def __init__(self, data):
        super().__init__()
        self.user = torch.nn.Parameter(torch.randn(data.users, DIM) * 0.1)
        self.item = torch.nn.Parameter(torch.randn(data.items, DIM) * 0.1)

    def tables(self, cosine):
        return (F.normalize(self.user, dim=1), F.normalize(self.item, dim=1)) if cosine else (self.user, self.item)


def score(u, table, ids):
    """`[B, N]`"""
    return torch.bmm(F.embedding(ids, table), u.unsqueeze(2)).squeeze(2)


class Kind:
    """A loss of positives' scores `p [B]` and negatives' `n [B, N]`."""

    cosine, negatives = True, NEGATIVES

    def __init__(self, data, model):
        self.data, self.model, self.extra = data, model, []

    def parameter(self, *shape, start=0.0):
        self.extra.append(torch.nn.Parameter(torch.full(shape, start)))
        return self.extra[-1]

    def draw(self, users, positives):
        return self.data.uniform(users, self.negatives)

    def step(self, users, positives):
        ids = self.draw(users, positives)
        user, item = self.model.tables(self.cosine)
        s = score(user[users], item, torch.cat([positives[:, None], ids], 1))
        return self.loss(s[:, 0], s[:, 1:], users=users, positives=positives, ids=ids)


def pairs(cosine, formula):
    """A kind that is its formula."""
    return type("Pairs", (Kind,), {"cosine": cosine, "loss": lambda self, p, n, **_: formula(p, n)})


def sparsemax_loss(p, n):
    z = torch.cat([p[:, None], n], 1)
    ordered = z.sort(1, descending=True).values
    sums, k = ordered.cumsum(1), torch.arange(1, z.shape[1] + 1)
    support = (1 + k * ordered > sums).sum(1, keepdim=True)
    tau = (sums.gather(1, support - 1) - 1) / support
    probability = (z - tau).clamp(min=0)
    return (-p + 0.5 * ((z**2 - tau**2) * (probability > 0)).sum(1) + 0.5).mean()


class SoftmaxAtK(Kind):
    def __init__(self, *of):
        super().__init__(*of)
        self.quantile = torch.zeros(self.data.users)

    def loss(self, p, n, users, **_):
        return (torch.sigmoid((p - self.quantile[users]) / 2.25) * torch.logsumexp((n - p[:, None]) / 0.2, 1)).mean()


class SogClr(Kind):
    def __init__(self, *of):
        super().__init__(*of)
        self.average, self.quantile = torch.ones(self.data.users), torch.zeros(self.data.users)

    def loss(self, p, n, users, **_):
        e = torch.exp((n - p[:, None]) / 0.2)
        with torch.no_grad():
            self.average[users] = 0.1 * self.average[users] + 0.9 * e.mean(1)
        return (self.weight(p, users) * (e / self.average[users][:, None]).mean(1)).mean()

    def weight(self, p, users):
        return 1.0


class SogSoftmaxAtK(SogClr):
    def weight(self, p, users):
        return torch.sigmoid((p - self.quantile[users]) / 2.25)


class AdapTau(Kind):
    def __init__(self, *of):
        super().__init__(*of)
        self.sharpness = torch.full((self.data.users,), 5.0)

    def loss(self, p, n, users, **_):
        return torch.logsumexp((n - p[:, None]) * self.sharpness[users][:, None], 1).mean()


class Uib(Kind):
    cosine = False

    def __init__(self, *of):
        super().__init__(*of)
        self.boundary = self.parameter(self.data.users)

    def loss(self, p, n, users, **_):
        b = self.boundary[users]
        return 0.5 * F.softplus(b - p).mean() + 0.5 * F.softplus(n - b[:, None]).mean()


class Metric(Kind):
    """Of squared distances."""

    cosine = False

    def step(self, users, positives):
        ids = self.draw(users, positives)
        u, p, n = self.model.user[users], self.model.item[positives], F.embedding(ids, self.model.item)
        return self.distances((u - p).square().sum(1), (u[:, None] - n).square().sum(2), p, n, users, positives)


class Cml(Metric):
    def distances(self, p, n, *_):
        nearest = n.min(1).values
        return F.relu(0.5 + p - nearest).mean()


class Sml(Metric):
    def __init__(self, *of):
        super().__init__(*of)
        self.of_user, self.of_item = self.parameter(self.data.users, start=0.5), self.parameter(self.data.items, start=0.5)

    def distances(self, p, n, item, negatives, users, positives):
        mine, other = self.of_user[users], self.of_item[positives]
        between = (item[:, None] - negatives).square().sum(2)
        terms = F.relu(p[:, None] - n + mine[:, None]) + 0.01 * F.relu(p[:, None] - between + other[:, None])
        return terms.mean() - mine.mean() - other.mean()


class DirectAu(Kind):
    def step(self, users, positives):
        u, v = (table[ids] for table, ids in zip(self.model.tables(True), (users, positives)))
        uniform = lambda x: torch.pdist(x).square().mul(-2).exp().mean().log()
        return (u - v).square().sum(1).mean() + (uniform(u) + uniform(v)) / 2


class AdvInfoNce(Kind):
    def __init__(self, *of):
        super().__init__(*of)
        self.adversary = Model(self.data)

    def loss(self, p, n, users, ids, **_):
        hardness = torch.softmax(score(self.adversary.user[users], self.adversary.item, ids), 1).detach()
        return torch.logsumexp((n - p[:, None]) / 0.2 + (hardness * n.shape[1] + 1e-9).log(), 1).mean()


class Llpauc(Kind):
    def __init__(self, *of):
        super().__init__(*of)
        self.scalars = self.parameter(7, start=0.5)

    def loss(self, p, n, **_):
        a, b, gamma, over, under, _, _ = self.scalars
        positive = (p - a).square() - 2 * (1 + gamma) * p
        negative = (n - b).square() + 2 * (1 + gamma) * n
        soft = lambda x: F.softplus(5 * x) / 5
        return over + soft(positive - over).mean() / 0.5 + under + soft(negative - under).mean() / 0.1 - gamma.square()


class GuidedRec(Kind):
    negatives = 9

    def __init__(self, *of):
        super().__init__(*of)
        self.network = torch.nn.Sequential(*(layer for width in [(20, 32), (32, 16)] for layer in (torch.nn.Linear(*width), torch.nn.ReLU())), torch.nn.Linear(16, 1))
        self.extra += list(self.network.parameters())

    def loss(self, p, n, **_):
        s = torch.cat([p[:, None], n], 1)
        label = torch.zeros_like(s)
        label[:, 0] = 1
        rank = 1 + (n >= p[:, None]).sum(1)
        surrogate = self.network(torch.cat([s.detach(), label], 1))[:, 0]
        model = F.softplus(-p) * n.shape[1] + F.softplus(n).sum(1)
        return model.mean() + (surrogate - 1 / torch.log2(1 + rank)).square().mean() - self.network(torch.cat([s, label], 1)).mean()


class Lambda(Kind):
    """Weights by the ranks of the sample, rescaled to the catalogue, or by exact ranks."""

    cosine = False
    exact, cutoff, is_loss = False, None, True

    def step(self, users, positives):
        ids = self.draw(users, positives)
        user, item = self.model.tables(False)
        if self.exact:
            every = user[users] @ item.T
            p, n = every.gather(1, positives[:, None]), every.gather(1, ids)
            with torch.no_grad():
                order = every.argsort(1, descending=True)
                rank = torch.empty_like(order).scatter_(1, order, torch.arange(1, every.shape[1] + 1).expand_as(order))
                first, others = rank.gather(1, positives[:, None]), rank.gather(1, ids)
        else:
            s = score(user[users], item, torch.cat([positives[:, None], ids], 1))
            p, n = s[:, :1], s[:, 1:]
            with torch.no_grad():
                order = s.argsort(1, descending=True)
                rank = torch.empty_like(order).scatter_(1, order, torch.arange(s.shape[1]).expand_as(order))
                rank = 1 + rank * self.data.items // s.shape[1]
                first, others = rank[:, :1], rank[:, 1:]
        gain = lambda r: 1 / torch.log2(1 + r.float())
        apart = (first - others).abs().clamp(min=1)
        weight = gain(apart) - gain(apart + 1) if self.is_loss else (gain(first) - gain(others)).abs()
        if self.cutoff:
            weight = weight * ((first <= self.cutoff) | (others <= self.cutoff))
        return (weight * F.softplus(n - p)).sum(1).mean()


class Lists(Kind):
    """A row is a user with several positives: `p [B, P]`, `n [B, N]`. A step counts for as many pairs as it has positives."""

    cosine, per_row = False, POSITIVES

    def step(self, users, positives):
        users = torch.unique(users)
        mine = torch.stack([self.data.lists[user][torch.randint(len(self.data.lists[user]), (POSITIVES,))] for user in users.tolist()])
        ids = self.data.uniform(users, self.negatives)
        user, item = self.model.tables(self.cosine)
        self.pairs = mine.numel()
        s = score(user[users], item, torch.cat([mine, ids], 1))
        return self.of_lists(s[:, :POSITIVES], s)


def soft_ranks(p, s, temperature):
    """`[B, P]`"""
    return 0.5 + torch.sigmoid((s[:, None] - p[:, :, None]) / temperature).sum(2)


IDEAL = (1 / torch.log2(2.0 + torch.arange(POSITIVES))).sum()


class SmoothNdcg(Lists):
    def of_lists(self, p, s):
        return 1 - ((1 / torch.log2(1 + soft_ranks(p, s, 0.1))).sum(1) / IDEAL).mean()


class SmoothAp(Lists):
    def of_lists(self, p, s):
        return 1 - (soft_ranks(p, p, 0.1) / soft_ranks(p, s, 0.1)).mean()


class SmoothRecall(Lists):
    def of_lists(self, p, s):
        ranks = soft_ranks(p, s, 0.1)
        return 1 - torch.stack([torch.sigmoid((k - ranks) / 1.0).mean() for k in (1, 5, 10, 20)]).mean()


class BslOfLists(Lists):
    cosine = True

    def of_lists(self, p, s):
        return (-0.5 * torch.logsumexp(p / 0.5, 1) + torch.logsumexp(s[:, POSITIVES:] / 0.2, 1)).mean()


class NeuralNdcg(Lists):
    def of_lists(self, p, s):
        n = s.shape[1]
        apart = (s[:, :, None] - s[:, None, :]).abs().sum(2)
        scale = n + 1 - 2 * torch.arange(1, n + 1)
        sorting = torch.softmax(scale[None, :, None] * s[:, None, :] - apart[:, None, :], 2)
        for _ in range(20):
            sorting = sorting / sorting.sum(1, keepdim=True).clamp(min=1e-10)
            sorting = sorting / sorting.sum(2, keepdim=True).clamp(min=1e-10)
        gains = sorting[:, :, :POSITIVES].sum(2) / torch.log2(2.0 + torch.arange(n))
        return 1 - (gains.sum(1) / IDEAL).mean()


class Bpr(Kind):
    """Samplers are timed under it."""

    cosine = False

    def loss(self, p, n, **_):
        return F.softplus(n - p[:, None]).mean()


class All(Kind):
    def step(self, users, positives):
        user, item = self.model.tables(True)
        s = user[users] @ item.T / 0.2
        return F.cross_entropy(s, positives)


class Popularity(Bpr):
    def draw(self, users, positives):
        weights = self.data.counts.float()
        draw = lambda left: torch.multinomial(weights, left or len(users) * self.negatives, replacement=True)
        return self.data.unknown(users, lambda left: draw(left) if left else draw(left).view(len(users), -1))


class InBatch(Kind):
    cosine = False

    def step(self, users, positives):
        user, item = self.model.tables(False)
        s = user[users] @ item[positives].T - self.data.counts[positives].float().log()
        s = s.masked_fill(self.data.known[users[:, None], positives] & ~torch.eye(len(users), dtype=torch.bool), -torch.inf)
        return F.cross_entropy(s, torch.arange(len(users)))


class Ppr(Bpr):
    """Personalised PageRank by five steps of the walk, once; draws by a cumulative sum of each user's best 200."""

    def __init__(self, *of):
        super().__init__(*of)
        know = self.data.known.float()
        to_item, to_user = know / know.sum(1, keepdim=True), know.T / know.sum(0).clamp(min=1)[:, None]
        walk = to_item
        for _ in range(2):
            walk = 0.15 * to_item + 0.85 * walk @ to_user @ to_item
        walk[self.data.known] = 0
        self.weights, self.near = walk.topk(200, dim=1)

    def draw(self, users, positives):
        at = torch.multinomial(self.weights[users] + 1e-12, self.negatives, replacement=True)
        return self.near[users].gather(1, at)


class Looks(Bpr):
    """Candidates are scored, then chosen or weighed."""

    candidates = NEGATIVES

    def step(self, users, positives):
        ids = self.data.uniform(users, self.candidates)
        user, item = self.model.tables(False)
        s = score(user[users], item, torch.cat([positives[:, None], ids], 1))
        return self.of_candidates(s[:, :1], s[:, 1:], users, ids)


class Dns(Looks):
    def of_candidates(self, p, n, *_):
        return F.softplus(n.max(1, keepdim=True).values - p).mean()


class DnsMn(Looks):
    def of_candidates(self, p, n, *_):
        return F.softplus(n.topk(10, dim=1).values.gather(1, torch.randint(10, (len(p), 1))) - p).mean()


class Weighs(Looks):
    def of_candidates(self, p, n, users, ids):
        return (self.weights(n.detach(), users, ids) * F.softplus(n - p)).sum(1).mean()

    def weights(self, n, *_):
        return torch.softmax(n, 1)


class SoftmaxV(Weighs):
    """The temperature of each row meets a divergence, by bisection."""

    def weights(self, n, *_):
        low, high = torch.full((len(n), 1), 1e-3), torch.full((len(n), 1), 1e3)
        for _ in range(40):
            middle = (low * high).sqrt()
            weights = torch.softmax(n / middle, 1)
            over = (weights * (weights * n.shape[1] + 1e-12).log()).sum(1, keepdim=True) > 1
            low, high = torch.where(over, middle, low), torch.where(over, high, middle)
        return torch.softmax(n / high, 1)


class Warp(Looks):
    candidates = 10

    def of_candidates(self, p, n, *_):
        above = n + 1 > p
        first = above.float().argmax(1, keepdim=True)
        weight = torch.log1p((self.data.items - 1) / (1.0 + first))
        return (weight * above.any(1, keepdim=True) * F.relu(1 + n.gather(1, first) - p)).mean()


class Aobpr(Bpr):
    def __init__(self, *of):
        super().__init__(*of)
        self.steps = 0

    def draw(self, users, positives):
        with torch.no_grad():
            if self.steps % max(1, int(self.data.items * math.log(self.data.items) / BATCH)) == 0:
                self.order, self.deviation = self.model.item.argsort(0, descending=True), self.model.item.std(0)
            self.steps += 1
            u = self.model.user[users]
            factor = torch.multinomial(u.abs() * self.deviation, 1)
            rank = torch.distributions.Exponential(1 / (0.05 * self.data.items)).sample((len(users), 1)).long().clamp(max=self.data.items - 1)
            rank = torch.where(u.gather(1, factor) > 0, rank, self.data.items - 1 - rank)
            return self.order[rank, factor]


class Kernel(Bpr):
    """By the square of the score, of all items."""

    def draw(self, users, positives):
        with torch.no_grad():
            weights = 100 * (self.model.user[users] @ self.model.item.T).square() + 1
            return torch.multinomial(weights.masked_fill(self.data.known[users], 0), 5, replacement=True)


class AdaSir(Bpr):
    def __init__(self, *of):
        super().__init__(*of)
        self.pool = torch.randint(self.data.items, (self.data.users, 100))

    def draw(self, users, positives):
        with torch.no_grad():
            fresh = torch.cat([self.pool[users], self.data.uniform(users, 100)], 1)
            weights = torch.softmax(score(self.model.user[users], self.model.item, fresh), 1)
            self.pool[users] = fresh.gather(1, torch.multinomial(weights, 100, replacement=True))
            return self.pool[users][:, :5]


class Irgan(Bpr):
    """The generator's distribution of all items, and its policy gradient."""

    def __init__(self, *of):
        super().__init__(*of)
        self.generator = Model(self.data)
        self.extra += list(self.generator.parameters())

    def step(self, users, positives):
        logits = self.generator.user[users] @ self.generator.item.T
        logs = torch.log_softmax(logits, 1)
        ids = torch.multinomial(logs.exp(), 1)
        user, item = self.model.tables(False)
        s = score(user[users], item, torch.cat([positives[:, None], ids], 1))
        reward = 2 * torch.sigmoid(s[:, 1:].detach()) - 1
        return F.softplus(s[:, 1] - s[:, 0]).mean() - (reward * logs.gather(1, ids)).mean()


class MixGcf(Bpr):
    def step(self, users, positives):
        ids = self.data.uniform(users, 16)
        u, p, n = self.model.user[users], self.model.item[positives], F.embedding(ids, self.model.item)
        mixed = torch.rand(len(users), 16, 1) * (p[:, None] - n) + n
        with torch.no_grad():
            hardest = torch.bmm(mixed, u.unsqueeze(2)).argmax(1, keepdim=True)
        chosen = mixed.gather(1, hardest.expand(-1, -1, DIM))[:, 0]
        return F.softplus((u * chosen).sum(1) - (u * p).sum(1)).mean()


logits = lambda p, n: torch.cat([p[:, None], n], 1)
bce = lambda p, n: F.softplus(-p).mean() + F.softplus(n).sum(1).mean()
lambda_kind = lambda **settings: type("OfRanks", (Lambda,), settings)

LOSSES = {
    "bce": pairs(False, bce),
    "gbce": pairs(False, lambda p, n: 0.3 * F.softplus(-p).mean() + F.softplus(n).sum(1).mean()),
    "bpr": Bpr,
    "cce": pairs(False, lambda p, n: (torch.logsumexp(logits(p, n), 1) - p).mean()),
    "softmax": pairs(True, lambda p, n: torch.logsumexp((n - p[:, None]) / 0.2, 1).mean()),
    "sampled-softmax": pairs(False, lambda p, n: (torch.logsumexp(logits(p, n + 8), 1) - p).mean()),
    "softmax-at-k": SoftmaxAtK,
    "bsl(form=pairs)": pairs(True, lambda p, n: (-p / 0.5 + 0.4 * torch.logsumexp(n / 0.2, 1)).mean()),
    "bsl(form=lists)": BslOfLists,
    "psl": pairs(True, lambda p, n: torch.log(((torch.tanh((n - p[:, None]) / 2) + 1) ** 5).sum(1)).mean()),
    "ccl": pairs(True, lambda p, n: (1 - p).mean() + 50 * F.relu(n - 0.4).mean()),
    "sparsemax": pairs(False, sparsemax_loss),
    "mse": pairs(False, lambda p, n: (p - 1).square().mean() + n.square().sum(1).mean()),
    "rg2": pairs(False, lambda p, n: (logits(p, n).mean(1) + logits(p, n).square().mean(1) / 2 - p).mean()),
    "rgx": pairs(False, lambda p, n: (logits(p, n).mean(1) + logits(p, n).var(1, correction=0) / 2 - p).mean()),
    "uib": Uib,
    "cml": Cml,
    "sml": Sml,
    "direct-au": DirectAu,
    "smooth-ndcg": SmoothNdcg,
    "smooth-ap": SmoothAp,
    "smooth-recall": SmoothRecall,
    "approx-ndcg": SmoothNdcg,
    "neural-ndcg": NeuralNdcg,
    "sog-clr": SogClr,
    "sog-softmax-at-k": SogSoftmaxAtK,
    "adap-tau": AdapTau,
    "adv-info-nce": AdvInfoNce,
    "llpauc": Llpauc,
    "guided-rec": GuidedRec,
    "lambda-rank(ranks=sampled)": lambda_kind(is_loss=False),
    "lambda-loss(ranks=sampled)": lambda_kind(),
    "lambda-loss-at-k(ranks=sampled)": lambda_kind(cutoff=20),
    "lambda-rank(ranks=exact)": lambda_kind(is_loss=False, exact=True),
    "lambda-loss(ranks=exact)": lambda_kind(exact=True),
    "lambda-loss-at-k(ranks=exact)": lambda_kind(cutoff=20, exact=True),
}
SAMPLERS = {
    "all": All, "uniform": Bpr, "popularity": Popularity, "in-batch": InBatch, "ppr": Ppr, "dns": Dns, "dns-mn": DnsMn,
    "softmax": Weighs, "softmax-v": SoftmaxV, "pris": Weighs, "warp": Warp, "aobpr": Aobpr, "kernel": Kernel, "ada-sir": AdaSir,
    "irgan": Irgan, "mix-gcf": MixGcf,
}


def rate(kind, data, batches):
    """Pairs per second."""
    torch.manual_seed(1)
    model = Model(data)
    kind = kind(data, model)
    optimizer = torch.optim.Adam([*model.parameters(), *kind.extra], lr=0.01, fused=True)
    counted = 0
    for number, rows in enumerate(torch.randperm(len(data.pairs)).split(BATCH)[: batches + 1]):
        if number == 1:
            start = time.perf_counter()
        users, positives = data.pairs[rows].unbind(1)
        loss = kind.step(users, positives)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        counted += (number > 0) * getattr(kind, "pairs", len(rows))
        assert math.isfinite(loss.item())
    return counted / (time.perf_counter() - start)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="a folder with train.tsv.gz")
    parser.add_argument("--what", default="", choices=["", "loss", "sampler"])
    parser.add_argument("--only", default="", help="the kind to time")
    parser.add_argument("--batches", type=int, default=8)
    parser.add_argument("--threads", type=int, default=2)
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    data = Data(args.data)
    for what, kinds in (("loss", LOSSES), ("sampler", SAMPLERS)):
        for name, kind in kinds.items():
            if args.what in ("", what) and args.only in ("", name):
                print(json.dumps({"what": what, "kind": name, "pairs_per_second": round(rate(kind, data, args.batches), 1)}), flush=True)


if __name__ == "__main__":
    main()
