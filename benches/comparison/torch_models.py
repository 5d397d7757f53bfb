"""Models in plain PyTorch, as one writes them down from their papers: the seconds of an epoch and NDCG@20 on the test part.

    python torch_models.py DATA MODEL EPOCHS SEED      # a JSON line

MODEL is JSON as in a sweep file. BPR with one negative, uniform over what the user does not know, batches of 1,024 pairs, Adam at 0.001. Ranks are
those of all items but the user's train items, over the users who have test items.
"""

import gzip
import json
import math
import sys
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

BATCH, RATE, CUTOFF = 1024, 0.001, 20


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

    def adjacency(self):
        """D^-1/2 A D^-1/2 of users and items."""
        users, items = self.train[:, 0], self.train[:, 1] + self.users
        rows, columns = torch.cat([users, items]), torch.cat([items, users])
        degrees = torch.bincount(rows, minlength=self.users + self.items).clamp(min=1).float()
        weights = (degrees[rows] * degrees[columns]).rsqrt()
        size = (self.users + self.items,) * 2
        return torch.sparse_coo_tensor(torch.stack([rows, columns]), weights, size).coalesce().to_sparse_csr()

    def negatives(self, users):
        ids = torch.randint(self.items, (len(users),))
        while (bad := self.known[users, ids]).any():
            ids[bad] = torch.randint(self.items, (int(bad.sum()),))
        return ids


def info_nce(one, other, ids, temperature):
    one, other = F.normalize(one[ids], dim=1), F.normalize(other[ids], dim=1)
    return F.cross_entropy(one @ other.T / temperature, torch.arange(len(ids)))


class Model(torch.nn.Module):
    def __init__(self, data, settings):
        super().__init__()
        self.data, self.settings, self.graph = data, settings, data.adjacency()
        self.table = torch.nn.ParameterList([torch.empty(rows, settings["dim"]) for rows in (data.users, data.items)])
        for table in self.table:
            self.start(table)

    start = staticmethod(torch.nn.init.xavier_uniform_)

    def nodes(self):
        return torch.cat(list(self.table))

    def forward(self, users=None, positives=None):
        """Vectors, and the model's own loss."""
        raise NotImplementedError


class LightGcn(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def forward(self, users=None, positives=None):
        layers = [self.nodes()]
        for _ in range(self.settings["layers"]):
            layers.append(self.graph @ layers[-1])
        return sum(layers) / len(layers), 0.0


class Ngcf(Model):
    start = staticmethod(torch.nn.init.xavier_normal_)

    def __init__(self, data, settings):
        super().__init__(data, settings)
        size = settings["dim"]
        linear = lambda: torch.nn.Linear(size, size)
        self.sums, self.products = (torch.nn.ModuleList(linear() for _ in range(settings["layers"])) for _ in range(2))
        for layer in [*self.sums, *self.products]:
            torch.nn.init.xavier_normal_(layer.weight), torch.nn.init.zeros_(layer.bias)

    def forward(self, users=None, positives=None):
        nodes = self.nodes()
        blocks = [nodes]
        for of_sum, of_product in zip(self.sums, self.products):
            around = self.graph @ nodes
            nodes = F.leaky_relu(of_sum(around + nodes) + of_product(around * nodes), 0.2)
            nodes = F.dropout(nodes, self.settings["dropout"], users is not None)
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
        (one_users, one_items), (other_users, other_items) = (view.split([self.data.users, self.data.items]) for view in (one, other))
        tau = self.settings["contrast_temperature"]
        of_users, of_items = info_nce(one_users, other_users, users.unique(), tau), info_nce(one_items, other_items, positives.unique(), tau)
        return self.settings["contrast_weight"] * (of_users + of_items)


class SimGcl(Contrastive):
    def forward(self, users=None, positives=None):
        mean = lambda layers: sum(layers) / len(layers)
        vectors = mean(self.layers(False))
        own = 0.0 if users is None else self.contrast(mean(self.layers(True)), mean(self.layers(True)), users, positives)
        return vectors, own


class XsimGcl(Contrastive):
    def forward(self, users=None, positives=None):
        layers = self.layers(users is not None)
        vectors = sum(layers) / len(layers)
        return vectors, 0.0 if users is None else self.contrast(vectors, layers[self.settings["contrast_layer"] - 1], users, positives)


KINDS = {"light-gcn": LightGcn, "ngcf": Ngcf, "sim-gcl": SimGcl, "xsim-gcl": XsimGcl}


def epoch(data, model, optimizer):
    for batch in torch.randperm(len(data.train)).split(BATCH):
        users, positives = data.train[batch].T
        vectors, own = model(users, positives)
        of_users, of_items = vectors.split([data.users, data.items])
        user, difference = of_users[users], of_items[positives] - of_items[data.negatives(users)]
        loss = -F.logsigmoid((user * difference).sum(1)).mean() + own
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


@torch.no_grad()
def ndcg(data, model):
    of_users, of_items = model()[0].split([data.users, data.items])
    tested = data.test[:, 0].unique()
    held_out = torch.zeros(data.users, data.items, dtype=torch.bool)
    held_out[data.test[:, 0], data.test[:, 1]] = True
    total, gains = 0.0, 1 / torch.log2(torch.arange(CUTOFF) + 2.0)
    for users in tested.split(1024):
        scores = (of_users[users] @ of_items.T).masked_fill(data.known[users], -math.inf)
        hits = held_out[users].gather(1, scores.topk(CUTOFF).indices).float()
        ideal = gains.cumsum(0)[held_out[users].sum(1).clamp(max=CUTOFF) - 1]
        total += float(((hits * gains).sum(1) / ideal).sum())
    return total / len(tested)


def main():
    folder, settings, epochs, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    torch.manual_seed(seed)
    data = Data(folder)
    model = KINDS[settings["kind"]](data, settings)
    optimizer, seconds = torch.optim.Adam(model.parameters(), lr=RATE), []
    for _ in range(epochs):
        start = time.perf_counter()
        epoch(data, model, optimizer)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"ndcg": ndcg(data, model), "seconds": min(seconds)}))


main()
