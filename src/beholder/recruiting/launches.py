"""Launching a study: check everything, quote, create a draft, and publish it for a confirmed amount."""

from __future__ import annotations

import asyncio
import os
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
from beholder.study.deployment import is_tunnelled
from beholder.study.recruitment import Sum

if TYPE_CHECKING:
    import httpx

    from beholder.workflow.check import Checked


async def launch_study(
    context: RecruitContext,
    *,
    publish: str | None = None,
    places: int | None = None,
    public_url: str | None = None,
    temporary: str | None = None,
    dry_run: bool = False,
    transport: httpx.AsyncBaseTransport | None = None,
) -> Launch:
    """Check everything, create a draft, publish it where its amount is confirmed, and return the launch.

    A second call continues the first. `places` is the total; once published it only grows, for the amount of the
    difference. `temporary` are the words of a person who publishes at an address that ends with their own machine.
    """
    entries = await context.store.ledger.entries()
    if purged := list(preflight.purge_problems(context.study, entries)):
        raise RecruitError(purged)
    before = launch_record(entries, context.study.run)
    url = (public_url or (before.public_url if before else "") or LOCAL_URL).rstrip("/")
    posting, unavailable = await _read_posting(context, before)
    is_published = posting is not None and posting.state in PUBLISHED_STATES
    published = posting.places if posting is not None and is_published else None
    job, quote, warnings = await _checked(
        context, url, places, posting if is_published else None, unavailable, transport, is_dry=dry_run
    )
    _check_growth(job, published)
    due = await _due(context, job, quote, published)
    if quote is not None and due is not None:
        warnings += preflight.balance_problems(context.study, quote, due)
    if publish is not None:
        _check_lasting(context, url, temporary)
        _confirm(context, publish, quote, due)
    result = Launch(
        context.recruiter.mode, job, posting, quote, due, f"{url}/s/{context.study.name}", (), tuple(warnings), ()
    )
    lines = cost_lines(quote, due)
    if not dry_run:
        files = _write(context, job, url)
        posting = await _post(context, job, quote, posting, url, before)
        is_due = publish is not None and due is not None
        # A closed study stays closed, unless more participants are requested.
        if posting is not None and (is_due or (context.is_by_hand and (places or posting.state != "completed"))):
            posting, due = await open_posting(context, job, quote, posting, temporary), None
        elif posting is not None:
            posting = await reschedule(context, job, quote, posting, before)
        result = replace(result, posting=posting, due=due, files=files)
    return replace(result, words=(*lines, *launch_lines(context.study, result, dry_run=dry_run), *_notes(context)))


async def _read_posting(context: RecruitContext, before: LaunchRecord | None) -> tuple[Posting | None, list[Problem]]:
    """Return the current posting, or the problems that keep us from reading it."""
    try:
        return await current_posting(context, before), []
    except UserError as error:
        return None, list(error.problems)


def _notes(context: RecruitContext) -> list[str]:
    """Return the recruiter's notes about the draft, such as a feature that the account lacks."""
    return [f"Note: {note}" for note in context.recruiter.notes]


async def _checked(
    context: RecruitContext,
    url: str,
    places: int | None,
    posting: Posting | None,
    unavailable: list[Problem],
    transport: httpx.AsyncBaseTransport | None,
    *,
    is_dry: bool,
) -> tuple[Job, Quote | None, list[Problem]]:
    """Return the job, its cost and the warnings; raise RecruitError with all problems at once.

    Where nothing is created (`is_dry`), a server that does not run yet is worth a warning.
    """
    study = context.study
    checked, problems = await asyncio.to_thread(_check_study, context)
    warnings = list(checked.warnings) if checked is not None else []
    address = list(address_problems(study, url, is_rehearsal=context.recruiter.is_rehearsal))
    serving, rehearsal = await preflight.rehearsal_problems(context)
    if not study.recruit.source.is_on_site and not address:
        address = await unreachable_problems(study, url, transport)
        serving = [] if address else serving  # to start the server is enough
    if is_dry:
        warnings += [*address, *serving]
        address, serving = [], []
    counts = await context.store.counts(context.now(), study.run)
    there = study.design.lists_in_all(counts["lists"])
    lists = max(there, checked.participants if checked is not None else 1)
    open_lists = there - counts["finished"] - counts["live"]
    total, too_many = preflight.places_of(study, lists, places, posting, max(0, open_lists))
    is_more = posting is None or total > posting.places
    closed = list(preflight.closing_problems(study, context.now())) if is_more else []
    job = job_of(study, context.store.secret, checked, context.recruiter.start_address(url), total)
    quote: Quote | None = None
    cost, draft = list(unavailable), list(unavailable)
    if not unavailable:
        quote, cost = await _quote(context, job)
        draft = [] if posting is not None else await _draft_problems(context, job)
    if quote is not None:
        others = await _other_costs(context, quote, posting) if is_more else ()
        cost = list(preflight.cost_problems(study, quote, *others))
        warnings += advised_pay_warnings(study, quote)
    unchecked = preflight.unchecked_problems(study) if cost and cost == draft else []
    if all_problems := preflight.distinct(
        # In the order in which to do it: the study file, the account, an address for the server, the server.
        problems,
        preflight.contact_problems(study),
        closed,
        too_many,
        cost,
        draft,
        unchecked,
        address,
        serving,
    ):
        raise RecruitError(all_problems)
    minutes = checked.minutes if checked is not None else None
    excluded = await preflight.excluded_store_problems(study)
    warnings += [*preflight.study_warnings(study, minutes), *local_address_warnings(study, url), *rehearsal, *excluded]
    return job, quote, warnings


async def _quote(context: RecruitContext, job: Job) -> tuple[Quote | None, list[Problem]]:
    """Return the cost of the job, or why it is unknown; None where nobody is paid."""
    if context.study.recruit.reward is None:
        return None, []
    try:
        with platform_errors(context.study):
            return await context.recruiter.quote(job), []
    except UserError as error:
        return None, list(error.problems)


async def _draft_problems(context: RecruitContext, job: Job) -> list[Problem]:
    """Return every reason for which the platform would refuse the draft."""
    try:
        with platform_errors(context.study):
            await context.recruiter.check(job)
    except UserError as error:
        return list(error.problems)
    return []


async def _other_costs(context: RecruitContext, quote: Quote, posting: Posting | None) -> tuple[int, int]:
    """Return what was paid beyond the quote for the places, and what other runs cost."""
    entries = await context.store.ledger.entries()
    others = cost_of_runs(context.study, entries, quote.total.currency, besides=context.study.run).minor
    if posting is None:
        return 0, others
    foreseen = quote.screen_outs.minor if posting.slots is None else 0
    return cost_beyond_quote(replay(entries), posting.id, screen_outs=foreseen), others


def _check_study(context: RecruitContext) -> tuple[Checked | None, list[Problem]]:
    """Return what `check` finds, or the problems of study and stimuli."""
    from beholder.workflow.check import check

    try:
        return check(context.study), []
    except UserError as error:
        return None, list(error.problems)


def _check_growth(job: Job, published: int | None) -> None:
    """Raise RecruitError where fewer places are requested than are published."""
    if published is not None and job.places < published:
        what = f"is {job.places}, and {published} are published"
        fix = "Places only grow. `beholder launch --pause` lets nobody begin for now."
        raise RecruitError(Problem("--places", what, f"{published} or more", fix))


async def _due(context: RecruitContext, job: Job, quote: Quote | None, published: int | None) -> Sum | None:
    """Return the amount to confirm now: the total, the difference where places are added, or None."""
    if quote is None or context.is_by_hand or published == job.places:
        return None
    if published is None:
        return quote.total
    with platform_errors(context.study):
        now = await context.recruiter.quote(replace(job, places=published))
    return quote.total._replace(minor=max(0, quote.total.minor - now.total.minor))


def _check_lasting(context: RecruitContext, url: str, words: str | None) -> None:
    """Raise RecruitError where people are paid to come to an address that may end before they have finished."""
    if words is not None and len(words.split()) < _FEWEST_WORDS:
        raise RecruitError(Problem("--temporary", f"is {words!r}", "why, in three words or more; they are kept"))
    is_own = is_tunnelled(url) or bool(os.environ.get("BEHOLDER_TEMPORARY"))
    if is_own and words is None and not context.is_by_hand:
        what = f"is {url}, which leads to a machine that somebody may close: those inside would lose their places"
        fix = (
            "Deploy to a machine that stays on (`beholder deploy up --to user@host`); or say why it will: "
            '--temporary "the laptop stays on until Friday".'
        )
        raise RecruitError(Problem("--public-url", what, "an address that stays", fix))


_FEWEST_WORDS = 3


def _confirm(context: RecruitContext, publish: str, quote: Quote | None, due: Sum | None) -> None:
    """Raise RecruitError unless the confirmed amount is the one due now, and the balance covers it."""
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
    """Write the files to paste or send, and return their names."""
    if not context.study.recruit.source.is_handed_out:
        return ()
    secret, folder = context.store.secret, context.study.folder
    written = [write_job(context.study, job, secret), write_invitations(context.study, secret, url, job.places)]
    return tuple(path.relative_to(folder).as_posix() for path in written if path is not None)


async def _post(
    context: RecruitContext,
    job: Job,
    quote: Quote | None,
    posting: Posting | None,
    url: str,
    before: LaunchRecord | None,
) -> Posting | None:
    """Create or find the draft, and record it in the ledger; once published it stays as it is."""
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
    """Return what the ledger keeps of a launch. It does not depend on the time, so the same launch is kept once."""
    evidence = {"run": context.study.run, "key": job.key, "url": job.url, "public_url": url, "places": job.places}
    evidence |= {"minutes": job.minutes, "reward": str(job.reward) if job.reward.minor else ""}
    evidence |= {"screen_out": str(job.screen_out) if job.screen_out is not None else ""}
    if quote is None:
        return evidence | {"quote": {}}
    floor = hourly_floor(context.study, quote)
    sums = {"total": quote.total, "hourly": quote.hourly, "floor": floor}
    return evidence | {"quote": {name: str(amount) if amount is not None else "" for name, amount in sums.items()}}
