"""Closing a study: stop recruiting, check that nothing is unpaid, export, and write the summary."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from beholder.buckets.upload import remove_copies, require_media
from beholder.cleaning.account import flow
from beholder.cleaning.facts import TABLES, Rows
from beholder.cleaning.payouts import bonus_rows
from beholder.cleaning.screening import judge_tables
from beholder.errors import Problem, RecruitError
from beholder.files import write_atomically
from beholder.formats import plain_count
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
from beholder.result_view import ResultView, html_view, text_view
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_rows
from beholder.study.model import Study
from beholder.study.recruitment import Sum, is_own_posting, is_person, money, own_posting

SUMMARY = "close/summary.md"

_OVER = ("completed", "draft")
"""States in which nobody can begin."""

CLOSE_PLACE = "close"
"""The place of the first problem: that recruiting is stopped although the study is not closed."""

_POSTING_KINDS = (*OPENING_KINDS, "stop")


@dataclass(frozen=True, repr=False)
class Closed:
    """A closed study, or what still holds it up."""

    is_closed: bool
    """Whether it is closed; in a dry run, whether it could be."""
    open: tuple[Problem, ...]
    """What holds it up, in a dry run; otherwise it is raised."""
    summary: Path | None
    """close/summary.md: the methods paragraph, and what is kept until when."""
    exported: Path | None
    words: tuple[str, ...]
    """All of this in sentences."""

    def __repr__(self) -> str:
        return text_view(self._view)

    def _repr_html_(self) -> str:
        return html_view(self._view)

    @property
    def _view(self) -> ResultView:
        return ResultView([*self.words, *(str(problem) for problem in self.open)])


async def close_study(context: RecruitContext, *, dry_run: bool = False, remove_media: bool = False) -> Closed:
    """Stop recruiting, check everything, and close; raise RecruitError with everything still open.

    A second call continues the first. A dry run stops, raises and writes nothing.
    """
    if remove_media:
        require_media(context.study)
    posting = await stop_recruiting(context, dry_run=dry_run)
    tables: dict[str, Rows] = {table: await read_rows(context.store, table) for table in TABLES}
    has_come = any(row["run"] == context.study.run and is_person(row["mode"]) for row in tables["sessions"])
    open_: tuple[Problem, ...] = ()
    notes: list[str] = []
    if posting is not None or has_come:
        rows = (await decide_study(context, dry_run=True)).rows
        payment = await pay_study(context)
        signed = signed_rows(await context.store.ledger.entries())
        bonus = context.study.clean.bonus is not None
        ended = {str(row["session"]): row["at"] for row in tables["ends"]}
        problems = open_problems(rows, payment, signed, is_by_hand=context.is_by_hand, has_bonus=bonus, ended=ended)
        open_ = (
            *merge_problems(problems),
            *await _live_problems(context),
            *await asyncio.to_thread(_stale_bonuses, context.study, tables if has_come else {}),
        )
        notes = await pending_return_notes(context, posting, pending_returns(rows, payment))
    if open_ and not dry_run:
        raise RecruitError([*_stopped_problem(context, posting), *open_])
    if dry_run:
        lines = _dry_run_lines(open_, _is_open(context, posting))
        if remove_media and context.study.media is not None:
            lines = (*lines, f"The media at {context.study.media.to} would be removed.")
        return Closed(not open_, open_, None, None, lines)
    await _exclude_elsewhere(context)
    exported = await asyncio.to_thread(_export, context) if has_come else None
    path = await _write_summary(context, posting, tables, has_come)
    if not _is_run_closed(context.study.run, await context.store.ledger.entries(), tables):
        await context.store.ledger.append(
            [LedgerEntry("close", "done", context.now(), evidence={"run": context.study.run})]
        )
    written = path.relative_to(context.study.folder).as_posix()
    words = [f"Closed. {written} says how it was done, and what is kept until when."]
    words += (
        [f"Every fact is in {exported.name}/."] if exported is not None else ["Nobody came, so nothing is exported."]
    )
    if remove_media and context.study.media is not None:
        count = await asyncio.to_thread(remove_copies, context.study)
        words.append(f"Removed from {context.study.media.to}: {plain_count(count, 'copy', 'copies')}.")
    return Closed(True, (), path, exported, (*words, *notes))


def _stopped_problem(context: RecruitContext, posting: Posting | None) -> list[Problem]:
    """Return that recruiting has stopped although the study is not closed, and how to get more participants."""
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


async def _live_problems(context: RecruitContext) -> list[Problem]:
    """Return that sessions are live; with a platform, its statuses tell."""
    if not context.is_by_hand:
        return []
    live = (await context.store.counts(context.now(), context.study.run))["live"]
    return list(live_session_problems(live, context.study.recruit.time_limit or "60 min"))


async def stop_recruiting(context: RecruitContext, *, dry_run: bool = False) -> Posting | None:
    """Stop recruiting, and return the state of the study on its platform."""
    entries = await context.store.ledger.entries()
    posting = await current_posting(context, launch_record(entries, context.study.run))
    if others := await _open_postings(context, entries, posting):
        raise RecruitError(others)
    if dry_run or "stop" not in context.recruiter.can:
        return posting
    if context.is_by_hand and posting is None:
        await _stop_unlaunched(context)
        return None
    if posting is None or (posting.state == "draft" and not context.is_by_hand):
        return posting
    if posting.state == "completed" and _is_stopped(entries, posting.id):
        return posting
    # A full study too: it would open by itself as soon as a place becomes free.
    entry = LedgerEntry("stop", "planned", context.now(), provider_ref=posting.id)
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        posting = await context.recruiter.stop(posting.id)
    if posting.state not in _OVER:
        name = context.study.recruit.source.title
        what, fix = f"has not stopped it yet: it is {posting.state}", "Run `beholder close` again in a minute."
        raise RecruitError(Problem(name, what, "", fix)) from PlatformUnsure(what)
    done = replace(entry, event="done", at=context.now())
    await context.store.ledger.append([done, *cancelled_publication(posting, context.now())])
    return posting


async def _stop_unlaunched(context: RecruitContext) -> None:
    """Stop a study that was never launched: without a platform participants come as soon as it is served."""
    own = own_posting(context.study.name, context.study.run)
    await context.store.ledger.append([LedgerEntry("stop", "done", context.now(), provider_ref=own)])


async def _open_postings(
    context: RecruitContext, entries: Sequence[LedgerEntry], current: Posting | None
) -> list[Problem]:
    """Return other postings of this run that are not over: participants may wait there for money."""
    what = "was published in this run too, and is not seen to be over"
    fix = "Stop it on its platform, and pay whoever has handed in there; its own token and recruit.mode show it."
    others = [one for one in published_postings(entries, context.study.run) if current is None or one != current.id]
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
    """Return whether we stopped it, and did not open it since."""
    done = [
        one.kind
        for one in entries
        if one.provider_ref == posting and one.event == "done" and one.kind in _POSTING_KINDS
    ]
    return bool(done) and done[-1] == "stop"


async def _exclude_elsewhere(context: RecruitContext) -> None:
    """Exclude all participants from other studies of the family, including those without a code."""
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


async def _write_summary(
    context: RecruitContext, posting: Posting | None, tables: Mapping[str, Rows], has_come: bool
) -> Path:
    """Write the summary, and return its path."""
    steps: list[dict[str, Any]] = []
    first = last = None
    if has_come:
        judging = await asyncio.to_thread(judge_tables, context.study, tables)
        steps = flow(judging.study, judging.facts, judging.judged)
        visits = judging.facts.visits
        first, last = min(visit.at for visit in visits), max(visit.ended_at or visit.at for visit in visits)
    state = replay(await context.store.ledger.entries())
    facts = SummaryFacts(context.study, await take_snapshot(context), state, posting, steps, first, last, context.now())
    path = context.study.folder / SUMMARY
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, summary(facts).encode("utf-8"))
    return path


def _is_open(context: RecruitContext, posting: Posting | None) -> bool:
    """Return whether participants can begin: without a platform even before the launch."""
    if context.is_by_hand:
        return posting is None or posting.state != "completed"
    return posting is not None and posting.state not in _OVER


def _dry_run_lines(open_: tuple[Problem, ...], is_open: bool) -> tuple[str, ...]:
    lines = ["Recruiting would be stopped."] * is_open
    if open_:
        lines.append("It could not be closed yet: what is named above holds it up.")
    else:
        lines.append("It could be closed: nobody waits for a decision or for money.")
    return (*lines, "Nothing was written.")


# Whether a run is closed


def _is_run_closed(run: int, entries: Sequence[LedgerEntry], tables: Mapping[str, Rows]) -> bool:
    """Return whether a run was closed after all sessions in it ended, by the sessions and ends of a store.

    A posting that was opened again may send participants at any time.
    """
    closed = [place for place, one in enumerate(entries) if one.kind == "close" and _run(one) == run]
    if not closed:
        return False
    close, since = entries[closed[-1]], entries[closed[-1] :]
    own = {row["session"]: row["at"] for row in _person_sessions(tables) if row["run"] == run}
    done = [*own.values(), *(row["at"] for row in tables["ends"] if row["session"] in own)]
    postings = postings_of(entries, run)
    openings = [one for one in since if one.kind in OPENING_KINDS and one.event in ("planned", "done")]
    is_opened = any(one.provider_ref in postings for one in openings)
    return not is_opened and all(at <= close.at for at in done)


def open_runs(entries: Sequence[LedgerEntry], tables: Mapping[str, Rows]) -> list[int]:
    """Return the runs with participants, or published, that are not closed."""
    with_sessions = {int(row["run"]) for row in _person_sessions(tables)}
    runs = sorted(with_sessions | {run for run in runs_of(entries) if published_postings(entries, run)})
    return [run for run in runs if not _is_run_closed(run, entries, tables)]


def _person_sessions(tables: Mapping[str, Rows]) -> Rows:
    return [row for row in tables["sessions"] if is_person(row["mode"])]


def _run(entry: LedgerEntry) -> int:
    return int(evidence_of(entry).get("run", 1))


# Whether the bonuses are up to date


def _stale_bonuses(study: Study, tables: Mapping[str, Rows]) -> list[Problem]:
    """Return that clean/bonus.csv is older than the store, where the study gives bonuses and the file exists."""
    bonuses = read_bonuses(study)
    if study.clean.bonus is None or not tables or bonuses.problems:  # paying reports what is wrong with the file
        return []
    written = {(one.participant, one.rule): one.amount for rows in bonuses.by_rule.values() for one in rows}
    judging = judge_tables(study, tables)
    rows = bonus_rows(judging.judged, judging.study.clean.bonus)
    due = {(row["participant"], row["rule"]): money(f"{row['amount']} {row['currency']}") for row in rows}
    differences = [amount.minor - (written[key].minor if key in written else 0) for key, amount in due.items()]
    missing = sum(one for one in differences if one > 0)
    if not missing:
        return []
    currency = next(iter(due.values())).currency
    what = f"does not know what came since: {Sum(missing, currency)} of bonuses are missing in it"
    return [Problem(BONUS_FILE, what, "", "Run `beholder clean`, then `beholder pay --send`.")]
