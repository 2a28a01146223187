"""`ProlificRecruiter`: Prolific behind the contract of a recruiter.

Every operation reads the state before it acts, and pays exactly once.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any, get_args
from urllib.parse import quote

from beholder.clock import utc_now
from beholder.errors import RecruitError
from beholder.recruiting.contract import (
    Batch,
    BonusRow,
    Category,
    Job,
    PlatformAway,
    PlatformRefused,
    PlatformUnsure,
    Posting,
    Quote,
    ResumeCost,
    State,
    Submission,
    Verb,
)
from beholder.recruiting.launch_record import launch_record
from beholder.recruiting.ledger import cost_beyond_quote, replay
from beholder.recruiting.preflight import cost_of_runs
from beholder.recruiting.prolific.client import ProlificClient, prolific_url, study_path
from beholder.recruiting.prolific.draft import ProlificDraft
from beholder.recruiting.prolific.filters import family_group
from beholder.recruiting.prolific.money import (
    ProlificAccount,
    account_of,
    quote_of,
    reward_of,
    screen_out_of,
    set_up_bonuses,
    slots_for,
    slots_of,
    with_slots,
)
from beholder.recruiting.prolific.signed_visits import SignedVisits
from beholder.recruiting.prolific.submissions import (
    PLACE_STATUSES,
    all_submissions,
    approve,
    counts_of,
    is_full,
    one_submission,
    reject,
    request_return,
    state_of,
    transition,
)
from beholder.server.entrances import ProlificEntrance
from beholder.server.visits import VisitIds
from beholder.store.contract import Store
from beholder.study.model import Study
from beholder.study.recruitment import Mode, Sum, moment, money

_RESEARCHER = "https://app.prolific.com/researcher/workspaces/studies"
_PLACEHOLDERS = "&".join(f"{name}={{{{%{name}%}}}}" for name in ProlificEntrance.PARAMETERS)
_PUBLISHED: tuple[State, ...] = ("active", "paused", "completed")


def open_prolific(study: Study, store: Store) -> ProlificRecruiter:
    """Return the recruiter of a study. The token is PROLIFIC_TOKEN; the first request raises if it is missing."""
    return ProlificRecruiter(study, store, ProlificClient(prolific_url(), os.environ.get("PROLIFIC_TOKEN", "").strip()))


class ProlificRecruiter:
    """Recruits through Prolific."""

    mode: Mode = "prolific"
    can: frozenset[Verb] = frozenset(get_args(Verb))
    manual: Mapping[Verb, str] = {}

    def __init__(
        self, study: Study, store: Store, client: ProlificClient, now: Callable[[], datetime] = utc_now
    ) -> None:
        self._study, self._store, self._client, self._now = study, store, client, now
        self._account: ProlificAccount | None = None
        self._signed = SignedVisits(client, self._workspace, now)
        self.notes: tuple[str, ...] = ()
        self.is_rehearsal = client.is_rehearsal

    def start_address(self, public_url: str) -> str:
        return f"{public_url}/s/{self._study.name}?{_PLACEHOLDERS}"

    async def quote(self, job: Job) -> Quote:
        return await self._quote(job, await self._slots() if job.screen_out is not None else 0)

    async def check(self, job: Job) -> None:
        await (await self._draft_of(job)).check()

    async def draft(self, job: Job) -> Posting:
        draft = await self._draft_of(job)
        id = await draft.save()
        self.notes = tuple(draft.notes)
        return await self.posting(id)

    async def posting(self, id: str) -> Posting:
        return await self._posting(id, await self._client.get(study_path(id)))

    async def publish(self, id: str) -> Posting:
        opens = self._study.recruit.opens
        body: dict[str, Any] = {"action": "PUBLISH"}
        if opens is not None and moment(opens) > self._now():
            # Participants who arrive before the study opens would be refused.
            body = {"action": "SCHEDULE_PUBLISH", "publish_at": moment(opens).astimezone(UTC).isoformat()}
        return await self._transition(id, {"draft": body}, (*_PUBLISHED, "scheduled"))

    async def pause(self, id: str) -> Posting:
        steps: Mapping[State, Mapping[str, Any]] = {
            "active": {"action": "PAUSE"},
            "scheduled": {"action": "CANCEL_PUBLISH"},
        }
        return await self._transition(id, steps, ("paused", "completed", "draft"))

    async def resuming(self, id: str) -> ResumeCost | None:
        """Return the slots to add and their cost if all paid screen-outs are used up; None if resuming is free."""
        study = await self._client.get(study_path(id))
        entry = screen_out_of(study)
        if entry is None or state_of(study["status"]) != "paused":
            return None
        slots_now, used = slots_of(entry), (await counts_of(id, self._client)).get("screened_out", 0)
        if used < slots_now:
            return None
        job = await self._job_of(study, entry)
        slots = used + await self._more_slots(id, job, used)
        now, then = [(await self._quote(job, number)).total for number in (slots_now, slots)]
        return ResumeCost(slots, Sum(then.minor - now.minor, then.currency))

    async def resume(self, id: str, slots: int | None = None) -> Posting:
        if slots is not None:
            entry = screen_out_of(await self._client.get(study_path(id)))
            if entry is not None and slots_of(entry) < slots:
                await self._set_slots(id, entry, slots)
        return await self._transition(id, {"paused": {"action": "START"}}, ("active", "completed"))

    async def set_places(self, id: str, total: int) -> Posting:
        study = await self._client.get(study_path(id))
        places = round(study["total_available_places"])
        if total < places:
            raise PlatformRefused(f"there are {places} places, and they can only grow: {total} are fewer")
        more: dict[str, Any] = {"total_available_places": total} if total > places else {}
        entry = screen_out_of(study)
        if entry is not None and slots_of(entry) < slots_for(total):
            more["completion_codes"] = [with_slots(entry, slots_for(total))]
        if more:  # in one request: after an interruption between two, places alone would count as done
            await self._client.send_idempotent("PATCH", study_path(id), more)
        return await self.posting(id)

    async def stop(self, id: str) -> Posting:
        steps: Mapping[State, Mapping[str, Any]] = {
            "active": {"action": "STOP"},
            "paused": {"action": "STOP"},
            "scheduled": {"action": "CANCEL_PUBLISH"},
        }
        if is_full((await self._client.get(study_path(id)))["status"]):
            # It would open again as soon as a place becomes free. Whether it accepts a stop is not documented.
            with suppress(PlatformRefused, PlatformAway, PlatformUnsure):
                await self._client.send_once(f"{study_path(id)}transition/", steps["active"])
        return await self._transition(id, steps, ("completed", "draft"))

    async def submissions(self, id: str) -> Sequence[Submission]:
        return await all_submissions(id, self._client)

    async def submission(self, id: str) -> Submission:
        return await one_submission(id, self._client)

    async def signed_address(self, visit: VisitIds, token: str) -> str | None:
        return await self._signed.address(visit, token) if self._study.recruit.signed_visits else None

    async def approve(self, ids: Sequence[str]) -> None:
        await approve(ids, self._client)

    async def reject(self, id: str, category: Category, message: str) -> None:
        await reject(id, category, message, self._client)

    async def request_return(self, id: str, reason: str) -> None:
        await request_return(id, reason, self._client)

    async def setup_bonus(self, posting: str, rows: Sequence[BonusRow]) -> Batch:
        return await set_up_bonuses(posting, rows, (await self._load_account()).currency, self._client)

    async def pay_bonus(self, ref: str) -> None:
        await self._client.pay(f"/api/v1/bulk-bonus-payments/{quote(ref, safe='')}/pay/")

    async def exclude(self, participants: Sequence[str]) -> None:
        group = (
            await family_group(self._study, (await self._load_account()).workspace, self._client)
            if participants
            else None
        )
        if group is None:
            return
        path = f"/api/v1/participant-groups/{quote(group, safe='')}/participants/"
        try:
            await self._client.send_idempotent("POST", path, {"participant_ids": list(participants)})
        except PlatformRefused as refused:
            words = str(refused)
            for participant in participants:  # ids of Prolific must not appear in logs
                words = words.replace(participant, "…")
            raise PlatformRefused(words) from None

    async def close(self) -> None:
        await self._client.close()

    async def _draft_of(self, job: Job) -> ProlificDraft:
        return ProlificDraft(self._study, self._store, self._client, await self._load_account(), job)

    async def _load_account(self) -> ProlificAccount:
        if self._account is None:
            self._account = await account_of(self._study, self._client)
        return self._account

    async def _workspace(self) -> str:
        return (await self._load_account()).workspace

    async def _posting(self, id: str, study: Mapping[str, Any]) -> Posting:
        state = state_of(study["status"])
        is_out = state not in ("draft", "scheduled")
        counts = await counts_of(id, self._client) if is_out else {}
        return Posting(
            id=id,
            state=state,
            places=round(study["total_available_places"]),
            taken=sum(counts.get(status, 0) for status in PLACE_STATUSES),
            link="" if self.is_rehearsal else f"{_RESEARCHER}/{id}",
            reward=Sum(round(study["reward"]), (await self._load_account()).currency),
            slots=slots_of(entry) if (entry := screen_out_of(study)) is not None else None,
        )

    async def _quote(self, job: Job, slots: int) -> Quote:
        counts = await self._store.counts(self._now(), self._study.run)
        lists = self._study.design.lists_in_all(counts["lists"])
        return await quote_of(self._study, job, lists, await self._load_account(), self._client, slots=slots)

    async def _slots(self) -> int:
        """Return the number of paid screen-outs of the published study; resuming may have raised it."""
        record = launch_record(await self._store.ledger.entries(), self._study.run)
        if record is None:
            return 0
        with suppress(PlatformRefused):  # deleted on Prolific
            return (await self.posting(record.posting)).slots or 0
        return 0

    async def _job_of(self, study: Mapping[str, Any], entry: Mapping[str, Any]) -> Job:
        """Return the published study as a job that is only used to ask for a quote."""
        places, currency = round(study["total_available_places"]), (await self._load_account()).currency
        reward, screen_out = Sum(round(study["reward"]), currency), Sum(reward_of(entry), currency)
        return Job("", "", "", "", places=places, minutes=1, reward=reward, screen_out=screen_out)

    async def _more_slots(self, id: str, job: Job, used: int) -> int:
        """Return how many paid screen-outs may be added: as many as at first, or as many as the budget allows."""
        usual = slots_for(job.places)
        if self._study.budget is None:
            return usual
        quote, entries = await self._quote(job, used), await self._store.ledger.entries()
        others = cost_of_runs(self._study, entries, quote.total.currency, besides=self._study.run)
        spent = quote.total.minor + cost_beyond_quote(replay(entries), id) + others.minor
        budget, one = money(self._study.budget), -(-quote.screen_outs.minor // max(used, usual))
        more = min(usual, (budget.minor - spent) // one)
        if more < 1:
            needed = Sum(spent + one, quote.total.currency)
            what = f"is {budget}, and with one more who does not fit the study may cost {needed}"
            fix = "Nobody was let in again. Raise it, or end here: `beholder close`."
            raise RecruitError(self._study.problem("budget", what, f"{needed} or more", fix))
        return more

    async def _transition(self, id: str, steps: Mapping[State, Mapping[str, Any]], until: Collection[State]) -> Posting:
        return await transition(self._client, lambda: self.posting(id), f"{study_path(id)}transition/", steps, until)

    async def _set_slots(self, id: str, entry: Mapping[str, Any], slots: int) -> None:
        await self._client.send_idempotent("PATCH", study_path(id), {"completion_codes": [with_slots(entry, slots)]})
