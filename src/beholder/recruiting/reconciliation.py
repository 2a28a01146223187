"""Reconciling: what we have of a visit beside what its platform says, and what follows from both."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from beholder.cleaning.facts import Rows
from beholder.recruiting.contract import GONE, PAID, UNDER_WAY, Category, CodeFinding, Pay, Status, Submission
from beholder.recruiting.panel import CODE_REASONS, NO_DATA, NO_SUBMISSION, CodedSession, code_findings, plain_code
from beholder.server.tokens import pseudonym
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit
from beholder.store.rules import NOT_PEOPLE
from beholder.types import Mode, Outcome

# --- Cases of reconciliation: what we have of a visit beside what its platform says, and what can be proposed for it.


DataState = Literal[
    "complete", "partial", "none", "screened_out", "wrong_device", "declined", "failed_checks", "technical"
]  # fmt: skip
"""What we have of a visit: everything, a part, nothing at all; or how it ended otherwise."""

DATA_STATES: Mapping[Outcome | None, DataState] = {
    "completed": "complete",
    "screened_out": "screened_out",
    "wrong_device": "wrong_device",
    "no_consent": "declined",
    "withdrawn": "declined",
    "failed_checks": "failed_checks",
    "technical": "technical",
    None: "partial",
}
"""What we have by how the session ended; None while it has not."""

REASON_WORDS: Mapping[str, str] = {
    "platform:missing_code": "Handed in without a code",
    "platform:wrong_code": "Handed in with a code that is not ours",
    "platform:shared_code": "Handed in with a code that somebody else has used",
    "platform:foreign_code": "Handed in with a code that this person was not shown",
    "platform:no_place": "Found every place taken, or the study closed, and was sent back",
    "platform:not_submitted": "Finished here, not handed in there yet",
    "platform:not_finished": "Not finished yet",
    "platform:timed_out": "Out of time on the platform",
    "platform:returned": "Returned on the platform",
    "platform:rejected_elsewhere": "Rejected on the platform, and not by us",
    NO_DATA: "Handed in, and nothing whole is here",
    NO_SUBMISSION: "Came from elsewhere: no submission belongs to it",
    "platform:screened_out": "Counted as screened out on the platform",
    "platform:unknown_status": "The platform tells no status that we know",
    "platform:waited": "Asked to return it, and nothing has happened",
}
"""What a researcher reads for each reason that comes from a platform."""


class ReconciliationCase(NamedTuple):
    """One visit: what we have of it, and what its platform says."""

    held: DataState
    status: Status
    code: CodeFinding
    accept: bool | None = True
    """What cleaning says about the pay; None where a person has to look. Counts where the visit came to its end."""
    has_waited: bool = False
    """Whether the person was asked to return it a week ago, and it still awaits review."""
    is_refused: bool = False
    """Whether the platform has refused to approve it."""
    is_ours: bool = False
    """Whether it was rejected by us."""
    pays_screen_out: bool = True
    """Whether the study pays those who did not fit."""


class Proposal(NamedTuple):
    """What is proposed for a visit, and why."""

    pay: Pay
    reasons: tuple[str, ...] = ()
    """As `platform:reason`; those of the verdicts stand elsewhere."""
    is_kept: bool = True
    """Whether the platform's side lets the answers be used."""
    is_settled: bool = False
    """Whether the platform has done all there is to do: nothing that a person writes changes it."""
    is_over: bool = False
    """Whether its list can be given to somebody else at once."""
    grounds: frozenset[Category] = frozenset()
    """For which categories a person may reject it."""


# --- The table of reconciliation: what we have, how the platform stands, which code came, and what is proposed ---
#
# Nobody is rejected but for a verdict, and nobody at all whom we turned away, whose trouble was ours, or whose status
# nobody knows. A wrong or a missing code never costs anybody whose data is whole.


def propose(case: ReconciliationCase) -> Proposal:
    """Return what is proposed for a visit; total, so that every combination gives something."""
    if case.status == "unknown":
        return Proposal("wait", ("platform:unknown_status",))
    return _BY_HELD[case.held](case)


def propose_unlisted() -> Proposal:
    """Return what is proposed for whole data that no submission belongs to: kept apart, and never paid."""
    return Proposal("nothing", (NO_SUBMISSION,), is_kept=False)


def propose_manual(held: DataState, accept: bool | None, *, pays: bool, pays_screen_out: bool) -> Proposal:
    """Return what is proposed where no platform counts submissions: whoever has earned something is owed it."""
    if held == "partial":
        return Proposal("wait", ("platform:not_finished",))
    case = ReconciliationCase(held, "awaiting_review", "none", accept, pays_screen_out=pays_screen_out)
    found = propose(case)
    if found.pay == "return" or (found.pay in ("approve", "reject", "look") and not pays):
        return found._replace(pay="nothing", grounds=frozenset())
    return found


def _whole(case: ReconciliationCase) -> Proposal:
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


def _judged(case: ReconciliationCase, code: tuple[str, ...] = ()) -> Proposal:
    """Return what the verdict proposes for a visit that awaits review."""
    pay: Pay = "approve" if case.accept else "look" if case.accept is None else "reject"
    grounds: frozenset[Category] = frozenset() if case.accept else frozenset({"FAILED_CHECK"})
    return Proposal(pay, code, grounds=grounds)


def _failed(case: ReconciliationCase) -> Proposal:
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


def _part(case: ReconciliationCase) -> Proposal:
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


def _screened(case: ReconciliationCase) -> Proposal:
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


def _unpaid(case: ReconciliationCase) -> Proposal:
    """Return what is proposed for somebody whose device did not fit, or who did not agree or withdrew."""
    if case.status in UNDER_WAY:
        return Proposal("wait", ("platform:not_submitted",))
    if case.status == "screened_out" or case.status in PAID:
        return Proposal("nothing", is_settled=True)
    return _let_go(case, () if case.status == "awaiting_review" else (_standing(case.status),))


def _let_go(case: ReconciliationCase, reasons: tuple[str, ...]) -> Proposal:
    """Return that a person is asked to return it; after a week somebody looks."""
    if case.status != "awaiting_review":
        return Proposal("nothing", reasons)
    return Proposal("look", (*reasons, "platform:waited")) if case.has_waited else Proposal("return", reasons)


def _faulty(case: ReconciliationCase) -> Proposal:
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


def _settled(case: ReconciliationCase) -> Proposal:
    """Return that there is nothing to do; what somebody else has rejected is shown, and neither repeated nor hidden."""
    if case.status == "rejected" and not case.is_ours:
        return Proposal("nothing", ("platform:rejected_elsewhere",))
    return Proposal("nothing", is_settled=True)


def _coded(case: ReconciliationCase) -> tuple[str, ...]:
    return (CODE_REASONS[case.code],) if case.code in CODE_REASONS else ()


def _standing(status: Status) -> str:
    return "platform:rejected_elsewhere" if status == "rejected" else f"platform:{status}"


_BY_HELD: Mapping[DataState, Callable[[ReconciliationCase], Proposal]] = {
    "complete": _whole,
    "partial": _part,
    "none": _part,
    "screened_out": _screened,
    "wrong_device": _unpaid,
    "declined": _unpaid,
    "failed_checks": _failed,
    "technical": _faulty,
}


# --- Which of our sessions belongs to which submission of a platform ---


class MatchedSubmission(NamedTuple):
    """A submission with its sessions, oldest first; either may be missing, never both."""

    submission: Submission | None
    participant: str
    """The pseudonym; empty where we have never seen the person."""
    sessions: tuple[str, ...]


class ArrivedSession(NamedTuple):
    """A session of ours: whose it is, how it ended, and the code that it gave."""

    session: str
    participant: str
    outcome: Outcome | None
    code: str = ""


def arrived_sessions(sessions: Rows, ends: Rows) -> list[ArrivedSession]:
    """Return the sessions of people, in the order of arrival."""
    ended = {row["session"]: row for row in ends}
    people = [row for row in sessions if row["mode"] not in NOT_PEOPLE]
    return [
        ArrivedSession(str(row["session"]), str(row["participant"]), end.get("outcome"), str(end.get("code") or ""))
        for row in sorted(people, key=lambda row: (row["at"], str(row["session"])))
        for end in (ended.get(row["session"], {}),)
    ]


def erased_visits(
    entries: Sequence[LedgerEntry], listed: Sequence[Submission], secret: bytes, mode: Mode
) -> list[PlatformVisit]:
    """Return which visits led to sessions that were erased since: who is forgotten is still paid."""
    people = {pseudonym(secret, mode, one.participant): one.id for one in listed if one.id == one.participant}
    erased = {one.session: one.submission for one in entries if one.kind == "forget" and one.submission}
    return [PlatformVisit(session, "", people.get(visit, visit)) for session, visit in erased.items()]


def match_submissions(
    submissions: Sequence[Submission],
    arrived: Sequence[ArrivedSession],
    links: Sequence[PlatformIdentity],
    comings: Sequence[PlatformVisit],
) -> list[MatchedSubmission]:
    """Return every submission and every session once: a session belongs to one submission, or to none.

    By the visit that led to it; of several visits to the one that was not given back. A session without a visit of
    its own, as a further round, goes to the first submission of its person.
    """
    of_session = {one.session: one.participant for one in arrived}
    who = {link.platform_id: link.participant for link in links}
    owner = _owners(submissions, comings)
    visited = {coming.session for coming in comings if coming.submission}
    theirs: dict[str, list[str]] = defaultdict(list)
    loose: dict[str, list[str]] = defaultdict(list)
    rest = []
    for one in arrived:
        if one.session in owner:
            theirs[owner[one.session]].append(one.session)
        elif one.session in visited:
            rest.append(one.session)  # by a visit that the platform does not list: it came from elsewhere
        else:
            loose[one.participant].append(one.session)
    times = Counter(one.participant for one in submissions)
    pairs = []
    for submission in submissions:
        mine = theirs.get(submission.id, [])
        person = of_session[mine[0]] if mine else who.get(submission.participant, "")
        if submission.status not in GONE or times[submission.participant] == 1:
            mine = [*mine, *loose.pop(person, ())]
        pairs.append(MatchedSubmission(submission, person, tuple(mine)))
    rest += [session for sessions in loose.values() for session in sessions]
    order = {one.session: place for place, one in enumerate(arrived)}
    return pairs + [MatchedSubmission(None, of_session[one], (one,)) for one in sorted(rest, key=order.__getitem__)]


def _owners(submissions: Sequence[Submission], comings: Sequence[PlatformVisit]) -> Mapping[str, str]:
    """Return the submission of each session: the last that led to it, but for those that were given back."""
    status = {one.id: one.status for one in submissions}
    owner: dict[str, str] = {}
    for coming in comings:
        if coming.submission not in status:
            continue
        before = owner.get(coming.session)
        if before is None or status[before] in GONE or status[coming.submission] not in GONE:
            owner[coming.session] = coming.submission
    return owner


def submission_codes(
    pairs: Sequence[MatchedSubmission], arrived: Sequence[ArrivedSession], codes: Mapping[Outcome, str]
) -> Mapping[str, CodeFinding]:
    """Return what each submission's code is; one of ours that this person was never shown is foreign."""
    by_session = {one.session: one for one in arrived}
    # Those without a submission too: their codes may have been passed on.
    came = [
        CodedSession(one.session, *((given.participant, given.id) if given else ("", "")), one.outcome, one.code)
        for given, _, sessions in pairs
        for one in (by_session[session] for session in sessions)
    ]
    submissions = [pair.submission for pair in pairs if pair.submission is not None]
    known = {plain_code(code): outcome for outcome, code in codes.items()}
    findings = dict(code_findings(submissions, came, codes))
    under_way = {one.visit for one in came if one.outcome is None}
    for one in submissions:
        outcome = known.get(plain_code(one.code))
        if findings[one.id] == "wrong" and outcome is not None:
            # The door gives this code to whoever finds no place; nothing else does before the end.
            findings[one.id] = "no_place" if outcome == "technical" and one.id in under_way else "foreign"
    return findings
