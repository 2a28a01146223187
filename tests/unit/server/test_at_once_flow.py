"""Where somebody is in a study whose rules act at once: on, back at a page, or at the end."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from beholder.server.flow import Ending, next_step
from beholder.server.script import PlannedStep, Script
from beholder.store.contract import StoredVerdict
from support.scripts import answers, script

NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)


def told(
    key: str, verdict: str, check: str = "attention", minute: int = 0, **evidence: Any
) -> dict[str, StoredVerdict]:
    kept = {"checks": {check: {"verdict": verdict, "reason": "wrong"}}, **evidence}
    return {key: StoredVerdict("s", key, check, verdict, "wrong", kept, NOON + timedelta(minutes=minute))}


def here(whole: Script, said: Mapping[str, StoredVerdict], many: int = 99) -> str | Ending:
    found = next_step(whole, answers(whole, many), said, NOON)
    return found.key if isinstance(found, PlannedStep) else found


@given(st.lists(st.sampled_from(["pass", "fail", "unknown"]), max_size=6), st.integers(1, 3))
def test_a_session_ends_at_the_last_failure_that_is_allowed_and_at_nothing_else(said: list[str], most: int) -> None:
    whole = script(trials=8, checks={"attention": {"end_after": most}})
    facts = {key: one for n, say in enumerate(said, 1) for key, one in told(f"trial:{n}", say, minute=n).items()}
    is_over = said.count("fail") >= most
    assert here(whole, facts) == (Ending("failed_checks", "attention:wrong") if is_over else Ending("completed"))


def test_failures_of_different_rules_are_not_added_up() -> None:
    whole = script(checks={"attention": {"end_after": 2}, "focus": {"end_after": 2}})
    facts = {**told("trial:1", "fail"), **told("trial:2", "fail", "focus")}
    assert here(whole, facts) == Ending("completed")
    assert here(whole, {**facts, **told("trial:3", "fail", "focus")}) == Ending("failed_checks", "focus:wrong")


def test_without_a_rule_that_acts_at_once_nothing_that_was_told_counts() -> None:
    whole = script(checks={"attention": {"end_after": None}})
    assert whole.rules == {}
    assert here(whole, {**told("trial:1", "fail"), **told("trial:2", "fail", again=True)}) == Ending("completed")


def test_a_trial_comes_again_before_anything_else_and_counts_as_it_was_answered_last() -> None:
    whole = script(checks={"focus": {"action": "retry", "retries": 2, "end_after": 1}})
    said = told("trial:2", "fail", "focus", again=True)
    assert here(whole, said, 4) == "trial:2:2"
    again = {**answers(whole, 4), "trial:2:2": {}}
    assert next_step(whole, again, said, NOON) == whole.find("break:1")
    said |= told("trial:2:2", "fail", "focus", again=True)
    assert next_step(whole, again, said, NOON) == whole.find("trial:2:3")
    again["trial:2:3"] = {}
    for last, expected in (("pass", whole.find("break:1")), ("fail", Ending("failed_checks", "focus:wrong"))):
        assert next_step(whole, again, {**said, **told("trial:2:3", last, "focus")}, NOON) == expected


def test_what_would_not_play_at_last_counts_as_missing_and_what_did_does_not() -> None:
    whole = script(trials=4, checks={"focus": {"action": "retry"}})
    gone: dict[str, Any] = {"missing": {"s1": "media_error"}}
    given = {**answers(whole, 2), "trial:1": gone, "trial:2": gone}
    assert next_step(whole, given) == Ending("technical", "media_error")
    said = {"scores": {"q1": {"s1": 50}}}
    assert next_step(whole, {**given, "trial:1:2": said, "trial:2:2": said}) == whole.find("break:1")
