"""What this machine needs at least for a task: the products of its formula over the measured sgemm rate, or the bytes that must move
over the measured copy bandwidth, whichever is more. Formulas, with d = 64 and floats of 4 bytes, are in the words beside them.
"""

DIM, FLOAT = 64, 4
ROW = DIM * FLOAT


def softmax_at_k(sizes, rates, negatives=1000, batch=1024):
    scores = sizes["train"] * (1 + negatives)
    flops = 3 * 2 * DIM * scores + 2 * DIM * (sizes["users"] * negatives + sizes["train"])
    steps = -(-sizes["train"] // batch)
    streamed = steps * ROW * (2 * sizes["items"] + 6 * (sizes["items"] + batch))
    words = "a product of 64 for each score, forward and for either gradient; items streamed twice, and Adam on the rows with a gradient"
    return words, flops / rates["sgemm"] / 1e9, streamed / rates["copy"] / 1e9


def bpr(sizes, rates):
    flops = 3 * 2 * DIM * 2 * sizes["train"]
    moved = sizes["train"] * 3 * ROW * 6
    words = "three rows for each pair, each with its two moments, read and written once"
    return words, flops / rates["sgemm"] / 1e9, moved / rates["copy"] / 1e9


def light_gcn(sizes, rates, layers=3, batch=2048):
    steps, edges, tables = -(-sizes["train"] // batch), 2 * sizes["train"], (sizes["users"] + sizes["items"]) * ROW
    flops = steps * 2 * layers * 2 * edges * DIM
    moved = steps * (2 * layers * (3 * tables + 4 * edges) + 7 * tables)
    words = "for each of 3 layers, forward and back: a multiply-add of 64 for each edge and direction; tables and edges streamed; Adam on all rows"
    return words, flops / rates["sgemm"] / 1e9, moved / rates["copy"] / 1e9


def ranking(sizes, rates):
    flops = 2 * DIM * sizes["users"] * sizes["items"]
    moved = (sizes["users"] + sizes["items"]) * ROW
    words = "the bare sgemm of users with items, at the rate of [1024, 64] x [64, 40000]"
    return words, flops / rates["sgemm_thin"] / 1e9, moved / rates["copy"] / 1e9


FLOORS = {
    "mf softmax-at-k electronic": softmax_at_k,
    "mf softmax-at-k gowalla": softmax_at_k,
    "mf bpr gowalla": bpr,
    "light-gcn bpr gowalla": light_gcn,
    "ranking gowalla, with auc": ranking,
}
