"""decide/decisions.csv, written for a person to edit and read back with the edits; and pay/by_hand.csv."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, get_args

from beholder.errors import Problem, RecruitError, did_you_mean
from beholder.files import json_bytes, table_bytes, write_private
from beholder.formats import plain_count
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import SHORTEST_MESSAGE, Category, DecisionRow, Pay
from beholder.recruiting.launch_record import PromisedPay
from beholder.recruiting.proposals import ProposalRow
from beholder.recruiting.reconciliation import DataState
from beholder.study.csv_files import CsvLine, column_names, read_lines

DECISIONS_FILE = "decide/decisions.csv"
_DECISION_COLUMNS = (
    "submission", "participant", "sessions", "outcome", "status", "code", "proposed", "pay", "proposed_use", "use",
    "reasons", "words", "category", "message",
)  # fmt: skip
_AS_NUMBER = re.compile(r"\d+(\.\d+)?E[+-]?\d+")
"""What a spreadsheet makes of an id that looks like a number: nothing near it is meant."""
_TRUTHS: Mapping[str, bool] = {"true": True, "false": False}


class EditedRow(NamedTuple):
    """A row of the file as read."""

    where: str
    submission: str
    code: str
    pay: str
    is_pay_changed: bool
    use: bool | None
    """None where it is neither true nor false."""
    is_use_changed: bool
    category: str
    message: str


def file_bytes(rows: Iterable[DecisionRow]) -> bytes:
    """Return decisions as the content of the file."""
    return table_bytes(_DECISION_COLUMNS, (_file_cells(row) for row in rows))


def read_file(folder: Path, problems: list[Problem]) -> dict[str, EditedRow]:
    """Return the rows of the file by submission; none where there is no file yet."""
    if not (folder / DECISIONS_FILE).is_file():
        return {}
    if not {*_DECISION_COLUMNS} & {*column_names(folder, DECISIONS_FILE)}:
        fix = "Bring the first line back, or delete the file and run `beholder decide` again."
        problems.append(Problem(f"{DECISIONS_FILE}:1", "names no column", ", ".join(_DECISION_COLUMNS), fix))
        return {}
    rows: dict[str, EditedRow] = {}
    for line in read_lines(folder, DECISIONS_FILE, _DECISION_COLUMNS, problems):
        one = _edited(line)
        if one.submission in rows:
            before = rows[one.submission].where.rpartition(":")[2]
            what = f"submission is {one.submission}, as in line {before}"
            problems.append(Problem(one.where, what, "every submission once", "Keep the line that counts."))
            continue
        rows[one.submission] = one
    return rows


def participant_of(folder: Path, submission: str) -> str:
    """Return the pseudonym in the row of a submission; empty where it has none."""
    lines = (line.cells for line in read_lines(folder, DECISIONS_FILE, _DECISION_COLUMNS, []))
    return next((cells["participant"] for cells in lines if cells["submission"] == submission), "")


def edit_row(folder: Path, submission: str, cells: Mapping[str, str]) -> None:
    """Write other cells into the row of a submission, as a person does in a spreadsheet; raise RecruitError."""
    problems: list[Problem] = []
    lines = [line.cells for line in read_lines(folder, DECISIONS_FILE, _DECISION_COLUMNS, problems)]
    if submission not in [line["submission"] for line in lines]:
        near = did_you_mean(submission, [line["submission"] for line in lines])
        problems.append(Problem(DECISIONS_FILE, f"has no row of submission {submission or 'empty'}", "", near))
    if problems:
        raise RecruitError(problems)
    rows = [{**line, **(cells if line["submission"] == submission else {})} for line in lines]
    write_private(folder / DECISIONS_FILE, table_bytes(_DECISION_COLUMNS, rows))


def remove_participant(folder: Path, participant: str) -> int | None:
    """Remove the rows of a participant from the file and return their number; None if the file is unreadable."""
    if not (folder / DECISIONS_FILE).is_file():
        return 0
    problems: list[Problem] = []
    lines = read_lines(folder, DECISIONS_FILE, _DECISION_COLUMNS, problems)
    if problems:
        return None
    kept = [line.cells for line in lines if line.cells["participant"] != participant]
    if len(kept) < len(lines):
        write_private(folder / DECISIONS_FILE, table_bytes(_DECISION_COLUMNS, kept))
    return len(lines) - len(kept)


def _edited(line: CsvLine) -> EditedRow:
    cells = line.cells
    use = _TRUTHS.get(cells["use"].lower())
    return EditedRow(
        where=line.where,
        submission=cells["submission"],
        code=cells["code"],
        pay=cells["pay"].lower(),
        is_pay_changed=cells["pay"].lower() != cells["proposed"].lower(),
        use=use,
        is_use_changed=use is not _TRUTHS.get(cells["proposed_use"].lower()),
        category=cells["category"].upper(),
        message=cells["message"],
    )


def _file_cells(row: DecisionRow) -> dict[str, Any]:
    return {
        **{name: getattr(row, name) for name in _DECISION_COLUMNS if name != "proposed_use"},
        "sessions": "; ".join(row.sessions),
        "reasons": "; ".join(row.reasons),
        "proposed_use": row.use != row.is_use_changed,
    }


# Edits: applied, or reported as problems


_PAYS: tuple[Pay, ...] = get_args(Pay)
_CATEGORIES: tuple[Category, ...] = get_args(Category)
_APPROVED = ("awaiting_review", "timed_out")
"""Statuses of a submission that can be approved."""
_NEVER: Mapping[DataState, tuple[str, str]] = {
    "screened_out": ("this person was turned away by us", "screen_out, return, look, nothing"),
    "wrong_device": ("this person was turned away by us", "screen_out, return, look, nothing"),
    "declined": ("nobody is rejected for not agreeing or for withdrawing", "return, look, nothing"),
    "technical": ("the fault was ours", "approve, bonus, look, nothing"),
}
_NO_GROUND = (
    "there is no ground for it: a stimulus that says itself what to answer has to be answered otherwise, and often "
    "enough. Gold, agreement, speed and playback may cost the use, and never the pay"
)


def apply_edits(
    rows: Sequence[ProposalRow],
    edits: Mapping[str, EditedRow],
    promised: PromisedPay,
    *,
    is_signed: bool,
    problems: list[Problem],
) -> list[ProposalRow]:
    """Return the rows with the edits of the file; invalid edits are added to `problems`."""
    known = {row.decided.submission for row in rows}
    for edit in edits.values():
        if edit.submission not in known and (edit.is_pay_changed or edit.is_use_changed):
            what = f"submission is {edit.submission or 'empty'}, and there is none of that id"
            near = "" if _AS_NUMBER.fullmatch(edit.submission) else did_you_mean(edit.submission, sorted(known))
            fix = near or "A spreadsheet may have changed it; delete the line."
            problems.append(Problem(edit.where, what, "", fix))
    return [
        _changed(row, edits[row.decided.submission], promised, is_signed, problems)
        if row.decided.submission in edits
        else row
        for row in rows
    ]


def _changed(
    row: ProposalRow, edit: EditedRow, promised: PromisedPay, is_signed: bool, problems: list[Problem]
) -> ProposalRow:
    decided = row.decided
    if edit.use is None:
        problems.append(Problem(edit.where, "use is neither true nor false", "true, false"))
    if edit.pay not in _PAYS:
        fix = did_you_mean(edit.pay, _PAYS)
        problems.append(Problem(edit.where, f"pay is {edit.pay or 'empty'}", ", ".join(_PAYS), fix))
        return row
    use = edit.use if edit.use is not None and edit.is_use_changed else decided.use
    decided = replace(decided, use=use, is_use_changed=use != decided.use)
    # What the platform has settled since overrides the edit.
    if not edit.is_pay_changed or row.proposal.is_settled:
        pay = decided.proposed
    else:
        pay = next(one for one in _PAYS if one == edit.pay)
        problems += _pay_problems(row, pay, edit.where, promised)
    decided = replace(decided, pay=pay)
    if pay in ("reject", "return", "screen_out"):
        category = next((one for one in _CATEGORIES if one == edit.category), None)
        # An empty cell is filled by what would be proposed for the same.
        message = edit.message or (decided.message if pay == decided.proposed else "")
        if pay == "reject":
            problems += _message_problems(row, edit, category, message, is_signed)
        decided = replace(decided, category=category if pay == "reject" else None, message=message)
    else:
        decided = replace(decided, category=None, message="")
    return replace(row, decided=decided)


def _pay_problems(row: ProposalRow, pay: Pay, where: str, promised: PromisedPay) -> Iterator[Problem]:
    status = row.decided.status
    prefix = f"pay is {pay}, and"
    if not row.is_ours and pay not in ("nothing", "look"):
        what = f"{prefix} no submission of this study belongs to it"
        yield Problem(where, what, "nothing", "Who came from elsewhere is settled there.")
        return
    if pay in ("approve", "bonus") and promised.reward is None:
        yield Problem(where, f"{prefix} the study has no recruit.reward", "", "Set it, or put nothing.")
    if pay == "screen_out" and promised.screen_out is None:
        yield Problem(where, f"{prefix} the study has no recruit.screen_out", "", "Set it, or put return.")
    if pay == "approve" and status not in _APPROVED:
        what = f"{prefix} on the platform it is {_plain(status)}"
        yield Problem(where, what, "bonus, look, nothing", "What is over there is paid as a bonus.")
    if pay == "return" and status != "awaiting_review":
        what = f"{prefix} on the platform it is {_plain(status)}"
        yield Problem(where, what, "", "Only what awaits review can be asked back.")
    if pay == "reject":
        yield from _rejection_problems(row, prefix, where)


def _rejection_problems(row: ProposalRow, prefix: str, where: str) -> Iterator[Problem]:
    """Yield why somebody cannot be rejected at all."""
    status = row.decided.status
    if row.data in _NEVER:
        why, allowed = _NEVER[row.data]
        yield Problem(where, f"{prefix} {why}", allowed)
    elif status != "awaiting_review":
        what = f"{prefix} on the platform it is {_plain(status)}"
        yield Problem(where, what, "", "Only what awaits review can be rejected.")
    elif not row.proposal.grounds:
        yield Problem(where, f"{prefix} {_NO_GROUND}", "approve, look")


def _message_problems(
    row: ProposalRow, edit: EditedRow, category: Category | None, message: str, is_signed: bool
) -> Iterator[Problem]:
    """Yield what a rejection lacks; an unedited one is only checked when it is signed."""
    is_changed = edit.is_pay_changed or edit.message != row.decided.message
    if not row.proposal.grounds or not (is_changed or is_signed):
        return
    allowed = ", ".join(sorted(row.proposal.grounds))
    if category not in row.proposal.grounds:
        what = f"category is {edit.category}" if edit.category else "a rejection needs a category"
        yield Problem(edit.where, what, allowed)
    if len(message) < SHORTEST_MESSAGE:
        missing = SHORTEST_MESSAGE - len(message)
        what = f"the message has {len(message)} characters, and {missing} more are needed"
        fix = "Say what was asked, what was done instead, and whom to write to; never pad it."
        yield Problem(edit.where, what, f"{SHORTEST_MESSAGE} or more", fix)


def changed_messages(rows: Sequence[ProposalRow], before: Sequence[ProposalRow]) -> list[str]:
    """Return the submissions whose message differs from the one proposed now."""
    return [
        new.decided.submission
        for new, old in zip(rows, before, strict=True)
        if new.decided.pay == old.decided.pay and new.decided.message != old.decided.message
    ]


def unseen_submissions(rows: Sequence[ProposalRow], edits: Mapping[str, EditedRow]) -> list[str]:
    """Return the submissions that the file did not have in their current state: nobody can have signed them."""
    return [row.decided.submission for row in rows if not _is_unchanged(row, edits.get(row.decided.submission))]


def _is_unchanged(row: ProposalRow, edit: EditedRow | None) -> bool:
    decided = row.decided
    return edit is not None and (decided.pay, decided.use, decided.category or "", decided.message) == (
        edit.pay,
        edit.use,
        edit.category,
        edit.message,
    )


def nothing_to_sign() -> Problem:
    """Return the problem of signing without a file."""
    fix = "Run `beholder decide` without --sign, look at what it proposes, then sign it."
    return Problem(DECISIONS_FILE, "is not there, so there is nothing to sign", fix=fix)


def missing_list(edits: Mapping[str, EditedRow]) -> Problem | None:
    """Return the problem of deciding without the platform's list, where the file was made with it; None otherwise."""
    if all(edit.code in ("", "none") for edit in edits.values()):
        return None
    what = f"is left out, {DECISIONS_FILE} rests on the list of the platform, and that is no longer where it was"
    fix = f"Give the list again, the same or a newer one. To decide without any, delete {DECISIONS_FILE}."
    return Problem("--submissions", what, "", fix)


# decide/submissions.json: where the platform's list is, so that it is named once


_LIST_FILE = "decide/submissions.json"


def remember_list(folder: Path, run: int, path: Path) -> None:
    """Write down where the platform's list of submissions of a run is. Its ids of people are not copied."""
    write_private(folder / _LIST_FILE, json_bytes({**_lists(folder), str(run): str(path.absolute())}))


def remembered_list(folder: Path, run: int) -> Path | None:
    """Return the list of submissions that was last named for a run, where it is still there; None otherwise."""
    path = _lists(folder).get(str(run))
    return Path(path) if path is not None and Path(path).is_file() else None


def _lists(folder: Path) -> dict[str, str]:
    try:
        lists = json.loads((folder / _LIST_FILE).read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return {run: path for run, path in lists.items() if isinstance(path, str)} if isinstance(lists, dict) else {}


def _plain(status: str) -> str:
    return status.replace("_", " ")


# pay/by_hand.csv: platform ids of participants whom a person has to find on a platform without an API


_MANUAL_FILE = "pay/by_hand.csv"
_MANUAL_COLUMNS = ("id", "submission", "pay", "words", "category", "message")
_BY_HAND = ("reject", "return", "look")


def write_by_hand(context: RecruitContext, rows: Sequence[ProposalRow]) -> list[str]:
    """Write who is to be rejected, asked to return or looked at, and return that in words; nothing if nobody is."""
    if not context.study.recruit.source.has_submission_list:
        return []
    path = context.study.folder / _MANUAL_FILE
    manual = [row for row in rows if row.platform_id and row.decided.pay in _BY_HAND]
    if not manual:
        path.unlink(missing_ok=True)
        return []
    write_private(path, table_bytes(_MANUAL_COLUMNS, (_by_hand_cells(row) for row in manual)))
    who = plain_count(len(manual), "person", "people")
    return [f"{_MANUAL_FILE} has the ids of {who} to reject, ask back or look at on the platform. Keep it to yourself."]


def _by_hand_cells(row: ProposalRow) -> dict[str, object]:
    return {"id": row.platform_id, **{name: getattr(row.decided, name) for name in _MANUAL_COLUMNS if name != "id"}}
