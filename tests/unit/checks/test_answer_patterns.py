"""Rules over answers: repeats, spread, speed, completeness and quota."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.checks.answer_patterns import (
    CompleteRule,
    Quota,
    Repeat,
    Speed,
    Variance,
    quarter_of_scale,
)
from beholder.checks.contract import AnsweredTrial, Click, SessionEvidence
from beholder.study.questions import SCALES
from support.answered_trials import ask, one, page, pair, session
from support.rule_verdicts import exclusions_of, parts_of
from support.session_evidence import RATED, UNPLAYED, WATCHED, clicks

SPEED = Speed(Speed.Options())


VARIANCE = Variance(Variance.Options())


@pytest.mark.parametrize(
    ("look", "seconds", "say"), [("acr5", 0.29, "fail"), ("acr5", 0.31, "pass"), ("cont100", 0.49, "fail")]
)
def test_an_answer_takes_longer_than_a_click(look: str, seconds: float, say: str) -> None:
    seen = page([3], asked=(ask(scale=look),), seconds=4.2 + seconds)
    verdict = SPEED.judge_trial(seen)
    assert verdict is not None
    assert verdict.verdict == say


def test_a_survey_takes_as_many_clicks_as_it_has_statements_and_a_board_its_last_slider() -> None:
    survey = page([1] * 10, asked=[ask(f"i{n}", "agree5", place=n) for n in range(1, 11)], seconds=4.2 + 2.9)
    assert parts_of(SPEED.judge_trial(survey))[:2] == ("fail", "too_fast")
    board = page([10, 20, 30], slots={"s3": {"ended_ms": 13_000}}, seconds=13.6)
    assert parts_of(SPEED.judge_trial(board))[:2] == ("pass", "")


def test_a_slider_is_timed_from_when_its_stimulus_counted_and_that_is_before_its_end() -> None:
    ends = {"s3": {"ended_ms": 13_000}}  # of 4 s, 97 % of which had been watched 0.12 s before
    assert parts_of(SPEED.judge_trial(page([10, 20, 30], slots=ends, seconds=13.39)))[:2] == ("pass", "")
    assert parts_of(SPEED.judge_trial(page([10, 20, 30], slots=ends, seconds=13.37)))[:2] == ("fail", "too_fast")


def test_a_clock_that_jumped_is_unknown() -> None:
    assert parts_of(SPEED.judge_trial(one(seconds=-3)))[:2] == ("unknown", "clock")
    assert parts_of(SPEED.judge_trial(one(seconds=2)))[:2] == ("unknown", "clock")


def test_where_nothing_has_to_be_watched_the_answer_is_timed_from_the_start() -> None:
    assert parts_of(Speed(Speed.Options(), "none").judge_trial(one(seconds=0.2)))[:2] == ("fail", "too_fast")
    assert parts_of(Speed(Speed.Options(), "start").judge_trial(one(seconds=1)))[:2] == ("pass", "")


def test_a_session_takes_its_stimuli_and_a_second_for_each_judgement() -> None:
    quick = [one(seconds=4.9)] * 10
    assert parts_of(SPEED.judge(session(quick))) == ("fail", "session", 49.0)
    assert parts_of(SPEED.judge(session([one(seconds=5.1)] * 10)))[:2] == ("pass", "")


def test_too_many_fast_trials_fail_a_session_that_took_its_time_otherwise() -> None:
    result = SPEED.evaluate(session([one(seconds=30)] * 7 + [one(seconds=4.3)] * 3))
    assert parts_of(result.verdict) == ("fail", "often", 0.3)
    assert exclusions_of(result)[0] == ("trial:8", "speed:too_fast", None)


def survey(*scores: float) -> AnsweredTrial:
    asked = [ask(f"i{n}", "agree5", place=n, keyed="-" if n == 2 else "+") for n in range(1, len(scores) + 1)]
    return page(scores, asked=asked, method="likert")


def test_one_column_on_half_of_the_pages_is_straight_lining_when_a_statement_is_turned_round() -> None:
    flat, real = [survey(4, 4, 4, 4), survey(2, 2, 2, 2)], [survey(4, 2, 5, 4), survey(1, 5, 2, 3)]
    assert parts_of(VARIANCE.judge(session(flat + real))) == ("fail", "one_column", 0.5)
    assert VARIANCE.judge(session(flat[:1] + real)).verdict == "pass"
    plain = [replace(seen, trial=replace(seen.trial, asked=tuple(a._replace(keyed="+") for a in seen.trial.asked)))
             for seen in flat]  # fmt: skip
    assert VARIANCE.judge(session(plain + real)).verdict == "pass"


def test_level_sliders_on_half_of_the_pages_are_straight_lining() -> None:
    level, real = [page([30, 31, 32, 30]), page([80, 80, 80, 80])], [page([10, 40, 90, 60])] * 2
    assert parts_of(VARIANCE.judge(session(level + real))) == ("fail", "level_sliders", 0.5)
    assert VARIANCE.judge(session([page([30, 31, 33, 30]), *real])).verdict == "pass"


def test_a_check_among_the_sliders_does_not_save_a_page_from_being_level() -> None:
    roles: Any = ("test", "test", "test", "test", "attention")
    level = [page([value] * 4 + [93], roles=roles) for value in (50, 80, 20)]
    assert VARIANCE.judge(session(level)).reason == "level_sliders"


def test_sessions_after_the_last_that_counts_are_over_the_quota() -> None:
    quota = Quota(Quota.Options(sessions=2))
    assert quota.judge(session([one()], number=2)).verdict == "pass"
    assert parts_of(quota.judge(session([one()], number=3))) == ("fail", "over", 3)
    assert quota.judge(session([one()], number=3, outcome=None)).verdict == "unknown"


def test_who_comes_again_to_an_arena_counts_each_time() -> None:
    assert Quota.implied({"design": {"arena": {}}}) == {"sessions": 50}
    assert Quota.implied({"design": {"arena": {}, "sessions_per_participant": 4}}) == {"sessions": 4}
    assert Quota.implied({"design": {"sessions_per_participant": 3}}) == {"sessions": 3}
    assert Quota.implied({"design": {"trials": 3}}) is None
    assert Quota.implied({}) is None


REPEAT = Repeat(Repeat.Options(items_per_trial=1))


@pytest.mark.parametrize(
    ("scale", "near"), [("agree5", 1), ("acr9", 2), ("cont100", 25), ("ccr7", 1), ("pref2", 0), ("acr11", 2)]
)
def test_a_repeat_may_be_a_quarter_of_the_scale_off_down_to_a_step(scale: str, near: float) -> None:
    assert quarter_of_scale(SCALES[scale]) == near


def twice(first: float, second: float) -> AnsweredTrial:
    asked = [ask(f"i{n}", "agree5", place=n) for n in range(1, 5)]
    asked.append(ask("repeat:i1", "agree5", place=5, purpose="repeat"))
    return page([first, 2, 4, 3, second], asked=asked, method="likert")


def test_a_statement_that_comes_again_gets_about_the_same_answer() -> None:
    assert parts_of(REPEAT.judge_trial(twice(3, 4))) == ("pass", "", None)
    assert parts_of(REPEAT.judge_trial(twice(2, 4))) == ("fail", "differs", {"q5.s1": [2, 4]})
    assert parts_of(Repeat(Repeat.Options(tolerance=0)).judge_trial(twice(3, 4)))[0] == "fail"
    assert REPEAT.judge_trial(one()) is None


def test_more_than_a_third_of_three_repeats_or_more_fail_a_session() -> None:
    same, other = twice(3, 3), twice(1, 5)
    assert parts_of(REPEAT.judge(session([other, other]))) == ("unknown", "too_few_repeats", None)
    assert parts_of(REPEAT.judge(session([same, same, other]))) == ("pass", "", 0.3333)
    assert parts_of(REPEAT.judge(session([same, other, other]))) == ("fail", "differs", 0.6667)
    assert REPEAT.judge(session([one()])).reason == "not_met"


def test_a_trial_that_comes_again_is_compared_by_stimulus_wherever_it_stands() -> None:
    first = page([80, 20], stimuli=("a", "b"))
    again = page([25, 75], stimuli=("b", "a"), roles=("repeat", "repeat"), key="trial:6")
    other = page([20, 80], stimuli=("a", "c"))
    assert parts_of(REPEAT.judge_trial(again, [other, first])) == ("pass", "", None)
    turned = page([75, 25], stimuli=("b", "a"), roles=("repeat", "repeat"), key="trial:6")
    assert parts_of(REPEAT.judge_trial(turned, [first])) == ("fail", "differs", {"q1.s1": [20, 75], "q1.s2": [80, 25]})
    assert REPEAT.judge_trial(again, []) is None


def test_a_check_that_stood_in_for_a_stimulus_the_first_time_is_left_aside() -> None:
    first = page([80, 37, 20], stimuli=("a", "asks", "c"), roles=("test", "attention", "test"))
    again = page([10, 50, 21], stimuli=("a", "b", "c"), roles=("repeat", "repeat", "repeat"), key="trial:6")
    verdict = REPEAT.judge_trial(again, [first])
    assert parts_of(verdict) == ("fail", "differs", {"q1.s1": [80, 10]})
    assert verdict is not None
    assert verdict.evidence["compared"] == 2


def test_a_comparison_that_comes_again_is_one_answer_whichever_comes_first() -> None:
    first = pair(2)
    again = pair(1, turned=True, role="repeat", key="trial:6")
    verdict = REPEAT.judge_trial(again, [first])
    assert parts_of(verdict) == ("pass", "", None)
    assert verdict is not None
    assert verdict.evidence["compared"] == 1
    assert parts_of(REPEAT.judge_trial(pair(-2, turned=True, role="repeat"), [first]))[0] == "fail"


STRAIGHT = Variance(Variance.Options())


def test_a_completed_session_passes_and_any_other_end_is_its_own_reason() -> None:
    assert CompleteRule().judge(RATED).verdict == "pass"
    ended = CompleteRule().judge(SessionEvidence("screened_out", "whole"))
    assert (ended.verdict, ended.reason) == ("fail", "screened_out")
    assert CompleteRule().judge(SessionEvidence(None, "whole")).reason == "not_finished"


def test_a_session_with_half_of_its_slots_missing_is_whole() -> None:
    assert (
        CompleteRule().judge(SessionEvidence("completed", "whole", (UNPLAYED, WATCHED), clicks(50))).verdict == "pass"
    )


@pytest.mark.parametrize(("high", "least"), [(4, 0.15), (8, 0.6), (100, 93.75)])
def test_the_variance_limit_grows_with_the_square_of_the_range(high: float, least: float) -> None:
    """Four clicks at ±x round the middle have the sample variance 4/3 x²."""
    middle = high / 2
    for share, say in ((0.99, "fail"), (1.01, "pass")):
        x = (share * least * 3 / 4) ** 0.5
        evidence = SessionEvidence(
            "completed", "whole", (), clicks(middle - x, middle + x, middle - x, middle + x, high=high)
        )
        assert STRAIGHT.judge(evidence).verdict == say


def test_fewer_than_four_answers_to_each_question_are_too_few_to_judge() -> None:
    few = clicks(50, 50, 50) + clicks(50, 50, 50, question="fit")
    assert STRAIGHT.judge(SessionEvidence("completed", "whole", (), few)).verdict == "unknown"


def test_texts_may_all_be_right_but_not_all_be_the_same() -> None:
    right = [Click("heard", 100, 0, 100, text=text) for text in ("a boat", "the bread", "at noon", "four trees")]
    judged = STRAIGHT.judge(SessionEvidence("completed", "whole", (), tuple(right)))
    assert (judged.verdict, judged.measured) == ("pass", 4)
    empty = tuple(one._replace(text="", raw_value=0) for one in right)
    assert STRAIGHT.judge(SessionEvidence("completed", "whole", (), empty)).reason == "same_answer"
    assert STRAIGHT.judge(SessionEvidence("completed", "whole", (), empty[:3])).verdict == "unknown"


def test_two_flat_lines_at_different_heights_are_still_straight_lining() -> None:
    flat = clicks(20, 20, 20, 20) + clicks(80, 80, 80, 80, question="fit")
    assert STRAIGHT.judge(SessionEvidence("completed", "whole", (), flat)).reason == "same_answer"
