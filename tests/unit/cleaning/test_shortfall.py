"""Votes that are missing, and the lists to open again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.cleaning.shortfall import shortfall
from beholder.cleaning.tables import clean_tables
from beholder.methods.contract import Asked, Slot, Trial
from beholder.planning.model import PlannedList
from beholder.study.questions import SCALES
from support.cleaning_store import ASKING, add, make_study, rows, store


def test_lists_are_opened_again_until_every_stimulus_has_its_votes(tmp_path: Path) -> None:
    study = make_study(tmp_path, checks=ASKING)
    tables = store(study, lists=4)
    for number in (1, 2, 3):
        add(tables, f"s{number}", number=number, gold=1 if number == 2 else 5)
    cleaned = clean_tables(study, tables)
    votes = rows(cleaned, "votes")
    assert {(row["planned"], row["used"], row["short"]) for row in votes} == {("2", "2", "0"), ("2", "0", "2")}
    assert rows(cleaned, "extend") == [
        {"list": "2", "used_sessions": "0", "missing_sessions": "1"},
        {"list": "4", "used_sessions": "0", "missing_sessions": "1"},
    ]
    assert (cleaned.counts["short_votes"], cleaned.counts["missing_sessions"]) == (10, 2)
    assert {row["stimulus"].partition("/")[0] for row in votes} == {"a", "b"}  # checks are no votes


def test_a_single_vote_that_was_lost_is_missing_too(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study, lists=2)
    add(tables, "one", number=1)
    add(tables, "two", number=2)
    tables["answers"][0]["playback"]["s1"] |= {"coverage": 0.2, "furthest_ms": 800}
    cleaned = clean_tables(study, tables)
    assert [row["stimulus"] for row in rows(cleaned, "votes") if row["short"] == "1"] == ["b/c01"]
    assert [row["list"] for row in rows(cleaned, "extend")] == ["1"]


ASK = Asked("q1", "quality", "ask", "?", SCALES["acr5"])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, 6), max_size=6), max_size=8))
def test_the_lists_to_open_bring_every_stimulus_to_its_plan(drawn: list[list[int]]) -> None:
    lists = {number: planned_list(number, some) for number, some in enumerate(drawn, 1)}
    missing = shortfall(lists, [])
    brought: Counter[str] = Counter()
    for number, times in missing.extra().items():
        for one in drawn[number - 1]:
            brought[f"x{one}"] += times
    assert all(brought[cell.stimulus] >= planned for cell, planned in missing.planned.items())
    assert sum(missing.extra().values()) <= len(drawn)  # never more than the plan itself


def planned_list(number: int, stimuli: list[int], *, makes_up: bool = False) -> PlannedList:
    trials = (
        Trial(f"trial:{place}", "c", "rate", (Slot("s1", f"x{one}", "test", None, True, None),), (ASK,))
        for place, one in enumerate(stimuli, 1)
    )
    return PlannedList(number, tuple(trials), makes_up=makes_up)


def test_lists_that_make_up_for_others_add_nothing_to_what_was_planned() -> None:
    lists = {1: planned_list(1, [1, 2]), 2: planned_list(2, [1, 3]), 3: planned_list(3, [1, 2], makes_up=True)}
    missing = shortfall(lists, [])
    assert {cell.stimulus: planned for cell, planned in missing.planned.items()} == {"x1": 2, "x2": 1, "x3": 1}
    assert missing.extra() == {1: 1, 2: 1}
    asked = shortfall(lists, [], votes=3)
    assert {cell.stimulus: planned for cell, planned in asked.planned.items()} == {"x1": 3, "x2": 3, "x3": 3}
