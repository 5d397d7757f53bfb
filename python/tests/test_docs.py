"""The examples of docs/python.md and of the README run."""

import re
from pathlib import Path

import pytest
from conftest import small

import ranksweep

ROOT = Path(__file__).resolve().parents[2]


def examples(page: str) -> list[str]:
    """The blocks of Python of a page; of the README, those that use this package."""
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text(), re.M | re.S)
    return [block for block in blocks if page != "README.md" or "import ranksweep" in block]


def test_the_examples_of_the_page_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = examples("docs/python.md")
    exec(compile("\n".join(blocks), "docs/python.md", "exec"), {})
    out = capsys.readouterr().out
    assert "4 methods, 12 trials" in out
    assert len(blocks) == 8
    assert ranksweep.plan("toys.yaml").trials


def test_the_example_of_the_readme_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "configs").mkdir()
    small(tmp_path).write(tmp_path / "configs" / "quickstart.yaml")  # the example's own takes long
    [block] = examples("README.md")
    exec(compile(block, "README.md", "exec"), {})
    assert "ease" in capsys.readouterr().out
