"""The facts of a store, gathered by session."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property, lru_cache
from sys import intern
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from beholder.checks.contract import NO_SLOTS, AnsweredTrial, OperatedPage, Verdict
from beholder.cleaning.languages import AnswerLanguages
from beholder.errors import Problem, StoreError
from beholder.formats import join_names
from beholder.methods.contract import Method, Trial
from beholder.store.contract import Table
from beholder.study.recruitment import Mode, is_person, is_robot
from beholder.types import Outcome

if TYPE_CHECKING:
    from beholder.planning.model import PlannedList


# What a person decided about the use of a session: it overrules the verdicts


NAME, VERSION = "person", 1
LEFT_OUT, TAKEN_IN = "left_out", "taken_in"
UNDONE = "undone"
"""The reason for undoing an exclusion that a platform had caused: the rules decide as before."""
_KINDS = ("leave_out", "take_in")
_USUAL: Mapping[str, str] = {"leave_out": LEFT_OUT, "take_in": TAKEN_IN}


class UseDecision(NamedTuple):
    """That somebody left a session out, or took it in."""

    kind: Literal["leave_out", "take_in"]
    reason: str
    """Why it is left out: `left_out` by hand, or what its platform says, as `returned`."""
    entry: int
    """The number in the ledger, where the words are that were given for it."""

    @property
    def is_left_out(self) -> bool:
        return self.kind == "leave_out"


def use_decisions(ledger: Iterable[Mapping[str, Any]]) -> dict[str, UseDecision]:
    """Return what was decided last about the use of each session."""
    acts: dict[str, UseDecision] = {}
    for row in ledger:
        if row["kind"] not in _KINDS or row["event"] != "done":
            continue
        if row["reason_code"] == UNDONE:
            acts.pop(str(row["session"]), None)
        else:
            acts[str(row["session"])] = UseDecision(
                row["kind"], str(row["reason_code"]) or _USUAL[row["kind"]], row["entry"]
            )
    return acts


def person_verdict(act: UseDecision) -> Verdict:
    """Return what a person has decided, as a verdict beside those of the rules."""
    if act.is_left_out:
        return Verdict(NAME, VERSION, "fail", act.reason, evidence={"entry": act.entry})
    return Verdict(NAME, VERSION, "pass", TAKEN_IN, evidence={"entry": act.entry})


# Sessions, answers and stimuli


Rows = Sequence[Mapping[str, Any]]
TABLES: tuple[Table, ...] = (
    "studies", "stimuli", "lists", "sessions", "claims", "posed", "answers", "ends", "erasures", "removals",
    "ledger",
)  # fmt: skip
"""Without `told`, as everything is judged again. Of the ledger only decisions about use are read."""


@dataclass(frozen=True)
class ShownStimulus:
    """A stimulus as the store knows it."""

    content: str
    condition: str
    length_ms: int | None
    factors: Mapping[str, str]
    role: str = "test"
    medium: str = "video"
    sha256: str = ""
    probe: Mapping[str, Any] = field(default_factory=dict)
    """What its file holds, as it was measured."""


IMPORTED: Mode = "imported"
"""The mode of sessions that another tool recorded, and the key under which `device` tells what nobody knows of them."""
ORIGIN = "origin"
"""The entry of the playback evidence of an imported answer that tells where it stands in its source."""
_NOTHING: Mapping[str, Any] = {}


class AnswerRecord(NamedTuple):
    """One stored answer."""

    key: str
    answer: Any
    playback: Mapping[str, Mapping[str, Any]]
    shown_ms: float
    sent_ms: float
    input: str
    at: datetime

    @property
    def seconds(self) -> float:
        """How long the page was looked at."""
        return round((self.sent_ms - self.shown_ms) / 1000, 1)

    @property
    def origin(self) -> Mapping[str, Any]:
        """Where an imported answer stands in its source: `file`, `lines`, `raw`, `uncertain`; empty of our own."""
        return self.playback.get(ORIGIN) or _NOTHING


@dataclass(frozen=True)
class SessionRecord:
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
    """Those that are rated."""
    answers: Mapping[str, AnswerRecord]
    lessons: tuple[Trial, ...] = ()
    """The training examples."""
    posed: Mapping[str, Mapping[str, Any] | None] = field(default_factory=dict)
    """The private part of each attempt at a check, by its key; None where a store did not keep it."""
    device: Mapping[str, Any] = field(default_factory=dict)
    end_reason: str = ""
    """At what the session ended, such as `colour:numbers`."""
    list: int | None = None
    """The planned list that it claimed."""
    group: Mapping[str, str] = field(default_factory=dict)
    """The level of each factor between participants."""
    language: str | None = None
    """In which somebody took part, where the study has several languages."""
    relations: Mapping[str, str] | None = None
    """What stimuli are to this person by their ids, others being for everybody; None where all are, for everyone."""
    act: UseDecision | None = None
    """What a person has decided about its use."""

    @cached_property
    def unknown(self) -> frozenset[str]:
        """What the source of an imported session does not tell: `order`, `slots`, `time`, `date`, `playback`."""
        return frozenset((self.device.get(IMPORTED) or _NOTHING).get("unknown", ()))

    @property
    def uncertain(self) -> str:
        """What is doubtful about an imported session as a whole, in words."""
        return str((self.device.get(IMPORTED) or _NOTHING).get("uncertain", ""))

    @property
    def minutes(self) -> float | None:
        """How long the session took, to its end or else to its last answer; None where nobody knows."""
        if "date" in self.unknown:
            return None
        last = self.ended_at or max((given.at for given in self.answers.values()), default=None)
        return round((last - self.at).total_seconds() / 60, 2) if last else None

    @cached_property
    def by_position(self) -> tuple[tuple[int, AnswerRecord], ...]:
        """Position and answer of every trial that was answered, in the order of the plan; the last answer counts."""
        last: dict[int, AnswerRecord] = {}
        for given in sorted(self.answers.values(), key=lambda given: given.at):
            position = position_of(given.key)
            if 0 < position <= len(self.trials):
                last[position] = given
        return tuple(sorted(last.items()))


@lru_cache(maxsize=10_000)
def position_of(key: str) -> int:
    """Return the position of the trial that a key belongs to, `trial:7` or `trial:7:2`; 0 of any other step."""
    kind, _, rest = key.partition(":")
    return int(rest.partition(":")[0]) if kind == "trial" else 0


class RemovedVisits(NamedTuple):
    """Visits in which nothing was answered and which were removed: who came has come, and is counted."""

    participants: int = 0
    """Whoever came back after a removal counts once more."""
    sessions: int = 0


def removed_visits(tables: Mapping[str, Rows], run: int) -> RemovedVisits:
    """Return how many visits of people in a run were removed."""
    rows = [row for row in tables.get("removals", ()) if row["run"] == run]
    return RemovedVisits(sum(row["participants"] for row in rows), sum(row["sessions"] for row in rows))


@dataclass(frozen=True)
class Facts:
    """Every session of one population and one run, under the plan that it used last."""

    population: Literal["people", "robots"]
    visits: tuple[SessionRecord, ...]
    stimuli: Mapping[tuple[str, str], ShownStimulus]
    """By (digest, stimulus)."""
    yaml: Mapping[str, str]
    """The study text by digest."""
    other_plans: int
    """Sessions of this population and run under an earlier plan; they are not comparable and left out."""
    finished: Mapping[str, int]
    """How many people and how many robots have finished this run, under any plan; who withdrew is not counted."""
    lists: Mapping[int, tuple[Trial, ...]] = field(default_factory=dict)
    """Every planned list: the trials that are rated."""
    run: int = 1
    planned: Mapping[int, PlannedList] = field(default_factory=dict)
    """Every planned list: whose it is, and whether it makes up for another."""
    removed: RemovedVisits = field(default_factory=RemovedVisits)


def gather_facts(tables: Mapping[str, Rows], *, where: str, robots: bool = False, run: int = 1) -> Facts:
    """Return the facts of one run: of people where there are any, else of robots; previews never."""
    plans = {str(row["digest"]): str(row["plan_digest"]) for row in tables["studies"]}
    people = [row for row in tables["sessions"] if row["run"] == run and is_person(row["mode"])]
    machines = [row for row in tables["sessions"] if row["run"] == run and is_robot(row["mode"])]
    chosen = machines if robots or not people else people
    if not chosen:
        raise StoreError(_no_sessions(where, robots=robots, run=run, runs=runs_in(tables, robots=robots)))
    newest = max(chosen, key=lambda row: (row["at"], str(row["session"])))
    plan = plans[newest["digest"]]
    mine = sorted((row for row in chosen if plans[row["digest"]] == plan), key=_session_order)
    digests = {str(row["digest"]) for row in mine}
    planned = {row["list"]: row["trials"] for row in tables["lists"] if row["plan_digest"] == plan}
    read, lists = _planned(planned)
    return Facts(
        population="robots" if chosen is machines else "people",
        visits=_session_records(mine, tables, lists, read),
        stimuli=_stimuli(tables, [digest for digest in plans if plans[digest] == plan], digests),
        yaml={str(row["digest"]): str(row["yaml"]) for row in tables["studies"] if row["digest"] in digests},
        other_plans=len(chosen) - len(mine),
        finished={"people": _finished(people, tables), "robots": _finished(machines, tables)},
        lists=lists,
        run=run,
        planned=read,
        removed=removed_visits(tables, run) if chosen is people else RemovedVisits(),
    )


def _stimuli(
    tables: Mapping[str, Rows], of_plan: Sequence[str], digests: Collection[str]
) -> dict[tuple[str, str], ShownStimulus]:
    """Return what was shown under each study text; what was added later may be in lists of people who came before."""
    rows: dict[str, dict[str, ShownStimulus]] = {digest: {} for digest in of_plan}
    for row in tables["stimuli"]:
        if row["digest"] in rows:
            rows[row["digest"]][str(row["stimulus"])] = _shown_stimulus(row)
    every = {name: shown for some in rows.values() for name, shown in some.items()}
    return {(digest, name): shown for digest in digests for name, shown in (every | rows[digest]).items()}


def runs_in(tables: Mapping[str, Rows], *, robots: bool = False) -> tuple[int, ...]:
    """Return the runs that people have come to, or robots where no person has; with `robots`, those of robots."""
    people = {row["run"] for row in tables["sessions"] if is_person(row["mode"])}
    machines = {row["run"] for row in tables["sessions"] if is_robot(row["mode"])}
    return tuple(sorted(machines if robots or not people else people))


def has_people(tables: Mapping[str, Rows]) -> bool:
    """Return whether a person has come, in any run."""
    return any(is_person(row["mode"]) for row in tables["sessions"])


def _finished(sessions: Rows, tables: Mapping[str, Rows]) -> int:
    """Return how many participants of these sessions have completed one."""
    completed = {row["session"] for row in tables["ends"] if row["outcome"] == "completed"}
    kept = completed - {row["session"] for row in tables["erasures"]}
    return len({row["participant"] for row in sessions if row["session"] in kept})


def _planned(lists: Mapping[int, Any]) -> tuple[dict[int, PlannedList], dict[int, tuple[Trial, ...]]]:
    """Return each list with the training of its group, and its trials that are rated."""
    from beholder.planning.serialization import lists_from_json

    read = {one.number: one for one in lists_from_json(lists[number] for number in sorted(lists))}
    rated = {
        number: tuple([entry for entry in one.entries if isinstance(entry, Trial) and entry.purpose == "rate"])
        for number, one in read.items()
    }
    return read, rated


def _session_records(
    sessions: Rows,
    tables: Mapping[str, Rows],
    lists: Mapping[int, tuple[Trial, ...]],
    planned: Mapping[int, PlannedList],
) -> tuple[SessionRecord, ...]:
    acts = use_decisions(tables.get("ledger", ()))
    claims = {row["session"]: row["list"] for row in tables["claims"]}
    ends = {row["session"]: row for row in tables["ends"]}
    erased = {row["session"] for row in tables["erasures"]}
    given: dict[str, dict[str, AnswerRecord]] = defaultdict(dict)
    same: dict[str, Any] = {}
    for row in tables["answers"]:
        given[row["session"]][row["key"]] = _answer_record(row, same)
    posed: dict[str, dict[str, Mapping[str, Any] | None]] = defaultdict(dict)
    for row in tables.get("posed", ()):
        posed[row["session"]][row["key"]] = row.get("private")
    has_own = any(one.person for one in planned.values())
    spoken = {str(row["digest"]): AnswerLanguages(str(row["yaml"])) for row in tables["studies"]}
    visits = []
    for row in sessions:
        claimed = claims.get(row["session"])
        end = ends.get(row["session"], {})
        languages = spoken[str(row["digest"])]
        language = languages.of(given[row["session"]])
        visits.append(
            SessionRecord(
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
                trials=lists[claimed] if claimed is not None else (),
                answers=languages.in_first(given[row["session"]], language),
                lessons=planned[claimed].training if claimed is not None else (),
                posed=posed[row["session"]],
                device=row.get("device") or {},
                end_reason=str(end.get("reason") or ""),
                list=claimed,
                group=planned[claimed].group if claimed is not None else {},
                language=language,
                relations=planned[claimed].relations if has_own and claimed is not None else None,
                act=acts.get(str(row["session"])),
            )
        )
    return tuple(visits)


def _answer_record(row: Mapping[str, Any], same: dict[str, Any]) -> AnswerRecord:
    """Return a stored answer; of what many people answered, and of its key, one object is kept."""
    key, by, answer = intern(str(row["key"])), intern(str(row["input"])), row["answer"]
    written = repr(answer)
    if len(written) <= _SHORT:
        answer = same.setdefault(written, answer)
    return AnswerRecord(key, answer, row["playback"], row["shown_ms"], row["sent_ms"], by, row["at"])


_SHORT = 100
"""Characters of an answer that somebody else may well have given, too."""


def _shown_stimulus(row: Mapping[str, Any]) -> ShownStimulus:
    return ShownStimulus(
        str(row["content"]),
        str(row["condition"]),
        row["probe"].get("duration_ms"),
        dict(row["factors"]),
        str(row["role"]),
        str(row["medium"]),
        str(row["sha256"]),
        dict(row["probe"]),
    )


def _session_order(row: Mapping[str, Any]) -> tuple[datetime, str]:
    return row["at"], str(row["session"])


def _no_sessions(where: str, *, robots: bool, run: int, runs: Sequence[int]) -> Problem:
    if runs:
        held = join_names([str(run) for run in runs])
        return Problem(
            where,
            f"holds no {'robots' if robots else 'sessions'} of run {run} yet",
            f"run {held}" if len(runs) == 1 else f"runs {held}",
            f"Look at another run (`beholder clean --run {runs[-1]}`, `beholder compare study.yaml@{runs[-1]}`), or "
            "let people into this one with `beholder serve`.",
        )
    rehearse = "send robots with `beholder simulate --participants 20`"
    if robots:
        return Problem(where, "holds no robots yet", "", f"To rehearse, {rehearse}.")
    return Problem(
        where,
        "holds no sessions yet",
        "",
        f"Let people in with `beholder serve`, or {rehearse}. Previews are not kept.",
    )


# Answered trials, as the rules take them


_STILL = ("image", "text")


class ShownTrials:
    """What a plan's trials show, of each looked up once: a list is planned once, and stands in many sessions."""

    def __init__(self, stimuli: Mapping[tuple[str, str], ShownStimulus]) -> None:
        self.stimuli = stimuli
        self._known: dict[tuple[str, int], tuple[Trial, Mapping[str, int | None], frozenset[str]]] = {}

    def of(self, digest: str, trial: Trial) -> tuple[Mapping[str, int | None], frozenset[str]]:
        """Return the length of the stimulus in each slot, and the slots that show an image or a text."""
        known = self._known.get((digest, id(trial)))
        if known is None:
            shown = {slot.id: self.stimuli[digest, slot.stimulus] for slot in trial.slots}
            stills = frozenset([slot for slot, one in shown.items() if one.medium in _STILL]) or NO_SLOTS
            lengths = {slot: one.length_ms for slot, one in shown.items()}
            # With the trial, which keeps its number from being given to another.
            known = self._known[digest, id(trial)] = (trial, lengths, stills)
        return known[1:]


def answered_trials(visit: SessionRecord, method: Method, shown: ShownTrials) -> tuple[AnsweredTrial, ...]:
    """Return the trials in the order of the list, each as it was answered last."""
    trials = []
    for position, given in trial_answers(visit):
        trial = visit.trials[position - 1]
        lengths_ms, stills = shown.of(visit.digest, trial)
        trials.append(
            AnsweredTrial(
                given.key, trial, given.answer, method.judgements(trial, given.answer), given.playback, lengths_ms,
                given.shown_ms, given.sent_ms, stills,
            )
        )  # fmt: skip
    return tuple(trials)


def trial_answers(visit: SessionRecord) -> tuple[tuple[int, AnswerRecord], ...]:
    """Return (position, answer) of every trial that was answered, in the order of the plan; the last answer counts."""
    return visit.by_position


def operated_pages(visit: SessionRecord) -> tuple[OperatedPage, ...]:
    """Return how pages were operated, in the order of time, where a rule of the study looks at that."""
    pages = []
    for given in sorted(visit.answers.values(), key=lambda given: given.at):
        page = given.playback.get("page") or {}
        presses, driver = page.get("presses", ()), page.get("driver", ())
        if presses or driver:
            ends = [end for slot in given.playback.values() if (end := slot.get("ended_ms")) is not None]
            pages.append(OperatedPage(given.key, presses, driver, ends))
    return tuple(pages)
