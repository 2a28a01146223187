"""Erasure: a receipt erases a participant from the disk, a purge what retention no longer allows."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from click.testing import CliRunner

from beholder.cli import cli
from beholder.errors import StoreError, UserError
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.erasure import Forgotten, Purged, erase_by_receipt, purge_study
from beholder.recruiting.ledger import replay
from beholder.server.erasure import erase_sessions, find_erasable, normalise_receipt, wipe_patiently
from beholder.server.tokens import invitation, pseudonym, receipt_code
from beholder.store.contract import Answer, End, LedgerEntry, Session
from beholder.store.open import open_store, read_rows
from beholder.store.tables import ERASABLE
from beholder.study.serialization import resolved_yaml
from support.bound_studies import write_bound
from support.cleaning_store import START
from support.decision_store import FILE, POSTING, at, decision_setup, handed_in, make_study, read
from support.erasable_study import PERSON, SECRET, bytes_of, entries, people_come, prepare, write_down
from support.message_studies import serving
from support.platform_visitors import come
from support.recruit_context import launch_setup


def forget(folder: Path, receipt: str, *, dry_run: bool = False) -> Forgotten:
    return erase_by_receipt(receipt, make_study(folder), dry_run=dry_run, now=lambda: at(3))


def test_a_receipt_erases_everything_of_a_person_from_the_disk(tmp_path: Path) -> None:
    receipt = prepare(tmp_path)
    assert SECRET.encode() in bytes_of(tmp_path)
    assert PERSON.encode() in bytes_of(tmp_path)
    looked = forget(tmp_path, receipt, dry_run=True)
    assert looked.words[0] == "2 sessions would be erased, with the link to who it is. Nothing is erased yet."
    assert SECRET.encode() in bytes_of(tmp_path)
    result = forget(tmp_path, receipt)
    assert (result.sessions, result.rows, result.was_done) == (("s1", "s2"), 16, False)
    assert SECRET.encode() not in bytes_of(tmp_path)
    assert PERSON.encode() not in bytes_of(tmp_path)
    assert b"somebody-else" in bytes_of(tmp_path)


def test_beside_a_reader_it_is_told_what_is_left_and_the_next_try_finishes_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("beholder.recruiting.erasure.wipe_patiently", partial(wipe_patiently, patience=0.0))
    receipt = prepare(tmp_path)
    with closing(sqlite3.connect(tmp_path / "store" / "facts.sqlite", isolation_level=None)) as reader:
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM answers").fetchone()
        held = forget(tmp_path, receipt)
        assert held.remains == "facts.sqlite keeps it in its log while another program reads the file"
        assert held.words[1] == f"Bytes of it are still on the disk: {held.remains}."
        assert SECRET.encode() in bytes_of(tmp_path)
        (tmp_path / "study.yaml").write_text(resolved_yaml(make_study(tmp_path)), "utf-8")
        told = CliRunner().invoke(cli, ["forget", receipt, str(tmp_path / "study.yaml")])
        assert isinstance(told.exception, UserError)
        assert "still holds bytes of what was erased" in str(told.exception), "asked again, it tries again"
    done = forget(tmp_path, receipt)
    assert (done.was_done, done.remains) == (True, "")
    assert SECRET.encode() not in bytes_of(tmp_path)


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_in_every_store_all_of_a_person_goes_and_that_it_was_done_stays(
    tmp_path: Path, kind: str, request: pytest.FixtureRequest
) -> None:
    url = str(tmp_path / "store") if kind == "sqlite" else request.getfixturevalue("postgresql_url")
    receipt, study = prepare(tmp_path, url), make_study(tmp_path)
    first, again = (erase_by_receipt(receipt, study, store=url, now=lambda: at(3)) for _ in range(2))
    assert (first.sessions, first.rows, first.was_done) == (("s1", "s2"), 16, False)
    assert again.was_done

    async def look() -> None:
        async with open_store(url, write=False) as store:
            for table in ERASABLE:
                assert {str(row["session"]) for row in await read_rows(store, table)} <= {"other"}, table
            assert [link.platform_id for link in await store.platform_identities()] == ["somebody-else"]
            assert [visit.session for visit in await store.platform_visits()] == ["other"]
            assert [row["session"] for row in await read_rows(store, "erasures")] == ["s1", "s2"]
            done = [one for one in await store.ledger.entries() if (one.kind, one.event) == ("forget", "done")]
            assert [(one.session, one.submission) for one in done] == [("s1", "sub-1"), ("s2", "")]

    asyncio.run(look())


def test_what_was_done_stays_known_and_is_told_when_it_is_asked_again(tmp_path: Path) -> None:
    receipt = prepare(tmp_path, signs="Ann")
    (kept,) = (row for row in read(tmp_path) if row["submission"] == "sub-2")
    for name in ("clean", "report", "pay"):
        (tmp_path / name).mkdir()
    (tmp_path / "pay" / "payments.csv").write_text("", "utf-8")
    first, again = forget(tmp_path, receipt), forget(tmp_path, receipt)
    assert first.words == (
        "Erased: 2 sessions, 16 rows, and the link to who it is. That it was done stays known, and what was paid.",
        "Their line is gone from decide/decisions.csv too.",
        "clean/, report/ may still hold what this person said: run `beholder clean`, `beholder report` again.",
        "These files name people too, and are yours to delete: pay/payments.csv.",
        "Backups, and what you have handed on or published, are yours to look after.",
    )
    assert again.words[0] == "This was done already, on 2026-11-19 09:00 UTC."
    assert read(tmp_path) == [kept]
    (tmp_path / FILE).write_text("submission,pay\n", "utf-8")
    assert forget(tmp_path, receipt).words[1] == (
        "decide/decisions.csv cannot be read, and may still hold what this person said: delete it."
    )
    assert [(one.event, one.session, one.submission, one.evidence) for one in entries(tmp_path, "forget")] == [
        ("planned", "s1", "sub-1", None),
        ("planned", "s2", "", None),
        ("done", "s1", "sub-1", {"rows": 13}),
        ("done", "s2", "", {"rows": 3}),
    ]


@pytest.mark.parametrize(
    "change", [str.lower, lambda text: text.replace("-", ""), lambda text: f" {text[:9]}  {text[9:]}"]
)
def test_a_receipt_may_be_typed_in_any_way(tmp_path: Path, change: Any) -> None:
    receipt = prepare(tmp_path)
    assert forget(tmp_path, change(receipt), dry_run=True).sessions == ("s1", "s2")


def test_a_receipt_that_nobody_has_is_told(tmp_path: Path) -> None:
    prepare(tmp_path)
    with pytest.raises(UserError) as messages:
        forget(tmp_path, "BH-20261115-AAAA")
    assert str(messages.value) == (
        "BH-20261115-AAAA  is no receipt of cleaned. Allowed: what the last page shows, such as "
        "BH-SKX9-8ATT-MN2P-Q7RD-4XPD-KWQ2-9WMN. Case, spaces and dashes do not matter; ask for every letter."
    )
    with pytest.raises(UserError, match=r"^RECEIPT  is no receipt of cleaned"):
        forget(tmp_path, " ")


def test_a_receipt_is_128_bits_that_can_be_read_aloud() -> None:
    letters = "ABCDEFGHJKMNPQRSTVWXYZ23456789"
    receipt = receipt_code(b"secret", "s1")
    head, *groups = receipt.split("-")
    assert (head, [len(group) for group in groups]) == ("BH", [4] * 7)
    assert {*"".join(groups)} <= {*letters}
    assert len(letters) ** sum(map(len, groups)) > 2**128
    assert receipt_code(b"secret", "s2") != receipt != receipt_code(b"other", "s1")


def test_an_end_without_a_receipt_is_nobodys() -> None:
    assert normalise_receipt("") == normalise_receipt(" -–") == ""


def test_beside_a_server_it_is_told_where_to_ask(tmp_path: Path) -> None:
    async def work() -> str:
        async with decision_setup(tmp_path) as setup:
            receipt = await people_come(setup)
            with pytest.raises(StoreError) as messages:
                await asyncio.to_thread(forget, tmp_path, receipt)
            return str(messages.value)

    messages = asyncio.run(work())
    assert messages.endswith("Open the page /forget of that server and give it the receipt, or stop the server and run "
                         "this again.")  # fmt: skip


def test_a_death_on_the_way_leaves_nothing_that_is_not_found_again(tmp_path: Path) -> None:
    """The link goes before the answers do: the next try still knows whose submission it was."""

    class Dies(Exception):
        pass

    async def work() -> tuple[list[LedgerEntry], str]:
        async with decision_setup(tmp_path) as setup:
            receipt = await people_come(setup)
            erase = setup.store.erase

            async def dying(session: str, at: datetime) -> int:
                await erase(session, at)
                raise Dies

            setup.store.erase = dying  # type: ignore[method-assign]
            with pytest.raises(Dies):
                await erase_sessions(setup.store, ["s1", "s2"], "receipt", at(0))
            setup.store.erase = erase  # type: ignore[method-assign]
            erasable = await find_erasable(setup.store, receipt)
            assert erasable is not None
            assert erasable.remaining == ("s2",)
            await erase_sessions(setup.store, erasable.sessions, "receipt", at(1))
            setup.platform.listed = [handed_in("sub-1", setup.code)]
            row = (await decide_study(setup.context, dry_run=True)).rows[0]
            return [one for one in await setup.entries("forget") if one.event == "done"], row.pay

    done, pay = asyncio.run(work())
    assert [(one.session, one.submission) for one in done] == [("s1", "sub-1"), ("s2", "")]
    assert pay == "approve"  # who is forgotten is still paid


def test_a_server_forgets_by_its_page_and_erases_at_once(tmp_path: Path, tiny: Path) -> None:
    async def work() -> list[tuple[int, Any]]:
        async with launch_setup(tmp_path, tiny, recruit={"mode": "link"}) as setup:
            async with httpx.AsyncClient(transport=setup.server, base_url="http://study") as client:
                page = await client.get("/forget")
                body = {"study": setup.study.name, "params": {"participant": PERSON}, "device": {}}
                await client.post("/api/arrive", json=body)
                (session,) = await read_rows(setup.context.store, "sessions")
                name, receipt = session["session"], "BH-20261116-SKX9-8ATT-MN2P-Q7RD"  # as they were at first
                answer = Answer(name, "trial:1", {"comment": SECRET}, {}, 0, 1, "mouse", "t", at(0))
                await setup.context.store.append([answer, End(name, "completed", "", "", receipt, at(0))])
                assert SECRET.encode() in bytes_of(tmp_path)
                tries = [receipt.lower(), receipt, "BH-1", 7, *["no"] * 8]
                messages = [await client.post("/api/forget", json={"receipt": one}) for one in tries]
            assert page.status_code == 200
            assert not [secret for secret in (PERSON, SECRET) if secret.encode() in bytes_of(tmp_path)]
            return [(one.status_code, one.json()) for one in messages]

    done, again, unknown, wrong, *rest = asyncio.run(work())
    assert done[0] == again[0] == 200
    assert done[1]["at"] == again[1]["at"]
    assert (unknown[0], unknown[1]["error"]["code"], wrong[0]) == (404, "unknown_receipt", 422)
    assert rest[-1][0] == 429  # nobody tries many


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
    result = purge(tmp_path)
    assert (result.people, result.sessions, result.is_done) == (2, 0, True)
    assert result.words == (
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
    result = purge(tmp_path)
    assert (result.people, result.is_done) == (2, True)
    assert not (tmp_path / FILE).exists()
    assert [one.event for one in entries(tmp_path, "purge")] == ["planned", "done"]
    assert purge(tmp_path).words[0] == "What is due is gone already."


def test_all_answers_go_on_their_day(tmp_path: Path) -> None:
    prepare(tmp_path)
    write_down(tmp_path, CLOSED)
    result = purge(tmp_path, identity="2027-01-31", answers="2027-01-31")
    assert (result.people, result.sessions, result.rows) == (2, 3, 29)
    assert SECRET.encode() not in bytes_of(tmp_path)
    done = [one.reason_code for one in entries(tmp_path, "purge") if one.event == "done"]
    assert done == ["identity", "answers"]
    assert result.words[1] == (
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

    async def try_with_server() -> str:
        async with decision_setup(tmp_path, url=url) as setup:
            await people_come(setup)
            await setup.store.ledger.append([CLOSED])
            with pytest.raises(StoreError) as messages:
                await asyncio.to_thread(purge_study, study, store=url, now=lambda: DAY)
            assert await setup.entries("purge") == []
            return str(messages.value)

    messages = asyncio.run(try_with_server())
    assert "is in use by another server" in messages
    assert messages.endswith("Stop the server, then run `beholder purge`.")
    assert purge_study(study, store=url, now=lambda: DAY).is_done


async def test_whoever_is_erased_has_left_stimuli_which_is_told_without_a_name(tmp_path: Path) -> None:
    study = write_bound(tmp_path, {"face-21": "ann", "face-22": "bob; ann=colleague"})
    receipts = []
    async with serving(study, tmp_path / "store") as (host, clock):
        for name in ("ann", "carl"):
            person = await come(host, clock, invited=invitation(host.store.secret, name))
            receipts.append((await host.withdraw(person.token))["receipt"])
    told = await asyncio.to_thread(lambda: [erase_by_receipt(str(one), study).words for one in receipts])
    own = (
        "4 stimuli of manifest.csv are for this person and stay, as the plan holds them: when nobody comes any more, "
        "delete the files, their lines, and their copies in media/ and in a bucket."
    )
    assert [own in words for words in told] == [True, False]
