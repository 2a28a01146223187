"""close/summary.md: how the study was done, for the methods section, and what is kept until when."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from beholder.formats import FEW, plain_count, plural, typical
from beholder.recruiting.contract import Posting
from beholder.recruiting.ledger import MONEY, Debt, LedgerState
from beholder.recruiting.monitor_snapshot import MonitorSnapshot
from beholder.study.model import Study
from beholder.study.recruitment import Sum

_STEPS: Mapping[str, str] = {
    "came": "came", "agreed": "agreed", "qualified": "qualified", "rated": "rated something", "finished": "finished",
}  # fmt: skip


@dataclass(frozen=True)
class SummaryFacts:
    """What the summary is written from."""

    study: Study
    view: MonitorSnapshot
    state: LedgerState
    posting: Posting | None
    flow: Sequence[Mapping[str, Any]]
    """The steps of clean's account; none where nobody came."""
    first: datetime | None
    last: datetime | None
    now: datetime


def summary(facts: SummaryFacts) -> str:
    """Return the summary as Markdown."""
    study = facts.study
    run = f", run {study.run}" if study.run > 1 else ""
    parts = [
        f"# {study.title}",
        f"Study `{study.name}`{run}, closed on {_day(facts.now)}.",
        "## For the methods section",
        " ".join(_methods(facts)),
        *_exclusions(facts.flow),
        "## Money",
        " ".join(_money(facts)),
        "## What is kept, and until when",
        " ".join(retention(study)),
    ]
    return "\n\n".join(parts) + "\n"


def _methods(facts: SummaryFacts) -> Iterator[str]:
    study, view = facts.study, facts.view
    when = ""
    if facts.first is not None and facts.last is not None:
        begin, end = _day(facts.first), _day(facts.last)
        when = f" on {begin}" if begin == end else f" between {begin} and {end}"
    places = f" ({facts.posting.places} places)" if facts.posting is not None and facts.posting.places else ""
    yield f"Participants were recruited {study.recruit.source.summary_words}{when}{places}."
    if view.told_minutes:
        yield f"They were told that a session takes about {_minutes(view.told_minutes)}."
    if view.earned is not None:
        hour = f", which at the median duration is {view.earned.hourly} an hour" if view.earned.hourly else ""
        yield f"A session earned {view.earned.reward}{hour}."
    if view.minutes is not None:
        platform_minutes = view.platform.minutes if view.platform is not None else None
        platform = f" ({platform_minutes:.1f} minutes by the platform's clock)" if platform_minutes is not None else ""
        took = typical(view.durations or [view.minutes] * (FEW + 1), 1, "minutes")
        who = plural(len(view.durations), "The session", "Sessions") if view.durations else "A session"
        yield f"{who} took {took} from arrival to end{platform}."
    if not facts.flow:
        yield "Nobody came."
        return
    people = {step["step"]: step["people"] for step in facts.flow}
    came = ", ".join(f"{people[step]} {words}" for step, words in _STEPS.items() if step in people)
    accepted, used = people["accepted"], people["used"]
    yield f"Of the people, {came}; the work of {accepted} is accepted, and ratings of {used} are used."


def _exclusions(flow: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return a table of why participants went no further, each under one reason."""
    rows = [(why["words"] or why["reason"], why["people"]) for step in flow for why in step["lost"] if why["people"]]
    if not rows:
        return []
    lines = [f"| {str(words).replace('|', '/')} | {people} |" for words, people in rows]
    return ["\n".join(["| went no further because | people |", "|---|---:|", *lines])]


def _money(facts: SummaryFacts) -> Iterator[str]:
    settled = [debt for debt in facts.state.settled() if debt.kind in MONEY and debt.amount.minor]
    if not settled:
        yield "Nobody was paid through Beholder."
        return
    for words in ("for their sessions", "for not fitting", "as bonuses"):
        paid = [debt for debt in settled if _paid_for(debt) == words]
        if paid:
            people = len({debt.participant or debt.submission for debt in paid})
            total = Sum(sum(debt.amount.minor for debt in paid), paid[0].amount.currency)
            yield f"{plain_count(people, 'person', 'people')} got {total} {words}."
    if facts.view.cost is not None and facts.view.cost.committed is not None:
        fees = "With fees and tax the" if facts.study.recruit.source.is_platform else "The"
        yield f"{fees} places were quoted at {facts.view.cost.committed} at most."
    yield "Nothing is owed to anybody."


def _paid_for(debt: Debt) -> str:
    """Return what a payment was for; a reward that the platform did not approve is sent as a bonus."""
    if debt.kind == "approve" or debt.reason_code == "reward":
        return "for their sessions"
    return "for not fitting" if debt.reason_code == "screen_out" else "as bonuses"


def retention(study: Study) -> Iterator[str]:
    """Yield what is kept, until when, and what `purge` does then."""
    identity, answers = study.retention.identity, study.retention.answers
    if identity is None and answers is None:
        yield (
            "The study names no day from which anything is erased (`retention` in study.yaml). The ids of people on "
            "their platform are in `store/` beside their pseudonyms until then: name a day, and run `beholder purge`."
        )
        return
    if identity is not None:
        yield (
            f"From {identity} on `beholder purge` erases which pseudonym is which id on the platform. Nobody can be "
            "paid more after that, nor be kept out of further studies by their id."
        )
    if answers is not None:
        yield f"From {answers} on `beholder purge` erases every answer in the store; tables and reports stay."


def _minutes(number: float) -> str:
    return f"{number:g} {plural(number, 'minute')}"


def _day(moment: datetime) -> str:
    return f"{moment.day} {moment:%B %Y}"
