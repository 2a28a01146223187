"""Faults of other tools with people and money, each with a test that it cannot happen here.

Other tests cover the pages: a code that is sent early (end_to_end/test_blind), lost answers and killed servers
(end_to_end/test_kill, browser/test_offline), a code without work (end_to_end/test_exploits, test_attacks), and a crash
at every entry of the ledger (proofs/test_pay_proof).
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

import pytest

from beholder.recruiting.contract import DecisionRow, Pay, Recruiter, Verb
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.moderation import Act
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from support.decision_store import RECRUIT, decision_setup, handed_in
from support.payable_study import BONUS, MESSAGE, in_memory, payment_setup, write_bonuses
from support.prolific_rehearsal import JOB, prolific, study_in


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    yield from in_memory(tmp_path)


async def rows(context: object) -> dict[str, DecisionRow]:
    return {row.submission: row for row in (await decide_study(context, dry_run=True)).rows}  # type: ignore[arg-type]


@pytest.mark.parametrize("pasted", ["WRONG1", "{code} ", " {code}\t", "{code}\n", "", "NOCODE", "my code was {code}"])
async def test_whatever_was_pasted_whole_data_is_approved(folder: Path, pasted: str) -> None:
    async with decision_setup(folder, handed_in("a")) as room:
        await room.come("a", submission="a")
        room.platform.listed = [handed_in("a", pasted.format(code=room.code))]
        assert (await rows(room.context))["a"].pay == "approve"


def test_nothing_blocks_anybody() -> None:
    verbs = [*get_args(Verb), *get_args(Pay), *get_args(Act)]
    methods = [name for one in (Recruiter, ProlificRecruiter) for name, _ in inspect.getmembers(one, callable)]
    assert not [name for name in (*verbs, *methods) if "block" in name or "ban" in name]


async def test_too_few_and_too_many_answers_cost_nobody_their_name(folder: Path) -> None:
    async with decision_setup(folder, *(handed_in(name) for name in ("few", "out", "twice"))) as room:
        await room.come("few", None, submission="few", trials=4)
        await room.come("out", "screened_out", submission="out")
        await room.come("twice", submission="twice")
        await room.come("more", submission="twice", person="pid-twice", visit=2)
        decisions = {name: row.pay for name, row in (await rows(room.context)).items()}
        assert decisions == {"few": "return", "out": "screen_out", "twice": "approve"}


async def test_who_was_approved_before_anybody_paid_still_gets_the_bonus(folder: Path) -> None:
    async with payment_setup(folder, 1, clean=BONUS) as s:
        write_bonuses(s.study, ("p-0", "quantity", "0.50"))
        s.fake.advance(days=22)
        await s.sign("run", s0="nothing")
        result = await s.pay(send=True)
        assert [(line.reason, line.status) for line in result.lines] == [("reward", "paid"), ("quantity", "paid")]
        assert s.got(s.ids[0]) == [("reward", 200), ("bonus", 50)], "paid is what the wallet says"


async def test_of_two_with_one_code_each_goes_by_their_own_data(folder: Path) -> None:
    """The owner of a code is paid even if others submit it; a submission without work is not paid."""
    recruit = RECRUIT | {"mode": "panel", "id_parameter": "pid", "visit_parameter": "visit"}
    async with decision_setup(folder, recruit=recruit) as room:
        for name in ("owner", "whole"):
            await room.come(name, submission=name, code=f"CODE-{name}")
        await room.come("part", None, submission="part", trials=4)
        room.platform.can = frozenset({"submissions"})
        room.platform.listed = [handed_in(name, "CODE-owner") for name in ("part", "owner", "whole", "nobody")]
        decisions = await rows(room.context)
        assert {name: row.pay for name, row in decisions.items()} == {
            "part": "look",
            "owner": "approve",
            "whole": "approve",
            "nobody": "look",
        }
        assert (decisions["owner"].code, decisions["whole"].code) == ("right", "shared")
        assert [decisions[name].use for name in ("owner", "whole", "part")] == [True, True, False]


async def test_a_bonus_goes_to_whom_it_is_owed_although_others_share_the_study_and_the_code(folder: Path) -> None:
    async with payment_setup(folder, 3, clean=BONUS) as s:
        write_bonuses(s.study, ("p-1", "quantity", "0.50"))
        await s.sign(s0="approve", s1="approve", s2="approve")
        await s.pay(send=True)
        assert [s.got(one)[1:] for one in s.ids] == [[], [("bonus", 50)], []]


async def test_the_same_target_twice_is_that_target(tmp_path: Path) -> None:
    fake = FakeProlific()
    async with prolific(study_in(tmp_path), fake) as recruiter:
        posting = await recruiter.publish((await recruiter.draft(replace(JOB, places=10))).id)
        for _ in range(2):
            assert (await recruiter.set_places(posting.id, 15)).places == 15
        assert fake.studies.find(posting.id).places == 15


async def test_who_did_more_than_was_asked_is_used_and_paid_alike(folder: Path) -> None:
    keys: dict[str, Any] = {"recruit": RECRUIT | {"further": "bonus"}, "design": {"sessions_per_participant": 3}}
    async with decision_setup(folder, handed_in("a"), **keys) as room:
        for number, name in enumerate(("a", "b", "c"), 1):
            await room.come(name, submission="a", person="pid-a", visit=number)
        row = (await rows(room.context))["a"]
        assert (row.pay, row.use, row.further) == ("approve", True, ("b", "c"))


@pytest.mark.parametrize("message", ["", " " * 200, MESSAGE[:99]])
async def test_a_rejection_without_words_is_no_request(folder: Path, message: str) -> None:
    async with payment_setup(folder, 1) as s:
        await s.sign(s0={"pay": "reject", "category": "LOW_EFFORT", "message": message})
        result = await s.pay(send=True)
        assert len(result.problems) == 1
        assert not [one for one in s.fake.requests if one.endswith("/transition/") and "submissions" in one]


async def test_each_verb_does_what_it_says_and_nothing_to_anybody_else(folder: Path) -> None:
    async with payment_setup(folder, 3) as s:
        await s.sign(s1="approve")
        dry = await s.pay()
        assert [(line.kind, line.submission) for line in dry.lines] == [("approve", s.ids[1])]
        await s.pay(send=True)
        statuses = [visit.submission.status for visit in s.visits]
        assert statuses == ["AWAITING REVIEW", "APPROVED", "AWAITING REVIEW"]
        posting = s.visits[0].submission.study
        assert (await s.context.recruiter.set_places(posting, 4)).state == "active", "more places are no end"
        assert (await s.context.recruiter.stop(posting)).places == 4, "an end is no more places"


async def test_a_fault_of_ours_costs_nobody_anything(folder: Path) -> None:
    async with decision_setup(folder, handed_in("a"), handed_in("b", status="returned")) as room:
        for name in ("a", "b"):
            await room.come(name, "technical", submission=name, trials=3)
        assert {name: row.pay for name, row in (await rows(room.context)).items()} == {"a": "approve", "b": "bonus"}


async def test_attention_is_looked_at_before_anybody_is_paid(folder: Path) -> None:
    async with decision_setup(folder, handed_in("good"), handed_in("bad")) as room:
        await room.come("good", submission="good")
        await room.come("bad", submission="bad", obeys=(1, 1))
        decisions = await rows(room.context)
        assert (decisions["good"].pay, decisions["bad"].pay, decisions["bad"].category) == (
            "approve",
            "reject",
            "FAILED_CHECK",
        )
        assert len(decisions["bad"].message) >= 100
