"""The tests of a sweep on NumPy arrays, to the bit those of `significance.parquet`: the evaluator's own code.

docs/statistics.md says what is tested and why.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, overload

import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import ArrayLike

from ranksweep import _yaml
from ranksweep._labels import aligned
from ranksweep._native import native
from ranksweep._native import numpy as np
from ranksweep.sweep import Settings, Significance
from ranksweep.table import Frame, framed

if TYPE_CHECKING:
    import pandas
    import polars

    #: The users' values of each method by its name.
    Methods = Mapping[str, ArrayLike] | pandas.DataFrame | polars.DataFrame

#: Columns of `significance.parquet` that say which numbers were compared: here it is those that were given.
OF_SWEEPS = ["dataset", "metric", "cutoff", "primary"]


@overload
def compare(
    methods: Methods,
    settings: Significance | Settings | None = None,
    *,
    fixed: Collection[str] = (),
    frame: Literal["pandas"] = "pandas",
) -> pandas.DataFrame: ...
@overload
def compare(
    methods: Methods,
    settings: Significance | Settings | None = None,
    *,
    fixed: Collection[str] = (),
    frame: Literal["polars"],
) -> polars.DataFrame: ...
@overload
def compare(
    methods: Methods,
    settings: Significance | Settings | None = None,
    *,
    fixed: Collection[str] = (),
    frame: Literal["arrow"],
) -> pa.Table: ...
def compare(
    methods: Methods,
    settings: Significance | Settings | None = None,
    *,
    fixed: Collection[str] = (),
    frame: Frame = "pandas",
) -> Any:
    """Compares methods by their users' values of one metric: a row for each pair and test, as in `significance.parquet`.

    A method is an array with a value for each user, of one training, or of the shape seeds x users. All have the same users in the same order;
    a series of pandas is brought into the order of the first one by its index. A frame of pandas or Polars has a method in each column.
    Of one training nothing is known of other seeds: where no method has several, `over` says `users`. `fixed` names methods that fit without
    a seed, such as popularity or EASE, which would be the same however often they were trained. `settings` are the `significance` of a sweep
    file: `Significance(tests=["paired-t"], margin="1%")`.

    Raises `ValueError` for arrays that do not go together and for settings that cannot be.
    """
    if hasattr(methods, "columns"):
        methods = {name: methods[name] for name in methods.columns}
    if not isinstance(methods, Mapping):
        raise ValueError(f"methods is {type(methods).__name__}, expected a mapping of names to arrays")
    if wrong := [name for name in methods if not isinstance(name, str)]:
        raise ValueError(f"methods has the name {wrong[0]!r}, expected a text")
    arrays = {name: np.asarray(values, dtype=np.float64) for name, values in aligned(methods).items()}
    users = {name: array.shape[-1] if array.ndim in (1, 2) else 0 for name, array in arrays.items()}
    if len(arrays) < 2:
        raise ValueError(f"methods has {len(arrays)} of them, expected two or more")
    for name, array in arrays.items():
        if 0 in array.shape or not users[name]:
            raise ValueError(f"methods[{name!r}] has the shape {array.shape}, expected values by user, or by seed and user")
        if users[name] != next(iter(users.values())):
            raise ValueError(f"methods[{name!r}] has {users[name]} users, the first method {next(iter(users.values()))}")
        if not np.isfinite(array).all():
            raise ValueError(f"methods[{name!r}] has values that are not finite; leave out users without a value, of all methods")
    for name in fixed:
        if name not in arrays:
            raise ValueError(f"fixed has {name!r}, which is none of the methods {sorted(arrays)}")
        if arrays[name].ndim == 2 and len(arrays[name]) > 1:
            raise ValueError(f"fixed has {name!r}, which has {len(arrays[name])} seeds; expected one array of the users' values")
    replicates = [(name, [row.tobytes() for row in np.atleast_2d(array)], name not in fixed) for name, array in arrays.items()]
    content = settings.content() if isinstance(settings, Significance) else dict(settings or {})
    family = content.get("family")
    against = family.get("against") if isinstance(family, Mapping) else None
    if against is not None and against not in arrays:
        raise ValueError(f"family is against {against!r}, which is none of the methods {sorted(arrays)}")
    table = pq.read_table(pa.BufferReader(native.compare(replicates, json.dumps(_yaml.plain(content, "settings")))))
    return framed(table.drop_columns(OF_SWEEPS), frame)
