"""Models that fit at once, by NumPy, SciPy and scikit-learn: test NDCG@20 of one on a dataset that comes split.

    python closed_forms.py DATA '{"kind": "ease", "regularization": 200}'

All of train is train. Everything is double precision. Candidates that are not held out and have the score of a test item are ranked before it, as in ranksweep.
"""

import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import scipy.sparse as sp
from sklearn.linear_model import ElasticNet

CUTOFF = 20


def matrices(folder):
    """The binary train and test matrices."""
    parts = [pd.read_csv(Path(folder) / f"{part}.tsv.gz", sep="\t", usecols=[0, 1], header=None).to_numpy() for part in ("train", "test")]
    (users, of_user), (items, of_item) = (np.unique(np.concatenate([part[:, side] for part in parts]), return_inverse=True) for side in (0, 1))
    ends = np.cumsum([0, *map(len, parts)])
    for start, end in zip(ends, ends[1:]):
        matrix = sp.csr_matrix((np.ones(end - start), (of_user[start:end], of_item[start:end])), shape=(len(users), len(items)))
        matrix.data[:] = 1  # what comes several times counts once
        yield matrix


def nearest(rows, neighbours, shrink):
    """The similarities of each row to those nearest to it, `[row, other]`."""
    common = (rows @ rows.T).toarray()
    lengths = np.sqrt(common.diagonal())
    np.fill_diagonal(common, 0)
    similar = np.divide(common, np.outer(lengths, lengths) + shrink, out=np.zeros_like(common), where=common > 0)
    far = np.argsort(-similar, axis=1, kind="stable")[:, neighbours:]  # of equals the first stay
    np.put_along_axis(similar, far, 0, axis=1)
    return similar


def popularity(train, _):
    return np.tile(np.asarray(train.sum(0)), (train.shape[0], 1))


def item_knn(train, settings):
    return train @ nearest(train.T.tocsr(), settings["neighbours"], settings["shrink"]).T


def user_knn(train, settings):
    return nearest(train, settings["neighbours"], settings["shrink"]) @ train.toarray()


def ease(train, settings):
    gram = (train.T @ train).toarray()
    inverse = np.linalg.inv(gram + settings["regularization"] * np.eye(len(gram)))
    weights = inverse / -inverse.diagonal()
    np.fill_diagonal(weights, 0)
    return train @ weights


def slim(train, settings):
    users, items = train.shape
    weight = (settings["l1"] + settings["l2"]) / users
    share = settings["l1"] / (settings["l1"] + settings["l2"])
    model = ElasticNet(weight, l1_ratio=share, positive=True, fit_intercept=False, tol=1e-7, max_iter=10_000)
    columns, weights = train.tocsc(), np.zeros((items, items))
    for item in range(items):
        kept = slice(columns.indptr[item], columns.indptr[item + 1])
        target = columns[:, [item]].toarray().ravel()
        values, columns.data[kept] = columns.data[kept].copy(), 0  # an item is not told from itself
        weights[:, item] = model.fit(columns, target).coef_
        columns.data[kept] = values
    return train @ weights


def ndcg(train, test, scores):
    """The mean over users with test items; train items are no candidates."""
    scores = np.where(train.toarray() > 0, -np.inf, scores)
    gains = 1 / np.log2(np.arange(CUTOFF) + 2.0)
    total, count = 0.0, 0
    for user in range(test.shape[0]):
        held_out = test.indices[test.indptr[user]:test.indptr[user + 1]]
        if len(held_out) == 0 or train.indptr[user] == train.indptr[user + 1]:
            continue
        own = np.sort(scores[user, held_out])[::-1]
        others = np.delete(scores[user], held_out)
        ranks = np.arange(1, len(own) + 1) + (others >= own[:, None]).sum(1)
        total += gains[ranks[ranks <= CUTOFF] - 1].sum() / gains[: min(len(held_out), CUTOFF)].sum()
        count += 1
    return total / count


def main():
    folder, settings = sys.argv[1], json.loads(sys.argv[2])
    train, test = matrices(folder)
    scores = globals()[settings["kind"].replace("-", "_")](train, settings)
    print(json.dumps({"ndcg": ndcg(train, test, scores)}))


if __name__ == "__main__":
    main()
