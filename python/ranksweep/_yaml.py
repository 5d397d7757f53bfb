"""Plain data as a YAML text that a person reads: mappings of values and lists of them in lines, what is inside of these in braces."""

import json
import math
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

#: Texts that YAML takes for nothing else, so that they need no quotes.
PLAIN = re.compile(r"(?!(?:true|false|null|yes|no|on|off|y|n)$)[a-z_][a-z0-9_-]*(@[0-9]+)?", re.IGNORECASE)
#: Levels of lists and mappings that have lines of their own.
LINES = 3


def document(value: Mapping[str, Any]) -> str:
    """The whole text of a mapping.

    Raises `TypeError` or `ValueError` for what YAML has no words for, with the path of keys to it.
    """
    return "\n".join(block(plain(value, ""), 0)) + "\n"


def plain(value: Any, path: str) -> Any:
    """The same as dicts, lists, texts, numbers, truth values and None, also of NumPy's values, of paths and of dates."""
    if type(value).__name__ == "datetime64":
        value = value.astype("datetime64[us]")  # of nanoseconds Python has no date
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, date):
        value = value.isoformat()
    if isinstance(value, float) and not math.isfinite(value):
        raise ValueError(f"{path} is {value}, which a sweep file cannot hold")
    if value is None or isinstance(value, str | bool | int | float):
        return value
    if isinstance(value, Mapping):
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            raise TypeError(f"{path} has the key {wrong!r}, which is no text")
        return {key: plain(item, f"{path}.{key}".lstrip(".")) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes | bytearray):
        return [plain(item, f"{path}[{at}]") for at, item in enumerate(value)]
    advice = ": `Source.from_frame` makes a source of it" if hasattr(value, "columns") else ""
    raise TypeError(f"{path} is of the type {type(value).__name__}, which a sweep file cannot hold{advice}")


def block(value: Any, depth: int) -> Iterator[str]:
    """The lines of a mapping or a list."""
    indent = "  " * depth
    if isinstance(value, dict):
        for key, item in value.items():
            if is_block(item, depth):
                yield f"{indent}{scalar(key)}:"
                yield from block(item, depth + 1)
            else:
                yield f"{indent}{scalar(key)}: {flow(item)}"
        return
    for item in value:
        if is_block(item, depth):
            first, *rest = block(item, depth + 1)
            yield f"{indent}- {first.lstrip()}"
            yield from rest
        else:
            yield f"{indent}- {flow(item)}"


def is_block(value: Any, depth: int) -> bool:
    """Whether a value has lines of its own: it is a list of mappings, or a mapping that holds further ones."""
    if depth > LINES or not value:
        return False
    if isinstance(value, list):
        return all(isinstance(item, dict) for item in value)
    return isinstance(value, dict) and "kind" not in value and any(isinstance(item, dict | list) for item in value.values())


def flow(value: Any) -> str:
    """A value in braces or brackets, in one line."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(flow, value)) + "]"
    return scalar(value)


def scalar(value: str | bool | int | float | None) -> str:
    """A text, quoted where YAML would take it for something else; a number, a truth value, or null."""
    if not isinstance(value, str):
        return json.dumps(value)
    if PLAIN.fullmatch(value):
        return value
    return '"' + "".join(map(quoted, value)) + '"'


def quoted(letter: str) -> str:
    """A letter between double quotes."""
    if letter in '"\\':
        return "\\" + letter
    return letter if letter.isprintable() else f"\\U{ord(letter):08x}"
