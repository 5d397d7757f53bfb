"""Models of one's own beside those of a sweep: arrays of vectors as a backbone, and the splits that they are to be trained on."""

import hashlib
import io
import re
from collections.abc import Collection, Mapping
from numbers import Integral
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ranksweep import _frames
from ranksweep._labels import index_of
from ranksweep._paths import resolved
from ranksweep._program import call
from ranksweep.commands import File, options, written
from ranksweep.sweep import Backbone, Block, Dataset, Evaluation, Settings, Sweep

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    #: The vectors of one side: one array, or one for each seed, or for each seed of a split and seed.
    Vectors = ArrayLike | Mapping[int, ArrayLike] | Mapping[tuple[int, int], ArrayLike] | Mapping[tuple[int, None], ArrayLike]


def external(
    name: str,
    users: "Vectors",
    items: "Vectors",
    folder: File,
    *,
    similarity: str = "dot",
) -> Backbone:
    """A backbone of vectors that were trained elsewhere, written as files into `folder`; it stands in a block without losses.

    `users` has the shape users x dim and `items` items x dim, with rows in the order of the prepared dataset's dense ids: those of
    `PreparedDataset.users()` and `items()`, and of the matrices that `export` writes. A frame of pandas whose index is not the default one, 0
    to n - 1, has the users' or items' own ids there, and its rows in any order. A mapping has such an array for each seed of the sweep.
    Of a dataset with several splits, or with folds, its keys are pairs: the split's seed or the fold's number, and the sweep's seed, or `None`
    where one training on each split stands for all seeds.
    The names of the files have a hash of the vectors, so that those of two trainings stand side by side.
    `similarity` is `dot`, `cosine` or `negative-squared-distance`. `name` is what the leaderboard calls the method, in brackets behind
    `external`.

    Raises `ValueError` where users and items have other seeds, seeds are not all of one form, arrays are no vectors of one length, or the
    folder's path has braces, which the path of a sweep file has other uses for.
    """
    of_seeds = [set(side) if isinstance(side, Mapping) else None for side in (users, items)]
    if of_seeds[0] != of_seeds[1]:
        seen = ["one array" if seeds is None else f"seeds {sorted(seeds, key=str)}" for seeds in of_seeds]
        raise ValueError(f"users have {seen[0]} and items {seen[1]}: expected the same seeds")
    of_place(of_seeds[0])
    check_shapes(users, items)
    stem = plain(name, r"[^a-zA-Z0-9_.+@-]+")
    folder = Path(resolved(folder))
    if "{" in str(folder) or "}" in str(folder):
        raise ValueError(f"folder is {str(folder)!r}: expected a path without braces")
    paths = [stored(side, folder, f"{stem}-{what}") for what, side in (("users", users), ("items", items))]
    return Backbone("external", name=name, users=paths[0], items=paths[1], similarity=similarity)


def sweep_of_vectors(
    users: "Vectors",
    items: "Vectors",
    dataset: Dataset | Mapping[str, Any],
    name: str,
    similarity: str,
    evaluation: Evaluation | None,
    storage: File,
) -> Sweep:
    """The sweep that ranks vectors beside the popularity of a dataset. They go into `vectors/` of the storage, as files."""
    if "://" in resolved(storage):
        raise ValueError(f"storage is {resolved(storage)!r}: vectors are written into it as files, so expected a folder of this machine")
    if not isinstance(dataset, Dataset | Mapping) or (isinstance(dataset, Mapping) and "name" not in dataset):
        found = "a mapping without a name" if isinstance(dataset, Mapping) else type(dataset).__name__
        raise ValueError(f"dataset is {found}: expected a Dataset, or a mapping with its keys")
    storage = resolved(storage)
    backbone = external(name, users, items, Path(storage) / "vectors", similarity=similarity)
    grid: list[Block | Settings] = [Block([Backbone("popularity"), backbone])]
    keys: Collection[Any] = users.keys() if isinstance(users, Mapping) else []
    seeds = sorted({key[1] if isinstance(key, tuple) else key for key in keys} - {None}) or None
    label = plain(f"{dataset['name'] if isinstance(dataset, Mapping) else dataset.name}-{name}", r"[^a-zA-Z0-9_.-]+")
    return Sweep(name=label, storage=storage, datasets=[dataset], grid=grid, seeds=seeds, evaluation=evaluation)


def of_place(keys: Collection[Any] | None) -> str:
    """What a file's name has in the place of the keys of a mapping; nothing of one array.

    Raises `ValueError` where the keys are not all of one form.
    """

    def form(key: Any) -> str | None:
        match key:
            case Integral():
                return "-{seed}"
            case (Integral(), Integral()):
                return "-{split_seed}-{seed}"
            case (Integral(), None):
                return "-{split_seed}"
            case _:
                return None

    if keys is None:
        return ""
    forms = {form(key) for key in keys}
    found = forms.pop() if len(forms) == 1 else None
    if found is None:
        expected = "expected whole numbers, or pairs of a split's seed and a seed, or of a split's seed and None"
        raise ValueError(f"seeds are {sorted(keys, key=str)}: {expected}")
    return found


def check_shapes(users: "Vectors", items: "Vectors") -> None:
    """That both sides of each seed are matrices whose rows have as many numbers."""
    import numpy as np

    def shapes(side: "Vectors") -> dict[str, tuple[int, ...]]:
        of_seeds = {f" of seed {seed}": array for seed, array in side.items()} if isinstance(side, Mapping) else {"": side}
        return {of: np.asarray(array).shape for of, array in of_seeds.items()}

    of_items = shapes(items)
    for of, shape in shapes(users).items():
        for what, found in (("users", shape), ("items", of_items[of])):
            if len(found) != 2:
                raise ValueError(f"{what}{of} have the shape {found}, expected two dimensions: {what} x dim")
        if shape[1:] != of_items[of][1:]:
            raise ValueError(f"users{of} have the shape {shape} and items {of_items[of]}: expected vectors of as many numbers")


#: Letters of a name that stands for a file or a folder.
LONGEST = 80


def plain(name: str, others: str) -> str:
    """The name with dashes for the characters that a pattern finds, and then some digits by which it stays different from other names."""
    plain = re.sub(others, "-", name)[:LONGEST]
    return plain if plain == name else f"{plain}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"


def hash_of(files: Mapping[Any, bytes]) -> str:
    """Some digits by which the files of one training differ from those of others: by the seed of each, and what it holds."""
    of_seeds = sorted(f"{seed} {hashlib.sha256(content).hexdigest()}" for seed, content in files.items())
    return hashlib.sha256("\n".join(of_seeds).encode()).hexdigest()[:8]


def stored(vectors: "Vectors", folder: Path, stem: str) -> str:
    """Writes the vectors of one side, each file whole; the path as a sweep file has it.

    Raises `ValueError` where the vectors of some seeds alone have own ids.
    """
    arrays: Mapping[Any, ArrayLike] = vectors if isinstance(vectors, Mapping) else {(): vectors}
    have_ids = {has_own_ids(array) for array in arrays.values()}
    if len(have_ids) > 1:
        raise ValueError("some frames have an index of own ids and others have not: expected one of all seeds, or none")
    content, suffix = (parquet, "parquet") if have_ids == {True} else (npy, "npy")
    files = {seed: content(array) for seed, array in arrays.items()}
    stem = f"{stem}-{hash_of(files)}"
    for seed, bytes_of_seed in files.items():
        parts = seed if isinstance(seed, tuple) else (seed,)
        file = folder / ("-".join([stem, *(str(part) for part in parts if part is not None)]) + f".{suffix}")
        _frames.write(file, bytes_of_seed)
    return str(folder / f"{stem}{of_place(arrays if isinstance(vectors, Mapping) else None)}.{suffix}")


def has_own_ids(array: "ArrayLike") -> bool:
    """Whether the rows of a frame of pandas have labels, and not only places."""
    index = index_of(array)
    return index is not None and not (type(index).__name__ == "RangeIndex" and (index.start, index.step) == (0, 1))


def npy(array: "ArrayLike") -> bytes:
    """Vectors as a file of NumPy."""
    import numpy as np

    found = np.asarray(array)
    file = io.BytesIO()
    np.save(file, found.astype(np.float32) if found.dtype.kind in "iu" else found)
    return file.getvalue()


def parquet(array: Any) -> bytes:
    """Vectors of a frame with their own ids, its index, as a Parquet file."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    ids, vectors = pa.array(map(str, array.index)), list(np.asarray(array, dtype=np.float32))
    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"id": ids, "vector": pa.array(vectors, pa.list_(pa.float32()))}), sink)
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]


def export(
    sweep: Sweep | Settings | File,
    out: File,
    format: str = "npz",
    *,
    dataset: str | None = None,
    method: str | None = None,
    trial: str | None = None,
    storage: File | None = None,
) -> Path:
    """Writes the splits of a sweep's datasets, or the vectors of a trial, for other programs, and gives the folder `out`.

    `format` is of splits `npz` (matrices for `scipy.sparse.load_npz`), `csv`, `recbole`, `lenskit` or `elliot`, in a folder for each dataset,
    of which `dataset` names one; of vectors `npy`, `safetensors` or `parquet`: those of the winner, of `method` or of `trial`, which
    `embeddings` gives as arrays. `user_ids.txt` and `item_ids.txt` have the own ids in the order of rows and columns.
    """
    exported(sweep, out, format, dataset, method, trial, storage)
    return Path(resolved(out))


def exported(
    sweep: Sweep | Settings | File,
    out: File,
    format: str,
    dataset: str | None,
    method: str | None,
    trial: str | None,
    storage: File | None,
) -> str:
    """Exports, and gives what the program says of it."""
    chosen = [f"--{name}={value}" for name, value in {"dataset": dataset, "method": method, "trial": trial}.items() if value is not None]
    with written(sweep) as file:
        flags = [f"--format={format}", f"--out={resolved(out)}", *chosen, *options(storage, None, None)]
        return call(["export", file, *flags], lambda event: None)
