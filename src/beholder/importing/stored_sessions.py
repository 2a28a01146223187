"""Imported sessions as facts of a store: what clean, analyse, report and export read.

Every session gets the list of what its source says was shown, as one more planned list: pages are composed by the
method itself, so that an imported answer is read, judged and signed by the same code as one of our own. What a source
does not tell stays unknown, and is named with the session. Origins stand in the playback evidence of each answer, so
that an erasure takes them with the answer.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from beholder.aio import block_on
from beholder.cleaning.facts import IMPORTED, ORIGIN
from beholder.errors import Refused
from beholder.importing.contract import (
    WHOLE,
    ForeignVerdict,
    ImportedSession,
    ImportedStudy,
    ImportedTrial,
    Origin,
    QuestionnaireAnswers,
)
from beholder.importing.provenance import Provenance
from beholder.methods import find
from beholder.methods.contract import Method, Slot, Trial, Unit
from beholder.planning.given_plan import GivenPlanCheck, GivenTrial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import later_lists_to_json
from beholder.planning.slots import arrange
from beholder.server.tokens import pseudonym
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import Answer, End, Fact, PlatformIdentity, PosedAttempt, Session, StoredVerdict
from beholder.store.full_copy import fill_store
from beholder.store.open import open_store
from beholder.store.rules import record_of
from beholder.study.model import Study
from beholder.types import MESSAGE_ROLES, Json

NEVER = datetime(1970, 1, 1, tzinfo=UTC)
"""Stands where a time has to be and none is known; what reads facts leaves it out, by `unknown` of the session."""
_DRAWS = 64
"""How often a page is composed anew until chance has decided as it did in the source."""
UNDRAWN = "the method never draws what the source says was drawn"


class StoredCounts(NamedTuple):
    """How much became facts."""

    people: int
    sessions: int
    answers: int


class Pseudonyms:
    """The made-up names of one import: the same in all of its studies, and the same for the same source."""

    def __init__(self, fingerprint: str) -> None:
        self._fingerprint = fingerprint
        self._people: dict[tuple[str, str], str] = {}
        self._sessions = 0

    def __len__(self) -> int:
        """How many people have one."""
        return len(self._people)

    def person(self, platform: str, person: str) -> str:
        """Return the pseudonym of a person, by the order in which people come in the source."""
        return self._people.setdefault((platform, person), self.name("person", len(self._people) + 1))

    def session(self) -> str:
        """Return the name of a new session."""
        self._sessions += 1
        return self.name("session", self._sessions)

    def name(self, kind: str, number: int) -> str:
        """Return a name that says nothing."""
        return hashlib.sha256(f"{self._fingerprint}:{kind}:{number}".encode()).hexdigest()[:20]


def store_sessions(
    folder: Path, study: Study, catalogue: Catalogue, imported: ImportedStudy, names: Pseudonyms, *, keep_ids: bool,
    provenance: Provenance,
) -> StoredCounts:  # fmt: skip
    """Write the sessions of a study as facts to its store; nothing without any."""
    pages = _PageComposer(study, catalogue, find(study.method))
    store, secret = folder / "store", b""
    people: dict[str, tuple[str, str]] = {}
    visits: Counter[str] = Counter()
    planned: list[Json] = []
    sessions: list[Session] = []
    claims: list[tuple[str, int, datetime]] = []
    facts: list[Fact] = []
    digest = record_of(study, catalogue, "", (), NEVER).digest
    for number, one in enumerate(imported.sessions, 1):
        participant = names.person(one.platform, one.person)
        if keep_ids and one.platform:
            secret = secret or block_on(_secret(store))
            participant = pseudonym(secret, one.platform, one.person)
        people[participant] = one.platform, one.person
        visits[participant] += 1
        began = one.at or NEVER + timedelta(seconds=number)
        device = {**one.device, IMPORTED: {"unknown": sorted(one.unknown), "uncertain": one.uncertain}}
        session = names.session()
        sessions.append(Session(session, participant, digest, 1, IMPORTED, visits[participant], device, began))
        is_ordered = not one.unknown & {"order", "slots"}
        trials = [pages.compose(trial, place, is_ordered=is_ordered) for place, trial in enumerate(one.trials, 1)]
        planned += later_lists_to_json([PlannedList(number, tuple(trials))])
        claims.append((session, number, began))
        facts += _facts(session, one, trials, pages, began, provenance)
    if not sessions:
        return StoredCounts(0, 0, 0)
    plan = names.name(f"plan of {study.name}", len(planned))
    record = record_of(study, catalogue, plan, planned, min(one.at for one in sessions))
    fill_store(store, record, sessions, claims, facts)
    if keep_ids:
        block_on(_identify(store, people))
    answers = sum(isinstance(fact, Answer) for fact in facts)
    return StoredCounts(len(people), len(sessions), answers)


async def _secret(folder: Path) -> bytes:
    async with open_store(folder) as store:
        return store.secret


async def _identify(folder: Path, people: Mapping[str, tuple[str, str]]) -> None:
    async with open_store(folder) as store:
        for participant, (platform, person) in people.items():
            if platform:
                await store.identify(PlatformIdentity(participant, platform, person))


# Facts of one session


def _facts(
    session: str, one: ImportedSession, trials: Sequence[Trial], pages: _PageComposer, began: datetime,
    provenance: Provenance,
) -> Iterator[Fact]:  # fmt: skip
    at = began
    if one.before is not None:
        yield _questionnaire(session, "questions:before", one.before, at)
    for attempt in one.attempts:
        yield PosedAttempt(session, attempt.key, "", {}, dict(attempt.private) or None, at)
        yield _page_answer(session, attempt.key, attempt.answer, attempt.origin, at)
    for place, (given, trial) in enumerate(zip(one.trials, trials, strict=True), 1):
        at = given.at or at + timedelta(milliseconds=given.ms or 0)
        answer, origin = pages.answer(trial, given)
        for key, why in origin.uncertain.items():
            provenance.doubt(why, len(given.values) + len(given.choices) if key == WHOLE else 1)
        if one.uncertain:
            provenance.doubt(one.uncertain, len(given.values) + len(given.choices))
        slots = _slots_by_stimulus(trial)
        played = {slots[name]: dict(facts) for name, facts in given.playback.items() if name in slots}
        shown, sent = (0.0, given.ms) if given.ms is not None else (0.0, -1.0)
        evidence: dict[str, Json] = {**played, ORIGIN: _origin_json(origin, trial, slots)}
        yield Answer(session, f"trial:{place}", answer, evidence, shown, sent, "", IMPORTED, at)
    if one.after is not None:
        yield _questionnaire(session, "questions:after", one.after, at)
    yield from (_foreign(session, verdict, at) for verdict in one.verdicts)
    if one.outcome is not None:
        yield End(session, one.outcome, one.reason, "", "", one.ended_at or at)


def _questionnaire(session: str, key: str, given: QuestionnaireAnswers, at: datetime) -> Answer:
    return _page_answer(session, key, {"answers": dict(given.answers)}, given.origin, at)


def _page_answer(session: str, key: str, answer: Mapping[str, Json], origin: Origin, at: datetime) -> Answer:
    evidence: dict[str, Json] = {ORIGIN: {"file": origin.file, "lines": {"": min(origin.lines.values(), default=0)}}}
    return Answer(session, key, dict(answer), evidence, 0.0, -1.0, "", IMPORTED, at)


def _foreign(session: str, verdict: ForeignVerdict, at: datetime) -> StoredVerdict:
    check = f"{IMPORTED}:{verdict.check}"
    return StoredVerdict(session, IMPORTED, check, verdict.verdict, verdict.reason, dict(verdict.evidence), at)


def _origin_json(origin: Origin, trial: Trial, slots: Mapping[str, str]) -> dict[str, Json]:
    """Return where an answer comes from, its ratings by question and slot as on the wire, `q1.s2`."""
    asked = {one.question: one.id for one in trial.asked}

    def by_place(values: Mapping[tuple[str, str], Any]) -> dict[str, Json]:
        return {
            ".".join(part for part in (asked.get(question, question), slots.get(stimulus, stimulus)) if part): value
            for (question, stimulus), value in values.items()
        }

    parts = {"lines": by_place(origin.lines), "raw": by_place(origin.raw), "uncertain": by_place(origin.uncertain)}
    return {"file": origin.file, **{name: values for name, values in parts.items() if values}}


# Pages


def _slots_by_stimulus(trial: Trial) -> dict[str, str]:
    """Return the slot of each stimulus, that in which it is rated where it is there twice."""
    return {slot.stimulus: slot.id for slot in sorted(trial.slots, key=lambda slot: slot.rated)}


class _PageComposer:
    """Composes imported pages by the method of the study, each page that is the same once."""

    def __init__(self, study: Study, catalogue: Catalogue, method: Method) -> None:
        self._study, self._catalogue, self._method = study, catalogue, method
        self._units = GivenPlanCheck(method.units(study, catalogue), catalogue, study.method)
        self._composed: dict[Any, Trial] = {}

    def compose(self, given: ImportedTrial, place: int, *, is_ordered: bool) -> Trial:
        """Return the page that was answered, its stimuli in shown order where that is known."""
        key = (
            given.content, given.stimuli, given.questions, tuple(given.roles.items()), tuple(given.targets.items()),
            json.dumps(given.draws, sort_keys=True), place, is_ordered,
        )  # fmt: skip
        if key not in self._composed:
            trial = self._compose(given, place)
            self._composed[key] = _in_shown_order(trial, given.stimuli) if is_ordered else trial
        return self._composed[key]

    def _compose(self, given: ImportedTrial, place: int) -> Trial:
        page = GivenTrial("", 1, place, given.stimuli, given.questions)
        try:
            unit = self._units.unit(page)
        except KeyError:  # a pair that the study would not plan, or a content of checks alone
            unit = Unit(given.content, given.stimuli, given.questions)
        # Stimuli among the others that ask for an answer stand in no unit: in our plans they replace one.
        asking = [name for name in given.stimuli if self._catalogue.by_id[name].role in MESSAGE_ROLES]
        unit = replace_stimuli(unit, [name for name in asking if name not in unit.stimuli])
        for seed in range(_DRAWS):
            rng = np.random.default_rng([place, seed])
            trial = self._method.compose(self._study, unit, self._catalogue, rng)
            if all(trial.draws.get(name) == value for name, value in given.draws.items()):
                break
        else:
            raise ValueError(f"{UNDRAWN}: {dict(given.draws)}")
        slots = tuple(_with_role(slot, given) for slot in trial.slots)
        names, asked = _slots_by_stimulus(trial), {one.question: one.id for one in trial.asked}
        targets = {
            f"{asked[question]}.{names[stimulus]}": target for (question, stimulus), target in given.targets.items()
        }
        return replace(trial, id=f"trial:{place}", slots=slots, targets=targets)

    def answer(self, trial: Trial, given: ImportedTrial) -> tuple[Json, Origin]:
        """Return the answer as it would have been sent, and its origin with what our method would have refused."""
        names = _slots_by_stimulus(trial)
        answer = _choices(trial, given, names) if given.choices else _scores(trial, given, names)
        try:
            return self._method.read(trial, answer), given.origin
        except Refused as refusal:
            if answer.get("missing"):
                return answer, given.origin
            doubts = {**given.origin.uncertain}
            doubts.setdefault(WHOLE, f"would be refused here: {refusal.what}")
            return answer, given.origin._replace(uncertain=doubts)


def replace_stimuli(unit: Unit, more: Sequence[str]) -> Unit:
    """Return a unit with further stimuli."""
    return Unit(unit.content, (*unit.stimuli, *more), unit.asks) if more else unit


def _in_shown_order(trial: Trial, stimuli: Sequence[str]) -> Trial:
    """Return a page with its free slots in the order in which they were shown; nobody knows their colours."""
    free = [slot.stimulus for slot in trial.slots if slot.label is None]
    order = [free.index(stimulus) for stimulus in stimuli if stimulus in free]
    if len(order) < 2 or len(order) != len(free):
        return trial
    shown = arrange(trial, trial.id, order, range(len(free)))
    named = {slot.stimulus: slot.id for slot in shown.slots if slot.rated}
    moved = {f"{where.partition('.')[0]}.{_moved(trial, where, named)}": one for where, one in trial.targets.items()}
    return replace(shown, slots=tuple(slot._replace(colour=None) for slot in shown.slots), targets=moved)


def _moved(trial: Trial, where: str, named: Mapping[str, str]) -> str:
    return named[trial.slot_by_id[where.partition(".")[2]].stimulus]


def _with_role(slot: Slot, given: ImportedTrial) -> Slot:
    role = given.roles.get(slot.stimulus)
    return slot if role is None or not slot.rated else slot._replace(role=role)


def _scores(trial: Trial, given: ImportedTrial, names: Mapping[str, str]) -> dict[str, Any]:
    """Return scores and ticks by question and slot. A rated slot without one is missing: the source skipped it."""
    answer: dict[str, Any] = {}
    missing: dict[str, str] = {}
    rated = {slot.stimulus for slot in trial.slots if slot.rated}
    for asked in trial.asked:
        part = answer.setdefault("ticks" if asked.ticks else "scores", {}).setdefault(asked.id, {})
        for stimulus in sorted(rated):
            value = given.values.get((asked.question, stimulus))
            if value is None:
                missing[names[stimulus]] = "skipped"
            else:
                part[names[stimulus]] = value
    return {**answer, **({"missing": missing} if missing else {})}


_SLOTS = ("better", "same_as", "best", "worst")


def _choices(trial: Trial, given: ImportedTrial, names: Mapping[str, str]) -> dict[str, Any]:
    """Return choices by question, with slots in place of stimuli; words that were picked stay as they are."""
    found: dict[str, Any] = {}
    for asked in trial.asked:
        choice: dict[str, Any] = dict(given.choices.get(asked.question, {}))
        if not choice:
            continue
        for key in _SLOTS:
            if key in choice:
                choice[key] = names.get(choice[key], choice[key])
        if "order" in choice:
            choice["order"] = [names[one] for one in choice["order"]]
        found[asked.id] = choice
    part = "picks" if any("words" in one for one in found.values()) else "choices"
    missing = {} if found else {"missing": dict.fromkeys(names.values(), "skipped")}
    return {part: found, **missing}


def fingerprint_of(files: Iterable[tuple[str, str]]) -> str:
    """Return the hash of a source, from the names and hashes of its files."""
    return hashlib.sha256("\n".join(f"{name}\t{sha}" for name, sha in sorted(files)).encode()).hexdigest()
