"""What people pasted as their code, held against what their own sessions gave them. Pure, and never about pay.

A code is no proof of work, and a wrong one no proof of none: whoever decides looks at the data.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from beholder.recruit.contract import Submission
from beholder.recruit.decisions import Found
from beholder.types import Outcome

NO_CODE = "NOCODE"
"""What Prolific writes where somebody submits without a code."""
REASONS: Mapping[Found, str] = {
    "wrong": "platform:wrong_code",
    "missing": "platform:missing_code",
    "shared": "platform:shared_code",
    "foreign": "platform:foreign_code",
    "no_place": "platform:no_place",
}
"""How a finding reads among the reasons of a decision; what is right, or was not asked for, is no reason."""
NO_DATA, NO_SUBMISSION = "platform:no_data", "platform:no_submission"
"""The reasons of a submission that no session of ours belongs to, and of a session that nobody submitted."""


class Came(NamedTuple):
    """A session of ours as recruiting sees it: whose it is on the platform, how it ended and with which code.

    A session that several visits led to is there once for each.
    """

    session: str
    person: str
    """The id on the platform."""
    visit: str = ""
    """The platform's own id of the visit; empty where it has none."""
    outcome: Outcome | None = None
    """None while it has not ended."""
    code: str = ""
    """That it gave; empty where it gave none."""


def code_findings(
    submissions: Sequence[Submission], came: Sequence[Came], codes: Mapping[Outcome, str] | None = None
) -> Mapping[str, Found]:
    """Return what each submission's code is, by the id of the submission.

    `codes` are those that are the same for everybody: who passed such a code on cannot be known, so it is right or
    wrong. Of a session's own code its owner's first submission stands, in the order of `submissions`; whoever else
    pasted it shares it. It is foreign where the owner did not paste it, and one other person did.
    """
    theirs = _sessions_of(submissions, came)
    common = {plain_code(code) for code in (codes or {}).values()}
    given = {plain_code(one.code) for one in came if one.code} - common
    pasted: dict[str, list[str]] = defaultdict(list)
    for one in submissions:
        pasted[plain_code(one.code)].append(one.id)
    owners = _owners(submissions, theirs, given)
    return {one.id: _found(one, theirs[one.id], given, pasted, owners) for one in submissions}


def _sessions_of(submissions: Sequence[Submission], came: Sequence[Came]) -> Mapping[str, tuple[Came, ...]]:
    """Return the sessions of each submission: those of its visit, else those of its person that have no other visit."""
    visits: dict[str, list[Came]] = defaultdict(list)
    people: dict[str, list[Came]] = defaultdict(list)
    listed = {one.id for one in submissions}
    for one in came:
        if one.visit and one.visit in listed:
            visits[one.visit].append(one)
        else:
            people[one.person].append(one)
    return {one.id: tuple(visits[one.id] or people[one.participant]) for one in submissions}


def plain_code(code: str) -> str:
    """Return a code without what people change by pasting it: case, spaces, dashes; empty where there is none."""
    text = unicodedata.normalize("NFKC", code).upper().strip()
    letters = "".join(letter for letter in text if letter.isalnum())
    return "" if letters == NO_CODE else letters or text


def _owners(
    submissions: Iterable[Submission], theirs: Mapping[str, Sequence[Came]], given: set[str]
) -> Mapping[str, str]:
    """Return whose a session's own code is: the first submission that pasted it and whose session gave it."""
    owners: dict[str, str] = {}
    for one in submissions:
        code = plain_code(one.code)
        if code in given and code in _own(theirs[one.id]):
            owners.setdefault(code, one.id)
    return owners


def _own(sessions: Iterable[Came]) -> set[str]:
    return {plain_code(one.code) for one in sessions if one.code}


def _found(
    submission: Submission,
    sessions: Sequence[Came],
    given: set[str],
    pasted: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> Found:
    code = plain_code(submission.code)
    if not code:
        is_over = bool(sessions) and all(one.outcome is not None for one in sessions)
        return "none" if is_over and not _own(sessions) else "missing"
    if code not in given:
        return "right" if code in _own(sessions) else "wrong"
    if owners.get(code) == submission.id:
        return "right"
    return "shared" if len(pasted[code]) > 1 else "foreign"
