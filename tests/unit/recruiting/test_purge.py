"""Purging: on its day nobody can be told any more, whoever is owed something is paid before, and it stays known."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from beholder.errors import StoreError, UserError
from beholder.recruiting.erasure import Purged, purge_study
from beholder.recruiting.ledger import replay
from beholder.server.tokens import pseudonym
from beholder.store.contract import LedgerEntry, Session
from beholder.store.open import open_store, read_rows
from support.cleaning_store import START
from support.decision_store import FILE, POSTING, at, make_study, office
from support.erasable_study import PERSON, SECRET, bytes_of, entries, people_come, prepare, write_down

DAY = datetime(2027, 1, 31, 0, 0, tzinfo=UTC)
CLOSED = LedgerEntry("close", "done", at(2), evidence={"run": 1})


def purge(folder: Path, day: datetime = DAY, *, dry_run: bool = False, **retention: str) -> Purged:
    study = make_study(folder, retention=retention or {"identity": "2027-01-31"})
    return purge_study(study, dry_run=dry_run, now=lambda: day)


def refused(folder: Path, *, dry_run: bool = False) -> str:
    with pytest.raises(UserError) as error:
        purge(folder, dry_run=dry_run)
    return str(error.value)


def close(folder: Path) -> None:
    """Let people come, sign what is decided about them, pay the first one for a further session, and close."""
    prepare(folder, signs="Ann")
    paid = LedgerEntry("bonus", "planned", at(1), "sub-1", "p-1", "s2", 200, "GBP", "session:s2", "a further session")
    write_down(folder, paid, replace(paid, event="settled"), CLOSED)


def test_nothing_is_purged_before_its_day(tmp_path: Path) -> None:
    prepare(tmp_path)
    before = datetime(2027, 1, 30, 23, 59, tzinfo=UTC)
    assert purge(tmp_path, before, identity="2027-01-31", answers="2030-01-01").words == (
        "Nothing is due yet.",
        "Who is who: kept until 2027-01-31.",
        "All answers: kept until 2030-01-01.",
    )
    assert purge_study(make_study(tmp_path), now=lambda: DAY).words == (
        "The study has no `retention`, so nothing is ever due. Give it a day, such as identity: 2027-01-31.",
    )
    assert PERSON.encode() in bytes_of(tmp_path)


def test_from_its_day_on_nobody_can_be_matched_and_the_answers_stay(tmp_path: Path) -> None:
    close(tmp_path)
    (tmp_path / "launch").mkdir()
    (tmp_path / "launch" / "links.csv").write_text("id,link\n", "utf-8")
    looked = purge(tmp_path, dry_run=True)
    assert looked.words == ("Due: who 2 people are, and the answers of 0 sessions. Nothing is erased yet.",)
    assert (tmp_path / FILE).is_file()
    found = purge(tmp_path)
    assert (found.people, found.sessions, found.is_done) == (2, 0, True)
    assert found.words == (
        "Erased: who 2 people are, which visit was whose, and decide/decisions.csv. From now on nobody can be matched, "
        "paid, topped up, or kept out of other studies by their id.",
        "These files name people too, and are yours to delete: launch/links.csv.",
    )
    assert PERSON.encode() not in bytes_of(tmp_path)
    assert b"a further session" not in bytes_of(tmp_path), "what was taken out of the ledger is gone from the disk"
    assert SECRET.encode() in bytes_of(tmp_path)
    assert not (tmp_path / FILE).exists()
    assert [(one.event, one.evidence) for one in entries(tmp_path, "purge")] == [
        ("planned", {"people": 2}),
        ("done", {"people": 2}),
    ]
    assert purge(tmp_path).words[0] == "What is due is gone already."

    async def look() -> None:
        async with open_store(tmp_path / "store", write=False) as store:
            sessions = await read_rows(store, "sessions")
            names = {str(row[name]) for row in sessions for name in ("session", "participant")}
            assert pseudonym(store.secret, "prolific", PERSON) not in names
            written = await store.ledger.entries()
            visits = [str(one) for one in written if "sub-" in str(one)]
            assert visits
            assert not [one for one in visits if any(f"'{name}'" in one or f":{name}'" in one for name in names)]
            bonus = [(one.event, one.submission, one.amount_minor) for one in written if one.kind == "bonus"]
            assert bonus == [("planned", "sub-1", 200), ("settled", "sub-1", 200)]
            assert replay(written).pending() == ()

    asyncio.run(look())


def test_nobody_is_made_unknown_who_is_still_owed_money(tmp_path: Path) -> None:
    prepare(tmp_path)
    open_ = (
        "retention  is due, and run 1 is not closed: whoever still waits for money could not be paid any more. "
        "Run `beholder close`: it says who waits. Then purge."
    )
    assert refused(tmp_path) == refused(tmp_path, dry_run=True) == open_
    write_down(tmp_path, replace(CLOSED, at=START))
    assert refused(tmp_path) == open_, "somebody has come since"
    published = LedgerEntry("publish", "done", START, provider_ref=POSTING)
    write_down(tmp_path, published, CLOSED, replace(published, kind="resume"))
    assert refused(tmp_path) == open_, "it was opened again, and sends people with what was made with the old secret"
    second = LedgerEntry("draft", "done", START, provider_ref="posting-2", evidence={"run": 2})
    write_down(tmp_path, CLOSED, second, replace(published, provider_ref="posting-2"))
    assert refused(tmp_path) == open_.replace("run 1", "run 2").replace("`: it", "` with `run: 2` in study.yaml: it")
    write_down(tmp_path, replace(CLOSED, evidence={"run": 2}))
    owed = LedgerEntry(
        "bonus", "planned", at(0), submission="sub-1", amount_minor=50, currency="GBP", reason_code="quality"
    )
    write_down(tmp_path, owed)
    assert refused(tmp_path) == (
        "retention  would leave 1 payment without anybody to pay. Run `beholder pay`: it says what is open. Then purge."
    )
    assert PERSON.encode() in bytes_of(tmp_path)


def test_a_purge_that_was_cut_off_is_finished_and_recorded(tmp_path: Path) -> None:
    close(tmp_path)

    async def die() -> None:
        async with open_store(tmp_path / "store") as store:
            begun = LedgerEntry("purge", "planned", at(3), reason_code="identity", evidence={"people": 2})
            await store.ledger.append([begun])
            await store.purge_identity()

    asyncio.run(die())
    found = purge(tmp_path)
    assert (found.people, found.is_done) == (2, True)
    assert not (tmp_path / FILE).exists()
    assert [one.event for one in entries(tmp_path, "purge")] == ["planned", "done"]
    assert purge(tmp_path).words[0] == "What is due is gone already."


def test_all_answers_go_on_their_day(tmp_path: Path) -> None:
    prepare(tmp_path)
    write_down(tmp_path, CLOSED)
    found = purge(tmp_path, identity="2027-01-31", answers="2027-01-31")
    assert (found.people, found.sessions, found.rows) == (2, 3, 29)
    assert SECRET.encode() not in bytes_of(tmp_path)
    done = [one.reason_code for one in entries(tmp_path, "purge") if one.event == "done"]
    assert done == ["identity", "answers"]
    assert found.words[1] == (
        "Erased: the answers of 3 sessions, 29 rows. Results that are written stay; `beholder clean` would find "
        "nothing any more."
    )


def test_who_came_by_a_platform_after_a_purge_does_not_keep_answers_from_going(tmp_path: Path) -> None:
    prepare(tmp_path)
    write_down(tmp_path, CLOSED)
    purge(tmp_path)

    async def come() -> None:
        async with open_store(tmp_path / "store") as store:
            await store.arrive(Session("late", "p-late", "d1", 1, "prolific", 1, {}, at(9)))

    asyncio.run(come())
    assert purge(tmp_path, identity="2027-01-31", answers="2027-01-31").sessions == 4


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_beside_a_server_nothing_is_purged(tmp_path: Path, kind: str, request: pytest.FixtureRequest) -> None:
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    study = make_study(tmp_path, retention={"identity": "2027-01-31"})

    async def beside() -> str:
        async with office(tmp_path, url=url) as made:
            await people_come(made)
            await made.store.ledger.append([CLOSED])
            with pytest.raises(StoreError) as told:
                await asyncio.to_thread(purge_study, study, store=url, now=lambda: DAY)
            assert await made.entries("purge") == []
            return str(told.value)

    told = asyncio.run(beside())
    assert "is in use by another server" in told
    assert told.endswith("Stop the server, then run `beholder purge`.")
    assert purge_study(study, store=url, now=lambda: DAY).is_done
