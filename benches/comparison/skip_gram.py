"""DeepWalk, node2vec and LINE by NumPy, as one writes them down from their papers: the seconds of an epoch and test NDCG@20 on a dataset that comes split.

    python skip_gram.py DATA MODEL EPOCHS SEED   # a JSON line

MODEL is JSON as in a sweep file. Each pair has negatives of its own, and rows move pair after pair; all pairs of a place of a walk move together.
"""

import json
import sys
import time

import numpy as np
from closed_forms import matrices, ndcg

FLOOR = 1e-4


class Graph:
    """Users are the first nodes, items follow."""

    def __init__(self, train):
        self.users = train.shape[0]
        items = train.T.tocsr()
        of = lambda rows, first: np.split(rows.indices.astype(np.int64) + first, rows.indptr[1:-1])
        self.neighbours = of(train, self.users) + of(items, 0)
        self.degrees = np.array([len(row) for row in self.neighbours])
        self.edges = np.stack(train.nonzero(), 1) + [0, self.users]


class Noise:
    """Draws nodes from `first` on by a power of their degrees."""

    def __init__(self, first, degrees, exponent):
        weights = np.where(degrees > 0, degrees.astype(float) ** exponent, 0)
        self.first, self.ends = first, weights.cumsum() / weights.sum()

    def draw(self, rng, shape):
        return self.first + np.searchsorted(self.ends, rng.random(shape), side="right")


def learn(of_inputs, of_outputs, inputs, positive, negatives, rate):
    """Moves the rows of inputs `[M]` that stand beside one positive, each with its negatives `[M, K]`."""
    outputs = np.column_stack([np.full(len(inputs), positive), negatives])
    rows, beside = of_inputs[inputs], of_outputs[outputs]
    by_scores = 1 / (1 + np.exp(-(beside @ rows[:, :, None])[:, :, 0]))
    by_scores[:, 0] -= 1
    by_scores[:, 1:][negatives == positive] = 0  # a negative that is the positive counts nothing
    moves = rate * (by_scores[:, None] @ beside)[:, 0]
    np.subtract.at(of_outputs, outputs, rate * by_scores[:, :, None] * rows[:, None])
    np.subtract.at(of_inputs, inputs, moves)


def walk(graph, start, length, back, rng):
    """`back` is q / p, the weight of the node before beside that of each other neighbour."""
    nodes = [start]
    for chance, place in rng.random((length - 1, 2)):
        around = graph.neighbours[nodes[-1]]
        others = len(around) - 1
        if len(nodes) > 1 and chance < back / (back + others):
            nodes.append(nodes[-2])
            continue
        if len(nodes) > 1:
            around = around[around != nodes[-2]]
        nodes.append(around[int(place * len(around))])
    return np.array(nodes)


class Walks:
    def __init__(self, graph, settings):
        self.graph, self.noise = graph, Noise(0, graph.degrees, settings["exponent"])
        self.length, self.window, self.negatives = (settings[key] for key in ("walk_length", "window", "negatives"))
        self.back, self.epochs = settings.get("q", 1) / settings.get("p", 1), settings["walks_per_node"]

    def epoch(self, inputs, contexts, rate_at, rng):
        starts = rng.permutation(np.flatnonzero(self.graph.degrees))
        for at, start in enumerate(starts):
            nodes, rate = walk(self.graph, start, self.length, self.back, rng), rate_at(at / len(starts))
            for place, width in enumerate(rng.integers(1, self.window + 1, self.length)):
                beside = np.concatenate([nodes[max(0, place - width) : place], nodes[place + 1 : place + width + 1]])
                learn(inputs, contexts, beside, nodes[place], self.noise.draw(rng, (len(beside), self.negatives)), rate)

    def scores(self, inputs, contexts):
        return inputs[: self.graph.users] @ inputs[self.graph.users :].T


class Line:
    def __init__(self, graph, settings):
        self.graph, self.order, self.negatives, self.epochs = graph, settings["order"], settings["negatives"], settings["samples_per_edge"]
        sides = ((0, graph.degrees[: graph.users]), (graph.users, graph.degrees[graph.users :]))
        self.noise = [Noise(first, degrees, settings["exponent"]) for first, degrees in sides]

    def epoch(self, inputs, contexts, rate_at, rng):
        tables = {"first": [inputs], "second": [contexts], "both": [inputs, contexts]}[self.order]
        drawn = rng.integers(len(self.graph.edges), size=len(self.graph.edges))
        for at, edge in enumerate(self.graph.edges[drawn]):
            rate = rate_at(at / len(drawn))
            for side in (1, 0):
                for outputs in tables:
                    learn(inputs, outputs, edge[[1 - side]], edge[side], self.noise[side].draw(rng, (1, self.negatives)), rate)

    def scores(self, inputs, contexts):
        return inputs[: self.graph.users] @ (contexts if self.order == "second" else inputs)[self.graph.users :].T


def main():
    folder, settings, epochs, seed = sys.argv[1], json.loads(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
    train, test = matrices(folder)
    graph, rng = Graph(train), np.random.default_rng(seed)
    model = Line(graph, settings) if settings["kind"] == "line" else Walks(graph, settings)
    shape, seconds = (len(graph.degrees), settings["dim"]), []
    inputs, contexts = ((rng.random(shape) - 0.5) / shape[1]).astype(np.float32), np.zeros(shape, np.float32)
    for epoch in range(epochs):
        start = time.perf_counter()
        rate_at = lambda share: np.float32(settings["learning_rate"] * max(1 - (epoch + share) / model.epochs, FLOOR))
        model.epoch(inputs, contexts, rate_at, rng)
        seconds.append(time.perf_counter() - start)
    print(json.dumps({"ndcg": ndcg(train, test, model.scores(inputs, contexts)), "seconds": min(seconds)}))


main()
