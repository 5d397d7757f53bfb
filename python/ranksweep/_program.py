"""The program `ranksweep`: where it is, and how a command of it is run."""

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import tempfile
import threading
from collections.abc import Callable, Iterable
from typing import Any

#: What a notebook's kernel or a terminal sets, so that programs colour what they write also where nobody sees it.
COLOURS = ("CLICOLOR", "CLICOLOR_FORCE", "FORCE_COLOR")

#: What the program says of its work: the fields of an event of its log, of which `message` names the event and `level` its weight.
Event = dict[str, Any]


class Error(Exception):
    """What the program says is wrong, in its own words, or a result that is not there or not whole.

    `code` is the program's exit code: 1 when trials failed (the rest is done) or data, storage or the machine did, 2 when the sweep file or an
    argument is wrong, 75 when a signal stopped it; negative for the signal that killed it, and None where no program had run. `output` is what
    it wrote to standard output.
    """

    def __init__(self, message: str, code: int | None = None, output: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.output = output


def find() -> str:
    """The program's path: that in `RANKSWEEP_BINARY`, else the one beside this interpreter, else the first on `PATH`."""
    given = os.environ.get("RANKSWEEP_BINARY")
    if given:
        if not os.access(given, os.X_OK) or os.path.isdir(given):
            raise Error(f"RANKSWEEP_BINARY is `{given}`, which is no program")
        return os.path.abspath(given)
    beside = [sysconfig.get_path("scripts"), sysconfig.get_path("scripts", "posix_user"), os.path.dirname(sys.executable)]
    found = shutil.which("ranksweep", path=os.pathsep.join(beside)) or shutil.which("ranksweep")
    if found is None:
        folders = ", ".join(dict.fromkeys(beside))
        raise Error(f"there is no program `ranksweep` in {folders} or on PATH; install the wheel, or set RANKSWEEP_BINARY")
    return found


def call(arguments: Iterable[str], listen: Callable[[Event], None]) -> str:
    """What a command writes to standard output. `listen` is told each event of its log.

    An exception of `listen`, or Ctrl-C, interrupts the program and waits until it has left its state; the same command then goes on. A second
    Ctrl-C ends it at once. In another thread than the main one Python raises nothing on Ctrl-C: there it comes to the program itself, and this
    raises `Error` with the code 75.

    Raises `Error` when the command fails.
    """
    # Its standard input is open for as long as this process lives: a notebook's kernel may be killed at any moment.
    command = [find(), *arguments, "--log-format", "json", "--stop-with-stdin"]
    environment = {name: value for name, value in os.environ.items() if name not in ("RUST_LOG", *COLOURS)}
    last = LastWords()
    # In a session of its own, so that an interrupt of the terminal or the notebook comes once, and from here; where it would not come here,
    # in the same one.
    is_interrupted_here = threading.current_thread() is threading.main_thread()
    with (
        tempfile.TemporaryFile() as output,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=output,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            errors="replace",
            env=environment,
            start_new_session=is_interrupted_here,
        ) as process,
    ):
        assert process.stderr is not None
        try:
            for line in process.stderr:
                event = parsed(line)
                last.hear(event, line)
                if event is not None:
                    listen(event)
        except BaseException:
            stop(process)
            raise
        code = process.wait()
        output.seek(0)
        text = output.read().decode()
        if code != 0:
            raise Error(last.words(code), code, text)
        return text


def parsed(line: str) -> Event | None:
    """The event of a line; None where the line is none."""
    try:
        record = json.loads(line)
        return {**record["fields"], "level": record["level"]}
    except (ValueError, LookupError, TypeError):
        return None


def stop(process: subprocess.Popen[str]) -> None:
    """Interrupts the program and waits for its end; an interrupt while waiting ends it at once."""
    process.send_signal(signal.SIGINT)
    try:
        process.communicate()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)
        process.communicate()
        raise


class LastWords:
    """Why the program has failed: what it said last."""

    def __init__(self) -> None:
        self.error = ""
        self.event = ""
        self.lines: list[str] = []

    def hear(self, event: Event | None, line: str) -> None:
        """Takes a line, and the event that it is."""
        if event is None:
            self.lines = [*self.lines[-19:], line.rstrip()]
        elif event["level"] == "ERROR":
            self.error = str(event["message"])
        else:
            self.event = str(event["message"])

    def words(self, code: int) -> str:
        """The reason, of a program that has ended with this code."""
        if code < 0:
            return f"the program was killed by {signal.Signals(-code).name}"
        return self.error or "\n".join(self.lines).strip().removeprefix("error: ") or self.event or f"the program ended with exit code {code}"
