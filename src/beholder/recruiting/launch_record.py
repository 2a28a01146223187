"""A launch in sentences: what it costs, how it stands, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from beholder.recruit.contract import Posting, Quote
from beholder.recruit.launching.found import Launch
from beholder.study.model import Study
from beholder.study.money import Sum
from beholder.study.recruiting import is_personal

_SHUT = {
    "paused": "It is paused: nobody can begin, and whoever has begun goes on.",
    "completed": "It is closed: nobody can begin, and whoever has begun goes on.",
}
"""How a study stands that people come to by hand, while they cannot begin."""


def told(study: Study, found: Launch, *, dry_run: bool) -> tuple[str, ...]:
    """Return what was written, how it stands, and what to do next."""
    return (*_files(found), *_state(study, found, dry_run))


def turned(which: Literal["pause", "resume"], posting: Posting, due: Sum | None, *, dry_run: bool) -> tuple[str, ...]:
    """Return how a study stands after pausing or resuming it, or what either would do."""
    return tuple(_turned(which, posting, due, dry_run))


def _turned(which: Literal["pause", "resume"], posting: Posting, due: Sum | None, dry_run: bool) -> Iterator[str]:
    state = {"active": "open", "completed": "closed", "draft": "a draft"}.get(posting.state, posting.state)
    places = f": {posting.taken} of {posting.places} places are taken" if posting.places else ""
    yield f"It is {state}{places}."
    if due is not None:
        yield f"{due} more have to be set aside for people who do not fit."
        yield f'To let people begin again: beholder launch --resume --publish "{due}"'
    if not dry_run:
        return
    is_so_already = posting.state == ("paused" if which == "pause" else "active")
    if is_so_already:
        yield "Nothing would change."
    elif which == "pause":
        yield "Nobody could begin any more, and whoever has begun would go on. Nothing was changed."
    else:
        yield "Nothing was changed." if due is not None else "People could begin again. Nothing was changed."


def priced(quote: Quote | None, due: Sum | None) -> tuple[str, ...]:
    """Return what it costs in lines; those that come to nothing are left out."""
    return tuple(_cost(quote, due)) if quote is not None else ()


def _cost(quote: Quote, due: Sum | None) -> Iterator[str]:
    parts = [
        (f"{quote.places} × {quote.reward}", quote.rewards),
        ("fees and tax", quote.fees),
        ("whoever does not fit, at most", quote.screen_outs),
        ("further sessions and bonuses, at most", quote.bonuses),
    ]
    lines = [*((words, amount) for words, amount in parts if amount.minor), ("in all, at most", quote.total)]
    if due is not None and due != quote.total:
        lines.append(("of which is new", due))
    if quote.balance is not None:
        left = quote.balance._replace(minor=quote.balance.minor - (due.minor if due else 0))
        lines.append(("balance left then" if due else "balance", left))
    width = max(len(words) for words, _ in lines)
    digits = max(len(amount.amount) for _, amount in lines)
    for words, amount in lines:
        yield f"  {words:<{width}}  {amount.amount:>{digits}} {amount.currency}"
    advice = f"; {quote.advice} are advised" if quote.advice is not None else ""
    floor = f"; at least {quote.floor}{advice}" if quote.floor is not None else advice
    yield f"  An hour pays {quote.hourly} at about {quote.minutes:g} minute{'s' * (quote.minutes != 1)}{floor}."


def _files(found: Launch) -> Iterator[str]:
    words = {
        "launch/job.md": "what to paste or send",
        "launch/links.csv": "a link for each person; it says who was invited, so keep it to yourself",
    }
    for file in found.files:
        yield f"Wrote {file}: {words[file]}."


def _state(study: Study, found: Launch, dry_run: bool) -> Iterator[str]:
    posting = found.posting
    if dry_run:
        yield "Nothing was put up, published or written."
    if found.mode != "prolific" and posting is not None and posting.state in _SHUT:
        yield _SHUT[posting.state]
        yield "To let people begin again: beholder launch --resume"
        return
    if found.mode == "lab":
        yield "`beholder serve` prints an address for each station; docs/lab.md says more."
        return
    if found.mode in ("link", "panel"):
        if is_personal(study.recruit):
            yield "Everybody begins by their own link, in launch/links.csv."
        else:
            yield f"People begin here: {found.job.url}"
        if study.recruit.opens:
            yield f"Nobody can begin before {study.recruit.opens}."
        return
    state = posting.state if posting is not None else "new"
    if found.due is not None and state in ("new", "draft", "unknown"):
        if posting is not None:
            yield f"There is a draft that nobody sees: {posting.link or posting.id}"
        yield f'To publish it: beholder launch --publish "{found.due}"'
        return
    if found.due is not None and posting is not None:
        yield (
            f"{posting.places} places are published. For {found.job.places} in all: "
            f'beholder launch --places {found.job.places} --publish "{found.due}"'
        )
        return
    assert posting is not None
    yield {
        "scheduled": f"It opens by itself at {study.recruit.opens}",
        "publishing": "It is being published",
        "active": "It is open",
        "paused": "It is paused: nobody can begin, and whoever has begun goes on",
        "completed": "It is full or was stopped",
    }.get(state, "The platform tells no state that we know; look again") + (
        f": {posting.taken} of {posting.places} places are taken. {posting.link}".rstrip()
    )
    yield "`beholder monitor` shows how it goes."
