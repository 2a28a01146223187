"""Monitoring: take a snapshot of a study while participants are at it, once or whenever something has changed."""

from __future__ import annotations

import asyncio
import time
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from beholder.backups.backup_settings import backup_settings
from beholder.backups.backup_state import backup_status
from beholder.checks.page_registry import check_title
from beholder.cleaning.facts import TABLES, Facts, RemovedVisits, Rows, SessionRecord, gather_facts, removed_visits
from beholder.errors import RecruitError, UserError
from beholder.formats import FEW
from beholder.planning.model import no_collection
from beholder.recruiting import progress
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import PlatformAway, PlatformRefused, PlatformUnsure, Posting, Submission
from beholder.recruiting.launch_record import LaunchRecord, launch_record
from beholder.recruiting.ledger import MONEY, Debt, replay
from beholder.recruiting.monitor_snapshot import (
    CheckCount,
    Cost,
    HourlyPay,
    ListCounts,
    MonitorSnapshot,
    PlatformCounts,
    StepCount,
)
from beholder.recruiting.preflight import higher_floor
from beholder.recruiting.progress import alarms, median_minutes, session_positions, step_counts
from beholder.server.limits import free_bytes, is_little, room_words
from beholder.server.moderation import VERIFIED, Pauses
from beholder.server.readiness import HEARD, server_warnings
from beholder.store.contract import LedgerEntry, PlatformVisit, Table
from beholder.store.open import folder_of, is_postgresql, read_rows
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import Sum, is_closed, is_person, is_personal, is_robot, money
from beholder.types import Json

# A snapshot, read from the store, the ledger and the platform


_TABLES: tuple[Table, ...] = (*(table for table in TABLES if table not in ("posed", "ledger")), "told")
_TIME_LIMIT = timedelta(minutes=60)
"""The longest pause of a session where the study does not say."""


_PRESENT = timedelta(minutes=2)
"""How long somebody counts as present after the last thing that they sent."""


class MonitorFacts(NamedTuple):
    """The input of a snapshot: the tables, the ledger, and the platform's numbers."""

    tables: Mapping[str, Rows]
    entries: Sequence[LedgerEntry] = ()
    platform: PlatformCounts | None = None
    note: str = ""
    """Why there are no numbers of the platform."""
    senders: frozenset[str] = frozenset()
    """Sessions that sent anything in the last two minutes."""
    room: int | None = None
    """The bytes that are left on the disk of the store."""
    backups: tuple[str, ...] = ()
    """What is wrong with backups, in sentences."""
    servers: Mapping[str, Mapping[str, Json]] = {}
    """What the servers tell of themselves, where several may share the store."""


async def take_snapshot(
    context: RecruitContext, *, robots: bool = False, platform: tuple[PlatformCounts | None, str] | None = None
) -> MonitorSnapshot:
    """Return the state of a study. The platform is asked unless its numbers are given."""
    tables: dict[str, Rows] = {table: await read_rows(context.store, table) for table in _TABLES}
    entries = await context.store.ledger.entries()
    counts, note = platform or await _read_platform(context, launch_record(entries, context.study.run))
    now = context.now()
    senders = await context.store.senders(now - _PRESENT)
    backups = await asyncio.to_thread(_backup_alarms, context, now)
    with no_collection():
        servers = await context.store.servers(HEARD)
        facts = MonitorFacts(tables, entries, counts, note, senders, _room(context), backups, servers)
        return make_snapshot(context.study, facts, now, robots=robots)


def _backup_alarms(context: RecruitContext, now: datetime) -> tuple[str, ...]:
    """Return what is wrong with the backups of a study that has some."""
    try:
        settings = backup_settings(context.study)
    except UserError as error:
        return tuple(str(problem) for problem in error.problems)
    return backup_status(settings, context.url, now).warnings if settings is not None else ()


def _room_alarms(room: int | None, inside: int) -> list[str]:
    return [room_words(room, inside)] if room is not None and is_little(room, inside) else []


def _room(context: RecruitContext) -> int | None:
    """Return the bytes that are left on the disk of the store; None where it is not in a folder of this machine."""
    return None if is_postgresql(context.url) else free_bytes(folder_of(context.url))


def make_snapshot(study: Study, inputs: MonitorFacts, now: datetime, *, robots: bool = False) -> MonitorSnapshot:
    """Return the state of a study from the facts read."""
    launched = launch_record(inputs.entries, study.run)
    facts = _facts(study, inputs.tables, robots)
    visits = facts.visits if facts is not None else ()
    removed = RemovedVisits() if robots else removed_visits(inputs.tables, study.run)
    limit = time_limit(study)
    left_there = inputs.platform.gone if inputs.platform is not None else ()
    open_ = [visit for visit in visits if visit.outcome is None and not visit.is_erased]
    here = [visit for visit in open_ if now - _last_answer_at(visit) <= limit and visit.session not in left_there]
    kept = [visit for visit in visits if visit.outcome != "withdrawn" and not visit.is_erased]
    completed = [visit for visit in kept if visit.outcome == "completed"]
    rows: tuple[StepCount, ...] = ()
    trials: tuple[StepCount, ...] = ()
    if facts is not None:
        keys, sessions = session_positions(study, facts, [visit.session for visit in here])
        # A withdrawn session is counted in no step: nothing is kept of how far it came.
        kept_sessions = {visit.session for visit in kept}
        kept_positions = [one for one in sessions if one.visit.session in kept_sessions]
        rows, trials = step_counts(keys, kept_positions, removed.sessions)
    counted = progress.stimulus_progress(facts, here) if facts is not None else ()
    lists = progress.list_counts(facts, here) if facts is not None else ListCounts(_lists(inputs.tables), 0, 0)
    lists = replace(lists, planned=study.design.lists_in_all(lists.planned))
    durations = [visit.minutes for visit in completed if visit.minutes is not None]
    minutes = progress.median_minutes(durations)
    ended = [visit.ended_at for visit in completed if visit.ended_at is not None]
    rate = progress.per_hour([visit.at for visit in visits], ended, now)
    checks = _checks(inputs.tables, kept)
    earned = _hourly_pay(study, minutes, inputs.platform, launched) if not robots else None
    cost = _cost(study, inputs.entries, launched, inputs.platform)
    paused, is_past = Pauses(inputs.entries).notice(study), is_closed(study.recruit, now)
    can_begin = not (paused or is_past or (inputs.platform is not None and inputs.platform.state == "completed"))
    left = lists.planned - lists.finished
    has_platform = study.recruit.source.is_platform and not robots
    begun = {visit.session for visit in visits if visit.list is not None}
    verified = {one.session for one in inputs.entries if one.kind == VERIFIED}
    return MonitorSnapshot(
        study=study.name,
        title=study.title,
        run=study.run,
        mode=study.recruit.mode,
        population="robots" if robots else "people",
        at=now,
        link=_link(study, launched),
        people=len({visit.participant for visit in visits}) + removed.participants,
        arrived=len(visits) + removed.sessions,
        here=len(here),
        present=sum(visit.session in inputs.senders or now - _last_answer_at(visit) <= _PRESENT for visit in here),
        completed=len(completed),
        left=len(open_) - len(here) + removed.sessions,
        ended=_ended(visits),
        steps=rows,
        trials=trials,
        checks=checks,
        verified=len(begun & verified) if has_platform else None,
        unverified=len(begun - verified) if has_platform else None,
        lists=lists,
        conditions=progress.condition_progress(facts, counted, [one.name for one in study.conditions]) if facts else (),
        stimuli=counted,
        minutes=minutes,
        durations=tuple(sorted(durations)) if len(durations) <= FEW else (),
        told_minutes=_stated_minutes(study, launched),
        per_hour=rate,
        finished_at=progress.finished_at(left, rate, now) if can_begin or not lists.open else None,
        earned=earned,
        cost=cost,
        platform=inputs.platform,
        alarms=(
            *([paused] if paused and not robots else []),
            *alarms(rows, checks, earned, cost, inputs.platform, is_over=is_past),
            *_room_alarms(inputs.room, len(here)),
            *server_warnings(inputs.servers),
            *(inputs.backups if not robots else ()),
            *([inputs.note] if inputs.note else []),
        ),
    )


def time_limit(study: Study) -> timedelta:
    """Return how long somebody may send nothing before they count as gone."""
    return duration(study.recruit.time_limit) if study.recruit.time_limit else _TIME_LIMIT


def _link(study: Study, launched: LaunchRecord | None) -> str:
    """Return where participants begin; empty where there is no address, or everybody has a personal link."""
    if launched is None or not launched.public_url or is_personal(study.recruit):
        return ""
    if study.recruit.source.is_platform:  # which has placeholders for itself alone
        return f"{launched.public_url}/s/{study.name}"
    return str(launched.evidence.get("url") or f"{launched.public_url}/s/{study.name}")


def _facts(study: Study, tables: Mapping[str, Rows], robots: bool) -> Facts | None:
    """Return the facts of people, or of robots; None where none have come."""
    is_one = is_robot if robots else is_person
    if not any(is_one(row["mode"]) and row["run"] == study.run for row in tables["sessions"]):
        return None
    return gather_facts(tables, where="store/", robots=robots, run=study.run)


def _lists(tables: Mapping[str, Rows]) -> int:
    """Return the number of lists in the plan of the last served study."""
    plan = tables["studies"][-1]["plan_digest"] if tables["studies"] else None
    return sum(row["plan_digest"] == plan for row in tables["lists"])


def _last_answer_at(visit: SessionRecord) -> datetime:
    return max((answer.at for answer in visit.answers.values()), default=visit.at)


def _ended(visits: Sequence[SessionRecord]) -> Mapping[Any, int]:
    counts = Counter(
        "withdrawn" if visit.is_erased and visit.outcome != "no_consent" else visit.outcome
        for visit in visits
        if visit.outcome or visit.is_erased
    )
    return {outcome: n for outcome, n in sorted(counts.items(), key=lambda item: -item[1]) if outcome != "completed"}


def _checks(tables: Mapping[str, Rows], visits: Sequence[SessionRecord]) -> tuple[CheckCount, ...]:
    """Return each check with a verdict: sessions that met it, failed it, and ended by it."""
    sessions = {visit.session: visit for visit in visits}
    met: dict[str, set[str]] = defaultdict(set)
    failed: dict[str, set[str]] = defaultdict(set)
    for row in tables["told"]:
        if row["session"] in sessions:
            met[row["check"]].add(row["session"])
            if row["verdict"] == "fail":
                failed[row["check"]].add(row["session"])
    ends = Counter(visit.end_reason.partition(":")[0] for visit in visits if visit.outcome not in (None, "completed"))
    return tuple(CheckCount(name, check_title(name), len(met[name]), len(failed[name]), ends[name]) for name in met)


def _stated_minutes(study: Study, launched: LaunchRecord | None) -> float | None:
    recorded = launched.evidence.get("minutes") if launched is not None else None
    return study.recruit.minutes or (float(recorded) if isinstance(recorded, int | float) else None)


def _hourly_pay(
    study: Study, minutes: float | None, platform: PlatformCounts | None, launched: LaunchRecord | None
) -> HourlyPay | None:
    if study.recruit.reward is None:
        return None
    reward = money(study.recruit.reward)
    floor = higher_floor(study.recruit, launched.floor if launched is not None else None, reward.currency)
    platform_minutes = platform.minutes if platform is not None else None
    needed = [progress.top_up(reward, one, floor) for one in (minutes, platform_minutes)]
    return HourlyPay(
        reward,
        progress.hourly(reward, minutes),
        progress.hourly(reward, platform_minutes),
        floor,
        max((one for one in needed if one is not None), default=None),
    )


def _cost(
    study: Study, entries: Sequence[LedgerEntry], launched: LaunchRecord | None, platform: PlatformCounts | None
) -> Cost | None:
    settled = [debt for debt in replay(entries).settled() if debt.kind in MONEY]
    paid = [debt.amount for debt in settled if debt.amount.minor]
    if platform is not None:
        paid += _paid_by_platform(study, settled, platform)
    budget = money(study.budget) if study.budget else None
    committed = launched.total if launched is not None else None
    currency = next((one.currency for one in paid), "") or next(
        (one.currency for one in (committed, budget) if one is not None), ""
    )
    if not currency:
        return None
    return Cost(Sum(sum(one.minor for one in paid), currency), committed, budget)


def _paid_by_platform(study: Study, settled: Sequence[Debt], platform: PlatformCounts) -> list[Sum]:
    """Return what the platform has paid and the ledger does not record yet: `pay` records it."""
    approvals = sum(debt.kind == "approve" for debt in settled)
    screen_outs = sum(debt.reason_code == "screen_out" and not debt.batch for debt in settled)
    rewards = max(0, platform.statuses.get("approved", 0) - approvals)
    others = max(0, platform.statuses.get("screened_out", 0) - screen_outs)
    amounts = [money(study.recruit.reward)] * rewards if study.recruit.reward else []
    return amounts + ([money(study.recruit.screen_out)] * others if study.recruit.screen_out else [])


# The platform's numbers


_LEFT = ("returned", "timed_out", "rejected", "screened_out")
_FINISHED = ("awaiting_review", "approved", "partially_approved")


async def _read_platform(context: RecruitContext, launched: LaunchRecord | None) -> tuple[PlatformCounts | None, str]:
    """Return the platform's numbers, and a sentence where they cannot be read; nothing where there is no platform."""
    if launched is None or context.is_by_hand:
        return None, ""
    try:
        posting = await context.recruiter.posting(launched.posting)
        submissions = await context.recruiter.submissions(launched.posting)
    except (PlatformAway, PlatformRefused, PlatformUnsure, RecruitError) as error:
        return None, f"The numbers of the platform are missing: {error}"
    return count_platform(posting, submissions, context.now(), await context.store.platform_visits()), ""


def count_platform(
    posting: Posting, submissions: Sequence[Submission], now: datetime, visits: Sequence[PlatformVisit] = ()
) -> PlatformCounts:
    """Return a posting and its submissions in numbers; `visits` say which submission led to which session, in order."""
    left = {one.id for one in submissions if one.status in _LEFT}
    last = {one.session: one.submission for one in visits}  # the last submission that led to a session counts
    waiting = [one.completed_at for one in submissions if one.status == "awaiting_review" and one.completed_at]
    minutes = [one.seconds / 60 for one in submissions if one.status in _FINISHED and one.seconds]
    return PlatformCounts(
        state=posting.state,
        places=posting.places,
        taken=posting.taken,
        statuses=dict(sorted(Counter(one.status for one in submissions).items())),
        oldest_days=max(0, (now - min(waiting)).days) if waiting else None,
        minutes=median_minutes(minutes),
        at=now,
        link=posting.link,
        gone=tuple(sorted(session for session, submission in last.items() if submission in left)),
    )


# Live updates


_POLL_SECONDS = 2.0
PLATFORM_POLL, _LONGEST_PLATFORM_POLL = timedelta(seconds=60), timedelta(minutes=5)
"""How often the platform is asked: less and less while nothing changes there."""
_SHARE = 0.2
"""The largest share of the time that reading may take, to spare a large store."""


async def watch(
    context: RecruitContext,
    show: Callable[[MonitorSnapshot], None],
    *,
    robots: bool = False,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Show a snapshot whenever something has changed, until cancelled."""
    counts: object = None
    platform: tuple[PlatformCounts | None, str] = None, ""
    asked_at: datetime | None = None
    pause, shown_at = PLATFORM_POLL, context.now()
    while True:
        began, now = time.monotonic(), context.now()
        is_due = asked_at is None or now - asked_at >= pause
        if is_due:
            before, platform = (
                platform,
                await _read_platform(context, launch_record(await context.store.ledger.entries(), context.study.run)),
            )
            pause = (
                min(_LONGEST_PLATFORM_POLL, pause * 2) if _has_same_counts(before[0], platform[0]) else PLATFORM_POLL
            )
            asked_at = now
        new_counts = await context.store.counts(now, context.study.run)
        if is_due or new_counts != counts or robots or now - shown_at >= PLATFORM_POLL:
            counts, shown_at = new_counts, now
            show(await take_snapshot(context, robots=robots, platform=platform))
        seconds = time.monotonic() - began
        await sleep(max(_POLL_SECONDS, seconds / _SHARE))


def _has_same_counts(one: PlatformCounts | None, other: PlatformCounts | None) -> bool:
    return one is not None and other is not None and (one.taken, one.statuses) == (other.taken, other.statuses)
