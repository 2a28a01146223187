"""Reconciliation: every row of the table, matching sessions with submissions, and nobody harmed by a gap."""

from __future__ import annotations

from itertools import product
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from beholder.recruiting.contract import CodeFinding, Pay, Status, Submission
from beholder.recruiting.reconciliation import (
    DATA_STATES,
    REASON_WORDS,
    ArrivedSession,
    DataState,
    MatchedSubmission,
    ReconciliationCase,
    match_submissions,
    propose,
    propose_manual,
    propose_unlisted,
    submission_codes,
)
from beholder.store.contract import PlatformIdentity, PlatformVisit
from beholder.types import Outcome

HELDS, STATUSES, FOUNDS = get_args(DataState), get_args(Status), get_args(CodeFinding)
CASES = [
    ReconciliationCase(held, status, code, accept, waited, refused, ours, pays)
    for held, status, code, accept, waited, refused, ours, pays in product(
        HELDS, STATUSES, FOUNDS, (True, None, False), *[(False, True)] * 4
    )
]


@pytest.mark.parametrize(
    ("case", "pay", "reasons"),
    [
        (ReconciliationCase("complete", "awaiting_review", "right"), "approve", ()),
        (ReconciliationCase("complete", "awaiting_review", "missing"), "approve", ("platform:missing_code",)),
        (ReconciliationCase("complete", "awaiting_review", "wrong"), "approve", ("platform:wrong_code",)),
        (ReconciliationCase("complete", "awaiting_review", "shared"), "approve", ("platform:shared_code",)),
        (ReconciliationCase("complete", "awaiting_review", "right", None), "look", ()),
        (ReconciliationCase("complete", "awaiting_review", "right", False), "reject", ()),
        (ReconciliationCase("complete", "active", "missing"), "wait", ("platform:not_submitted",)),
        (ReconciliationCase("complete", "timed_out", "missing"), "approve", ("platform:timed_out",)),
        (ReconciliationCase("complete", "timed_out", "missing", is_refused=True), "bonus", ("platform:timed_out",)),
        (ReconciliationCase("complete", "returned", "missing"), "nothing", ("platform:returned",)),
        (ReconciliationCase("complete", "approved", "right"), "nothing", ()),
        (ReconciliationCase("complete", "partially_approved", "right"), "nothing", ()),
        (ReconciliationCase("complete", "rejected", "right"), "nothing", ("platform:rejected_elsewhere",)),
        (ReconciliationCase("complete", "rejected", "right", is_ours=True), "nothing", ()),
        (ReconciliationCase("complete", "screened_out", "foreign"), "look", ("platform:screened_out",)),
        (ReconciliationCase("partial", "active", "missing"), "wait", ("platform:not_finished",)),
        (ReconciliationCase("partial", "reserved", "missing"), "wait", ("platform:not_finished",)),
        (ReconciliationCase("partial", "returned", "missing"), "nothing", ("platform:returned",)),
        (ReconciliationCase("partial", "timed_out", "missing"), "nothing", ("platform:timed_out",)),
        (
            ReconciliationCase("partial", "awaiting_review", "missing"),
            "return",
            ("platform:missing_code", "platform:no_data"),
        ),
        (
            ReconciliationCase("partial", "awaiting_review", "missing", has_waited=True),
            "look",
            ("platform:no_data", "platform:waited"),
        ),
        (
            ReconciliationCase("partial", "awaiting_review", "foreign"),
            "look",
            ("platform:foreign_code", "platform:no_data"),
        ),
        (
            ReconciliationCase("none", "awaiting_review", "foreign"),
            "look",
            ("platform:foreign_code", "platform:no_data"),
        ),
        (ReconciliationCase("none", "awaiting_review", "right"), "look", ("platform:no_data",)),
        (ReconciliationCase("partial", "awaiting_review", "no_place"), "screen_out", ("platform:no_place",)),
        (
            ReconciliationCase("partial", "awaiting_review", "no_place", pays_screen_out=False),
            "look",
            ("platform:no_place",),
        ),
        (ReconciliationCase("none", "approved", "foreign"), "nothing", ("platform:no_data",)),
        (ReconciliationCase("screened_out", "screened_out", "right"), "nothing", ()),
        (ReconciliationCase("screened_out", "awaiting_review", "missing"), "screen_out", ()),
        (ReconciliationCase("screened_out", "returned", "missing"), "screen_out", ("platform:returned",)),
        (ReconciliationCase("screened_out", "timed_out", "missing"), "screen_out", ("platform:timed_out",)),
        (ReconciliationCase("screened_out", "active", "missing"), "wait", ("platform:not_submitted",)),
        (ReconciliationCase("screened_out", "awaiting_review", "right", pays_screen_out=False), "return", ()),
        (ReconciliationCase("wrong_device", "awaiting_review", "right"), "return", ()),
        (ReconciliationCase("declined", "awaiting_review", "right"), "return", ()),
        (ReconciliationCase("declined", "awaiting_review", "right", has_waited=True), "look", ("platform:waited",)),
        (ReconciliationCase("failed_checks", "awaiting_review", "right", None), "look", ()),
        (ReconciliationCase("failed_checks", "awaiting_review", "right", False), "reject", ()),
        (ReconciliationCase("technical", "awaiting_review", "right"), "approve", ()),
        (ReconciliationCase("technical", "returned", "missing"), "bonus", ("platform:returned",)),
        (ReconciliationCase("complete", "unknown", "right", False), "wait", ("platform:unknown_status",)),
    ],
)
def test_each_row_of_the_table(case: ReconciliationCase, pay: Pay, reasons: tuple[str, ...]) -> None:
    result = propose(case)
    assert (result.pay, result.reasons) == (pay, reasons)


def test_every_combination_gives_something_and_every_reason_has_words() -> None:
    for case in CASES:
        result = propose(case)
        assert result.pay in get_args(Pay)
        assert set(result.reasons) <= REASON_WORDS.keys()


def test_nobody_is_rejected_but_for_a_verdict_on_work_that_awaits_review() -> None:
    rejected = [case for case in CASES if propose(case).pay == "reject"]
    assert rejected
    for case in rejected:
        assert (case.status, case.accept) == ("awaiting_review", False)
        assert case.data in ("complete", "failed_checks")


def test_nobody_may_be_rejected_by_hand_whom_we_turned_away_or_whose_trouble_was_ours() -> None:
    for case in CASES:
        if case.data in ("screened_out", "wrong_device", "declined", "technical") or case.status == "unknown":
            assert not propose(case).grounds


def test_no_code_costs_anybody_whose_data_is_whole() -> None:
    for status, code in product(STATUSES, FOUNDS):
        assert (
            propose(ReconciliationCase("complete", status, code)).pay
            == propose(ReconciliationCase("complete", status, "right")).pay
        )


def test_what_was_returned_is_not_used_and_frees_the_list_of_what_is_open() -> None:
    assert not propose(ReconciliationCase("complete", "returned", "right")).is_kept
    assert propose(ReconciliationCase("partial", "returned", "missing")).is_over
    assert not propose(ReconciliationCase("complete", "returned", "right")).is_over


def test_data_from_elsewhere_is_kept_apart_and_never_paid() -> None:
    result = propose_unlisted()
    assert (result.pay, result.reasons, result.is_kept) == ("nothing", ("platform:no_submission",), False)


@pytest.mark.parametrize(
    ("held", "accept", "pay"),
    [
        ("complete", True, "approve"),
        ("complete", None, "look"),
        ("complete", False, "reject"),
        ("screened_out", True, "screen_out"),
        ("wrong_device", True, "nothing"),
        ("declined", None, "nothing"),
        ("partial", None, "wait"),
        ("technical", True, "approve"),
    ],
)
def test_without_a_platform_whoever_has_earned_something_is_owed_it(
    held: DataState, accept: bool | None, pay: Pay
) -> None:
    assert propose_manual(held, accept, pays=True, pays_screen_out=True).pay == pay


def test_where_nothing_is_paid_nothing_is_owed() -> None:
    for held, accept in product(HELDS, (True, None, False)):
        assert propose_manual(held, accept, pays=False, pays_screen_out=False).pay in ("nothing", "wait")


def submission(id: str, person: str = "", status: Status = "awaiting_review", code: str = "") -> Submission:
    return Submission(id, person or f"pid-{id}", status, code)


def test_a_visit_belongs_to_the_submission_that_led_to_it() -> None:
    arrived = [ArrivedSession("s1", "p1", "completed"), ArrivedSession("s2", "p2", None)]
    pairs = match_submissions(
        [submission("b"), submission("a")], arrived, [], [PlatformVisit("s1", "x", "a"), PlatformVisit("s2", "x", "b")]
    )
    assert [(pair.submission.id, pair.sessions) for pair in pairs if pair.submission] == [
        ("b", ("s2",)),
        ("a", ("s1",)),
    ]


def test_whoever_returns_and_comes_back_has_handed_in_the_second_visit() -> None:
    listed = [submission("a", "pid", "returned"), submission("b", "pid")]
    visits = [PlatformVisit("s1", "x", "a"), PlatformVisit("s1", "x", "b")]
    first, second = match_submissions(
        listed, [ArrivedSession("s1", "p1", "completed")], [PlatformIdentity("p1", "prolific", "pid")], visits
    )
    assert (first.sessions, second.sessions) == ((), ("s1",))
    assert first.participant == "p1"


def test_further_rounds_go_to_the_visit_of_their_person() -> None:
    arrived = [ArrivedSession("s1", "p1", "completed"), ArrivedSession("s2", "p1", "completed")]
    (pair,) = match_submissions([submission("a")], arrived, [], [PlatformVisit("s1", "x", "a")])
    assert pair.sessions == ("s1", "s2")


def test_a_visit_that_the_platform_does_not_list_came_from_elsewhere() -> None:
    arrived = [ArrivedSession("s1", "p1", "completed")]
    links = [PlatformIdentity("p1", "prolific", "pid-a")]
    first, second = match_submissions([submission("a")], arrived, links, [PlatformVisit("s1", "other", "z")])
    assert (first.participant, first.sessions) == ("p1", ())
    assert second == MatchedSubmission(None, "p1", ("s1",))


def test_without_ids_of_visits_people_are_matched_by_who_they_are() -> None:
    (pair,) = match_submissions(
        [submission("pid", "pid")], [ArrivedSession("s1", "p1", None)], [PlatformIdentity("p1", "panel", "pid")], []
    )
    assert (pair.participant, pair.sessions) == ("p1", ("s1",))


def test_a_code_that_somebody_was_not_shown_is_foreign_although_it_is_ours() -> None:
    codes: dict[Outcome, str] = {"completed": "DONE", "screened_out": "OUT"}
    arrived = [ArrivedSession("s1", "p1", "completed", "DONE"), ArrivedSession("s2", "p2", None)]
    listed = [submission(id, code=code) for id, code in (("a", " d-one"), ("b", "DONE"), ("c", "DONE"), ("d", "42"))]
    visits = [PlatformVisit("s1", "x", "a"), PlatformVisit("s2", "x", "b")]
    result = submission_codes(match_submissions(listed, arrived, [], visits), arrived, codes)
    assert result == {"a": "right", "b": "foreign", "c": "foreign", "d": "wrong"}


def test_the_code_that_the_door_gives_where_every_place_is_taken_is_known_as_such() -> None:
    arrived = [ArrivedSession("s1", "p1", None), ArrivedSession("s2", "p2", "completed", "DONE")]
    listed = [submission(id, code="OURS") for id in "abc"]
    visits = [PlatformVisit("s1", "x", "a"), PlatformVisit("s2", "x", "b")]
    result = submission_codes(
        match_submissions(listed, arrived, [], visits), arrived, {"completed": "DONE", "technical": "OURS"}
    )
    assert result == {"a": "no_place", "b": "foreign", "c": "foreign"}


@given(st.data())
def test_every_submission_and_every_session_is_there_once(data: st.DataObject) -> None:
    ids = data.draw(st.lists(st.sampled_from("abcdef"), unique=True))
    listed = [
        submission(id, data.draw(st.sampled_from(["x", "y"])), data.draw(st.sampled_from(STATUSES))) for id in ids
    ]
    arrived = [
        ArrivedSession(
            f"s{place}", data.draw(st.sampled_from(["p", "q"])), data.draw(st.sampled_from(list(DATA_STATES)))
        )
        for place in range(data.draw(st.integers(0, 4)))
    ]
    visits = [
        PlatformVisit(one.session, "x", data.draw(st.sampled_from([*"abcdez", ""])))
        for one in arrived
        if data.draw(st.booleans())
    ]
    pairs = match_submissions(
        listed, arrived, [PlatformIdentity("p", "prolific", "x"), PlatformIdentity("q", "prolific", "y")], visits
    )
    assert [pair.submission for pair in pairs if pair.submission] == listed
    assert sorted(session for pair in pairs for session in pair.sessions) == sorted(one.session for one in arrived)
    assert all(pair.submission or pair.sessions for pair in pairs)
