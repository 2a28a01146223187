"""One session judged: its ratings, its verdicts, and the two decisions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from beholder.checks.verdict import Click, Evidence, Verdict, Viewing, Watch
from beholder.checks.watched import judge_viewing
from beholder.clean.decide import Decision, costs_session, decide, judge
from beholder.clean.facts import Given, Shown, Visit
from beholder.clean.ratings import Rating, rating_rows
from beholder.methods.contract import Method
from beholder.study.model import Study


@dataclass(frozen=True)
class Judged:
    """A session with everything that was found out about it."""

    visit: Visit
    verdicts: tuple[Verdict, ...]
    decision: Decision
    ratings: tuple[Rating, ...]


def judge_visit(
    study: Study, method: Method, visit: Visit, stimuli: Mapping[tuple[str, str], Shown], watch: Watch
) -> Judged:
    """Return a session judged from its facts alone. Who withdrew leaves no ratings."""
    outcome = "withdrawn" if visit.is_erased else visit.outcome
    if outcome == "withdrawn":
        verdicts = judge(Evidence(outcome, watch))
        return Judged(replace(visit, outcome=outcome, answers={}), verdicts, decide(outcome, verdicts), ())
    ratings: list[Rating] = []
    viewings: list[Viewing] = []
    for position, given in _trial_answers(visit):
        judgements = method.judgements(visit.trials[position - 1], given.answer)
        rows = rating_rows(study, visit, position, given, judgements, stimuli)
        ratings.extend(rows)
        missing = {row.slot: row.missing for row in rows}
        viewings.extend(_viewing(visit, given, slot, why, stimuli, position) for slot, why in missing.items())
    clicks = tuple(
        Click(row.question, row.raw_value, row.scale_min, row.scale_max) for row in ratings if row.raw_value is not None
    )
    verdicts = judge(Evidence(outcome, watch, tuple(viewings), clicks))
    decision = decide(outcome, verdicts)
    unwatched = {(view.trial, view.slot) for view in viewings if judge_viewing(view, watch) == "fail"}
    return Judged(visit, verdicts, decision, tuple(_decided(row, decision, unwatched) for row in ratings))


def _trial_answers(visit: Visit) -> list[tuple[int, Given]]:
    """Return (position, answer) of every trial that was answered, in the order of the plan."""
    keys = ((position, f"trial:{position}") for position in range(1, len(visit.trials) + 1))
    return [(position, visit.answers[key]) for position, key in keys if key in visit.answers]


def _viewing(
    visit: Visit,
    given: Given,
    slot: str,
    missing: str | None,
    stimuli: Mapping[tuple[str, str], Shown],
    position: int,
) -> Viewing:
    played = given.playback.get(slot) or {}
    stimulus = next(s.stimulus for s in visit.trials[position - 1].slots if s.id == slot)
    return Viewing(
        trial=given.key,
        slot=slot,
        length_ms=stimuli[visit.digest, stimulus].length_ms,
        plays=played.get("plays"),
        coverage=played.get("coverage"),
        furthest_ms=played.get("furthest_ms"),
        frames=played.get("frames"),
        missing=missing,
    )


def _decided(row: Rating, decision: Decision, unwatched: set[tuple[str, str]]) -> Rating:
    """Return the rating with `use` and every reason why it is not used."""
    is_unwatched = (f"trial:{row.position}", row.slot) in unwatched
    reasons = [reason for reason in decision.reasons if costs_session(reason)]
    if is_unwatched:
        reasons.append("watched:not_watched")
    return replace(row, use=decision.use and not is_unwatched, reasons="; ".join(reasons))
