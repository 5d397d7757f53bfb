"""The same tasks with AVX-512 and held to AVX2, ours and the peers', and their table.

Ours is held to AVX2 by a build of a copy of the sources in which no loop is compiled for AVX-512; the peers by the variables that PyTorch, oneDNN, MKL
and OpenBLAS read.
"""

import contextlib
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from statistics import median

from . import ours

LINES = ours.ROOT / "docs/performance_avx2.jsonl"
WIDEST, NARROW = "AVX-512", "AVX2"
ENVIRONMENT = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "OPENBLAS_CORETYPE": "Haswell",
}
# Tasks, and of the programs those that can be the fastest of them.
TASKS, PROGRAMS = r"mf|light-gcn|ranking", r"ranksweep|torch gemm, tuned|torch bmm, tuned|torch CSR, tuned|torch, tuned|implicit"
# How a loop of ours says for which instruction sets it is compiled, and what `pulp` is asked for.
TARGETS, FEATURE = re.compile(r'"x86_64\+avx512[^"]*", '), '"x86-v4"'


def build():
    """The programs held to AVX2; the sources are those of the last commit, and share what cargo has built with the checkout."""
    target, copy = ours.ROOT / "target", ours.ROOT / "target/avx2/sources"
    shutil.rmtree(copy, ignore_errors=True)
    copy.mkdir(parents=True)
    archive = subprocess.run(["git", "archive", "HEAD"], cwd=ours.ROOT, stdout=subprocess.PIPE, check=True)
    subprocess.run(["tar", "--extract"], cwd=copy, input=archive.stdout, check=True)
    changed = [without_avx512(path) for path in [*copy.rglob("*.rs"), copy / "Cargo.toml"]]
    print(f"{sum(changed)} loops and features of {ours.version()} held to AVX2", flush=True)
    ours.build(copy, {"CARGO_TARGET_DIR": str(target)})
    for program in (ours.BINARY, ours.RANKING):
        shutil.copy(program, target / "avx2")


def without_avx512(path):
    """How often a file named AVX-512."""
    text = path.read_text()
    changed = TARGETS.sub("", text).replace(FEATURE, "")
    path.write_text(changed)
    if "x86_64+avx512" in changed:
        raise RuntimeError(f"{path}: a loop is still compiled for AVX-512")
    return len(TARGETS.findall(text)) + text.count(FEATURE)


@contextlib.contextmanager
def held(instructions):
    """Programs that start inside have these instructions."""
    if instructions == WIDEST:
        yield
        return
    programs, before = (ours.BINARY, ours.RANKING), dict(os.environ)
    ours.BINARY, ours.RANKING = (ours.ROOT / "target/avx2" / Path(program).name for program in programs)
    os.environ.update(ENVIRONMENT)
    try:
        yield
    finally:
        ours.BINARY, ours.RANKING = programs
        os.environ.clear()
        os.environ.update(before)


def section(table, short, times):
    """The page's section; nothing before the first run."""
    if not LINES.exists():
        return ""
    of_machine, *lines = [json.loads(line) for line in LINES.read_text().splitlines()]
    seconds, rates, same = {}, {}, {}
    for line in lines:
        if "rates" in line:
            rates.setdefault(line["instructions"], []).append(line["rates"])
        else:
            seconds.setdefault((line["task"], line["who"]), {}).setdefault(line["instructions"], []).append(line["seconds"])
            same.setdefault((line["task"], line["who"]), set()).add(line.get("digest"))
    medians = {key: {of: median(each) for of, each in by.items()} for key, by in seconds.items()}
    rows = []
    for task in dict.fromkeys(task for task, _ in medians):
        mine, peers = medians[task, "ranksweep"], {who: by for (of, who), by in medians.items() if of == task and who != "ranksweep"}
        first = {of: min(peers, key=lambda who: peers[who][of]) for of in (WIDEST, NARROW)}
        figures = [cell for of in (WIDEST, NARROW) for cell in (short(mine[of]), f"{short(peers[first[of]][of])} ({first[of]})", times(peers[first[of]][of] / mine[of]))]
        lost = [times(mine[NARROW] / mine[WIDEST]), times(peers[first[NARROW]][NARROW] / peers[first[WIDEST]][WIDEST])]
        rows.append([task, *figures, *lost, "yes" if len(same[task, "ranksweep"]) == 1 else "**no**"])
    sgemm = " and ".join(f"{median(each['sgemm'] for each in rates[of]):.0f} with {of}" for of in (WIDEST, NARROW))
    header = ["task"]
    for of in (WIDEST, NARROW):
        header += [f"{of}: ranksweep, s", "fastest peer, s", "faster by"]
    return f"""
## AVX-512 and AVX2

The same tasks on the same machine with each instruction set, in turns, {of_machine["rounds"]} rounds, medians; made by `benches/compare --avx2` on
{of_machine["machine"]}, ranksweep {of_machine["commit"]}. Ours is held to AVX2 by a build whose loops are not compiled for AVX-512, the peers by the variables that
PyTorch, oneDNN, MKL and OpenBLAS read; PyTorch's sgemm reaches {sgemm} (GFLOP/s). A processor that has AVX2 alone may have other caches and clocks.

{table([*header, "ours with AVX2 takes", "theirs", "same bits"], rows)}"""
