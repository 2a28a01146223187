"""Close: stop recruiting, verify that nothing is unpaid, export, and say what the study came to."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beholder.cleaning.account import flow
from beholder.cleaning.facts import TABLES, Rows
from beholder.cleaning.payouts import bonus_rows
from beholder.cleaning.screening import judge_tables
from beholder.errors import Problem, RecruitError
from beholder.files import write_atomically
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import PlatformRefused, PlatformUnsure, Posting, platform_errors
from beholder.recruiting.decisions import decide_study
from beholder.recruiting.launch_record import OPENING_KINDS, launch_record, postings_of, published_postings, runs_of
from beholder.recruiting.ledger import evidence_of, replay
from beholder.recruiting.monitoring import take_snapshot
from beholder.recruiting.open_items import (
    live_session_problems,
    merge_problems,
    open_problems,
    pending_return_notes,
    pending_returns,
)
from beholder.recruiting.pay_facts import BONUS_FILE, read_bonuses
from beholder.recruiting.payments import pay_study
from beholder.recruiting.postings import cancelled_publication, current_posting, reopening_advice
from beholder.recruiting.signatures import signed_rows
from beholder.recruiting.summary import SummaryFacts, summary
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.store.rules import NOT_PEOPLE
from beholder.study.model import Study
from beholder.study.recruitment import Sum, is_own_posting, money, own_posting

# --- Closing: recruiting stops, everything is looked at once more, and only when nothing is owed it is over ---


SUMMARY = "close/summary.md"
_OVER = ("completed", "draft")
"""States in which nobody can begin."""
CLOSE_PLACE = "close"
"""Where the first of what holds it up is: that recruiting is stopped nevertheless."""
_DOORS = (*OPENING_KINDS, "stop")


async def close_study(context: RecruitContext, *, dry_run: bool = False) -> Closed:
    """Stop recruiting, look once more, and finish; raise RecruitError with whoever still waits for something.

    Done again it finds what is done, and finishes the rest. In a dry run nothing is stopped, raised or written.
    """
    posting = await stop_recruiting(context, dry_run=dry_run)
    tables: dict[str, Rows] = {table: await read_rows(context.store, table) for table in TABLES}
    came = any(row["run"] == context.study.run and row["mode"] not in NOT_PEOPLE for row in tables["sessions"])
    open_: tuple[Problem, ...] = ()
    notes: list[str] = []
    if posting is not None or came:
        rows = (await decide_study(context, dry_run=True)).rows
        payment = await pay_study(context)
        signed = signed_rows(await context.store.ledger.entries())
        bonus = context.study.clean.bonus is not None
        ended = {str(row["session"]): row["at"] for row in tables["ends"]}
        held = open_problems(rows, payment, signed, is_by_hand=context.is_by_hand, has_bonus=bonus, ended=ended)
        open_ = (
            *merge_problems(held),
            *await _at_work(context),
            *await asyncio.to_thread(stale_bonuses, context.study, tables if came else {}),
        )
        notes = await pending_return_notes(context, posting, pending_returns(rows, payment))
    if open_ and not dry_run:
        raise RecruitError([*_stopped(context, posting), *open_])
    if dry_run:
        return Closed(not open_, open_, None, None, _dry(open_, _is_open(context, posting)))
    await _keep_apart(context)
    exported = await asyncio.to_thread(_export, context) if came else None
    path = await _summarise(context, posting, tables, came)
    if not is_run_closed(context.study.run, await context.store.ledger.entries(), tables):
        await context.store.ledger.append(
            [LedgerEntry("close", "done", context.now(), evidence={"run": context.study.run})]
        )
    written = path.relative_to(context.study.folder).as_posix()
    words = [f"Closed. {written} says how it was done, and what is kept until when."]
    words += (
        [f"Every fact is in {exported.name}/."] if exported is not None else ["Nobody came, so nothing is exported."]
    )
    return Closed(True, (), path, exported, (*words, *notes))


def _stopped(context: RecruitContext, posting: Posting | None) -> list[Problem]:
    """Return that nobody can begin any more although it is not over, and what brings more people."""
    what = "has stopped recruiting, and is not over before what follows is"
    if "stop" not in context.recruiter.can:
        return []
    if context.is_by_hand:
        fix = "`beholder launch --resume` lets people begin again."
    elif posting is not None and posting.state == "completed":
        fix = reopening_advice(context)
    else:
        return []
    return [Problem(CLOSE_PLACE, what, "", fix)]


async def _at_work(context: RecruitContext) -> list[Problem]:
    """Return that people are at work; where there is a platform, it tells who is under way."""
    if not context.is_by_hand:
        return []
    live = (await context.store.counts(context.now(), context.study.run))["live"]
    return list(live_session_problems(live, context.study.recruit.time_limit or "60 min"))


async def stop_recruiting(context: RecruitContext, *, dry_run: bool = False) -> Posting | None:
    """Let nobody begin any more, and return how the study stands on its platform."""
    entries = await context.store.ledger.entries()
    posting = await current_posting(context, launch_record(entries, context.study.run))
    if others := await _left_open(context, entries, posting):
        raise RecruitError(others)
    if dry_run or "stop" not in context.recruiter.can:
        return posting
    if context.is_by_hand and posting is None:
        await _shut(context)
        return None
    if posting is None or (posting.state == "draft" and not context.is_by_hand):
        return posting
    if posting.state == "completed" and _is_stopped(entries, posting.id):
        return posting
    # Also what is full: should somebody's place get free again, it would open by itself.
    entry = LedgerEntry("stop", "planned", context.now(), provider_ref=posting.id)
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        posting = await context.recruiter.stop(posting.id)
    if posting.state not in _OVER:
        name = context.recruiter.mode.capitalize()
        what, fix = f"has not stopped it yet: it is {posting.state}", "Run `beholder close` again in a minute."
        raise RecruitError(Problem(name, what, "", fix)) from PlatformUnsure(what)
    done = replace(entry, event="done", at=context.now())
    await context.store.ledger.append([done, *cancelled_publication(posting, context.now())])
    return posting


async def _shut(context: RecruitContext) -> None:
    """Shut the door of a study that was never launched: by hand people come as soon as it is served."""
    own = own_posting(context.study.name, context.study.run)
    await context.store.ledger.append([LedgerEntry("stop", "done", context.now(), provider_ref=own)])


async def _left_open(context: RecruitContext, entries: Sequence[LedgerEntry], found: Posting | None) -> list[Problem]:
    """Return what else was published in this run on a platform, and is not over: somebody may wait there for money."""
    what = "was published in this run too, and is not seen to be over"
    fix = "Stop it on its platform, and pay whoever has handed in there; its own token and recruit.mode show it."
    others = [one for one in published_postings(entries, context.study.run) if found is None or one != found.id]
    return [
        Problem(one, what, "", fix)
        for one in others
        if not (is_own_posting(one) or _is_stopped(entries, one) or await _is_over(context, one))
    ]


async def _is_over(context: RecruitContext, posting: str) -> bool:
    with platform_errors(context.study):
        try:
            return (await context.recruiter.posting(posting)).state in _OVER
        except PlatformRefused:
            return False


def _is_stopped(entries: Sequence[LedgerEntry], posting: str) -> bool:
    """Return whether we have stopped it, and not opened it since."""
    done = [one.kind for one in entries if one.provider_ref == posting and one.event == "done" and one.kind in _DOORS]
    return bool(done) and done[-1] == "stop"


async def _keep_apart(context: RecruitContext) -> None:
    """Keep everybody who came out of other studies of the family, also whom no code has put there."""
    mode = context.recruiter.mode
    people = list(
        dict.fromkeys(one.platform_id for one in await context.store.platform_identities() if one.platform == mode)
    )
    if context.study.family is not None and people:
        with platform_errors(context.study):
            await context.recruiter.exclude(people)


def _export(context: RecruitContext) -> Path:
    from beholder.exporting import export

    return export(context.study, store=context.url).folder


async def _summarise(context: RecruitContext, posting: Posting | None, tables: Mapping[str, Rows], came: bool) -> Path:
    """Write the summary, and return where it is."""
    steps: list[dict[str, Any]] = []
    first = last = None
    if came:
        judging = await asyncio.to_thread(judge_tables, context.study, tables)
        steps = flow(judging.study, judging.judged)
        visits = judging.facts.visits
        first, last = min(visit.at for visit in visits), max(visit.ended_at or visit.at for visit in visits)
    state = replay(await context.store.ledger.entries())
    told = SummaryFacts(context.study, await take_snapshot(context), state, posting, steps, first, last, context.now())
    path = context.study.folder / SUMMARY
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, summary(told).encode("utf-8"))
    return path


def _is_open(context: RecruitContext, posting: Posting | None) -> bool:
    """Return whether somebody can begin: by hand also before it was launched."""
    if context.is_by_hand:
        return posting is None or posting.state != "completed"
    return posting is not None and posting.state not in _OVER


def _dry(open_: tuple[Problem, ...], is_open: bool) -> tuple[str, ...]:
    lines = ["Recruiting would be stopped."] * is_open
    if open_:
        lines.append("It could not be closed yet: what is named above holds it up.")
    else:
        lines.append("It could be closed: nobody waits for a decision or for money.")
    return (*lines, "Nothing was written.")


# --- What `close` finds and does ---


@dataclass(frozen=True)
class Closed:
    """A study that is over, or what still holds it up."""

    is_closed: bool
    """Whether it is; in a dry run, whether it could be."""
    open: tuple[Problem, ...]
    """What holds it up, in a dry run; otherwise it is raised."""
    summary: Path | None
    """close/summary.md: the methods paragraph, and what is kept until when."""
    exported: Path | None
    words: tuple[str, ...]
    """All of this in sentences."""


# --- Whether a run is over: it was closed, and since then nobody has come or finished, and nothing was opened ---


def is_run_closed(run: int, entries: Sequence[LedgerEntry], tables: Mapping[str, Rows]) -> bool:
    """Return whether a run was closed after everything that people did in it, by the sessions and ends of a store.

    Whatever was opened again may send somebody at any time.
    """
    closed = [place for place, one in enumerate(entries) if one.kind == "close" and _run(one) == run]
    if not closed:
        return False
    close, since = entries[closed[-1]], entries[closed[-1] :]
    mine = {row["session"]: row["at"] for row in _people(tables) if row["run"] == run}
    done = [*mine.values(), *(row["at"] for row in tables["ends"] if row["session"] in mine)]
    postings = postings_of(entries, run)
    opened = [one for one in since if one.kind in OPENING_KINDS and one.event in ("planned", "done")]
    is_opened = any(one.provider_ref in postings for one in opened)
    return not is_opened and all(at <= close.at for at in done)


def open_runs(entries: Sequence[LedgerEntry], tables: Mapping[str, Rows]) -> list[int]:
    """Return the runs that people came to, or may come to as they are published, and that are not over."""
    came = {int(row["run"]) for row in _people(tables)}
    runs = sorted(came | {run for run in runs_of(entries) if published_postings(entries, run)})
    return [run for run in runs if not is_run_closed(run, entries, tables)]


def _people(tables: Mapping[str, Rows]) -> Rows:
    return [row for row in tables["sessions"] if row["mode"] not in NOT_PEOPLE]


def _run(entry: LedgerEntry) -> int:
    return int(evidence_of(entry).get("run", 1))


# --- Whether bonuses that were paid are those that the rules give now: people may have finished since ---


def stale_bonuses(study: Study, tables: Mapping[str, Rows]) -> list[Problem]:
    """Return that clean/bonus.csv knows less than the store, where the study gives bonuses and the file is there."""
    bonuses = read_bonuses(study)
    if study.clean.bonus is None or not tables or bonuses.problems:  # what is wrong with the file, paying tells
        return []
    written = {(one.participant, one.rule): one.amount for rows in bonuses.by_rule.values() for one in rows}
    judging = judge_tables(study, tables)
    rows = bonus_rows(judging.judged, judging.study.clean.bonus)
    due = {(row["participant"], row["rule"]): money(f"{row['amount']} {row['currency']}") for row in rows}
    more = [amount.minor - (written[key].minor if key in written else 0) for key, amount in due.items()]
    missing = sum(one for one in more if one > 0)
    if not missing:
        return []
    currency = next(iter(due.values())).currency
    what = f"does not know what came since: {Sum(missing, currency)} of bonuses are missing in it"
    return [Problem(BONUS_FILE, what, "", "Run `beholder clean`, then `beholder pay --send`.")]
