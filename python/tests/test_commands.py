"""Commands give the program's results, and its own words where it fails."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import small

import ranksweep
from ranksweep import _program, _progress


def test_run_gives_the_results_of_the_program(results: ranksweep.Results, storage: Path, tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    small(Path("elsewhere")).write(file)
    again = ranksweep.run(file, storage=tmp_path / "runs", threads=1, memory="1GiB", progress=False)
    assert again.folder == tmp_path / "runs" / "sweeps" / "small"
    for name in ["leaderboard", "metrics", "significance", "tuning", "variance_components", "per_user"]:
        assert getattr(again, name)("arrow").equals(getattr(results, name)("arrow")), name


def test_a_sweep_may_be_a_mapping(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sweep = small(storage)
    of_dicts = sweep.content()
    of_classes = of_dicts | {"datasets": sweep.datasets, "grid": sweep.grid, "training": sweep.training}
    trials = [ranksweep.plan(asked).trials for asked in (sweep, of_dicts, of_classes)]
    assert trials[0] == trials[1] == trials[2]
    monkeypatch.setenv("HOME", str(storage.parent))
    sweep.write("~/home.yaml")
    assert ranksweep.plan("~/home.yaml").trials == trials[0]


def test_prepare_gives_the_datasets(storage: Path) -> None:
    [dataset] = ranksweep.prepare(small(storage), progress=False)
    assert dataset.folder.parent == storage / "datasets"
    assert dataset.train("arrow").num_rows == dataset.manifest["train"]


def test_datasets_that_hold_users_out_have_what_is_known_of_them(tmp_path: Path) -> None:
    sweep = small(tmp_path)
    source = ranksweep.Source("synthetic", users=300, items=200, interactions=6000)
    sweep.datasets = [ranksweep.Dataset("toys", source, split=ranksweep.Split("users", seed=1))]
    [dataset] = ranksweep.prepare(sweep, progress=False)
    assert dataset.fold_in("arrow").num_rows == dataset.manifest["fold_in"] > 0


def test_evaluate_ranks_what_is_trained(tmp_path: Path) -> None:
    sweep = small(tmp_path)
    with pytest.raises(ranksweep.Error, match="7 of 7 trials are not trained") as caught:
        ranksweep.evaluate(sweep, progress=False)
    assert caught.value.code == 1
    results = ranksweep.run(sweep, progress=False)
    with pytest.raises(ranksweep.Error, match="there is no such table"):
        results.all_trials()
    ranked = ranksweep.evaluate(sweep, all=True, progress=False)
    assert len(ranked.all_trials("arrow")) == 7 * 11
    assert ranked.report().path.is_file()


def test_results_on_an_object_store_are_known_by_their_url(tmp_path: Path) -> None:
    results = ranksweep.run(small(tmp_path), storage="memory:///python", progress=False)
    assert results.url == "memory:///python/sweeps/small"
    assert str(results) == repr(results) == "Results(memory:///python/sweeps/small)"
    with pytest.raises(ranksweep.Error, match="memory:///python/sweeps/small: the folder is not on this machine; copy it"):
        results.leaderboard()
    (dataset,) = ranksweep.prepare(small(tmp_path), storage="memory:///python", progress=False)
    assert dataset.url.startswith("memory:///python/datasets/toys-")


def test_a_wrong_file_is_said_in_the_programs_words(tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text("name: x\ndatasetz: []\n")
    message = rf"^{file}:2:1: datasetz: unknown key `datasetz`: did you mean `datasets`\?"
    for command in (ranksweep.run, ranksweep.plan, ranksweep.prepare, ranksweep.evaluate):
        with pytest.raises(ranksweep.Error, match=message) as caught:
            command(file)
        assert caught.value.code == 2


def test_a_sweep_made_here_is_named_without_the_folder_that_it_is_written_to(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    content = small(tmp_path).content() | {"metrics": ["ndcg"]}
    with pytest.raises(ranksweep.Error, match=r"^sweep\.yaml:\d+:1: metrics: unknown key"):
        ranksweep.run(content)
    assert "error: sweep.yaml:" in capsys.readouterr().err


def test_texts_have_no_colours_in_a_notebook(storage: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("FORCE_COLOR", "CLICOLOR", "CLICOLOR_FORCE"):  # as ipykernel sets them
        monkeypatch.setenv(name, "1")
    assert ranksweep.kinds("bpr").startswith("loss bpr: ")
    with pytest.raises(ranksweep.Error, match=r"^invalid value '0' for '--threads <N>'"):
        ranksweep.run(small(storage), threads=0, progress=False)


def test_variables_stand_in_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RUNS", str(tmp_path / "runs"))
    [dataset] = ranksweep.prepare(small(Path("elsewhere")), storage="${RUNS}/a", progress=False)
    assert dataset.folder.parent == tmp_path / "runs" / "a" / "datasets"
    with pytest.raises(ranksweep.Error, match=r"\$\{NO_SUCH\}/a: the environment variable NO_SUCH is not set"):
        ranksweep.prepare(small(tmp_path), storage="${NO_SUCH}/a", progress=False)
    with pytest.raises(ranksweep.Error, match=r"runs/a/sweeps/small/tables.json does not exist"):
        ranksweep.compare(small(tmp_path), storage="${RUNS}/a")
    with pytest.raises(ranksweep.Error, match=r"^sweep-0.yaml: "):
        ranksweep.compare(small(tmp_path / "none"))


def test_a_wrong_flag_is_said_in_the_programs_words(storage: Path) -> None:
    with pytest.raises(ranksweep.Error, match="invalid value '0' for '--threads <N>'") as caught:
        ranksweep.run(small(storage), threads=0, progress=False)
    assert caught.value.code == 2


def test_failed_trials_leave_the_results_of_the_others(tmp_path: Path) -> None:
    sweep = small(tmp_path)
    learned = sweep.grid[1]
    assert isinstance(learned, ranksweep.Block)
    learned.optimizer = ranksweep.Optimizer("adam", learning_rate=1e38)
    with pytest.raises(ranksweep.TrialsFailed, match=r"trials failed; everything else was done; the first is .*mf-16") as caught:
        ranksweep.run(sweep, progress=False)
    results = caught.value.results
    trials = results.trials()
    failed = trials[trials.status == "failed"]
    assert set(failed.backbone) == {"mf-16"}
    assert set(trials[trials.status == "done"].backbone) == {"popularity", "ease"}
    assert failed.error.str.endswith("a smaller learning rate or a larger temperature may help").all()
    with pytest.raises(ranksweep.Error, match="the trial has no checkpoint"):
        _ = results.trial(failed.trial.iloc[0]).per_user
    partial = ranksweep.evaluate(sweep, partial=True, progress=False)
    assert partial.trials("arrow").equals(results.trials("arrow"))


def long(storage: Path) -> ranksweep.Sweep:
    """A sweep that would train for hours."""
    sweep = small(storage)
    sweep.training = ranksweep.Training(epochs=1_000_000, batch_size=512, evaluate_every=5)
    return sweep


def test_an_interrupt_lets_the_program_leave_its_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Interrupts(_progress.Silent):
        def hear(self, event: _program.Event) -> None:
            if event["message"] == "evaluated":
                raise KeyboardInterrupt

    monkeypatch.setattr("ranksweep.commands.display", lambda progress: Interrupts())
    with pytest.raises(KeyboardInterrupt):
        ranksweep.run(long(tmp_path))
    [resume] = tmp_path.glob("trials/*/resume")
    assert list(resume.iterdir()), "the trial that was stopped left no state"


SCRIPT = """
import sys
sys.path[:0] = {path!r}
from pathlib import Path
import ranksweep, test_commands
ranksweep.run(test_commands.long(Path({storage!r})))
"""


IN_A_THREAD = """
import asyncio, sys
sys.path[:0] = {path!r}
from pathlib import Path
import ranksweep, test_commands
asyncio.run(asyncio.to_thread(ranksweep.run, test_commands.long(Path({storage!r}))))
"""


@pytest.mark.parametrize("script", [SCRIPT, IN_A_THREAD], ids=["here", "in a thread"])
def test_ctrl_c_reaches_the_program_once(tmp_path: Path, script: str) -> None:
    script = script.format(path=[str(Path(__file__).parent)], storage=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        before = until(process.stderr.readline, "evaluated epoch=")
        os.killpg(process.pid, signal.SIGINT)
        after = process.stderr.read()
    assert "KeyboardInterrupt" in after, before + after
    assert list(tmp_path.glob("trials/*/resume/*"))
    assert not running(str(tmp_path))


def test_the_program_goes_with_a_python_that_is_killed(tmp_path: Path) -> None:
    script = SCRIPT.format(path=[str(Path(__file__).parent)], storage=str(tmp_path))
    with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        assert process.stderr is not None
        until(process.stderr.readline, "evaluated epoch=")
        process.kill()
    deadline = time.monotonic() + 60
    while running(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not running(str(tmp_path)), "the program trains on without anybody who waits for it"
    assert list(tmp_path.glob("trials/*/resume/*"))


def until(readline: Callable[[], str], wanted: str) -> str:
    """All lines up to the first with some words."""
    lines = ""
    while line := readline():
        lines += line
        if wanted in line:
            return lines
    raise AssertionError(f"no line has {wanted}: {lines}")


def running(words: str) -> bool:
    """Whether any process has these words in its command line."""
    lines = [file.read_bytes() for file in Path("/proc").glob("[0-9]*/cmdline") if file.parent.name != str(os.getpid())]
    return any(words.encode() in line for line in lines)


def test_a_killed_program_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[str]] = []
    popen = subprocess.Popen

    def start(*arguments: object, **options: object) -> subprocess.Popen[str]:
        started.append(popen(*arguments, **options))  # type: ignore[call-overload]
        return started[0]

    class Kills(_progress.Silent):
        def hear(self, event: _program.Event) -> None:
            if event["message"] == "evaluated":
                started[0].kill()

    monkeypatch.setattr("subprocess.Popen", start)
    monkeypatch.setattr("ranksweep.commands.display", lambda progress: Kills())
    with pytest.raises(ranksweep.Error, match="the program was killed by SIGKILL") as caught:
        ranksweep.run(long(tmp_path))
    assert caught.value.code == -signal.SIGKILL


def test_a_command_runs_in_any_thread(storage: Path) -> None:
    found: list[ranksweep.Results] = []
    thread = threading.Thread(target=lambda: found.append(ranksweep.run(small(storage), progress=False)))
    thread.start()
    thread.join()
    assert found[0].folder == storage / "sweeps" / "small"


def test_lines_say_what_is_done(storage: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ranksweep.run(small(storage))
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("sweep sweep=small methods=3 trials=7 select_by=ndcg@20")
    assert sum(line.startswith("found trial=") for line in lines) == 7
    assert any(line.startswith("ranked trial=") for line in lines)


def test_a_terminal_has_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    line = _progress.Line()
    training: _program.Event = {"message": "training", "trial": "a", "method": "mf", "dataset": "toys", "values": "", "level": "INFO"}
    evaluated: _program.Event = {"message": "evaluated", "epoch": 5, "epochs": 10, "metric": "ndcg@20", "value": 0.25, "level": "INFO"}
    failed: _program.Event = {"message": "failed", "trial": "a", "error": "NaN", "level": "WARN"}
    for event in [{"message": "sweep", "trials": 2, "level": "INFO"}, training, evaluated, failed]:
        now[0] += 1
        line.hear(event)
    line.close()
    assert capsys.readouterr().err == (
        "\r\x1b[2K0 of 2 trials: starting\r\x1b[2K0 of 2 trials: mf on toys"
        "\r\x1b[2K0 of 2 trials: mf on toys, epoch 5 of 10, ndcg@20 0.2500"
        "\r\x1b[2Kwarn: failed trial=a error=NaN\n\r\x1b[2K1 of 2 trials: mf on toys, epoch 5 of 10, ndcg@20 0.2500\r\x1b[2K"
    )


def test_the_program_is_found_in_the_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program = _program.find()
    monkeypatch.delenv("RANKSWEEP_BINARY", raising=False)
    monkeypatch.setattr("sysconfig.get_path", lambda *names: str(tmp_path / "scripts"))
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bin" / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "on-path"))
    with pytest.raises(ranksweep.Error, match=r"there is no program `ranksweep` in .*scripts"):
        _program.find()
    for folder in ["on-path", "bin", "scripts"]:  # each goes before the last one
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "ranksweep").symlink_to(program)
        assert _program.find() == str(tmp_path / folder / "ranksweep")
    monkeypatch.setenv("RANKSWEEP_BINARY", str(tmp_path))
    with pytest.raises(ranksweep.Error, match=r"RANKSWEEP_BINARY is `.*`, which is no program"):
        _program.find()


def test_the_module_is_the_program() -> None:
    version = subprocess.run([sys.executable, "-m", "ranksweep", "--version"], check=True, capture_output=True, text=True).stdout
    assert version.startswith("ranksweep ")
