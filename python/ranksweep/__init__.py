"""Which loss, with which negative sampler, on which backbone, ranks best on your data, and is the difference real?

`run` trains and compares the methods of a sweep file, or of a `Sweep` or mapping made here, with the program `ranksweep` that this package
brings. `open` reads the results of a sweep that has run as pandas, Polars or Arrow tables.
"""

from importlib.metadata import version

from ranksweep._program import Error
from ranksweep.commands import Plan, TrialsFailed, compare, evaluate, kinds, plan, prepare, run
from ranksweep.own_models import export, external
from ranksweep.results import Comparison, Page, PreparedDataset, Results, Tables, Trial, open
from ranksweep.serving import Embeddings, embeddings, recommend, refit
from ranksweep.sweep import (
    Backbone,
    Block,
    Dataset,
    Evaluation,
    Loss,
    Optimizer,
    Preparation,
    Sampler,
    Search,
    Significance,
    Source,
    Split,
    Sweep,
    Training,
)
from ranksweep.table import Table

#: The version of the package.
__version__ = version("ranksweep")

__all__ = [
    "Backbone",
    "Block",
    "Comparison",
    "Dataset",
    "Embeddings",
    "Error",
    "Evaluation",
    "Loss",
    "Optimizer",
    "Page",
    "Plan",
    "Preparation",
    "PreparedDataset",
    "Results",
    "Sampler",
    "Search",
    "Significance",
    "Source",
    "Split",
    "Sweep",
    "Table",
    "Tables",
    "Training",
    "Trial",
    "TrialsFailed",
    "__version__",
    "compare",
    "embeddings",
    "evaluate",
    "export",
    "external",
    "kinds",
    "open",
    "plan",
    "prepare",
    "recommend",
    "refit",
    "run",
]
