"""The record of a launch: what the ledger keeps of it, the job that is posted, and the launch in sentences."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from beholder.errors import Problem, RecruitError
from beholder.formats import plural
from beholder.recruiting.contract import Job, Posting, Quote
from beholder.recruiting.invitations import describe_job
from beholder.recruiting.ledger import evidence_of
from beholder.result_view import ResultView, ShownResult
from beholder.server import tokens
from beholder.store.contract import LedgerEntry
from beholder.study.markdown import markdown
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import (
    Mode,
    Recruit,
    Sum,
    announced_minutes,
    is_own_posting,
    is_personal,
    money,
    source_of,
)

if TYPE_CHECKING:
    from beholder.workflow.check import Checked

OPENING_KINDS = ("publish", "places", "resume")
"""Ledger kinds that let participants begin; money may be committed with them."""


@dataclass(frozen=True)
class LaunchRecord:
    """A launch as recorded in the ledger."""

    posting: str
    """The id of the posting."""
    key: str
    public_url: str
    places: int
    reward: Sum | None
    """The promised reward; None where there was none, or an earlier version did not record it."""
    screen_out: Sum | None
    """The same for screen-outs."""
    floor: Sum | None
    """The minimum pay per hour."""
    total: Sum | None
    """What the published places cost at most; None while nothing is published."""
    is_published: bool
    """Whether it was published, or may have been (no answer came)."""
    opens: str | None
    """When it opens by itself, as last published; empty for at once, None where it was not recorded."""
    evidence: Mapping[str, Any]


class PromisedPay(NamedTuple):
    """What participants get; None for nothing."""

    reward: Sum | None
    screen_out: Sum | None


@dataclass(frozen=True)
class PostingChange:
    """The state of a study on its platform after it was paused or resumed."""

    posting: Posting
    due: Sum | None
    """The additional amount that resuming commits for screen-outs; None where there is none."""
    words: tuple[str, ...]
    """All of this in sentences."""


@dataclass(frozen=True, repr=False)
class Launch(ShownResult):
    """A launched study: what it costs, its state, and what to do next."""

    mode: Mode
    job: Job
    posting: Posting | None
    """The state on the platform; None where there is none, and in a dry run."""
    quote: Quote | None
    """None where nobody is paid."""
    due: Sum | None
    """The amount to confirm next: the total for the first places, the difference for more of them; None where nothing
    is left to confirm."""
    link: str
    """Where participants begin."""
    files: tuple[str, ...]
    """What was written, relative to the study's folder."""
    warnings: tuple[Problem, ...]
    words: tuple[str, ...]
    """All of this in sentences."""

    def _view(self) -> ResultView:
        return ResultView([*self.words, *(f"Warning: {problem}" for problem in self.warnings)])


def launch_record(entries: Sequence[LedgerEntry], run: int = 1) -> LaunchRecord | None:
    """Return the last launch of a run, or None where there was none.

    A posting that was published on a platform stays the launch of its run, whatever is drafted later: participants come
    through it.
    """
    drafts = _drafts(entries, run)
    if not drafts:
        return None
    published = published_postings(entries, run)
    is_own = is_own_posting(drafts[-1].provider_ref)
    candidates = [one for one in drafts if is_own_posting(one.provider_ref) == is_own]
    last = ([one for one in candidates if one.provider_ref in published and not is_own] or candidates)[-1]
    evidence = evidence_of(last)
    quote = evidence.get("quote")
    commitments = _commitments(entries, last.provider_ref)
    return LaunchRecord(
        posting=last.provider_ref,
        key=str(evidence.get("key", "")),
        public_url=str(evidence.get("public_url", "")),
        places=int(evidence.get("places", 0)),
        reward=_sum(evidence.get("reward")),
        screen_out=_sum(evidence.get("screen_out")),
        floor=_sum(quote.get("floor")) if isinstance(quote, Mapping) else None,
        total=_total(commitments),
        is_published=last.provider_ref in published,
        opens=next((str(one["opens"]) for one in reversed(commitments) if "opens" in one), None),
        evidence=evidence,
    )


def runs_of(entries: Sequence[LedgerEntry]) -> list[int]:
    """Return the runs that were launched."""
    return sorted(
        {int(evidence_of(one).get("run", 1)) for one in entries if one.kind == "draft" and one.event == "done"}
    )


def postings_of(entries: Sequence[LedgerEntry], run: int) -> list[str]:
    """Return the ids of all postings of a run."""
    return [one.provider_ref for one in _drafts(entries, run)]


def published_postings(entries: Sequence[LedgerEntry], run: int = 1) -> list[str]:
    """Return the ids of the published postings of a run, in order, including those without a clear answer.

    A publication that was cancelled before it opened is a draft again.
    """
    ids = postings_of(entries, run)
    last = {one.provider_ref: one.event for one in entries if one.kind == "publish" and one.provider_ref in ids}
    return [posting for posting, event in last.items() if event in ("planned", "done")]


def promised_pay(launched: LaunchRecord | None, recruit: Recruit) -> PromisedPay:
    """Return what participants get: as launched, whatever the study says now; as the study says where it never was."""
    reward, screen_out = (launched.reward, launched.screen_out) if launched is not None else (None, None)
    return PromisedPay(reward or _sum(recruit.reward), screen_out or _sum(recruit.screen_out))


def _drafts(entries: Sequence[LedgerEntry], run: int) -> list[LedgerEntry]:
    return [
        one for one in entries if one.kind == "draft" and one.event == "done" and evidence_of(one).get("run", 1) == run
    ]


def _total(commitments: Sequence[Mapping[str, Any]]) -> Sum | None:
    """Return what the places cost at most; places added later cost as much each as those before."""
    quoted = [one for one in commitments if one.get("total")]
    if not quoted:
        return None
    total, of, places = (
        money(str(quoted[-1]["total"])),
        int(quoted[-1].get("places", 0)),
        int(commitments[-1].get("places", 0)),
    )
    return Sum(-(-total.minor * places // of), total.currency) if places > of > 0 else total


def _commitments(entries: Sequence[LedgerEntry], posting: str) -> list[Mapping[str, Any]]:
    """Return the commitments step by step; none of a publication that was cancelled before it opened."""
    commitments: list[Mapping[str, Any]] = []
    for entry in entries:
        if entry.provider_ref != posting or entry.kind not in OPENING_KINDS:
            continue
        if entry.event == "cancelled":
            commitments.clear()
        elif entry.event == "done" and "places" in evidence_of(entry):
            commitments.append(evidence_of(entry))
    return commitments


def _sum(text: object) -> Sum | None:
    return money(text) if isinstance(text, str) and text else None


# The confirmed amount


def read_amount(text: str, example: Sum) -> Sum:
    """Return the amount that a text such as `54.00 GBP` or `54 gbp` names, or raise RecruitError."""
    match = re.fullmatch(r"\s*([0-9]{1,7}(?:\.[0-9]{2})?)\s*([A-Za-z]{3})\s*", text)
    if match is None:
        raise RecruitError(Problem("--publish", f'is "{text}"', f'an amount and its currency, such as "{example}"'))
    return money(f"{match[1]} {match[2].upper()}")


# The job that is posted


def _launch_key(study: Study, secret: bytes) -> str:
    """Return the key that identifies a launch: always the same for a study and its run."""
    return f"{study.name}-{study.run}-{tokens.keyed(secret, 'launch', study.name, str(study.run)).hex()[:8]}"


def job_of(study: Study, secret: bytes, checked: Checked | None, address: str, places: int) -> Job:
    """Return the job for a number of places at an address; if nothing was checked, with the study's own minutes."""
    recruit = study.recruit
    reward = money(recruit.reward) if recruit.reward else Sum(0, "")
    limit = duration(recruit.time_limit) if recruit.time_limit else None
    job = Job(
        key=_launch_key(study, secret),
        title=study.title,
        description="",
        url=address,
        places=places,
        minutes=announced_minutes(recruit, checked.minutes if checked is not None else 1),
        reward=reward,
        screen_out=money(recruit.screen_out) if recruit.screen_out else None,
        time_limit_minutes=math.ceil(limit.total_seconds() / 60) if limit is not None else None,
    )
    return replace(job, description=markdown(describe_job(study, job)))


# A launch in sentences


_CLOSED = {
    "paused": "It is paused: nobody can begin, and whoever has begun goes on.",
    "completed": "It is closed: nobody can begin, and whoever has begun goes on.",
}
"""The sentence for a study without a platform, while nobody can begin."""


def launch_lines(study: Study, launch: Launch, *, dry_run: bool) -> tuple[str, ...]:
    """Return what was written, the state, and what to do next."""
    return (*_file_lines(launch), *_state_lines(study, launch, dry_run))


def change_lines(
    which: Literal["pause", "resume"], posting: Posting, due: Sum | None, *, dry_run: bool
) -> tuple[str, ...]:
    """Return the state after pausing or resuming, or what either would do."""
    return tuple(_change_lines(which, posting, due, dry_run))


def _change_lines(which: Literal["pause", "resume"], posting: Posting, due: Sum | None, dry_run: bool) -> Iterator[str]:
    state = {"active": "open", "completed": "closed", "draft": "a draft"}.get(posting.state, posting.state)
    places = f": {posting.taken} of {posting.places} places are taken" if posting.places else ""
    yield f"It is {state}{places}."
    if due is not None:
        yield f"{due} more have to be set aside for people who do not fit."
        yield f'To let people begin again: beholder launch --resume --publish "{due}"'
    if not dry_run:
        return
    is_unchanged = posting.state == ("paused" if which == "pause" else "active")
    if is_unchanged:
        yield "Nothing would change."
    elif which == "pause":
        yield "Nobody could begin any more, and whoever has begun would go on. Nothing was changed."
    else:
        yield "Nothing was changed." if due is not None else "People could begin again. Nothing was changed."


def cost_lines(quote: Quote | None, due: Sum | None) -> tuple[str, ...]:
    """Return the cost in lines, without those that are zero."""
    return tuple(_cost_lines(quote, due)) if quote is not None else ()


def _cost_lines(quote: Quote, due: Sum | None) -> Iterator[str]:
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
    yield f"  An hour pays {quote.hourly} at about {quote.minutes:g} {plural(quote.minutes, 'minute')}{floor}."


def _file_lines(launch: Launch) -> Iterator[str]:
    words = {
        "launch/job.md": "what to paste or send",
        "launch/links.csv": "a link for each person; it says who was invited, so keep it to yourself",
    }
    for file in launch.files:
        yield f"Wrote {file}: {words[file]}."


def _state_lines(study: Study, launch: Launch, dry_run: bool) -> Iterator[str]:
    posting, source = launch.posting, source_of(launch.mode)
    if dry_run:
        yield "Nothing was put up, published or written."
    if not source.is_platform and posting is not None and posting.state in _CLOSED:
        yield _CLOSED[posting.state]
        yield "To let people begin again: beholder launch --resume"
        return
    if source.is_on_site:
        yield "`beholder serve` prints an address for each station; docs/lab.md says more."
        return
    if source.is_handed_out:
        if is_personal(study.recruit):
            yield "Everybody begins by their own link, in launch/links.csv."
        else:
            yield f"People begin here: {launch.job.url}"
        if study.recruit.opens:
            yield f"Nobody can begin before {study.recruit.opens}."
        return
    state = posting.state if posting is not None else "new"
    if launch.due is not None and state in ("new", "draft", "unknown"):
        if posting is not None:
            yield f"There is a draft that nobody sees: {posting.link or posting.id}"
        yield f'To publish it: beholder launch --publish "{launch.due}"'
        return
    if launch.due is not None and posting is not None:
        yield (
            f"{posting.places} places are published. For {launch.job.places} in all: "
            f'beholder launch --places {launch.job.places} --publish "{launch.due}"'
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
