"""Signatures: what a run may sign, and how a signature changes the use of sessions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.cleaning.tables import clean_tables
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.store.tables import SHAPES
from beholder.types import Json
from support.cleaning_store import decided as judged
from support.cleaning_store import rows as read_table
from support.decision_store import CARELESS, DecisionSetup, at, decide, edit, handed_in, run
from support.payable_study import JUST

LONG = (
    "On two pages the video itself asked for an answer, and another one was given on both of them. Please write to "
    "name@example.org if you think that this is a mistake."
)


def test_a_run_signs_nothing_that_is_against_anybody(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
        setup.platform.listed = [handed_in("a", setup.code), handed_in("b", setup.code), handed_in("c"), handed_in("d")]
        await setup.come("a", submission="a", code=setup.code)
        await setup.come("b", submission="b", obeys=CARELESS, code=setup.code)
        await setup.come("c", "screened_out", submission="c")
        await setup.come("d", None, submission="d", trials=2)
        await decide_study(setup.context, sign="run")
        by_run = await setup.entries("decisions")
        await decide_study(setup.context, sign="Ada")
        await decide_study(setup.context, sign="run")
        return by_run, await setup.entries("decisions")

    by_run, all_of_it = run(tmp_path, work)
    assert {name: row.pay for name, row in signed_rows(by_run).items()} == {
        "a": "approve", "c": "screen_out", "d": "return",
    }  # fmt: skip
    assert {name: (row.by, row.pay) for name, row in signed_rows(all_of_it).items()} == {
        "a": ("Ada", "approve"),
        "b": ("Ada", "reject"),
        "c": ("Ada", "screen_out"),
        "d": ("Ada", "return"),
    }


def test_even_a_forged_signature_of_a_run_rejects_nobody() -> None:
    row: dict[str, Json] = {"pay": "reject", "use": True, "category": "OTHER", "message": LONG}
    assert (
        signed_rows([LedgerEntry("decisions", "done", at(0), evidence={"by": "run", "digest": "", "rows": {"a": row}})])
        == {}
    )


def test_signed_use_reaches_cleaning_and_comes_back(tmp_path: Path) -> None:
    """What was returned, came from elsewhere or was left out by hand is not used; what was taken in is."""

    async def clean(setup: DecisionSetup) -> dict[str, tuple[str, str, str]]:
        tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(setup.store, table) for table in SHAPES}
        return judged(clean_tables(setup.context.study, tables))

    async def work(setup: DecisionSetup) -> list[dict[str, tuple[str, str, str]]]:
        setup.platform.listed = [
            handed_in("back", setup.code, "returned"),
            handed_in("bad", setup.code),
            handed_in("good", setup.code),
        ]
        await setup.come("back", submission="back", code=setup.code)
        await setup.come("bad", submission="bad", code=setup.code, gold=1)
        await setup.come("good", submission="good", code=setup.code)
        await setup.come("other", submission="elsewhere")
        await decide(setup)
        edit(tmp_path, "bad", use="true")
        edit(tmp_path, "good", use="false")
        await decide(setup)
        result = [await clean(setup)]
        await decide(setup, sign="Ada")
        result.append(await clean(setup))
        setup.platform.listed[0] = handed_in("back", setup.code)
        edit(tmp_path, "good", use="true")
        await decide(setup)
        await decide(setup, sign="Ada")
        return [*result, await clean(setup)]

    before, signed, after = run(tmp_path, work)
    assert before["back"] == ("true", "true", "")
    assert signed == {
        "back": ("true", "false", "person:returned"),
        "bad": ("true", "true", "gold:wrong"),
        "good": ("true", "false", "person:left_out"),
        "other": ("true", "false", "person:no_submission"),
    }
    assert after == {**signed, "back": ("true", "true", ""), "good": ("true", "true", "")}
    account = (tmp_path / "clean" / "account.md").read_text("utf-8")
    assert "Taken in by hand, whatever the rules say: 2 sessions." in account
    assert "Came from elsewhere" in account


def test_the_account_and_the_verdicts_say_who_was_left_out_by_hand(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> Any:
        await setup.come("a")
        await setup.come("b")
        act = LedgerEntry("leave_out", "done", at(0), session="a", reason_text="a colleague")
        await setup.store.ledger.append([act])
        return clean_tables(setup.context.study, {table: await read_rows(setup.store, table) for table in SHAPES})

    cleaned = run(tmp_path, work)
    assert {lost.words: (lost.sessions, lost.costs) for lost in cleaned.lost} == {"Left out by hand": (1, True)}
    (verdict,) = [row for row in read_table(cleaned, "verdicts") if row["check"] == "person"]
    assert (verdict["session"], verdict["verdict"], verdict["reason"]) == ("a", "fail", "left_out")
    assert "colleague" not in str(read_table(cleaned, "verdicts"))


def test_that_somebody_had_to_wait_is_no_decision() -> None:
    def signed(by: str, pay: str) -> LedgerEntry:
        evidence = {"by": by, "digest": "", "rows": {"s": {"pay": pay, "use": True}}}
        return LedgerEntry("decisions", "done", JUST, evidence=evidence)  # type: ignore[arg-type]

    assert signed_rows([signed("Ann", "wait"), signed("run", "approve")])["s"].pay == "approve"
    assert signed_rows([signed("Ann", "nothing"), signed("run", "approve")])["s"].pay == "nothing"
