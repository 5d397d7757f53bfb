"""One small sweep that all tests read, run by the program in RANKSWEEP_BINARY."""

from pathlib import Path

import pytest

import ranksweep


def small(storage: Path) -> ranksweep.Sweep:
    """Three methods and seven trials on made-up data: less than two seconds."""
    return ranksweep.Sweep(
        name="small",
        storage=storage,
        datasets=[
            ranksweep.Dataset(
                "toys",
                ranksweep.Source("synthetic", users=300, items=200, interactions=6000),
                k_core=5,
                split=ranksweep.Split("random", test=0.2, validation=0.1, seed=1),
            )
        ],
        grid=[
            ranksweep.Block([ranksweep.Backbone("popularity"), ranksweep.Backbone("ease", regularization=[50, 200])]),
            ranksweep.Block(
                [ranksweep.Backbone("mf", dim=16)],
                [ranksweep.Loss("softmax", temperature=[0.1, 0.2])],
                [ranksweep.Sampler("uniform", negatives=20)],
                ranksweep.Optimizer("adam", learning_rate=0.02),
            ),
        ],
        training=ranksweep.Training(epochs=10, batch_size=512, evaluate_every=5, select_by="ndcg@20"),
        seeds=[1, 2],
        evaluation=ranksweep.Evaluation(
            metrics=["ndcg", "recall", "auc", "coverage", "novelty", "diversity"],
            cutoffs=[20, 5],
            significance=ranksweep.Significance(tests=["paired-t", "wilcoxon"], alpha=0.05),
        ),
    )


#: The same sweep as a person writes it.
BY_HAND = """
name: small
storage: {storage}
datasets:
  - name: toys
    source: {{format: synthetic, users: 300, items: 200, interactions: 6000}}
    k_core: 5
    split: {{kind: random, test: 0.2, validation: 0.1, seed: 1}}
grid:
  - backbones:
      - {{kind: popularity}}
      - {{kind: ease, regularization: [50, 200]}}
  - backbones:
      - {{kind: mf, dim: 16}}
    losses:
      - {{kind: softmax, temperature: [0.1, 0.2]}}
    samplers:
      - {{kind: uniform, negatives: 20}}
    optimizer: {{kind: adam, learning_rate: 0.02}}
training: {{epochs: 10, batch_size: 512, evaluate_every: 5, select_by: ndcg@20}}
seeds: [1, 2]
evaluation:
  metrics: [ndcg, recall, auc, coverage, novelty, diversity]
  cutoffs: [20, 5]
  significance: {{tests: [paired-t, wilcoxon], alpha: 0.05}}
"""


@pytest.fixture(scope="session")
def storage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the small sweep has run."""
    folder = tmp_path_factory.mktemp("runs")
    ranksweep.run(small(folder), progress=False)
    return folder


@pytest.fixture
def results(storage: Path) -> ranksweep.Results:
    return ranksweep.open(storage / "sweeps" / "small")
