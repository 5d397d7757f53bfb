"""Models in plain PyTorch, as one writes them down from their papers: the seconds of an epoch and NDCG@20 on the test part.

    python torch_models.py DATA MODEL EPOCHS SEED [RATE]      # a JSON line

MODEL is JSON as in a sweep file. BPR with one negative, uniform over what the user does not know, batches of 1,024 pairs, Adam at RATE or 0.001.
Ranks are those of all items but the user's train items, over the users who have test items.
"""

import gzip
import itertools
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

BATCH, RATE, CUTOFF = 1024, 0.001, 20


def csr(rows, columns, weights, size):
    return torch.sparse_coo_tensor(torch.stack([rows, columns]), weights, size).coalesce().to_sparse_csr()


class Data:
    def __init__(self, folder):
        read = lambda part: np.loadtxt(gzip.open(Path(folder) / f"{part}.tsv.gz", "rt"), dtype=np.int64, usecols=(0, 1))
        train, test = read("train"), read("test")
        both = np.concatenate([train, test])
        (of_users, users), (of_items, items) = (np.unique(column, return_inverse=True) for column in both.T)
        self.users, self.items = len(of_users), len(of_items)
        pairs = torch.from_numpy(np.stack([users, items], 1))
        self.train, self.test = pairs[: len(train)], pairs[len(train) :]
        self.known = torch.zeros(self.users, self.items, dtype=torch.bool)
        self.known[self.train[:, 0], self.train[:, 1]] = True

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
        ids = torch.randint(self.items, (len(users),))
        while (bad := self.known[users, ids]).any():
            ids[bad] = torch.randint(self.items, (int(bad.sum()),))
        return ids


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
            layers.append(self.graph @ layers[-1])
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
            around = self.graph @ nodes
            nodes = F.leaky_relu(of_sum(around + nodes) + of_product(around * nodes), 0.2)
            nodes = F.dropout(nodes, self.settings["dropout"], self.training)
            blocks.append(F.normalize(nodes, dim=1))
        return torch.cat(blocks, 1), 0.0


class Contrastive(Model):
    def layers(self, noised):
        nodes, layers = self.nodes(), []
        for _ in range(self.settings["layers"]):
            nodes = self.graph @ nodes
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
            layers.append(graph @ layers[-1])
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
        return layer(self.graph @ nodes)


class Gin(Layered):
    def __init__(self, data, settings):
        super().__init__(data, settings)
        self.graph = data.adjacency(power=0)

    def layer(self, size):
        return torch.nn.Sequential(linear(size, size), torch.nn.ReLU(), linear(size, size))

    def along(self, layer, nodes):
        return layer((1 + self.settings["epsilon"]) * nodes + self.graph @ nodes)


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
            layers.append(self.graph @ layers[-1])
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
            around = self.graph @ nodes
            products = (around.square() - self.squares @ nodes.square()) / 2
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


class NeuMf(Model):
    start, parts = staticmethod(small), 2

    def __init__(self, data, settings):
        super().__init__(data, settings)
        sizes = [2 * settings["dim"], *settings["hidden"]]
        self.hidden = torch.nn.ModuleList(linear(*pair) for pair in itertools.pairwise(sizes))
        self.last = linear(settings["dim"] + sizes[-1], 1)

    def forward(self, users=None, positives=None):
        return self.nodes(), 0.0

    def score(self, users, items):
        (of_products, hidden), (with_products, beside) = (rows.chunk(2, -1) for rows in torch.broadcast_tensors(users, items))
        hidden = torch.cat([hidden, beside], -1)
        for layer in self.hidden:
            hidden = F.dropout(F.relu(layer(hidden)), self.settings["dropout"], self.training)
        return self.last(torch.cat([of_products * with_products, hidden], -1)).squeeze(-1)


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
        weight = self.settings["kl_weight"] * min(1.0, self.steps / self.settings["anneal_steps"])
        return (likelihood + weight * divergence) / len(users)


KINDS = {
    "enmf": Enmf, "mult-vae": MultVae,
    "light-gcn": LightGcn, "ngcf": Ngcf, "sim-gcl": SimGcl, "xsim-gcl": XsimGcl, "sgl": Sgl, "gcn": Gcn, "gin": Gin, "gat": Gat, "lr-gccf": LrGccf,
    "dgcf": Dgcf, "nia-gcn": NiaGcn, "simplex": Simplex, "neu-mf": NeuMf,
}


def epoch(data, model, optimizer):
    model.train()
    model.new_epoch()
    if isinstance(model, OfUsers):
        for users in model.batches():
            optimizer.zero_grad()
            model.objective(users).backward()
            optimizer.step()
        return
    for batch in torch.randperm(len(data.train)).split(BATCH):
        users, positives = data.train[batch].T
        vectors, own = model(users, positives)
        of_users, of_items = vectors.split([data.users, data.items])
        user = of_users[users]
        positive, negative = (model.score(user, of_items[items]) for items in (positives, data.negatives(users)))
        loss = -F.logsigmoid(positive - negative).mean() + own
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def ndcg(data, model):
    model.eval()
    of_users, of_items = model()[0].split([data.users, data.items])
    tested = data.test[:, 0].unique()
    held_out = torch.zeros(data.users, data.items, dtype=torch.bool)
    held_out[data.test[:, 0], data.test[:, 1]] = True
    total, gains = 0.0, 1 / torch.log2(torch.arange(CUTOFF) + 2.0)
    for users in tested.split(64):
        scores = model.score(of_users[users, None], of_items).masked_fill(data.known[users], -math.inf)
        hits = held_out[users].gather(1, scores.topk(CUTOFF).indices).float()
        ideal = gains.cumsum(0)[held_out[users].sum(1).clamp(max=CUTOFF) - 1]
        total += float(((hits * gains).sum(1) / ideal).sum())
    return total / len(tested)


def main():
    folder, settings, epochs, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    rate = float(sys.argv[5]) if len(sys.argv) > 5 else RATE
    torch.manual_seed(seed)
    data = Data(folder)
    model = KINDS[settings["kind"]](data, settings)
    optimizer, seconds = torch.optim.Adam(model.parameters(), lr=rate), []
    for _ in range(epochs):
        start = time.perf_counter()
        epoch(data, model, optimizer)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"ndcg": ndcg(data, model), "seconds": min(seconds)}))


main()
