"""All analyses of many ratings, computed in two processes or in one."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from support.crossed_ratings import crossed, write_csv

MANY = 5_000
CODE = """
import json, os, sys
from beholder.analysis import analyse

path, out = sys.argv[1:]
for name, cores in (("several", {0, 1}), ("one", {0})):
    os.sched_getaffinity = lambda process: cores
    told = []
    analyse(path, out=f"{out}/{name}", progress=lambda done, total: told.append((done, total)))
    print(json.dumps(told))
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are copied on Linux alone")
def test_on_one_core_the_tables_are_the_same_as_on_several(tmp_path: Path) -> None:
    table = crossed({"a": 1, "b": 1.5, "c": 4}, -(-MANY // 12), contents=4)
    chosen = np.random.default_rng(2).random(len(table)) < 0.02
    told = {"use": ~chosen, "reasons": np.where(chosen, "speed:too_fast", "")}
    table = table.assign(session=table["participant"], kind="score", **told)
    arguments = [sys.executable, "-c", CODE, str(write_csv(tmp_path, table)), str(tmp_path)]
    done = subprocess.run(arguments, capture_output=True, text=True, check=True)
    tables = {file.name: file.read_bytes() for file in (tmp_path / "one").iterdir()}
    assert {file.name: file.read_bytes() for file in (tmp_path / "several").iterdir()} == tables
    assert {"sensitivity.csv", "failures.csv", "criteria.csv", "models.csv", "mixed.csv"} <= tables.keys()
    for told in map(json.loads, done.stdout.splitlines()):
        assert told == [[number, len(told)] for number in range(1, len(told) + 1)], "each analysis is told once"
