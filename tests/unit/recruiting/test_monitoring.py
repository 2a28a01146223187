"""Monitoring: counts, money and the platform's numbers in one snapshot, and polling while nothing changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.recruiting.contract import Posting, Submission
from beholder.recruiting.dashboard import as_text
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.recruiting.monitoring import (
    PLATFORM_POLL,
    count_platform,
    take_snapshot,
    watch,
)
from beholder.recruiting.payments import pay_study
from beholder.store.contract import LedgerEntry, PlatformVisit
from beholder.types import Json
from support.cleaning_store import START, add, make_study, store
from support.recruit_context import ON_PROLIFIC, URL, launch_setup
from support.snapshots import LATER, add_drop_out, snapshot_of


async def test_the_cost_is_what_has_left_the_wallet_also_by_itself(folder: Path, tiny: Path) -> None:
    async with launch_setup(folder, tiny, recruit=ON_PROLIFIC) as setup:
        setup.fake.people.finish(await setup.open(), 2)
        setup.fake.advance(days=22)
        for _ in range(2):
            cost = (await take_snapshot(setup.context)).cost
            assert cost is not None
            assert cost.paid.minor == sum(one.amount for one in setup.fake.payments) == 400
            await pay_study(setup.context, send=True, sleep=setup.fake.sleep)


def test_it_says_who_finished_who_is_here_and_where_the_others_left(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "a", number=1)
    add_drop_out(tables, "b", 3, number=2)
    add_drop_out(tables, "c", 0, number=3)
    add_drop_out(tables, "d", 5, number=4)
    add(tables, "e", number=1, outcome="withdrawn")
    add(tables, "f", number=1, outcome="no_consent")
    tables["erasures"].append({"session": "f", "rows": 1, "at": START})
    view = snapshot_of(study, tables, START + timedelta(hours=3, minutes=40))
    assert (view.arrived, view.completed, view.here, view.left) == (6, 1, 1, 2)
    assert view.present == 0
    assert "here now         0, and 1 who has sent nothing for two minutes" in as_text(view)
    now = START + timedelta(hours=3, minutes=40)
    heard = snapshot_of(study, tables, now, senders=frozenset({"d", "a"}))
    assert (heard.here, heard.present) == (1, 1), "who watches a long video is present; who has finished is not"
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
    visits = [PlatformVisit("d", "x", "first"), PlatformVisit("d", "x", "again"), PlatformVisit("b", "x", "other")]
    for status, here in (("returned", 0), ("timed_out", 0), ("active", 1)):
        listed = [Submission("first", "p", "returned"), Submission("again", "p", status)]  # type: ignore[arg-type]
        platform = count_platform(Posting("x", "active", 4, 1, ""), listed, LATER, visits)
        view = snapshot_of(study, tables, START + timedelta(hours=3, minutes=40), platform=platform)
        assert (view.here, view.left, view.lists.coming) == (here, 3 - here, here), status


def test_the_platform_is_told_beside_our_own_numbers(tmp_path: Path) -> None:
    study = make_study(tmp_path, recruit={"mode": "link", "reward": "1.50 GBP", "hourly_minimum": "6.00 GBP"})
    tables = store(study)
    add(tables, "a", minutes=10)
    waits = Submission("s1", "p1", "awaiting_review", completed_at=LATER - timedelta(days=16, hours=1), seconds=1200)
    posting = Posting("x", "active", 40, 12, "https://example.org/x")
    platform = count_platform(posting, [waits, Submission("s2", "p2", "returned")], LATER)
    view = snapshot_of(study, tables, platform=platform)
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
    assert "approves it by itself now." in snapshot_of(study, tables, platform=late).alarms[1]
    away = snapshot_of(study, tables, note="The numbers of the platform are missing: it is asleep")
    assert away.alarms == ("The numbers of the platform are missing: it is asleep",)
    full = snapshot_of(study, tables, platform=None, room=100 * 1024 * 1024)
    assert "100 MB are left on the disk of the store, and" in full.alarms[0]
    assert "nobody else can begin: make room." in full.alarms[0]


def test_visits_that_were_removed_are_counted_as_before(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "a", number=1)
    for name in ("b", "c", "d"):
        add_drop_out(tables, name, 0, number=2)
        tables["answers"][:] = [row for row in tables["answers"] if row["session"] != name]
    before = snapshot_of(study, tables, START + timedelta(hours=30))
    assert (before.arrived, before.people, before.left, before.steps[0].left) == (4, 4, 3, 3)
    for table in ("sessions", "claims"):
        tables[table][:] = [row for row in tables[table] if row["session"] in ("a", "b")]
    tables["removals"] = [{"run": 1, "participants": 2, "sessions": 2, "at": START}]
    after = snapshot_of(study, tables, START + timedelta(hours=30))
    assert (after.arrived, after.people, after.left, after.steps) == (4, 4, 3, before.steps)
    for table in ("sessions", "claims", "answers", "ends"):
        tables[table][:] = []
    alone = snapshot_of(study, tables, START + timedelta(hours=30))
    assert (alone.arrived, alone.people, alone.left) == (2, 2, 2)
    as_text(alone)


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
    view = snapshot_of(study, store(study), entries=entries)
    assert view.cost is not None
    assert (str(view.cost.paid), str(view.cost.committed)) == ("2.00 GBP", "22.34 GBP")
    for mode, fees in (("prolific", "with fees"), ("panel", "\n")):
        arrived_view = replace(view, arrived=1, mode=mode)  # type: ignore[arg-type]
        assert f"22.34 GBP at most{', ' * (mode == 'prolific')}{fees}" in as_text(arrived_view)
    assert view.alarms == ("What is published may cost 22.34 GBP, above the budget of 10.00 GBP.",)


def test_where_nobody_can_begin_that_is_told_and_no_end_is_foretold(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = store(study)
    add(tables, "a", minutes=10)
    view = snapshot_of(study, tables, START + timedelta(minutes=20))
    assert (view.finished_at is not None, view.alarms) == (True, ())
    soon = replace(view, finished_at=view.at + timedelta(seconds=70))
    assert "all finished in 1 minute if it goes on so" in as_text(soon)
    for kind, words in (("stop", "Closed"), ("pause", "Paused")):
        shut = LedgerEntry(kind, "done", START, provider_ref="cleaned/1")
        view = snapshot_of(study, tables, START + timedelta(minutes=20), entries=[shut])
        assert (view.finished_at, view.alarms) == (
            None, (f"{words} on 2026-11-15: nobody can begin. `beholder launch --resume` opens it.",),
        )  # fmt: skip
        opened = [shut, replace(shut, kind="resume")]
        assert snapshot_of(study, tables, START + timedelta(minutes=20), entries=opened).alarms == ()


async def test_it_reads_a_store_beside_its_server_and_the_platform(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        await setup.launch(publish="11.17 GBP")
        (posting,) = setup.fake.studies.all
        setup.fake.people.finish(posting, 2)
        before = await setup.kinds()
        view = await take_snapshot(setup.context)
        assert view.platform is not None
        assert (view.platform.state, view.platform.taken, dict(view.platform.statuses)) == (
            "active", 2, {"awaiting_review": 2},
        )  # fmt: skip
        assert (view.arrived, view.link, view.lists.planned) == (0, f"{URL}/s/tiny", 6)
        assert await setup.kinds() == before
        setup.fake.token = "another"
        (alarm,) = (await take_snapshot(setup.context)).alarms
        assert alarm.startswith("The numbers of the platform are missing: PROLIFIC_TOKEN  Prolific does not know this")


async def test_watching_asks_the_platform_less_and_less_while_nothing_moves(tmp_path: Path, tiny: Path) -> None:
    async with launch_setup(tmp_path, tiny, recruit=ON_PROLIFIC) as setup:
        await setup.launch(publish="11.17 GBP")
        began = setup.fake.now
        shown: list[MonitorSnapshot] = []

        async def sleep(seconds: float) -> None:
            setup.fake.advance(seconds=10 * seconds)
            if setup.fake.now - began > 10 * PLATFORM_POLL:
                raise TimeoutError

        with pytest.raises(TimeoutError):
            await watch(setup.context, shown.append, sleep=sleep)
        polls = [view.platform.at - began for view in shown if view.platform is not None]
        assert 4 <= len(set(polls)) <= 5
        assert len(shown) < 15
