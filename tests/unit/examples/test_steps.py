"""Steps that examples share."""

from __future__ import annotations

from pathlib import Path

from beholder.examples.contract import ExampleRun
from beholder.examples.steps import set_run, set_size, write_clips


def test_conditions_are_drawn_or_made_from_what_is_drawn(tmp_path: Path) -> None:
    run = ExampleRun(tmp_path, small=True)
    made = {"good": "natural", "bad": "natural resolution-36"}
    write_clips(run, tmp_path / "stimuli", made, 1)
    clips = {path.parent.name: path.read_bytes() for path in (tmp_path / "stimuli").rglob("*.mp4")}
    assert clips.keys() == made.keys()
    assert clips["good"] != clips["bad"]
    write_clips(run, tmp_path / "stimuli", made, 1)
    assert {path.parent.name: path.read_bytes() for path in (tmp_path / "stimuli").rglob("*.mp4")} == clips


def test_size_and_run_are_written_into_the_copied_study(tmp_path: Path) -> None:
    study = tmp_path / "study.yaml"
    study.write_text("name: one\ndesign:\n  votes: 30   # as many\n  trials: 10\n", "utf-8")
    set_size(study, votes=4)
    set_run(study, 2)
    set_run(study, 3)
    assert study.read_text("utf-8") == "name: one\ndesign:\n  votes: 4   # as many\n  trials: 10\nrun: 3\n"
