"""The leaderboard as a text and as HTML: for each dataset its methods by the primary metric, best first."""

import html
from collections.abc import Mapping, Sequence
from typing import Any

RIGHT = {0, 2, 3, 5, 6}


class Leaderboard:
    """The rows of `leaderboard.parquet`, the metric that decides, and the level of the intervals."""

    def __init__(self, rows: Sequence[Mapping[str, Any]], primary: str, level: float) -> None:
        of_primary = [row for row in rows if primary == named(row)]
        self.datasets = {row["dataset"]: [cells(other) for other in of_primary if other["dataset"] == row["dataset"]] for row in of_primary}
        self.head = ["#", "method", primary, f"{100 * level:g}% interval", "letters", "seeds", "tried"]

    def text(self) -> str:
        """Columns of a fixed width."""
        parts = []
        for dataset, rows in self.datasets.items():
            widths = [max(map(len, column)) for column in zip(self.head, *rows, strict=True)]
            lines = ("  ".join(aligned(at, cell, widths[at]) for at, cell in enumerate(row)).rstrip() for row in [self.head, *rows])
            parts.append("\n".join([dataset, *lines]))
        return "\n\n".join(parts)

    def html(self) -> str:
        """A table for each dataset."""
        parts = []
        for dataset, rows in self.datasets.items():
            head = "".join(f"<th{style(at)}>{html.escape(cell)}</th>" for at, cell in enumerate(self.head))
            body = "".join(f"<tr>{''.join(f'<td{style(at)}>{html.escape(cell)}</td>' for at, cell in enumerate(row))}</tr>" for row in rows)
            parts.append(f"<table><caption>{html.escape(dataset)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>")
        return "".join(parts)


def named(row: Mapping[str, Any]) -> str:
    """The metric of a row: `ndcg@20`, `auc`."""
    return row["metric"] if row["cutoff"] is None else f"{row['metric']}@{row['cutoff']}"


def cells(row: Mapping[str, Any]) -> list[str]:
    """What is shown of a method."""
    interval = "" if row["ci_low"] is None else f"{row['ci_low']:.4f} to {row['ci_high']:.4f}"
    mean = "" if row["mean"] is None else f"{row['mean']:.4f}"
    rank = "" if row["rank"] is None else str(row["rank"])
    return [rank, row["title"], mean, interval, row["letters"], str(row["seeds"]), str(row["configurations"])]


def aligned(column: int, cell: str, width: int) -> str:
    """A cell of a text."""
    return cell.rjust(width) if column in RIGHT else cell.ljust(width)


def style(column: int) -> str:
    """How a cell of HTML stands."""
    return f' style="text-align: {"right" if column in RIGHT else "left"}"'
