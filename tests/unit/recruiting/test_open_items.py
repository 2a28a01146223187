"""Open items: what keeps a study from being closed, and what does not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from beholder.errors import Problem
from beholder.recruiting.contract import DecisionRow, Pay, Status
from beholder.recruiting.debts import Payment, PaymentLine, PaymentStatus
from beholder.recruiting.open_items import merge_problems, open_problems
from beholder.recruiting.signatures import SignedRow
from beholder.study.recruitment import Sum
from support.cleaning_store import START
from support.decision_store import DECIDE


def row(pay: Pay, status: Status = "awaiting_review", words: str = "") -> DecisionRow:
    return DecisionRow("s1", "p", ("a",), "completed", status, "right", pay, pay, True, False, (), words)


def line(
    standing: PaymentStatus, kind: str = "bonus", minor: int = 200, reason: str = "quality", words: str = ""
) -> PaymentLine:
    return PaymentLine(kind, "s1", "p", reason, Sum(minor, "GBP"), standing, words)


def held(rows: list[DecisionRow], *lines: PaymentLine, by_hand: bool = False) -> list[str]:
    payment = Payment(tuple(lines), False, (), (), None)
    return [str(one) for one in open_problems(rows, payment, {}, is_by_hand=by_hand)]


def test_what_was_decided_with_a_list_of_the_platform_needs_no_list_to_be_closed() -> None:
    nobody = Payment((), False, (), (), None)
    cases: tuple[tuple[Pay, bool], ...] = (("nothing", True), ("approve", True), ("look", False), ("wait", False))
    for pay, is_over in cases:
        signed = {"visit-7": SignedRow("Ada", START, pay, True, "", "", "p", ("a",), ())}
        result = list(open_problems([row("approve")], nobody, signed, is_by_hand=True))
        assert not result if is_over else [one.what for one in result] == ["is to be paid, and nobody has signed it"]
    other = {"visit-7": SignedRow("Ada", START, "nothing", True, "", "", "p", ("b",), ())}
    assert list(open_problems([row("approve")], nobody, other, is_by_hand=True))


def test_what_was_signed_to_be_looked_at_or_returned_holds_it_up_until_it_is_decided() -> None:
    nobody = Payment((), False, (), (), None)

    def messages(pay: Pay, now: Pay | None, minutes: float | None = None) -> list[str]:
        signed = {"visit-7": SignedRow("Ada", START, pay, True, "", "", "p", ("a",), ())}
        ended = {"a": START + timedelta(minutes=minutes)} if minutes is not None else {}
        rows = [row(now, "active" if now == "wait" else "awaiting_review")] if now else []
        return [str(one) for one in open_problems(rows, nobody, signed, is_by_hand=True, ended=ended)]

    listed = "Run `beholder decide --submissions FILE`, decide it and sign it, then `beholder pay --send`."
    waits = [f"visit-7  waits for your decision, with the list of the platform. {listed}"]
    assert messages("look", "wait") == waits
    assert messages("look", None) == waits, "nothing of theirs is here"
    assert messages("look", "approve") == [f"s1  is to be paid, and nobody has signed it. {DECIDE}"], "once"
    assert messages("return", "wait") == []
    assert messages("return", "approve", minutes=5) == [f"s1  is to be paid, and nobody has signed it. {DECIDE}"]
    assert messages("return", "approve", minutes=-5) == [], "it was whole when it was asked back"


@pytest.mark.parametrize(
    ("rows", "lines", "words"),
    [
        ([row("look", words="Nothing is here")], [], f"waits for your decision: Nothing is here. {DECIDE}"),
        ([row("approve")], [], f"is to be paid, and nobody has signed it. {DECIDE}"),
        ([row("reject")], [], f"is to be rejected, and nobody has signed it. {DECIDE}"),
        ([row("wait", "active")], [], "is still under way. Wait until it is over, then close again."),
        ([row("wait", "unknown")], [], "has a status that nobody knows. Wait until it is over, then close again."),
        ([row("nothing")], [], f"awaits review on the platform. {DECIDE}"),
        ([], [line("owed")], "is owed 2.00 GBP (quality). Run `beholder pay --send`."),
        ([row("approve")], [line("owed", "approve", 0)], "waits for its approval. Run `beholder pay --send`."),
        ([], [line("owed", "reject", 0)], "waits for its rejection. Run `beholder pay --send`."),
        (
            [],
            [line("sent")],
            "was sent 2.00 GBP, which has not been seen to arrive. Run `beholder pay --send` in some minutes.",
        ),
        (
            [row("bonus")],
            [line("unknown")],
            "was sent 2.00 GBP, and nobody knows whether it arrived. Run `beholder pay`: it says what to do.",
        ),
        (
            [row("approve")],
            [line("refused", "approve", reason="reward", words="on hold")],
            "waits for its approval, which was refused: on hold. Do it on the platform by hand, or sign another "
            "decision.",
        ),
    ],
)
def test_whoever_waits_holds_it_up(rows: list[DecisionRow], lines: list[PaymentLine], words: str) -> None:
    assert held(rows, *lines) == [f"s1  {words}"]


def test_those_who_wait_for_the_same_are_told_together() -> None:
    rows = [replace(row("approve"), submission=f"s{n}") for n in range(18)]
    alike = merge_problems(open_problems(rows, Payment((), False, (), (), None), {}, is_by_hand=False))
    assert [str(one) for one in alike] == [
        f"s0, s1, s2 and 15 more  each is to be paid, and nobody has signed it. {DECIDE}"
    ]
    owed = [replace(line("owed", reason="reward"), submission=f"s{n}") for n in (1, 2)]
    assert held([], *owed, line("owed")) == [
        "s1 and s2  are owed 6.00 GBP in all (reward, quality). Run `beholder pay --send`."
    ]
    unsure = "was sent 2.00 GBP, and nobody knows whether it arrived. Run `beholder pay`: it says what to do."
    assert held([], line("owed"), line("unknown", reason="reward")) == [f"s1  {unsure}"], "once"


def test_what_keeps_a_payment_from_being_sent_is_told_once() -> None:
    problem = Problem("decide", "s1 is to be paid for a session that s0 was paid for already")
    payment = Payment((), False, (problem,), (), None)
    assert list(open_problems([row("approve")], payment, {}, is_by_hand=False)) == [problem]


def test_what_is_over_holds_up_nothing() -> None:
    assert held([row("approve")], line("paid", "approve")) == []
    assert held([row("approve", "timed_out")], line("paid", reason="reward")) == [], "by a bonus"
    assert held([row("nothing", "approved")], line("nothing", minor=0)) == []
    assert held([row("wait", "timed_out")]) == []
    assert held([row("return", "active")], line("sent", "return", 0)) == []
    assert held([row("return")], line("done", "return", 0)) == [], "who does not answer holds up nobody"
    assert held([row("return")], line("owed", "return", 0)) == [f"s1  awaits review on the platform. {DECIDE}"]
    assert held([row("wait", "active"), row("nothing")], line("owed", "reject", 0), by_hand=True) == []
    assert held([row("reject")], line("owed", "reject", 0), by_hand=True) == []
    once = "Once it is paid: `beholder pay --paid`."
    assert held([], line("sent"), by_hand=True) == [f"s1  was sent 2.00 GBP, which has not been seen to arrive. {once}"]
