"""The table of reconciliation: what we have, how the platform stands, which code came, and what is proposed.

Nobody is rejected but for a verdict, and nobody at all whom we turned away, whose trouble was ours, or whose status
nobody knows. A wrong or a missing code never costs anybody whose data is whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from beholder.recruit.contract import PAID, UNDER_WAY, Category, Status
from beholder.recruit.decisions import Pay
from beholder.recruit.panel.codes import NO_DATA, NO_SUBMISSION, REASONS
from beholder.recruit.reconcile.cases import Case, Held, Proposal


def propose(case: Case) -> Proposal:
    """Return what is proposed for a visit; total, so that every combination gives something."""
    if case.status == "unknown":
        return Proposal("wait", ("platform:unknown_status",))
    return _BY_HELD[case.held](case)


def elsewhere() -> Proposal:
    """Return what is proposed for whole data that no submission belongs to: kept apart, and never paid."""
    return Proposal("nothing", (NO_SUBMISSION,), is_kept=False)


def by_hand(held: Held, accept: bool | None, *, pays: bool, pays_screen_out: bool) -> Proposal:
    """Return what is proposed where no platform counts submissions: whoever has earned something is owed it."""
    if held == "partial":
        return Proposal("wait", ("platform:not_finished",))
    case = Case(held, "awaiting_review", "none", accept, pays_screen_out=pays_screen_out)
    found = propose(case)
    if found.pay == "return" or (found.pay in ("approve", "reject", "look") and not pays):
        return found._replace(pay="nothing", grounds=frozenset())
    return found


def _whole(case: Case) -> Proposal:
    """Return what is proposed for a visit with all its answers."""
    match case.status:
        case "awaiting_review":
            return _judged(case, _coded(case))
        case "active" | "reserved":
            return Proposal("wait", ("platform:not_submitted",))
        case "timed_out":
            pay: Pay = "look" if case.accept is not True else "bonus" if case.is_refused else "approve"
            return Proposal(pay, ("platform:timed_out",))
        case "returned":
            return Proposal("nothing", ("platform:returned",), is_kept=False)
        case "screened_out":
            return Proposal("look", ("platform:screened_out",))
        case _:
            return _settled(case)


def _judged(case: Case, code: tuple[str, ...] = ()) -> Proposal:
    """Return what the verdict proposes for a visit that awaits review."""
    pay: Pay = "approve" if case.accept else "look" if case.accept is None else "reject"
    grounds: frozenset[Category] = frozenset() if case.accept else frozenset({"FAILED_CHECK"})
    return Proposal(pay, code, grounds=grounds)


def _failed(case: Case) -> Proposal:
    """Return what is proposed for a visit that failed checks have ended."""
    match case.status:
        case "awaiting_review":
            return _judged(case)
        case "active" | "reserved":
            return Proposal("wait", ("platform:not_submitted",))
        case "timed_out":
            return Proposal("look", ("platform:timed_out",))
        case "returned":
            return Proposal("nothing", ("platform:returned",))
        case _:
            return _settled(case)


def _part(case: Case) -> Proposal:
    """Return what is proposed for a visit of which something is missing, or everything."""
    match case.status:
        case "active" | "reserved":
            return Proposal("wait", ("platform:not_finished",))
        case "returned" | "timed_out":
            reason = f"platform:{case.status}"
            return Proposal("nothing", (reason,), is_over=case.held == "partial")
        case "awaiting_review" if case.code == "no_place":
            return Proposal("screen_out" if case.pays_screen_out else "look", _coded(case))
        case "awaiting_review" if case.code in ("right", "foreign", "shared"):
            return Proposal("look", (*_coded(case), NO_DATA), grounds=frozenset({"NO_DATA"}))
        case "awaiting_review" if case.has_waited:
            return Proposal("look", (NO_DATA, "platform:waited"), grounds=frozenset({"NO_DATA", "NO_CODE"}))
        case "awaiting_review":
            return Proposal("return", (*_coded(case), NO_DATA))
        case "approved" | "partially_approved":
            return Proposal("nothing", (NO_DATA,), is_settled=True)
        case _:
            return _settled(case)


def _screened(case: Case) -> Proposal:
    """Return what is proposed for somebody who did not fit: the amount for that, and never a rejection."""
    if case.status == "screened_out" or case.status in PAID:
        return Proposal("nothing", is_settled=True)
    if case.status in UNDER_WAY:
        # The platform may pay it by itself as soon as the code arrives; paid now, it would be paid twice.
        return Proposal("wait", ("platform:not_submitted",))
    reasons = () if case.status == "awaiting_review" else (_standing(case.status),)
    if case.pays_screen_out:
        return Proposal("screen_out", reasons)
    return _let_go(case, reasons)


def _unpaid(case: Case) -> Proposal:
    """Return what is proposed for somebody whose device did not fit, or who did not agree or withdrew."""
    if case.status in UNDER_WAY:
        return Proposal("wait", ("platform:not_submitted",))
    if case.status == "screened_out" or case.status in PAID:
        return Proposal("nothing", is_settled=True)
    return _let_go(case, () if case.status == "awaiting_review" else (_standing(case.status),))


def _let_go(case: Case, reasons: tuple[str, ...]) -> Proposal:
    """Return that a person is asked to return it; after a week somebody looks."""
    if case.status != "awaiting_review":
        return Proposal("nothing", reasons)
    return Proposal("look", (*reasons, "platform:waited")) if case.has_waited else Proposal("return", reasons)


def _faulty(case: Case) -> Proposal:
    """Return what is proposed where the fault was ours: the reward, also where the visit was given back."""
    match case.status:
        case "awaiting_review":
            return Proposal("approve")
        case "timed_out":
            return Proposal("bonus" if case.is_refused else "approve", ("platform:timed_out",))
        case "returned":
            return Proposal("bonus", ("platform:returned",))
        case "active" | "reserved":
            return Proposal("wait", ("platform:not_submitted",))
        case _:
            return _settled(case)


def _settled(case: Case) -> Proposal:
    """Return that there is nothing to do; what somebody else has rejected is shown, and neither repeated nor hidden."""
    if case.status == "rejected" and not case.is_ours:
        return Proposal("nothing", ("platform:rejected_elsewhere",))
    return Proposal("nothing", is_settled=True)


def _coded(case: Case) -> tuple[str, ...]:
    return (REASONS[case.code],) if case.code in REASONS else ()


def _standing(status: Status) -> str:
    return "platform:rejected_elsewhere" if status == "rejected" else f"platform:{status}"


_BY_HELD: Mapping[Held, Callable[[Case], Proposal]] = {
    "complete": _whole,
    "partial": _part,
    "none": _part,
    "screened_out": _screened,
    "wrong_device": _unpaid,
    "declined": _unpaid,
    "failed_checks": _failed,
    "technical": _faulty,
}
