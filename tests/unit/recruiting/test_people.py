"""Who came, and what is done about somebody: found by the beginning of an id, recorded with its reason."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from beholder.cli.study import cli
from beholder.errors import RecruitError
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.moderation import ModerationResult, find_participant, record_act
from beholder.recruiting.participant_records import ParticipantRecord, participant_records
from beholder.store.contract import LedgerEntry, PlatformIdentity
from beholder.store.open import open_store
from support.cleaning_store import START
from support.decision_store import Office, at, handed_in, run


async def some(made: Office) -> list[str]:
    """Let three come: one is done, one is on the way, one came twice."""
    done = await made.come("session-done", person="pid-1")
    open_ = await made.come("session-open", None, person="pid-2", trials=7)
    await made.come("twice-first", "screened_out", person="pid-3")
    twice = await made.come("twice-later", person="pid-3", visit=2, gold=1)
    return [done, open_, twice]


def test_everybody_is_told_with_where_they_are_and_what_the_rules_say(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[list[str], tuple[ParticipantRecord, ...]]:
        names = await some(made)
        payments = [
            LedgerEntry(kind, event, at(0), "submission-1", names[0], amount_minor=minor, currency="GBP")
            for kind, minor in (("approve", 200), ("bonus", 50))
            for event in ("planned", "settled")
        ]
        await made.store.ledger.append(payments)
        await made.come("robot", mode="robot")
        return names, await participant_records(made.context)

    names, (done, open_, twice) = run(tmp_path, work)
    assert [done.participant, open_.participant, twice.participant] == names
    assert (done.sessions[0].at, str(done.paid), done.sessions[0].accept) == ("completed", "2.50 GBP", True)
    assert (open_.sessions[0].at, open_.paid, open_.sessions[0].accept) == ("after trial 7 of 13", None, None)
    assert [(one.at, one.use, one.reasons) for one in twice.sessions] == [
        ("screened out", False, ("complete:screened_out",)),
        ("completed", False, ("gold:wrong",)),
    ]
    first = done.sessions[0].steps[0]
    assert (first.key, first.seconds, (first.at - START).seconds) == ("trial:1", 12.0, 60)
    assert ("gold", "fail", "Gold stimuli rated far from their known value") in [
        (rule.check, rule.verdict, rule.words) for rule in twice.sessions[1].rules
    ]


def test_an_id_is_found_by_its_beginning_and_a_wrong_one_is_told(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[list[str], tuple[ParticipantRecord, ...]]:
        return await some(made), await participant_records(made.context)

    names, everybody = run(tmp_path, work)
    person, session = find_participant(everybody, names[0][:6], tmp_path)
    assert (person.participant, session) == (names[0], None)
    person, session = find_participant(everybody, "session-d", tmp_path)
    assert session is not None
    assert session.session == "session-done"
    told = []
    for wrong in ("session-", "sessoin-done", "x", ""):
        with pytest.raises(RecruitError) as error:
            find_participant(everybody, wrong, tmp_path)
        told.append(str(error.value))
    assert told == [
        "session-  is the beginning of 2 ids. Allowed: session-done, session-open. Write more of it.",
        "sessoin-done  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. Did you mean session-done?",
        "x  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. `beholder participants` lists everybody.",
        "ID  is nobody who came. Allowed: a pseudonym, a session, or its beginning; a submission in "
        "decide/decisions.csv. `beholder participants` lists everybody.",
    ]


def test_acts_are_recorded_with_their_reasons(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[list[str], list[ModerationResult], list[LedgerEntry], ParticipantRecord]:
        names = await some(made)
        done = [
            await record_act(made.context, "shut_out", names[1], "sent three mails"),
            await record_act(made.context, "shut_out", names[1], "again"),
            await record_act(made.context, "let_in", names[1], "sorry"),
            await record_act(made.context, "let_in", names[1], "sorry"),
            await record_act(made.context, "reset", names[1], "another screen", dry_run=True),
            await record_act(made.context, "reset", names[1], "another screen"),
            await record_act(made.context, "reset", names[1], "another screen"),
            await record_act(made.context, "leave_out", names[2], "a colleague"),
            await record_act(made.context, "leave_out", "twice-later", "a colleague"),
            await record_act(made.context, "take_in", "twice-later", "no colleague"),
            await record_act(made.context, "release", "session-o", "has gone", dry_run=True),
            await record_act(made.context, "release", names[1], "has gone"),
        ]
        entries = [one for one in await made.store.ledger.entries() if one.kind != "draft"]
        return names, done, entries, find_participant(await participant_records(made.context), names[2], tmp_path)[0]

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
    async def work(made: Office) -> tuple[list[str], list[str]]:
        names = await some(made)
        names.append(await made.come("session-out", "screened_out", person="pid-4"))
        names.append(await made.come("session-run", None, person="pid-5", run=2))
        names.append(await made.come("session-gone", "withdrawn", person="pid-6"))
        await made.store.erase("session-gone", at(0))
        told = []
        for kind, who in (
            ("let_in", names[3]), ("let_in", names[3]), ("let_in", names[0]), ("reset", names[2]), ("reset", names[4]),
            ("reset", names[5]), ("let_in", names[5]), ("shut_out", names[1]), ("reset", names[1]),
        ):  # fmt: skip
            try:
                told.append((await record_act(made.context, kind, who, "asked")).words)  # type: ignore[arg-type]
            except RecruitError as error:
                told.append(str(error))
        return names, told

    names, told = run(tmp_path, work)
    assert told == [
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

    run(tmp_path, some)
    write(tmp_path)
    assert asyncio.run(live()) == 1
    done = CliRunner().invoke(cli, ["participants", "release", "session-open", str(tmp_path), "--reason", "has gone"])
    assert done.output == (
        "session-open: the list is open to others; whoever comes back still finishes it. Recorded.\n"
    )
    assert asyncio.run(live()) == 0


def write(folder: Path) -> None:
    """Write the study beside its store, as the command line reads it."""
    from support.decision_store import make_study

    (folder / "stimuli").mkdir(exist_ok=True)
    text = yaml.safe_dump(make_study(folder).model_dump(mode="json", exclude_unset=True))
    (folder / "study.yaml").write_text(text, "utf-8")


def test_what_cannot_be_done_is_told(tmp_path: Path) -> None:
    async def work(made: Office) -> list[str]:
        await some(made)
        await made.store.erase("session-done", at(0))
        await made.store.identify(PlatformIdentity("somebody", "prolific", "5f3a9c0d1e2b"))
        told = []
        for kind, who, reason in (
            ("release", "twice-later", "has gone"),
            ("take_in", "session-done", "good"),
            ("reset", "session-done", " "),
            ("reset", "session-done", "5f3a9c0d1e2b wrote to us"),
        ):
            with pytest.raises(RecruitError) as error:
                await record_act(made.context, kind, who, reason)  # type: ignore[arg-type]
            told.append(str(error.value))
        return told

    assert run(tmp_path, work) == [
        "twice-later  holds no list: twice-later ended (completed). Allowed: a session that has begun and not ended.",
        "session-done  was erased, and there is nothing left to use.",
        "--reason  is empty. Allowed: a few words, which are kept.",
        "--reason  holds somebody's id on their platform. Allowed: words without ids. Write the pseudonym, or nobody: "
        "it is recorded with whom it is about anyway.",
    ]


def test_the_command_line_lists_and_shows(tmp_path: Path) -> None:
    async def decided(made: Office) -> list[str]:
        made.platform.listed = [handed_in("6a1f", made.code)]
        names = [*await some(made), await made.come("session-paid", submission="6a1f", code=made.code)]
        await decide_study(made.context)
        return names

    names = run(tmp_path, decided)
    write(tmp_path)
    by_submission = CliRunner().invoke(cli, ["participants", "show", "6a1f", str(tmp_path), "--json"])
    assert json.loads(by_submission.output)["participant"] == names[3], "as decide/decisions.csv names it"
    listed = CliRunner().invoke(cli, ["participants", str(tmp_path)]).output.splitlines()
    assert listed[0].split() == ["participant", "mode", "sessions", "where", "pay", "use", "paid", "why"]
    assert listed[4].split() == [names[2], "prolific", "2", "completed", "yes", "no", "–", "complete:screened_out;",
                                 "gold:wrong"]  # fmt: skip
    shown = CliRunner().invoke(cli, ["participants", "show", "session-open", str(tmp_path)]).output
    assert "Session session-open: came 2026-11-15 10:00:00, after trial 7 of 13, list 2, 7 minutes" in shown
    assert "trial:7  2026-11-15 10:07:00  12" in shown
    assert "complete  fail     Did not finish" in shown
    as_json = json.loads(CliRunner().invoke(cli, ["participants", "show", names[0], str(tmp_path), "--json"]).output)
    assert (as_json["participant"], as_json["sessions"][0]["outcome"]) == (names[0], "completed")
    assert as_json["sessions"][0]["steps"][0] == {"key": "trial:1", "at": "2026-11-15T09:01:00+00:00", "seconds": 12.0}
    assert as_json["sessions"][0]["rules"][0].keys() == {"check", "verdict", "reason", "words"}
    everybody = json.loads(CliRunner().invoke(cli, ["participants", str(tmp_path), "--json"]).output)
    assert [one["participant"] for one in everybody] == names


def test_nobody_has_come(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[ParticipantRecord, ...]:
        made.platform.listed = [handed_in("a")]
        return await participant_records(made.context)

    assert run(tmp_path, work) == ()
