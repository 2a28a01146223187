"""The record of a preregistration: entries of the ledger, which nobody can change without it being seen.

Each version of the plan is one entry, with its digest, and the time and the number of people who had taken part by
then. A plan that is the same as the last version is not recorded again; one that differs is an amendment. Where the
plan was registered is an entry of its own, since addresses come afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from beholder.aio import block_on
from beholder.clock import utc_now
from beholder.store.contract import LedgerEntry, Table
from beholder.store.open import folder_of, is_postgresql, open_store, read_rows
from beholder.study.recruitment import is_person
from beholder.study.serialization import digest

KIND, PLACE = "preregistration", "preregistered"
"""Kinds of entries in the ledger: a version of the plan, and where it was registered."""
TABLES: tuple[Table, ...] = ("sessions", "answers", "erasures", "ledger")
_LOOK = "look"


class Participation(NamedTuple):
    """How many people had taken part in a run: answered anything, from the consent on."""

    people: int
    first_at: str
    """When the first of them answered, ISO 8601 in UTC; empty where nobody has, or where all of it was erased."""


@dataclass(frozen=True)
class Registration:
    """One version of the plan, as it was recorded."""

    version: int
    """From 1; each after the first is an amendment."""
    at: str
    """When it was recorded, ISO 8601 in UTC."""
    digest: str
    """The SHA-256 of plan, words and answers as canonical JSON."""
    plan: Mapping[str, Any]
    """What `registered_plan` returned."""
    words: Mapping[str, str]
    """What the researchers wrote, by heading of the template."""
    answers: Mapping[str, str]
    """The answers to the questions of the template, by heading."""
    why: str
    people: int
    """How many people had taken part by then."""
    looks: int
    """How often their results had been looked at by then."""
    software: str
    places: tuple[tuple[str, str], ...] = ()
    """When it was said to be registered, and where."""

    @property
    def is_intact(self) -> bool:
        """Whether the plan is still the one of which the digest is."""
        return content_digest(self.plan, self.words, self.answers) == self.digest

    def is_late(self, first_at: str) -> bool:
        """Return whether a person had taken part when it was recorded; `first_at` is when the first one did."""
        return self.people > 0 or bool(first_at and first_at < self.at)

    def json(self) -> dict[str, Any]:
        """Return it as it stands in its file and in account.json."""
        return {**asdict(self), "places": [list(one) for one in self.places]}

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Registration:
        """Return it from its file, or from account.json."""
        return cls(**{**value, "places": tuple((str(at), str(place)) for at, place in value["places"])})


def content_digest(plan: Mapping[str, Any], words: Mapping[str, str], answers: Mapping[str, str]) -> str:
    """Return the digest of a version: anybody can compute it from its file."""
    return digest({"plan": plan, "words": words, "answers": answers})


def registrations_in(ledger: Iterable[Mapping[str, Any]], run: int) -> tuple[Registration, ...]:
    """Return all versions of the plan of a run, oldest first."""
    rows = [row for row in ledger if row["kind"] in (KIND, PLACE) and int(row["evidence"]["run"]) == run]
    places: dict[str, list[tuple[str, str]]] = {}
    for row in rows:
        if row["kind"] == PLACE:
            places.setdefault(str(row["provider_ref"]), []).append((_iso(row["at"]), str(row["evidence"]["place"])))
    versions = sorted((row for row in rows if row["kind"] == KIND), key=lambda row: row["at"])
    fields = ("plan", "words", "answers", "why", "people", "looks", "software")
    return tuple(
        Registration(
            number, _iso(row["at"]), str(row["provider_ref"]), **{name: row["evidence"][name] for name in fields},
            places=tuple(places.get(str(row["provider_ref"]), ())),
        )
        for number, row in enumerate(versions, 1)
    )  # fmt: skip


def reference_of(versions: Sequence[Registration], first_at: str) -> Registration:
    """Return the version that results are held against: the last one in time, or where none is, the first."""
    return next((one for one in reversed(versions) if not one.is_late(first_at)), versions[0])


def participation(tables: Mapping[str, Sequence[Mapping[str, Any]]], run: int) -> Participation:
    """Return how many people have taken part in a run; robots and previews are none."""
    of_people = {
        row["session"]: str(row["participant"])
        for row in tables["sessions"]
        if row["run"] == run and is_person(row["mode"])
    }
    answered = {row["session"]: row["at"] for row in reversed(tables["answers"]) if row["session"] in of_people}
    times = [row["at"] for row in tables["answers"] if row["session"] in of_people]
    erased = {row["session"] for row in tables["erasures"]} & of_people.keys()
    people = {of_people[session] for session in answered.keys() | erased}
    return Participation(len(people), _iso(min(times)) if times else "")


def _iso(time: datetime) -> str:
    return time.isoformat(timespec="milliseconds")


# The store


class RegistrationState(NamedTuple):
    """What the store knows before a version is recorded."""

    versions: tuple[Registration, ...]
    taken_part: Participation
    looks: int


def read_state(url: str, run: int) -> RegistrationState:
    """Return the versions and who has taken part; nothing where there is no store yet."""
    if not _is_there(url):
        return RegistrationState((), Participation(0, ""), 0)
    tables = block_on(_read(url))
    rows = tables["ledger"]
    looks = sum(row["kind"] == _LOOK and int(row["evidence"]["run"]) == run for row in rows)
    return RegistrationState(registrations_in(rows, run), participation(tables, run), looks)


async def _read(url: str) -> dict[str, list[dict[str, Any]]]:
    # A database may have no tables yet.
    async with open_store(url, write=is_postgresql(url)) as opened:
        return {table: await read_rows(opened, table) for table in TABLES}


def record(
    url: str,
    run: int,
    state: RegistrationState,
    plan: Mapping[str, Any],
    words: Mapping[str, str],
    answers: Mapping[str, str],
    why: str,
) -> Registration:
    """Record a version of the plan in the ledger of the store, which is made if it is not there; return it."""
    evidence: dict[str, Any] = {
        "run": run, "plan": plan, "words": words, "answers": answers, "why": why, "people": state.taken_part.people,
        "looks": state.looks, "software": f"beholder {metadata.version('beholder')}",
    }  # fmt: skip
    entry = LedgerEntry(KIND, "done", utc_now(), provider_ref=content_digest(plan, words, answers), evidence=evidence)
    _append(url, entry)
    return read_state(url, run).versions[-1]


def record_place(url: str, run: int, registration: Registration, place: str) -> Registration:
    """Record where a version was registered, unless that is known; return it with all its places."""
    if any(known == place for _, known in registration.places):
        return registration
    now = utc_now()
    _append(
        url, LedgerEntry(PLACE, "done", now, provider_ref=registration.digest, evidence={"run": run, "place": place})
    )
    return replace(registration, places=(*registration.places, (_iso(now), place)))


def _append(url: str, entry: LedgerEntry) -> None:
    async def append() -> None:
        # Of a store that is there only the ledger is opened: a server may be running.
        async with open_store(url, write=is_postgresql(url) or not _is_there(url)) as opened:
            await opened.ledger.append([entry])

    block_on(append())


def _is_there(url: str) -> bool:
    """Return whether there is a store; a database is taken to be one."""
    return is_postgresql(url) or any(Path(folder_of(url)).glob("*.sqlite"))
