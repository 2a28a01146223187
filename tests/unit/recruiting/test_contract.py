"""The contract of a recruiter: an error of a platform tells a person what happened and what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import BeholderError, RecruitError
from beholder.recruiting.contract import PlatformAway, PlatformGone, PlatformRefused, PlatformUnsure, platform_errors
from support.recruit_studies import panel_study


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PlatformRefused("no such code"), "Panel  said no: no such code."),
        (PlatformGone("deleted"), "Panel  said no: deleted."),
        (PlatformAway("timeout"), "Panel  cannot be reached: timeout. Nothing has happened. Try again later."),
        (
            PlatformUnsure("cut off"),
            "Panel  did not say whether it was done: cut off. Run the same command again: it looks first.",
        ),
    ],
    ids=["refused", "gone", "away", "unsure"],
)
def test_an_error_of_a_platform_is_a_problem_for_a_person(tmp_path: Path, error: BeholderError, message: str) -> None:
    with pytest.raises(RecruitError) as raised, platform_errors(panel_study(tmp_path)):
        raise error
    assert [str(problem) for problem in raised.value.problems] == [message]
    assert raised.value.__cause__ is error, "an unattended run tries again where the platform did not answer"
