"""Deciding: a signature covers what the person saw, and a dry run writes nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.decisions import Decisions, decide_study
from beholder.recruiting.signatures import signed_rows
from beholder.store.contract import LedgerEntry
from support.decision_store import CARELESS, FILE, DecisionSetup, decide, edit, handed_in, run

LOOK = "Look at decide/decisions.csv, change pay and use where you see it otherwise, then sign: --sign NAME."


def test_a_person_signs_what_they_have_seen_and_nothing_that_is_new(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[Decisions, Decisions, list[LedgerEntry]]:
        setup.platform.listed = [handed_in("a", setup.code), handed_in("b", setup.code)]
        await setup.come("a", submission="a", code=setup.code)
        await setup.come("b", submission="b", obeys=CARELESS, code=setup.code)
        looked = await decide_study(setup.context)
        assert looked.words[1:] == (LOOK,)
        if os.name != "nt":
            assert looked.file.stat().st_mode & 0o777 == 0o600, "it says which submission is whose"
        assert (tmp_path / "decide" / ".gitignore").read_text() == "*\n"
        setup.platform.listed.append(handed_in("c", setup.code))
        await setup.come("c", submission="c", code=setup.code)
        first = await decide_study(setup.context, sign="Ada")
        some = await decide_study(setup.context)
        day = f"{setup.context.now():%Y-%m-%d at %H:%M} UTC"
        assert some.words[1:] == (f"2 rows are signed, last by Ada on {day}. Since then: 1 new (c).", LOOK)
        again = await decide_study(setup.context, sign="Ada")
        await decide_study(setup.context, sign="Ada")
        assert (await decide_study(setup.context)).words[1:] == (
            f"3 rows are signed, last by Ada on {day}. Since then: nothing new.",
            "`beholder pay` shows what would be sent.",
        )
        edit(tmp_path, "b", pay="approve")
        changed = await decide_study(setup.context)
        assert changed.words[-2:] == (f"3 rows are signed, last by Ada on {day}. Since then: 1 changed (b).", LOOK)
        return first, again, await setup.entries("decisions")

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


def test_signing_without_a_file_or_without_a_name_is_told(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[str]:
        messages = []
        for name in ("Ada", " "):
            with pytest.raises(RecruitError) as error:
                await decide(setup, sign=name)
            messages.append(str(error.value))
        return messages

    assert run(tmp_path, work) == [
        "decide/decisions.csv  is not there, so there is nothing to sign. Run `beholder decide` without --sign, look "
        "at what it proposes, then sign it.",
        "--sign  is empty. Allowed: the name of whoever signs.",
    ]


def test_a_list_is_named_once_and_read_again_from_where_it_is(tmp_path: Path) -> None:
    table = tmp_path / "list.csv"

    async def work(setup: DecisionSetup) -> str:
        await setup.come("a", person="pid-a")
        await decide(setup, submissions=table)
        again = await decide_study(setup.context)
        assert "By the list list.csv as before; --submissions names another one." in again.words
        assert [row.code for row in again.rows] == ["wrong"]
        assert (await decide_study(setup.context, sign="Ada")).signed_by == "Ada"
        assert "pid-a" not in (tmp_path / "decide" / "submissions.json").read_text("utf-8")
        before = (tmp_path / "decide" / "decisions.csv").read_bytes()
        table.rename(tmp_path / "moved.csv")
        for keys in ({}, {"sign": "Ada"}):
            with pytest.raises(RecruitError) as messages:
                await decide(setup, **keys)
        assert (tmp_path / "decide" / "decisions.csv").read_bytes() == before
        return str(messages.value)

    table.write_text("participant,code\npid-a,K7QM\n", "utf-8")
    recruit = {"mode": "panel", "id_parameter": "id", "reward": "2.00 GBP"}
    assert run(tmp_path, work, listed=False, recruit=recruit) == (
        "--submissions  is left out, decide/decisions.csv rests on the list of the platform, and that is no longer "
        "where it was. Give the list again, the same or a newer one. To decide without any, delete "
        "decide/decisions.csv."
    )


def test_a_dry_run_writes_and_signs_nothing(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> tuple[Decisions, int]:
        setup.platform.listed = [handed_in("a", setup.code)]
        await setup.come("a", submission="a", code=setup.code)
        before = len(await setup.store.ledger.entries())
        result = await decide_study(setup.context, sign="run", dry_run=True)
        return result, len(await setup.store.ledger.entries()) - before

    result, written = run(tmp_path, work)
    assert written == 0
    assert not (tmp_path / FILE).exists()
    assert result.words == (
        "1 row: 1 approve; 1 used.",
        "run would sign 1 submission to pay, reject or ask back. Nothing is written.",
    )


def test_the_list_of_whoever_left_on_the_platform_is_given_back_once(tmp_path: Path) -> None:
    async def work(setup: DecisionSetup) -> list[LedgerEntry]:
        setup.platform.listed = [handed_in("a", status="timed_out"), handed_in("b", status="returned")]
        await setup.come("a", None, submission="a", trials=2)
        await setup.come("b", submission="b")
        await decide(setup)
        await decide(setup)
        return await setup.entries("release")

    (entry,) = run(tmp_path, work)
    assert (entry.session, entry.submission, entry.reason_code) == ("a", "a", "timed_out")


def test_nobody_has_come(tmp_path: Path) -> None:
    result = run(tmp_path, lambda setup: decide_study(setup.context))
    assert (result.rows, result.words) == ((), ("Nobody has come yet, so there is nothing to decide.",))
