"""Moderation: participants are identified by the beginning of an id, and acts recorded with their reason."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from click.testing import CliRunner

from beholder.cli.study import cli
from beholder.errors import RecruitError
from beholder.recruiting.moderation import ModerationResult, find_participant, record_act
from beholder.recruiting.participant_records import ParticipantRecord, participant_records
from beholder.store.contract import LedgerEntry, PlatformIdentity
from beholder.store.open import open_store
from support.decision_store import DecisionSetup, at, run, three_participants, write_study_file


def test_an_id_is_found_by_its_beginning_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[list[str], tuple[ParticipantRecord, ...]]:
        return await three_participants(setup), await participant_records(setup.context)

    names, everybody = run(tmp_path, work)
    person, session = find_participant(everybody, names[0][:6], tmp_path)
    assert (person.participant, session) == (names[0], None)
    person, session = find_participant(everybody, "session-d", tmp_path)
    assert session is not None
    assert session.session == "session-done"
    messages = []
    for wrong in ("session-", "sessoin-done", "x", ""):
        with pytest.raises(RecruitError) as error:
            find_participant(everybody, wrong, tmp_path)
        messages.append(str(error.value))
    assert messages == [
        "session-  is the beginning of 2 ids. Allowed: session-done, session-open. Write more of it.",
        "sessoin-done  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. Did you mean session-done?",
        "x  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. `beholder participants` lists everybody.",
        "ID  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. `beholder participants` lists everybody.",
    ]


def test_acts_are_recorded_with_their_reasons(tmp_path: Path) -> None:
    async def work(
        setup: DecisionSetup,
    ) -> tuple[list[str], list[ModerationResult], list[LedgerEntry], ParticipantRecord]:
        names = await three_participants(setup)
        done = [
            await record_act(setup.context, "shut_out", names[1], "sent three mails"),
            await record_act(setup.context, "shut_out", names[1], "again"),
            await record_act(setup.context, "let_in", names[1], "sorry"),
            await record_act(setup.context, "let_in", names[1], "sorry"),
            await record_act(setup.context, "reset", names[1], "another screen", dry_run=True),
            await record_act(setup.context, "reset", names[1], "another screen"),
            await record_act(setup.context, "reset", names[1], "another screen"),
            await record_act(setup.context, "leave_out", names[2], "a colleague"),
            await record_act(setup.context, "leave_out", "twice-later", "a colleague"),
            await record_act(setup.context, "take_in", "twice-later", "no colleague"),
            await record_act(setup.context, "release", "session-o", "has gone", dry_run=True),
            await record_act(setup.context, "release", names[1], "has gone"),
        ]
        entries = [one for one in await setup.store.ledger.entries() if one.kind != "draft"]
        return names, done, entries, find_participant(await participant_records(setup.context), names[2], tmp_path)[0]

    names, done, entries, twice = run(tmp_path, work)
    assert [(one.kind, one.participant, one.session, one.reason_code, one.reason_text) for one in entries] == [
        ("shut_out", names[1], "", "", "sent three mails"),
        ("let_in", names[1], "", "", "sorry"),
        ("reset", names[1], "", "", "another screen"),
        ("leave_out", names[2], "twice-first", "left_out", "a colleague"),
        ("leave_out", names[2], "twice-later", "left_out", "a colleague"),
        ("take_in", names[2], "twice-later", "taken_in", "no colleague"),
        ("release", names[1], "session-open", "", "has gone"),
    ]
    assert [one.words for one in done] == [
        f"{names[1]}: is turned away kindly, also from a session that is open. Recorded.",
        f"{names[1]} is shut out already. Nothing is recorded.",
        f"{names[1]}: is turned away no longer. Recorded.",
        f"{names[1]}: is not shut out, and goes on by the same link. Nothing is recorded.",
        f"{names[1]}: at the next arrival all attempts begin anew. Nothing is recorded.",
        f"{names[1]}: at the next arrival all attempts begin anew. Recorded.",
        f"{names[1]}: at the next arrival all attempts begin anew already. Nothing is recorded.",
        f"{names[2]}: is not used, whatever the rules say; `beholder clean` goes by it. Recorded.",
        "twice-later: left out already. Nothing is recorded.",
        "twice-later: is used, whatever the rules over the session say; `beholder clean` goes by it. Recorded.",
        "session-open: the list is open to others; whoever comes back still finishes it. Nothing is recorded.",
        "session-open: the list is open to others; whoever comes back still finishes it. Recorded; the server that is "
        "running does it within a second.",
    ]
    assert [one.use for one in twice.sessions] == [False, True]
    assert [done.kind for done in twice.acts] == ["leave_out", "leave_out", "take_in"]


def test_who_is_let_in_or_begins_anew_can_begin(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[list[str], list[str]]:
        names = await three_participants(setup)
        names.append(await setup.come("session-out", "screened_out", person="pid-4"))
        names.append(await setup.come("session-run", None, person="pid-5", run=2))
        names.append(await setup.come("session-gone", "withdrawn", person="pid-6"))
        await setup.store.erase("session-gone", at(0))
        messages = []
        for kind, who in (
            ("let_in", names[3]), ("let_in", names[3]), ("let_in", names[0]), ("reset", names[2]), ("reset", names[4]),
            ("reset", names[5]), ("let_in", names[5]), ("shut_out", names[1]), ("reset", names[1]),
        ):  # fmt: skip
            try:
                messages.append((await record_act(setup.context, kind, who, "asked")).words)  # type: ignore[arg-type]
            except RecruitError as error:
                messages.append(str(error))
        return names, messages

    names, messages = run(tmp_path, work)
    assert messages == [
        f"{names[3]}: may begin again. Recorded.",
        f"{names[3]}: may begin again already. Nothing is recorded.",
        f"{names[0]}  has finished. Allowed: somebody who was shut out, or whose session ended early.",
        f"{names[2]}  has finished. Allowed: somebody whose session is open, or ended early.",
        f"{names[4]}  took part in run 2, and nobody takes part in two runs.",
        f"{names[5]}  was erased, and there is nothing left to begin anew.",
        f"{names[5]}: may begin again. Recorded.",
        f"{names[1]}: is turned away kindly, also from a session that is open. Recorded.",
        f"{names[1]}  is shut out. `beholder participants let-in` comes first.",
    ]


def test_a_list_is_given_back_at_once_where_no_server_runs(tmp_path: Path) -> None:
    async def live() -> int:
        async with open_store(tmp_path / "store", write=False) as store:
            return (await store.counts(at(0)))["live"]

    run(tmp_path, three_participants)
    write_study_file(tmp_path)
    assert asyncio.run(live()) == 1
    done = CliRunner().invoke(cli, ["participants", "release", "session-open", str(tmp_path), "--reason", "has gone"])
    assert done.output == (
        "session-open: the list is open to others; whoever comes back still finishes it. Recorded.\n"
    )
    assert asyncio.run(live()) == 0


def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[str]:
        await three_participants(setup)
        await setup.store.erase("session-done", at(0))
        await setup.store.identify(PlatformIdentity("somebody", "prolific", "5f3a9c0d1e2b"))
        messages = []
        for kind, who, reason in (
            ("release", "twice-later", "has gone"),
            ("take_in", "session-done", "good"),
            ("reset", "session-done", " "),
            ("reset", "session-done", "5f3a9c0d1e2b wrote to us"),
        ):
            with pytest.raises(RecruitError) as error:
                await record_act(setup.context, kind, who, reason)  # type: ignore[arg-type]
            messages.append(str(error.value))
        return messages

    assert run(tmp_path, work) == [
        "twice-later  holds no list: twice-later ended (completed). Allowed: a session that has begun and not ended.",
        "session-done  was erased, and there is nothing left to use.",
        "--reason  is empty. Allowed: a few words, which are kept.",
        "--reason  holds somebody's id on their platform. Allowed: words without ids. Write the pseudonym, or nobody: "
        "it is recorded with whom it is about anyway.",
    ]
