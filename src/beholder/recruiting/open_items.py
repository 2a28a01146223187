"""Open items: everything that keeps a study from being closed, from undecided submissions to unsettled payments."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from beholder.errors import Problem
from beholder.formats import first_names, join_names, plain_count, plural
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import PAID, UNDER_WAY, DecisionRow, Pay, Posting, Submission, platform_errors
from beholder.recruiting.debts import Payment, PaymentLine
from beholder.recruiting.ledger import MONEY
from beholder.recruiting.progress import AUTO_APPROVAL_DAYS
from beholder.recruiting.signatures import SignedRow
from beholder.study.recruitment import Sum

_DECIDE = "Run `beholder decide`, sign it with `--sign NAME`, then `beholder pay --send`."
_DECIDE_LISTED = "Run `beholder decide --submissions FILE`, decide it and sign it, then `beholder pay --send`."
_PAY = "Run `beholder pay --send`."
_KINDS: dict[Pay, str] = {"approve": "approve", "screen_out": "bonus", "bonus": "bonus", "reject": "reject"}
"""The ledger kind that settles each decision."""
_BASE = ("reward", "screen_out")
"""Reasons of a bonus that settle a decision; the others are additional."""


def open_problems(
    rows: Sequence[DecisionRow],
    payment: Payment,
    signed: Mapping[str, SignedRow],
    *,
    is_by_hand: bool,
    has_bonus: bool = False,
    ended: Mapping[str, datetime] | None = None,
) -> Iterator[Problem]:
    """Yield everything that is open, each submission once.

    `has_bonus` is whether the study has bonus rules, `ended` when each session ended.
    """
    unsure = {line.submission for line in payment.unknown}
    money = [line for line in payment.of("owed") if line.kind in MONEY and line.amount.minor]
    owed = [line for line in money if line.submission not in unsure]
    reported = {line.submission for line in owed}
    yield from _due_problems(owed)
    for line in (*payment.unknown, *payment.lines):
        problem = _line_problem(line, is_by_hand)
        if problem is not None and line.submission not in reported:
            reported.add(line.submission)
            yield problem
    settled = {(line.submission, line.kind) for line in payment.lines if line.kind != "bonus" or line.reason in _BASE}
    # A reward is paid as an approval or as a bonus, whichever was signed last.
    settled |= {(line.submission, kind) for line in payment.lines if line.reason == "reward" for kind in MONEY}
    decided = _decided(signed, ended or {}) if is_by_hand else frozenset()
    in_lines = {name for line in payment.lines for name in (line.submission, line.payment)}
    others = [problem for problem in payment.problems if problem.where not in in_lines]
    requested = pending_returns(rows, payment)
    for row in rows:
        if (
            row.submission in reported
            or row.submission in requested
            or (row.sessions and decided.issuperset(row.sessions))
        ):
            continue
        if any(row.submission in problem.what for problem in others):
            continue
        problem = None
        if (row.submission, _KINDS.get(row.pay, "")) not in settled and row.status not in PAID:
            problem = _row_problem(row, is_by_hand)
        elif _has_more(row, signed.get(row.submission), has_bonus):
            problem = Problem(row.submission, "may have earned a bonus, and nobody has signed it", "", _DECIDE)
        if problem is not None:
            reported.update((row.submission, *row.sessions))
            yield problem
    if is_by_hand:
        covered = {line.submission for line in payment.lines} | reported
        for submission, one in signed.items():
            if one.pay == "look" and submission not in covered and not (decided | reported).intersection(one.sessions):
                what = "waits for your decision, with the list of the platform"
                yield Problem(submission, what, "", _DECIDE_LISTED)
    yield from others


LIVE_PLACE = "participants"
"""The place of the problem that sessions are live."""


def live_session_problems(live: int, limit: str) -> Iterator[Problem]:
    """Yield that sessions are live, where there is no platform: they may finish and be paid."""
    if live:
        people = plain_count(live, "person is", "people are")
        fix = f"Close again when they are done; who rests for {limit} is not waited for."
        yield Problem(LIVE_PLACE, f"{people} at work", "", fix)


def _decided(signed: Mapping[str, SignedRow], ended: Mapping[str, datetime]) -> frozenset[str]:
    """Return the sessions with a signed decision.

    By session, because it may have been signed with a platform's list that is no longer available. A request to return
    does not count if the session was finished since.
    """
    sessions: set[str] = set()
    for one in signed.values():
        if one.pay == "return":
            sessions.update(name for name in one.sessions if name in ended and ended[name] <= one.at)
        elif one.pay not in ("wait", "look"):
            sessions.update(one.sessions)
    return frozenset(sessions)


def _has_more(row: DecisionRow, signed: SignedRow | None, has_bonus: bool) -> bool:
    """Return whether a paid participant has completed more than was signed, or nothing is signed."""
    if row.outcome != "completed" or row.pay in ("reject", "screen_out"):
        return False
    if signed is None:
        return has_bonus or bool(row.further)
    return not set(row.further) <= set(signed.further)


def _due_problems(lines: Sequence[PaymentLine]) -> Iterator[Problem]:
    """Yield the sum of what is due to all participants."""
    if not lines:
        return
    names = list(dict.fromkeys(line.submission for line in lines))
    total = Sum(sum(line.amount.minor for line in lines), lines[0].amount.currency)
    due = plural(len(names), f"is owed {total}", f"are owed {total} in all")
    reasons = ", ".join(dict.fromkeys(line.reason.partition(":")[0] for line in lines))
    yield Problem(_named(names), f"{due} ({reasons})", "", _PAY)


def _line_problem(line: PaymentLine, is_by_hand: bool) -> Problem | None:
    """Return why a line is not settled; None where it is."""
    what = str(line.amount) if line.amount.minor else "its decision"
    if line.status == "unknown":
        fix = "Run `beholder pay`: it says what to do."
        return Problem(line.submission, f"was sent {what}, and nobody knows whether it arrived", "", fix)
    # A request without an answer would hold it up for ever; and where people are paid by hand nothing is sent.
    if line.kind == "return" or (is_by_hand and line.kind == "reject"):
        return None
    if line.status == "owed":
        return Problem(line.submission, f"waits for its {_act_word(line)}", "", _PAY)
    if line.status == "sent":
        fix = "Once it is paid: `beholder pay --paid`." if is_by_hand else "Run `beholder pay --send` in some minutes."
        return Problem(line.submission, f"was sent {what}, which has not been seen to arrive", "", fix)
    if line.status == "refused":
        fix = "Do it on the platform by hand, or sign another decision."
        return Problem(line.submission, f"waits for its {_act_word(line)}, which was refused: {line.words}", "", fix)
    return None


def _act_word(line: PaymentLine) -> str:
    return {"approve": "approval", "reject": "rejection"}.get(line.kind, line.kind)


def _row_problem(row: DecisionRow, is_by_hand: bool) -> Problem | None:
    """Return why a submission without any action is not settled; None where it is."""
    if row.pay == "look":
        return Problem(row.submission, f"waits for your decision: {row.words}", "", _DECIDE)
    if row.pay in _KINDS:
        words = "is to be rejected" if row.pay == "reject" else "is to be paid"
        return Problem(row.submission, f"{words}, and nobody has signed it", "", _DECIDE)
    if is_by_hand:
        return None
    if row.pay == "wait" and row.status in UNDER_WAY | {"unknown"}:
        what = "has a status that nobody knows" if row.status == "unknown" else "is still under way"
        return Problem(row.submission, what, "", "Wait until it is over, then close again.")
    if row.pay != "wait" and row.status == "awaiting_review":
        return Problem(row.submission, "awaits review on the platform", "", _DECIDE)
    return None


# Return requests without an answer: reported, and no obstacle


def pending_returns(rows: Sequence[DecisionRow], payment: Payment) -> frozenset[str]:
    """Return the submissions that await review only because the requested return has not happened yet."""
    requested = {line.submission for line in payment.lines if line.kind == "return" and line.status in ("sent", "done")}
    waiting = {row.submission for row in rows if row.pay == "return" and row.status == "awaiting_review"}
    return frozenset(requested & waiting)


async def pending_return_notes(
    context: RecruitContext, posting: Posting | None, requested: Collection[str]
) -> list[str]:
    """Return what will happen to them, in sentences."""
    if posting is None or not requested:
        return []
    with platform_errors(context.study):
        listed = await context.recruiter.submissions(posting.id)
    return [_words(context.study.recruit.source.title, one) for one in listed if one.id in requested]


def _words(platform: str, one: Submission) -> str:
    days = timedelta(days=AUTO_APPROVAL_DAYS)
    when = f"on {one.completed_at + days:%Y-%m-%d}" if one.completed_at is not None else f"after {days.days} days"
    return (
        f"{one.id} was asked to return it, and has not yet: {platform} approves and pays it by itself {when}, unless "
        "it is returned or rejected before."
    )


# Several items with the same problem as one


_NAMED = 3
"""Of more names than this the others are counted."""


def merge_problems(problems: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the problems with those that differ only in their place merged into one."""
    places: dict[Problem, list[str]] = {}
    for problem in problems:
        places.setdefault(replace(problem, where=""), []).append(problem.where)
    return tuple(
        replace(one, where=names[0]) if len(names) == 1 else replace(one, where=_named(names), what=f"each {one.what}")
        for one, names in places.items()
    )


def _named(names: Sequence[str]) -> str:
    """Return names as a list in words, the first few of many."""
    return first_names(names, _NAMED) if len(names) > _NAMED else join_names(names)
