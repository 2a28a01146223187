"""The checks with a page that a study asks for, their costs and their titles."""

from __future__ import annotations

import pytest

from beholder.checks.page_contract import Attempt
from beholder.checks.page_registry import CANNOT, check_title, costs_session, judge_attempt, page_checks, reason_title
from support.method_studies import make_study


def test_checks_come_in_their_own_order_and_acuity_adds_the_card() -> None:
    study = make_study("acr", qualification={"headphones": {"strict": True}, "acuity": True, "device": True})
    assert [check.name for check in page_checks(study)] == ["device", "card", "acuity", "headphones", "pitch"]


@pytest.mark.parametrize(("action", "verdict", "is_costly"), [("gate", "fail", True), ("flag", "unknown", False)])
def test_a_participant_who_cannot_take_a_check_fails_only_a_gate(action: str, verdict: str, is_costly: bool) -> None:
    (check,) = page_checks(make_study("acr", qualification={"colour": {"action": action}}))
    result = judge_attempt(check, Attempt({}, CANNOT))
    assert (result.verdict, result.reason, costs_session(check, result)) == (verdict, "cannot", is_costly)


def test_titles_name_the_check_and_the_reason() -> None:
    assert check_title("acuity") == "Visual acuity"
    assert check_title("my_check") == "My check"
    assert reason_title("device:phone") == "Kind of device: a phone"
    assert reason_title("variance:same_answer") is None
