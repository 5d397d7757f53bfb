"""Paths as a sweep file has them."""

import os
import re

from ranksweep._program import Error

VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def resolved(path: str | os.PathLike[str]) -> str:
    """The path with the home folder in the place of `~`, and the environment's variables in that of `${NAME}`.

    Raises `Error` for a variable that is not set.
    """

    def value(found: re.Match[str]) -> str:
        if found[1] not in os.environ:
            raise Error(f"{os.fspath(path)}: the environment variable {found[1]} is not set")
        return os.environ[found[1]]

    return os.path.expanduser(VARIABLE.sub(value, os.fspath(path)))
