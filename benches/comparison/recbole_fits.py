"""RecBole's models of whole users and of item neighbours, by its own trainer and default settings, on a train part that comes split.

    python recbole_fits.py --data DATA --model MultiVAE      # seconds of an epoch
    python recbole_fits.py --data DATA --model ItemKNN       # seconds until the model is there

All of train is train here: RecBole is given the parts as they are. The folder of the peers' scripts is on the path, for what they share.
"""

import argparse
import logging
import os
import sys
import tempfile
import warnings

from common import THREADS, Clock, emit, read_pairs  # first, for the threads

import numpy as np
import torch

warnings.filterwarnings("ignore")
torch.set_num_threads(THREADS)
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--data", required=True)
parser.add_argument("--model", required=True, choices=["MultiVAE", "ItemKNN"])
parser.add_argument("--epochs", type=int, default=2, help="timed epochs, after one that is not")
parser.add_argument("--batch", type=int, default=500, help="users of a batch")
options = parser.parse_args()

name, folder = os.path.basename(os.path.normpath(options.data)), tempfile.TemporaryDirectory()
os.makedirs(os.path.join(folder.name, name))
train, test = (read_pairs(os.path.join(options.data, f"{part}.tsv.gz")) for part in ("train", "test"))
for part, pairs in (("train", train), ("valid", test), ("test", test)):
    path = os.path.join(folder.name, name, f"{name}.{part}.inter")
    np.savetxt(path, pairs, fmt="%d", delimiter="\t", comments="", header="user_id:token\titem_id:token")
settings = {
    "data_path": folder.name, "benchmark_filename": ["train", "valid", "test"], "load_col": {"inter": ["user_id", "item_id"]},
    "use_gpu": False, "show_progress": False, "state": "ERROR", "seed": 2020, "train_batch_size": options.batch,
    "train_neg_sample_args": None, "checkpoint_dir": os.path.join(folder.name, "saved"),
}

sys.argv = sys.argv[:1]  # RecBole reads the command line itself
os.chdir(folder.name)  # and writes its logs to the current folder
from recbole import __version__
from recbole.config import Config
from recbole.data import create_dataset, data_preparation
from recbole.utils import get_model, get_trainer, init_seed

config = Config(model=options.model, dataset=name, config_dict=settings)
logging.disable(logging.INFO)
init_seed(config["seed"], config["reproducibility"])
train_data, _, _ = data_preparation(config, create_dataset(config))
with Clock() as fit:
    model = get_model(options.model)(config, train_data.dataset)
walls, detail = [fit.wall], {}
if options.model == "MultiVAE":
    trainer = get_trainer(config["MODEL_TYPE"], options.model)(config, model)
    trainer._train_epoch(train_data, 0, show_progress=False)
    walls = []
    for epoch in range(options.epochs):
        with Clock() as clock:
            trainer._train_epoch(train_data, epoch + 1, show_progress=False)
        walls.append(clock.wall)
    detail = {"batch": options.batch, "batches_per_epoch": len(train_data)}
emit(f"RecBole {__version__}", options.model, name, min(walls), "s", walls=[round(wall, 3) for wall in walls], train_pairs=len(train_data.dataset), **detail)
os.chdir("/")
