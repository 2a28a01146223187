"""Checks: pass, fail or unknown, from evidence alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beholder.checks.answer_patterns import CompleteRule, VarianceRule
from beholder.checks.contract import Click, SessionEvidence, VerdictValue, Viewing
from beholder.checks.playback import WatchedRule, judge_viewing
from beholder.cleaning.decisions import ORDER, decide, in_words, judge
from beholder.study.checks import Variance as Options
from beholder.types import Outcome

SEEN = Viewing("trial:1", "s1", length_ms=4000, plays=1, coverage=1.0, furthest_ms=4000, frames=100)


def clicks(*values: float, low: float = 0, high: float = 100, question: str = "quality") -> tuple[Click, ...]:
    return tuple(Click(question, value, low, high) for value in values)


RATED = SessionEvidence("completed", "whole", (SEEN,), clicks(50))
GONE = SEEN._replace(plays=0, missing="media_error")
STRAIGHT = VarianceRule(Options())


def test_a_completed_session_passes_and_any_other_end_is_its_own_reason() -> None:
    assert CompleteRule().judge(RATED).verdict == "pass"
    ended = CompleteRule().judge(SessionEvidence("screened_out", "whole"))
    assert (ended.verdict, ended.reason) == ("fail", "screened_out")
    assert CompleteRule().judge(SessionEvidence(None, "whole")).reason == "not_finished"


def test_a_finished_session_without_a_single_value_is_not_used_and_a_person_decides_about_the_pay() -> None:
    verdicts = judge(SessionEvidence("completed", "whole", (GONE, GONE)))
    assert (verdicts[0].verdict, verdicts[0].reason) == ("fail", "nothing_rated")
    assert verdicts[0].evidence == {"slots": 2, "missing": 2}
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (None, False, ("complete:nothing_rated",))
    assert in_words("complete:nothing_rated") == "Nothing could be rated"


def test_a_session_with_more_than_half_missing_is_named_paid_and_used() -> None:
    verdicts = judge(SessionEvidence("completed", "whole", (GONE, GONE, SEEN), clicks(50)))
    assert (verdicts[0].verdict, verdicts[0].reason, verdicts[0].measured) == ("fail", "mostly_missing", 0.6667)
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (True, True, ("complete:mostly_missing",))
    assert in_words("complete:mostly_missing") == "More than half could not be rated"


def test_a_session_with_half_of_its_slots_missing_is_whole() -> None:
    assert CompleteRule().judge(SessionEvidence("completed", "whole", (GONE, SEEN), clicks(50))).verdict == "pass"


@pytest.mark.parametrize(
    ("viewing", "say"),
    [
        (SEEN, "pass"),
        (SEEN._replace(coverage=0.97, furthest_ms=3500), "pass"),
        (SEEN._replace(coverage=0.96), "fail"),
        (SEEN._replace(coverage=0.98, furthest_ms=3400), "fail"),
        (SEEN._replace(plays=0, coverage=0.0), "fail"),
        (SEEN._replace(frames=0), "fail"),
        (SEEN._replace(frames=None), "pass"),
        (SEEN._replace(plays=None, coverage=None, furthest_ms=None), "unknown"),
        (SEEN._replace(coverage=None), "unknown"),
        (SEEN._replace(length_ms=None), "unknown"),
        (SEEN._replace(plays=0, missing="media_error"), "pass"),
    ],
)
def test_watching_the_whole_means_97_percent_the_end_and_drawn_frames(viewing: Viewing, say: VerdictValue) -> None:
    assert judge_viewing(viewing, "whole") == say


def test_a_weaker_watch_rule_asks_for_less() -> None:
    begun = SEEN._replace(coverage=0.1, furthest_ms=400)
    assert judge_viewing(begun, "start") == "pass"
    assert judge_viewing(begun._replace(plays=0), "start") == "fail"
    assert judge_viewing(begun._replace(plays=0), "none") == "pass"


def test_the_watched_verdict_names_every_slot_that_failed() -> None:
    bad = SEEN._replace(slot="s2", coverage=0.2)
    verdict = WatchedRule().judge(SessionEvidence("completed", "whole", (SEEN, bad)))
    assert (verdict.verdict, verdict.reason, verdict.measured) == ("fail", "not_watched", 0.5)
    assert verdict.evidence["failed"] == ["trial:1.s2"]


def test_watching_without_any_evidence_is_unknown() -> None:
    blank = SEEN._replace(plays=None, coverage=None)
    assert WatchedRule().judge(SessionEvidence("completed", "whole", (blank,))).verdict == "unknown"
    assert WatchedRule().judge(SessionEvidence("completed", "whole")).reason == "no_evidence"


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


def test_two_flat_lines_at_different_heights_are_still_straight_lining() -> None:
    flat = clicks(20, 20, 20, 20) + clicks(80, 80, 80, 80, question="fit")
    assert STRAIGHT.judge(SessionEvidence("completed", "whole", (), flat)).reason == "same_answer"


@pytest.mark.parametrize(
    ("outcome", "accept"),
    [("screened_out", True), ("technical", True), ("failed_checks", None), ("withdrawn", None)],
)
def test_who_is_paid_follows_from_how_the_session_ended(outcome: Outcome, accept: bool | None) -> None:
    assert decide(outcome, judge(SessionEvidence(outcome, "whole"))).accept is accept
    assert decide("completed", judge(RATED)).accept


def test_an_unknown_verdict_costs_nothing() -> None:
    unseen = SEEN._replace(plays=None, coverage=None)
    verdicts = judge(replace(RATED, viewings=(unseen,)))
    assert [verdict.verdict for verdict in verdicts] == ["pass", "unknown", "unknown", "pass"]
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (True, True, ())


def test_every_failed_check_is_a_reason_and_paying_is_apart_from_using() -> None:
    flat = SessionEvidence("completed", "whole", (SEEN._replace(coverage=0.0),), clicks(50, 50, 50, 50))
    decision = decide("completed", judge(flat))
    assert (decision.accept, decision.use) == (True, False)
    assert decision.reasons == ("watched:not_watched", "variance:same_answer")


def test_a_clip_that_was_not_watched_does_not_cost_the_whole_session() -> None:
    verdicts = judge(replace(RATED, viewings=(SEEN._replace(coverage=0.0),)))
    assert decide("completed", verdicts).use


def test_every_reason_a_check_gives_has_words() -> None:
    assert in_words("variance:same_answer") == "Nearly the same answer throughout"
    assert in_words("stranger:reason") == "stranger:reason"
    assert [check.name for check in ORDER] == ["complete", "watched", "variance", "quota"]
