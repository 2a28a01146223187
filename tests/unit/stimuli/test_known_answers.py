"""Stimuli with a known answer: what is written beside them, and what is missing."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StimuliError
from beholder.methods import find, load_study
from beholder.planning.message_trials import load_stimuli
from beholder.testing import write_study
from beholder.workflow.check import check
from support.gold_stimuli import ACR, GOLD
from support.training_studies import write_taught


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({**GOLD, "expected": ""}, "has role gold, and no answer is expected. Write in expected the right answer."),
        (
            {**GOLD, "role": "trap", "expected": ""},
            "has role trap, and no answer is expected. Write in expected which answer it asks for.",
        ),
        ({**GOLD, "expected": "fine"}, "expected is fine. Allowed: a number."),
    ],
)
def test_a_line_without_its_answer_is_told(tmp_path: Path, tiny: Path, row: dict[str, str], expected: str) -> None:
    study = load_study(write_taught(tmp_path, tiny, [row], checks={"gold": True}))
    with pytest.raises(StimuliError) as caught:
        load_stimuli(study, find("acr"))
    assert [str(problem) for problem in caught.value.problems] == [f"stimuli.csv:18  {expected}"]


def test_an_item_without_its_answer_is_told_under_its_key(tmp_path: Path, tiny: Path) -> None:
    items = [{"file": "stimuli/natural/greeting.mp4"}]
    study = load_study(write_study(tmp_path, tiny, **ACR, checks={"gold": {"items": items}}))
    with pytest.raises(StimuliError) as caught:
        load_stimuli(study, find("acr"))
    (problem,) = caught.value.problems
    assert str(problem).partition("  ")[2] == (
        "checks.gold.items.0 has role gold, and no answer is expected. "
        "Write in checks.gold.items.0.expected the right answer."
    )


def test_a_preset_that_wants_gold_says_so_where_there_is_none(tmp_path: Path, tiny: Path) -> None:
    keys = {**ACR, "preset": "p910", "training": False}
    expected = (
        "preset is p910, which wants a gold stimulus in each session, and no stimuli have the role gold. Give stimuli "
        "the role gold and an expected answer in a manifest, list files in checks.gold.items, or write "
        "checks: {gold: false}."
    )
    folder = tmp_path / "videos"
    result = check(write_study(folder, tiny, **keys))
    assert [str(problem).partition("  ")[2] for problem in result.warnings] == [expected]
    assert result.stages[-1].name == "rating (acr), 4 trials, 1 trap"
    silent = write_study(tmp_path / "silent", folder, **keys, checks={"gold": False})
    assert check(silent).warnings == ()
    gold = check(write_taught(tmp_path / "gold", folder, [GOLD], **keys, stimuli={"manifest": "stimuli.csv"}))
    assert gold.stages[-1].name == "rating (acr), 4 trials, 1 trap, 1 gold"
    assert gold.warnings == ()
