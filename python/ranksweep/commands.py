"""The program's commands as functions.

Each takes a sweep file, a `Sweep` or a mapping with its keys, and raises `Error` with the program's own message.
"""

import json
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from ranksweep import _yaml
from ranksweep._paths import resolved
from ranksweep._program import Error, Event, call
from ranksweep._progress import display
from ranksweep.results import Comparison, PreparedDataset, Results
from ranksweep.sweep import Dataset, Evaluation, Settings, Sweep, plain

if TYPE_CHECKING:
    from ranksweep.own_models import Vectors

File = str | os.PathLike[str]

#: What the program writes before the path of the report, when a sweep's results are whole.
REPORT = "\nreport: "
#: How the names of folders begin in which sweep files stand for as long as a command runs.
TEMPORARY = "ranksweep-sweep-"


class TrialsFailed(Error):
    """Some trials of a sweep have failed or did not end, and everything else was done: `results` has it."""

    @property
    def results(self) -> Results:
        """The results of the trials that have a model; the column `error` of the table `trials` says what became of the others."""
        return results_in(self.output)


def run(
    sweep: Sweep | Settings | File,
    *,
    storage: File | None = None,
    threads: int | None = None,
    memory: str | None = None,
    retry_failed: bool = False,
    progress: bool = True,
) -> Results:
    """Prepares, trains every trial, evaluates and reports; what is done already is not done again.

    `storage` goes before that of the sweep file, `threads` are all cores when left out, and `memory` ("4GiB") bounds preparing and ranking.
    `retry_failed` also tries trials again that failed in a way that is remembered. `progress` shows what is done, in a notebook in one output.

    Ctrl-C, or the notebook's stop button, interrupts the program, which keeps its state: the same call goes on.

    Raises `TrialsFailed`, which has the results, when some trials failed and all the rest is done; `Error` when the program fails.
    """
    return results_of(["run", *flag("--retry-failed", retry_failed)], sweep, storage, threads, memory, progress)


@overload
def evaluate(
    sweep: Sweep | Settings | File,
    *,
    storage: File | None = None,
    threads: int | None = None,
    memory: str | None = None,
    partial: bool = False,
    all: bool = False,
    progress: bool = True,
) -> Results: ...
@overload
def evaluate(
    *,
    users: "Vectors",
    items: "Vectors",
    dataset: Dataset | Mapping[str, Any],
    name: str = "vectors",
    similarity: str = "dot",
    evaluation: Evaluation | None = None,
    storage: File = "runs",
    threads: int | None = None,
    memory: str | None = None,
    progress: bool = True,
) -> Results: ...
def evaluate(
    sweep: Sweep | Settings | File | None = None,
    *,
    users: Any = None,
    items: Any = None,
    dataset: Dataset | Mapping[str, Any] | None = None,
    name: str | None = None,
    similarity: str | None = None,
    evaluation: Evaluation | None = None,
    storage: File | None = None,
    threads: int | None = None,
    memory: str | None = None,
    partial: bool = False,
    all: bool = False,
    progress: bool = True,
) -> Results:
    """Ranks the test part and writes tables and report anew: of a sweep's trained trials, or of vectors that were trained elsewhere.

    Of a sweep, values are picked by validation; `partial` takes one that has not ended, or whose trials have failed, and `all` also ranks
    what validation did not pick, into a table that is not for selecting. The other arguments mean what they mean for `run`.

    Of vectors, `users` and `items` are arrays, or an array for each seed, as `external` takes them, for a dataset that is prepared where that
    is not done. The results have them under `name`, beside the dataset's popularity; they stand in `storage`, the folder `runs` when left out.

    Raises `ValueError` for arguments of the one where the other is ranked.
    """
    if sweep is None:
        if dataset is None or users is None or items is None:
            raise ValueError("expected a sweep, or users, items and dataset")
        if partial or all:
            raise ValueError("partial and all are of a sweep's trials, and vectors are ranked")
        from ranksweep.own_models import sweep_of_vectors

        (name, similarity) = ("vectors" if name is None else name, "dot" if similarity is None else similarity)
        own = sweep_of_vectors(users, items, dataset, name, similarity, evaluation, "runs" if storage is None else storage)
        return run(own, threads=threads, memory=memory, progress=progress)
    if users is not None or items is not None or dataset is not None:
        raise ValueError("expected a sweep, or users, items and dataset, and not both")
    of_vectors = {"name": name, "similarity": similarity, "evaluation": evaluation}
    given = [key for key, value in of_vectors.items() if value is not None]
    if given:
        raise ValueError(f"{given[0]} is of vectors, and a sweep is ranked by its own file: change the `evaluation` there")
    return results_of(["evaluate", "--report", *flag("--partial", partial), *flag("--all", all)], sweep, storage, threads, memory, progress)


def prepare(
    sweep: Sweep | Settings | File, *, storage: File | None = None, threads: int | None = None, memory: str | None = None, progress: bool = True
) -> list[PreparedDataset]:
    """Prepares the sweep's datasets, and gives them in the order of the file, one for each split."""
    folders: list[str] = []

    def listen(event: Event) -> None:
        if event["message"] == "dataset ready":
            folders.append(event["folder"])

    command(["prepare"], sweep, options(storage, threads, memory), progress, listen)
    return [PreparedDataset(folder) for folder in folders]


@dataclass(frozen=True)
class Plan:
    """What a sweep would do: `content` is the resolved sweep with every value fixed, `text` says it in words, with memory and work."""

    content: dict[str, Any]
    text: str

    def __str__(self) -> str:
        return self.text

    @property
    def trials(self) -> list[str]:
        """The ids of all trials, in their order."""
        configurations = [configuration for method in self.content["methods"] for configuration in method["configurations"]]
        return [trial["id"] for configuration in configurations for trial in configuration["trials"]]


def plan(sweep: Sweep | Settings | File, *, storage: File | None = None, memory: str | None = None) -> Plan:
    """What the sweep would do; writes nothing."""
    with written(sweep) as file:
        content, text = (call(["plan", file, *flags, *options(storage, None, memory)], lambda event: None) for flags in (["--json"], []))
    return Plan(json.loads(content), text)


def compare(
    *sweeps: Sweep | Settings | File,
    metric: str | None = None,
    against: str | None = None,
    out: File | None = None,
    storage: File | None = None,
) -> Comparison:
    """Compares the methods of one sweep or several that have run over all of their datasets.

    The metric is the one that decides in the first sweep, or `metric`. `against` names a method that all others are compared with. The tables
    go to `out`, or into `compare/` beside the first sweep's tables.
    """
    places = {"--out": out, "--storage": storage}
    given = {"--metric": metric, "--against": against, **{name: resolved(place) for name, place in places.items() if place is not None}}
    flags = [f"{name}={value}" for name, value in given.items() if value is not None]
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
        files = [file_of(sweep, Path(folder) / f"sweep-{at}.yaml") for at, sweep in enumerate(sweeps)]
        try:
            text = call(["compare", *files, *flags], lambda event: None)
        except Error as error:
            raise Error(str(error).replace(f"{folder}/", ""), error.code, error.output) from None
    folder_and_files = text.splitlines()[-1]
    return Comparison(folder_and_files.rpartition(": ")[0])


def kinds(name: str | None = None) -> str:
    """The kinds of losses, samplers, models and optimizers, or what there is to know of one: its formula, its keys and their defaults."""
    return call(["kinds", *([] if name is None else [name])], lambda event: None)


def results_of(
    words: list[str], sweep: Sweep | Settings | File, storage: File | None, threads: int | None, memory: str | None, progress: bool
) -> Results:
    """Runs a command that makes a sweep's results, and opens them."""
    try:
        text = command(words, sweep, options(storage, threads, memory), progress)
    except Error as error:
        if REPORT not in error.output:
            raise
        failed = TrialsFailed(str(error), error.code, error.output)
        trials = failed.results.trials("arrow").to_pylist() if failed.results.is_here else []
        reasons = [(row["method"], row["error"]) for row in trials if row["error"]]
        if reasons:
            failed = TrialsFailed(f"{error}; the first is {reasons[0][0]}: {reasons[0][1]}", error.code, error.output)
        raise failed from None
    return results_in(text)


def results_in(text: str) -> Results:
    """The results whose report a text names in its last line."""
    return Results(text.rpartition(REPORT)[2].strip().removesuffix("/report.html"))


def command(
    words: list[str], sweep: Sweep | Settings | File, flags: list[str], progress: bool, listen: Callable[[Event], None] = lambda event: None
) -> str:
    """Runs a command with a sweep file, shows its progress, and gives its output."""
    shown = display(progress)
    with written(sweep) as file:

        def hear(event: Event) -> None:
            listen(event)
            shown.hear({**event, "message": short(str(event["message"]), file)})

        try:
            return call([*words, file, *flags], hear)
        finally:
            shown.close()


def options(storage: File | None, threads: int | None, memory: str | None) -> list[str]:
    """The flags of every command."""
    given = {"--storage": None if storage is None else resolved(storage), "--threads": threads, "--memory": memory}
    return [f"{name}={value}" for name, value in given.items() if value is not None]


def flag(name: str, given: bool) -> list[str]:
    """A flag, or none."""
    return [name] if given else []


@contextmanager
def written(sweep: Sweep | Settings | File) -> Iterator[str]:
    """The path of the sweep file, which a `Sweep` or a mapping has for as long as the command runs.

    Errors in it name the lines of `Sweep.to_yaml`.
    """
    with tempfile.TemporaryDirectory(prefix=TEMPORARY) as folder:
        file = file_of(sweep, Path(folder) / "sweep.yaml")
        try:
            yield file
        except Error as error:
            raise Error(short(str(error), file), error.code, error.output) from None


def short(text: str, file: str) -> str:
    """The text with the name alone of a sweep file that stands in a folder of `written`."""
    folder = Path(file).parent
    return text.replace(f"{folder}/", "") if folder.name.startswith(TEMPORARY) else text


def file_of(sweep: Sweep | Settings | File, path: Path) -> str:
    """The path of a sweep file.

    A `Sweep`, or a mapping with its keys, is written to the path given; its table of printed values is that of the working directory.
    """
    if isinstance(sweep, Sweep):
        replace(sweep, printed=from_here(sweep.printed)).write(path)
        return str(path)
    if isinstance(sweep, Mapping):
        printed = {"printed": from_here(sweep["printed"])} if "printed" in sweep else {}
        path.write_text(_yaml.document(plain({**sweep, **printed})), encoding="utf-8")
        return str(path)
    return os.path.expanduser(os.fspath(sweep))


def from_here(printed: Any) -> Any:
    """The key `printed` with the path of its table from the root; URLs and paths that begin with a variable stay."""
    if isinstance(printed, Mapping):
        return {**printed, "values": from_here(printed.get("values"))}
    if printed is None or "://" in os.fspath(printed) or os.fspath(printed).startswith("${"):
        return printed
    return os.path.abspath(os.path.expanduser(printed))
