"""Reconciliation: match our sessions with a platform's submissions, and propose what to do about each.

A proposal follows from the data we have, the platform's status and the pasted code. Nobody is rejected except for a
verdict, and never somebody we turned away, whose session failed because of us, or whose status is unknown. A wrong or
missing code never costs a participant with complete data anything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from beholder.cleaning.facts import Rows
from beholder.recruiting.contract import GONE, PAID, UNDER_WAY, Category, CodeFinding, Pay, Status, Submission
from beholder.recruiting.panel import CODE_REASONS, NO_DATA, NO_SUBMISSION, CodedSession, code_findings, plain_code
from beholder.server.tokens import pseudonym
from beholder.store.contract import LedgerEntry, PlatformIdentity, PlatformVisit
from beholder.study.recruitment import Mode, is_person
from beholder.types import Outcome

DataState = Literal[
    "complete", "partial", "none", "screened_out", "wrong_device", "declined", "failed_checks", "technical"
]  # fmt: skip
"""The data we have of a visit: all, a part, none; or how it ended otherwise."""

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
"""The data we have by the outcome of the session; None while it has not ended."""

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
"""The text that a researcher reads for each reason from a platform."""


class ReconciliationCase(NamedTuple):
    """One visit: the data we have, and what its platform says."""

    data: DataState
    status: Status
    code: CodeFinding
    accept: bool | None = True
    """The verdict of cleaning about the pay; None where a person has to look. Used if the visit came to its end."""
    has_waited: bool = False
    """Whether the participant was asked to return it a week ago, and it still awaits review."""
    is_refused: bool = False
    """Whether the platform refused to approve it."""
    is_ours: bool = False
    """Whether the rejection is ours."""
    pays_screen_out: bool = True
    """Whether the study pays screen-outs."""


class Proposal(NamedTuple):
    """What is proposed for a visit, and why."""

    pay: Pay
    reasons: tuple[str, ...] = ()
    """As `platform:reason`; those of verdicts are kept elsewhere."""
    is_kept: bool = True
    """Whether the platform's side allows the answers to be used."""
    is_settled: bool = False
    """Whether the platform has done everything: no edit changes it."""
    is_over: bool = False
    """Whether its list can be released at once."""
    grounds: frozenset[Category] = frozenset()
    """The categories under which a person may reject it."""


# Proposals


def propose(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a visit; total over all combinations."""
    if case.status == "unknown":
        return Proposal("wait", ("platform:unknown_status",))
    return _BY_DATA[case.data](case)


def propose_unlisted() -> Proposal:
    """Return the proposal for complete data without a submission: excluded, and never paid."""
    return Proposal("nothing", (NO_SUBMISSION,), is_kept=False)


def propose_manual(data: DataState, accept: bool | None, *, pays: bool, pays_screen_out: bool) -> Proposal:
    """Return the proposal where no platform counts submissions: everybody who earned something is paid."""
    if data == "partial":
        return Proposal("wait", ("platform:not_finished",))
    case = ReconciliationCase(data, "awaiting_review", "none", accept, pays_screen_out=pays_screen_out)
    proposal = propose(case)
    if proposal.pay == "return" or (proposal.pay in ("approve", "reject", "look") and not pays):
        return proposal._replace(pay="nothing", grounds=frozenset())
    return proposal


def _complete(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a visit with all its answers."""
    match case.status:
        case "awaiting_review":
            return _judged(case, _code_reasons(case))
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
    """Return the proposal for a visit that ended by failed checks."""
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


def _incomplete(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a visit with some or all answers missing."""
    match case.status:
        case "active" | "reserved":
            return Proposal("wait", ("platform:not_finished",))
        case "returned" | "timed_out":
            reason = f"platform:{case.status}"
            return Proposal("nothing", (reason,), is_over=case.data == "partial")
        case "awaiting_review" if case.code == "no_place":
            return Proposal("screen_out" if case.pays_screen_out else "look", _code_reasons(case))
        case "awaiting_review" if case.code in ("right", "foreign", "shared"):
            return Proposal("look", (*_code_reasons(case), NO_DATA), grounds=frozenset({"NO_DATA"}))
        case "awaiting_review" if case.has_waited:
            return Proposal("look", (NO_DATA, "platform:waited"), grounds=frozenset({"NO_DATA", "NO_CODE"}))
        case "awaiting_review":
            return Proposal("return", (*_code_reasons(case), NO_DATA))
        case "approved" | "partially_approved":
            return Proposal("nothing", (NO_DATA,), is_settled=True)
        case _:
            return _settled(case)


def _screened_out(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a screen-out: the amount for that, and never a rejection."""
    if case.status == "screened_out" or case.status in PAID:
        return Proposal("nothing", is_settled=True)
    if case.status in UNDER_WAY:
        # The platform may pay it by itself as soon as the code arrives; paid now, it would be paid twice.
        return Proposal("wait", ("platform:not_submitted",))
    reasons = () if case.status == "awaiting_review" else (_status_reason(case.status),)
    if case.pays_screen_out:
        return Proposal("screen_out", reasons)
    return _ask_return(case, reasons)


def _unpaid(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a wrong device, or for somebody who did not consent or withdrew."""
    if case.status in UNDER_WAY:
        return Proposal("wait", ("platform:not_submitted",))
    if case.status == "screened_out" or case.status in PAID:
        return Proposal("nothing", is_settled=True)
    return _ask_return(case, () if case.status == "awaiting_review" else (_status_reason(case.status),))


def _ask_return(case: ReconciliationCase, reasons: tuple[str, ...]) -> Proposal:
    """Return that the participant is asked to return it; after a week a person looks."""
    if case.status != "awaiting_review":
        return Proposal("nothing", reasons)
    return Proposal("look", (*reasons, "platform:waited")) if case.has_waited else Proposal("return", reasons)


def _technical(case: ReconciliationCase) -> Proposal:
    """Return the proposal for a technical fault of ours: the reward, even where the visit was returned."""
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
    """Return that nothing is to be done; a rejection by somebody else is shown."""
    if case.status == "rejected" and not case.is_ours:
        return Proposal("nothing", ("platform:rejected_elsewhere",))
    return Proposal("nothing", is_settled=True)


def _code_reasons(case: ReconciliationCase) -> tuple[str, ...]:
    return (CODE_REASONS[case.code],) if case.code in CODE_REASONS else ()


def _status_reason(status: Status) -> str:
    return "platform:rejected_elsewhere" if status == "rejected" else f"platform:{status}"


_BY_DATA: Mapping[DataState, Callable[[ReconciliationCase], Proposal]] = {
    "complete": _complete,
    "partial": _incomplete,
    "none": _incomplete,
    "screened_out": _screened_out,
    "wrong_device": _unpaid,
    "declined": _unpaid,
    "failed_checks": _failed,
    "technical": _technical,
}


# Matching sessions with submissions


class MatchedSubmission(NamedTuple):
    """A submission with its sessions, oldest first; one of both may be missing."""

    submission: Submission | None
    participant: str
    """The pseudonym; empty where the person never reached our server."""
    sessions: tuple[str, ...]


class ArrivedSession(NamedTuple):
    """A session of ours: its participant, how it ended, and the code that it gave."""

    session: str
    participant: str
    outcome: Outcome | None
    code: str = ""


def arrived_sessions(sessions: Rows, ends: Rows) -> list[ArrivedSession]:
    """Return the sessions of people, in the order of arrival."""
    ended = {row["session"]: row for row in ends}
    people = [row for row in sessions if is_person(row["mode"])]
    return [
        ArrivedSession(str(row["session"]), str(row["participant"]), end.get("outcome"), str(end.get("code") or ""))
        for row in sorted(people, key=lambda row: (row["at"], str(row["session"])))
        for end in (ended.get(row["session"], {}),)
    ]


def erased_visits(
    entries: Sequence[LedgerEntry], listed: Sequence[Submission], secret: bytes, mode: Mode
) -> list[PlatformVisit]:
    """Return which visits led to sessions that were erased since: erased participants are still paid."""
    people = {pseudonym(secret, mode, one.participant): one.id for one in listed if one.id == one.participant}
    erased = {one.session: one.submission for one in entries if one.kind == "forget" and one.submission}
    return [PlatformVisit(session, "", people.get(visit, visit)) for session, visit in erased.items()]


def match_submissions(
    submissions: Sequence[Submission],
    arrived: Sequence[ArrivedSession],
    links: Sequence[PlatformIdentity],
    visits: Sequence[PlatformVisit],
) -> list[MatchedSubmission]:
    """Return every submission and every session once: a session belongs to one submission, or to none.

    It belongs to the visit that led to it; of several visits to the one that was not given up. A session without a
    visit of its own, as a further round, goes to the first submission of its participant.
    """
    of_session = {one.session: one.participant for one in arrived}
    participants = {link.platform_id: link.participant for link in links}
    owner = _owners(submissions, visits)
    visited = {visit.session for visit in visits if visit.submission}
    by_submission: dict[str, list[str]] = defaultdict(list)
    without_visit: dict[str, list[str]] = defaultdict(list)
    unlisted = []
    for one in arrived:
        if one.session in owner:
            by_submission[owner[one.session]].append(one.session)
        elif one.session in visited:
            unlisted.append(one.session)  # by a visit that the platform does not list: it came from elsewhere
        else:
            without_visit[one.participant].append(one.session)
    times = Counter(one.participant for one in submissions)
    pairs = []
    for submission in submissions:
        sessions = by_submission.get(submission.id, [])
        person = of_session[sessions[0]] if sessions else participants.get(submission.participant, "")
        if submission.status not in GONE or times[submission.participant] == 1:
            sessions = [*sessions, *without_visit.pop(person, ())]
        pairs.append(MatchedSubmission(submission, person, tuple(sessions)))
    unlisted += [session for some in without_visit.values() for session in some]
    order = {one.session: place for place, one in enumerate(arrived)}
    return pairs + [MatchedSubmission(None, of_session[one], (one,)) for one in sorted(unlisted, key=order.__getitem__)]


def _owners(submissions: Sequence[Submission], visits: Sequence[PlatformVisit]) -> Mapping[str, str]:
    """Return the submission of each session: the last that led to it, unless it was given up."""
    status = {one.id: one.status for one in submissions}
    owner: dict[str, str] = {}
    for visit in visits:
        if visit.submission not in status:
            continue
        before = owner.get(visit.session)
        if before is None or status[before] in GONE or status[visit.submission] not in GONE:
            owner[visit.session] = visit.submission
    return owner


def submission_codes(
    pairs: Sequence[MatchedSubmission], arrived: Sequence[ArrivedSession], codes: Mapping[Outcome, str]
) -> Mapping[str, CodeFinding]:
    """Return the finding about each submission's code; a code of ours that this person was not shown is foreign."""
    by_session = {one.session: one for one in arrived}
    # Those without a submission too: their codes may have been passed on.
    coded = [
        CodedSession(
            one.session, *((submission.participant, submission.id) if submission else ("", "")), one.outcome, one.code
        )
        for submission, _, sessions in pairs
        for one in (by_session[session] for session in sessions)
    ]
    submissions = [pair.submission for pair in pairs if pair.submission is not None]
    common = {plain_code(code): outcome for outcome, code in codes.items()}
    findings = dict(code_findings(submissions, coded, codes))
    under_way = {one.visit for one in coded if one.outcome is None}
    for one in submissions:
        outcome = common.get(plain_code(one.code))
        if findings[one.id] == "wrong" and outcome is not None:
            # Before the end of a session, only a participant who finds the study full gets this code.
            findings[one.id] = "no_place" if outcome == "technical" and one.id in under_way else "foreign"
    return findings
