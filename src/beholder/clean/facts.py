"""The facts of a store, gathered by session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

from beholder.errors import Problem, StoreError
from beholder.methods.contract import Trial
from beholder.store.contract import Table
from beholder.types import Mode, Outcome

Rows = Sequence[Mapping[str, Any]]
TABLES: tuple[Table, ...] = ("studies", "stimuli", "lists", "sessions", "claims", "answers", "ends", "erasures")


@dataclass(frozen=True)
class Shown:
    """A stimulus as the store knows it."""

    content: str
    condition: str
    length_ms: int | None
    factors: Mapping[str, str]
    role: str = "test"


@dataclass(frozen=True)
class Given:
    """One stored answer."""

    key: str
    answer: Any
    playback: Mapping[str, Mapping[str, Any]]
    shown_ms: float
    sent_ms: float
    input: str
    at: datetime


@dataclass(frozen=True)
class Visit:
    """One session: who came, what was planned, what was answered, how it ended."""

    session: str
    participant: str
    digest: str
    run: int
    mode: Mode
    visit: int
    at: datetime
    outcome: Outcome | None
    ended_at: datetime | None
    is_erased: bool
    trials: tuple[Trial, ...]
    answers: Mapping[str, Given]

    @property
    def minutes(self) -> float | None:
        """How long the session took, to its end or else to its last answer."""
        last = self.ended_at or max((given.at for given in self.answers.values()), default=None)
        return round((last - self.at).total_seconds() / 60, 2) if last else None


@dataclass(frozen=True)
class Facts:
    """Every session of one population under the plan that it used last."""

    population: Literal["people", "robots"]
    visits: tuple[Visit, ...]
    stimuli: Mapping[tuple[str, str], Shown]
    """By (digest, stimulus)."""
    yaml: Mapping[str, str]
    """The study text by digest."""
    other_plans: int
    """Sessions of this population under an earlier plan; they are not comparable and left out."""
    finished: Mapping[str, int]
    """How many people and how many robots have finished, under any plan; who withdrew is not counted."""


def gather(tables: Mapping[str, Rows], *, where: str, robots: bool = False) -> Facts:
    """Return the facts of people where there are any, else of robots; previews never."""
    plans = {str(row["digest"]): str(row["plan_digest"]) for row in tables["studies"]}
    people = [row for row in tables["sessions"] if row["mode"] not in ("robot", "preview")]
    machines = [row for row in tables["sessions"] if row["mode"] == "robot"]
    chosen = machines if robots or not people else people
    if not chosen:
        raise StoreError(_nobody(where, robots=robots))
    newest = max(chosen, key=lambda row: (row["at"], str(row["session"])))
    plan = plans[newest["digest"]]
    mine = sorted((row for row in chosen if plans[row["digest"]] == plan), key=_session_order)
    digests = {str(row["digest"]) for row in mine}
    return Facts(
        population="robots" if chosen is machines else "people",
        visits=_visits(mine, tables, plan),
        stimuli={
            (str(row["digest"]), str(row["stimulus"])): _shown(row)
            for row in tables["stimuli"]
            if row["digest"] in digests
        },
        yaml={str(row["digest"]): str(row["yaml"]) for row in tables["studies"] if row["digest"] in digests},
        other_plans=len(chosen) - len(mine),
        finished={"people": _finished(people, tables), "robots": _finished(machines, tables)},
    )


def _finished(sessions: Rows, tables: Mapping[str, Rows]) -> int:
    """Return how many participants of these sessions have completed one."""
    completed = {row["session"] for row in tables["ends"] if row["outcome"] == "completed"}
    kept = completed - {row["session"] for row in tables["erasures"]}
    return len({row["participant"] for row in sessions if row["session"] in kept})


def _visits(sessions: Rows, tables: Mapping[str, Rows], plan: str) -> tuple[Visit, ...]:
    from beholder.plan.model import list_from_json

    lists = {row["list"]: row["trials"] for row in tables["lists"] if row["plan_digest"] == plan}
    claims = {row["session"]: row["list"] for row in tables["claims"]}
    ends = {row["session"]: row for row in tables["ends"]}
    erased = {row["session"] for row in tables["erasures"]}
    given: dict[str, dict[str, Given]] = defaultdict(dict)
    for row in tables["answers"]:
        given[row["session"]][row["key"]] = _given(row)
    trials: dict[int, tuple[Trial, ...]] = {}
    visits = []
    for row in sessions:
        claimed = claims.get(row["session"])
        if claimed is not None and claimed not in trials:
            entries = list_from_json(lists[claimed]).entries
            trials[claimed] = tuple(entry for entry in entries if isinstance(entry, Trial))
        end = ends.get(row["session"], {})
        visits.append(
            Visit(
                session=str(row["session"]),
                participant=str(row["participant"]),
                digest=str(row["digest"]),
                run=row["run"],
                mode=row["mode"],
                visit=row["visit"],
                at=row["at"],
                outcome=end.get("outcome"),
                ended_at=end["at"] if end else None,
                is_erased=row["session"] in erased,
                trials=trials[claimed] if claimed is not None else (),
                answers=given[row["session"]],
            )
        )
    return tuple(visits)


def _given(row: Mapping[str, Any]) -> Given:
    return Given(
        key=str(row["key"]),
        answer=row["answer"],
        playback=row["playback"],
        shown_ms=row["shown_ms"],
        sent_ms=row["sent_ms"],
        input=str(row["input"]),
        at=row["at"],
    )


def _shown(row: Mapping[str, Any]) -> Shown:
    return Shown(
        str(row["content"]),
        str(row["condition"]),
        row["probe"].get("duration_ms"),
        dict(row["factors"]),
        str(row["role"]),
    )


def _session_order(row: Mapping[str, Any]) -> tuple[datetime, str]:
    return row["at"], str(row["session"])


def _nobody(where: str, *, robots: bool) -> Problem:
    rehearse = "send robots with `beholder simulate --participants 20`"
    if robots:
        return Problem(where, "holds no robots yet", "", f"To rehearse, {rehearse}.")
    return Problem(
        where,
        "holds no sessions yet",
        "",
        f"Let people in with `beholder serve`, or {rehearse}. Previews are not kept.",
    )
