"""Which of our sessions belongs to which submission of a platform."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beholder.clean.facts import Rows
from beholder.recruit.contract import GONE, Submission
from beholder.recruit.decisions import Found
from beholder.recruit.panel.codes import Came, code_findings, plain_code
from beholder.serve.tokens import pseudonym
from beholder.store.contract import Coming, Entry, Link
from beholder.store.rules import NOT_PEOPLE
from beholder.types import Mode, Outcome


class Paired(NamedTuple):
    """A submission with its sessions, oldest first; either may be missing, never both."""

    submission: Submission | None
    participant: str
    """The pseudonym; empty where we have never seen the person."""
    sessions: tuple[str, ...]


class Arrived(NamedTuple):
    """A session of ours: whose it is, how it ended, and the code that it gave."""

    session: str
    participant: str
    outcome: Outcome | None
    code: str = ""


def arrived_of(sessions: Rows, ends: Rows) -> list[Arrived]:
    """Return the sessions of people, in the order of arrival."""
    ended = {row["session"]: row for row in ends}
    people = [row for row in sessions if row["mode"] not in NOT_PEOPLE]
    return [
        Arrived(str(row["session"]), str(row["participant"]), end.get("outcome"), str(end.get("code") or ""))
        for row in sorted(people, key=lambda row: (row["at"], str(row["session"])))
        for end in (ended.get(row["session"], {}),)
    ]


def forgotten(entries: Sequence[Entry], listed: Sequence[Submission], secret: bytes, mode: Mode) -> list[Coming]:
    """Return which visits led to sessions that were erased since: who is forgotten is still paid."""
    people = {pseudonym(secret, mode, one.participant): one.id for one in listed if one.id == one.participant}
    erased = {one.session: one.submission for one in entries if one.kind == "forget" and one.submission}
    return [Coming(session, "", people.get(visit, visit)) for session, visit in erased.items()]


def pair_up(
    submissions: Sequence[Submission],
    arrived: Sequence[Arrived],
    links: Sequence[Link],
    comings: Sequence[Coming],
) -> list[Paired]:
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
        pairs.append(Paired(submission, person, tuple(mine)))
    rest += [session for sessions in loose.values() for session in sessions]
    order = {one.session: place for place, one in enumerate(arrived)}
    return pairs + [Paired(None, of_session[one], (one,)) for one in sorted(rest, key=order.__getitem__)]


def _owners(submissions: Sequence[Submission], comings: Sequence[Coming]) -> Mapping[str, str]:
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


def found_codes(
    pairs: Sequence[Paired], arrived: Sequence[Arrived], codes: Mapping[Outcome, str]
) -> Mapping[str, Found]:
    """Return what each submission's code is; one of ours that this person was never shown is foreign."""
    by_session = {one.session: one for one in arrived}
    # Those without a submission too: their codes may have been passed on.
    came = [
        Came(one.session, *((given.participant, given.id) if given else ("", "")), one.outcome, one.code)
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
