"""Opening a study to people, and its doors after that: what is planned is in the ledger before it is sent."""

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
"""States in which a study has been published."""

_STANDS: Mapping[str, str] = {"active": "open", "draft": "not published yet", "completed": "full or stopped"}
"""States as people call them; the others are words already."""


async def current_posting(context: RecruitContext, before: LaunchRecord | None) -> Posting | None:
    """Return what was put up before, as it stands now; None where there is nothing, or somebody has deleted a draft.

    What was published cannot be deleted: where it is not shown, we ask in the name of somebody else.
    """
    if "draft" not in context.recruiter.can:
        return None
    if context.is_by_hand:
        return await _found_by_hand(context)
    if before is None or is_own_posting(before.posting):
        return None
    with platform_errors(context.study):
        try:
            return await context.recruiter.posting(before.posting)
        except PlatformRefused as error:
            if before.is_published:
                raise RecruitError(_not_shown(context, before.posting, error)) from error
            if isinstance(error, PlatformGone):
                return None
            raise


async def _found_by_hand(context: RecruitContext) -> Posting | None:
    """Return how a study stands that no platform counts: it may have been closed without having been launched."""
    try:
        return await context.recruiter.posting(own_posting(context.study.name, context.study.run))
    except PlatformGone:
        return None


def _not_shown(context: RecruitContext, posting: str, error: PlatformRefused) -> Problem:
    run = context.study.run
    what = f"does not show {posting}, under which run {run} was published: {error}"
    fix = (
        "Nothing was done. The token may be of another account or workspace: take the one that published it. "
        f"To put it up anew, write run: {run + 1}."
    )
    return Problem(context.recruiter.mode.capitalize(), what, "", fix)


def reopening_advice(context: RecruitContext) -> str:
    """Return what brings more people to a study that its platform has closed."""
    name, run = context.recruiter.mode.capitalize(), context.study.run + 1
    return f"{name} opens it again for more places only: `beholder launch --places N`. Or write run: {run}."


async def open_posting(context: RecruitContext, job: Job, quote: Quote | None, posting: Posting) -> Posting:
    """Publish a draft, or add places to what is published; nothing where that is done."""
    is_more = posting.state in PUBLISHED_STATES
    if is_more and job.places <= posting.places:
        return posting
    evidence: dict[str, Json] = {"total": str(quote.total) if quote is not None else "", "places": job.places}
    evidence |= {} if is_more else {"opens": context.study.recruit.opens or ""}
    entry = LedgerEntry(
        "places" if is_more else "publish", "planned", context.now(), provider_ref=posting.id, evidence=evidence
    )
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        try:
            if is_more:
                found = await context.recruiter.set_places(posting.id, job.places)
            else:
                found = await context.recruiter.publish(posting.id)
        except (PlatformRefused, PlatformAway):
            await context.store.ledger.append([replace(entry, event="refused", at=context.now())])
            raise
    await context.store.ledger.append([replace(entry, event="done", at=context.now())])
    return found


async def reschedule(
    context: RecruitContext, job: Job, quote: Quote | None, posting: Posting, before: LaunchRecord | None
) -> Posting:
    """Return what opens by itself with the time that the study names now; that costs nothing more."""
    is_late = before is not None and before.opens is not None and before.opens != (context.study.recruit.opens or "")
    if posting.state != "scheduled" or not is_late or job.places != posting.places:
        return posting
    return await open_posting(context, job, quote, (await change_posting(context, "pause")).posting)


async def record_opening(context: RecruitContext, posting: Posting, quote: Quote | None) -> None:
    """Write that something was done which was planned, sent, and cut off before anybody heard that it was.

    Also that a person has published it, on the platform's own page.
    """
    entries = await context.store.ledger.entries()
    done = _unheard(entries, posting)
    if posting.id not in published_postings(entries, context.study.run):
        is_quoted = quote is not None and quote.places == posting.places
        evidence: dict[str, Json] = {"total": str(quote.total) if quote and is_quoted else "", "places": posting.places}
        done.append(LedgerEntry("publish", "done", context.now(), provider_ref=posting.id, evidence=evidence))
    await _write_done(context, done)


def cancelled_publication(posting: Posting, at: datetime) -> list[LedgerEntry]:
    """Return that what was to open later is not published any more: somebody may delete such a draft."""
    return [LedgerEntry("publish", "cancelled", at, provider_ref=posting.id)] if posting.state == "draft" else []


def _unheard(entries: Sequence[LedgerEntry], posting: Posting) -> list[LedgerEntry]:
    """Return what was planned, and is done by how the study stands, where nobody heard that it was."""
    waiting: dict[str, LedgerEntry] = {}
    for entry in entries:
        if entry.provider_ref == posting.id and entry.kind in OPENING_KINDS:
            waiting.pop(entry.kind, None)
            if entry.event == "planned":
                waiting[entry.kind] = entry
    return [entry for entry in waiting.values() if _is_seen(entry, posting)]


def _is_seen(entry: LedgerEntry, posting: Posting) -> bool:
    """Return whether it shows that something was done; of letting people in again, what was set aside for it."""
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
    """Let nobody begin for now, or let people begin again; return how the study stands on its platform.

    What that costs on top has to be named as `publish`. What was to open later is a draft again when it is paused.
    """
    if "pause" not in context.recruiter.can:
        fix = "Nobody begins while the server is stopped, nor from recruit.closes on."
        raise RecruitError(Problem(f"--{which}", f"does not go with recruit.mode {context.recruiter.mode}", "", fix))
    before = launch_record(await context.store.ledger.entries(), context.study.run)
    posting = await current_posting(context, before)
    wanted, state = (("active", "scheduled"), "paused") if which == "pause" else (("paused",), "active")
    if which == "resume" and context.is_by_hand:
        wanted = (*wanted, "completed")
    if posting is None or posting.state not in (*wanted, state):
        stands = _STANDS.get(posting.state, posting.state) if posting is not None else "not launched"
        fix = "`beholder launch` says how it stands."
        if which == "resume" and posting is not None and posting.state == "completed":
            fix = reopening_advice(context)
        allowed = f"a study that is {_STANDS.get(wanted[0], wanted[0])}"
        raise RecruitError(Problem(f"--{which}", f"finds the study {stands}", allowed, fix))
    if which == "resume" and not dry_run:
        before = await _caught_up(context, posting)
    if posting.state == state:
        return PostingChange(posting, None, change_lines(which, posting, None, dry_run=dry_run))
    more = await _resuming(context, posting) if which == "resume" else None
    if dry_run:
        due = more.due if more is not None else None
        return PostingChange(posting, due, change_lines(which, posting, due, dry_run=True))
    if more is not None:
        _confirm(publish, more.due)
        await _check_budget(context, more.due)
    entry = LedgerEntry(
        which, "planned", context.now(), provider_ref=posting.id, evidence=_committed(before, posting, more)
    )
    await context.store.ledger.append([entry])
    with platform_errors(context.study):
        if which == "pause":
            found = await context.recruiter.pause(posting.id)
        else:
            found = await context.recruiter.resume(posting.id, more.slots if more is not None else None)
    done = replace(entry, event="done", at=context.now())
    await context.store.ledger.append([done, *cancelled_publication(found, context.now())])
    return PostingChange(found, None, change_lines(which, found, None, dry_run=False))


async def _caught_up(context: RecruitContext, posting: Posting) -> LaunchRecord | None:
    """Return the launch with what an earlier resuming has set aside before it was cut off."""
    await _write_done(context, _unheard(await context.store.ledger.entries(), posting))
    return launch_record(await context.store.ledger.entries(), context.study.run)


async def _resuming(context: RecruitContext, posting: Posting) -> ResumeCost | None:
    """Return what it takes to let people in again, or raise RecruitError where nobody could begin."""
    entries = await context.store.ledger.entries()
    if vain := [*purge_problems(context.study, entries), *closing_problems(context.study, context.now())]:
        raise RecruitError(vain)
    with platform_errors(context.study):
        return await context.recruiter.resuming(posting.id)


def _confirm(publish: str | None, due: Sum) -> None:
    """Raise RecruitError unless the amount that was named is the one that is due."""
    if publish is None:
        what = f"sets aside {due} more for people who do not fit: what there was is used up"
        fix = f'Nobody was let in again. `beholder launch --resume --publish "{due}"` does it.'
        raise RecruitError(Problem("--resume", what, "", fix))
    if (amount := read_amount(publish, due)) != due:
        what, fix = f"is {amount}, and it costs {due} now", "Nobody was let in again."
        raise RecruitError(Problem("--publish", what, f'"{due}"', fix))


async def _check_budget(context: RecruitContext, due: Sum) -> None:
    """Raise RecruitError where an amount goes beyond the budget over all runs."""
    if context.study.budget is None:
        return
    cost = cost_of_runs(context.study, await context.store.ledger.entries(), due.currency)
    budget, total = money(context.study.budget), cost._replace(minor=cost.minor + due.minor)
    if total.minor > budget.minor:
        what = f"is {budget}, and with {due} more for people who do not fit the study may cost {total}"
        fix = "Nobody was let in again. Raise it, or end here: `beholder close`."
        raise RecruitError(context.study.problem("budget", what, f"{total} or more", fix))


def _committed(before: LaunchRecord | None, posting: Posting, more: ResumeCost | None) -> dict[str, Json] | None:
    """Return what the study costs at most from now on; None where that stays."""
    if more is None or before is None or before.total is None:
        return None
    total = before.total._replace(minor=before.total.minor + more.due.minor)
    return {"total": str(total), "places": posting.places, "slots": more.slots}


def _number(entry: LedgerEntry, name: str) -> int:
    number = evidence_of(entry).get(name)
    return number if isinstance(number, int) else 0
