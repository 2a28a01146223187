"""Rules over how people play and answer: pass, fail or unknown, from evidence alone."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from beholder.checks.agreement import AgreementRule, PostscreenRule, spearman
from beholder.checks.answer_patterns import QuotaRule, SpeedRule, VarianceRule
from beholder.checks.contract import AnsweredTrial, RuleResult, SessionEvidence, TrialRule, Verdict
from beholder.checks.playback import FocusRule, RatioRule, SmoothRule
from beholder.checks.registry import RULES, immediate_rules, study_rules
from beholder.study import checks as options
from support.answered_trials import LENGTH, ask, one, page, pair, session
from support.method_studies import make_study

RATIO = RatioRule(options.Ratio())
SMOOTH = SmoothRule(options.Smooth())
FOCUS = FocusRule(options.Focus())
SPEED = SpeedRule(options.Speed())
VARIANCE = VarianceRule(options.Variance())
AGREEMENT = AgreementRule(options.Agreement())
POSTSCREEN = PostscreenRule(options.Postscreen())


def said(verdict: Verdict | None) -> tuple[str, str, Any]:
    assert verdict is not None
    return verdict.verdict, verdict.reason, verdict.measured


def lost(looked: RuleResult) -> list[tuple[str, str, list[str] | None]]:
    return [(one.trial, one.reason, None if one.slots is None else sorted(one.slots)) for one in looked.exclusions]


def took(times: float) -> AnsweredTrial:
    return one(played={"whole_ms": round(times * LENGTH)})


def test_every_rule_of_the_study_has_a_check_in_the_order_in_which_they_are_told() -> None:
    assert list(RULES) == list(options.CHECKS)
    study = make_study("acr", checks=dict.fromkeys(("ratio", "speed"), True) | {"variance": False})
    assert [check.name for check in study_rules(study)] == ["ratio", "speed", "quota"]


def test_only_rules_that_warn_retry_or_end_act_at_once() -> None:
    study = make_study("acr", checks={"smooth": {"action": "retry"}, "focus": True, "speed": {"end_after": 3}})
    assert [check.name for check in immediate_rules(study)] == ["smooth", "speed"]


@pytest.mark.parametrize("name", list(RULES))
def test_a_session_without_a_single_answer_costs_nothing(name: str) -> None:
    check = RULES[name](options.CHECKS[name]())
    looked = check.evaluate(SessionEvidence(None, "whole"))
    assert (looked.verdict.verdict, looked.exclusions) == ("unknown", ())


@pytest.mark.parametrize("name", ["ratio", "smooth", "focus", "speed"])
def test_an_old_store_without_the_signal_is_unknown(name: str) -> None:
    check = RULES[name](options.CHECKS[name]())
    bare = replace(one(), playback={})
    assert isinstance(check, TrialRule)
    found = check.judge_trial(bare)
    assert found is not None
    assert found.verdict == "unknown"
    assert check.evaluate(session([bare] * 4)).exclusions == ()


# Time of playing


@pytest.mark.parametrize(
    ("times", "say", "reason"),
    [(0.94, "fail", "short"), (0.951, "pass", ""), (1.0, "pass", ""), (1.5, "pass", ""), (1.51, "fail", "long")],
)
def test_a_trial_is_played_in_its_own_time(times: float, say: str, reason: str) -> None:
    verdict = RATIO.judge_trial(took(times))
    assert verdict is not None
    assert (verdict.verdict, verdict.reason, verdict.needed) == (say, reason, [0.95, 1.5])


def test_one_long_trial_costs_that_trial_and_a_long_session_all_of_it() -> None:
    looked = RATIO.evaluate(session([took(1.0)] * 9 + [took(1.8)]))
    assert said(looked.verdict) == ("pass", "", 1.08)
    assert lost(looked) == [("trial:10", "ratio:long", None)]
    assert said(RATIO.judge(session([took(1.16)] * 4))) == ("fail", "too_long", 1.16)
    assert said(RATIO.judge(session([took(0.94)] * 4))) == ("fail", "too_short", 0.94)


def test_two_after_each_other_are_timed_with_the_gap_between_them_and_two_at_once_by_the_longer() -> None:
    stalled = {"whole_ms": 2 * LENGTH}
    assert said(RATIO.judge_trial(pair(1, gap=2, played=stalled))) == ("fail", "long", 1.8)
    assert said(RATIO.judge_trial(pair(1, gap=2))) == ("pass", "", 1.0)
    beside = pair(1, presentation="side-by-side", together=True)
    slower = {**beside.playback, "s2": {**beside.playback["s2"], "whole_ms": 5000}}
    assert said(RATIO.judge_trial(replace(beside, playback=slower))) == ("pass", "", 1.25)


def test_on_a_board_each_slot_is_held_to_how_much_of_it_was_played_and_nothing_takes_too_long() -> None:
    half = page([1, 2, 3], slots={"s2": {"coverage": 0.5, "whole_ms": None}}, played={"whole_ms": 9 * LENGTH})
    assert said(RATIO.judge_trial(half)) == ("fail", "short", 0.8333)
    looked = RATIO.evaluate(session([half, *[page([1, 2, 3])] * 9]))
    assert said(looked.verdict) == ("pass", "", 0.9833)
    assert lost(looked) == [("trial:1", "ratio:short", ["s2"])]


def test_the_time_of_images_is_unknown_and_so_is_what_would_not_play() -> None:
    assert said(RATIO.judge_trial(replace(one(), stills=frozenset({"s1"})))) == ("unknown", "still", None)
    gone = replace(pair(1), answer={"choices": {}, "missing": {"s1": "media_error"}}, judgements=())
    assert said(RATIO.judge_trial(gone)) == ("unknown", "media_error", None)
    paused = one(played={"whole_ms": None})
    assert said(RATIO.judge_trial(paused)) == ("unknown", "not_timed", None)


def test_where_nothing_has_to_be_watched_its_time_says_nothing() -> None:
    free = RatioRule(options.Ratio(), "none")
    assert free.judge_trial(took(0.1)) is None
    assert free.judge(session([took(0.1)] * 4)).reason == "not_met"


def test_a_rule_that_is_only_recorded_costs_neither_session_nor_rating() -> None:
    noted = RatioRule(options.Ratio(action="record"))
    looked = noted.evaluate(session([took(2.0)] * 4))
    assert (looked.verdict.verdict, noted.is_costly, looked.exclusions) == ("fail", False, ())


# Smooth, in view


@pytest.mark.parametrize(
    ("played", "say", "reason"),
    [
        ({"dropped": 11, "frames": 100}, "pass", ""),
        ({"dropped": 12, "frames": 100}, "fail", "dropped"),
        ({"stalled_ms": 500}, "pass", ""),
        ({"stalled_ms": 501}, "fail", "stalled"),
        ({"stalled_ms": 501, "frames": None}, "fail", "stalled"),
        ({"frames": None}, "unknown", "not_counted"),
        ({"stalled_ms": None}, "unknown", "not_counted"),
    ],
)
def test_a_trial_may_drop_a_tenth_of_its_frames_and_stand_still_for_half_a_second(
    played: dict[str, Any], say: str, reason: str
) -> None:
    verdict = SMOOTH.judge_trial(one(played=played))
    assert verdict is not None
    assert (verdict.verdict, verdict.reason) == (say, reason)


def test_images_neither_drop_nor_stall() -> None:
    assert SMOOTH.judge_trial(replace(one(), stills=frozenset({"s1"}))) is None


@pytest.mark.parametrize(("check", "bad"), [(SMOOTH, {"stalled_ms": 900}), (FOCUS, {"away": 1})])
def test_a_fifth_of_the_trials_may_fail_before_the_session_does(check: Any, bad: dict[str, Any]) -> None:
    few = check.evaluate(session([one()] * 8 + [one(played=bad)] * 2))
    assert (few.verdict.verdict, few.verdict.measured, len(few.exclusions)) == ("pass", 0.2, 2)
    many = check.evaluate(session([one()] * 7 + [one(played=bad)] * 3))
    assert (many.verdict.verdict, many.verdict.reason, many.verdict.measured) == ("fail", "often", 0.3)
    assert [failed["trial"] for failed in many.verdict.evidence["failed"]] == ["trial:8", "trial:9", "trial:10"]


def test_trials_of_which_nothing_is_known_make_no_other_one_weigh_more() -> None:
    mute, torn = one(played={"frames": None}), one(played={"dropped": 50})
    assert said(SMOOTH.judge(session([mute] * 18 + [torn] * 2)))[0] == "pass"
    assert said(SMOOTH.judge(session([mute] * 7 + [torn] * 3)))[:2] == ("fail", "often")


def test_one_trial_alone_never_costs_a_session() -> None:
    assert said(SMOOTH.judge(session([one(), one(played={"dropped": 50})])))[0] == "pass"


def test_leaving_the_window_costs_the_slot_that_played() -> None:
    left = page([1, 2, 3], slots={"s3": {"away": 2}})
    assert said(FOCUS.judge_trial(left)) == ("fail", "left", 2)
    assert lost(FOCUS.evaluate(session([left]))) == [("trial:1", "focus:left", ["s3"])]


# Time to answer


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
    assert said(SPEED.judge_trial(survey))[:2] == ("fail", "too_fast")
    board = page([10, 20, 30], slots={"s3": {"ended_ms": 13_000}}, seconds=13.6)
    assert said(SPEED.judge_trial(board))[:2] == ("pass", "")


def test_a_clock_that_jumped_is_unknown() -> None:
    assert said(SPEED.judge_trial(one(seconds=-3)))[:2] == ("unknown", "clock")
    assert said(SPEED.judge_trial(one(seconds=2)))[:2] == ("unknown", "clock")


def test_where_nothing_has_to_be_watched_the_answer_is_timed_from_the_start() -> None:
    assert said(SpeedRule(options.Speed(), "none").judge_trial(one(seconds=0.2)))[:2] == ("fail", "too_fast")
    assert said(SpeedRule(options.Speed(), "start").judge_trial(one(seconds=1)))[:2] == ("pass", "")


def test_a_session_takes_its_stimuli_and_a_second_for_each_judgement() -> None:
    quick = [one(seconds=4.9)] * 10
    assert said(SPEED.judge(session(quick))) == ("fail", "session", 49.0)
    assert said(SPEED.judge(session([one(seconds=5.1)] * 10)))[:2] == ("pass", "")


def test_too_many_fast_trials_fail_a_session_that_took_its_time_otherwise() -> None:
    found = SPEED.evaluate(session([one(seconds=30)] * 7 + [one(seconds=4.3)] * 3))
    assert said(found.verdict) == ("fail", "often", 0.3)
    assert lost(found)[0] == ("trial:8", "speed:too_fast", None)


# Spread


def survey(*scores: float) -> AnsweredTrial:
    asked = [ask(f"i{n}", "agree5", place=n, keyed="-" if n == 2 else "+") for n in range(1, len(scores) + 1)]
    return page(scores, asked=asked, method="likert")


def test_one_column_on_half_of_the_pages_is_straight_lining_when_a_statement_is_turned_round() -> None:
    flat, real = [survey(4, 4, 4, 4), survey(2, 2, 2, 2)], [survey(4, 2, 5, 4), survey(1, 5, 2, 3)]
    assert said(VARIANCE.judge(session(flat + real))) == ("fail", "one_column", 0.5)
    assert VARIANCE.judge(session(flat[:1] + real)).verdict == "pass"
    plain = [replace(seen, trial=replace(seen.trial, asked=tuple(a._replace(keyed="+") for a in seen.trial.asked)))
             for seen in flat]  # fmt: skip
    assert VARIANCE.judge(session(plain + real)).verdict == "pass"


def test_level_sliders_on_half_of_the_pages_are_straight_lining() -> None:
    level, real = [page([30, 31, 32, 30]), page([80, 80, 80, 80])], [page([10, 40, 90, 60])] * 2
    assert said(VARIANCE.judge(session(level + real))) == ("fail", "level_sliders", 0.5)
    assert VARIANCE.judge(session([page([30, 31, 33, 30]), *real])).verdict == "pass"


def test_a_check_among_the_sliders_does_not_save_a_page_from_being_level() -> None:
    roles: Any = ("test", "test", "test", "test", "attention")
    level = [page([value] * 4 + [93], roles=roles) for value in (50, 80, 20)]
    assert VARIANCE.judge(session(level)).reason == "level_sliders"


# Agreement, reference and anchors, quota


def test_the_rank_correlation_takes_ties_in_the_middle() -> None:
    from scipy import stats

    one, two = [1, 2, 2, 5, 3, 3, 3], [2.0, 1.0, 4.0, 4.0, 9.0, 3.0, 3.0]
    assert spearman(one, two) == pytest.approx(stats.spearmanr(one, two).statistic)
    assert spearman([1, 1], [1, 2]) is None


def votes(scores: list[float], **keys: Any) -> SessionEvidence:
    others = {(f"c{n}", "quality"): float(n) for n in range(len(scores))}
    return session([one(score, stimuli=[f"c{n}"]) for n, score in enumerate(scores)], others=others, **keys)


def test_whoever_goes_against_the_others_disagrees_and_that_is_only_noted_by_default() -> None:
    up = [1.0, 1, 2, 2, 3, 3, 4, 4, 5, 5]
    assert AGREEMENT.judge(votes(up)).verdict == "pass"
    assert AGREEMENT.judge(votes(up[::-1])).reason == "disagrees"
    assert not AGREEMENT.is_costly
    assert AgreementRule(options.Agreement(action="flag")).is_costly


def test_fewer_than_ten_shared_stimuli_and_flat_votes_tell_nothing_about_agreement() -> None:
    assert AGREEMENT.judge(votes([1, 2, 3, 4, 5, 4, 3, 2, 1])).reason == "too_few_shared"
    assert AGREEMENT.judge(votes([3.0] * 10)).reason == "same_answer"
    assert AGREEMENT.judge(replace(votes([1.0, 2] * 5), others={})).verdict == "unknown"


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
    assert said(POSTSCREEN.judge(session([four]))) == ("fail", "reference", {"reference": 1.0, "anchor": None})


def test_sessions_after_the_last_that_counts_are_over_the_quota() -> None:
    quota = QuotaRule(options.Quota(sessions=2))
    assert quota.judge(session([one()], number=2)).verdict == "pass"
    assert said(quota.judge(session([one()], number=3))) == ("fail", "over", 3)
    assert quota.judge(session([one()], number=3, outcome=None)).verdict == "unknown"
