"""postscreen finds who misses references and anchors; expertise who cannot tell versions from the reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from beholder.checks.contract import AnsweredTrial, ComparedSession, SessionEvidence
from beholder.checks.hidden_reference import Expertise, Postscreen, below_zero
from beholder.methods import find
from beholder.planning.builder import make_plan
from support.answered_trials import ask, page, session
from support.method_studies import catalogue_of, make_study
from support.rule_verdicts import parts_of

STUDY = make_study(
    "bs1116", [{"name": "source", "role": "reference"}, "near", "far"], design={"participants": 1, "trials": 6}
)
METHOD = find("bs1116")
TRIALS = make_plan(STUDY, catalogue_of(STUDY), METHOD).lists[0].trials
EXPERTISE = Expertise(Expertise.Options())
POSTSCREEN = Postscreen(Postscreen.Options())


def board(reference: float, anchor: float) -> AnsweredTrial:
    return page([reference, anchor, 50], roles=("hidden_reference", "anchor", "test"))


def test_the_hidden_reference_may_be_missed_on_15_percent_of_the_pages() -> None:
    good, bad = board(95, 20), board(89, 20)
    assert POSTSCREEN.judge(session([good] * 17 + [bad] * 3)).verdict == "pass"
    assert POSTSCREEN.judge(session([good] * 16 + [bad] * 4)).reason == "reference"
    assert POSTSCREEN.judge(session([good] * 5 + [board(100, 91)])).reason == "anchor"
    assert POSTSCREEN.judge(session([page([1, 2])])).reason == "not_met"


def test_the_limit_is_on_0_to_100_whatever_the_scale() -> None:
    five = page([5], asked=(ask(scale="acr5"),), roles=("hidden_reference",))
    four = page([4], asked=(ask(scale="acr5"),), roles=("hidden_reference",))
    assert POSTSCREEN.judge(session([five])).verdict == "pass"
    assert parts_of(POSTSCREEN.judge(session([four]))) == ("fail", "reference", {"reference": 1.0, "anchor": None})


def test_post_screening_says_how_many_are_left_out_and_why() -> None:
    good, low, high = board(95, 20), board(80, 20), board(95, 95)
    sessions = [session([good]), session([low]), session([low]), session([high]), session([page([1, 2])])]
    said = POSTSCREEN.account([POSTSCREEN.evaluate(one) for one in sessions])
    assert said == {
        "found": "Post-screening (ITU-R BS.1534) leaves out 3 of 4 sessions: 2 rated the hidden reference below 90 on "
        "more than 15 % of the pages; 1 rated an anchor above 90 on more than 15 % of the pages."
    }
    noting = Postscreen(Postscreen.Options(action="record"))
    assert noting.account([noting.evaluate(session([good]))]) == {
        "found": "Post-screening (ITU-R BS.1534) notes none of 1 session."
    }
    assert POSTSCREEN.account([]) == {}


# Expertise


def graded(*grades: float) -> SessionEvidence:
    """Return a session with these difference grades: below zero the hidden reference got 5.0, above zero the other."""
    answered = []
    for number, grade in enumerate(grades):
        trial = TRIALS[number % len(TRIALS)]
        by_role = {"test": 5 + min(grade, 0), "hidden_reference": 5 - max(grade, 0)}
        scores = {slot.id: by_role[slot.role] for slot in trial.slots if slot.rated}
        answer = METHOD.read(trial, {"scores": {"q1": scores}})
        answered.append(AnsweredTrial(f"trial:{number + 1}", trial, answer, METHOD.judgements(trial, answer)))
    return SessionEvidence("completed", "whole", trials=tuple(answered))


def test_the_test_is_that_of_a_textbook() -> None:
    # Mean -0.35 and standard deviation 0.5244 of six: t = -1.635 with 5 degrees of freedom.
    grades = [-1.2, -0.5, 0.3, -0.4, 0.0, -0.3]
    verdict = EXPERTISE.judge(graded(*grades))
    expected = stats.ttest_1samp(grades, 0, alternative="less").pvalue
    assert (verdict.verdict, verdict.reason, verdict.needed) == ("fail", "chance", 0.05)
    assert verdict.measured == pytest.approx(expected, abs=1e-6)
    assert verdict.evidence == {"grades": 6, "mean": -0.35, "told_apart": 0.6667}
    assert EXPERTISE.judge(graded(*grades[:4], -0.5, -0.6)).verdict == "pass"


def test_who_gives_everything_the_same_grade_is_judged_without_a_spread() -> None:
    assert below_zero([0.0] * 6) == 1.0
    assert below_zero([-0.5] * 6) == 0.0
    assert EXPERTISE.judge(graded(*[0.0] * 6)).verdict == "fail"


def test_few_grades_tell_nothing_and_other_methods_none() -> None:
    verdict = EXPERTISE.judge(graded(0.5, 0.5, 0.5, 0.5, 0.5))
    assert (verdict.verdict, verdict.reason) == ("unknown", "too_few_grades")
    assert EXPERTISE.judge(SessionEvidence("completed", "whole")).reason == "not_met"


def test_all_sessions_of_a_person_count_and_nobody_elses() -> None:
    guesses, hears = graded(0.5, -0.5, 0.2), graded(-1.0, -1.5, -0.8)
    sessions = [ComparedSession(name, one, ()) for name, one in (("ada", guesses), ("ben", hears), ("ben", hears))]
    verdicts = [EXPERTISE.judge(one) for one in EXPERTISE.prepare(sessions)]
    assert [(one.verdict, one.evidence["grades"]) for one in verdicts] == [("unknown", 3), ("pass", 6), ("pass", 6)]


def test_it_is_noted_and_told_in_a_sentence_and_leaves_out_where_asked() -> None:
    results = [EXPERTISE.evaluate(graded(*[grade] * 6)) for grade in (0.0, -1.0, -1.0)]
    assert not EXPERTISE.is_costly
    assert EXPERTISE.account(results)["found"] == (
        "Post-screening (ITU-R BS.1116) notes 1 of 3 sessions: their difference grades are not clearly below zero."
    )
    flagging = Expertise(Expertise.Options(action="flag"))
    assert flagging.is_costly
    assert flagging.account(results[1:])["found"] == "Post-screening (ITU-R BS.1116) leaves out none of 2 sessions."
    assert EXPERTISE.account([]) == {}


def test_as_many_guessers_pass_as_the_level_says_and_experts_stay() -> None:
    rng = np.random.default_rng(3)
    guessed, heard = rng.normal(0, 1, (2, 400, 12))
    passed = np.mean([below_zero(one) < 0.05 for one in guessed.tolist()])
    assert abs(passed - 0.05) < 3 * math.sqrt(0.05 * 0.95 / 400)
    assert np.mean([below_zero(one) < 0.05 for one in (heard - 1).tolist()]) > 0.9
