"""Spans of time, paths and faults: what every part of a study uses."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pydantic import ValidationError

from beholder.study.parts import Fault, FaultsError, StudyPart, duration, path_fault, raise_faults


@pytest.mark.parametrize(
    ("text", "seconds"), [("45 s", 45), ("30 min", 1800), ("12h", 12 * 3600), ("30 d", 30 * 24 * 3600)]
)
def test_a_span_of_time_is_a_number_and_a_unit(text: str, seconds: int) -> None:
    assert duration(text) == timedelta(seconds=seconds)


@pytest.mark.parametrize("path", ["plan.csv", "stimuli/a.mp4", "stimuli/../plan.csv"])
def test_a_path_may_lead_anywhere_inside_the_study_folder(path: str) -> None:
    assert path_fault(path) is None


@pytest.mark.parametrize("path", ["../plan.csv", "a/../../plan.csv", "/plan.csv", "C:/plan.csv", "a\\plan.csv"])
def test_a_path_that_leaves_the_study_folder_is_a_fault(path: str) -> None:
    fault = path_fault(path)
    assert fault is not None
    assert fault.allowed == "a path inside the study folder, with / between folders"


def test_all_faults_of_a_part_are_raised_together() -> None:
    raise_faults([])
    with pytest.raises(FaultsError) as caught:
        raise_faults([Fault("is 3", "1 or 2", "Write 1.", ("steps", 0)), Fault("is empty")])
    assert str(caught.value) == "steps.0 is 3. Allowed: 1 or 2. Write 1; is empty"


def test_a_part_refuses_unknown_keys_and_numbers_that_are_not_finite() -> None:
    class Part(StudyPart):
        size: float = 1.0

    for wrong in ({"sise": 2}, {"size": float("inf")}):
        with pytest.raises(ValidationError):
            Part.model_validate(wrong)
