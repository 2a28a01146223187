"""Deciding: one row for each submission, with what is proposed and why."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.contract import DecisionRow
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.participant_records import participant_records
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from support.decision_store import CARELESS, FILE, Office, at, decide, handed_in, read, run


def test_each_case_of_a_platform_has_its_row_with_reasons(tmp_path: Path) -> None:
    async def work(made: Office) -> dict[str, DecisionRow]:
        made.platform.listed = [
            handed_in("right", made.code),
            handed_in("nocode", "NOCODE"),
            handed_in("wrong", "typo"),
            handed_in("left", "NOCODE"),
            handed_in("leaked", made.code),
            handed_in("never", made.code),
            handed_in("out", status="timed_out"),
            handed_in("gone", status="returned"),
            handed_in("careless", made.code),
        ]
        for name in ("right", "nocode", "wrong", "gone"):
            await made.come(name, submission=name, code=made.code)
        await made.come("left", None, submission="left", trials=3)
        await made.come("leaked", None, submission="leaked", trials=3)
        await made.come("out", "screened_out", submission="out")
        await made.come("careless", submission="careless", obeys=CARELESS, code=made.code)
        await made.come("other", submission="another-study")
        return await decide(made)

    rows = run(tmp_path, work)
    found = {name: (row.pay, row.use, row.code, row.reasons) for name, row in rows.items()}
    assert found == {
        "right": ("approve", True, "right", ()),
        "nocode": ("approve", True, "missing", ("platform:missing_code",)),
        "wrong": ("approve", True, "wrong", ("platform:wrong_code",)),
        "left": ("return", False, "missing", ("platform:missing_code", "platform:no_data", "complete:not_finished")),
        "leaked": ("look", False, "foreign", ("platform:foreign_code", "platform:no_data", "complete:not_finished")),
        "never": ("look", False, "foreign", ("platform:foreign_code", "platform:no_data")),
        "out": ("screen_out", False, "none", ("platform:timed_out", "complete:screened_out")),
        "gone": ("nothing", False, "missing", ("platform:returned",)),
        "careless": ("reject", False, "right", ("trap:wrong",)),
        "other": ("nothing", False, "none", ("platform:no_submission",)),
    }
    assert rows["careless"].category == "FAILED_CHECK"
    assert rows["careless"].message == (
        "Thank you for your time. Some of what this study shows asks for a certain answer itself, somewhere in the "
        "middle. Here it was answered in another way: "
        "Rating page 4: asked for the answer “Good”. Rating page 7: asked for the answer “Good”. "
        "If you think that this is a mistake, or if you have a question, please write to name@example.org."
    )
    assert rows["left"].message.startswith("We do not have all of your answers")
    assert rows["never"].words == (
        "Handed in with a code that this person was not shown; Handed in, and nothing whole is here"
    )


def test_no_id_of_a_person_is_in_the_file_or_in_the_ledger(tmp_path: Path) -> None:
    async def work(made: Office) -> list[LedgerEntry]:
        await made.come("a", person="pid-a")
        looked = await decide_study(made.context, submissions=tmp_path / "list.csv")
        assert looked.words[1] == (
            "pay/by_hand.csv has the ids of 1 person to reject, ask back or look at on the platform. "
            "Keep it to yourself."
        )
        await decide_study(made.context, submissions=tmp_path / "list.csv", sign="Ada")
        return list(await made.store.ledger.entries())

    (tmp_path / "list.csv").write_text("participant,code\npid-a,K7QM\npid-stranger,K7QM\n", "utf-8")
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "2.00 GBP"}
    entries = run(tmp_path, work, listed=False, recruit=recruit)
    assert "pid-" not in (tmp_path / FILE).read_text("utf-8")
    assert "pid-" not in str([asdict(entry) for entry in entries])
    lines = read(tmp_path)
    assert [line["pay"] for line in lines] == ["approve", "return"]
    assert lines[0]["submission"] == lines[0]["participant"]
    by_hand = tmp_path / "pay" / "by_hand.csv"
    (line,) = csv.DictReader(io.StringIO(by_hand.read_text("utf-8"), newline=""))
    assert (line["id"], line["submission"], line["pay"]) == ("pid-stranger", lines[1]["submission"], "return")
    assert line["message"] == lines[1]["message"]
    if os.name != "nt":
        assert by_hand.stat().st_mode & 0o777 == 0o600


def test_a_week_after_somebody_was_asked_to_return_it_a_person_looks(tmp_path: Path) -> None:
    async def work(made: Office) -> Sequence[str]:
        made.platform.listed = [handed_in("a", "NOCODE", completed_at=at(0), is_return_requested=True)]
        await made.come("a", None, submission="a", trials=2)
        found = []
        for days in (0, 6.9, 7):
            made.days = days
            found.append((await decide(made))["a"].pay)
        return found

    assert run(tmp_path, work) == ["return", "return", "look"]


def test_the_list_of_whoever_left_on_the_platform_is_given_back_once(tmp_path: Path) -> None:
    async def work(made: Office) -> list[LedgerEntry]:
        made.platform.listed = [handed_in("a", status="timed_out"), handed_in("b", status="returned")]
        await made.come("a", None, submission="a", trials=2)
        await made.come("b", submission="b")
        await decide(made)
        await decide(made)
        return await made.entries("release")

    (entry,) = run(tmp_path, work)
    assert (entry.session, entry.submission, entry.reason_code) == ("a", "a", "timed_out")


def test_whoever_withdrew_is_asked_to_return_it_and_whoever_was_forgotten_is_paid(tmp_path: Path) -> None:
    from beholder.server.endings import shared_codes
    from beholder.server.service import erase_sessions

    async def work(made: Office) -> tuple[dict[str, DecisionRow], list[tuple[bool | None, tuple[str, ...]]]]:
        left = shared_codes(made.context.study, made.store.secret)["no_consent"]
        made.platform.listed = [handed_in("left", left), handed_in("done", made.code)]
        await made.come("s1", "withdrawn", submission="left", trials=2)
        await made.store.erase("s1", at(0))
        await made.come("s2", submission="done", code=made.code)
        await erase_sessions(made.store, ["s2"], "receipt", at(0))
        await made.come("s3", "no_consent", person="p3", trials=0)
        await made.store.erase("s3", at(0))
        told = [
            (one.accept, one.reasons) for person in await participant_records(made.context) for one in person.sessions
        ]
        return await decide(made), told

    rows, told = run(tmp_path, work)
    assert told == [
        (False, ("complete:withdrawn",)), (True, ("complete:withdrawn",)), (False, ("complete:no_consent",)),
    ], "participants says what decide says"  # fmt: skip
    assert {name: (row.pay, row.use) for name, row in rows.items()} == {
        "left": ("return", False),
        "done": ("approve", False),
        "s1": ("nothing", False),
        "s3": ("nothing", False),
    }
    assert rows["s3"].words == "Did not agree to take part"
    assert rows["left"].message.startswith("You did not agree to take part")


def test_further_rounds_of_one_visit_are_named_for_their_bonus(tmp_path: Path) -> None:
    async def work(made: Office) -> list[LedgerEntry]:
        made.platform.listed = [handed_in("a", made.code)]
        await made.come("s1", submission="a", person="p", code=made.code)
        await made.come("s2", person="p", visit=2, code=made.code)
        await made.come("s3", None, person="p", visit=3, trials=1)
        await decide_study(made.context, sign="run")
        return await made.entries("decisions")

    (row,) = signed_rows(run(tmp_path, work)).values()
    assert (row.pay, row.sessions, row.further) == ("approve", ("s1", "s2", "s3"), ("s2",))


@pytest.mark.parametrize(("mode", "reward", "pay"), [("link", None, "nothing"), ("lab", "2.00 GBP", "approve")])
def test_without_a_platform_every_session_is_a_row(tmp_path: Path, mode: str, reward: str | None, pay: str) -> None:
    async def work(made: Office) -> dict[str, DecisionRow]:
        await made.come("a")
        await made.come("b", None, trials=2)
        return await decide(made)

    recruit = {"mode": mode} | ({"reward": reward} if reward else {})
    rows = run(tmp_path, work, listed=False, recruit=recruit)
    assert {name: row.pay for name, row in rows.items()} == {"a": pay, "b": "wait"}


def test_nobody_has_come(tmp_path: Path) -> None:
    found = run(tmp_path, lambda made: decide_study(made.context))
    assert (found.rows, found.words) == ((), ("Nobody has come yet, so there is nothing to decide.",))


def test_what_cannot_be_decided_is_told(tmp_path: Path) -> None:
    async def told(made: Office, **keys: Any) -> str:
        with pytest.raises(RecruitError) as error:
            await decide_study(made.context, **keys)
        return str(error.value)

    async def not_launched(made: Office) -> str:
        made.platform.can = frozenset({"submissions"})
        return await told(made)

    async def purged(made: Office) -> str:
        await made.store.ledger.append([LedgerEntry("purge", "done", at(0), reason_code="identity")])
        return await told(made)

    assert run(tmp_path / "1", not_launched, listed=False) == (
        "cleaned  run 1 is not on the platform yet, so there is nothing to decide. Run `beholder launch` first."
    )
    assert run(tmp_path / "2", purged) == (
        "cleaned  who is who was erased on 2026-11-16, so submissions and sessions cannot be matched any more. "
        "Decide and pay on the platform itself."
    )
    assert run(tmp_path / "3", lambda made: told(made, submissions=tmp_path / "x.csv")) == (
        "--submissions  does not go with mode prolific. Allowed: mode panel, whose platform gives a list to download."
    )
