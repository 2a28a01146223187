"""Decisions about sessions: paid, used, and why, from verdicts alone."""

from __future__ import annotations

from dataclasses import replace

import pytest

from beholder.checks.contract import SessionEvidence
from beholder.cleaning.decisions import ORDER, decide, judge, reason_words
from beholder.types import Outcome
from support.session_evidence import RATED, UNPLAYED, WATCHED, clicks


def test_a_finished_session_without_a_single_value_is_not_used_and_a_person_decides_about_the_pay() -> None:
    verdicts = judge(SessionEvidence("completed", "whole", (UNPLAYED, UNPLAYED)))
    assert (verdicts[0].verdict, verdicts[0].reason) == ("fail", "nothing_rated")
    assert verdicts[0].evidence == {"slots": 2, "missing": 2}
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (None, False, ("complete:nothing_rated",))
    assert reason_words("complete:nothing_rated") == "Nothing could be rated"


def test_a_session_with_more_than_half_missing_is_named_paid_and_used() -> None:
    verdicts = judge(SessionEvidence("completed", "whole", (UNPLAYED, UNPLAYED, WATCHED), clicks(50)))
    assert (verdicts[0].verdict, verdicts[0].reason, verdicts[0].measured) == ("fail", "mostly_missing", 0.6667)
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (True, True, ("complete:mostly_missing",))
    assert reason_words("complete:mostly_missing") == "More than half could not be rated"


@pytest.mark.parametrize(
    ("outcome", "accept"),
    [("screened_out", True), ("technical", True), ("failed_checks", None), ("withdrawn", None)],
)
def test_who_is_paid_follows_from_how_the_session_ended(outcome: Outcome, accept: bool | None) -> None:
    assert decide(outcome, judge(SessionEvidence(outcome, "whole"))).accept is accept
    assert decide("completed", judge(RATED)).accept


def test_an_unknown_verdict_costs_nothing() -> None:
    unseen = WATCHED._replace(plays=None, coverage=None)
    verdicts = judge(replace(RATED, viewings=(unseen,)))
    assert [verdict.verdict for verdict in verdicts] == ["pass", "unknown", "unknown", "pass"]
    decision = decide("completed", verdicts)
    assert (decision.accept, decision.use, decision.reasons) == (True, True, ())


def test_every_failed_check_is_a_reason_and_paying_is_apart_from_using() -> None:
    flat = SessionEvidence("completed", "whole", (WATCHED._replace(coverage=0.0),), clicks(50, 50, 50, 50))
    decision = decide("completed", judge(flat))
    assert (decision.accept, decision.use) == (True, False)
    assert decision.reasons == ("watched:not_watched", "variance:same_answer")


def test_a_clip_that_was_not_watched_does_not_cost_the_whole_session() -> None:
    verdicts = judge(replace(RATED, viewings=(WATCHED._replace(coverage=0.0),)))
    assert decide("completed", verdicts).use


def test_every_reason_a_check_gives_has_words() -> None:
    assert reason_words("variance:same_answer") == "Nearly the same answer throughout"
    assert reason_words("stranger:reason") == "stranger:reason"
    assert [check.name for check in ORDER] == ["complete", "watched", "variance", "quota"]
