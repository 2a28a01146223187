"""Launch: check everything, quote, put up a draft, publish."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beholder.errors import Problem, RecruitError, UserError
from beholder.recruiting import preflight
from beholder.recruiting.context import RecruitContext
from beholder.recruiting.contract import Job, Posting, Quote, platform_errors
from beholder.recruiting.invitations import write_invitations, write_job
from beholder.recruiting.launch_record import (
    Launch,
    LaunchRecord,
    cost_lines,
    job_of,
    launch_lines,
    launch_record,
    read_amount,
)
from beholder.recruiting.ledger import cost_beyond_quote, replay
from beholder.recruiting.postings import PUBLISHED_STATES, current_posting, open_posting, record_opening, reschedule
from beholder.recruiting.preflight import (
    LOCAL_URL,
    address_problems,
    advised_pay_warnings,
    cost_of_runs,
    hourly_floor,
    local_address_warnings,
    unreachable_problems,
)
from beholder.store.contract import LedgerEntry
from beholder.study.recruitment import Sum

if TYPE_CHECKING:
    import httpx

    from beholder.workflow.check import Checked


# --- Launching: checked, quoted, put up as a draft; published for the amount that somebody has named ---


async def launch_study(
    context: RecruitContext,
    *,
    publish: str | None = None,
    places: int | None = None,
    public_url: str | None = None,
    dry_run: bool = False,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Launch:
    """Check everything, put the study up as a draft, and publish it where its amount is named; return how it stands.

    Done again it finds what is there. `places` is how many in all; once it is published they only grow, for the
    amount of the difference.
    """
    entries = await context.store.ledger.entries()
    if purged := list(preflight.purge_problems(context.study, entries)):
        raise RecruitError(purged)
    before = launch_record(entries, context.study.run)
    url = (public_url or (before.public_url if before else "") or LOCAL_URL).rstrip("/")
    posting, away = await _found(context, before)
    is_published = posting is not None and posting.state in PUBLISHED_STATES
    kept = posting.places if posting is not None and is_published else None
    job, quote, warnings = await _checked(context, url, places, posting if is_published else None, away, transport)
    _grows(job, kept)
    due = await _due(context, job, quote, kept)
    if quote is not None and due is not None:
        warnings += preflight.balance_problems(context.study, quote, due)
    if publish is not None:
        _confirm(context, publish, quote, due)
    found = Launch(
        context.recruiter.mode, job, posting, quote, due, f"{url}/s/{context.study.name}", (), tuple(warnings), ()
    )
    lines = cost_lines(quote, due)
    if not dry_run:
        files = _write(context, job, url)
        posting = await _put_up(context, job, quote, posting, url, before)
        is_due = publish is not None and due is not None
        # What was closed stays so, unless somebody asks for more people.
        if posting is not None and (is_due or (context.is_by_hand and (places or posting.state != "completed"))):
            posting, due = await open_posting(context, job, quote, posting), None
        elif posting is not None:
            posting = await reschedule(context, job, quote, posting, before)
        found = replace(found, posting=posting, due=due, files=files)
    return replace(found, words=(*lines, *launch_lines(context.study, found, dry_run=dry_run), *_notes(context)))


async def _found(context: RecruitContext, before: LaunchRecord | None) -> tuple[Posting | None, list[Problem]]:
    """Return what was put up before, or why nobody can say."""
    try:
        return await current_posting(context, before), []
    except UserError as error:
        return None, list(error.problems)


def _notes(context: RecruitContext) -> list[str]:
    """Return what a recruiter has to say about the draft, such as a feature that the account does not have."""
    return [f"Note: {note}" for note in getattr(context.recruiter, "notes", ())]


async def _checked(
    context: RecruitContext,
    url: str,
    places: int | None,
    posting: Posting | None,
    away: list[Problem],
    transport: httpx.AsyncBaseTransport | None,
) -> tuple[Job, Quote | None, list[Problem]]:
    """Return the job, what it costs and what is worth a look; raise everything that is wrong at once."""
    study = context.study
    checked, problems = await asyncio.to_thread(_look, context)
    warnings = list(checked.warnings) if checked is not None else []
    wrong = list(address_problems(study, url, is_rehearsal=getattr(context.recruiter, "is_rehearsal", False)))
    if study.recruit.mode != "lab" and not wrong:
        wrong = await unreachable_problems(study, url, transport)
    other, unrehearsed = await preflight.rehearsal_problems(context)
    counts = await context.store.counts(context.now(), study.run)
    lists = max(counts["lists"], checked.participants if checked is not None else 1)
    open_lists = counts["lists"] - counts["finished"] - counts["live"]
    wanted, many = preflight.places_of(study, lists, places, posting, max(0, open_lists))
    is_more = posting is None or wanted > posting.places
    late = list(preflight.closing_problems(study, context.now())) if is_more else []
    job = job_of(study, context.store.secret, checked, url, wanted)
    quote: Quote | None = None
    dear, unfit = list(away), list(away)
    if not away:
        quote, dear = await _quoted(context, job)
        unfit = [] if posting is not None else await _unfit(context, job)
    if quote is not None:
        dear = list(preflight.cost_problems(study, quote, *(await _spent(context, quote, posting) if is_more else ())))
        warnings += advised_pay_warnings(study, quote)
    unasked = preflight.unchecked_problems(study) if dear and dear == unfit else []
    if found := preflight.distinct(
        problems, preflight.contact_problems(study), late, many, wrong, other, dear, unfit, unasked
    ):
        raise RecruitError(found)
    minutes = checked.minutes if checked is not None else None
    unread = await preflight.excluded_store_problems(study)
    return (
        job,
        quote,
        [
            *warnings,
            *preflight.study_warnings(study, minutes),
            *local_address_warnings(study, url),
            *unrehearsed,
            *unread,
        ],
    )


async def _quoted(context: RecruitContext, job: Job) -> tuple[Quote | None, list[Problem]]:
    """Return what the job costs, or why nobody can say; nothing where nobody earns anything."""
    if context.study.recruit.reward is None:
        return None, []
    try:
        with platform_errors(context.study):
            return await context.recruiter.quote(job), []
    except UserError as error:
        return None, list(error.problems)


async def _unfit(context: RecruitContext, job: Job) -> list[Problem]:
    """Return everything for which the platform would refuse the draft."""
    try:
        with platform_errors(context.study):
            await context.recruiter.check(job)
    except UserError as error:
        return list(error.problems)
    return []


async def _spent(context: RecruitContext, quote: Quote, posting: Posting | None) -> tuple[int, int]:
    """Return what was paid beyond what the places are quoted, and what other runs cost."""
    entries = await context.store.ledger.entries()
    others = cost_of_runs(context.study, entries, quote.total.currency, besides=context.study.run).minor
    if posting is None:
        return 0, others
    foreseen = quote.screen_outs.minor if posting.slots is None else 0
    return cost_beyond_quote(replay(entries), posting.id, screen_outs=foreseen), others


def _look(context: RecruitContext) -> tuple[Checked | None, list[Problem]]:
    """Return what participants will meet, or the problems of study and stimuli."""
    from beholder.workflow.check import check

    try:
        return check(context.study), []
    except UserError as error:
        return None, list(error.problems)


def _grows(job: Job, kept: int | None) -> None:
    """Raise RecruitError where fewer places are asked for than are published."""
    if kept is not None and job.places < kept:
        what = f"is {job.places}, and {kept} are published"
        fix = "Places only grow. `beholder launch --pause` lets nobody begin for now."
        raise RecruitError(Problem("--places", what, f"{kept} or more", fix))


async def _due(context: RecruitContext, job: Job, quote: Quote | None, kept: int | None) -> Sum | None:
    """Return what has to be named now: all that the places cost, the difference where some are added, or nothing."""
    if quote is None or context.is_by_hand or kept == job.places:
        return None
    if kept is None:
        return quote.total
    with platform_errors(context.study):
        now = await context.recruiter.quote(replace(job, places=kept))
    return quote.total._replace(minor=max(0, quote.total.minor - now.total.minor))


def _confirm(context: RecruitContext, publish: str, quote: Quote | None, due: Sum | None) -> None:
    """Raise RecruitError unless the amount that was named is the one that is due now, and is there to be spent."""
    if quote is None or context.is_by_hand:
        fix = "`beholder launch` alone says how people come."
        raise RecruitError(Problem("--publish", f"does not go with recruit.mode {context.recruiter.mode}", "", fix))
    amount = read_amount(publish, due or quote.total)
    if due is None:
        return  # it is published already
    if amount != due:
        fix = "Nothing was published. `beholder launch` shows what the amount is made of."
        raise RecruitError(Problem("--publish", f"is {amount}, and it costs {due} now", f'"{due}"', fix))
    if problems := list(preflight.balance_problems(context.study, quote, due)):
        raise RecruitError(problems)


def _write(context: RecruitContext, job: Job, url: str) -> tuple[str, ...]:
    """Write what somebody pastes or sends, and return the names of the files."""
    if context.study.recruit.mode not in ("panel", "link"):
        return ()
    secret, folder = context.store.secret, context.study.folder
    written = [write_job(context.study, job, secret), write_invitations(context.study, secret, url, job.places)]
    return tuple(path.relative_to(folder).as_posix() for path in written if path is not None)


async def _put_up(
    context: RecruitContext,
    job: Job,
    quote: Quote | None,
    posting: Posting | None,
    url: str,
    before: LaunchRecord | None,
) -> Posting | None:
    """Put up the draft, or find it, and keep in the ledger what it was; once it is published it stays as it is."""
    is_published = posting is not None and posting.state in PUBLISHED_STATES
    if "draft" in context.recruiter.can and not is_published:
        with platform_errors(context.study):
            posting = await context.recruiter.draft(job)
    evidence = _evidence(context, job, quote, url)
    id = posting.id if posting is not None else job.key
    may_change = context.is_by_hand or not is_published
    if before is None or before.posting != id or (may_change and before.evidence != evidence):
        await context.store.ledger.append(
            [LedgerEntry("draft", "done", context.now(), provider_ref=id, evidence=evidence)]
        )
    if posting is not None and is_published and not context.is_by_hand:
        await record_opening(context, posting, quote)
    return posting


def _evidence(context: RecruitContext, job: Job, quote: Quote | None, url: str) -> dict[str, Any]:
    """Return what the ledger keeps of a launch; nothing of it changes with the hour, so that the same is kept once."""
    asked = {"run": context.study.run, "key": job.key, "url": job.url, "public_url": url, "places": job.places}
    asked |= {"minutes": job.minutes, "reward": str(job.reward) if job.reward.minor else ""}
    asked |= {"screen_out": str(job.screen_out) if job.screen_out is not None else ""}
    if quote is None:
        return asked | {"quote": {}}
    floor = hourly_floor(context.study, quote)
    sums = {"total": quote.total, "hourly": quote.hourly, "floor": floor}
    return asked | {"quote": {name: str(amount) if amount is not None else "" for name, amount in sums.items()}}
