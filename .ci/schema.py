#!/usr/bin/env python3
"""Whether the JSON Schema of sweep files is one, and what it says of sweep files, by an implementation that is not ours.

    python3 .ci/schema.py target/debug/ranksweep

Every sweep file of configs/ must be accepted, and each of them with a slip in it refused.
"""

import json
import subprocess
import sys
from pathlib import Path

from jsonschema import Draft7Validator
from ruamel.yaml import YAML

ROOT = Path(__file__).resolve().parents[1]
SLIPS = {
    "an unknown key": lambda sweep: sweep | {"trainings": {}},
    "no grid": lambda sweep: {key: value for key, value in sweep.items() if key != "grid"},
    "a kind that is none": lambda sweep: with_backbone(sweep, {"kind": "fm"}),
    "a key of another kind": lambda sweep: with_backbone(sweep, {"kind": "popularity", "dim": 64}),
    "a key that is missing": lambda sweep: with_backbone(sweep, {"kind": "mf"}),
    "a word for a number": lambda sweep: with_backbone(sweep, {"kind": "mf", "dim": "large"}),
    "an empty list to tune": lambda sweep: with_backbone(sweep, {"kind": "mf", "dim": []}),
    "a metric without its cutoff": lambda sweep: sweep | {"training": {"select_by": "ndcg"}},
}


def with_backbone(sweep, backbone):
    return sweep | {"grid": [sweep["grid"][0] | {"backbones": [backbone]}]}


def main(binary):
    schema = json.loads(subprocess.run([binary, "schema"], stdout=subprocess.PIPE, check=True).stdout)
    Draft7Validator.check_schema(schema)
    validator = Draft7Validator(schema)
    files = sorted((ROOT / "configs").rglob("*.yaml"))
    wrong = []
    for file in files:
        sweep = YAML(typ="safe", pure=True).load(file.read_text())
        name = file.relative_to(ROOT)
        wrong += [f"{name} is refused: {error.json_path}: {error.message[:200]}" for error in validator.iter_errors(sweep)]
        wrong += [f"{name} is accepted with {slip}" for slip, change in SLIPS.items() if validator.is_valid(change(sweep))]
    if wrong:
        sys.exit("\n".join(["schema:", *wrong]))
    print(f"{len(files)} sweep files accepted, {len(files) * len(SLIPS)} with a slip refused")


if __name__ == "__main__":
    main(sys.argv[1])
