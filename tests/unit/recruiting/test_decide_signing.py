"""Signing: it covers what was seen, is told when somebody looks again, and reaches cleaning."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.cleaning.tables import clean_tables
from beholder.errors import RecruitError
from beholder.recruiting.decisions import Decisions, decide_study
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.store.tables import SHAPES
from beholder.types import Json
from support.cleaning_store import decided as judged
from support.cleaning_store import rows as read_table
from support.decision_store import CARELESS, FILE, Office, at, decide, edit, handed_in, run

LONG = (
    "On two pages the video itself asked for an answer, and another one was given on both of them. Please write to "
    "name@example.org if you think that this is a mistake."
)
LOOK = "Look at decide/decisions.csv, change pay and use where you see it otherwise, then sign: --sign NAME."


def test_a_person_signs_what_they_have_seen_and_nothing_that_is_new(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[Decisions, Decisions, list[LedgerEntry]]:
        made.platform.listed = [handed_in("a", made.code), handed_in("b", made.code)]
        await made.come("a", submission="a", code=made.code)
        await made.come("b", submission="b", obeys=CARELESS, code=made.code)
        looked = await decide_study(made.context)
        assert looked.words[1:] == (LOOK,)
        if os.name != "nt":
            assert looked.file.stat().st_mode & 0o777 == 0o600, "it says which submission is whose"
        assert (tmp_path / "decide" / ".gitignore").read_text() == "*\n"
        made.platform.listed.append(handed_in("c", made.code))
        await made.come("c", submission="c", code=made.code)
        first = await decide_study(made.context, sign="Ada")
        some = await decide_study(made.context)
        day = f"{made.context.now():%Y-%m-%d at %H:%M} UTC"
        assert some.words[1:] == (f"2 rows are signed, last by Ada on {day}. Since then: 1 new (c).", LOOK)
        again = await decide_study(made.context, sign="Ada")
        await decide_study(made.context, sign="Ada")
        assert (await decide_study(made.context)).words[1:] == (
            f"3 rows are signed, last by Ada on {day}. Since then: nothing new.",
            "`beholder pay` shows what would be sent.",
        )
        edit(tmp_path, "b", pay="approve")
        changed = await decide_study(made.context)
        assert changed.words[-2:] == (f"3 rows are signed, last by Ada on {day}. Since then: 1 changed (b).", LOOK)
        return first, again, await made.entries("decisions")

    first, again, entries = run(tmp_path, work)
    assert first.words[1:] == (
        "Signed by Ada: 2 submissions to pay, reject or ask back. `beholder pay` shows what would be sent.",
        "1 row is new or has changed since you looked, and is not signed: look, and sign.",
    )
    assert len(entries) == 2  # what is signed already is not signed again
    rows = signed_rows(entries[:1])
    assert {name: (row.by, row.pay, row.category) for name, row in rows.items()} == {
        "a": ("Ada", "approve", ""),
        "b": ("Ada", "reject", "FAILED_CHECK"),
    }
    assert rows["b"].message == first.rows[1].message
    assert signed_rows(entries).keys() == {"a", "b", "c"}
    assert again.signed_by == "Ada"


def test_nobody_signs_in_the_name_of_a_run() -> None:
    with pytest.raises(RecruitError) as error:
        beholder.decide("study.yaml", sign=" run")
    assert str(error.value) == "--sign  is run, as which only `beholder run` signs. Allowed: your name."


def test_a_run_signs_nothing_that_is_against_anybody(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[list[LedgerEntry], list[LedgerEntry]]:
        made.platform.listed = [handed_in("a", made.code), handed_in("b", made.code), handed_in("c"), handed_in("d")]
        await made.come("a", submission="a", code=made.code)
        await made.come("b", submission="b", obeys=CARELESS, code=made.code)
        await made.come("c", "screened_out", submission="c")
        await made.come("d", None, submission="d", trials=2)
        await decide_study(made.context, sign="run")
        by_run = await made.entries("decisions")
        await decide_study(made.context, sign="Ada")
        await decide_study(made.context, sign="run")
        return by_run, await made.entries("decisions")

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


def test_signing_without_a_file_or_without_a_name_is_told(tmp_path: Path) -> None:
    async def work(made: Office) -> list[str]:
        told = []
        for name in ("Ada", " "):
            with pytest.raises(RecruitError) as error:
                await decide(made, sign=name)
            told.append(str(error.value))
        return told

    assert run(tmp_path, work) == [
        "decide/decisions.csv  is not there, so there is nothing to sign. Run `beholder decide` without --sign, look "
        "at what it proposes, then sign it.",
        "--sign  is empty. Allowed: the name of whoever signs.",
    ]


def test_what_was_decided_with_a_list_is_decided_and_signed_with_a_list(tmp_path: Path) -> None:
    async def work(made: Office) -> str:
        await made.come("a", person="pid-a")
        await decide(made, submissions=tmp_path / "list.csv")
        before = (tmp_path / "decide" / "decisions.csv").read_bytes()
        for keys in ({}, {"sign": "Ada"}):
            with pytest.raises(RecruitError) as told:
                await decide(made, **keys)
        assert (tmp_path / "decide" / "decisions.csv").read_bytes() == before
        return str(told.value)

    (tmp_path / "list.csv").write_text("participant,code\npid-a,K7QM\n", "utf-8")
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "2.00 GBP"}
    assert run(tmp_path, work, listed=False, recruit=recruit) == (
        "--submissions  is left out, and decide/decisions.csv rests on the list of the platform. "
        "Give the list again, the same or a newer one. To decide without any, delete decide/decisions.csv."
    )


def test_a_dry_run_writes_and_signs_nothing(tmp_path: Path) -> None:
    async def work(made: Office) -> tuple[Decisions, int]:
        made.platform.listed = [handed_in("a", made.code)]
        await made.come("a", submission="a", code=made.code)
        before = len(await made.store.ledger.entries())
        found = await decide_study(made.context, sign="run", dry_run=True)
        return found, len(await made.store.ledger.entries()) - before

    found, written = run(tmp_path, work)
    assert written == 0
    assert not (tmp_path / FILE).exists()
    assert found.words == (
        "1 row: 1 approve; 1 used.",
        "run would sign 1 submission to pay, reject or ask back. Nothing is written.",
    )


def test_signed_use_reaches_cleaning_and_comes_back(tmp_path: Path) -> None:
    """What was returned, came from elsewhere or was left out by hand is not used; what was taken in is."""

    async def clean(made: Office) -> dict[str, tuple[str, str, str]]:
        tables: dict[str, list[dict[str, Any]]] = {table: await read_rows(made.store, table) for table in SHAPES}
        return judged(clean_tables(made.context.study, tables))

    async def work(made: Office) -> list[dict[str, tuple[str, str, str]]]:
        made.platform.listed = [
            handed_in("back", made.code, "returned"),
            handed_in("bad", made.code),
            handed_in("good", made.code),
        ]
        await made.come("back", submission="back", code=made.code)
        await made.come("bad", submission="bad", code=made.code, gold=1)
        await made.come("good", submission="good", code=made.code)
        await made.come("other", submission="elsewhere")
        await decide(made)
        edit(tmp_path, "bad", use="true")
        edit(tmp_path, "good", use="false")
        await decide(made)
        found = [await clean(made)]
        await decide(made, sign="Ada")
        found.append(await clean(made))
        made.platform.listed[0] = handed_in("back", made.code)
        edit(tmp_path, "good", use="true")
        await decide(made)
        await decide(made, sign="Ada")
        return [*found, await clean(made)]

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
    async def work(made: Office) -> Any:
        await made.come("a")
        await made.come("b")
        act = LedgerEntry("leave_out", "done", at(0), session="a", reason_text="a colleague")
        await made.store.ledger.append([act])
        return clean_tables(made.context.study, {table: await read_rows(made.store, table) for table in SHAPES})

    cleaned = run(tmp_path, work)
    assert {lost.words: (lost.sessions, lost.costs) for lost in cleaned.lost} == {"Left out by hand": (1, True)}
    (verdict,) = [row for row in read_table(cleaned, "verdicts") if row["check"] == "person"]
    assert (verdict["session"], verdict["verdict"], verdict["reason"]) == ("a", "fail", "left_out")
    assert "colleague" not in str(read_table(cleaned, "verdicts"))
