"""The list of submissions that a platform lets one download: who came, and what they pasted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.recruit.contract import Status, Submission
from beholder.study.cells import Sheet, read_sheet
from beholder.study.model import Study

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


def _columns(name: str, sheet: Sheet, study: Study, problems: list[Problem]) -> _Columns | None:
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


def _submissions(name: str, sheet: Sheet, columns: _Columns, problems: list[Problem]) -> Iterator[Submission]:
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
