"""Proposals: one row for each submission, with its reasons and messages."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.contract import DecisionRow
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.participant_records import participant_records
from beholder.recruiting.signatures import signed_rows
from beholder.server.entrances import shared_codes
from beholder.store.contract import LedgerEntry
from beholder.types import Json
from support.decision_store import CARELESS, POSTING, DecisionSetup, at, decide, edit, handed_in, run


def test_each_case_of_a_platform_has_its_row_with_reasons(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> dict[str, DecisionRow]:
        setup.platform.listed = [
            handed_in("right", setup.code),
            handed_in("nocode", "NOCODE"),
            handed_in("wrong", "typo"),
            handed_in("left", "NOCODE"),
            handed_in("leaked", setup.code),
            handed_in("never", setup.code),
            handed_in("out", status="timed_out"),
            handed_in("gone", status="returned"),
            handed_in("careless", setup.code),
        ]
        for name in ("right", "nocode", "wrong", "gone"):
            await setup.come(name, submission=name, code=setup.code)
        await setup.come("left", None, submission="left", trials=3)
        await setup.come("leaked", None, submission="leaked", trials=3)
        await setup.come("out", "screened_out", submission="out")
        await setup.come("careless", submission="careless", obeys=CARELESS, code=setup.code)
        await setup.come("other", submission="another-study")
        return await decide(setup)

    rows = run(tmp_path, work)
    result = {name: (row.pay, row.use, row.code, row.reasons) for name, row in rows.items()}
    assert result == {
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


def test_a_week_after_somebody_was_asked_to_return_it_a_person_looks(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> Sequence[str]:
        setup.platform.listed = [handed_in("a", "NOCODE", completed_at=at(0), is_return_requested=True)]
        await setup.come("a", None, submission="a", trials=2)
        result = []
        for days in (0, 6.9, 7):
            setup.days = days
            result.append((await decide(setup))["a"].pay)
        return result

    assert run(tmp_path, work) == ["return", "return", "look"]


def test_whoever_withdrew_is_asked_to_return_it_and_whoever_was_forgotten_is_paid(tmp_path: Path) -> None:
    from beholder.server.entrances import shared_codes
    from beholder.server.erasure import erase_sessions

    async def work(setup: DecisionSetup) -> tuple[dict[str, DecisionRow], list[tuple[bool | None, tuple[str, ...]]]]:
        left = shared_codes(setup.context.study, setup.store.secret)["no_consent"]
        setup.platform.listed = [handed_in("left", left), handed_in("done", setup.code)]
        await setup.come("s1", "withdrawn", submission="left", trials=2)
        await setup.store.erase("s1", at(0))
        await setup.come("s2", submission="done", code=setup.code)
        await erase_sessions(setup.store, ["s2"], "receipt", at(0))
        await setup.come("s3", "no_consent", person="p3", trials=0)
        await setup.store.erase("s3", at(0))
        messages = [
            (one.accept, one.reasons) for person in await participant_records(setup.context) for one in person.sessions
        ]
        return await decide(setup), messages

    rows, messages = run(tmp_path, work)
    assert messages == [
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
    async def work(setup: DecisionSetup) -> list[LedgerEntry]:
        setup.platform.listed = [handed_in("a", setup.code)]
        await setup.come("s1", submission="a", person="p", code=setup.code)
        await setup.come("s2", person="p", visit=2, code=setup.code)
        await setup.come("s3", None, person="p", visit=3, trials=1)
        await decide_study(setup.context, sign="run")
        return await setup.entries("decisions")

    (row,) = signed_rows(run(tmp_path, work)).values()
    assert (row.pay, row.sessions, row.further) == ("approve", ("s1", "s2", "s3"), ("s2",))


@pytest.mark.parametrize(("mode", "reward", "pay"), [("link", None, "nothing"), ("lab", "2.00 GBP", "approve")])
def test_without_a_platform_every_session_is_a_row(tmp_path: Path, mode: str, reward: str | None, pay: str) -> None:
    async def work(setup: DecisionSetup) -> dict[str, DecisionRow]:
        await setup.come("a")
        await setup.come("b", None, trials=2)
        return await decide(setup)

    recruit = {"mode": mode} | ({"reward": reward} if reward else {})
    rows = run(tmp_path, work, listed=False, recruit=recruit)
    assert {name: row.pay for name, row in rows.items()} == {"a": pay, "b": "wait"}


def test_what_cannot_be_decided_is_told(tmp_path: Path) -> None:
    async def messages(setup: DecisionSetup, **keys: Any) -> str:
        with pytest.raises(RecruitError) as error:
            await decide_study(setup.context, **keys)
        return str(error.value)

    async def not_launched(setup: DecisionSetup) -> str:
        setup.platform.can = frozenset({"submissions"})
        return await messages(setup)

    async def purged(setup: DecisionSetup) -> str:
        await setup.store.ledger.append([LedgerEntry("purge", "done", at(0), reason_code="identity")])
        return await messages(setup)

    assert run(tmp_path / "1", not_launched, listed=False) == (
        "cleaned  run 1 is not on the platform yet, so there is nothing to decide. Run `beholder launch` first."
    )
    assert run(tmp_path / "2", purged) == (
        "cleaned  who is who was erased on 2026-11-16, so submissions and sessions cannot be matched any more. "
        "Decide and pay on the platform itself."
    )
    assert run(tmp_path / "3", lambda setup: messages(setup, submissions=tmp_path / "x.csv")) == (
        "--submissions  does not go with mode prolific. Allowed: mode panel, whose platform gives a list to download."
    )


def test_whoever_is_paid_without_having_taken_part_reads_why_and_how_much(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> dict[str, tuple[str, str]]:
        await setup.come("s1", None, submission="full", trials=0)
        await setup.come("s2", "screened_out", submission="unfit")
        await setup.come("s3", None, submission="left", trials=2)
        codes = shared_codes(setup.context.study, setup.store.secret)
        launched: Json = {"key": "k", "places": 4, "screen_out": "0.20 GBP"}
        now = setup.context.now()
        await setup.store.ledger.append([LedgerEntry("draft", "done", now, provider_ref=POSTING, evidence=launched)])
        setup.platform.listed = [
            handed_in("full", codes["technical"], person="pid-s1"),
            handed_in("unfit", codes["screened_out"], person="pid-s2"),
            handed_in("left", person="pid-s3"),
        ]
        result = await decide(setup)
        edit(tmp_path, "left", pay="screen_out")
        assert (await decide(setup))["left"].pay == "screen_out"
        return {key: (row.pay, row.message) for key, row in result.items()}

    # The study does not name it any more: what was launched is what people were promised.
    assert run(tmp_path, work, recruit={"mode": "prolific", "reward": "2.00 GBP"}) == {
        "full": (
            "screen_out",
            "When you came, every place of this study was taken, or it had just closed. We are sorry: you did nothing "
            "wrong. You get £0.20 as a bonus for your time; please return the study.",
        ),
        "unfit": (
            "screen_out",
            "You did not fit what this study needs. You did nothing wrong. You get £0.20 as a bonus for your time; "
            "please return the study.",
        ),
        "left": (
            "return",
            "We do not have all of your answers: the study was handed in before its last page. Please return it. If "
            "you think that this is a mistake, write to us, and we look at it.",
        ),
    }
