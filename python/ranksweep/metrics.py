"""Metrics of rankings of NumPy arrays, to the bit those of a sweep: the evaluator's own code.

Every item of the catalogue is ranked for each user but those that are `masked`; or lists are judged that are made already (`of_lists`).
Metrics are named as in sweep files: `ndcg@20`, `recall@5`, `precision@20`, `hit-rate@20`, `mrr@20`, `map@20`, `auc`; and what lists are
like: `coverage@20`, `gini@20`, `average-popularity@20`, `novelty@20`, `diversity@20`, `popularity-lift@20`, `popularity-deviation@20`. Of
`coverage` and `gini` there is one number of all users who have something held out, an array of one.

`held_out`, `masked` and `history` have a row for each user: a list of arrays of items' numbers, or a matrix of the shape users x items, a
sparse one of SciPy or a dense one of zeros and ones; frames and series of pandas are taken where their index is 0, 1, 2, … No item of a user
may be both held out and masked. `history` is what users are known to have, from which the popularity of items follows: `masked` unless it is
given; metrics of popularity and diversity need one of the two.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from numpy.typing import ArrayLike, NDArray

from ranksweep._labels import check_columns_in_order, check_in_order
from ranksweep._native import native
from ranksweep._native import numpy as np


@runtime_checkable
class Dense(Protocol):
    """An array that NumPy can read, such as a tensor of PyTorch."""

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]: ...


@runtime_checkable
class Sparse(Protocol):
    """A sparse matrix of SciPy."""

    def tocsr(self) -> Any:
        """The matrix by rows."""


Lists = Sequence[ArrayLike] | NDArray[Any] | Dense | Sparse


def of_scores(
    scores: ArrayLike,
    held_out: Lists,
    metrics: str | Sequence[str] = ("ndcg@20",),
    *,
    masked: Lists | None = None,
    history: Lists | None = None,
    recall: str = "standard",
    ties: str = "pessimistic",
) -> dict[str, NDArray[np.float64]]:
    """Each metric's value for each user, from scores of the shape users x items; NaN for users who have nothing held out.

    Scores are taken as 32-bit numbers, as those of a sweep are; those of masked items may be minus infinity. `recall` is `standard` or
    `capped`: the hits as a share of the held-out items, or of as many as the list can have. `ties` is `pessimistic` or `optimistic`: where a
    held-out item stands among others of its score.

    Raises `ValueError` for shapes, numbers and names that cannot be.
    """
    check_columns_in_order("scores", scores)
    array = matrix("scores", scores)
    users, items = array.shape
    asked = Asked(metrics, recall, ties, held_out, masked, history, (users, items))
    array = finite("scores", without_masked(array, asked.masked))
    return named(asked.metrics, native.of_scores(array.tobytes(), items, asked))


def of_vectors(
    users: ArrayLike,
    items: ArrayLike,
    held_out: Lists,
    metrics: str | Sequence[str] = ("ndcg@20",),
    *,
    similarity: str = "dot",
    masked: Lists | None = None,
    history: Lists | None = None,
    recall: str = "standard",
    ties: str = "pessimistic",
) -> dict[str, NDArray[np.float64]]:
    """Each metric's value for each user, from vectors of the shapes users x dim and items x dim; NaN for users who have nothing held out.

    A score is the `similarity` of two vectors: `dot`, `cosine` or `negative-squared-distance`. No matrix of scores is ever formed.
    `recall` and `ties` mean what they mean for `of_scores`.

    Raises `ValueError` for shapes, numbers and names that cannot be.
    """
    of_users, of_items = finite("users", matrix("users", users)), finite("items", matrix("items", items))
    (count, dim), catalogue = of_users.shape, len(of_items)
    if of_items.shape[1] != dim:
        raise ValueError(f"users have vectors of {dim} numbers, items of {of_items.shape[1]}")
    asked = Asked(metrics, recall, ties, held_out, masked, history, (count, catalogue))
    return named(asked.metrics, native.of_vectors(of_users.tobytes(), of_items.tobytes(), dim, similarity, asked))


def of_lists(
    recommended: Lists,
    held_out: Lists,
    metrics: str | Sequence[str] = ("ndcg@20",),
    *,
    items: int,
    masked: Lists | None = None,
    history: Lists | None = None,
    recall: str = "standard",
) -> dict[str, NDArray[np.float64]]:
    """Each metric's value for each user, from lists that are made already, the best item first; NaN for users who have nothing held out.

    `recommended` has a row for each user: a list of arrays of items' numbers, or one array of users x K, in which negative numbers fill rows
    that are shorter, as implicit's do. `items` is the size of the catalogue. Masked items are passed over, and those behind them move up.
    What is not in a list was not retrieved: it is no hit at any cutoff, and for `auc` it stands in random order behind all that is.

    Raises `ValueError` for an item that is twice in a list, and for shapes, numbers and names that cannot be.
    """
    if isinstance(recommended, Sparse | Mapping):
        raise ValueError("recommended has no order, expected an array of users x K or a list of arrays, the best item first")
    check_in_order("recommended", recommended)
    if isinstance(recommended, Dense):
        recommended = np.asarray(recommended)
    arrays = [np.asarray(row).reshape(-1) for row in recommended]
    rows = [array[array >= 0] if array.dtype.kind == "i" else array for array in arrays]
    asked = Asked(metrics, recall, "pessimistic", held_out, masked, history, (len(rows), items))
    return named(asked.metrics, native.of_lists(lists("recommended", rows, len(rows), items), items, asked))


class Asked:
    """What the evaluator is asked for."""

    def __init__(
        self,
        metrics: str | Sequence[str],
        recall: str,
        ties: str,
        held_out: Lists,
        masked: Lists | None,
        history: Lists | None,
        shape: tuple[int, int],
    ) -> None:
        if held_out is None:
            raise ValueError("held_out is None, expected the items of each user")
        self.metrics = [metrics] if isinstance(metrics, str) else list(metrics)
        self.recall = recall
        self.ties = ties
        self.held_out = lists("held_out", held_out, *shape)
        self.masked = lists("masked", masked, *shape)
        self.has_history = masked is not None or history is not None
        self.history = self.masked if history is None else lists("history", history, *shape)


def matrix(name: str, values: ArrayLike) -> NDArray[np.float32]:
    """A matrix of 32-bit numbers."""
    check_in_order(name, values)
    array = np.ascontiguousarray(values, dtype=np.float32)
    if array.ndim != 2 or 0 in array.shape:
        raise ValueError(f"{name} has the shape {array.shape}, expected two dimensions that are not empty")
    return array


def without_masked(scores: NDArray[np.float32], masked: tuple[bytes, bytes]) -> NDArray[np.float32]:
    """Scores in which masked items have no infinite one: they are not ranked, whatever theirs is."""
    if not np.isneginf(scores).any():
        return scores
    starts, items = np.frombuffer(masked[0], np.uint64).astype(np.int64), np.frombuffer(masked[1], np.uint32)
    counts = starts[1:] - starts[:-1]
    users = np.repeat(np.arange(len(counts)), counts)
    scores = scores.copy()
    scores[users, items] = np.where(np.isneginf(scores[users, items]), 0, scores[users, items])
    return scores


def finite(name: str, array: NDArray[np.float32]) -> NDArray[np.float32]:
    """The matrix, all of whose numbers are finite."""
    if not np.isfinite(array).all():
        row, column = np.argwhere(~np.isfinite(array))[0]
        raise ValueError(f"{name}[{row}, {column}] is {array[row, column]}; what is not to be ranked belongs into `masked`")
    return array


def lists(name: str, rows: Lists | None, users: int, items: int) -> tuple[bytes, bytes]:
    """Where each user's items begin, and the items."""
    if rows is None:
        rows = [[]] * users
    check_in_order(name, rows)
    if isinstance(rows, Dense) and not isinstance(rows, Sparse):
        if getattr(rows, "shape", None) == (users, items):
            check_columns_in_order(name, rows)
        rows = np.asarray(rows)
    if isinstance(rows, Sparse):
        sparse = rows.tocsr().copy()
        sparse.eliminate_zeros()
        if sparse.shape != (users, items):
            raise ValueError(f"{name} has the shape {sparse.shape}, expected {(users, items)}")
        starts, found = sparse.indptr, sparse.indices
    elif isinstance(rows, np.ndarray) and rows.shape == (users, items) and np.isin(rows, (0, 1)).all():
        starts, found = np.cumsum([0, *np.count_nonzero(rows, axis=1)]), np.nonzero(rows)[1]
    elif isinstance(rows, np.ndarray) and rows.shape == (users, items):
        row, column = np.argwhere(~np.isin(rows, (0, 1)))[0]
        reason = f"{name}[{row}, {column}] is {rows[row, column]}, expected 0 or 1 in a matrix of users x items"
        raise ValueError(f"{reason}: pass `{name} > 0`, or a list of items for each user")
    elif isinstance(rows, Mapping):
        raise ValueError(f"{name} is a mapping, expected a list that has a row for each of {users} users, in their order")
    else:
        arrays = [np.asarray(row).reshape(-1) for row in rows]
        wrong = next((at for at, array in enumerate(arrays) if array.size and array.dtype.kind not in "iu"), None)
        if wrong is not None:
            raise ValueError(f"{name}[{wrong}] is of the type {arrays[wrong].dtype}, expected the numbers of items")
        if len(arrays) != users:
            raise ValueError(f"{name} has {len(arrays)} rows, expected one for each of {users} users")
        dense = next((at for at, array in enumerate(arrays) if len(array) == items > 2 and np.isin(array, (0, 1)).all()), None)
        if dense is not None:
            reason = f"{name}[{dense}] has 0 or 1 for each of {items} items, expected the numbers of items"
            raise ValueError(f"{reason}: pass the rows as one array of users x items")
        starts, found = np.cumsum([0, *map(len, arrays)]), np.concatenate([np.zeros(0, np.int64), *arrays])
    outside = found[(found < 0) | (found >= items)]
    if outside.size:
        raise ValueError(f"{name} has the item {outside[0]}, which is none of the {items} items")
    return starts.astype(np.uint64).tobytes(), found.astype(np.uint32).tobytes()


def named(metrics: list[str], values: list[bytes]) -> dict[str, NDArray[np.float64]]:
    """The values of each metric by its name."""
    return {metric: np.frombuffer(column).copy() for metric, column in zip(metrics, values, strict=True)}
