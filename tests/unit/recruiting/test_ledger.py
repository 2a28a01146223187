"""Replaying the ledger: what is settled stays settled, and money of unknown outcome is never due again by itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import get_args

from hypothesis import given
from hypothesis import strategies as st

from beholder.recruiting.ledger import KINDS, State, bonus_arrival, replay
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum
from beholder.testing.stores.facts import HOUR, NOON

_ROW = LedgerEntry("bonus", "planned", NOON, "v1", "p-ann", "s1", 150, "GBP", "quality", "the best tenth")
_EVENTS = get_args(State)
_ONE = st.builds(
    lambda kind, event, submission, batch: replace(_ROW, kind=kind, event=event, submission=submission, batch=batch),
    st.sampled_from([*KINDS, "draft", "decisions"]),
    st.sampled_from(_EVENTS),
    st.sampled_from(["v1", "v2"]),
    st.sampled_from(["", "B1", "B2"]),
)
_ALL = st.builds(
    lambda event, batch: LedgerEntry(
        "bonus", event, NOON, batch=batch, reason_code="1", evidence={"baseline": {"v1": [5]}}
    ),
    st.sampled_from(_EVENTS),
    st.sampled_from(["B1", "B2"]),
)
_HISTORY = st.lists(_ONE | _ALL, max_size=40)


def history(*events: str) -> list[LedgerEntry]:
    """Return a debt that goes with B1, and what happened to B1."""
    rows = [_ROW, replace(_ROW, event="confirmed", batch="B1", provider_ref="post")]
    return rows + [LedgerEntry("bonus", event, NOON + HOUR, batch="B1", reason_code="1") for event in events]


@given(_HISTORY)
def test_what_is_settled_stays_so_and_what_is_unsure_is_never_owed_again_by_itself(
    entries: Sequence[LedgerEntry],
) -> None:
    states = [replay(entries[:number]) for number in range(len(entries) + 1)]
    for before, after in pairwise(states):
        for key, debt in before.debts.items():
            then = after.debts[key]
            assert (then.amount, then.participant, then.at) == (debt.amount, debt.participant, debt.at)
            assert debt.state != "settled" or then.state == "settled"
            if debt.state in ("unknown", "resend_authorised"):
                assert then.state in ("unknown", "resend_authorised", "pay_sent", "settled")
            if debt.state in ("pay_sent", "accepted") and then.is_due:
                assert then.state == "refused"


@given(_HISTORY)
def test_a_parcel_is_sent_once_and_once_more_for_each_time_it_is_let(entries: Sequence[LedgerEntry]) -> None:
    books = replay(entries)
    for batch in books.batches.values():
        let = [one for one in entries if one.event == "resend_authorised" and one.batch == batch.id]
        assert batch.sends <= 1 + len(let)


@given(_HISTORY)
def test_a_debt_is_done_unsure_or_neither(entries: Sequence[LedgerEntry]) -> None:
    books = replay(entries)
    assert all(debt.kind in KINDS for debt in books.debts.values())
    assert not [debt for debt in books.settled() if debt.is_unsure or debt in books.pending()]
    assert {debt.state for debt in books.debts.values() if debt.is_unsure} <= {
        "pay_sent", "unknown", "resend_authorised",
    }  # fmt: skip


def test_a_payment_from_plan_to_arrival() -> None:
    sent = history("setup_sent", "setup_done", "pay_sent", "accepted")
    assert [debt.state for debt in replay(sent).debts.values()] == ["accepted"]
    assert replay(sent).batches["B1"].posting == "post"
    books = replay([*sent, replace(_ROW, event="settled", batch="B1")])
    assert books.batches["B1"].state == "settled"
    assert [(debt.participant, debt.amount) for debt in books.settled()] == [("p-ann", Sum(150, "GBP"))]


def test_a_crash_after_the_payment_was_written_down_leaves_it_unsure() -> None:
    books = replay(history("setup_sent", "setup_done", "pay_sent"))
    assert [debt.submission for debt in books.debts.values() if debt.is_unsure] == ["v1"]
    assert replay(history("setup_sent", "setup_done", "cancelled")).pending() == ()


def test_a_second_payment_of_the_same_parcel_needs_leave() -> None:
    lost = history("setup_sent", "setup_done", "pay_sent", "unknown")
    assert replay([*lost, *history("pay_sent")[2:]]).batches["B1"].sends == 1
    assert replay([*lost, *history("resend_authorised", "pay_sent")[2:]]).batches["B1"].sends == 2


def test_debts_of_one_submission_are_one_row() -> None:
    other = replace(_ROW, reason_code="quantity", amount_minor=50)
    rows = [entry for one in (_ROW, other) for entry in (one, replace(one, event="confirmed", batch="B1"))]
    assert replay(rows).rows("B1") == {"v1": Sum(200, "GBP")}


@given(st.lists(st.integers(1, 5), max_size=5), st.integers(1, 5))
def test_money_has_arrived_when_exactly_one_new_payment_of_the_amount_is_shown(before: list[int], amount: int) -> None:
    assert bonus_arrival(before, before, amount) == "none"
    assert bonus_arrival(before, [amount, *reversed(before)], amount) == "paid"
    assert bonus_arrival(before, [*before, amount, amount], amount) == "odd"
    assert bonus_arrival(before, [*before, amount + 1], amount) == "odd"
    assert bonus_arrival([*before, 9], [*before, amount], amount) == "odd"
