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


def users_of(values: Any) -> Any:
    """The labels of users: the columns of a frame of pandas, the index of a series; `None` of what has none."""
    return values.columns if index_of(values) is not None and hasattr(values, "columns") else index_of(values)


def check_columns_in_order(name: str, values: Any) -> None:
    """That the columns of a frame of pandas, which are items, are labelled 0, 1, and so on.

    Raises `ValueError` where other labels say that columns may be those of other items than their places say.
    """
    columns = None if index_of(values) is None else getattr(values, "columns", None)
    if columns is not None and list(columns) != list(range(len(columns))):
        reason = f"{name} has the columns {list(columns[:3])}…, and items are taken by their places: expected 0, 1, 2, …"
        raise ValueError(f"{reason}; bring the columns into the order of the items, and pass `.to_numpy()`")


def aligned(methods: Mapping[str, Any]) -> dict[str, Any]:
    """The values of methods with users in one order: labelled ones in that of the first of them.

    Users are labelled by the index of a series, and by the columns of a frame, whose rows are seeds.

    Raises `ValueError` where two methods are labelled differently, or where one has labels that are not 0, 1, and so on, and another has none.
    """
    first: tuple[str, Any] | None = None
    found = dict(methods)
    plain = next((name for name, values in methods.items() if users_of(values) is None), None)
    for name, values in methods.items():
        users = users_of(values)
        if users is None:
            continue
        if plain is not None and list(users) != list(range(len(users))):
            reason = f"methods[{name!r}] has users {list(users[:3])}…, and methods[{plain!r}] has none"
            raise ValueError(f"{reason}, so that its users are taken by their places: label both, or pass `.to_numpy()` in one order")
        if first is None:
            first = (name, users)
        if users.equals(first[1]):
            continue
        if not (users.is_unique and first[1].is_unique and set(users) == set(first[1])):
            reason = f"methods[{name!r}] is of other users than methods[{first[0]!r}], as their index says"
            raise ValueError(f"{reason}: expected the same ones; where the order is the same pass `.to_numpy()`")
        found[name] = values.reindex(**{"columns" if hasattr(values, "columns") else "index": first[1]})
    return found
