"""Models in plain PyTorch, as one writes them down from their papers: the seconds of an epoch and NDCG@20 on the test part.

    python torch_models.py DATA MODEL EPOCHS SEED [RATE [BATCH]]     # a JSON line
    python torch_models.py DATA MODEL EPOCHS SEED RATE BATCH COUNT   # the time alone, of COUNT batches of BATCH pairs after a first one

MODEL is JSON as in a sweep file. BPR with one negative, uniform over what the user does not know, batches of BATCH or 1,024 pairs, Adam at RATE or 0.001.
Models of sequences: cross-entropy (`cce`), or BPR where MODEL has `loss: bpr`, with 100 such negatives, batches of 2,048 targets; their
DATA is a prepared folder whose tables have `position`. Ranks are those of all items but the user's train and validation items, over the
users who have test items. With COUNT, seconds are those of an epoch by the time of so many batches, and nothing is ranked.
"""

import functools
import gzip
import itertools
import json
import math
import resource
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as parquet
import torch
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence

BATCH, RATE, CUTOFF = 1024, 0.001, 20
# Of models of sequences.
TARGETS, NEGATIVES = 2048, 100


def csr(rows, columns, weights, size):
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), weights, size).coalesce().to_sparse_csr()


class SymmetricProduct(torch.autograd.Function):
    """A x for a symmetric A, by which gradients go back as they come."""

    @staticmethod
    def forward(context, graph, nodes):
        context.graph = graph
        return graph @ nodes

    @staticmethod
    def backward(context, gradients):
        return None, context.graph @ gradients


propagate = SymmetricProduct.apply


class Data:
    """Train and test pairs that come split."""

    def __init__(self, folder):
        read = lambda part: np.loadtxt(gzip.open(Path(folder) / f"{part}.tsv.gz", "rt"), dtype=np.int64, usecols=(0, 1))
        train, test = read("train"), read("test")
        both = np.concatenate([train, test])
        (of_users, users), (of_items, items) = (np.unique(column, return_inverse=True) for column in both.T)
        self.users, self.items = len(of_users), len(of_items)
        pairs = torch.from_numpy(np.stack([users, items], 1))
        self.train, self.test = pairs[: len(train)], pairs[len(train) :]

    @functools.cached_property
    def known(self):
        return self.table(self.train)

    @functools.cached_property
    def masked(self):
        """What is not ranked."""
        return self.known

    @functools.cached_property
    def keys(self):
        """What users know, each pair as one number, in order."""
        return (self.train[:, 0] * self.items + self.train[:, 1]).sort().values

    def knows(self, users, items):
        keys = users * self.items + items
        return self.keys[torch.searchsorted(self.keys, keys).clamp(max=len(self.keys) - 1)] == keys

    def table(self, pairs):
        """Which users have which items."""
        table = torch.zeros(self.users, self.items, dtype=torch.bool)
        table[pairs[:, 0], pairs[:, 1]] = True
        return table

    def edges(self, pairs=None, loops=False):
        """Both directions of pairs of users and items: the rows and columns of A, or of A + I."""
        users, items = (self.train if pairs is None else pairs).T
        own = torch.arange(self.users + self.items if loops else 0)
        return torch.cat([users, items + self.users, own]), torch.cat([items + self.users, users, own])

    def adjacency(self, pairs=None, loops=False, power=0.5):
        """D^-1/2 A D^-1/2 of users and items, D to another power, or with A + I and its degrees."""
        rows, columns = self.edges(pairs, loops)
        size = self.users + self.items
        degrees = torch.bincount(rows, minlength=size).clamp(min=1).float()
        return csr(rows, columns, (degrees[rows] * degrees[columns]) ** -power, (size, size))

    def negatives(self, users):
        """For users of any shape, one each."""
        ids = torch.randint(self.items, users.shape)
        while (bad := self.knows(users, ids)).any():
            ids[bad] = torch.randint(self.items, (int(bad.sum()),))
        return ids


class Sequences(Data):
    """A prepared folder: the items of each user in the order of time."""

    def __init__(self, folder):
        manifest = json.loads((Path(folder) / "manifest.json").read_text())
        self.users, self.items = manifest["users"], manifest["items"]
        self.train, validation, self.test = (self.read(Path(folder) / f"{part}.parquet") for part in ("train", "validation", "test"))
        both = torch.cat([self.train, validation])
        self.masked = self.table(both)
        self.trained, self.before_test = self.by_user(self.train), self.by_user(both)

    def read(self, file):
        table = parquet.read_table(file)
        return torch.from_numpy(np.stack([table[column].to_numpy().astype(np.int64) for column in ("user", "item", "position")], 1))

    def by_user(self, rows):
        users, items, _ = rows[torch.from_numpy(np.lexsort((rows[:, 2], rows[:, 0])))].T
        return items.split(torch.bincount(users, minlength=self.users).tolist())


def info_nce(one, other, own, temperature):
    """Of rows against all rows of the other view, where each has one of its own."""
    return F.cross_entropy(F.normalize(one, dim=1) @ F.normalize(other, dim=1).T / temperature, own)


def linear(inputs, outputs, bias=True):
    layer = torch.nn.Linear(inputs, outputs, bias)
    torch.nn.init.xavier_normal_(layer.weight)
    if bias:
        torch.nn.init.zeros_(layer.bias)
    return layer


def summed(rows, of, count):
    """The sums of the rows of each node: `index_add` by the faster `scatter_add`."""
    return rows.new_zeros(count, rows.shape[1]).scatter_add(0, of[:, None].expand_as(rows), rows)


def softmax(logits, of, count):
    """Over the rows of each node."""
    largest = logits.new_full((count, logits.shape[1]), -math.inf).scatter_reduce(0, of[:, None].expand_as(logits), logits.detach(), "amax")
    parts = (logits - largest[of]).exp()
    return parts / summed(parts, of, count).index_select(0, of)


def mean(layers):
    return sum(layers) / len(layers)


POOLS = {"sum": sum, "mean": mean, "concat": lambda layers: torch.cat(layers, 1), "last": lambda layers: layers[-1]}


def small(table):
    torch.nn.init.normal_(table, std=0.01)


class Model(torch.nn.Module):
    reads = Data

    def __init__(self, data, settings):
        super().__init__()
        self.data, self.settings, self.graph = data, settings, data.adjacency()
        self.table = torch.nn.ParameterList([torch.empty(rows, self.parts * settings["dim"]) for rows in (data.users, data.items)])
        for table in self.table:
            self.start(table)

    start, parts = staticmethod(torch.nn.init.xavier_uniform_), 1

    def nodes(self):
        return torch.cat(list(self.table))

    def forward(self, users=None, positives=None):
        """Vectors, and the model's own loss."""
        raise NotImplementedError

    def score(self, users, items):
        """Of vectors, pair by pair."""
        return (users * items).sum(-1)

    def new_epoch(self):
        pass


class LightGcn(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def forward(self, users=None, positives=None):
        layers = [self.nodes()]
        for _ in range(self.settings["layers"]):
            layers.append(propagate(self.graph, layers[-1]))
        return mean(layers), 0.0


class Ngcf(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        size = settings["dim"]
        self.sums, self.products = (torch.nn.ModuleList(linear(size, size) for _ in range(settings["layers"])) for _ in range(2))

    def forward(self, users=None, positives=None):
        nodes = self.nodes()
        blocks = [nodes]
        for of_sum, of_product in zip(self.sums, self.products):
            around = propagate(self.graph, nodes)
            nodes = F.leaky_relu(of_sum(around + nodes) + of_product(around * nodes), 0.2)
            nodes = F.dropout(nodes, self.settings["dropout"], self.training)
            blocks.append(F.normalize(nodes, dim=1))
        return torch.cat(blocks, 1), 0.0


class Contrastive(Model):
    def layers(self, noised):
        nodes, layers = self.nodes(), []
        for _ in range(self.settings["layers"]):
            nodes = propagate(self.graph, nodes)
            if noised:
                nodes = nodes + nodes.sign() * F.normalize(torch.rand_like(nodes), dim=1) * self.settings["epsilon"]
            layers.append(nodes)
        return layers

    def contrast(self, one, other, users, positives):
        views = (view.split([self.data.users, self.data.items]) for view in (one, other))
        sides = zip(*views, (users.unique(), positives.unique()))
        return self.settings["contrast_weight"] * sum(self.info_nce(*side, self.settings["contrast_temperature"]) for side in sides)

    def info_nce(self, one, other, ids, temperature):
        return info_nce(one[ids], other[ids], torch.arange(len(ids)), temperature)


class SimGcl(Contrastive):
    def forward(self, users=None, positives=None):
        vectors = mean(self.layers(False))
        own = 0.0 if users is None else self.contrast(mean(self.layers(True)), mean(self.layers(True)), users, positives)
        return vectors, own


class XsimGcl(Contrastive):
    def forward(self, users=None, positives=None):
        layers = self.layers(users is not None)
        vectors = mean(layers)
        return vectors, 0.0 if users is None else self.contrast(vectors, layers[self.settings["contrast_layer"] - 1], users, positives)


class Sgl(Contrastive):
    def view(self, graph):
        layers = [self.nodes()]
        for _ in range(self.settings["layers"]):
            layers.append(propagate(graph, layers[-1]))
        return mean(layers)

    def new_epoch(self):
        keep = lambda: self.data.train[torch.rand(len(self.data.train)) >= self.settings["edge_dropout"]]
        self.graphs = [self.data.adjacency(keep()) for _ in range(2)]

    def forward(self, users=None, positives=None):
        vectors = self.view(self.graph)
        return vectors, 0.0 if users is None else self.contrast(*map(self.view, self.graphs), users, positives)

    def info_nce(self, one, other, ids, temperature):
        return info_nce(one[ids], other, ids, temperature)


class Layered(Model):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.layers = torch.nn.ModuleList(self.layer(settings["dim"]) for _ in range(settings["layers"]))

    def forward(self, users=None, positives=None):
        nodes = self.nodes()
        layers = [nodes]
        for layer in self.layers:
            nodes = F.dropout(F.leaky_relu(self.along(layer, nodes), 0.2), self.settings["dropout"], self.training)
            layers.append(F.normalize(nodes, dim=1))
        return POOLS[self.settings["pool"]](layers), 0.0


class Gcn(Layered):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.graph = data.adjacency(loops=True)

    def layer(self, size):
        return linear(size, size)

    def along(self, layer, nodes):
        return layer(propagate(self.graph, nodes))


class Gin(Layered):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.graph = data.adjacency(power=0)

    def layer(self, size):
        return torch.nn.Sequential(linear(size, size), torch.nn.ReLU(), linear(size, size))

    def along(self, layer, nodes):
        return layer((1 + self.settings["epsilon"]) * nodes + propagate(self.graph, nodes))


class Head(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.linear, self.source, self.target = (linear(size, outputs, bias=False) for outputs in (size, 1, 1))

    def forward(self, nodes, targets, sources, dropout):
        nodes = self.linear(nodes)
        logits = self.source(nodes).index_select(0, sources) + self.target(nodes).index_select(0, targets)
        weights = F.dropout(softmax(F.leaky_relu(logits, 0.2), targets, len(nodes)), dropout, self.training)
        return summed(weights * nodes.index_select(0, sources), targets, len(nodes))


class Heads(torch.nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = torch.nn.ModuleList(Head(size) for _ in range(heads))
        self.bias = torch.nn.Parameter(torch.zeros(size))

    def forward(self, *given):
        return mean([head(*given) for head in self.heads]) + self.bias


class Gat(Layered):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.edges = data.edges(loops=True)

    def layer(self, size):
        return Heads(size, self.settings["heads"])

    def along(self, layer, nodes):
        return layer(nodes, *self.edges, self.settings["attention_dropout"])


class LrGccf(Model):
    start = staticmethod(small)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.graph = data.adjacency(loops=True)

    def forward(self, users=None, positives=None):
        layers = [self.nodes()]
        for _ in range(self.settings["layers"]):
            layers.append(propagate(self.graph, layers[-1]))
        return torch.cat(layers, 1), 0.0


def distance_correlation(one, other):
    def centred(rows):
        squares = (rows * rows).sum(1)
        distances = (F.relu(squares[:, None] - 2 * rows @ rows.T + squares) + 1e-8).sqrt()
        return distances - distances.mean(0) - distances.mean(1, keepdim=True) + distances.mean()

    covariance = lambda one, other: (F.relu((one * other).mean()) + 1e-8).sqrt()
    one, other = centred(one), centred(other)
    return covariance(one, other) / ((covariance(one, one) * covariance(other, other)).sqrt() + 1e-10)


class Dgcf(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.targets, self.sources = data.edges()

    def route(self, nodes, logits):
        """What reaches each node by the factors' weights, and the weights' logits after it."""
        count, factors = len(nodes), logits.shape[1]
        parts = lambda rows: rows.view(len(rows), factors, -1)
        weights = logits.softmax(1)
        scales = summed(weights, self.targets, count).rsqrt()
        weights = weights * scales.index_select(0, self.targets) * scales.index_select(0, self.sources)
        messages = weights[:, :, None] * parts(nodes.index_select(0, self.sources))
        around = summed(messages.flatten(1), self.targets, count)
        to, of = F.normalize(parts(around), dim=2).flatten(1), F.normalize(parts(nodes), dim=2).tanh().flatten(1)
        likeness = parts(to.index_select(0, self.targets) * of.index_select(0, self.sources)).sum(2)
        return around, logits + likeness

    def forward(self, users=None, positives=None):
        layers, logits = [self.nodes()], torch.ones(len(self.targets), self.settings["factors"])
        for _ in range(self.settings["layers"]):
            for _ in range(self.settings["iterations"]):
                nodes, logits = self.route(layers[-1], logits)
            layers.append(nodes)
        vectors = mean(layers)
        return vectors, 0.0 if users is None else self.correlation(vectors)

    def correlation(self, vectors):
        of_users, of_items = torch.randperm(self.data.users)[:100], torch.randperm(self.data.items)[:100] + self.data.users
        factors = self.settings["factors"]
        parts = vectors[torch.cat([of_users, of_items])].chunk(factors, 1)
        total = sum(distance_correlation(*pair) for pair in itertools.pairwise(parts))
        return self.settings["correlation_weight"] * total / (factors * (factors + 1) / 2)


class NiaGcn(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        of_graph = self.graph.crow_indices(), self.graph.col_indices(), self.graph.values().square()
        self.squares = torch.sparse_csr_tensor(*of_graph, self.graph.shape)
        size = settings["dim"]
        self.sums, self.products = (torch.nn.ModuleList(linear(size, size, bias=False) for _ in range(settings["layers"])) for _ in range(2))

    def forward(self, users=None, positives=None):
        nodes = self.nodes()
        blocks = [nodes]
        for of_sum, of_product in zip(self.sums, self.products):
            around = propagate(self.graph, nodes)
            products = (around.square() - propagate(self.squares, nodes.square())) / 2
            blocks.append(torch.tanh(of_sum(around) + of_product(products)))
            nodes = around
        return torch.cat(blocks, 1), 0.0


class Simplex(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        users, items = data.train.T
        lengths = torch.bincount(users, minlength=data.users).float()
        self.history = csr(users, items, 1 / lengths[users], (data.users, data.items))
        self.linear = linear(settings["dim"], settings["dim"], bias=False)

    def forward(self, users=None, positives=None):
        of_users, of_items = self.table
        share = self.settings["history_weight"]
        of_users = (1 - share) * of_users + share * self.linear(self.history @ of_items)
        return torch.cat([F.dropout(of_users, self.settings["dropout"], self.training), of_items]), 0.0


class TwoTower(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        sizes = [settings["dim"], *settings["hidden"], settings["dim"]]
        self.towers = torch.nn.ModuleList(torch.nn.ModuleList(linear(*pair) for pair in itertools.pairwise(sizes)) for _ in self.table)

    def forward(self, users=None, positives=None):
        return torch.cat([rows + functools.reduce(lambda x, layer: F.relu(layer(x)), tower, rows) for rows, tower in zip(self.table, self.towers)]), 0.0


class OfPairs(Model):
    """A network looks at pairs."""

    def forward(self, users=None, positives=None):
        return self.nodes(), 0.0


class NeuMf(OfPairs):
    start, parts = staticmethod(small), 2

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.hidden, width = hidden_layers(settings)
        self.last = linear(settings["dim"] + width, 1)

    def score(self, users, items):
        (of_products, hidden), (with_products, beside) = (rows.chunk(2, -1) for rows in torch.broadcast_tensors(users, items))
        hidden = through(self.hidden, hidden, beside, self.settings["dropout"], self.training)
        return self.last(torch.cat([of_products * with_products, hidden], -1)).squeeze(-1)


class Gmf(OfPairs):
    start = staticmethod(small)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.last = linear(settings["dim"], 1, bias=False)

    def score(self, users, items):
        return self.last(users * items).squeeze(-1)


class Mlp(OfPairs):
    start = staticmethod(small)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.hidden, width = hidden_layers(settings)
        self.last = linear(width, 1)

    def score(self, users, items):
        hidden = through(self.hidden, *torch.broadcast_tensors(users, items), self.settings["dropout"], self.training)
        return self.last(hidden).squeeze(-1)


def hidden_layers(settings):
    """Of a network on two vectors, and the width of the last one."""
    sizes = [2 * settings["dim"], *settings["hidden"]]
    return torch.nn.ModuleList(linear(*pair) for pair in itertools.pairwise(sizes)), sizes[-1]


def through(layers, user, item, dropout, training):
    hidden = torch.cat([user, item], -1)
    for layer in layers:
        hidden = F.dropout(F.relu(layer(hidden)), dropout, training)
    return hidden


class Ncf(OfPairs):
    start = staticmethod(lambda table: torch.nn.init.normal_(table, std=0.1))

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.layer = linear(2 * settings["dim"], settings["dim"])
        self.output = linear(settings["dim"], 1, bias=False)

    def score(self, users, items):
        users, items = torch.broadcast_tensors(users, items)
        products = 0 if self.settings.get("form") == "mlp" else users * items
        return self.output(torch.tanh(products + self.layer(torch.cat([users, items], -1)))).squeeze(-1)


class OfUsers(Model):
    """With an objective of its own over whole users."""

    def batches(self):
        return self.data.train[:, 0].unique()[torch.randperm(len(self.data.train[:, 0].unique()))].split(self.settings["batch_size"])


class Enmf(OfUsers):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.output = torch.nn.Parameter(torch.nn.init.xavier_normal_(torch.empty(1, settings["dim"])))

    def forward(self, users=None, positives=None):
        of_users, of_items = self.nodes().split([self.data.users, self.data.items])
        return torch.cat([of_users * self.output, of_items]), 0.0

    def objective(self, users):
        of_users, of_items = self.nodes().split([self.data.users, self.data.items])
        known = self.data.known[users].float()
        scores = (F.dropout(of_users[users], self.settings["dropout"]) * self.output) @ of_items.T
        return (known * (1 - scores).square() + self.settings["negative_weight"] * (1 - known) * scores.square()).sum() / len(users)


class MultVae(OfUsers):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        del self.table
        size, hidden, items = settings["dim"], settings["hidden"], data.items
        self.encoder, self.latent, self.decoder, self.last = linear(items, hidden), linear(hidden, 2 * size), linear(size, hidden), linear(hidden, items)
        self.steps = 0

    def middle(self, users):
        rows = F.dropout(F.normalize(self.data.known[users].float(), dim=1), self.settings["dropout"], self.training)
        mean, log = self.latent(torch.tanh(self.encoder(rows))).chunk(2, 1)
        drawn = mean + torch.randn_like(mean) * (log / 2).exp() if self.training else mean
        return torch.tanh(self.decoder(drawn)), mean, log

    def forward(self, users=None, positives=None):
        decoded = self.middle(slice(None))[0]
        return torch.cat([F.pad(decoded, (0, 1), value=1.0), torch.cat([self.last.weight, self.last.bias[:, None]], 1)]), 0.0

    def objective(self, users):
        self.steps += 1
        decoded, mean, log = self.middle(users)
        likelihood = -(F.log_softmax(self.last(decoded), 1) * self.data.known[users]).sum()
        divergence = 0.5 * (mean.square() + log.exp() - log - 1).sum()
        weight = min(self.settings["kl_weight"], self.steps / self.settings["anneal_steps"])
        return (likelihood + weight * divergence) / len(users)


LOSSES = {
    "cce": lambda positives, negatives: torch.cat([positives[:, None], negatives], 1).logsumexp(1) - positives,
    "bpr": lambda positives, negatives: F.softplus(negatives - positives[:, None]).mean(1),
}


def windows_of(length, size):
    """The targets of a sequence, from where to where, `size` at a time counted from its end; the first item is none."""
    return [(max(1, end - size), end) for end in range(length, 1, -size)]


class Sequential(torch.nn.Module):
    """Hidden states after each item of a sequence; their dot products with the items' vectors say which item is next."""

    reads = Sequences

    def __init__(self, data, settings):
        super().__init__()
        self.data, self.settings = data, settings
        self.items = torch.nn.Parameter(torch.empty(data.items, settings["dim"]))
        size = settings["max_length"]
        windows = [(user, *window) for user, items in enumerate(data.trained) for window in windows_of(len(items), size)]
        self.users = torch.tensor([user for user, _, _ in windows])
        together = lambda before: pad_sequence([data.trained[user][start - before : end - before] for user, start, end in windows], True)
        self.inputs, self.targets = together(1), together(0)
        self.lengths = torch.tensor([end - start for _, start, end in windows])

    def hidden(self, inputs):
        """`[W, T, dim]` of items `[W, T]`; what stands after a place does not change it."""
        raise NotImplementedError

    def forward(self, users=None, positives=None):
        """The users' vectors after all that is known before the test, and the items'."""
        last = [items[-self.settings["max_length"] :] for items in self.data.before_test]
        vectors = []
        for users in torch.arange(self.data.users).split(256):
            lengths = torch.tensor([len(last[user]) for user in users])
            vectors.append(self.hidden(pad_sequence([last[user] for user in users], True))[torch.arange(len(users)), lengths - 1])
        return torch.cat([*vectors, self.items]), 0.0

    def score(self, users, items):
        return (users * items).sum(-1)

    def new_epoch(self):
        pass

    def batches(self):
        """Windows in random order; a batch is so many of their targets, one after the other."""
        order = torch.randperm(len(self.inputs))
        windows, places = (torch.arange(self.inputs.shape[1]) < self.lengths[order, None]).nonzero(as_tuple=True)
        return zip(order[windows].split(TARGETS), places.split(TARGETS))

    def objective(self, batch):
        targets, places = batch
        windows, rows = targets.unique_consecutive(return_inverse=True)
        hidden = self.hidden(self.inputs[windows])[rows, places]
        negatives = self.data.negatives(self.users[targets, None].expand(-1, NEGATIVES))
        ids = torch.cat([self.targets[targets, places, None], negatives], 1)
        scores = (hidden @ self.items.T).gather(1, ids)  # faster than looking up vectors, up to some thousand items
        return LOSSES[self.settings.get("loss", "cce")](scores[:, 0], scores[:, 1:]).mean()


class Attention(torch.nn.Module):
    def __init__(self, size, heads, dropout):
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.query, self.key, self.value, self.out = (torch.nn.Linear(size, size) for _ in range(4))

    def forward(self, x):
        """Of places `[W, T, dim]`, each to itself and those before it."""
        windows, places, size = x.shape
        query, key, value = (of(x).view(windows, places, self.heads, -1).transpose(1, 2) for of in (self.query, self.key, self.value))
        logits = query @ key.transpose(2, 3) / math.sqrt(size / self.heads)
        later = torch.ones(places, places, dtype=torch.bool).triu(1)
        weights = F.dropout(logits.masked_fill(later, -math.inf).softmax(3), self.dropout, self.training)
        return self.out((weights @ value).transpose(1, 2).reshape(x.shape))


class SasLayer(torch.nn.Module):
    def __init__(self, settings):
        super().__init__()
        size, self.post = settings["dim"], settings.get("norm", "post") == "post"
        self.attention = Attention(size, settings["heads"], settings["dropout"])
        self.inner, self.outer = torch.nn.Linear(size, settings["hidden"]), torch.nn.Linear(settings["hidden"], size)
        self.norms = torch.nn.ModuleList(torch.nn.LayerNorm(size, eps=1e-12) for _ in range(2))
        self.activation = {"gelu": F.gelu, "relu": F.relu}[settings.get("activation", "gelu")]
        self.dropout = torch.nn.Dropout(settings["dropout"])

    def forward(self, x):
        for norm, block in zip(self.norms, (self.attention, lambda x: self.outer(self.activation(self.inner(x))))):
            x = norm(x + self.dropout(block(x))) if self.post else x + self.dropout(block(norm(x)))
        return x


class SasRec(Sequential):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.post = settings.get("norm", "post") == "post"
        self.places = torch.nn.Parameter(torch.empty(settings["max_length"], settings["dim"]))
        self.norm = torch.nn.LayerNorm(settings["dim"], eps=1e-12)
        self.layers = torch.nn.ModuleList(SasLayer(settings) for _ in range(settings["layers"]))
        for parameter in self.parameters():
            if parameter.dim() == 2:
                torch.nn.init.normal_(parameter, std=0.02)
        for layer in self.modules():
            if isinstance(layer, torch.nn.Linear):
                torch.nn.init.zeros_(layer.bias)

    def hidden(self, inputs):
        x = F.embedding(inputs, self.items) + self.places[: inputs.shape[1]]
        x = F.dropout(self.norm(x) if self.post else x, self.settings["dropout"], self.training)
        for layer in self.layers:
            x = layer(x)
        return x if self.post else self.norm(x)


class Gru4Rec(Sequential):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        torch.nn.init.xavier_normal_(self.items)
        self.gru = torch.nn.GRU(settings["dim"], settings["hidden"], settings["layers"], bias=False, batch_first=True)
        for weights in self.gru.parameters():
            torch.nn.init.xavier_uniform_(weights)
        self.dense = torch.nn.Linear(settings["hidden"], settings["dim"])
        torch.nn.init.zeros_(self.dense.bias)  # its weights are uniform up to 1 / sqrt(hidden)

    def hidden(self, inputs):
        return self.dense(self.gru(F.dropout(F.embedding(inputs, self.items), self.settings["dropout"], self.training))[0])


KINDS = {
    "enmf": Enmf, "mult-vae": MultVae, "sas-rec": SasRec, "gru4rec": Gru4Rec,
    "light-gcn": LightGcn, "ngcf": Ngcf, "sim-gcl": SimGcl, "xsim-gcl": XsimGcl, "sgl": Sgl, "gcn": Gcn, "gin": Gin, "gat": Gat, "lr-gccf": LrGccf,
    "dgcf": Dgcf, "nia-gcn": NiaGcn, "simplex": Simplex, "neu-mf": NeuMf, "ncf": Ncf, "two-tower": TwoTower,
}
# Of `neu-mf`, its other forms.
FORMS = {"gmf": Gmf, "mlp": Mlp}


def epoch(data, model, optimizer, batch_size=BATCH, count=None):
    """All batches of an epoch, or the first `count`; gives how many an epoch has, and when each began."""
    model.train()
    starts = [time.perf_counter()]
    model.new_epoch()
    starts.append(time.perf_counter())
    if isinstance(model, (OfUsers, Sequential)):
        batches, objective = list(model.batches()), model.objective
    else:
        batches, objective = torch.randperm(len(data.train)).split(batch_size), functools.partial(of_pairs, data, model)
    for batch in batches[:count]:
        optimizer.zero_grad()
        objective(batch).backward()
        optimizer.step()
        starts.append(time.perf_counter())
    return len(batches), starts


def of_pairs(data, model, batch):
    """The loss of pairs, and the model's own."""
    users, positives = data.train[batch].T
    vectors, own = model(users, positives)
    of_users, of_items = vectors.split([data.users, data.items])
    user = of_users[users]
    positive, negative = (model.score(user, of_items[items]) for items in (positives, data.negatives(users)))
    return -F.logsigmoid(positive - negative).mean() + own


def time_batches(data, model, optimizer, batch_size, count):
    """Seconds of an epoch, by those of `count` batches after a first one."""
    batches, (start, first, *ends) = epoch(data, model, optimizer, batch_size, count + 1)
    seconds = first - start + (ends[-1] - ends[0]) / (len(ends) - 1) * batches
    peer, detail = f"torch {torch.__version__.split('+')[0]}", {"batches_per_epoch": batches, "batches_timed": count, "extrapolated": True}
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"peer": peer, "seconds": seconds, "peak_rss_mb": peak, "detail": detail}))


@torch.no_grad()
def ndcg(data, model):
    model.eval()
    of_users, of_items = model()[0].split([data.users, data.items])
    tested = data.test[:, 0].unique()
    held_out = data.table(data.test)
    total, gains = 0.0, 1 / torch.log2(torch.arange(CUTOFF) + 2.0)
    for users in tested.split(64):
        scores = model.score(of_users[users, None], of_items).masked_fill(data.masked[users], -math.inf)
        hits = held_out[users].gather(1, scores.topk(CUTOFF).indices).float()
        ideal = gains.cumsum(0)[held_out[users].sum(1).clamp(max=CUTOFF) - 1]
        total += float(((hits * gains).sum(1) / ideal).sum())
    return total / len(tested)


def main():
    folder, settings, epochs, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rate = float(sys.argv[5]) if len(sys.argv) > 5 else RATE
    torch.manual_seed(seed)
    kind = KINDS[settings["kind"]]
    if kind is NeuMf:
        kind = FORMS.get(settings.get("form"), kind)
    data = kind.reads(folder)
    model = kind(data, settings)
    optimizer, seconds = torch.optim.Adam(model.parameters(), lr=rate), []
    batch = int(sys.argv[6]) if len(sys.argv) > 6 else BATCH
    if len(sys.argv) > 7:
        time_batches(data, model, optimizer, batch, int(sys.argv[7]))
        return
    for _ in range(epochs):
        _, starts = epoch(data, model, optimizer, batch)
        seconds.append(starts[-1] - starts[0])
    print(json.dumps({"ndcg": ndcg(data, model), "seconds": min(seconds)}))


main()
