"""A panel: people with personal links, or whom any platform sends that passes an id and takes a code."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, NamedTuple

from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruiting.contract import CodeFinding, Status, Submission, Verb
from beholder.recruiting.manual import ManualRecruiter
from beholder.study.csv_files import CsvTable, read_sheet
from beholder.study.model import Study
from beholder.types import Mode, Outcome

# --- The panel: invited people, or a platform without an interface that we speak ---


_PAY = "Pay on the platform, or by hand, whoever is in pay/payments.csv, which `beholder pay` writes."


class PanelRecruiter(ManualRecruiter):
    """People with an id of their own, from wherever they come. No platform is ever called."""

    mode: Mode = "panel"
    manual: ClassVar[Mapping[Verb, str]] = {
        "submissions": "Download the list of submissions from the platform, and run "
        "`beholder decide --submissions FILE`.",
        "approve": _PAY,
        "bonus": _PAY,
        "reject": "Reject it on the platform, by the id and with the message in pay/by_hand.csv.",
        "return": "Ask on the platform for the return, by the id and with the message in pay/by_hand.csv.",
    }


# --- What people pasted as their code, held against what their own sessions gave them. Pure, and never about pay ---
#
# A code is no proof of work, and a wrong one no proof of none: whoever decides looks at the data.


NO_CODE = "NOCODE"
"""What Prolific writes where somebody submits without a code."""
CODE_REASONS: Mapping[CodeFinding, str] = {
    "wrong": "platform:wrong_code",
    "missing": "platform:missing_code",
    "shared": "platform:shared_code",
    "foreign": "platform:foreign_code",
    "no_place": "platform:no_place",
}
"""How a finding reads among the reasons of a decision; what is right, or was not asked for, is no reason."""
NO_DATA, NO_SUBMISSION = "platform:no_data", "platform:no_submission"
"""The reasons of a submission that no session of ours belongs to, and of a session that nobody submitted."""


class CodedSession(NamedTuple):
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
    submissions: Sequence[Submission], came: Sequence[CodedSession], codes: Mapping[Outcome, str] | None = None
) -> Mapping[str, CodeFinding]:
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


def _sessions_of(
    submissions: Sequence[Submission], came: Sequence[CodedSession]
) -> Mapping[str, tuple[CodedSession, ...]]:
    """Return the sessions of each submission: those of its visit, else those of its person that have no other visit."""
    visits: dict[str, list[CodedSession]] = defaultdict(list)
    people: dict[str, list[CodedSession]] = defaultdict(list)
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
    submissions: Iterable[Submission], theirs: Mapping[str, Sequence[CodedSession]], given: set[str]
) -> Mapping[str, str]:
    """Return whose a session's own code is: the first submission that pasted it and whose session gave it."""
    owners: dict[str, str] = {}
    for one in submissions:
        code = plain_code(one.code)
        if code in given and code in _own(theirs[one.id]):
            owners.setdefault(code, one.id)
    return owners


def _own(sessions: Iterable[CodedSession]) -> set[str]:
    return {plain_code(one.code) for one in sessions if one.code}


def _found(
    submission: Submission,
    sessions: Sequence[CodedSession],
    given: set[str],
    pasted: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> CodeFinding:
    code = plain_code(submission.code)
    if not code:
        is_over = bool(sessions) and all(one.outcome is not None for one in sessions)
        return "none" if is_over and not _own(sessions) else "missing"
    if code not in given:
        return "right" if code in _own(sessions) else "wrong"
    if owners.get(code) == submission.id:
        return "right"
    return "shared" if len(pasted[code]) > 1 else "foreign"


# --- The list of submissions that a platform lets one download: who came, and what they pasted ---


_PERSON = (
    "participant",
    "participant id",
    "worker",
    "worker id",
    "person",
    "respondent",
    "respondent id",
    "user id",
    "id",
)
_CODE = ("code", "completion code", "entered code", "pasted code", "confirmation code", "study code")
_VISIT = ("submission", "submission id", "assignment", "assignment id", "visit", "visit id", "session id")
_STATUS = ("status", "submission status", "approval status", "state")
_STATUSES: Mapping[Status, tuple[str, ...]] = {
    "awaiting_review": ("", "awaiting review", "submitted", "pending", "pending review", "completed", "finished"),
    "approved": ("approved", "accepted", "paid"),
    "partially_approved": ("partially approved",),
    "rejected": ("rejected",),
    "returned": ("returned", "withdrawn"),
    "timed_out": ("timed out", "expired"),
    "screened_out": ("screened out",),
    "active": ("active", "in progress", "started"),
    "reserved": ("reserved",),
}
"""What platforms call it; anything else is unknown."""


class _Columns(NamedTuple):
    """Where in a line what stands; None where the list has no such column."""

    person: int
    code: int | None
    visit: int | None
    status: int | None


def read_submissions(path: str | Path, study: Study) -> Sequence[Submission]:
    """Return the submissions in a platform's CSV, in its order, or raise RecruitError with everything that is wrong.

    It needs a column with the person's id and, where people paste a code, one with the code; a status and the id of
    the visit are read where they are there, every other column is passed over. A submission goes by the id of its
    visit where the study has a `visit_parameter`, else by that of the person.
    """
    problems: list[Problem] = []
    name = str(path)
    if not Path(path).is_file():
        raise RecruitError(Problem(name, "does not exist", fix="Download the list of submissions from the platform."))
    sheet = read_sheet(Path(), name, (*_PERSON, *_CODE, *_VISIT, *_STATUS), problems)
    columns = None if sheet is None else _columns(name, sheet, study, problems)
    found = [] if sheet is None or columns is None else list(_submissions(name, sheet, columns, problems))
    if problems:
        raise RecruitError(problems)
    return found


def _columns(name: str, sheet: CsvTable, study: Study, problems: list[Problem]) -> _Columns | None:
    heads = [_squashed(head) for head in sheet.heads]
    recruit, before = study.recruit, len(problems)

    def find(names: Sequence[str], own: str | None, needed: str = "") -> int | None:
        known = [own, *names] if own else [*names]
        place = next((heads.index(_squashed(one)) for one in known if _squashed(one) in heads), None)
        if place is None and needed:
            what = f"has no column with {needed}"
            problems.append(Problem(f"{name}:1", what, ", ".join(known), _near(sheet.heads, known)))
        return place

    person = find(_PERSON, recruit.id_parameter, "the person's id")
    # Who is sent back by an address pastes nothing, and the platform may keep no code.
    code = find(_CODE, None, "" if recruit.return_to.completed else "the code that was pasted")
    needs_visit = "the id of the visit" if recruit.visit_parameter else ""
    visit = find(_VISIT, recruit.visit_parameter, needs_visit) if recruit.visit_parameter else None
    if person is None or len(problems) > before:
        return None
    return _Columns(person, code, visit, find(_STATUS, None))


def _submissions(name: str, sheet: CsvTable, columns: _Columns, problems: list[Problem]) -> Iterator[Submission]:
    seen: dict[str, int] = {}
    key = columns.person if columns.visit is None else columns.visit
    for number, cells in sheet.rows:
        if not any(cells):
            continue
        where = f"{name}:{number}"

        def cell(place: int | None, cells: Sequence[str] = cells) -> str:
            return cells[place] if place is not None and place < len(cells) else ""

        missing = [place for place in dict.fromkeys((columns.person, key)) if not cell(place)]
        for place in missing:
            problems.append(Problem(where, f"{sheet.heads[place]} is empty", "an id in every line"))
        id_ = cell(key)
        if missing:
            continue
        if id_ in seen:
            what = f"{sheet.heads[key]} is {id_}, as in line {seen[id_]}"
            fix = "Keep the line that counts." if columns.visit is not None else _TWICE
            problems.append(Problem(where, what, "every submission once", fix))
            continue
        seen[id_] = number
        yield Submission(id_, cell(columns.person), _status(cell(columns.status)), cell(columns.code))


_TWICE = "Keep the line that counts, or set recruit.visit_parameter and download the ids of the visits too."


def _near(heads: Sequence[str], known: Sequence[str]) -> str:
    for head in heads:
        for one in known:
            if did_you_mean(head.lower(), [one.lower()]):
                return f"If it is {head}, call it {one}."
    return ""


def _status(text: str) -> Status:
    return next((known for known, names in _STATUSES.items() if _squashed(text) in map(_squashed, names)), "unknown")


def _squashed(text: str) -> str:
    """Return the name of a column or a status by its letters: `WorkerId`, `worker_id` and `Worker ID` are one."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
