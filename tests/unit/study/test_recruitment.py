"""Moments and time limits of recruitment, and what is known of each mode."""

from __future__ import annotations

from typing import get_args

import pytest

from beholder.study.recruitment import (
    NOT_PEOPLE,
    SOURCES,
    Filters,
    Mode,
    ParticipantSource,
    Recruit,
    RecruitMode,
    is_person,
    is_robot,
    longest_minutes,
    modes_where,
    moment,
    source_of,
)


def test_a_day_begins_at_midnight_and_a_time_has_its_zone() -> None:
    assert moment("2027-01-31").isoformat() == "2027-01-31T00:00:00+00:00"
    assert moment("2027-01-31 09:00+01:00") == moment("2027-01-31T08:00Z")


def test_prolific_lets_a_slow_person_take_more_than_twice_the_time() -> None:
    assert [longest_minutes(minutes) for minutes in (1, 10, 12, 60)] == [6, 29, 33, 138]


# Modes


def test_every_mode_of_a_study_has_its_source() -> None:
    assert [source.mode for source in SOURCES] == list(get_args(RecruitMode))
    assert all(Recruit(mode=source.mode).source is source for source in SOURCES)
    assert modes_where(lambda source: source.is_handed_out) == "link or panel"


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: source.mode)
def test_a_source_names_only_keys_that_there_are_and_says_where_people_come_from(source: ParticipantSource) -> None:
    assert source.options <= set(Recruit.model_fields)
    assert source.summary_words
    assert source.methods_words(Recruit(mode=source.mode))


def test_robots_and_previews_come_from_no_recruiter() -> None:
    assert [mode for mode in get_args(Mode) if not is_person(mode)] == ["preview", "robot"]
    assert [mode for mode in get_args(Mode) if is_robot(mode)] == ["robot"]
    assert {source_of(mode) for mode in NOT_PEOPLE}.isdisjoint(SOURCES)


def test_filters_say_in_words_who_may_come() -> None:
    filters = Filters(countries=("Norway", "Chad"), age=(18, 65), approved_submissions=20)
    assert filters.words() == "living in Norway and Chad, aged 18 to 65 and with 20 or more approved submissions"
    assert Filters().words() == ""
