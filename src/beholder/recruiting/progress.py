"""Progress of a study: how far participants came, how full the plan is, the pace and pay, and alarms."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from statistics import median
from typing import NamedTuple

from beholder.checks.page_registry import check_title
from beholder.cleaning.facts import Facts, SessionRecord
from beholder.formats import plain_count
from beholder.planning.model import PlannedList
from beholder.recruiting.monitor_snapshot import (
    CheckCount,
    Cost,
    HourlyPay,
    ListCounts,
    PlatformCounts,
    StepCount,
    VoteProgress,
)
from beholder.server.script import base_key, make_script
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.types import UNRATED_ROLES

_TITLES: Mapping[str, str] = {
    "consent": "Consent", "questions:before": "Questions before", "questions:after": "Questions after",
    "volume": "Volume", "text:instructions": "Instructions",
}  # fmt: skip
_ONCE = ("questions:before", "questions:after", "text:")
"""Steps that a later session of the same participant does not have."""
_RATING, _END = "trials", "end"
_BETWEEN = ("break:", "questions:during:")
"""Steps between trials, which are counted with them."""


class SessionPosition(NamedTuple):
    """The position of a session: the key of the first unanswered step, `end` after the last."""

    visit: SessionRecord
    key: str
    is_here: bool


def session_positions(study: Study, facts: Facts, here: Iterable[str]) -> tuple[list[str], list[SessionPosition]]:
    """Return the keys of all steps in order, and the position of each session; those `here` may still continue."""
    keys = _step_keys(study, facts)
    places = {key: place for place, key in enumerate(keys)}
    live, positions, completed = set(here), [], Counter[str]()
    for visit in facts.visits:
        is_further = completed[visit.participant] > 0
        completed[visit.participant] += visit.outcome == "completed"
        furthest = max((places[base_key(key)] for key in visit.answers if base_key(key) in places), default=-1)
        key = _END if visit.outcome == "completed" else _next_step(keys, furthest, visit, is_further)
        positions.append(SessionPosition(visit, key, visit.session in live))
    return keys, positions


def _next_step(keys: Sequence[str], furthest: int, visit: SessionRecord, is_further: bool) -> str:
    """Return the step after the furthest that was answered; if an answer ended the session, that step."""
    if visit.outcome not in (None, "withdrawn", "no_consent") and furthest >= 0:
        return keys[furthest]
    own = len(visit.trials)
    for key in keys[furthest + 1 :]:
        is_rating = key.startswith(("trial:", "questions:during:"))
        is_beyond = is_rating and own and int(key.rpartition(":")[2]) > own
        if not is_beyond and not (is_further and key.startswith(_ONCE)):
            return key
    return keys[-1]


def _step_keys(study: Study, facts: Facts) -> list[str]:
    """Return the steps of the longest list in order, including pages that only others have met."""
    longest = max(facts.planned.values(), key=_length, default=None)
    script = make_script(study, longest.entries if longest is not None else ())
    keys = [step.key for step in script.steps]
    met = dict.fromkeys(base_key(key) for visit in facts.visits for key in visit.answers)
    for key in met:
        if key not in keys:
            # Pages of examples and of the volume follow the instructions; questions follow their trial.
            trial = f"trial:{key.rpartition(':')[2]}" if key.startswith("questions:during:") else ""
            first = (place for place, other in enumerate(keys) if other.startswith(("training:", "trial:")))
            at = keys.index(trial) + 1 if trial in keys else next(first, 1)
            keys.insert(at, key)
    return keys


def _length(planned: PlannedList) -> int:
    return len(planned.entries)


def step_counts(
    keys: Sequence[str], sessions: Sequence[SessionPosition], removed: int = 0
) -> tuple[tuple[StepCount, ...], tuple[StepCount, ...]]:
    """Return the steps with all trials as one, and the trials one by one; removed visits left at the first step."""
    place = {key: number for number, key in enumerate([*keys, _END])}
    reached = Counter(place[one.key] for one in sessions)
    many = [sum(n for at, n in reached.items() if at >= number) for number in range(len(place))]
    rows = [
        StepCount(
            key,
            step_title(key),
            many[place[key]],
            sum(one.key == key and one.visit.outcome is None and one.is_here for one in sessions),
            sum(one.key == key and one.visit.outcome is None and not one.is_here for one in sessions),
            sum(one.key == key and one.visit.outcome is not None for one in sessions),
        )
        for key in keys
    ]
    rows[:1] = [replace(row, reached=row.reached + removed, left=row.left + removed) for row in rows[:1]]
    trials = [row for row in rows if row.key.startswith("trial:")]
    between = [row for row in rows if row.key.startswith(_BETWEEN)]
    counts: list[StepCount] = []
    for row in rows:
        if row in between or row in trials[1:]:
            continue
        counts.append(_rating_step(row, [*trials, *between]) if row in trials else row)
    completed = sum(one.key == _END for one in sessions)
    return (*_merge_pages(counts), StepCount(_END, "Finished", completed, 0, 0, 0)), tuple(trials)


def _merge_pages(rows: Sequence[StepCount]) -> list[StepCount]:
    """Return the steps with all training examples as one, and all pages of the instructions."""
    merged = list(rows)
    for title, begins in (("Training", "training:"), ("Instructions", "text:")):
        some = [row for row in merged if row.key.startswith(begins)]
        if some:
            first = merged.index(some[0])
            one = StepCount(begins[:-1], title, some[0].reached, *_sums(some))
            merged = [*merged[:first], one, *(row for row in merged[first:] if row not in some)]
    return merged


def _rating_step(first: StepCount, every: Sequence[StepCount]) -> StepCount:
    return StepCount(
        _RATING,
        f"Rating, {plain_count(sum(row.key[:6] == 'trial:' for row in every), 'trial')}",
        first.reached,
        *_sums(every),
    )


def _sums(rows: Sequence[StepCount]) -> tuple[int, int, int]:
    return sum(row.here for row in rows), sum(row.left for row in rows), sum(row.ended for row in rows)


def step_title(key: str) -> str:
    """Return the title of a step, by its key without the number of an attempt."""
    kind, _, name = key.partition(":")
    if kind == "check":
        return check_title(name)
    if kind in ("trial", "training"):
        return f"{kind.capitalize()} {name}"
    if kind == "text":
        return _TITLES["text:instructions"]
    return _TITLES.get(key, key)


# Lists and votes


def list_counts(facts: Facts, here: Sequence[SessionRecord]) -> ListCounts:
    """Return how many lists are finished, and how many others are in progress."""
    finished = {visit.list for visit in facts.visits if visit.outcome == "completed"} - {None}
    coming = {visit.list for visit in here} - {None} - finished
    return ListCounts(len(facts.planned), len(finished), len(coming))


def stimulus_progress(facts: Facts, here: Sequence[SessionRecord]) -> tuple[VoteProgress, ...]:
    """Return for each stimulus how often it was, is being and will be rated in whole sessions; without checks."""
    rated = {
        number: Counter(
            slot.stimulus for trial in trials for slot in trial.slots if slot.rated and slot.role not in UNRATED_ROLES
        )
        for number, trials in facts.lists.items()
    }
    planned, finished, coming = Counter[str](), Counter[str](), Counter[str]()
    for counted in rated.values():
        planned.update(counted)
    for visit in facts.visits:
        if visit.outcome == "completed" and visit.list is not None:
            finished.update(rated[visit.list])
    for visit in here:
        if visit.list is not None:
            coming.update(rated[visit.list])
    return tuple(VoteProgress(name, finished[name], coming[name], planned[name]) for name in sorted(planned))


def condition_progress(facts: Facts, votes: Sequence[VoteProgress], order: Sequence[str]) -> tuple[VoteProgress, ...]:
    """Return the same by condition, in the study's order."""
    condition_of = {name: shown.condition for (_, name), shown in facts.stimuli.items()}
    names = dict.fromkeys(order) | {condition_of[one.name]: None for one in votes if one.name in condition_of}
    rows = []
    for condition in names:
        own = [one for one in votes if condition_of.get(one.name) == condition]
        if own:
            rows.append(
                VoteProgress(
                    condition,
                    sum(one.finished for one in own),
                    sum(one.coming for one in own),
                    sum(one.planned for one in own),
                )
            )
    return tuple(rows)


# Pace and pay


_RECENT = timedelta(hours=6)
"""Older events say little about the pace."""
_AT_LEAST = timedelta(minutes=10)


def median_minutes(minutes: Sequence[float]) -> float | None:
    """Return the median, or None of an empty sequence."""
    return round(median(minutes), 2) if minutes else None


def hourly(reward: Sum, minutes: float | None) -> Sum | None:
    """Return what an hour pays at a reward for some minutes, rounded down; None where no time has passed."""
    return Sum(int(reward.minor * 60 / minutes), reward.currency) if minutes else None


def top_up(reward: Sum, minutes: float | None, floor: Sum | None) -> Sum | None:
    """Return what is missing to the floor at the median time; None where nothing is."""
    if minutes is None or floor is None or floor.currency != reward.currency:
        return None
    needed = -int(-minutes * floor.minor // 60)
    return Sum(needed - reward.minor, reward.currency) if needed > reward.minor else None


def per_hour(arrivals: Sequence[datetime], finished: Sequence[datetime], now: datetime) -> float | None:
    """Return how many sessions per hour were completed recently; None where none were."""
    recent = [at for at in finished if now - _RECENT <= at <= now]
    if not recent or not arrivals:
        return None
    since = max(min(arrivals), now - _RECENT)
    hours = max(now - since, _AT_LEAST).total_seconds() / 3600
    return round(len(recent) / hours, 2)


def finished_at(left: int, rate: float | None, now: datetime) -> datetime | None:
    """Return when the remaining lists will be finished at this rate; None where that is unknown, or none remain."""
    if not rate or left <= 0:
        return None
    hours = left / rate
    return now + timedelta(hours=hours) if hours < 24 * 365 else None


# Alarms


AUTO_APPROVAL_DAYS, _WARN_DAYS = 21, 14
"""Prolific approves a submission without a decision after 21 days; the alarm starts at 14."""
_SENDING = ("scheduled", "publishing", "active")
_ENOUGH, _MANY = 10, 0.25
"""A share of fewer than ten says little; above a quarter something is wrong with the study."""


def alarms(
    steps: Sequence[StepCount],
    checks: Sequence[CheckCount],
    earned: HourlyPay | None,
    cost: Cost | None,
    platform: PlatformCounts | None,
    *,
    is_over: bool = False,
) -> Iterator[str]:
    """Yield the alarms, money first; `is_over` is whether nobody can begin here any more."""
    if earned is not None:
        yield from _pay(earned)
    if cost is not None:
        yield from _budget(cost)
    if is_over and platform is not None and platform.state in _SENDING:
        yield "recruit.closes is past, and the platform goes on sending people in vain. Run `beholder close`."
    if platform is not None and platform.oldest_days is not None and platform.oldest_days >= _WARN_DAYS:
        yield _approval_alarm(platform.oldest_days)
    for step in steps:
        if step.reached >= _ENOUGH and step.left > _MANY * step.reached:
            yield f"{step.left} of the {step.reached} who came to “{step.title}” left there."
    for check in checks:
        if check.met >= _ENOUGH and check.ended > _MANY * check.met:
            yield f"{check.ended} of the {check.met} who met “{check.title}” were turned away by it."


def _pay(earned: HourlyPay) -> Iterator[str]:
    rates = {"by our clock": earned.hourly, "by the platform's clock": earned.platform_hourly}
    for clock, hourly in rates.items():
        floor = earned.floor
        if hourly is not None and floor is not None and hourly.currency == floor.currency and hourly < floor:
            top_up = f" `beholder pay --top-up` adds {earned.top_up} for each." if earned.top_up else ""
            yield f"An hour pays {hourly} {clock}, below the minimum of {floor}.{top_up}"
            return


def _approval_alarm(days: int) -> str:
    left = AUTO_APPROVAL_DAYS - days
    when = f"in {plain_count(left, 'day')}" if left > 0 else "now"
    return (
        f"Somebody has waited for {days} days for a decision; the platform approves it by itself {when}. "
        "Run `beholder decide`."
    )


def _budget(cost: Cost) -> Iterator[str]:
    at_most, budget = cost.committed, cost.budget
    if at_most and budget and at_most.currency == budget.currency and at_most.minor > budget.minor:
        yield f"What is published may cost {at_most}, above the budget of {budget}."
