"""What has to be right before people come, and what is only worth a look; everything is told at once."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.errors import Problem, RecruitError, StoreError
from beholder.recruiting.context import RecruitContext, without_budget
from beholder.recruiting.contract import Posting, Quote
from beholder.recruiting.launch_record import launch_record, runs_of
from beholder.recruiting.ledger import cost_beyond_quote, last_purge, manual_payments, replay
from beholder.store.contract import LedgerEntry, StoreUnavailable
from beholder.store.open import open_store, read_rows
from beholder.study.model import Study
from beholder.study.recruitment import Recruit, Sum, is_closed, money
from beholder.study.serialization import resolved_yaml

if TYPE_CHECKING:
    import httpx


_PUBLIC = ("panel", "prolific")
_LONGER = 1.25
"""A session that we think takes so many times as long as people are told is worth a word."""


def contact_problems(study: Study) -> Iterator[Problem]:
    """Yield what people who are paid, or sent by somebody else, cannot do without."""
    if study.contact is None and study.recruit.mode in _PUBLIC:
        yield study.problem(
            "contact", "is not written", "an e-mail or web address", "People need somebody whom they can ask."
        )


def purge_problems(study: Study, entries: Sequence[LedgerEntry]) -> Iterator[Problem]:
    """Yield that nobody who comes now could be decided about, so that nobody works here for money."""
    purge = last_purge(entries)
    if purge is not None:
        what = f"who is who was erased on {purge.at:%Y-%m-%d}, so whoever came now could be neither matched nor paid"
        yield Problem(study.name, what, fix="Put the new run in a new folder.")


def closing_problems(study: Study, now: datetime) -> Iterator[Problem]:
    """Yield that nobody could begin any more, so that nobody is sent here in vain."""
    if is_closed(study.recruit, now):
        fix = "Write a later one, restart `beholder serve`, and launch again; or leave it out."
        yield study.problem("recruit.closes", f"is {study.recruit.closes}, which is past", "a time to come", fix)


def study_warnings(study: Study, minutes: float | None) -> Iterator[Problem]:
    """Yield what is worth a look in the study itself."""
    if study.contact is None and study.recruit.mode not in _PUBLIC:
        yield study.problem("contact", "is not written", "", "People may want somebody whom they can ask.")
    if study.texts.consent is None:
        fix = "Say who you are, what is kept and for how long; most ethics boards ask for it."
        yield study.problem("texts.consent", "is not written, so that people read ours", "", fix)
    told = study.recruit.minutes
    if told is not None and minutes is not None and minutes > _LONGER * told:
        what = f"is {told:g}, and by our estimate a session takes about {minutes:.0f}"
        yield study.problem("recruit.minutes", what, "", "Rehearse it yourself, or tell people the longer time.")


def places_of(
    study: Study, lists: int, asked: int | None, posting: Posting | None = None, open_lists: int = 0
) -> tuple[int, list[Problem]]:
    """Return how many people are asked for, and that the plan has no lists for so many.

    Some take a place on a platform and finish nothing, so that there may be more of them than lists.
    """
    each = study.design.sessions_per_participant
    people = -(-lists // each)
    kept = posting.places if posting is not None else None
    wanted = asked or kept or study.recruit.places or people
    if posting is not None:
        people = max(people, posting.taken + -(-open_lists // each))
    if wanted <= people or wanted == kept:
        return wanted, []
    what, allowed = f"is {wanted}, and the plan is for {people}", f"1 to {people}"
    fix = f"`beholder extend --participants {(wanted - people) * each}` adds lists for the others."
    where = Problem("--places", what, allowed, fix) if asked else study.problem("recruit.places", what, allowed, fix)
    return wanted, [where]


def cost_problems(study: Study, quote: Quote, on_top: int = 0, other_runs: int = 0) -> Iterator[Problem]:
    """Yield that the study pays too little, or costs more than it may.

    `on_top` was paid beyond its places already, `other_runs` is what other runs of it cost.
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
        what = f"is {budget}, and {_people(quote.places)} may cost {total}{paid}"
        yield study.problem("budget", what, f"{total} or more", fix)


def balance_problems(study: Study, quote: Quote, due: Sum) -> Iterator[Problem]:
    """Yield that there is less to spend than is due."""
    if quote.balance is not None and quote.balance.minor < due.minor:
        missing = due._replace(minor=due.minor - quote.balance.minor)
        where = f"the balance on {study.recruit.mode.capitalize()}"
        what = f"is {quote.balance}, and {due} are due"
        yield Problem(where, what, "", f"Top it up by {missing}; nothing can be published before.")


def unchecked_problems(study: Study) -> list[Problem]:
    """Return what nobody could check, as the platform has told nothing."""
    what = "was not asked what the study costs, nor whether it knows the filters, groups and projects of recruit"
    return [Problem(study.recruit.mode.capitalize(), what, "", "That is checked as soon as it answers.")]


async def rehearsal_problems(context: RecruitContext) -> tuple[list[Problem], list[Problem]]:
    """Return that nobody has served the study as it is now; and that no robot has finished it so."""
    text = without_budget(resolved_yaml(context.study))
    digests = {
        row["digest"] for row in await read_rows(context.store, "studies") if without_budget(row["yaml"]) == text
    }
    if not digests:
        what, fix = "has not served study.yaml as it is now", "Stop `beholder serve` if it runs, and start it again."
        return [Problem("the store", what, "", fix)], []
    ends = {row["session"] for row in await read_rows(context.store, "ends") if row["outcome"] == "completed"}
    robots = [row for row in await read_rows(context.store, "sessions") if row["mode"] == "robot"]
    if any(row["digest"] in digests and row["session"] in ends for row in robots):
        return [], []
    fix = "Run `beholder simulate --participants 20` before `beholder serve`, and look at the report."
    return [], [Problem(context.study.where("name"), "no robot has finished the study as it is now", "", fix)]


async def excluded_store_problems(study: Study) -> list[Problem]:
    """Return whose people this study wants to leave out, and cannot, as their store cannot be read from here."""
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


def _people(places: int) -> str:
    return "1 person" if places == 1 else f"{places} people"


def distinct(*problems: Iterable[Problem]) -> list[Problem]:
    """Return problems from several places, each once."""
    return list(dict.fromkeys(problem for some in problems for problem in some))


# --- Whether people will reach the server, and find this study there ---


LOCAL_URL = "http://127.0.0.1:8000"
"""Where `beholder serve` listens when nothing is said."""
_SECONDS = 10.0


def address_problems(study: Study, url: str, *, is_rehearsal: bool = False) -> Iterator[Problem]:
    """Yield what is wrong with an address as such; in a rehearsal it may be of this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        yield Problem("--public-url", f"is {url}", "an address that begins with https:// or http://")
    elif study.recruit.mode == "prolific" and not is_rehearsal:
        if parts.scheme != "https":
            fix = "Put the server behind a name with a certificate; docs/serving.md says how."
            yield Problem("--public-url", f"is {url}", "an address that begins with https://, as Prolific asks", fix)
        elif is_local(url):
            fix = "Name the address under which participants reach the server."
            yield Problem("--public-url", f"is {url}, which only this machine reaches", "a public address", fix)


def local_address_warnings(study: Study, url: str) -> Iterator[Problem]:
    """Yield that only this machine reaches an address, where others should."""
    if study.recruit.mode in ("panel", "link") and is_local(url):
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
    """Return why people would not find the study at an address: nothing answers, or something else does."""
    import httpx

    start = (
        f"Start `beholder serve --public-url {url}` and leave it running, or name another address with --public-url."
    )
    try:
        async with httpx.AsyncClient(timeout=_SECONDS, transport=transport, trust_env=not is_local(url)) as client:
            answer = await client.get(f"{url}/healthz")
            found = answer.json()
    except (httpx.HTTPError, httpx.InvalidURL):
        return [Problem(url, "does not answer", "", start)]
    except ValueError:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if not isinstance(found, dict) or "study" not in found or "store" not in found:
        return [Problem(url, "answers, and is no server of Beholder", "", start)]
    if found["study"] != study.name:
        return [Problem(url, f"serves the study {found['study']}, not {study.name}", "", start)]
    if found["store"] != "ready":
        return [Problem(url, "serves this study, and cannot write its store", "", "Look at what the server prints.")]
    return []


# --- Whether people are paid enough for their time ---


def hourly_floor(study: Study, quote: Quote) -> Sum | None:
    """Return the least that an hour may pay: the study's own minimum or the platform's, whichever is more."""
    return higher_floor(study.recruit, quote.floor, quote.reward.currency)


def higher_floor(recruit: Recruit, theirs: Sum | None, currency: str) -> Sum | None:
    """Return the study's own minimum for an hour or that of a platform, whichever is more; None in other currencies."""
    own = money(recruit.hourly_minimum) if recruit.hourly_minimum else None
    return max((one for one in (own, theirs) if one is not None and one.currency == currency), default=None)


def floor_problems(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than it may, with the reward and the length that would do."""
    floor = hourly_floor(study, quote)
    if floor is not None and quote.hourly.minor < floor.minor:
        minutes = int(quote.reward.minor * 60 / floor.minor)
        shorter = f", or make a session of {minutes} minute{'s' * (minutes != 1)}" if minutes else ""
        yield study.problem(
            "recruit.reward",
            _is(quote),
            f"{floor} an hour or more",
            f"Pay {_needed(quote, floor)} or more{shorter}.",
        )


def advised_pay_warnings(study: Study, quote: Quote) -> Iterator[Problem]:
    """Yield that an hour pays less than the platform advises."""
    floor, advice = hourly_floor(study, quote), quote.advice
    if advice is None or advice.currency != quote.reward.currency or quote.hourly.minor >= advice.minor:
        return
    if floor is None or quote.hourly.minor >= floor.minor:
        yield study.problem(
            "recruit.reward", _is(quote), f"{advice} an hour is advised", f"Pay {_needed(quote, advice)} to keep to it."
        )


def _is(quote: Quote) -> str:
    return f"is {quote.reward} for about {quote.minutes:g} minutes, which is {quote.hourly} an hour"


def _needed(quote: Quote, hourly: Sum) -> Sum:
    return Sum(-(-hourly.minor * round(quote.minutes * 100) // 6000), quote.reward.currency)


# --- What the runs of a study cost together: its budget is one cap over all of them ---


def cost_of_runs(study: Study, entries: Sequence[LedgerEntry], currency: str, *, besides: int | None = None) -> Sum:
    """Return what the runs in a store cost at most, but for one of them.

    It is what their places were published for, also where fewer people came, and what was paid beyond that; of a run
    that was never launched, what people got.
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
