"""One session judged: its ratings, its verdicts, and the two decisions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from beholder.checks.steps import AnyStep
from beholder.checks.verdict import Click, Evidence, Verdict, Viewing, Watch
from beholder.checks.watched import judge_viewing
from beholder.clean.decide import Decision, decide, judge
from beholder.clean.facts import Given, Shown, Visit
from beholder.clean.lessons import Lesson, judge_lessons, training_verdict
from beholder.clean.qualification import Qualified, qualify, verdict_of
from beholder.clean.ratings import CHECK_ROLES, Rating, rating_rows
from beholder.methods.contract import Method
from beholder.study.model import Study

_COMPARISONS = frozenset({"diff", "choice", "correct"})


@dataclass(frozen=True)
class Judged:
    """A session with everything that was found out about it."""

    visit: Visit
    verdicts: tuple[Verdict, ...]
    decision: Decision
    ratings: tuple[Rating, ...]
    qualified: Qualified
    lessons: tuple[Lesson, ...] = ()


def judge_visit(
    study: Study,
    method: Method,
    visit: Visit,
    stimuli: Mapping[tuple[str, str], Shown],
    watch: Watch,
    checks: Sequence[AnyStep] = (),
    earlier: Sequence[Qualified] = (),
) -> Judged:
    """Return a session judged from its facts alone. Who withdrew leaves no ratings.

    `earlier` is how the same person did at the checks in other sessions.
    """
    outcome = "withdrawn" if visit.is_erased else visit.outcome
    if outcome == "withdrawn":
        verdicts = judge(Evidence(outcome, watch))
        gone = replace(visit, outcome=outcome, answers={})
        return Judged(gone, verdicts, decide(outcome, verdicts), (), Qualified(visit.session))
    ratings: list[Rating] = []
    viewings: list[Viewing] = []
    unwatched: dict[int, frozenset[str]] = {}
    for position, given in _trial_answers(visit):
        judgements = method.judgements(visit.trials[position - 1], given.answer)
        rows = rating_rows(study, visit, position, given, judgements, stimuli)
        ratings.extend(rows)
        found = _viewings(visit, position, given, rows, stimuli)
        viewings.extend(found)
        unwatched[position] = frozenset(view.slot for view in found if judge_viewing(view, watch) == "fail")
    clicks = tuple(
        Click(row.question, row.raw_value, row.scale_min, row.scale_max, row.kind)
        for row in ratings
        if row.raw_value is not None
    )
    verdicts = judge(Evidence(outcome, watch, tuple(viewings), clicks))
    qualified = qualify(checks, visit, earlier)
    lessons = judge_lessons(method, visit)
    trained = training_verdict(visit, lessons)
    verdicts = verdicts if trained is None else (*verdicts, trained)
    decision = decide(outcome, verdicts, qualified.settled)
    verdicts = (*verdicts, *(verdict_of(one) for one in qualified.settled))
    decided = (_decided(row, decision, _is_unwatched(row, visit, unwatched[row.position])) for row in ratings)
    return Judged(visit, verdicts, decision, tuple(decided), qualified, lessons)


def _trial_answers(visit: Visit) -> list[tuple[int, Given]]:
    """Return (position, answer) of every trial that was answered, in the order of the plan."""
    keys = ((position, f"trial:{position}") for position in range(1, len(visit.trials) + 1))
    return [(position, visit.answers[key]) for position, key in keys if key in visit.answers]


def _viewings(
    visit: Visit,
    position: int,
    given: Given,
    rows: Sequence[Rating],
    stimuli: Mapping[tuple[str, str], Shown],
) -> list[Viewing]:
    """Return how every slot of a rated trial played, also those that are only there to compare with."""
    missing = given.answer.get("missing", {}) if isinstance(given.answer, Mapping) else {}
    # Where one of two will not play nothing is rated, and the other need not have been watched.
    is_lost = bool(missing) and all(row.value is None for row in rows)
    viewings = []
    for slot in visit.trials[position - 1].slots if rows else ():
        if slot.role in CHECK_ROLES:
            continue
        played = given.playback.get(slot.id) or {}
        viewings.append(
            Viewing(
                trial=given.key,
                slot=slot.id,
                length_ms=stimuli[visit.digest, slot.stimulus].length_ms,
                plays=played.get("plays"),
                coverage=played.get("coverage"),
                furthest_ms=played.get("furthest_ms"),
                frames=played.get("frames"),
                missing=missing.get(slot.id) or ("media_error" if is_lost else None),
            )
        )
    return viewings


def _is_unwatched(row: Rating, visit: Visit, unwatched: frozenset[str]) -> bool:
    """Return whether a rating rests on a slot that was not watched: its own, one it was compared with, a reference."""
    if not unwatched or row.kind in _COMPARISONS:
        return bool(unwatched)
    beside = {slot.id for slot in visit.trials[row.position - 1].slots if not slot.rated}
    return row.slot in unwatched or not beside.isdisjoint(unwatched)


def _decided(row: Rating, decision: Decision, is_unwatched: bool) -> Rating:
    """Return the rating with `use` and every reason why it is not used."""
    reasons = list(decision.costly)
    if is_unwatched:
        reasons.append("watched:not_watched")
    return replace(row, use=decision.use and not is_unwatched, reasons="; ".join(reasons))
