"""Progress: steps, failures, pace and pay."""

from __future__ import annotations

import json
from datetime import timedelta
from functools import cache
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.recruiting import progress
from beholder.recruiting.dashboard import as_text
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from support.cleaning_store import START, Tables, add, make_study, store
from support.snapshots import add_drop_out, snapshot_of


@cache
def begun() -> tuple[Study, Tables]:
    """Return a study and a store that nobody has visited, made once."""
    study = make_study(Path())
    return study, store(study)


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 13), st.sampled_from([None, "completed", "failed_checks"])), max_size=12))
def test_whoever_came_to_a_step_is_there_gone_or_at_the_next(people: list[tuple[int, str | None]]) -> None:
    study, empty = begun()
    tables = {name: list(rows) for name, rows in empty.items()}
    for number, (answered, outcome) in enumerate(people):
        add_drop_out(tables, f"s{number}", 13 if outcome == "completed" else answered, number=number % 4 + 1)
        if outcome:
            end = {"session": f"s{number}", "outcome": outcome, "reason": "", "code": "", "receipt": ""}
            tables["ends"].append(end | {"at": START + timedelta(hours=number)})
    view = snapshot_of(study, tables, START + timedelta(hours=3))
    for row, after in zip(view.steps, view.steps[1:], strict=False):
        assert row.reached == row.here + row.left + row.ended + after.reached
    for row, after in zip(view.trials, view.trials[1:], strict=False):
        assert row.reached == row.here + row.left + row.ended + after.reached
    assert view.arrived == view.here + view.left + view.completed + sum(view.ended.values())
    json.dumps(view.to_json(), allow_nan=False)
    assert all(len(line) <= 80 for line in as_text(view).splitlines())


def test_who_is_at_a_question_between_trials_is_at_the_rating(tmp_path: Path) -> None:
    easy = {"id": "easy", "text": "?", "type": "likert", "every": "trial"}
    study = make_study(tmp_path, during=[easy])
    tables = store(study)
    add_drop_out(tables, "s0", 2)
    row = next(row for row in tables["answers"] if row["session"] == "s0" and row["key"] == "trial:1")
    tables["answers"].append({**row, "key": "questions:during:1", "answer": {"answers": {"easy": 3}}})
    view = snapshot_of(study, tables, START + timedelta(hours=3))
    rating = next(step for step in view.steps if step.title.startswith("Rating"))
    assert (rating.reached, rating.here + rating.left) == (1, 1)
    assert not [step for step in view.steps if "questions:during" in step.key]
    for one, after in zip(view.steps, view.steps[1:], strict=False):
        assert one.reached == one.here + one.left + one.ended + after.reached


def test_failures_are_counted_by_check_and_many_are_an_alarm(tmp_path: Path) -> None:
    study = make_study(tmp_path, qualification={"colour": True})
    tables = store(study)
    tables["told"] = []
    for number in range(10):
        name = f"s{number}"
        add(tables, name, outcome="screened_out" if number < 3 else "completed")
        if number < 3:
            tables["ends"][-1]["reason"] = "colour:plates"
            tables["answers"] = [row for row in tables["answers"] if row["session"] != name]
        verdict = {"session": name, "key": "check:colour:1", "check": "colour", "reason": "", "evidence": None}
        tables["told"].append(verdict | {"verdict": "fail" if number < 4 else "pass", "at": START})
    view = snapshot_of(study, tables)
    assert [(one.title, one.met, one.failed, one.ended) for one in view.checks] == [("Colour vision", 10, 4, 3)]
    assert view.alarms == ("3 of the 10 who met “Colour vision” were turned away by it.",)
    assert "Ended: screened out before the trials 3." in as_text(view)


def test_the_effective_pay_is_held_against_the_minimum(tmp_path: Path) -> None:
    keys = {"mode": "link", "reward": "1.50 GBP", "hourly_minimum": "6.00 GBP", "minutes": 12}
    study = make_study(tmp_path, recruit=keys, budget="5 GBP")
    tables = store(study)
    add(tables, "a", minutes=20)
    view = snapshot_of(study, tables)
    assert view.earned is not None
    assert (str(view.earned.hourly), str(view.earned.top_up)) == ("4.50 GBP", "0.50 GBP")
    assert view.alarms == (
        "An hour pays 4.50 GBP by our clock, below the minimum of 6.00 GBP. "
        "`beholder pay --top-up` adds 0.50 GBP for each.",
    )
    assert "20.0 minutes, people are told 12" in as_text(view)
    study = make_study(tmp_path, recruit=keys | {"reward": "2.00 GBP"})
    assert snapshot_of(study, tables).alarms == ()


def test_the_pace_tells_when_it_will_be_done() -> None:
    arrivals = [START + timedelta(minutes=20 * n) for n in range(6)]
    ends = [at + timedelta(minutes=20) for at in arrivals]
    now = START + timedelta(hours=2)
    assert progress.per_hour(arrivals, ends, now) == 3
    assert progress.finished_at(9, 3, now) == now + timedelta(hours=3)
    assert progress.per_hour(arrivals, ends, now + timedelta(days=2)) is None
    assert progress.finished_at(9, None, now) is None
    assert progress.finished_at(0, 3, now) is None
    assert progress.per_hour([], [], now) is None


@given(st.integers(1, 10_000), st.floats(0.01, 600), st.integers(1, 3000))
def test_a_top_up_brings_the_median_to_the_floor(reward: int, minutes: float, floor: int) -> None:
    result = progress.top_up(Sum(reward, "GBP"), minutes, Sum(floor, "GBP"))
    due = reward + (result.minor if result else 0)
    assert due * 60 >= floor * minutes - 1e-6
    assert result is None or (due - 1) * 60 < floor * minutes
