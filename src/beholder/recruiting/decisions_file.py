"""What a person has changed in the file: kept, or told why it cannot be."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import get_args

from beholder.errors import Problem, did_you_mean
from beholder.recruit.contract import SHORTEST_MESSAGE, Category
from beholder.recruit.deciding.file import NAME, Edited
from beholder.recruit.deciding.rows import Row
from beholder.recruit.decisions import Pay
from beholder.recruit.launching.recorded import Promised
from beholder.recruit.reconcile.cases import Held

_PAYS: tuple[Pay, ...] = get_args(Pay)
_CATEGORIES: tuple[Category, ...] = get_args(Category)
_APPROVED = ("awaiting_review", "timed_out")
"""How a submission stands that can be approved."""
_NEVER: Mapping[Held, tuple[str, str]] = {
    "screened_out": ("this person was turned away by us", "screen_out, return, look, nothing"),
    "wrong_device": ("this person was turned away by us", "screen_out, return, look, nothing"),
    "declined": ("nobody is rejected for not agreeing or for withdrawing", "return, look, nothing"),
    "technical": ("the fault was ours", "approve, bonus, look, nothing"),
}
_NO_GROUND = (
    "there is no ground for it: a stimulus that says itself what to answer has to be answered otherwise, and often "
    "enough. Gold, agreement, speed and playback may cost the use, and never the pay"
)


def with_edits(
    rows: Sequence[Row], edits: Mapping[str, Edited], promised: Promised, *, is_signed: bool, problems: list[Problem]
) -> list[Row]:
    """Return the rows as the file has them; what cannot be is added to `problems`."""
    known = {row.decided.submission for row in rows}
    for edit in edits.values():
        if edit.submission not in known and (edit.is_pay_changed or edit.is_use_changed):
            what = f"submission is {edit.submission or 'empty'}, and there is none of that id"
            fix = did_you_mean(edit.submission, sorted(known)) or "A spreadsheet may have changed it; delete the line."
            problems.append(Problem(edit.where, what, "", fix))
    return [
        _changed(row, edits[row.decided.submission], promised, is_signed, problems)
        if row.decided.submission in edits
        else row
        for row in rows
    ]


def _changed(row: Row, edit: Edited, promised: Promised, is_signed: bool, problems: list[Problem]) -> Row:
    decided = row.decided
    if edit.use is None:
        problems.append(Problem(edit.where, "use is neither true nor false", "true, false"))
    if edit.pay not in _PAYS:
        fix = did_you_mean(edit.pay, _PAYS)
        problems.append(Problem(edit.where, f"pay is {edit.pay or 'empty'}", ", ".join(_PAYS), fix))
        return row
    use = edit.use if edit.use is not None and edit.is_use_changed else decided.use
    decided = replace(decided, use=use, is_use_changed=use != decided.use)
    # What the platform has settled since is over, whatever was written before.
    if not edit.is_pay_changed or row.proposal.is_settled:
        pay = decided.proposed
    else:
        pay = next(one for one in _PAYS if one == edit.pay)
        problems += _pay_faults(row, pay, edit.where, promised)
    decided = replace(decided, pay=pay)
    if pay in ("reject", "return", "screen_out"):
        category = next((one for one in _CATEGORIES if one == edit.category), None)
        # An empty cell is filled by what would be proposed.
        message = edit.message or decided.message
        if pay == "reject":
            problems += _reject_faults(row, edit, category, message, is_signed)
        decided = replace(decided, category=category if pay == "reject" else None, message=message)
    else:
        decided = replace(decided, category=None, message="")
    return replace(row, decided=decided)


def _pay_faults(row: Row, pay: Pay, where: str, promised: Promised) -> Iterator[Problem]:
    status = row.decided.status
    said = f"pay is {pay}, and"
    if not row.is_ours and pay not in ("nothing", "look"):
        what = f"{said} no submission of this study belongs to it"
        yield Problem(where, what, "nothing", "Who came from elsewhere is settled there.")
        return
    if pay in ("approve", "bonus") and promised.reward is None:
        yield Problem(where, f"{said} the study has no recruit.reward", "", "Set it, or put nothing.")
    if pay == "screen_out" and promised.screen_out is None:
        yield Problem(where, f"{said} the study has no recruit.screen_out", "", "Set it, or put return.")
    if pay == "approve" and status not in _APPROVED:
        what = f"{said} on the platform it is {_plain(status)}"
        yield Problem(where, what, "bonus, look, nothing", "What is over there is paid as a bonus.")
    if pay == "return" and status != "awaiting_review":
        what = f"{said} on the platform it is {_plain(status)}"
        yield Problem(where, what, "", "Only what awaits review can be asked back.")
    if pay == "reject":
        yield from _never(row, said, where)


def _never(row: Row, said: str, where: str) -> Iterator[Problem]:
    """Yield why somebody cannot be rejected at all."""
    status = row.decided.status
    if row.held in _NEVER:
        why, allowed = _NEVER[row.held]
        yield Problem(where, f"{said} {why}", allowed)
    elif status != "awaiting_review":
        what = f"{said} on the platform it is {_plain(status)}"
        yield Problem(where, what, "", "Only what awaits review can be rejected.")
    elif not row.proposal.grounds:
        yield Problem(where, f"{said} {_NO_GROUND}", "approve, look")


def _reject_faults(
    row: Row, edit: Edited, category: Category | None, message: str, is_signed: bool
) -> Iterator[Problem]:
    """Yield what a rejection lacks; what nobody has changed is told when it is signed."""
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


def changed_messages(rows: Sequence[Row], before: Sequence[Row]) -> list[str]:
    """Return the submissions whose message is not the one that would be proposed now."""
    return [
        new.decided.submission
        for new, old in zip(rows, before, strict=True)
        if new.decided.pay == old.decided.pay and new.decided.message != old.decided.message
    ]


def unseen(rows: Sequence[Row], edits: Mapping[str, Edited]) -> list[str]:
    """Return the submissions that the file did not have as they stand now: nobody can have signed them."""
    return [row.decided.submission for row in rows if not _is_as_read(row, edits.get(row.decided.submission))]


def _is_as_read(row: Row, edit: Edited | None) -> bool:
    decided = row.decided
    return edit is not None and (decided.pay, decided.use, decided.category or "", decided.message) == (
        edit.pay,
        edit.use,
        edit.category,
        edit.message,
    )


def nothing_to_sign() -> Problem:
    """Return the problem of signing what nobody has looked at."""
    fix = "Run `beholder decide` without --sign, look at what it proposes, then sign it."
    return Problem(NAME, "is not there, so there is nothing to sign", fix=fix)


def without_list(edits: Mapping[str, Edited]) -> Problem | None:
    """Return the problem of deciding without the platform's list what was decided with it; None where it was not."""
    if all(edit.code in ("", "none") for edit in edits.values()):
        return None
    what = f"is left out, and {NAME} rests on the list of the platform"
    fix = f"Give the list again, the same or a newer one. To decide without any, delete {NAME}."
    return Problem("--submissions", what, "", fix)


def _plain(status: str) -> str:
    return status.replace("_", " ")
