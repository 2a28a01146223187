"""What the ledger remembers of a launch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from beholder.recruit.ledger.noted import noted
from beholder.store.contract import Entry
from beholder.study.money import Sum, money
from beholder.study.recruiting import Recruit, is_own_posting

OPENING = ("publish", "places", "resume")
"""What lets people begin; money may be set aside with it."""


@dataclass(frozen=True)
class Recorded:
    """A launch as the ledger has it."""

    posting: str
    """The id of what was put up."""
    key: str
    public_url: str
    places: int
    reward: Sum | None
    """What people were promised; None where nobody was, or an earlier version kept no note of it."""
    screen_out: Sum | None
    """The same for those who do not fit."""
    floor: Sum | None
    """The least that an hour may pay."""
    total: Sum | None
    """What the places that are published cost at most; None while nothing is."""
    is_published: bool
    """Whether it was, or may have been: nobody heard."""
    opens: str | None
    """When it opens by itself, as it was published last; empty for at once, None where nobody has kept that."""
    evidence: Mapping[str, Any]


class Promised(NamedTuple):
    """What people get; None for nothing."""

    reward: Sum | None
    screen_out: Sum | None


def recorded(entries: Sequence[Entry], run: int = 1) -> Recorded | None:
    """Return the last launch of a run, or None where there was none.

    What was published on a platform stays the launch of its run, whatever is put up there later: people come by it.
    """
    drafts = _drafts(entries, run)
    if not drafts:
        return None
    published = published_postings(entries, run)
    is_own = is_own_posting(drafts[-1].provider_ref)
    alike = [one for one in drafts if is_own_posting(one.provider_ref) == is_own]
    last = ([one for one in alike if one.provider_ref in published and not is_own] or alike)[-1]
    evidence = noted(last)
    quote = evidence.get("quote")
    paid = _spent(entries, last.provider_ref)
    return Recorded(
        posting=last.provider_ref,
        key=str(evidence.get("key", "")),
        public_url=str(evidence.get("public_url", "")),
        places=int(evidence.get("places", 0)),
        reward=_sum(evidence.get("reward")),
        screen_out=_sum(evidence.get("screen_out")),
        floor=_sum(quote.get("floor")) if isinstance(quote, Mapping) else None,
        total=_total(paid),
        is_published=last.provider_ref in published,
        opens=next((str(one["opens"]) for one in reversed(paid) if "opens" in one), None),
        evidence=evidence,
    )


def runs_of(entries: Sequence[Entry]) -> list[int]:
    """Return the runs that were launched."""
    return sorted({int(noted(one).get("run", 1)) for one in entries if one.kind == "draft" and one.event == "done"})


def postings_of(entries: Sequence[Entry], run: int) -> list[str]:
    """Return the ids of everything that was put up in a run."""
    return [one.provider_ref for one in _drafts(entries, run)]


def published_postings(entries: Sequence[Entry], run: int = 1) -> list[str]:
    """Return the ids of what was published in a run, in order: also where nobody heard whether it was.

    What was taken back before it opened is a draft again.
    """
    ids = postings_of(entries, run)
    last = {one.provider_ref: one.event for one in entries if one.kind == "publish" and one.provider_ref in ids}
    return [posting for posting, event in last.items() if event in ("planned", "done")]


def promised(launched: Recorded | None, recruit: Recruit) -> Promised:
    """Return what people get: what was launched, whatever the study says now; what it says where nothing was."""
    reward, screen_out = (launched.reward, launched.screen_out) if launched is not None else (None, None)
    return Promised(reward or _sum(recruit.reward), screen_out or _sum(recruit.screen_out))


def _drafts(entries: Sequence[Entry], run: int) -> list[Entry]:
    return [one for one in entries if one.kind == "draft" and one.event == "done" and noted(one).get("run", 1) == run]


def _total(spent: Sequence[Mapping[str, Any]]) -> Sum | None:
    """Return what the places cost at most; of places that came later, as much as of those before."""
    told = [one for one in spent if one.get("total")]
    if not told:
        return None
    total, of, places = money(str(told[-1]["total"])), int(told[-1].get("places", 0)), int(spent[-1].get("places", 0))
    return Sum(-(-total.minor * places // of), total.currency) if places > of > 0 else total


def _spent(entries: Sequence[Entry], posting: str) -> list[Mapping[str, Any]]:
    """Return what was set aside, step by step; nothing of what was taken back before it opened."""
    found: list[Mapping[str, Any]] = []
    for entry in entries:
        if entry.provider_ref != posting or entry.kind not in OPENING:
            continue
        if entry.event == "cancelled":
            found.clear()
        elif entry.event == "done" and "places" in noted(entry):
            found.append(noted(entry))
    return found


def _sum(text: object) -> Sum | None:
    return money(text) if isinstance(text, str) and text else None
