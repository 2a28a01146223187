"""Watching: how far people came, what is missing, what an hour pays, and when it will be done."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.recruiting import progress
from beholder.recruiting.contract import Posting, Submission
from beholder.recruiting.dashboard import as_text
from beholder.recruiting.monitor_snapshot import MonitorSnapshot, VoteProgress
from beholder.recruiting.monitoring import (
    PLATFORM_POLL,
    MonitorFacts,
    count_platform,
    make_snapshot,
    take_snapshot,
    watch,
)
from beholder.store.contract import LedgerEntry, PlatformVisit
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.types import Json
from support.cleaning_store import START, Tables, add, make_study, store
from support.recruit_context import ON_PROLIFIC, URL, office

LATER = START + timedelta(hours=6)


def told(tables: Tables) -> Tables:
    return {"told": [], **tables}


def seen(study: Study, tables: Tables, now: datetime = LATER, **known: Any) -> MonitorSnapshot:
    return make_snapshot(study, MonitorFacts(told(tables), **known), now)


@cache
def begun() -> tuple[Study, Tables]:
    """Return a study and a store that nobody has visited, made once."""
    study = make_study(Path())
    return study, store(study)


def leave(tables: Tables, name: str, answered: int, **options: Any) -> None:
    """Add a session that stops after so many trials, the last of them minutes after it came."""
    add(tables, name, outcome=None, **options)
    gone = {f"trial:{place}" for place in range(answered + 1, 100)}
    tables["answers"] = [row for row in tables["answers"] if row["session"] != name or row["key"] not in gone]


def test_nobody_has_come_yet(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    view = seen(study, store(study))
    assert (view.arrived, view.lists.planned, view.alarms) == (0, 4, ())
    assert as_text(view).splitlines()[-1] == "Nobody has come yet. `beholder launch` says how to bring people."
    launched = LedgerEntry("draft", "done", START, provider_ref="x", evidence={"public_url": "https://lab.example.org"})
    view = seen(study, store(study), entries=[launched])
    assert as_text(view).splitlines()[-1] == "Nobody has come yet. Link: https://lab.example.org/s/cleaned"
    study = make_study(tmp_path, recruit={"mode": "link", "single_use": True})
    assert seen(study, store(study), entries=[launched]).link == "", "it lets nobody in"
    robots = make_snapshot(study, MonitorFacts(told(store(study))), LATER, robots=True)
    assert "No robots have come yet. Send some with `beholder simulate" in as_text(robots)


def test_it_says_who_finished_who_is_here_and_where_the_others_left(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "a", number=1)
    leave(tables, "b", 3, number=2)
    leave(tables, "c", 0, number=3)
    leave(tables, "d", 5, number=4)
    add(tables, "e", number=1, outcome="withdrawn")
    add(tables, "f", number=1, outcome="no_consent")
    tables["erasures"].append({"session": "f", "rows": 1, "at": START})
    view = seen(study, tables, START + timedelta(hours=3, minutes=40))
    assert (view.arrived, view.completed, view.here, view.left) == (6, 1, 1, 2)
    assert dict(view.ended) == {"withdrawn": 1, "no_consent": 1}
    assert [(row.title, row.reached, row.here, row.left, row.ended) for row in view.steps] == [
        ("Consent", 4, 0, 1, 0),
        ("Instructions", 3, 0, 0, 0),
        ("Rating, 13 trials", 3, 1, 1, 0),
        ("Finished", 1, 0, 0, 0),
    ]
    assert [row.key for row in view.trials if row.left] == ["trial:4"]
    assert [row.key for row in view.trials if row.here] == ["trial:6"]
    assert (view.lists.finished, view.lists.coming, view.lists.open) == (1, 1, 2)
    assert [(one.name, one.finished, one.coming, one.planned) for one in view.conditions] == [
        ("a", 5, 5, 20),
        ("b", 5, 5, 20),
    ]
    assert "Left while rating, at trial 4 (1)." in as_text(view)
    # Who has given it back on the platform has left, whatever we have heard of them lately.
    comings = [PlatformVisit("d", "x", "first"), PlatformVisit("d", "x", "again"), PlatformVisit("b", "x", "other")]
    for status, here in (("returned", 0), ("timed_out", 0), ("active", 1)):
        listed = [Submission("first", "p", "returned"), Submission("again", "p", status)]  # type: ignore[arg-type]
        platform = count_platform(Posting("x", "active", 4, 1, ""), listed, LATER, comings)
        view = seen(study, tables, START + timedelta(hours=3, minutes=40), platform=platform)
        assert (view.here, view.left, view.lists.coming) == (here, 3 - here, here), status


@settings(max_examples=20, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 13), st.sampled_from([None, "completed", "failed_checks"])), max_size=12))
def test_whoever_came_to_a_step_is_there_gone_or_at_the_next(people: list[tuple[int, str | None]]) -> None:
    study, empty = begun()
    tables = {name: list(rows) for name, rows in empty.items()}
    for number, (answered, outcome) in enumerate(people):
        leave(tables, f"s{number}", 13 if outcome == "completed" else answered, number=number % 4 + 1)
        if outcome:
            end = {"session": f"s{number}", "outcome": outcome, "reason": "", "code": "", "receipt": ""}
            tables["ends"].append(end | {"at": START + timedelta(hours=number)})
    view = seen(study, tables, START + timedelta(hours=3))
    for row, after in zip(view.steps, view.steps[1:], strict=False):
        assert row.reached == row.here + row.left + row.ended + after.reached
    for row, after in zip(view.trials, view.trials[1:], strict=False):
        assert row.reached == row.here + row.left + row.ended + after.reached
    assert view.arrived == view.here + view.left + view.completed + sum(view.ended.values())
    json.dumps(view.to_json(), allow_nan=False)
    assert all(len(line) <= 80 for line in as_text(view).splitlines())


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
    view = seen(study, tables)
    assert [(one.title, one.met, one.failed, one.ended) for one in view.checks] == [("Colour vision", 10, 4, 3)]
    assert view.alarms == ("3 of the 10 who met “Colour vision” were turned away by it.",)
    assert "Ended: screened out before the trials 3." in as_text(view)


def test_the_effective_pay_is_held_against_the_minimum(tmp_path: Path) -> None:
    keys = {"mode": "link", "reward": "1.50 GBP", "hourly_minimum": "6.00 GBP", "minutes": 12}
    study = make_study(tmp_path, recruit=keys, budget="5 GBP")
    tables = store(study)
    add(tables, "a", minutes=20)
    view = seen(study, tables)
    assert view.earned is not None
    assert (str(view.earned.hourly), str(view.earned.top_up)) == ("4.50 GBP", "0.50 GBP")
    assert view.alarms == (
        "An hour pays 4.50 GBP by our clock, below the minimum of 6.00 GBP. "
        "`beholder pay --top-up` adds 0.50 GBP for each.",
    )
    assert "20.0 minutes at the median, people are told 12" in as_text(view)
    study = make_study(tmp_path, recruit=keys | {"reward": "2.00 GBP"})
    assert seen(study, tables).alarms == ()


def test_the_platform_is_told_beside_our_own_numbers(tmp_path: Path) -> None:
    study = make_study(tmp_path, recruit={"mode": "link", "reward": "1.50 GBP", "hourly_minimum": "6.00 GBP"})
    tables = store(study)
    add(tables, "a", minutes=10)
    waits = Submission("s1", "p1", "awaiting_review", completed_at=LATER - timedelta(days=16, hours=1), seconds=1200)
    posting = Posting("x", "active", 40, 12, "https://example.org/x")
    platform = count_platform(posting, [waits, Submission("s2", "p2", "returned")], LATER)
    view = seen(study, tables, platform=platform)
    assert (platform.minutes, platform.oldest_days) == (20, 16)
    assert view.alarms == (
        "An hour pays 4.50 GBP by the platform's clock, below the minimum of 6.00 GBP. "
        "`beholder pay --top-up` adds 0.50 GBP for each.",
        "Somebody has waited for 16 days for a decision; the platform approves it by itself in 5 days. "
        "Run `beholder decide`.",
    )
    text = as_text(view)
    for words in ("12 of 40 taken", "1 to be decided, 1 returned", "(20.0 by the platform's clock)"):
        assert words in text
    late = replace(platform, oldest_days=30)
    assert "approves it by itself now." in seen(study, tables, platform=late).alarms[1]
    away = seen(study, tables, note="The numbers of the platform are missing: it is asleep")
    assert away.alarms == ("The numbers of the platform are missing: it is asleep",)


def test_what_is_spent_is_read_from_the_ledger(tmp_path: Path) -> None:
    study = make_study(tmp_path, budget="10 GBP")
    published: dict[str, Json] = {"places": 4, "total": "11.17 GBP"}
    entries = [
        LedgerEntry("draft", "done", START, provider_ref="x", evidence={"places": 4}),
        LedgerEntry("publish", "done", START, provider_ref="x", evidence=published),
        LedgerEntry(
            "approve", "planned", START, submission="s", amount_minor=200, currency="GBP", reason_code="reward"
        ),
        LedgerEntry("approve", "settled", START, submission="s", reason_code="reward"),
        LedgerEntry("places", "done", START, provider_ref="x", evidence={"places": 8}),
    ]
    view = seen(study, store(study), entries=entries)
    assert view.cost is not None
    assert (str(view.cost.paid), str(view.cost.committed)) == ("2.00 GBP", "22.34 GBP")
    for mode, fees in (("prolific", "with fees"), ("panel", "\n")):
        came = replace(view, arrived=1, mode=mode)  # type: ignore[arg-type]
        assert f"22.34 GBP at most{', ' * (mode == 'prolific')}{fees}" in as_text(came)
    assert view.alarms == ("What is published may cost 22.34 GBP, above the budget of 10.00 GBP.",)


def test_the_pace_tells_when_it_will_be_done() -> None:
    came = [START + timedelta(minutes=20 * n) for n in range(6)]
    ends = [at + timedelta(minutes=20) for at in came]
    now = START + timedelta(hours=2)
    assert progress.per_hour(came, ends, now) == 3
    assert progress.finished_at(9, 3, now) == now + timedelta(hours=3)
    assert progress.per_hour(came, ends, now + timedelta(days=2)) is None
    assert progress.finished_at(9, None, now) is None
    assert progress.finished_at(0, 3, now) is None
    assert progress.per_hour([], [], now) is None


def test_where_nobody_can_begin_that_is_told_and_no_end_is_foretold(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "a", minutes=10)
    view = seen(study, tables, START + timedelta(minutes=20))
    assert (view.finished_at is not None, view.alarms) == (True, ())
    soon = replace(view, finished_at=view.at + timedelta(seconds=70))
    assert "done in 1 minute if it goes on so" in as_text(soon)
    for kind, words in (("stop", "Closed"), ("pause", "Paused")):
        shut = LedgerEntry(kind, "done", START, provider_ref="cleaned/1")
        view = seen(study, tables, START + timedelta(minutes=20), entries=[shut])
        assert (view.finished_at, view.alarms) == (
            None, (f"{words} on 2026-11-15: nobody can begin. `beholder launch --resume` opens it.",),
        )  # fmt: skip
        opened = [shut, replace(shut, kind="resume")]
        assert seen(study, tables, START + timedelta(minutes=20), entries=opened).alarms == ()


@given(st.integers(1, 10_000), st.floats(0.01, 600), st.integers(1, 3000))
def test_a_top_up_brings_the_median_to_the_floor(reward: int, minutes: float, floor: int) -> None:
    found = progress.top_up(Sum(reward, "GBP"), minutes, Sum(floor, "GBP"))
    due = reward + (found.minor if found else 0)
    assert due * 60 >= floor * minutes - 1e-6
    assert found is None or (due - 1) * 60 < floor * minutes


def test_the_document_keeps_its_keys(tmp_path: Path) -> None:
    study = make_study(tmp_path, recruit={"mode": "link", "reward": "2.00 GBP"}, title="Größe 2 | NA")
    tables = store(study)
    add(tables, "no")
    document = seen(study, tables).to_json()
    assert list(document) == [
        "version", "study", "title", "run", "mode", "population", "at", "link", "people", "arrived", "here",
        "completed", "left", "ended", "steps", "trials", "checks", "lists", "conditions", "stimuli", "minutes",
        "told_minutes", "per_hour", "finished_at", "earned", "cost", "platform", "alarms",
    ]  # fmt: skip
    earned = {"reward": "2.00 GBP", "hourly": "6.00 GBP", "platform_hourly": None, "floor": None, "top_up": None}
    assert (document["earned"], document["at"]) == (earned, "2026-11-15T15:00:00+00:00")
    assert json.loads(json.dumps(document)) == document


def test_names_are_shown_as_they_are(tmp_path: Path) -> None:
    study = make_study(tmp_path, title="[/b] no :smile:")
    tables = store(study)
    add(tables, "a")
    view = replace(seen(study, tables), conditions=tuple(VoteProgress(f"[/b] :x: {n}", 1, 0, 2) for n in range(14)))
    text = as_text(view)
    assert text.startswith("[/b] no :smile:\n")
    assert "[/b] :x: 11" in text
    assert "[/b] :x: 12" not in text
    assert "and 2 more; `--json` has all of them" in text


async def test_it_reads_a_store_beside_its_server_and_the_platform(tmp_path: Path, tiny: Path) -> None:
    async with office(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        await room.launch(publish="11.17 GBP")
        (posting,) = room.fake.studies.all
        room.fake.people.finish(posting, 2)
        before = await room.kinds()
        view = await take_snapshot(room.context)
        assert view.platform is not None
        assert (view.platform.state, view.platform.taken, dict(view.platform.statuses)) == (
            "active", 2, {"awaiting_review": 2},
        )  # fmt: skip
        assert (view.arrived, view.link, view.lists.planned) == (0, f"{URL}/s/tiny", 6)
        assert await room.kinds() == before
        room.fake.token = "another"
        (alarm,) = (await take_snapshot(room.context)).alarms
        assert alarm.startswith("The numbers of the platform are missing: PROLIFIC_TOKEN  Prolific does not know this")


async def test_watching_asks_the_platform_less_and_less_while_nothing_moves(tmp_path: Path, tiny: Path) -> None:
    async with office(tmp_path, tiny, recruit=ON_PROLIFIC) as room:
        await room.launch(publish="11.17 GBP")
        began = room.fake.now
        shown: list[MonitorSnapshot] = []

        async def sleep(seconds: float) -> None:
            room.fake.advance(seconds=10 * seconds)
            if room.fake.now - began > 10 * PLATFORM_POLL:
                raise TimeoutError

        with pytest.raises(TimeoutError):
            await watch(room.context, shown.append, sleep=sleep)
        asked = [view.platform.at - began for view in shown if view.platform is not None]
        assert 4 <= len(set(asked)) <= 5
        assert len(shown) < 15
