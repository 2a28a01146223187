"""The collection of a run: how many lists are planned and finished, and when its size changed or results were seen.

All of it is read from the store. A look, a number of people that a run was asked for, and the place of a study in a
chain are entries of its ledger; lists that were added say when and why themselves.
"""

from __future__ import annotations

import getpass
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from beholder.aio import block_on
from beholder.cleaning.facts import Facts
from beholder.cleaning.ratings import number_repetitions, rating_blocks
from beholder.cleaning.texts import StudyText
from beholder.clock import utc_now
from beholder.errors import StoreError
from beholder.store.contract import LedgerEntry, StoreUnavailable
from beholder.store.open import open_store, read_rows
from beholder.study.model import Study
from beholder.study.recruitment import is_closed, moment, own_posting

if TYPE_CHECKING:
    from beholder.cleaning.screening import JudgedPopulation

LOOK, TARGET, CHAIN, UNBLIND = "look", "target", "chain", "unblind"
"""Kinds of entries in the ledger."""
Ending = Literal["complete", "target", "date", "stopped"]
"""How a collection came to its end: all planned lists finished, as many as were asked for, its date, or stopped."""
_PLANNED_ENDINGS: tuple[Ending, ...] = ("complete", "target", "date")
_OPENING = ("publish", "places", "resume")
"""Kinds of entries that let people begin again after a stop."""


class Look(NamedTuple):
    """An analysis of people's ratings: when, of how many, and by which command. The ledger also has by whom."""

    at: str
    participants: int
    """Whose ratings were used."""
    finished: int
    """Lists that were finished."""
    lists: int
    """Lists that were planned at that time."""
    command: str
    ratings_sha256: str


class Unblinding(NamedTuple):
    """That the names of conditions were shown where they had been code names: when, to whom and why."""

    at: str
    by: str
    reason: str


class SizeChange(NamedTuple):
    """A change of how many lists are to be finished, after the plan was made."""

    at: str
    lists: int
    """How many more, or fewer."""
    why: str


class ChainShare(NamedTuple):
    """What a study that follows from others may spend of the error rate that they have together."""

    chain: str
    """Name of the chain; empty for a study that was run after another by hand."""
    studies: int
    """How many the chain has."""
    share: float
    """1 where the study has an error rate of its own."""
    after: str = ""
    """The study whose open pairs are asked; empty where everything is."""


@dataclass(frozen=True)
class Collection:
    """How far a run is, how its size came about, and when its results were looked at. Times are ISO 8601, UTC."""

    run: int
    store: str
    """A folder, as the study names it; the address without user and password of a database."""
    lists: int
    """Planned lists, without those that only make up for excluded ratings."""
    participants: int
    """For how many people they are."""
    first_participants: int
    """For how many people the plan was, before lists were added."""
    finished: int
    """Lists of all kinds that were finished."""
    ended: Ending | None
    """None while people may still come."""
    ended_at: str
    first_answer_at: str
    named: tuple[tuple[str, str], ...] = ()
    """The contrasts that the study named when the first answer came."""
    changes: tuple[SizeChange, ...] = ()
    looks: tuple[Look, ...] = ()
    """In their order, one for each state of the ratings."""
    chain: ChainShare | None = None
    unblindings: tuple[Unblinding, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether people may still come."""
        return self.ended is None

    @property
    def earlier_looks(self) -> tuple[Look, ...]:
        """The looks at fewer finished lists than there are now."""
        return tuple(look for look in self.looks if look.finished < self.finished)

    @property
    def changes_after_look(self) -> tuple[SizeChange, ...]:
        """The changes of the size that were made when results were known."""
        first = min((look.at for look in self.looks), default=None)
        return tuple(change for change in self.changes if first is not None and change.at > first)

    @property
    def is_stopped_after_look(self) -> bool:
        """Whether it was ended by hand before it was complete, when results were known."""
        if self.ended is None or self.ended in _PLANNED_ENDINGS:
            return False
        return any(look.at < self.ended_at for look in self.looks)

    @property
    def may_depend_on_results(self) -> bool:
        """Whether the number of people is not known, or was changed, at a time when results were known.

        An interval for a fixed number of people does not hold then.
        """
        return self.is_open or bool(self.changes_after_look) or self.is_stopped_after_look

    def json(self) -> dict[str, Any]:
        """Return it as it stands in account.json and notes.json."""
        value = asdict(self)
        for key in ("changes", "looks"):
            value[key] = [one._asdict() for one in getattr(self, key)]
        value["named"] = [list(pair) for pair in self.named]
        value["chain"] = None if self.chain is None else self.chain._asdict()
        value["unblindings"] = [one._asdict() for one in self.unblindings]
        if not self.unblindings:  # of most studies, conditions never had code names
            del value["unblindings"]
        return value

    @classmethod
    def read(cls, value: Mapping[str, Any]) -> Collection:
        """Return it from account.json or notes.json."""
        chain = value["chain"]
        return cls(
            **{
                **value,
                "named": tuple((str(one), str(other)) for one, other in value["named"]),
                "changes": tuple(SizeChange(**one) for one in value["changes"]),
                "looks": tuple(Look(**one) for one in value["looks"]),
                "chain": None if chain is None else ChainShare(**chain),
                "unblindings": tuple(Unblinding(**one) for one in value.get("unblindings", ())),
            }
        )


# From the tables of a store


def collection_of(
    study: Study,
    facts: Facts,
    ledger: Iterable[Mapping[str, Any]],
    texts: Mapping[str, StudyText],
    *,
    store: str = "store/",
    now: datetime | None = None,
) -> Collection:
    """Return the collection of a run of people or robots, from its facts and the ledger of its store."""
    entries = [row for row in ledger if row["event"] == "done"]
    planned = [one for one in facts.planned.values() if not one.makes_up]
    finished = {visit.list for visit in facts.visits if visit.outcome == "completed"} & facts.planned.keys()
    targets = [row for row in entries if row["kind"] == TARGET and _run(row) == facts.run]
    answered = [(min(given), visit) for visit in facts.visits if (given := _rated_at(visit.answers.values()))]
    first_at, first = min(answered, key=lambda one: one[0]) if answered else (None, None)
    each = study.design.sessions_per_participant
    ended, ended_at = _ending(study, facts, entries, targets, len(finished), now or utc_now())
    return Collection(
        run=facts.run,
        store=store,
        lists=len(planned),
        participants=-(-len(planned) // each),
        first_participants=-(-sum(one.added is None for one in planned) // each),
        finished=len(finished),
        ended=ended,
        ended_at=_iso(ended_at),
        first_answer_at=_iso(first_at),
        named=texts[first.digest].contrasts if first is not None and first.digest in texts else (),
        changes=tuple(sorted([*_additions(facts), *_retargets(targets, len(planned))])),
        looks=looks_in(entries, facts.run),
        chain=chain_share(entries, facts.run, facts.population),
        unblindings=unblindings_in(entries, facts.run),
    )


def _rated_at(answers: Iterable[Any]) -> list[datetime]:
    return [given.at for given in answers if given.key.startswith("trial:")]


def _ending(
    study: Study,
    facts: Facts,
    entries: Sequence[Mapping[str, Any]],
    targets: Sequence[Mapping[str, Any]],
    finished: int,
    now: datetime,
) -> tuple[Ending | None, datetime | None]:
    """Return how and when the collection came to its end; None where people may still come."""
    last = max((visit.ended_at for visit in facts.visits if visit.ended_at is not None), default=None)
    done = {visit.list for visit in facts.visits if visit.outcome == "completed"}
    # Lists that make up for excluded ratings are added by their number alone, and need not all be waited for.
    if all(number in done or one.makes_up for number, one in facts.planned.items()):
        return "complete", last
    if targets and finished >= int(targets[-1]["evidence"]["lists"]):
        return "target", last
    stopped = _stopped_at(study, facts.run, entries)
    if stopped is not None:
        return "stopped", stopped
    if study.recruit.closes is not None and is_closed(study.recruit, now):
        return "date", moment(study.recruit.closes)
    return None, None


def _stopped_at(study: Study, run: int, entries: Sequence[Mapping[str, Any]]) -> datetime | None:
    """Return when recruiting was stopped, or the run closed, and not opened again; None otherwise."""
    drafts = [row["provider_ref"] for row in entries if row["kind"] == "draft" and _run(row) == run]
    postings, stopped = {own_posting(study.name, run), *drafts}, None
    for row in entries:
        if row["kind"] in _OPENING and row["provider_ref"] in postings:
            stopped = None
        elif (row["kind"] == "stop" and row["provider_ref"] in postings) or (
            row["kind"] == "close" and _run(row) == run
        ):
            stopped = stopped or row["at"]
    return stopped


def _additions(facts: Facts) -> list[SizeChange]:
    """Return when lists were added to the plan, and why; lists that only make up for excluded ratings apart."""
    sizes: dict[tuple[str, str], int] = {}
    for one in facts.planned.values():
        if one.added is not None and not one.makes_up:
            # They carry whole seconds, looks their milliseconds.
            end = datetime.fromisoformat(one.added.when) + timedelta(milliseconds=999)
            key = (_iso(end), one.added.why)
            sizes[key] = sizes.get(key, 0) + 1
    return [SizeChange(at, lists, why) for (at, why), lists in sizes.items()]


def _retargets(targets: Sequence[Mapping[str, Any]], lists: int) -> list[SizeChange]:
    """Return when another number of lists was asked for than before."""
    numbers = [lists, *(int(row["evidence"]["lists"]) for row in targets)]
    return [
        SizeChange(_iso(row["at"]), after - before, "another number was asked for")
        for row, before, after in zip(targets, numbers[:-1], numbers[1:], strict=True)
        if after != before
    ]


def looks_in(ledger: Iterable[Mapping[str, Any]], run: int) -> tuple[Look, ...]:
    """Return the looks at a run, in their order, the first at each state of its ratings."""
    looks: dict[str, Look] = {}
    for row in ledger:
        if row["kind"] == LOOK and _run(row) == run:
            fields = {name: row["evidence"][name] for name in Look._fields if name != "at"}
            looks.setdefault(fields["ratings_sha256"], Look(at=_iso(row["at"]), **fields))
    return tuple(looks.values())


def unblindings_in(ledger: Iterable[Mapping[str, Any]], run: int) -> tuple[Unblinding, ...]:
    """Return when the conditions of a run were unblinded, by whom and why."""
    return tuple(
        Unblinding(_iso(row["at"]), str(row["evidence"]["by"]), str(row["reason_text"]))
        for row in ledger
        if row["kind"] == UNBLIND and _run(row) == run
    )


def chain_share(ledger: Iterable[Mapping[str, Any]], run: int, population: str) -> ChainShare | None:
    """Return what a run may spend of a chain's error rate, as first recorded; None outside chains.

    What robots rehearsed does not bind people.
    """
    for row in ledger:
        if row["kind"] == CHAIN and _run(row) == run and row["evidence"]["population"] == population:
            return ChainShare(**{name: row["evidence"][name] for name in ChainShare._fields})
    return None


def _run(row: Mapping[str, Any]) -> int:
    evidence = row["evidence"]
    return int(evidence.get("run", 1)) if isinstance(evidence, Mapping) else 1


def _iso(time: datetime | None) -> str:
    return "" if time is None else time.isoformat(timespec="milliseconds")


# Recording


def record_look(
    collection: Collection, url: str | Path, *, participants: int, ratings_sha256: str, command: str
) -> Collection:
    """Record a look in the ledger of a store, unless these ratings were looked at before; return it with all looks.

    A store that cannot be reached leaves the collection as it is.
    """
    evidence = {
        "run": collection.run, "participants": participants, "finished": collection.finished,
        "lists": collection.lists, "command": command, "by": _user(), "ratings_sha256": ratings_sha256,
    }  # fmt: skip
    try:
        rows = block_on(_append(url, LOOK, evidence, lambda rows: _has_seen(rows, collection.run, ratings_sha256)))
    except (StoreError, StoreUnavailable):
        return collection
    return replace(collection, looks=looks_in(rows, collection.run))


def record_judged_look(judging: JudgedPopulation, ledger: Iterable[Mapping[str, Any]], url: str, command: str) -> None:
    """Record a look at the ratings of people in a store; of robots, and where no rating is used, there is none."""
    people = {one.visit.participant for one in judging.judged if one.decision.use}
    if judging.facts.population != "people" or not people:
        return
    rows = number_repetitions(rating for one in judging.judged for rating in one.ratings)
    digest = hashlib.sha256(b"".join(rating_blocks(rows, judging.facts.stimuli))).hexdigest()
    collected = collection_of(judging.study, judging.facts, ledger, judging.texts)
    record_look(collected, url, participants=len(people), ratings_sha256=digest, command=command)


def record_target(url: str | Path, run: int, lists: int) -> None:
    """Record that a run was asked for so many finished lists, unless that was asked last."""

    def is_last(rows: Sequence[Mapping[str, Any]]) -> bool:
        targets = [row["evidence"]["lists"] for row in rows if row["kind"] == TARGET and _run(row) == run]
        return targets[-1:] == [lists]

    block_on(_append(url, TARGET, {"run": run, "lists": lists}, is_last))


def record_chain(url: str | Path, run: int, share: ChainShare, *, population: str) -> None:
    """Record what a run may spend of a chain's error rate; the first record counts."""
    evidence = {"run": run, "population": population, **share._asdict()}
    block_on(_append(url, CHAIN, evidence, lambda rows: chain_share(rows, run, population) is not None))


async def _append(
    url: str | Path, kind: str, evidence: Any, is_there: Callable[[Sequence[Mapping[str, Any]]], bool]
) -> list[dict[str, Any]]:
    """Append an entry to the ledger of a store, also next to a running server, unless it is there; return all rows."""
    async with open_store(url, write=False) as store:
        rows = await read_rows(store, "ledger")
        if not is_there(rows):
            await store.ledger.append([LedgerEntry(kind, "done", utc_now(), evidence=evidence)])
            rows = await read_rows(store, "ledger")
        return rows


def _has_seen(rows: Sequence[Mapping[str, Any]], run: int, ratings_sha256: str) -> bool:
    return any(look.ratings_sha256 == ratings_sha256 for look in looks_in(rows, run))


def _user() -> str:
    """Return the name under which somebody is logged in; empty where the system has none, as in a container."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return ""
