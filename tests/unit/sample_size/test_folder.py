"""`beholder power`: its tables, page and words, a pilot as its source, and what cannot be asked."""

from __future__ import annotations

from pathlib import Path

import pytest

import beholder
from beholder.analysis.result import records
from beholder.simulation.pilot import from_pilot
from support.power_worlds import write_study


@pytest.mark.variant
def test_one_content_is_fixed(tmp_path: Path) -> None:
    """What conditions do to a single content is how good they are: there is no other that it could differ from."""
    path = write_study(tmp_path, design={"participants": 6, "trials": 3, "contents": "free"})
    for name in "bcd":
        for text in tmp_path.rglob(f"{name}.txt"):
            text.unlink()
    result = beholder.power(path, participants=[10], repetitions=60, methods=[])
    assert result.sizes["false_alarms_low"].tolist()[0] < 0.05
    assert result.notes["contents"] == "fixed"
    assert "There is one content: what is found holds for it, and says nothing about others." in result.words


def test_a_pilot_says_who_takes_part_and_how_good_conditions_are(tmp_path: Path) -> None:
    path = write_study(tmp_path)
    beholder.simulate(path, participants=6, people="bias:0.05,inconsistency:0.05", seed=2)
    result = beholder.power(path, source=path, participants=[6], repetitions=20, methods=[])
    pilot = from_pilot(path)
    pairs = result.power[result.power["target"] == "contrast"]
    for row in records(pairs):
        apart = 4 * (pilot.means[row["condition"]] - pilot.means[row["other_condition"]])
        assert row["difference"] == pytest.approx(apart)
    assert len(pairs) == 3
    assert "pilot tiny, robots" in " ".join(result.notes["notes"])


@pytest.mark.variant
def test_contents_are_as_the_claim_of_the_study_has_them(tmp_path: Path) -> None:
    path = write_study(tmp_path, analyse={"claim": "these"})
    result = beholder.power(path, participants=[6], repetitions=20, methods=[])
    assert result.notes["contents"] == "fixed"
