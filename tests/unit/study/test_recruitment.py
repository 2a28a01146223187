"""Moments and time limits of recruitment."""

from __future__ import annotations

from beholder.study.recruitment import longest_minutes, moment


def test_a_day_begins_at_midnight_and_a_time_has_its_zone() -> None:
    assert moment("2027-01-31").isoformat() == "2027-01-31T00:00:00+00:00"
    assert moment("2027-01-31 09:00+01:00") == moment("2027-01-31T08:00Z")


def test_prolific_lets_a_slow_person_take_more_than_twice_the_time() -> None:
    assert [longest_minutes(minutes) for minutes in (1, 10, 12, 60)] == [6, 29, 33, 138]
