"""The panel: participants with personal links, or from any platform that passes an id and accepts a code.

It compares the pasted codes with the codes of our sessions, and reads the list of submissions that a platform offers
for download. A code is no proof of work, and a wrong one no proof of none: decisions rest on the data.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruiting.contract import CodeFinding, Status, Submission, Verb
from beholder.recruiting.manual import ManualRecruiter
from beholder.study.csv_files import CsvTable, read_table
from beholder.study.model import Study
from beholder.study.recruitment import Mode
from beholder.types import Outcome

_PAY = "Pay on the platform, or by hand, whoever is in pay/payments.csv, which `beholder pay` writes."


class PanelRecruiter(ManualRecruiter):
    """Participants with an id of their own. No platform is ever called."""

    mode: Mode = "panel"
    manual: Mapping[Verb, str] = {
        "submissions": "Download the list of submissions from the platform, and run "
        "`beholder decide --submissions FILE`.",
        "approve": _PAY,
        "bonus": _PAY,
        "reject": "Reject it on the platform, by the id and with the message in pay/by_hand.csv.",
        "return": "Ask on the platform for the return, by the id and with the message in pay/by_hand.csv.",
    }


# Codes: what participants pasted, compared with the codes of their own sessions


NO_CODE = "NOCODE"
"""What Prolific writes for a submission without a code."""
CODE_REASONS: Mapping[CodeFinding, str] = {
    "wrong": "platform:wrong_code",
    "missing": "platform:missing_code",
    "shared": "platform:shared_code",
    "foreign": "platform:foreign_code",
    "no_place": "platform:no_place",
}
"""The reason in a decision for each finding; a right code, or none asked for, is no reason."""
NO_DATA, NO_SUBMISSION = "platform:no_data", "platform:no_submission"
"""The reasons of a submission without a session of ours, and of a session without a submission."""


class CodedSession(NamedTuple):
    """A session of ours: the participant on the platform, how it ended and the code it gave.

    A session that several visits led to is listed once for each.
    """

    session: str
    person: str
    """The id on the platform."""
    visit: str = ""
    """The platform's id of the visit; empty where it has none."""
    outcome: Outcome | None = None
    """None while it has not ended."""
    code: str = ""
    """The code it gave; empty where it gave none."""


def code_findings(
    submissions: Sequence[Submission], sessions: Sequence[CodedSession], codes: Mapping[Outcome, str] | None = None
) -> Mapping[str, CodeFinding]:
    """Return the finding about each submission's code, by submission id.

    `codes` are the codes that are the same for everybody: they can only be right or wrong. A session's own code is
    right in its owner's first submission, in the order of `submissions`; any other submission with it is `shared`. It
    is `foreign` if one other person pasted it, and the owner did not.
    """
    sessions_by_submission = _sessions_of(submissions, sessions)
    common = {plain_code(code) for code in (codes or {}).values()}
    own_codes = {plain_code(one.code) for one in sessions if one.code} - common
    pasted: dict[str, list[str]] = defaultdict(list)
    for one in submissions:
        pasted[plain_code(one.code)].append(one.id)
    owners = _owners(submissions, sessions_by_submission, own_codes)
    return {one.id: _finding(one, sessions_by_submission[one.id], own_codes, pasted, owners) for one in submissions}


def _sessions_of(
    submissions: Sequence[Submission], sessions: Sequence[CodedSession]
) -> Mapping[str, tuple[CodedSession, ...]]:
    """Return the sessions of each submission: those of its visit, else those of its person without another visit."""
    visits: dict[str, list[CodedSession]] = defaultdict(list)
    people: dict[str, list[CodedSession]] = defaultdict(list)
    listed = {one.id for one in submissions}
    for one in sessions:
        if one.visit and one.visit in listed:
            visits[one.visit].append(one)
        else:
            people[one.person].append(one)
    return {one.id: tuple(visits[one.id] or people[one.participant]) for one in submissions}


def plain_code(code: str) -> str:
    """Return a code without what pasting changes: case, spaces, dashes; empty where there is none."""
    text = unicodedata.normalize("NFKC", code).upper().strip()
    letters = "".join(letter for letter in text if letter.isalnum())
    return "" if letters == NO_CODE else letters or text


def _owners(
    submissions: Iterable[Submission], sessions_by_submission: Mapping[str, Sequence[CodedSession]], own_codes: set[str]
) -> Mapping[str, str]:
    """Return the owner of each session's own code: the first submission that pasted it and whose session gave it."""
    owners: dict[str, str] = {}
    for one in submissions:
        code = plain_code(one.code)
        if code in own_codes and code in _codes_of(sessions_by_submission[one.id]):
            owners.setdefault(code, one.id)
    return owners


def _codes_of(sessions: Iterable[CodedSession]) -> set[str]:
    return {plain_code(one.code) for one in sessions if one.code}


def _finding(
    submission: Submission,
    sessions: Sequence[CodedSession],
    own_codes: set[str],
    pasted: Mapping[str, Sequence[str]],
    owners: Mapping[str, str],
) -> CodeFinding:
    code = plain_code(submission.code)
    if not code:
        is_over = bool(sessions) and all(one.outcome is not None for one in sessions)
        return "none" if is_over and not _codes_of(sessions) else "missing"
    if code not in own_codes:
        return "right" if code in _codes_of(sessions) else "wrong"
    if owners.get(code) == submission.id:
        return "right"
    return "shared" if len(pasted[code]) > 1 else "foreign"


# The list of submissions that a platform offers for download


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
"""What platforms call each status; anything else is unknown."""


class _Columns(NamedTuple):
    """The position of each column; None where the list has no such column."""

    person: int
    code: int | None
    visit: int | None
    status: int | None


def read_submissions(path: str | Path, study: Study) -> Sequence[Submission]:
    """Return the submissions in a platform's CSV, in its order, or raise RecruitError with all problems.

    It needs a column with the participant's id and, where participants paste a code, one with the code; a status and
    the id of the visit are read if present, all other columns are ignored. A submission is identified by its visit
    where the study has a `visit_parameter`, else by its participant.
    """
    problems: list[Problem] = []
    name = str(path)
    if not Path(path).is_file():
        raise RecruitError(Problem(name, "does not exist", fix="Download the list of submissions from the platform."))
    sheet = read_table(Path(), name, (*_PERSON, *_CODE, *_VISIT, *_STATUS), problems)
    columns = None if sheet is None else _columns(name, sheet, study, problems)
    submissions = [] if sheet is None or columns is None else list(_submissions(name, sheet, columns, problems))
    if problems:
        raise RecruitError(problems)
    return submissions


def _columns(name: str, sheet: CsvTable, study: Study, problems: list[Problem]) -> _Columns | None:
    heads = [_squashed(head) for head in sheet.heads]
    recruit, before = study.recruit, len(problems)

    def find(names: Sequence[str], own: str | None, needed: str = "") -> int | None:
        known = [own, *names] if own else [*names]
        place = next((heads.index(_squashed(one)) for one in known if _squashed(one) in heads), None)
        if place is None and needed:
            what = f"has no column with {needed}"
            problems.append(Problem(f"{name}:1", what, ", ".join(known), _rename_advice(sheet.heads, known)))
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
    line_numbers: dict[str, int] = {}
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
        if id_ in line_numbers:
            what = f"{sheet.heads[key]} is {id_}, as in line {line_numbers[id_]}"
            fix = "Keep the line that counts." if columns.visit is not None else _TWICE
            problems.append(Problem(where, what, "every submission once", fix))
            continue
        line_numbers[id_] = number
        yield Submission(id_, cell(columns.person), _status(cell(columns.status)), cell(columns.code))


_TWICE = "Keep the line that counts, or set recruit.visit_parameter and download the ids of the visits too."


def _rename_advice(heads: Sequence[str], known: Sequence[str]) -> str:
    for head in heads:
        for one in known:
            if did_you_mean(head.lower(), [one.lower()]):
                return f"If it is {head}, call it {one}."
    return ""


def _status(text: str) -> Status:
    return next((known for known, names in _STATUSES.items() if _squashed(text) in map(_squashed, names)), "unknown")


def _squashed(text: str) -> str:
    """Return a column name or a status by its letters: `WorkerId`, `worker_id` and `Worker ID` are the same."""
    return "".join(letter for letter in text.lower() if letter.isalnum())
