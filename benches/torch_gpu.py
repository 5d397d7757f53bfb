"""PyTorch's MF with SL@20 on a GPU, for docs/gpu.md: seconds per epoch of the styles of ../shared/peers/torch_mf.py, as one JSON line each.

    python benches/torch_gpu.py --data DATA/slatk-gowalla [--styles gather,bmm,gemm] [--compile]

Everything lives on the GPU. Torch is given more than it has elsewhere: negatives are drawn there without a look at what the user has, and
thresholds are never updated. Needs torch, numpy and pandas. `--device cpu --batches 3` tries it without a GPU.
"""

import argparse
import json
import time
from pathlib import Path

import pandas as pd
import torch
import torch.nn.functional as F

DIM, NEGATIVES, BATCH = 64, 1000, 1024
TEMPERATURE, WEIGHT_TEMPERATURE = 0.2, 2.25


def read_pairs(file):
    first = pd.read_csv(file, sep="\t", header=None, nrows=1).iloc[0, 0]
    rows = pd.read_csv(file, sep="\t", header=None, skiprows=0 if str(first).isdigit() else 1, usecols=[0, 1])
    return torch.tensor(rows.to_numpy(), dtype=torch.int64)


def scores(style, users, items, rows, columns):
    """Cosines [batch, columns] of a batch's users with their items."""
    user = users[rows]
    if style == "gather":
        return F.cosine_similarity(user.unsqueeze(1), items[columns], dim=2)
    user, items = F.normalize(user, dim=1), F.normalize(items, dim=1)
    if style == "bmm":
        return torch.bmm(F.embedding(columns, items), user.unsqueeze(2)).squeeze(2)
    return (user @ items.T).gather(1, columns)


def loss_of(style, users, items, rows, columns, threshold):
    found = scores(style, users, items, rows, columns)
    positive, negatives = found[:, :1], found[:, 1:]
    weight = torch.sigmoid((positive[:, 0] - threshold[rows]) / WEIGHT_TEMPERATURE)
    return (weight * torch.logsumexp((negatives - positive) / TEMPERATURE, dim=1)).mean()


def epoch(style, pairs, tables, threshold, optimizer, loss_of, batches):
    """Seconds per batch; the first two, which warm up, are left out."""
    order = torch.randperm(len(pairs), device=pairs.device)
    wait = torch.cuda.synchronize if pairs.is_cuda else lambda: None
    for step in range(batches):
        if step == 2:
            wait()
            start = time.perf_counter()
        rows, positives = pairs[order[step * BATCH : (step + 1) * BATCH]].unbind(1)
        negatives = torch.randint(len(tables[1]), (len(rows), NEGATIVES), device=pairs.device)
        optimizer.zero_grad()
        loss_of(style, *tables, rows, torch.cat([positives.unsqueeze(1), negatives], dim=1), threshold).backward()
        optimizer.step()
    wait()
    return (time.perf_counter() - start) / (batches - 2)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--styles", default="gather,bmm,gemm")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--batches", type=int, help="of an epoch, whose time is then extrapolated")
    parser.add_argument("--compile", action="store_true", help="by torch.compile")
    given = parser.parse_args()
    pairs = read_pairs(given.data / "train.tsv.gz").to(given.device)
    users, items = (pairs.max(dim=0).values + 1).tolist()
    whole = len(pairs) // BATCH
    for style in given.styles.split(","):
        tables = [torch.randn(rows, DIM, device=given.device, requires_grad=True) for rows in (users, items)]
        optimizer = torch.optim.Adam(tables, lr=0.1, fused=style != "gather")
        compiled = torch.compile(loss_of) if given.compile else loss_of
        arguments = (style, pairs, tables, torch.zeros(users, device=given.device), optimizer, compiled, given.batches or whole)
        seconds = min(epoch(*arguments) for _ in range(3)) * whole
        name = torch.cuda.get_device_name() if pairs.is_cuda else given.device
        print(json.dumps({"style": style, "compiled": given.compile, "device": name, "torch": torch.__version__, "seconds": seconds}), flush=True)


if __name__ == "__main__":
    main()
