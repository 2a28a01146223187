"""`preregister` as a function and as a command, from the plan to the report that names what was done otherwise."""

from __future__ import annotations

import json
from pathlib import Path

import beholder
from beholder.testing import write_study
from support.commands import command


def test_a_rehearsed_study_is_held_against_its_plan(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, analyse={"contrasts": [["natural", "frozen"]]})
    printed = command("preregister", "--json", cwd=study.parent)
    assert printed.returncode == 0, printed.stderr
    made = json.loads(printed.stdout)
    assert (made["version"], made["is_late"], made["people"]) == (1, False, 0)
    shown = command("preregister", cwd=study.parent).stdout
    assert "nothing new." in shown
    assert f"To read, and to paste: {study.parent / 'preregistration' / 'index.html'}" in shown
    beholder.simulate(study, participants=6)
    assert beholder.clean(study).population == "robots"
    account = json.loads((study.parent / "clean" / "account.json").read_text("utf-8"))["preregistration"]
    assert account["versions"][0]["digest"] == made["digest"]
    assert [(row["is_same"], row["has_same_stimuli"], row["changes"]) for row in account["served"]] == [
        (True, True, [])
    ]
    assert account["first_at"] == "", "robots are no people"
