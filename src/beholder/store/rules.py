"""What a store refuses, in the words of both databases."""

from __future__ import annotations

from typing import NamedTuple

from beholder.errors import LedgerError, Problem, Refused, StoreError
from beholder.store.contract import Entry, Session, StudyRecord
from beholder.store.tables import from_json, to_json
from beholder.types import Mode

NOT_PEOPLE: tuple[Mode, ...] = ("robot", "preview")


def population(mode: str) -> str:
    """Return who is counted together: robots, previews, or people whichever way they came."""
    return mode if mode in NOT_PEOPLE else "people"


class Held(NamedTuple):
    """What a store holds when a study begins."""

    study: str | None
    """The name of its study."""
    plan_digest: str | None
    """The plan of the digest that begins, where it is known already."""
    software: str | None
    """What wrote that digest."""
    people: int
    """How many people have claimed lists of another plan."""


def check_begin(where: str, record: StudyRecord, held: Held) -> None:
    """Raise StoreError unless this study text and this plan may begin in this store."""
    if held.study is not None and held.study != record.study:
        raise StoreError(
            Problem(
                where,
                f"holds the study {held.study}, not {record.study}",
                fix="A store holds one study: give this one its own folder or database.",
            )
        )
    if held.people:
        claimed = "1 person has" if held.people == 1 else f"{held.people} people have"
        raise StoreError(
            Problem(
                where,
                f"{claimed} already claimed lists of the plan before this change",
                fix="Texts may change, the design may not: plan, stimuli, scales and questionnaires stay. "
                "For more participants, or where stimuli were only added, run `beholder extend`; else undo the "
                "change, or start a new folder.",
            )
        )
    if held.plan_digest is not None and held.plan_digest != record.plan_digest:
        raise StoreError(
            Problem(
                where,
                f"holds another plan of the same study, made by {held.software}",
                fix="Go on with that version, or start a new folder.",
            )
        )


def check_growth(where: str, record: StudyRecord, held: int, last: str | None) -> None:
    """Raise StoreError unless lists may follow those that are held, the last of which is this JSON."""
    if last is not None and held < len(record.lists) and from_json(to_json(record.lists[held - 1])) != from_json(last):
        raise StoreError(
            Problem(
                where,
                f"holds {held} lists of this plan that are not those to which lists are added",
                fix="Somebody else may have extended it just now: run `beholder extend` again.",
            )
        )


class InUseError(StoreError):
    """Another process writes to this store."""


def in_use(where: str, who: str) -> InUseError:
    """Return the error of writing to a store beside a process that has to be alone, or of being alone beside one."""
    fix = "Stop it, or use PostgreSQL: there several servers may share one study."
    return InUseError(Problem(where, f"is in use by another server{who}", fix=fix))


def read_only(where: str) -> StoreError:
    """Return the error of writing to a store that was opened for reading."""
    return StoreError(Problem(where, "is open for reading only", fix="Open it with write=True."))


def repeated_entry(where: str, entry: Entry) -> LedgerError:
    """Return the error of planning a debt twice, or of using the leave to send a batch twice."""
    what = f"the {entry.kind} {entry.reason_code} of submission {entry.submission} is planned already"
    if entry.event == "pay_sent":
        what = f"batch {entry.batch} has been sent already"
    return LedgerError(
        Problem(where, what, fix="Somebody else was faster: run it again, and it goes on from what is there.")
    )


def held_ledger(where: str, who: str) -> LedgerError:
    """Return the error of sending while somebody else sends."""
    return LedgerError(
        Problem(where, f"somebody is sending money or messages already{who}", fix="Wait for them, then run it again.")
    )


def unknown_session(session: str) -> LookupError:
    """Return the error of a fact without its session: a bug of the caller, not of a participant."""
    return LookupError(f"session {session} is not in this store")


def refused_arrival(session: Session, *, study_is_known: bool) -> Exception:
    """Return the error of a session that cannot be written: a bug of the caller, not of a participant."""
    if not study_is_known:
        return LookupError(f"study text {session.digest} has not begun in this store")
    return ValueError(f"session {session.session} belongs to another visit")


def erased_session() -> Refused:
    """Return the refusal of facts about somebody who has withdrawn."""
    return Refused("These answers have been erased, and nothing more is kept.", code="ended", status=410)


def outdated_session() -> Refused:
    """Return the refusal of a claim under a plan that has been replaced since the session arrived."""
    return Refused("The study has changed since you came. Please open your link again.", code="ended", status=410)
