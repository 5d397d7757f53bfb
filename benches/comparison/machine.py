"""Runs one process on a machine that does nothing else, and says what it took."""

import json
import os
import subprocess
import tempfile
import time

# Cores that other processes may use while a run waits to start, and how long it waits at most.
QUIET, PATIENCE = 0.3, 300.0


def used_jiffies():
    """All that the machine computed so far: user, nice, system, irq, softirq."""
    with open("/proc/stat") as stat:
        fields = [int(field) for field in stat.readline().split()[1:]]
    return fields[0] + fields[1] + fields[2] + fields[5] + fields[6]


def busy_cores(seconds=1.0):
    """Cores in use by others while this process sleeps."""
    before = used_jiffies()
    time.sleep(seconds)
    return (used_jiffies() - before) / os.sysconf("SC_CLK_TCK") / seconds


def wait_until_quiet():
    """Returns the cores in use at the start; above QUIET when waiting did not help."""
    end = time.monotonic() + PATIENCE
    while (busy := busy_cores()) >= QUIET and time.monotonic() < end:
        time.sleep(2)
    return round(busy, 2)


def run(command, env=None, cwd=None):
    """One process to its end: its standard output, wall seconds and peak resident memory in MB, which is of this process alone.

    A process inherits the peak of the one that starts it, so this one imports little: its 20 MB are below every peak that is measured.
    """
    busy = wait_until_quiet()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as complaints:
        start = time.monotonic()
        process = subprocess.Popen(command, env=os.environ | (env or {}), cwd=cwd, stdin=subprocess.DEVNULL, stdout=out, stderr=complaints)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0), complaints.seek(0)
        if process.returncode != 0:
            raise RuntimeError(f"{' '.join(map(str, command))} ended with {process.returncode}:\n{complaints.read()[-2000:]}")
        return {"out": out.read(), "wall": wall, "peak_mb": usage.ru_maxrss / 1024, "busy": busy}


def last_json(text):
    """The last line of JSON of a process's output."""
    return json.loads([line for line in text.splitlines() if line.startswith("{")][-1])


def description():
    """The machine in words."""
    fields = {}
    with open("/proc/cpuinfo") as cpuinfo:
        for line in cpuinfo:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    widest = "AVX-512" if "avx512f" in fields.get("flags", "").split() else "AVX2"
    return f"{fields.get('model name', 'unknown')}, {os.cpu_count()} cores, {widest}, {pages / 2**30:.0f} GiB, Linux {os.uname().release}"
