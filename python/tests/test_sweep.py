"""A `Sweep` is the sweep file that a person would write, and the program alone says what is right in it."""

import re
from dataclasses import fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import yaml
from conftest import BY_HAND, small

import ranksweep


def test_a_sweep_has_the_plan_of_the_file_that_a_person_writes(tmp_path: Path) -> None:
    by_hand = tmp_path / "by-hand.yaml"
    by_hand.write_text(BY_HAND.format(storage=tmp_path))
    from_file, from_python = ranksweep.plan(by_hand), ranksweep.plan(small(tmp_path))
    assert from_python.content == from_file.content
    assert len(from_python.trials) == 7
    assert from_python.trials == from_file.trials
    assert "7 trials" in str(from_python)


def test_the_text_is_what_a_yaml_parser_reads(tmp_path: Path) -> None:
    text = small(tmp_path).to_yaml()
    assert yaml.safe_load(text) == small(tmp_path).content() | {"storage": str(tmp_path)}
    assert "      - {kind: ease, regularization: [50, 200]}\n" in text


@pytest.mark.parametrize(
    "value",
    ["yes", "null", "1e3", "-", "a: b", "# c", "${HOME}/x", 'say "hi"\\', "tab\tline\n", "\u2028\x85", "größe", "😀", "", "0x10", "~", "@x"],
)
def test_every_text_survives(value: str) -> None:
    dataset = ranksweep.Dataset(value, {"format": "movielens", "path": value, value: 1})
    text = ranksweep.Sweep(name=value, datasets=[dataset], grid=[]).to_yaml()
    assert yaml.safe_load(text) == {
        "name": value,
        "datasets": [{"name": value, "source": {"format": "movielens", "path": value, value: 1}}],
        "grid": [],
    }


def test_values_of_numpy_and_paths_are_plain(tmp_path: Path) -> None:
    sweep = small(tmp_path)
    sweep.seeds = np.arange(1, 3)  # type: ignore[assignment]
    sweep.grid = [{"backbones": [ranksweep.Backbone("ease", regularization=np.array([50.0, 200.0]))]}, sweep.grid[1]]
    sweep.training = ranksweep.Training(epochs=np.int64(10), batch_size=512, evaluate_every=5)
    assert set(ranksweep.plan(sweep).trials) < set(ranksweep.plan(small(tmp_path)).trials)


def test_printed_values_are_those_of_the_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("values.csv").write_text("place,dataset,method,metric,cutoff,value\nTable 1,toys,popularity,ndcg,20,0.1\n")
    sweep = small(tmp_path)
    for printed in ("values.csv", Path("values.csv"), {"values": "values.csv", "margin": "2%"}):
        sweep.printed = printed
        assert len(ranksweep.plan(sweep).trials) == 7
        assert sweep.printed is printed
    sweep.printed = "other.csv"
    with pytest.raises(ranksweep.Error, match=rf"printed: {tmp_path}/other\.csv"):
        ranksweep.plan(sweep)


DATES = [date(2024, 5, 1), datetime(2024, 5, 1), np.datetime64("2024-05-01", "ns"), *pandas.to_datetime(["2024-05-01"])]


@pytest.mark.parametrize("test", DATES)
def test_a_split_may_be_at_a_date(tmp_path: Path, test: object) -> None:
    (tmp_path / "log.csv").write_text("u,i,t\n" + "".join(f"{n % 7},{n % 11},2024-0{4 + n % 2}-02\n" for n in range(70)))
    source = ranksweep.Source("delimited", path=tmp_path / "log.csv", columns={"user": "u", "item": "i", "timestamp": "t"})
    sweep = small(tmp_path)
    sweep.datasets = [ranksweep.Dataset("log", source, split=ranksweep.Split("temporal", test=test))]
    sweep.grid = [ranksweep.Block([ranksweep.Backbone("popularity")])]
    [dataset] = ranksweep.prepare(sweep, progress=False)
    assert (dataset.manifest["train"], dataset.manifest["test"]) == (35, 35)


def test_names_of_settings_are_checked_here() -> None:
    assert ranksweep.Loss(kind="bpr") == ranksweep.Loss("bpr")
    assert ranksweep.Source(format="movielens", path="x") == ranksweep.Source("movielens", path="x")
    wrongs: list[tuple[type, dict[str, Any], str]] = [
        (ranksweep.Training, {"epoch": 3}, "Training has no `epoch`: did you mean `epochs`?"),
        (ranksweep.Dataset, {"name": "x", "source": {}, "kcore": 5}, "Dataset has no `kcore`: did you mean `k_core`?"),
        (ranksweep.Preparation, {"x": 1}, "Preparation has no `x`: it has engine, executors"),
    ]
    for section, settings, message in wrongs:
        with pytest.raises(TypeError, match=re.escape(message)):
            section(**settings)


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (float("nan"), "grid[0].backbones[0].dim is nan"),
        ({1, 2}, "grid[0].backbones[0].dim is of the type set"),
        ({1: 2}, "grid[0].backbones[0].dim has the key 1"),
        (b"16", "is of the type bytes"),
    ],
)
def test_what_a_file_cannot_hold_is_named(value: object, reason: str) -> None:
    sweep = ranksweep.Sweep(name="x", datasets=[], grid=[ranksweep.Block([ranksweep.Backbone("mf", dim=value)])])
    with pytest.raises((TypeError, ValueError), match=re.escape(reason)):
        sweep.to_yaml()


def test_errors_name_the_lines_of_the_text() -> None:
    sweep = ranksweep.Sweep(name="x", datasets=[], grid=[ranksweep.Block([ranksweep.Backbone("eese")])])
    sweep.datasets = [ranksweep.Dataset("d", {"format": "synthetic"})]
    with pytest.raises(ranksweep.Error, match=r"^sweep\.yaml:(\d+):.*unknown kind `eese`: did you mean `ease`\?") as caught:
        ranksweep.plan(sweep)
    line = int(str(caught.value).split(":")[1])
    assert "eese" in sweep.to_yaml().splitlines()[line - 1]


def with_key(section: str, key: str) -> dict[str, Any]:
    """A sweep file with a key that nothing has, in a section."""
    dataset: dict[str, Any] = {"name": "d", "source": {"format": "synthetic"}}
    block: dict[str, Any] = {"backbones": [{"kind": "popularity"}]}
    significance: dict[str, Any] = {}
    sections: dict[str, dict[str, Any]] = {
        "Sweep": {"name": "x", "datasets": [dataset], "grid": [block]},
        "Dataset": dataset,
        "Block": block,
        "Training": {},
        "Significance": significance,
        "Evaluation": {"significance": significance},
        "Preparation": {},
    }
    sections[section][key] = 1
    return sections["Sweep"] | {name.lower(): sections[name] for name in ("Training", "Evaluation", "Preparation")}


@pytest.mark.parametrize("name", ["Sweep", "Dataset", "Block", "Training", "Significance", "Evaluation", "Preparation"])
def test_a_section_has_the_keys_that_the_program_knows(name: str, tmp_path: Path) -> None:
    file = tmp_path / "sweep.yaml"
    file.write_text(yaml.safe_dump(with_key(name, "zzqqzz")))
    with pytest.raises(ranksweep.Error) as caught:
        ranksweep.plan(file)
    expected = re.findall(r"`(\w+)`", str(caught.value).partition("expected one of")[2])
    assert sorted(field.name for field in fields(getattr(ranksweep, name))) == sorted(expected)


def test_kinds_are_the_programs() -> None:
    assert "softmax-at-k" in ranksweep.kinds()
    assert "temperature" in ranksweep.kinds("softmax")
    with pytest.raises(ranksweep.Error, match="did you mean `softmax`"):
        ranksweep.kinds("sofmax")


def test_kinds_show_how_they_were_made() -> None:
    assert repr(ranksweep.Loss("softmax", temperature=[0.1, 0.2])) == "Loss('softmax', temperature=[0.1, 0.2])"
    assert ranksweep.Split("random", test=0.2) == {"kind": "random", "test": 0.2}
