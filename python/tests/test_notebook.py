"""The notebook of the documentation runs, on ratings that it makes up and on MovieLens."""

import os
from pathlib import Path

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel
from nbclient import NotebookClient
from test_commands import SCRIPT, running

ROOT = Path(__file__).resolve().parents[2]
MOVIELENS = Path(os.environ.get("RANKSWEEP_DATA", ROOT.parent / "shared" / "data")) / "ml-latest-small" / "ratings.csv.gz"


def outputs(folder: Path) -> list[list[nbformat.NotebookNode]]:
    """What the cells with code show, executed in a folder."""
    book = nbformat.read(ROOT / "docs" / "notebooks" / "quickstart.ipynb", as_version=4)  # type: ignore[no-untyped-call]
    NotebookClient(book, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(folder)}}).execute()
    return [cell.outputs for cell in book.cells if cell.cell_type == "code"]


def check(folder: Path) -> None:
    _, sweep, plan, run, own, pairs, report = outputs(folder)
    assert sweep[0].text.startswith("name: movielens\n")
    assert "9 trials" in plan[0].text
    progress, leaderboard = run
    assert progress.data["text/plain"] == "9 of 9 trials: done"
    assert progress.data["text/html"].startswith('<div><progress value="9" max="9">')
    assert leaderboard.data["text/html"].count("<tr>") == 1 + 4
    board = own[-1].data["text/html"]
    assert board.count("<tr>") == 1 + 6
    assert "external(implicit als)" in board
    assert "external(svd)" in board
    assert "p_adjusted" in pairs[0].data["text/html"]
    assert report[0].data["text/html"].startswith("<iframe srcdoc=")
    assert (folder / "runs" / "sweeps" / "movielens" / "report.html").is_file()


def test_the_notebook_runs_on_made_up_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("RATINGS", raising=False)
    check(tmp_path)


@pytest.mark.skipif(not MOVIELENS.is_file(), reason=f"there is no {MOVIELENS}")
def test_the_notebook_runs_on_movielens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RATINGS", str(MOVIELENS))
    check(tmp_path)
    assert not (tmp_path / "ratings.csv").exists()


def test_the_stop_button_lets_the_program_leave_its_state(tmp_path: Path) -> None:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        request = client.execute(SCRIPT.format(path=[str(Path(__file__).parent)], storage=str(tmp_path)))
        while "epoch " not in str(client.get_iopub_msg(timeout=60)["content"].get("data")):
            pass
        manager.interrupt_kernel()
        while (reply := client.get_shell_msg(timeout=60))["parent_header"].get("msg_id") != request:
            pass
        assert reply["content"]["ename"] == "KeyboardInterrupt", reply
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    assert list(tmp_path.glob("trials/*/resume/*"))
    assert not running(str(tmp_path))
