"""Participant records: sessions, positions and verdicts, from Python and from the command line."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner

from beholder.cli.study import cli
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.participant_records import ParticipantRecord, participant_records
from beholder.store.contract import LedgerEntry
from support.cleaning_store import START
from support.decision_store import DecisionSetup, at, handed_in, run, three_participants, write_study_file


def test_everybody_is_told_with_where_they_are_and_what_the_rules_say(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[list[str], tuple[ParticipantRecord, ...]]:
        names = await three_participants(setup)
        payments = [
            LedgerEntry(kind, event, at(0), "submission-1", names[0], amount_minor=minor, currency="GBP")
            for kind, minor in (("approve", 200), ("bonus", 50))
            for event in ("planned", "settled")
        ]
        await setup.store.ledger.append(payments)
        await setup.come("robot", mode="robot")
        return names, await participant_records(setup.context)

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


def test_the_command_line_lists_and_shows(tmp_path: Path) -> None:
    async def decided(setup: DecisionSetup) -> list[str]:
        setup.platform.listed = [handed_in("6a1f", setup.code)]
        names = [*await three_participants(setup), await setup.come("session-paid", submission="6a1f", code=setup.code)]
        await decide_study(setup.context)
        return names

    names = run(tmp_path, decided)
    write_study_file(tmp_path)
    by_submission = CliRunner().invoke(cli, ["participants", "show", "6a1f", str(tmp_path), "--json"])
    assert json.loads(by_submission.output)["participant"] == names[3], "as decide/decisions.csv names it"
    listed = CliRunner().invoke(cli, ["participants", str(tmp_path)]).output.splitlines()
    assert listed[0].split() == ["participant", "mode", "visit", "sessions", "where", "pay", "use", "paid", "why"]
    assert listed[4].split() == [names[2], "prolific", "unverified", "2", "completed", "yes", "no", "–",
                                 "complete:screened_out;",
                                 "gold:wrong"]  # fmt: skip
    shown = CliRunner().invoke(cli, ["participants", "show", "session-open", str(tmp_path)]).output
    assert "Session session-open: came 2026-11-15 10:00:00, after trial 7 of 13, list 2, 7 minutes" in shown
    assert "trial:7  2026-11-15 10:07:00  12" in shown
    assert "complete  fail     Did not finish" in shown
    as_json = json.loads(CliRunner().invoke(cli, ["participants", "show", names[0], str(tmp_path), "--json"]).output)
    assert (as_json["participant"], as_json["sessions"][0]["outcome"]) == (names[0], "completed")
    assert as_json["sessions"][0]["steps"][0] == {"key": "trial:1", "at": "2026-11-15T09:01:00+00:00", "seconds": 12.0}
    assert as_json["sessions"][0]["rules"][0].keys() == {"check", "verdict", "reason", "words"}
    everybody = json.loads(CliRunner().invoke(cli, ["participants", str(tmp_path), "--json"]).output)["participants"]
    assert [one["participant"] for one in everybody] == names


def test_nobody_has_come(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[ParticipantRecord, ...]:
        setup.platform.listed = [handed_in("a")]
        return await participant_records(setup.context)

    assert run(tmp_path, work) == ()
