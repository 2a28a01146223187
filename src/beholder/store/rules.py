"""Rules that both databases share: what a store refuses, the record of a study, an anonymous ledger, and migrations."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from datetime import datetime
from importlib.metadata import version
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import NamedTuple

from beholder.errors import LedgerError, Problem, Refused, StoreError
from beholder.formats import plain_count
from beholder.planning.digest import study_digest
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import LedgerEntry, Remains, Session, StudyRecord, UnknownSession
from beholder.store.tables import from_json, to_json
from beholder.study.model import Study
from beholder.study.recruitment import is_person
from beholder.study.serialization import resolved_yaml
from beholder.types import Json

QUICK_TO_WIPE = 32_000_000
"""Bytes of a database that can be rewritten while people answer: it takes about half a second."""


def join_remains(remains: Iterable[Remains | None]) -> Remains | None:
    """Return what still holds up the removal of erased bytes from several files."""
    left = [one for one in remains if one is not None]
    return Remains("; ".join(one.words for one in left), all(one.is_read for one in left)) if left else None


LAST_FACT = " UNION ALL ".join(
    f"SELECT max(at) AS at FROM {table}" for table in ("sessions", "answers", "events", "ends")
)


def removal_rows(removed: Sequence[Session]) -> list[tuple[int, int, int]]:
    """Return for each run of removed sessions how many participants and sessions it had."""
    by_run: dict[int, list[str]] = defaultdict(list)
    for one in removed:
        by_run[one.run].append(one.participant)
    return [(run, len(set(people)), len(people)) for run, people in sorted(by_run.items())]


def population(mode: str) -> str:
    """Return the population of a mode: robots, previews, or people of all other modes."""
    return "people" if is_person(mode) else mode


class StoreContents(NamedTuple):
    """What a store contains when a study begins."""

    study: str | None
    """The name of the stored study."""
    plan_digest: str | None
    """The stored plan of the study text that begins, if any."""
    software: str | None
    """The software that wrote that study text."""
    people: int
    """How many participants have claimed lists of another plan."""


def check_begin(where: str, record: StudyRecord, held: StoreContents) -> None:
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
        claimed = plain_count(held.people, "person has", "people have")
        raise StoreError(
            Problem(
                where,
                f"{claimed} already claimed lists of the plan before this change",
                fix="Texts may change, the design may not: plan, stimuli, scales and questionnaires stay. "
                "For more participants, or where stimuli were only added, run `beholder extend`; else undo the "
                "change, start a new folder, or write `run: 2` to repeat the study with other people.",
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
    """Raise StoreError unless lists may follow the stored ones, the last of which is this JSON."""
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
    """Return the error of opening a store that another process holds."""
    fix = "Stop it, or use PostgreSQL: there several servers may share one study."
    return InUseError(Problem(where, f"is in use by another server{who}", fix=fix))


def read_only(where: str) -> StoreError:
    """Return the error of writing to a store that was opened for reading."""
    return StoreError(Problem(where, "is open for reading only", fix="Open it with write=True."))


def repeated_entry(where: str, entry: LedgerEntry) -> LedgerError:
    """Return the error of planning a debt twice, or of sending a batch twice."""
    what = f"the {entry.kind} {entry.reason_code} of submission {entry.submission} is planned already"
    if entry.event == "pay_sent":
        what = f"batch {entry.batch} has been sent already"
    return LedgerError(
        Problem(where, what, fix="Somebody else was faster: run it again, and it goes on from what is there.")
    )


def ledger_in_use(where: str, who: str) -> LedgerError:
    """Return the error of sending while another process sends."""
    return LedgerError(
        Problem(where, f"somebody is sending money or messages already{who}", fix="Wait for them, then run it again.")
    )


def unknown_session(session: str) -> UnknownSession:
    """Return the error of a fact without its session."""
    return UnknownSession(f"session {session} is not in this store")


def refused_arrival(session: Session, *, study_is_known: bool) -> Exception:
    """Return the error of a session that cannot be stored, which is a bug of the caller."""
    if not study_is_known:
        return LookupError(f"study text {session.digest} has not begun in this store")
    return ValueError(f"session {session.session} belongs to another visit")


def erased_session() -> Refused:
    """Return the refusal of facts about a participant who has withdrawn."""
    return Refused.because("erased", code="ended", status=410)


def outdated_session() -> Refused:
    """Return the refusal of a claim under a plan that was replaced since the session arrived."""
    return Refused.because("study_changed", code="ended", status=410)


# Study records


def record_of(
    study: Study, catalogue: Catalogue, plan_digest: str, lists: Sequence[Json], now: datetime
) -> StudyRecord:
    """Return the record of a study with its stimuli and its lists."""
    return StudyRecord(
        digest=study_digest(study, catalogue),
        plan_digest=plan_digest,
        study=study.name,
        yaml=resolved_yaml(study),
        software=f"beholder {version('beholder')}",
        stimuli=_stimulus_rows(catalogue),
        lists=lists,
        at=now,
    )


def _stimulus_rows(catalogue: Catalogue) -> list[Mapping[str, Json]]:
    return [
        {
            "stimulus": s.id, "content": s.content, "condition": s.condition, "role": s.role, "medium": s.medium,
            "sha256": s.sha256, "probe": asdict(s.probe), "factors": dict(s.factors),
        }
        for s in (*catalogue.stimuli, *catalogue.examples)
    ]  # fmt: skip


# Anonymous ledger: payments for visits, without a link to answers

IDENTIFYING = ("submission", "participant", "session", "reason_code", "reason_text", "evidence")
"""The columns that anonymising may change."""
_SENT = frozenset({"approve", "bonus", "reject", "return", "message"})
_FURTHER = "session:"
_SIGNED = ("pay", "use", "category")


def anonymise(entries: Sequence[LedgerEntry]) -> tuple[LedgerEntry, ...]:
    """Return the entries, each with the platform visit or with the session, never with both."""
    further: dict[str, list[str]] = defaultdict(list)
    anonymous = []
    for entry in entries:
        if entry.kind == "decisions":
            anonymous.append(replace(entry, evidence=_unnamed(entry.evidence)))
        elif entry.kind in _SENT and entry.submission:
            code = _numbered(entry.reason_code, further[entry.submission])
            anonymous.append(replace(entry, participant="", session="", reason_code=code, reason_text=""))
        else:
            anonymous.append(replace(entry, submission=""))
    return tuple(anonymous)


def anonymised_values(entries: Sequence[LedgerEntry]) -> list[tuple[str | int, ...]]:
    """Return the new values of each entry that changes, in the order of IDENTIFYING, and its number."""
    return [
        (
            after.submission, after.participant, after.session, after.reason_code, after.reason_text,
            to_json(after.evidence), after.entry,
        )
        for before, after in zip(entries, anonymise(entries), strict=True)
        if after != before
    ]  # fmt: skip


def _unnamed(evidence: Json) -> Json:
    """Return signed decisions without participants and messages, which may quote answers."""
    rows = evidence.get("rows") if isinstance(evidence, Mapping) else None
    if not isinstance(evidence, Mapping) or not isinstance(rows, Mapping):
        return evidence
    kept = {
        key: {name: row[name] for name in _SIGNED if name in row} if isinstance(row, Mapping) else row
        for key, row in rows.items()
    }
    return {**evidence, "rows": kept}


def _numbered(code: str, before: list[str]) -> str:
    """Return the code of a further session with a number in place of the session; any other code unchanged."""
    if not code.startswith(_FURTHER):
        return code
    if code not in before:
        before.append(code)
    return f"{_FURTHER}{before.index(code) + 1}"


# Migrations


class Migration(NamedTuple):
    """One numbered step of a schema."""

    number: int
    sql: str


def migrations(folder: str | Traversable) -> tuple[Migration, ...]:
    """Return the migrations of a folder, in order; a name means a folder of this package.

    The first one makes the whole schema. It has the number that the schema had at the first release, so that stores
    written before are recognised.
    """
    place = files("beholder.store").joinpath("schema", folder) if isinstance(folder, str) else folder
    named = sorted((item.name, item) for item in place.iterdir() if item.name.endswith(".sql"))
    steps = tuple(Migration(int(name.removesuffix(".sql")), item.read_text("utf-8")) for name, item in named)
    numbers = [step.number for step in steps]
    if not numbers or numbers != list(range(numbers[0], numbers[0] + len(numbers))):
        raise ValueError(f"migrations must be numbered without gaps: {[name for name, _ in named]}")
    return steps


def due_migrations(where: str, version: int, steps: Sequence[Migration]) -> tuple[Migration, ...]:
    """Return the steps after this version, all of them for 0; a version too old or too new raises StoreError."""
    first, newest = steps[0].number, steps[-1].number
    if version > newest:
        raise StoreError(
            Problem(
                where,
                f"was written by a newer Beholder (schema {version}, this one knows {newest})",
                fix="Update Beholder: pip install --upgrade beholder.",
            )
        )
    if 0 < version < first:
        raise StoreError(
            Problem(
                where,
                f"was written before the first release of Beholder (schema {version}, this one reads {first})",
                fix="Read it with the version that wrote it, or begin a new folder or database.",
            )
        )
    return tuple(step for step in steps if step.number > version)


def check_current(where: str, version: int, steps: Sequence[Migration]) -> None:
    """Raise StoreError unless a store has the newest schema."""
    if due_migrations(where, version, steps):
        raise StoreError(
            Problem(
                where,
                f"was written by an older Beholder (schema {version}, this one reads {steps[-1].number})",
                fix="Run `beholder serve` once: it brings the store up to date.",
            )
        )


def sql_statements(script: str) -> Iterator[str]:
    """Yield the statements of an SQLite script: `executescript` would commit before it begins."""
    waiting = ""
    for line in script.splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            yield waiting
            waiting = ""
    if any(line.strip() and not line.startswith("--") for line in waiting.splitlines()):
        raise ValueError(f"unfinished statement: {waiting.strip()}")
