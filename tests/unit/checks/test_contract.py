"""What every rule keeps: no answers and no signals cost nobody anything."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.checks.contract import SessionEvidence, TrialRule
from beholder.checks.playback import Focus, Ratio, Smooth
from beholder.checks.registry import rules
from support.answered_trials import one, session
from support.rule_verdicts import parts_of, played_for

RULES = {rule.name: rule for rule in rules()}
SMOOTH, FOCUS = Smooth(Smooth.Options()), Focus(Focus.Options())


@pytest.mark.parametrize("name", list(RULES))
def test_a_session_without_a_single_answer_costs_nothing(name: str) -> None:
    check = RULES[name](RULES[name].Options())
    looked = check.evaluate(SessionEvidence(None, "whole"))
    assert (looked.verdict.verdict, looked.exclusions) == ("unknown", ())


@pytest.mark.parametrize("name", ["ratio", "smooth", "focus", "speed"])
def test_an_old_store_without_the_signal_is_unknown(name: str) -> None:
    check = RULES[name](RULES[name].Options())
    bare = replace(one(), playback={})
    assert isinstance(check, TrialRule)
    verdict = check.judge_trial(bare)
    assert verdict is not None
    assert verdict.verdict == "unknown"
    assert check.evaluate(session([bare] * 4)).exclusions == ()


def test_a_rule_that_is_only_recorded_costs_neither_session_nor_rating() -> None:
    noted = Ratio(Ratio.Options(action="record"))
    looked = noted.evaluate(session([played_for(2.0)] * 4))
    assert (looked.verdict.verdict, noted.is_costly, looked.exclusions) == ("fail", False, ())


@pytest.mark.parametrize(("check", "bad"), [(SMOOTH, {"stalled_ms": 900}), (FOCUS, {"away": 1})])
def test_a_fifth_of_the_trials_may_fail_before_the_session_does(check: Any, bad: dict[str, Any]) -> None:
    few = check.evaluate(session([one()] * 8 + [one(played=bad)] * 2))
    assert (few.verdict.verdict, few.verdict.measured, len(few.exclusions)) == ("pass", 0.2, 2)
    many = check.evaluate(session([one()] * 7 + [one(played=bad)] * 3))
    assert (many.verdict.verdict, many.verdict.reason, many.verdict.measured) == ("fail", "often", 0.3)
    assert [failed["trial"] for failed in many.verdict.evidence["failed"]] == ["trial:8", "trial:9", "trial:10"]


def test_trials_of_which_nothing_is_known_make_no_other_one_weigh_more() -> None:
    mute, torn = one(played={"frames": None}), one(played={"dropped": 50})
    assert parts_of(SMOOTH.judge(session([mute] * 18 + [torn] * 2)))[0] == "pass"
    assert parts_of(SMOOTH.judge(session([mute] * 7 + [torn] * 3)))[:2] == ("fail", "often")


def test_one_trial_alone_never_costs_a_session() -> None:
    assert parts_of(SMOOTH.judge(session([one(), one(played={"dropped": 50})])))[0] == "pass"
