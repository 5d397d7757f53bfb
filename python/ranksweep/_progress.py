"""How a running command shows what it does: in a notebook, in a terminal, or as lines."""

import html
import shutil
import sys
import time
from typing import Any, Protocol

from ranksweep._program import Event

#: Seconds between two pictures of a display.
PAUSE = 0.1
WEIGHTY = {"WARN", "ERROR"}


class Display(Protocol):
    """Something that follows a command."""

    def hear(self, event: Event) -> None:
        """Takes an event."""

    def close(self) -> None:
        """Shows the last state."""


def display(progress: bool) -> Display:
    """The display that suits where this runs: none without `progress`."""
    if not progress:
        return Silent()
    if in_notebook():
        return Notebook()
    return Line() if sys.stderr.isatty() else Lines()


def in_notebook() -> bool:
    """Whether a kernel runs this."""
    if "IPython" not in sys.modules:
        return False
    from IPython.core.getipython import get_ipython

    return getattr(get_ipython(), "kernel", None) is not None


class Silent:
    """Shows nothing."""

    def hear(self, event: Event) -> None:
        """Takes an event."""

    def close(self) -> None:
        """Does nothing."""


class Lines:
    """A line on standard error for each event."""

    def hear(self, event: Event) -> None:
        """Writes the event."""
        print(text(event), file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing, as all is written."""


class Line:
    """One line of a terminal that is written anew; warnings stay above it."""

    def __init__(self) -> None:
        self.state = State()
        self.next = 0.0

    def hear(self, event: Event) -> None:
        """Writes the line, if the last one has stood for a moment."""
        self.state.hear(event)
        if event["level"] in WEIGHTY:
            self.write(text(event) + "\n")
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + PAUSE
            self.write(str(self.state)[: shutil.get_terminal_size().columns - 1])

    def close(self) -> None:
        """Removes the line."""
        self.write("")

    def write(self, line: str) -> None:
        """Puts a line in place of the last one."""
        print(f"\r\x1b[2K{line}", end="", file=sys.stderr, flush=True)


class Notebook:
    """One output of a notebook's cell that is updated; warnings stand below it."""

    def __init__(self) -> None:
        from IPython.display import display

        self.state = State()
        self.next = 0.0
        self.handle: Any = display(self.picture(), raw=True, display_id=True)  # type: ignore[no-untyped-call]

    def hear(self, event: Event) -> None:
        """Updates the output, if the last picture has stood for a moment."""
        self.state.hear(event)
        if event["level"] in WEIGHTY:
            print(text(event), file=sys.stderr)
        if time.monotonic() >= self.next:
            self.next = time.monotonic() + PAUSE
            self.handle.update(self.picture(), raw=True)

    def close(self) -> None:
        """Shows the last state."""
        self.handle.update(self.picture(), raw=True)

    def picture(self) -> dict[str, str]:
        """The state for each kind of reader."""
        state = self.state
        bar = f'<progress value="{len(state.ended)}" max="{state.trials}"></progress> ' if state.trials else ""
        return {"text/plain": str(state), "text/html": f"<div>{bar}{html.escape(str(state))}</div>"}


class State:
    """Where a command stands, from its events."""

    def __init__(self) -> None:
        self.trials = 0
        self.ended: set[str] = set()
        self.training = ""
        self.doing = "starting"

    def __str__(self) -> str:
        counted = f"{len(self.ended)} of {self.trials} trials: " if self.trials else ""
        return counted + self.doing

    def hear(self, event: Event) -> None:
        """Takes an event; what it does not know changes nothing."""
        match event:
            case {"message": "sweep", "trials": trials}:
                self.trials = trials
            case {"message": "prepared", "dataset": dataset, "step": step}:
                self.doing = f"prepared {dataset}, {step}"
            case {"message": "training", "trial": trial, "method": method, "dataset": dataset, "values": values}:
                self.ended.discard(trial)
                self.training = f"{method} on {dataset} {values}".rstrip()
                self.doing = self.training
            case {"message": "evaluated", "epoch": epoch, "epochs": epochs, "metric": metric, "value": value}:
                self.doing = f"{self.training}, epoch {epoch} of {epochs}, {metric} {value:.4f}"
            case {"message": "ranked", "method": method, "dataset": dataset}:
                self.doing = f"ranked {method} on {dataset}"
            case {"message": "tested differences", "done": done, "all": total}:
                self.doing = f"tested differences, {done} of {total}"
            case {"message": "found" | "trained" | "failed" | "out of time", "trial": trial}:
                self.ended.add(trial)
            case {"message": "memory"}:  # the last word of a command that has done its work
                self.doing = "done"


def text(event: Event) -> str:
    """An event as a line: `training trial=3a15… method=…`."""
    fields = " ".join(f"{name}={value}" for name, value in event.items() if name not in ("message", "level"))
    weight = f"{event['level'].lower()}: " if event["level"] in WEIGHTY else ""
    return f"{weight}{event['message']} {fields}".rstrip()
