"""Rules with answers that are known beforehand: stimuli that ask, gold, obvious statements, repeats."""

from __future__ import annotations

from typing import Any

import pytest

from beholder.checks.contract import AnsweredTrial, TrialRule
from beholder.checks.known_answers import Attention, Gold, Trap, TrapItem
from beholder.methods.contract import Target
from support.answered_trials import ask, one, page, session
from support.rule_verdicts import parts_of

ATTENTION = Attention(Attention.Options())
TRAP_ITEM = TrapItem(TrapItem.Options())


def asking(value: float, target: Target = Target(37, 3, "", is_trap=True), **keys: Any) -> AnsweredTrial:
    roles: Any = ("test", "attention", "test")
    return page([10, value, 90], roles=roles, targets={"q1.s2": target}, **keys)


@pytest.mark.parametrize(("value", "say"), [(33, "fail"), (34, "pass"), (37, "pass"), (40, "pass"), (41, "fail")])
def test_a_slider_is_set_to_what_its_stimulus_asks_for(value: float, say: str) -> None:
    verdict = ATTENTION.judge_trial(asking(value))
    assert verdict is not None
    assert (verdict.verdict, verdict.needed) == (say, {"q1.s2": [37, 3]})


def test_a_number_that_sounds_alike_is_as_right() -> None:
    assert parts_of(ATTENTION.judge_trial(asking(13, Target(30, 3, "", True, (13,))))) == ("pass", "", None)


def test_the_verdict_on_a_session_says_on_which_trials_what_was_asked_and_answered() -> None:
    verdict = ATTENTION.judge(session([asking(37), page([1, 2, 3]), asking(80), asking(5)]))
    assert (verdict.verdict, verdict.reason, verdict.measured, verdict.needed) == ("fail", "wrong", 2, 0)
    assert verdict.evidence["met"] == 3
    assert verdict.evidence["failed"] == [
        {"trial": "trial:3", "reason": "wrong", "measured": {"q1.s2": 80}, "needed": {"q1.s2": [37, 3]}},
        {"trial": "trial:4", "reason": "wrong", "measured": {"q1.s2": 5}, "needed": {"q1.s2": [37, 3]}},
    ]


def test_what_would_not_play_asked_for_nothing() -> None:
    gone = asking(80, missing=("s2",))
    assert parts_of(ATTENTION.judge_trial(gone)) == ("unknown", "media_error", None)
    assert parts_of(ATTENTION.judge(session([gone] * 3)))[:2] == ("unknown", "media_error")


def test_so_many_failures_are_allowed_as_the_study_says() -> None:
    lenient = Attention(Attention.Options(max_failed=1))
    assert lenient.judge(session([asking(80), asking(37)])).verdict == "pass"
    assert lenient.judge(session([asking(80), asking(80)])).verdict == "fail"


@pytest.mark.parametrize(("check", "role"), [(Trap(Trap.Options()), "trap"), (Gold(Gold.Options()), "gold")])
def test_trapping_clips_and_gold_are_judged_at_their_own_slots(check: TrialRule, role: Any) -> None:
    target = {"q1.s1": Target(5, 1, "")}
    assert parts_of(check.judge_trial(one(4, roles=(role,), targets=target))) == ("pass", "", None)
    assert parts_of(check.judge_trial(one(3, roles=(role,), targets=target))) == ("fail", "wrong", {"q1.s1": 3})
    assert check.judge_trial(one(3, roles=("attention",), targets=target)) is None


# Obvious statements


def statements(*values: float, wanted: float = 5) -> AnsweredTrial:
    asked = [ask(f"i{n}", "agree5", place=n) for n in range(1, 4)]
    asked += [ask(f"trap:{n}", "agree5", place=3 + n, purpose="trap") for n in range(1, len(values) + 1)]
    targets = {f"q{3 + n}.s1": Target(wanted, 0, "") for n in range(1, len(values) + 1)}
    return page([3, 2, 4, *values], asked=asked, targets=targets, method="likert")


@pytest.mark.parametrize(
    ("value", "wanted", "say"),
    [(5, 5, "pass"), (4, 5, "pass"), (3, 5, "unknown"), (2, 5, "fail"), (1, 1, "pass"), (4, 1, "fail")],
)
def test_the_right_side_of_the_middle_passes_and_the_middle_says_nothing(value: float, wanted: float, say: str) -> None:
    verdict = TRAP_ITEM.judge_trial(statements(value, wanted=wanted))
    assert verdict is not None
    assert verdict.verdict == say


def test_one_slip_is_allowed_and_two_are_not_also_on_one_page() -> None:
    slip, right = statements(1), statements(5)
    assert TRAP_ITEM.judge(session([slip, right, right])).verdict == "pass"
    assert parts_of(TRAP_ITEM.judge(session([slip, right, slip]))) == ("fail", "wrong", 2)
    assert parts_of(TRAP_ITEM.judge(session([statements(1, 2), right]))) == ("fail", "wrong", 2)
    assert parts_of(TRAP_ITEM.judge(session([statements(3)] * 3)))[:2] == ("unknown", "neutral")


def test_a_page_without_such_a_statement_says_nothing() -> None:
    assert TRAP_ITEM.judge_trial(one()) is None


# Repeats
