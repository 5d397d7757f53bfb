"""The runs of the peers: scripts of the folder that `--peers` names, in an interpreter that has their pinned packages."""

import subprocess
from pathlib import Path

from . import machine

THREADS = {"OMP_NUM_THREADS": "2", "OMP_WAIT_POLICY": "PASSIVE", "GOMP_SPINCOUNT": "0", "CUDA_VISIBLE_DEVICES": ""}
# What `run_all.sh` sets for TUNED_MALLOC: glibc keeps large blocks instead of taking them afresh at every step.
TUNED = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000", "MALLOC_TOP_PAD_": "268435456"}


def interpreter(given, peers, target):
    """The interpreter with the peers' packages: the given one, or that of an environment that is made once."""
    if given:
        return given
    python = target / "venv-peers/bin/python"
    if not python.exists():
        print(f"installing {peers / 'requirements.txt'}", flush=True)
        subprocess.run(["python3.11", "-m", "venv", str(target / "venv-peers")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "--requirement", str(peers / "requirements.txt")], check=True)
    return str(python)


class Peers:
    """The scripts and how they are run."""

    def __init__(self, folder, python, data):
        self.folder, self.python, self.data = folder, python, data

    def run(self, script, *arguments, tuned=False):
        """One script, of the peers' folder or by its whole path; its JSON lines."""
        command = [self.python, str(self.folder / script), *map(str, arguments)]
        found = {"PYTHONPATH": str(self.folder), "PYTHONDONTWRITEBYTECODE": "1"}
        ran = machine.run(command, THREADS | found | (TUNED if tuned else {}), cwd=self.folder)
        said = machine.last_json(ran["out"])
        return ran | {"seconds": said["seconds"], "peak_mb": said["peak_rss_mb"], "detail": said["detail"] | {"peer": said["peer"]}}

    def dataset(self, name):
        return ("--data", self.data / name)

    def floors(self):
        """Rates of this machine: sgemm of a ranking block and of a large square, copying."""
        ran = machine.run([self.python, str(self.folder / "machine_floor.py")], THREADS, cwd=self.folder)
        lines = [machine.last_json(line) for line in ran["out"].splitlines() if line.startswith("{")]
        products = [(line["dataset"], line["detail"]["gflop_per_s"]) for line in lines if line["task"] == "sgemm"]
        return {
            "sgemm_thin": max(rate for shape, rate in products if shape.startswith("[1024,64]")),
            "sgemm": max(rate for _, rate in products),
            "copy": max(line["detail"]["gb_per_s_read_plus_write"] for line in lines if line["task"].startswith("copy")),
        }

    def csv(self, target, millions):
        """The synthetic CSV of `k_core.py`, made once."""
        path = Path(target) / f"zipf_{millions}000000.csv"
        if not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            rows = ("--rows", f"{millions}000000")
            subprocess.run([self.python, str(self.folder / "k_core.py"), "--impl", "generate", *rows, "--csv", str(path)], check=True)
        return path
