"""Signing: it covers what was seen, is told when somebody looks again, and reaches cleaning."""

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
    async def work(made: DecisionSetup) -> tuple[Decisions, Decisions, list[LedgerEntry]]:
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


def test_signing_without_a_file_or_without_a_name_is_told(tmp_path: Path) -> None:
    async def work(made: DecisionSetup) -> list[str]:
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
    async def work(made: DecisionSetup) -> str:
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
    async def work(made: DecisionSetup) -> tuple[Decisions, int]:
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


def test_the_list_of_whoever_left_on_the_platform_is_given_back_once(tmp_path: Path) -> None:
    async def work(made: DecisionSetup) -> list[LedgerEntry]:
        made.platform.listed = [handed_in("a", status="timed_out"), handed_in("b", status="returned")]
        await made.come("a", None, submission="a", trials=2)
        await made.come("b", submission="b")
        await decide(made)
        await decide(made)
        return await made.entries("release")

    (entry,) = run(tmp_path, work)
    assert (entry.session, entry.submission, entry.reason_code) == ("a", "a", "timed_out")


def test_nobody_has_come(tmp_path: Path) -> None:
    found = run(tmp_path, lambda made: decide_study(made.context))
    assert (found.rows, found.words) == ((), ("Nobody has come yet, so there is nothing to decide.",))
