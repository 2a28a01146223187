"""Postings: publish a study, add places, pause and resume it.

Every change is planned in the ledger before it is sent, so that one without an answer can be completed later.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Literal

from beholder.errors import Problem, RecruitError
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import (
    Job,
    PlatformAway,
    PlatformGone,
    PlatformRefused,
    Posting,
    Quote,
    ResumeCost,
    platform_errors,
)
from beholder.recruiting.launch_record import (
    OPENING_KINDS,
    LaunchRecord,
    PostingChange,
    change_lines,
    launch_record,
    published_postings,
    read_amount,
)
from beholder.recruiting.ledger import evidence_of
from beholder.recruiting.preflight import closing_problems, cost_of_runs, purge_problems
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum, is_own_posting, money, own_posting
from beholder.types import Json

PUBLISHED_STATES = ("scheduled", "publishing", "active", "paused", "completed")
"""States of a posting that has been published."""

_STATE_WORDS: Mapping[str, str] = {"active": "open", "draft": "not published yet", "completed": "full or stopped"}
"""States as messages call them, where that differs."""


async def current_posting(context: RecruitContext, before: LaunchRecord | None) -> Posting | None:
    """Return the current state of the posting; None where there is none, or its draft was deleted.

    A published study cannot be deleted: if the platform does not show it, the token is of another account.
    """
    if "draft" not in context.recruiter.can:
        return None
    if context.is_by_hand:
        return await _manual_posting(context)
    if before is None or is_own_posting(before.posting):
        return None
    with platform_errors(context.study):
        try:
            return await context.recruiter.posting(before.posting)
        except PlatformRefused as error:
            if before.is_published:
                raise RecruitError(_not_shown_problem(context, before.posting, error)) from error
            if isinstance(error, PlatformGone):
                return None
            raise


async def _manual_posting(context: RecruitContext) -> Posting | None:
    """Return the state of a study without a platform, which may be closed without having been launched."""
    try:
        return await context.recruiter.posting(own_posting(context.study.name, context.study.run))
    except PlatformGone:
        return None


def _not_shown_problem(context: RecruitContext, posting: str, error: PlatformRefused) -> Problem:
    run = context.study.run
    what = f"does not show {posting}, under which run {run} was published: {error}"
    fix = (
        "Nothing was done. The token may be of another account or workspace: take the one that published it. "
        f"To put it up anew, write run: {run + 1}."
    )
    return Problem(context.study.recruit.source.title, what, "", fix)


def reopening_advice(context: RecruitContext) -> str:
    """Return how to get more participants for a study that its platform has closed."""
    name, run = context.study.recruit.source.title, context.study.run + 1
    return f"{name} opens it again for more places only: `beholder launch --places N`. Or write run: {run}."


async def open_posting(
    context: RecruitContext, job: Job, quote: Quote | None, posting: Posting, temporary: str | None = None
) -> Posting:
    """Publish a draft, or add places to a published study; do nothing where that is done.

    `temporary` are the words that somebody publishes with at an address that ends with their own machine.
    """
    is_more = posting.state in PUBLISHED_STATES
    if is_more and job.places <= posting.places:
        return posting
    evidence: dict[str, Json] = {"total": str(quote.total) if quote is not None else "", "places": job.places}
    evidence |= {} if is_more else {"opens": context.study.recruit.opens or ""}
    evidence |= {} if temporary is None else {"temporary": temporary}
    entry = LedgerEntry(
        "places" if is_more else "publish", "planned", context.now(), provider_ref=posting.id, evidence=evidence
    )
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        try:
            if is_more:
                changed = await context.recruiter.set_places(posting.id, job.places)
            else:
                changed = await context.recruiter.publish(posting.id)
        except (PlatformRefused, PlatformAway):
            await context.store.ledger.append([replace(entry, event="refused", at=context.now())])
            raise
    await context.store.ledger.append([replace(entry, event="done", at=context.now())])
    return changed


async def reschedule(
    context: RecruitContext, job: Job, quote: Quote | None, posting: Posting, before: LaunchRecord | None
) -> Posting:
    """Publish a scheduled study again where its opening time has changed; that costs nothing more."""
    is_late = before is not None and before.opens is not None and before.opens != (context.study.recruit.opens or "")
    if posting.state != "scheduled" or not is_late or job.places != posting.places:
        return posting
    return await open_posting(context, job, quote, (await change_posting(context, "pause")).posting)


async def record_opening(context: RecruitContext, posting: Posting, quote: Quote | None) -> None:
    """Record what was planned and sent, and is done according to the platform although no answer came.

    Also record a publication that a person made on the platform's own page.
    """
    entries = await context.store.ledger.entries()
    done = _unconfirmed_entries(entries, posting)
    if posting.id not in published_postings(entries, context.study.run):
        is_quoted = quote is not None and quote.places == posting.places
        evidence: dict[str, Json] = {"total": str(quote.total) if quote and is_quoted else "", "places": posting.places}
        done.append(LedgerEntry("publish", "done", context.now(), provider_ref=posting.id, evidence=evidence))
    await _write_done(context, done)


def cancelled_publication(posting: Posting, at: datetime) -> list[LedgerEntry]:
    """Return the entry that a scheduled publication was cancelled, so that its draft may be deleted; or nothing."""
    return [LedgerEntry("publish", "cancelled", at, provider_ref=posting.id)] if posting.state == "draft" else []


def _unconfirmed_entries(entries: Sequence[LedgerEntry], posting: Posting) -> list[LedgerEntry]:
    """Return what was planned without an answer, and is done according to the posting."""
    waiting: dict[str, LedgerEntry] = {}
    for entry in entries:
        if entry.provider_ref == posting.id and entry.kind in OPENING_KINDS:
            waiting.pop(entry.kind, None)
            if entry.event == "planned":
                waiting[entry.kind] = entry
    return [entry for entry in waiting.values() if _is_carried_out(entry, posting)]


def _is_carried_out(entry: LedgerEntry, posting: Posting) -> bool:
    """Return whether the posting shows that a planned entry was done; for a resume, the money it committed."""
    places, slots = _number(entry, "places"), _number(entry, "slots")
    if entry.kind == "resume":
        return slots > 0 and posting.places == places and (posting.slots or 0) >= slots
    return entry.kind == "publish" or places <= posting.places


async def _write_done(context: RecruitContext, planned: Sequence[LedgerEntry]) -> None:
    if planned:
        await context.store.ledger.append(
            [replace(entry, event="done", at=context.now(), entry=0) for entry in planned]
        )


async def change_posting(
    context: RecruitContext, which: Literal["pause", "resume"], *, publish: str | None = None, dry_run: bool = False
) -> PostingChange:
    """Pause or resume recruiting, and return the state of the study on its platform.

    An additional cost has to be confirmed as `publish`. Pausing a scheduled study makes it a draft again.
    """
    if "pause" not in context.recruiter.can:
        fix = "Nobody begins while the server is stopped, nor from recruit.closes on."
        raise RecruitError(Problem(f"--{which}", f"does not go with recruit.mode {context.recruiter.mode}", "", fix))
    before = launch_record(await context.store.ledger.entries(), context.study.run)
    posting = await current_posting(context, before)
    allowed_states, state = (("active", "scheduled"), "paused") if which == "pause" else (("paused",), "active")
    if which == "resume" and context.is_by_hand:
        allowed_states = (*allowed_states, "completed")
    if posting is None or posting.state not in (*allowed_states, state):
        current = _STATE_WORDS.get(posting.state, posting.state) if posting is not None else "not launched"
        fix = "`beholder launch` says how it stands."
        if which == "resume" and posting is not None and posting.state == "completed":
            fix = reopening_advice(context)
        allowed = f"a study that is {_STATE_WORDS.get(allowed_states[0], allowed_states[0])}"
        raise RecruitError(Problem(f"--{which}", f"finds the study {current}", allowed, fix))
    if which == "resume" and not dry_run:
        before = await _updated_record(context, posting)
    if posting.state == state:
        return PostingChange(posting, None, change_lines(which, posting, None, dry_run=dry_run))
    cost = await _resume_cost(context, posting) if which == "resume" else None
    if dry_run:
        due = cost.due if cost is not None else None
        return PostingChange(posting, due, change_lines(which, posting, due, dry_run=True))
    if cost is not None:
        _check_amount(publish, cost.due)
        await _check_budget(context, cost.due)
    entry = LedgerEntry(
        which, "planned", context.now(), provider_ref=posting.id, evidence=_committed(before, posting, cost)
    )
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        if which == "pause":
            changed = await context.recruiter.pause(posting.id)
        else:
            changed = await context.recruiter.resume(posting.id, cost.slots if cost is not None else None)
    done = replace(entry, event="done", at=context.now())
    await context.store.ledger.append([done, *cancelled_publication(changed, context.now())])
    return PostingChange(changed, None, change_lines(which, changed, None, dry_run=False))


async def _updated_record(context: RecruitContext, posting: Posting) -> LaunchRecord | None:
    """Return the launch record, including what an earlier resume without an answer has committed."""
    await _write_done(context, _unconfirmed_entries(await context.store.ledger.entries(), posting))
    return launch_record(await context.store.ledger.entries(), context.study.run)


async def _resume_cost(context: RecruitContext, posting: Posting) -> ResumeCost | None:
    """Return what resuming costs, or raise RecruitError where nobody could begin."""
    entries = await context.store.ledger.entries()
    if problems := [*purge_problems(context.study, entries), *closing_problems(context.study, context.now())]:
        raise RecruitError(problems)
    with platform_errors(context.study):
        return await context.recruiter.resuming(posting.id)


def _check_amount(publish: str | None, due: Sum) -> None:
    """Raise RecruitError unless the confirmed amount is the one due."""
    if publish is None:
        what = f"sets aside {due} more for people who do not fit: what there was is used up"
        fix = f'Nobody was let in again. `beholder launch --resume --publish "{due}"` does it.'
        raise RecruitError(Problem("--resume", what, "", fix))
    if (amount := read_amount(publish, due)) != due:
        what, fix = f"is {amount}, and it costs {due} now", "Nobody was let in again."
        raise RecruitError(Problem("--publish", what, f'"{due}"', fix))


async def _check_budget(context: RecruitContext, due: Sum) -> None:
    """Raise RecruitError where an amount exceeds the budget over all runs."""
    if context.study.budget is None:
        return
    cost = cost_of_runs(context.study, await context.store.ledger.entries(), due.currency)
    budget, total = money(context.study.budget), cost._replace(minor=cost.minor + due.minor)
    if total.minor > budget.minor:
        what = f"is {budget}, and with {due} more for people who do not fit the study may cost {total}"
        fix = "Nobody was let in again. Raise it, or end here: `beholder close`."
        raise RecruitError(context.study.problem("budget", what, f"{total} or more", fix))


def _committed(before: LaunchRecord | None, posting: Posting, cost: ResumeCost | None) -> dict[str, Json] | None:
    """Return what the study costs at most from now on; None where that is unchanged."""
    if cost is None or before is None or before.total is None:
        return None
    total = before.total._replace(minor=before.total.minor + cost.due.minor)
    return {"total": str(total), "places": posting.places, "slots": cost.slots}


def _number(entry: LedgerEntry, name: str) -> int:
    number = evidence_of(entry).get(name)
    return number if isinstance(number, int) else 0
