"""What the ledger remembers of a launch."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from beholder.errors import Problem, RecruitError
from beholder.recruiting.contract import Job, Posting, Quote
from beholder.recruiting.invitations import describe_job, start_address
from beholder.recruiting.ledger import evidence_of
from beholder.server import tokens
from beholder.store.contract import LedgerEntry
from beholder.study.model import Study
from beholder.study.parts import duration
from beholder.study.recruitment import Recruit, Sum, announced_minutes, is_own_posting, is_personal, money
from beholder.study.texts import markdown
from beholder.types import Mode

if TYPE_CHECKING:
    from beholder.workflow.check import Checked


OPENING_KINDS = ("publish", "places", "resume")
"""What lets people begin; money may be set aside with it."""


@dataclass(frozen=True)
class LaunchRecord:
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


class PromisedPay(NamedTuple):
    """What people get; None for nothing."""

    reward: Sum | None
    screen_out: Sum | None


def launch_record(entries: Sequence[LedgerEntry], run: int = 1) -> LaunchRecord | None:
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
    evidence = evidence_of(last)
    quote = evidence.get("quote")
    paid = _spent(entries, last.provider_ref)
    return LaunchRecord(
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


def runs_of(entries: Sequence[LedgerEntry]) -> list[int]:
    """Return the runs that were launched."""
    return sorted(
        {int(evidence_of(one).get("run", 1)) for one in entries if one.kind == "draft" and one.event == "done"}
    )


def postings_of(entries: Sequence[LedgerEntry], run: int) -> list[str]:
    """Return the ids of everything that was put up in a run."""
    return [one.provider_ref for one in _drafts(entries, run)]


def published_postings(entries: Sequence[LedgerEntry], run: int = 1) -> list[str]:
    """Return the ids of what was published in a run, in order: also where nobody heard whether it was.

    What was taken back before it opened is a draft again.
    """
    ids = postings_of(entries, run)
    last = {one.provider_ref: one.event for one in entries if one.kind == "publish" and one.provider_ref in ids}
    return [posting for posting, event in last.items() if event in ("planned", "done")]


def promised_pay(launched: LaunchRecord | None, recruit: Recruit) -> PromisedPay:
    """Return what people get: what was launched, whatever the study says now; what it says where nothing was."""
    reward, screen_out = (launched.reward, launched.screen_out) if launched is not None else (None, None)
    return PromisedPay(reward or _sum(recruit.reward), screen_out or _sum(recruit.screen_out))


def _drafts(entries: Sequence[LedgerEntry], run: int) -> list[LedgerEntry]:
    return [
        one for one in entries if one.kind == "draft" and one.event == "done" and evidence_of(one).get("run", 1) == run
    ]


def _total(spent: Sequence[Mapping[str, Any]]) -> Sum | None:
    """Return what the places cost at most; of places that came later, as much as of those before."""
    told = [one for one in spent if one.get("total")]
    if not told:
        return None
    total, of, places = money(str(told[-1]["total"])), int(told[-1].get("places", 0)), int(spent[-1].get("places", 0))
    return Sum(-(-total.minor * places // of), total.currency) if places > of > 0 else total


def _spent(entries: Sequence[LedgerEntry], posting: str) -> list[Mapping[str, Any]]:
    """Return what was set aside, step by step; nothing of what was taken back before it opened."""
    found: list[Mapping[str, Any]] = []
    for entry in entries:
        if entry.provider_ref != posting or entry.kind not in OPENING_KINDS:
            continue
        if entry.event == "cancelled":
            found.clear()
        elif entry.event == "done" and "places" in evidence_of(entry):
            found.append(evidence_of(entry))
    return found


def _sum(text: object) -> Sum | None:
    return money(text) if isinstance(text, str) and text else None


# --- What `launch` finds and does ---


@dataclass(frozen=True)
class PostingChange:
    """How a study stands on its platform after somebody paused it, or let people begin again."""

    posting: Posting
    due: Sum | None
    """What letting people in again sets aside for whoever does not fit, on top of what was; None where nothing."""
    words: tuple[str, ...]
    """All of this in sentences."""


@dataclass(frozen=True)
class Launch:
    """A study that is ready for people: what it costs, where it stands, and what to do next."""

    mode: Mode
    job: Job
    posting: Posting | None
    """As it stands on the platform; None where there is none, and in a dry run."""
    quote: Quote | None
    """None where nobody earns anything."""
    due: Sum | None
    """What has to be named to go on: for the first places all they cost, for more of them the difference; None where
    nothing is left to be confirmed."""
    link: str
    """Where people begin."""
    files: tuple[str, ...]
    """What was written, below the study's folder."""
    warnings: tuple[Problem, ...]
    words: tuple[str, ...]
    """All of this in sentences."""


# --- The amount that somebody names to say that they have seen it ---


def read_amount(text: str, example: Sum) -> Sum:
    """Return the amount that a text such as `54.00 GBP` or `54 gbp` names, or raise RecruitError."""
    found = re.fullmatch(r"\s*([0-9]{1,7}(?:\.[0-9]{2})?)\s*([A-Za-z]{3})\s*", text)
    if found is None:
        raise RecruitError(Problem("--publish", f'is "{text}"', f'an amount and its currency, such as "{example}"'))
    return money(f"{found[1]} {found[2].upper()}")


# --- The job that is put up: texts and numbers of a study, as a platform takes them ---


_PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""What Prolific fills in when it sends somebody."""


def launch_key(study: Study, secret: bytes) -> str:
    """Return the key by which a launch is found again: the same for a study and its run for ever."""
    return f"{study.name}-{study.run}-{tokens.keyed(secret, 'launch', study.name, str(study.run)).hex()[:8]}"


def job_of(study: Study, secret: bytes, checked: Checked | None, public_url: str, places: int) -> Job:
    """Return what is put up for so many people; nothing checked, it takes the minutes that people are told."""
    recruit = study.recruit
    reward = money(recruit.reward) if recruit.reward else Sum(0, "")
    limit = duration(recruit.time_limit) if recruit.time_limit else None
    job = Job(
        key=launch_key(study, secret),
        title=study.title,
        description="",
        url=job_address(study, public_url),
        places=places,
        minutes=announced_minutes(recruit, checked.minutes if checked is not None else 1),
        reward=reward,
        screen_out=money(recruit.screen_out) if recruit.screen_out else None,
        time_limit_minutes=math.ceil(limit.total_seconds() / 60) if limit is not None else None,
    )
    return replace(job, description=markdown(describe_job(study, job)))


def job_address(study: Study, public_url: str) -> str:
    """Return where participants begin, with what the platform fills in."""
    if study.recruit.mode == "prolific":
        return f"{public_url}/s/{study.name}?{_PROLIFIC}"
    return start_address(study, public_url)


# --- A launch in sentences: what it costs, how it stands, and what to do next ---


_SHUT = {
    "paused": "It is paused: nobody can begin, and whoever has begun goes on.",
    "completed": "It is closed: nobody can begin, and whoever has begun goes on.",
}
"""How a study stands that people come to by hand, while they cannot begin."""


def launch_lines(study: Study, found: Launch, *, dry_run: bool) -> tuple[str, ...]:
    """Return what was written, how it stands, and what to do next."""
    return (*_files(found), *_state(study, found, dry_run))


def change_lines(
    which: Literal["pause", "resume"], posting: Posting, due: Sum | None, *, dry_run: bool
) -> tuple[str, ...]:
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


def cost_lines(quote: Quote | None, due: Sum | None) -> tuple[str, ...]:
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
