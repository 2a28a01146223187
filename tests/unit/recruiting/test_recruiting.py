"""The verbs of recruiting."""

from __future__ import annotations

import pytest

import beholder
from beholder.errors import RecruitError


def test_nobody_signs_in_the_name_of_a_run() -> None:
    with pytest.raises(RecruitError) as error:
        beholder.decide("study.yaml", sign=" run")
    assert str(error.value) == "--sign  is run, as which only `beholder run` signs. Allowed: your name."
