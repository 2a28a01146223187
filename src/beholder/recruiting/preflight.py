"""What has to be right before people come, and what is only worth a look; everything is told at once."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime

from beholder.errors import Problem, StoreError
from beholder.recruit.contract import Posting, Quote
from beholder.recruit.desk import Desk
from beholder.recruit.launching.fair import unfair
from beholder.recruit.ledger.purged import last_purge
from beholder.recruit.served import met
from beholder.store.contract import Entry, StoreAway
from beholder.store.open import open_store, read_rows
from beholder.study.model import Study
from beholder.study.money import Sum, money
from beholder.study.recruiting import is_closed
from beholder.study.resolved import resolved_yaml

_PUBLIC = ("panel", "prolific")
_LONGER = 1.25
"""A session that we think takes so many times as long as people are told is worth a word."""


def missing(study: Study) -> Iterator[Problem]:
    """Yield what people who are paid, or sent by somebody else, cannot do without."""
    if study.contact is None and study.recruit.mode in _PUBLIC:
        yield study.problem(
            "contact", "is not written", "an e-mail or web address", "People need somebody whom they can ask."
        )


def purged(study: Study, entries: Sequence[Entry]) -> Iterator[Problem]:
    """Yield that nobody who comes now could be decided about, so that nobody works here for money."""
    purge = last_purge(entries)
    if purge is not None:
        what = f"who is who was erased on {purge.at:%Y-%m-%d}, so whoever came now could be neither matched nor paid"
        yield Problem(study.name, what, fix="Put the new run in a new folder.")


def over(study: Study, now: datetime) -> Iterator[Problem]:
    """Yield that nobody could begin any more, so that nobody is sent here in vain."""
    if is_closed(study.recruit, now):
        fix = "Write a later one, restart `beholder serve`, and launch again; or leave it out."
        yield study.problem("recruit.closes", f"is {study.recruit.closes}, which is past", "a time to come", fix)


def advice(study: Study, minutes: float | None) -> Iterator[Problem]:
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


def too_dear(study: Study, quote: Quote, on_top: int = 0, other_runs: int = 0) -> Iterator[Problem]:
    """Yield that the study pays too little, or costs more than it may.

    `on_top` was paid beyond its places already, `other_runs` is what other runs of it cost.
    """
    yield from unfair(study, quote)
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


def short(study: Study, quote: Quote, due: Sum) -> Iterator[Problem]:
    """Yield that there is less to spend than is due."""
    if quote.balance is not None and quote.balance.minor < due.minor:
        missing = due._replace(minor=due.minor - quote.balance.minor)
        where = f"the balance on {study.recruit.mode.capitalize()}"
        what = f"is {quote.balance}, and {due} are due"
        yield Problem(where, what, "", f"Top it up by {missing}; nothing can be published before.")


def unasked(study: Study) -> list[Problem]:
    """Return what nobody could check, as the platform has told nothing."""
    what = "was not asked what the study costs, nor whether it knows the filters, groups and projects of recruit"
    return [Problem(study.recruit.mode.capitalize(), what, "", "That is checked as soon as it answers.")]


async def unrehearsed(desk: Desk) -> tuple[list[Problem], list[Problem]]:
    """Return that nobody has served the study as it is now; and that no robot has finished it so."""
    text = met(resolved_yaml(desk.study))
    digests = {row["digest"] for row in await read_rows(desk.store, "studies") if met(row["yaml"]) == text}
    if not digests:
        what, fix = "has not served study.yaml as it is now", "Stop `beholder serve` if it runs, and start it again."
        return [Problem("the store", what, "", fix)], []
    ends = {row["session"] for row in await read_rows(desk.store, "ends") if row["outcome"] == "completed"}
    robots = [row for row in await read_rows(desk.store, "sessions") if row["mode"] == "robot"]
    if any(row["digest"] in digests and row["session"] in ends for row in robots):
        return [], []
    fix = "Run `beholder simulate --participants 20` before `beholder serve`, and look at the report."
    return [], [Problem(desk.study.where("name"), "no robot has finished the study as it is now", "", fix)]


async def unread(study: Study) -> list[Problem]:
    """Return whose people this study wants to leave out, and cannot, as their store cannot be read from here."""
    problems = []
    for name in study.recruit.exclude:
        try:
            async with open_store(study.folder / name / "store", write=False):
                pass
        except (StoreError, StoreAway):
            what = f"names {name}, whose store cannot be read, so that it leaves nobody out"
            fix = "Nothing to do where nobody has begun it. Its store has to be the folder store/ in it."
            problems.append(study.problem("recruit.exclude", what, "", fix))
    return problems


def _people(places: int) -> str:
    return "1 person" if places == 1 else f"{places} people"


def all_of(*problems: Iterable[Problem]) -> list[Problem]:
    """Return problems from several places, each once."""
    return list(dict.fromkeys(problem for some in problems for problem in some))
