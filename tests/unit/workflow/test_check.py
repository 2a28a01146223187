"""`check`: what a session will be like."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import beholder
from beholder.checks.page_registry import page_checks
from beholder.testing import write_study
from support.commands import command
from support.data import ROOT


def test_check_prints_what_a_participant_goes_through(study: Path) -> None:
    said = command("check", cwd=study.parent)
    assert said.returncode == 0, said.stderr
    for part in ("A tiny study", "3 trials", "min", "16 stimuli", "4 to 5 ratings", "No problems found"):
        assert part in said.stdout
    resolved = command("check", "--resolved", cwd=study.parent)
    assert yaml.safe_load(resolved.stdout)["playback"]["watch"] == "whole"


def test_check_counts_its_warnings_at_the_end(study: Path) -> None:
    written = yaml.safe_load(study.read_text("utf-8"))
    written["conditions"] = ["natural", "smooth", "jerky"]
    written["recruit"] = {"reward": "1.50 GBP"}
    study.write_text(yaml.safe_dump(written), "utf-8")
    said = command("check", cwd=study.parent)
    assert said.returncode == 0, said.stderr
    assert "\n6 sessions at 1.50 GBP earn 9.00 GBP, 45.00 GBP an hour at about 2 minutes; fees of a" in said.stdout
    assert said.stderr == ("Warning: condition frozen  is not listed in conditions, so its 4 stimuli are left out.\n")
    assert said.stdout.endswith("\nNo errors, 1 warning.\n")


def test_check_tells_the_stages_in_the_order_of_a_visit(tmp_path: Path, tiny: Path) -> None:
    before = [{"id": "field", "text": "Your field", "type": "text"}]
    after = [{"id": "age", "text": "Your age", "type": "number"}, {"id": "remarks", "text": "Remarks", "type": "text"}]
    found = beholder.check(write_study(tmp_path / "study", tiny, before=before, after=after))
    names = [stage.name.partition(" (")[0] for stage in found.stages]
    assert names == ["consent and instructions", "1 question before", "rating", "2 questions after"]


def test_check_tells_how_long_and_how_many_screens_it_takes_to_the_first_rating(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny, method="acr", qualification={"colour": True, "brightness": True})
    found = beholder.check(study)
    names = [stage.name.partition(" (")[0] for stage in found.stages]
    assert names == ["consent and instructions", "qualification, 1 check", "set-up, 2 checks", "rating"]
    checks = page_checks(found.study)
    minutes = [stage.minutes for stage in found.stages]
    assert minutes[1] + minutes[2] == pytest.approx(sum(check.seconds for check in checks) / 60)
    assert found.minutes_before == pytest.approx(sum(minutes[:3]))
    assert found.screens_before == 2 + sum(check.screens for check in checks)
    said = command("check", cwd=study.parent)
    assert re.search(r"^About \d min( [1-5]0 s)? and 7 screens before the first rating\.$", said.stdout, re.MULTILINE)


def test_a_first_visit_by_p910_takes_under_five_minutes_before_training(tmp_path: Path, tiny: Path) -> None:
    """By the times that the checks say they take, and 238 words a minute of our own instructions."""
    found = beholder.check(write_study(tmp_path / "study", tiny, method="acr", preset="p910", training=False))
    assert [stage.name.partition(",")[0] for stage in found.stages] == [
        "consent and instructions", "device", "qualification", "set-up", "rating (acr)",
    ]  # fmt: skip
    assert found.minutes_before < 5
    docs = (ROOT / "docs" / "qualification.md").read_text("utf-8")
    seconds = 10 * round(6 * found.minutes_before)
    assert f"has {found.screens_before} screens up to the training" in docs
    assert f"take about {seconds // 60} min {seconds % 60} s" in " ".join(docs.split())
