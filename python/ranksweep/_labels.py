"""The labels that frames of pandas give their rows, by which rows must not be taken for others."""

from collections.abc import Mapping
from typing import Any


def index_of(values: Any) -> Any:
    """The labels of the rows of a frame or series of pandas; `None` of what has none."""
    index = getattr(values, "index", None)
    return index if hasattr(index, "equals") else None


def check_in_order(name: str, values: Any) -> None:
    """That the rows of a frame or series of pandas are labelled 0, 1, and so on.

    Raises `ValueError` where other labels say that rows may be those of others than their places say.
    """
    index = index_of(values)
    if index is not None and list(index) != list(range(len(index))):
        reason = f"{name} has the index {list(index[:3])}…, and rows are taken by their places: expected 0, 1, 2, …"
        raise ValueError(f"{reason}; bring the rows into the order of the users, and pass `.to_numpy()`")


def aligned(methods: Mapping[str, Any]) -> dict[str, Any]:
    """The values of methods with users in one order: labelled ones in that of the first of them.

    Users are labelled by the index of a series, and by the columns of a frame, whose rows are seeds.

    Raises `ValueError` where two methods are labelled differently.
    """
    first: tuple[str, Any] | None = None
    found = dict(methods)
    for name, values in methods.items():
        users = values.columns if index_of(values) is not None and hasattr(values, "columns") else index_of(values)
        if users is None:
            continue
        if first is None:
            first = (name, users)
        if users.equals(first[1]):
            continue
        if not (users.is_unique and first[1].is_unique and set(users) == set(first[1])):
            reason = f"methods[{name!r}] is of other users than methods[{first[0]!r}], as their index says"
            raise ValueError(f"{reason}: expected the same ones; where the order is the same pass `.to_numpy()`")
        found[name] = values.reindex(**{"columns" if hasattr(values, "columns") else "index": first[1]})
    return found
