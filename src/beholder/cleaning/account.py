"""The account: how many there were, how many are used, and what each rule cost."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from beholder.checks.answer_patterns import CompleteRule
from beholder.checks.contract import NOT_MET as CONTRACT_NOT_MET
from beholder.checks.contract import RuleResult, SessionRule, Verdict
from beholder.checks.playback import WatchedRule
from beholder.checks.registry import rule_sentence
from beholder.cleaning import ExclusionCount
from beholder.cleaning.decisions import known_reason, reason_words
from beholder.cleaning.facts import Facts
from beholder.cleaning.qualification import NOT_MET, UNDER_WAY
from beholder.cleaning.screening import FEW_USED, MOSTLY_UNUSED, RATER_TITLE, rater_sentence
from beholder.cleaning.screening import NAME as RATER
from beholder.cleaning.sessions import JudgedSession
from beholder.study.cleaning import Rater
from beholder.study.model import Study

_FIRST = (CompleteRule.name, WatchedRule.name)
"""Rules that every study has."""
_LAST = ("outliers",)
"""Rules over votes, which have no verdict on a session."""
_NOT_FINISHED = "complete:not_finished"
"""Why sessions without an end are not used, and visits that were removed."""


def counts(facts: Facts, judged: Sequence[JudgedSession]) -> dict[str, int]:
    """Return the numbers of participants, sessions and ratings, in all and in use."""
    used = [one for one in judged if one.decision.use]
    ratings = [rating for one in judged for rating in one.ratings if rating.is_counted]
    return {
        "participants": len({one.visit.participant for one in judged}) + facts.removed.participants,
        "sessions": len(judged) + facts.removed.sessions,
        "completed": sum(one.visit.outcome == "completed" for one in judged),
        "completed_participants": len({one.visit.participant for one in judged if one.visit.outcome == "completed"}),
        "used_participants": len({one.visit.participant for one in used}),
        "used_sessions": len(used),
        "ratings": len(ratings),
        "used_ratings": sum(rating.use for rating in ratings),
        "missing_ratings": sum(rating.value is None for rating in ratings),
        "other_plans": facts.other_plans,
        "accepted_sessions": sum(one.decision.accept is True for one in judged),
        "rejected_sessions": sum(one.decision.accept is False for one in judged),
        "look_sessions": sum(one.decision.accept is None for one in judged),
        "few_used_raters": _raters(judged, FEW_USED),
        "mostly_unused_raters": _raters(judged, MOSTLY_UNUSED),
        "taken_in_sessions": sum(one.decision.use and one.visit.act is not None for one in judged),
    }


def groups(facts: Facts, judged: Sequence[JudgedSession]) -> list[dict[str, Any]]:
    """Return each group of participants with how many of it came, finished and are used; none without groups.

    Who left before a list was theirs is in no group.
    """
    keys = {planned.group_key: planned.group for planned in facts.planned.values() if planned.group}
    rows = []
    for key, levels in keys.items():
        theirs = [one for one in judged if tuple(sorted(one.visit.group.items())) == key]
        finished = [one for one in theirs if one.visit.outcome == "completed"]
        used = [one for one in theirs if one.decision.use]
        people = [len({one.visit.participant for one in some}) for some in (theirs, finished, used)]
        rows.append({"levels": dict(levels), **dict(zip(("began", "finished", "used"), people, strict=True))})
    return rows


def exclusion_counts(facts: Facts, judged: Sequence[JudgedSession]) -> tuple[ExclusionCount, ...]:
    """Return what each rule cost, in the order of the checks."""
    sessions: Counter[str] = Counter()
    only: Counter[str] = Counter()
    kept: Counter[str] = Counter()
    ratings: Counter[str] = Counter()
    for one in judged:
        of_ratings = [rating.reasons.split("; ") for rating in one.ratings if rating.reasons and rating.is_counted]
        reasons = dict.fromkeys((*one.decision.reasons, *(reason for some in of_ratings for reason in some)))
        sessions.update(reasons.keys())
        # What is only noted takes nobody out of use, and so does not share in it.
        costly = [reason for reason in reasons if reason in one.decision.costly] or list(reasons)
        if len(costly) == 1:
            only.update(costly)
        if one.decision.use:
            kept.update(reasons.keys())
        for some in of_ratings:
            ratings.update(some)
    costs = {reason for one in judged for reason in one.decision.costly}
    if facts.removed.sessions:
        sessions[_NOT_FINISHED] += facts.removed.sessions
        only[_NOT_FINISHED] += facts.removed.sessions
        costs.add(_NOT_FINISHED)
    order = [*_names(judged), *_LAST]
    reasons_in_order = sorted(sessions, key=lambda reason: (order.index(reason.partition(":")[0]), reason))
    return tuple(
        ExclusionCount(
            reason.partition(":")[0],
            reason.partition(":")[2],
            reason_words(reason),
            sessions[reason],
            only[reason],
            kept[reason],
            ratings[reason],
            reason in costs,
        )
        for reason in reasons_in_order
    )


def combined_reasons(judged: Sequence[JudgedSession]) -> list[dict[str, Any]]:
    """Return which reasons cost sessions their use together, the most frequent first."""
    combinations = Counter(one.decision.costly for one in judged if len(one.decision.costly) > 1)
    return [
        {"reasons": list(reasons), "words": [reason_words(reason) for reason in reasons], "sessions": sessions}
        for reasons, sessions in sorted(combinations.items(), key=lambda item: (-item[1], item[0]))
    ]


def _raters(judged: Sequence[JudgedSession], reason: str) -> int:
    return len({one.visit.participant for one in judged if reason in one.decision.reasons})


def _names(judged: Sequence[JudgedSession]) -> list[str]:
    """Return the names of all rules and checks, in the order in which they are reported."""
    asked = (verdict.check for one in judged for verdict in one.verdicts)
    return list(dict.fromkeys((*_FIRST, *asked)))


def verdict_counts(judged: Sequence[JudgedSession]) -> dict[str, dict[str, int]]:
    """Return for each check how often it passed, failed and was unknown, among those who met it."""
    table = {name: {"pass": 0, "fail": 0, "unknown": 0} for name in _names(judged)}
    for one in judged:
        for verdict in one.verdicts:
            table[verdict.check][verdict.verdict] += verdict.reason != NOT_MET
    return table


# Rules: how the sessions with an answer did by each, and what that excluded


def rule_counts(
    rules: Sequence[SessionRule], judged: Sequence[JudgedSession], raters: Rater | None = None
) -> list[dict[str, Any]]:
    """Return a row for each rule of the study; sessions without a single answer tell nothing."""
    tally = _rule_tally([one for one in judged if one.evidence.trials])
    rows = [_row(rule, tally) for rule in rules]
    if raters is not None:
        rows.append(_tally(RATER, RATER_TITLE, rater_sentence(raters), "flag", tally))
    return rows


class _RuleTally(NamedTuple):
    """What all rules say of sessions, each session looked at once."""

    results: Mapping[str, Sequence[RuleResult]]
    """By the name of the rule."""
    verdicts: Mapping[str, Sequence[Verdict]]
    """By the name of the rule or check."""
    costly: Sequence[tuple[str, ...]]
    """Why sessions are not used: of those that are not."""
    reasons: Sequence[str]
    """Why ratings are not used, of each that counts."""


def _rule_tally(judged: Sequence[JudgedSession]) -> _RuleTally:
    results: dict[str, list[RuleResult]] = defaultdict(list)
    verdicts: dict[str, list[Verdict]] = defaultdict(list)
    for one in judged:
        for look in one.looked:
            results[look.verdict.check].append(look)
        for verdict in one.verdicts:
            verdicts[verdict.check].append(verdict)
    costly = [one.decision.costly for one in judged if one.decision.costly]
    lost = [row.reasons for one in judged for row in one.ratings if row.reasons and row.is_counted]
    return _RuleTally(results, verdicts, costly, lost)


def _row(rule: SessionRule, tally: _RuleTally) -> dict[str, Any]:
    row = _tally(rule.name, rule.title, rule_sentence(rule), rule.options.action, tally)
    return row | rule.account(tally.results.get(rule.name, []))


def _tally(name: str, title: str, words: str, action: str, tally: _RuleTally) -> dict[str, Any]:
    """Return how the sessions did by a rule, and what that cost."""
    verdicts = tally.verdicts.get(name, ())
    verdicts_met = [verdict.verdict for verdict in verdicts if verdict.reason != CONTRACT_NOT_MET]
    mine = f"{name}:"
    return {
        "check": name,
        "title": title,
        "words": words,
        "action": action,
        "met": len(verdicts_met),
        "passed": verdicts_met.count("pass"),
        "failed": verdicts_met.count("fail"),
        "unknown": verdicts_met.count("unknown"),
        "alone": sum(all(reason.startswith(mine) for reason in costly) for costly in tally.costly),
        "ratings": sum(_is_lost(reasons, mine) for reasons in tally.reasons),
    }


def _is_lost(reasons: str, mine: str) -> bool:
    return any(reason.startswith(mine) for reason in reasons.split("; "))


# The flow of participants, as CONSORT reports it


_TURNED_AWAY = ("screened_out", "wrong_device")
_ASKED_BEFORE = "questions:before"
_LEFT: Mapping[str, str] = {
    "agreed": "Left at the first page",
    "qualified": "Left during the checks",
    "rated": "Left before the first rating",
}
"""Who has no end left, or is still at it. By the step that was not reached; else before the end."""
_LEFT_AT_ONCE = _NOT_FINISHED, _LEFT["agreed"]


def flow(study: Study, facts: Facts, judged: Sequence[JudgedSession]) -> list[dict[str, Any]]:
    """Return the steps in order, each with the people and sessions that reached it and those that went no further.

    A person came as far as the furthest of their sessions, and each counts under one reason, the first. So what a step
    has lost and what the next one has are together what it had. Visits that were removed left at the first page.
    """
    removed = facts.removed
    steps = _steps(study, judged)
    names = ["came", *steps]
    reached = [max((place for place, name in enumerate(steps, 1) if steps[name](one)), default=0) for one in judged]
    reasons = [
        _reason(one, names[far + 1]) if far < len(steps) else ("", "") for one, far in zip(judged, reached, strict=True)
    ]
    people: dict[str, tuple[int, tuple[str, str]]] = {}
    for one, far, reason in zip(judged, reached, reasons, strict=True):
        before = people.get(one.visit.participant)
        if before is None or far >= before[0]:
            people[one.visit.participant] = far, reason
    rows = []
    for place, name in enumerate(names):
        of_sessions = Counter(reason for far, reason in zip(reached, reasons, strict=True) if far == place < len(steps))
        of_people = Counter(reason for far, reason in people.values() if far == place < len(steps))
        if place == 0 and removed.sessions:
            of_sessions[_LEFT_AT_ONCE] += removed.sessions
            of_people[_LEFT_AT_ONCE] += removed.participants
        rows.append(
            {
                "step": name,
                "people": sum(far >= place for far, _ in people.values()) + (removed.participants if not place else 0),
                "sessions": sum(far >= place for far in reached) + (removed.sessions if not place else 0),
                "lost": [
                    {"reason": why[0], "words": why[1], "people": of_people[why], "sessions": n}
                    for why, n in sorted(of_sessions.items(), key=lambda item: (-of_people[item[0]], -item[1], item[0]))
                ],
            }
        )
    return rows


def _steps(study: Study, judged: Sequence[JudgedSession]) -> dict[str, Callable[[JudgedSession], bool]]:
    """Return what it takes to reach each step; nobody has to qualify where nothing turns anybody away."""
    gates = any(one.qualified.settled or one.visit.outcome in _TURNED_AWAY for one in judged)
    gates = gates or any(ask.correct for ask in study.before)
    steps: dict[str, Callable[[JudgedSession], bool]] = {"agreed": _has_agreed}
    if gates:
        steps["qualified"] = lambda one: _has_qualified(study, one)
    return steps | {
        "rated": lambda one: "trial:1" in one.visit.answers,
        "finished": lambda one: one.visit.outcome == "completed",
        "accepted": lambda one: one.visit.outcome == "completed" and one.decision.accept is True,
        "used": lambda one: one.decision.use,
    }


def _has_agreed(one: JudgedSession) -> bool:
    return "consent" in one.visit.answers and one.visit.outcome != "no_consent"


def _has_qualified(study: Study, one: JudgedSession) -> bool:
    """Return whether somebody came past everything that can turn people away, as far as they met it."""
    if one.visit.outcome in _TURNED_AWAY or not _has_agreed(one):
        return False
    is_open = any(settled.verdict.reason in (NOT_MET, UNDER_WAY) for settled in one.qualified.settled)
    # In a later session nobody is asked again.
    return not is_open and (not study.before or _ASKED_BEFORE in one.visit.answers or "trial:1" in one.visit.answers)


def _reason(one: JudgedSession, step: str) -> tuple[str, str]:
    """Return why a session did not reach a step, as `check:reason` and in words."""
    outcome, why = one.visit.outcome, one.visit.end_reason
    if step in ("accepted", "used"):
        reason = next(iter(one.decision.costly or one.decision.reasons), "")
        words = reason_words(reason) if reason else ""
        if step == "used":
            return reason, words
        decision = "Not to be paid" if one.decision.accept is False else "For a person to look at"
        return reason, f"{decision}: {words}" if words else decision
    if outcome is None:
        return _NOT_FINISHED, _LEFT.get(step, "Left before the end")
    if outcome in _TURNED_AWAY and why.startswith(f"{_ASKED_BEFORE}."):
        return why, f"Questions before: {why.partition('.')[2]}"
    if outcome in (*_TURNED_AWAY, "failed_checks") and why:
        named = known_reason(why)
        if named:
            return why, named
    return f"complete:{outcome}", reason_words(f"complete:{outcome}")
