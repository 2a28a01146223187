"""Preflight: what must be right before participants come, and what deserves a warning, all reported at once.

It covers the study itself, whether participants reach the server, whether they are paid enough, and the budget over all
runs.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.errors import Problem, RecruitError, StoreError
from beholder.formats import plain_count
from beholder.recruiting.context import RecruitContext, without_budget
from beholder.recruiting.contract import Posting, Quote
from beholder.recruiting.launch_record import launch_record, runs_of
from beholder.recruiting.ledger import cost_beyond_quote, last_purge, manual_payments, replay
from beholder.store.contract import LedgerEntry, StoreUnavailable
from beholder.store.open import open_store, read_rows
from beholder.study.model import Study
from beholder.study.recruitment import Recruit, Sum, is_closed, is_robot, money
from beholder.study.serialization import resolved_yaml

if TYPE_CHECKING:
    import httpx


_LONGER = 1.25
"""A session is reported if our estimate is this many times the stated minutes."""


def contact_problems(study: Study) -> Iterator[Problem]:
    """Yield what a study with paid or invited participants must have."""
    if study.contact is None and study.recruit.source.needs_contact:
        yield study.problem(
            "contact", "is not written", "an e-mail or web address", "People need somebody whom they can ask."
        )


def purge_problems(study: Study, entries: Sequence[LedgerEntry]) -> Iterator[Problem]:
    """Yield that identities were purged, so that new participants could be neither matched nor paid."""
    purge = last_purge(entries)
    if purge is not None:
        what = f"who is who was erased on {purge.at:%Y-%m-%d}, so whoever came now could be neither matched nor paid"
        yield Problem(study.name, what, fix="Put the new run in a new folder.")


def closing_problems(study: Study, now: datetime) -> Iterator[Problem]:
    """Yield that the study has closed, so that no participants are sent in vain."""
    if is_closed(study.recruit, now):
        fix = "Write a later one, restart `beholder serve`, and launch again; or leave it out."
        yield study.problem("recruit.closes", f"is {study.recruit.closes}, which is past", "a time to come", fix)


def study_warnings(study: Study, minutes: float | None) -> Iterator[Problem]:
    """Yield warnings about the study itself."""
    if study.contact is None and not study.recruit.source.needs_contact:
        yield study.problem("contact", "is not written", "", "People may want somebody whom they can ask.")
    if study.texts.consent is None:
        fix = "Say who you are, what is kept and for how long; most ethics boards ask for it."
        yield study.problem("texts.consent", "is not written, so that people read ours", "", fix)
    stated = study.recruit.minutes
    if stated is not None and minutes is not None and minutes > _LONGER * stated:
        what = f"is {stated:g}, and by our estimate a session takes about {minutes:.0f}"
        yield study.problem("recruit.minutes", what, "", "Rehearse it yourself, or tell people the longer time.")


def places_of(
    study: Study, lists: int, requested: int | None, posting: Posting | None = None, open_lists: int = 0
) -> tuple[int, list[Problem]]:
    """Return the number of places, and the problem that the plan has too few lists for it.

    Some participants take a place on a platform and finish nothing, so there may be more places than lists.
    """
    each = study.design.sessions_per_participant
    people = -(-lists // each)
    published = posting.places if posting is not None else None
    first = study.design.looks[0] if study.design.looks else 0  # the others are asked when it has been looked
    places = requested or published or study.recruit.places or first or people
    if posting is not None:
        people = max(people, posting.taken + -(-open_lists // each))
    if places <= people or places == published:
        return places, []
    what, allowed = f"is {places}, and the plan is for {people}", f"1 to {people}"
    fix = f"`beholder extend --participants {(places - people) * each}` adds lists for the others."
    problem = (
        Problem("--places", what, allowed, fix) if requested else study.problem("recruit.places", what, allowed, fix)
    )
    return places, [problem]


def cost_problems(study: Study, quote: Quote, on_top: int = 0, other_runs: int = 0) -> Iterator[Problem]:
    """Yield that the study pays too little, or costs more than its budget.

    `on_top` was already paid beyond its places, `other_runs` is what its other runs cost.
    """
    yield from floor_problems(study, quote)
    if study.budget is None:
        return
    spent = on_top + other_runs
    budget, total = money(study.budget), quote.total._replace(minor=quote.total.minor + spent)
    if total.minor > budget.minor:
        fitting = max(0, quote.places * (budget.minor - spent) // quote.total.minor)
        fix = f"Up to {fitting} would fit: recruit.places: {fitting}." if fitting else "Not even one would fit."
        paid = f", with {quote.total._replace(minor=on_top)} that others have got" if on_top else ""
        paid += f", with {quote.total._replace(minor=other_runs)} for other runs" if other_runs else ""
        what = f"is {budget}, and {plain_count(quote.places, 'person', 'people')} may cost {total}{paid}"
        yield study.problem("budget", what, f"{total} or more", fix)


def balance_problems(study: Study, quote: Quote, due: Sum) -> Iterator[Problem]:
    """Yield that the balance is below the amount due."""
    if quote.balance is not None and quote.balance.minor < due.minor:
        missing = due._replace(minor=due.minor - quote.balance.minor)
        where = f"the balance on {study.recruit.source.title}"
        what = f"is {quote.balance}, and {due} are due"
        yield Problem(where, what, "", f"Top it up by {missing}; nothing can be published before.")


def unchecked_problems(study: Study) -> list[Problem]:
    """Return what could not be checked, as the platform did not answer."""
    what = "was not asked what the study costs, nor whether it knows the filters, groups and projects of recruit"
    return [Problem(study.recruit.source.title, what, "", "That is checked as soon as it answers.")]


async def rehearsal_problems(context: RecruitContext) -> tuple[list[Problem], list[Problem]]:
    """Return that the current study was never served; and the warning that no robot has completed it."""
    text = without_budget(resolved_yaml(context.study))
    served = await read_rows(context.store, "studies")
    digests = {row["digest"] for row in served if without_budget(row["yaml"]) == text}
    if not digests:
        what = "has not served study.yaml as it is now" if served else "has served nothing yet"
        start = "Stop `beholder serve` if it runs, and start it again."
        fix = start if served else "Start `beholder serve --public-url ADDRESS` and leave it running."
        return [Problem("the store", what, "", fix)], []
    ends = {row["session"] for row in await read_rows(context.store, "ends") if row["outcome"] == "completed"}
    robots = [row for row in await read_rows(context.store, "sessions") if is_robot(row["mode"])]
    if any(row["digest"] in digests and row["session"] in ends for row in robots):
        return [], []
    fix = "Run `beholder simulate --participants 20` before `beholder serve`, and look at the report."
    return [], [Problem(context.study.where("name"), "no robot has finished the study as it is now", "", fix)]


async def excluded_store_problems(study: Study) -> list[Problem]:
    """Return which studies in `recruit.exclude` cannot be read, so that their participants are not excluded."""
    problems = []
    for name in study.recruit.exclude:
        try:
            async with open_store(study.folder / name / "store", write=False):
                pass
        except (StoreError, StoreUnavailable):
            what = f"names {name}, whose store cannot be read, so that it leaves nobody out"
            fix = "Nothing to do where nobody has begun it. Its store has to be the folder store/ in it."
            problems.append(study.problem("recruit.exclude", what, "", fix))
    return problems


def distinct(*problems: Iterable[Problem]) -> list[Problem]:
    """Return problems from several sources, each once."""
    return list(dict.fromkeys(problem for some in problems for problem in some))


# Whether participants reach the server, and this study is there


LOCAL_URL = "http://127.0.0.1:8000"
"""Where `beholder serve` listens by default."""
_SECONDS = 10.0


def address_problems(study: Study, url: str, *, is_rehearsal: bool = False) -> Iterator[Problem]:
    """Yield what is wrong with an address itself; a rehearsal may use a local one."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Problem("--public-url", f"is {url}", "an address that begins with https:// or http://")
    elif study.recruit.source.is_platform and not is_rehearsal:
        if parts.scheme != "https":
            fix = "Put the server behind a name with a certificate; docs/serving.md says how."
            allowed = f"an address that begins with https://, as {study.recruit.source.title} asks"
            yield Problem("--public-url", f"is {url}", allowed, fix)
        elif is_local(url):
            fix = "Name the address under which participants reach the server."
            yield Problem("--public-url", f"is {url}, which only this machine reaches", "a public address", fix)


def local_address_warnings(study: Study, url: str) -> Iterator[Problem]:
    """Yield that only this machine can reach an address that participants need."""
    if study.recruit.source.is_handed_out and is_local(url):
        fix = "Name the address under which participants reach the server with --public-url."
        yield Problem("--public-url", f"is {url}, which only this machine reaches", "", fix)


def is_local(url: str) -> bool:
    """Return whether an address is of this machine."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def unreachable_problems(
    study: Study, url: str, transport: httpx.AsyncBaseTransport | None = None
) -> list[Problem]:
    """Return why participants would not reach the study: nothing answers, or something else does."""
    import httpx

    start = (
        f"Start `beholder serve --public-url {url}` and leave it running, or name another address with --public-url."
    )
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, transport=transport, trust_env=not is_local(url)) as client:
            answer = await client.get(f"{url}/healthz")
            health = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL):
        return [Problem(url, "does not answer", "", start)]
    except ValueError:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if not isinstance(health, dict) or "study" not in health or "store" not in health:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if health["study"] != study.name:
        return [Problem(url, f"serves the study {health['study']}, not {study.name}", "", start)]
    if health["store"] != "ready":
        return [Problem(url, "serves this study, and cannot write its store", "", "Look at what the server prints.")]
    return []


# Whether participants are paid enough for their time


def hourly_floor(study: Study, quote: Quote) -> Sum | None:
    """Return the minimum pay per hour: the study's or the platform's, whichever is higher."""
    return higher_floor(study.recruit, quote.floor, quote.reward.currency)


def higher_floor(recruit: Recruit, platform: Sum | None, currency: str) -> Sum | None:
    """Return the higher of the study's minimum per hour and the platform's; None in other currencies."""
    minimum = money(recruit.hourly_minimum) if recruit.hourly_minimum else None
    return max((one for one in (minimum, platform) if one is not None and one.currency == currency), default=None)


def floor_problems(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than the minimum, with the reward and the length that would do."""
    floor = hourly_floor(study, quote)
    if floor is not None and quote.hourly.minor < floor.minor:
        minutes = int(quote.reward.minor * 60 / floor.minor)
        shorter = f", or make a session of {plain_count(minutes, 'minute')}" if minutes else ""
        yield study.problem(
            "recruit.reward",
            _current_pay(quote),
            f"{floor} an hour or more",
            f"Pay {_needed_reward(quote, floor)} or more{shorter}.",
        )


def advised_pay_warnings(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than the platform recommends."""
    floor, advice = hourly_floor(study, quote), quote.advice
    if advice is None or advice.currency != quote.reward.currency or quote.hourly.minor >= advice.minor:
        return
    if floor is None or quote.hourly.minor >= floor.minor:
        yield study.problem(
            "recruit.reward",
            _current_pay(quote),
            f"{advice} an hour is advised",
            f"Pay {_needed_reward(quote, advice)} to keep to it.",
        )


def _current_pay(quote: Quote) -> str:
    return f"is {quote.reward} for about {quote.minutes:g} minutes, which is {quote.hourly} an hour"


def _needed_reward(quote: Quote, hourly: Sum) -> Sum:
    return Sum(-(-hourly.minor * round(quote.minutes * 100) // 6000), quote.reward.currency)


# The budget over all runs of a study


def cost_of_runs(study: Study, entries: Sequence[LedgerEntry], currency: str, *, besides: int | None = None) -> Sum:
    """Return what the runs in a store cost at most, without one of them.

    That is the amount their places were published for, even if fewer participants came, and what was paid beyond it;
    for a run that was never launched, what participants received.
    """
    state, costs, counted = replay(entries), list[Sum](), {besides}
    for run in runs_of(entries):
        launched = launch_record(entries, run) if run != besides else None
        if launched is not None and launched.total is not None:
            counted.add(run)
            costs.append(
                launched.total._replace(minor=launched.total.minor + cost_beyond_quote(state, launched.posting))
            )
    costs += manual_payments(state, counted)
    for cost in costs:
        if cost.currency != currency:
            what = f"is in {currency}, and {study.name} was paid in {cost.currency}"
            raise RecruitError(Problem("budget", what, "one currency"))
    return Sum(sum(cost.minor for cost in costs), currency)
