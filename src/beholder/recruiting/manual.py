"""Recruiters without a platform API: link and laboratory, and what the panel shares with them.

The ledger records what the verbs did, and a person does the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import NoReturn

from beholder.clock import utc_now
from beholder.recruiting.contract import (
    Batch,
    BonusRow,
    Category,
    Job,
    PlatformGone,
    PlatformRefused,
    Posting,
    Quote,
    State,
    Submission,
    Verb,
)
from beholder.recruiting.ledger import evidence_of
from beholder.server.entrances import entrance_of
from beholder.server.visits import VisitIds
from beholder.store.contract import LedgerEntry, Store
from beholder.study.model import Study
from beholder.study.recruitment import Mode, Sum, hourly, money, own_posting

_STATES: Mapping[str, State] = {"publish": "active", "pause": "paused", "resume": "active", "stop": "completed"}
"""The state of a posting after each act."""
_ACTS = ("draft", *_STATES, "places")


class ManualRecruiter:
    """What `link`, `panel` and `lab` have in common. Nothing is sent anywhere.

    Its only posting is the study in its run. Its state is read from the ledger, which the verbs write, and from the
    acts of this object that are not in the ledger yet.
    """

    mode: Mode
    can: frozenset[Verb] = frozenset({"draft", "publish", "pause", "places", "stop"})
    manual: Mapping[Verb, str]
    notes: tuple[str, ...] = ()
    is_rehearsal = False

    def __init__(self, study: Study, store: Store, now: Callable[[], datetime] = utc_now) -> None:
        self._study, self._store, self._now = study, store, now
        self._unrecorded: list[LedgerEntry] = []

    @property
    def id(self) -> str:
        """The id of the only posting."""
        return own_posting(self._study.name, self._study.run)

    def start_address(self, public_url: str) -> str:
        """Return where participants begin, with what a platform passes on to the study."""
        return entrance_of(self._study, self._store.secret).start_address(public_url)

    async def quote(self, job: Job) -> Quote:
        """Return what a number of participants costs at most: rewards and bonuses, without fees."""
        least, currency = self._study.recruit.hourly_minimum, job.reward.currency
        lists = (await self._store.counts(self._now(), self._study.run)).get("lists", 0)
        rewards = Sum(job.reward.minor * job.places, currency)
        outs, bonuses = _highest_screen_outs(job), highest_bonuses(self._study, job, lists)
        return Quote(
            places=job.places,
            minutes=job.minutes,
            reward=job.reward,
            rewards=rewards,
            fees=Sum(0, currency),
            screen_outs=outs,
            bonuses=bonuses,
            total=Sum(rewards.minor + outs.minor + bonuses.minor, currency),
            balance=None,
            hourly=hourly(job.reward, job.minutes),
            floor=money(least) if least else None,
            advice=None,
        )

    async def check(self, job: Job) -> None:
        """Do nothing: no platform has requirements."""

    async def draft(self, job: Job) -> Posting:
        """Return the posting; a second draft is the first one, with the number of places given now."""
        acts = await self._acts()
        if not acts or (_state(acts) == "draft" and _places(acts) != job.places):
            await self._record("draft", job.places)
        return await self.posting(self.id)

    async def posting(self, id: str) -> Posting:
        """Return the state of the posting; `taken` counts sessions that are completed or live."""
        acts = await self._drafted(id)
        counts = await self._store.counts(self._now(), self._study.run)
        taken = counts.get("live", 0) + counts.get("completed", 0)
        return Posting(id, _state(acts), _places(acts), taken, "")

    async def publish(self, id: str) -> Posting:
        """Publish it; one that is published stays so."""
        return await self._change_state(id, "publish")

    async def pause(self, id: str) -> Posting:
        """Let no new participants begin; those under way continue."""
        return await self._change_state(id, "pause")

    async def resuming(self, id: str) -> None:
        """Return None: it costs nothing more."""
        await self._drafted(id)

    async def resume(self, id: str, slots: int | None = None) -> Posting:
        """Let participants begin again."""
        return await self._change_state(id, "resume")

    async def set_places(self, id: str, total: int) -> Posting:
        """Set the total number of places."""
        places = _places(await self._drafted(id))
        if total < places:
            raise PlatformRefused(f"{total} places are fewer than the {places} that there are: places only grow.")
        if total > places:
            await self._record("places", total)
        return await self.posting(id)

    async def stop(self, id: str) -> Posting:
        """End recruiting."""
        return await self._change_state(id, "stop")

    async def submissions(self, id: str) -> Sequence[Submission]:
        self._refuse("submissions")

    async def submission(self, id: str) -> Submission:
        self._refuse("submissions")

    async def signed_address(self, visit: VisitIds, token: str) -> None:
        """Return None: nobody signs addresses but we."""

    async def approve(self, ids: Sequence[str]) -> None:
        self._refuse("approve")

    async def reject(self, id: str, category: Category, message: str) -> None:
        self._refuse("reject")

    async def request_return(self, id: str, reason: str) -> None:
        self._refuse("return")

    async def setup_bonus(self, posting: str, rows: Sequence[BonusRow]) -> Batch:
        self._refuse("bonus")

    async def pay_bonus(self, ref: str) -> None:
        self._refuse("bonus")

    async def exclude(self, participants: Sequence[str]) -> None:
        """Do nothing: other studies exclude these participants by `recruit.exclude`, when they arrive."""

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def _refuse(self, verb: Verb) -> NoReturn:
        raise PlatformRefused(self.manual[verb])

    async def _change_state(self, id: str, act: str) -> Posting:
        posting = await self.posting(id)
        if posting.state != _STATES[act]:
            await self._record(act, posting.places)
        return await self.posting(id)

    async def _record(self, kind: str, places: int) -> None:
        last = max((entry.entry for entry in await self._store.ledger.entries()), default=0)
        evidence = {"places": places}
        self._unrecorded.append(
            LedgerEntry(kind, "done", self._now(), provider_ref=self.id, evidence=evidence, entry=last)
        )

    async def _acts(self) -> list[LedgerEntry]:
        """Return the acts about the posting in order: those in the ledger, with those of this object between them."""
        recorded = [
            entry
            for entry in await self._store.ledger.entries()
            if entry.kind in _ACTS and entry.event == "done" and entry.provider_ref == self.id
        ]
        return sorted([*recorded, *self._unrecorded], key=lambda entry: entry.entry)

    async def _drafted(self, id: str) -> list[LedgerEntry]:
        acts = await self._acts()
        if id != self.id or not acts:
            raise PlatformGone(f"There is no posting {id}: `beholder launch` makes {self.id}.")
        return acts


def _state(acts: Sequence[LedgerEntry]) -> State:
    """Return the state of a posting; one that was stopped is open again when places are added.

    A second draft keeps the state: another address or another amount opens and closes nothing.
    """
    state: State = "draft"
    for act in acts:
        is_reopened = act.kind == "places" and state == "completed"
        state = _STATES.get(act.kind, "active" if is_reopened else state)
    return state


def _places(acts: Sequence[LedgerEntry]) -> int:
    """Return the last number of places."""
    numbers = (evidence_of(act).get("places") for act in reversed(acts))
    return next((places for places in numbers if isinstance(places, int)), 0)


# The highest cost of screen-outs, further sessions and bonuses


def _highest_screen_outs(job: Job) -> Sum:
    """Return the cost of screen-outs, if there are as many of them as places."""
    return Sum(job.screen_out.minor * job.places if job.screen_out else 0, job.reward.currency)


def highest_bonuses(study: Study, job: Job, lists: int) -> Sum:
    """Return the cost of further sessions and bonuses, if everybody takes as many sessions as `lists` allows.

    A further session earns the reward again. The best by agreement are a share of all, so ties may add to it.
    """
    most = study.design.sessions_per_participant
    sessions = min(job.places * most, max(job.places, lists)) if most > 1 else job.places
    due = (sessions - job.places) * job.reward.minor
    bonus = study.clean.bonus
    if bonus is not None and bonus.quantity is not None and bonus.quantity.sessions <= most:
        due += sessions * money(bonus.quantity.each).minor
    if bonus is not None and bonus.quality is not None:
        due += math.ceil(sessions * bonus.quality.best / 100) * money(bonus.quality.each).minor
    return Sum(due, job.reward.currency)


# Link


_LINK_PAY = (
    "Nobody can be paid through a link: pay by hand whoever is in pay/payments.csv, which `beholder pay` writes."
)


class LinkRecruiter(ManualRecruiter):
    """Participants who have the address of the study, or a personal link."""

    mode: Mode = "link"
    manual: Mapping[Verb, str] = {
        "submissions": "A link knows no submissions: everybody who came is in the store.",
        "approve": _LINK_PAY,
        "bonus": _LINK_PAY,
        "reject": "Nothing can be rejected through a link: whoever is not to be paid is left out of pay/payments.csv.",
        "return": "Nothing can be returned through a link: there is nothing to do.",
    }


# Laboratory


_LAB_PAY = "Pay in the laboratory whoever is in pay/payments.csv, which `beholder pay` writes with the number of each."


class LabRecruiter(ManualRecruiter):
    """Participants at the stations of a laboratory."""

    mode: Mode = "lab"
    manual: Mapping[Verb, str] = {
        "submissions": "A laboratory knows no submissions: everybody who sat down is in the store.",
        "approve": _LAB_PAY,
        "bonus": _LAB_PAY,
        "reject": "Nobody is rejected in a laboratory: whoever is not to be paid is left out of pay/payments.csv.",
        "return": "Nothing can be returned in a laboratory: there is nothing to do.",
    }
