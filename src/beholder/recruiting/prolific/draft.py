"""Drafting: find one's own draft, or make it once; what a workspace cannot do is left out and told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from urllib.parse import quote

from beholder.errors import Problem, RecruitError
from beholder.recruit.contract import Job, PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruit.prolific.account import Account
from beholder.recruit.prolific.client import Client
from beholder.recruit.prolific.codes import completion_codes
from beholder.recruit.prolific.draft import Needed, draft_body, is_of
from beholder.recruit.prolific.earlier import earlier_postings
from beholder.recruit.prolific.filters import Audience, filters_of
from beholder.recruit.prolific.groups import family_group, family_name, group_ids, groups_in
from beholder.recruit.prolific.paging import paged
from beholder.recruit.prolific.paths import study_path
from beholder.recruit.prolific.rules import draft_problems
from beholder.recruit.prolific.statuses import state_of
from beholder.recruit.prolific.waiting import WAITS
from beholder.serve.returning import codes_of
from beholder.store.contract import Store
from beholder.study.model import Study
from beholder.study.money import Sum

NO_SCREEN_OUT = (
    "Prolific takes no paid screen-out ({why}): whoever does not fit is asked to return, and paid by a bonus."
)


class Drafting:
    """Puts up the draft of one job."""

    def __init__(self, study: Study, store: Store, client: Client, account: Account, job: Job) -> None:
        self._study, self._store, self._client, self._account, self._job = study, store, client, account, job
        self.notes: list[str] = []

    async def check(self) -> None:
        """Raise RecruitError with everything that is wrong with the draft but its address, which launching looks at.

        Nothing is made for it: the family's group may not be there yet, and only its filter is looked up.
        """
        self._hold(await self._body(family_name(self._study)), is_any_address=True)

    async def put(self) -> str:
        """Return the id of the job's draft: the one that has its key, brought up to date, or a new one."""
        own = await self._own()
        if own is not None and state_of(own.get("status")) not in ("draft", "scheduled"):
            if round(own.get("reward", 0)) != self._job.reward.minor:
                self.notes.append("It is published already: Prolific keeps its reward, whatever the study says now.")
            return str(own["id"])
        body = await self._body(await self._group())
        self._hold(body, is_any_address=self._client.is_rehearsal)
        if own is not None:
            path = study_path(str(own["id"]))
            await self._send(body, lambda sent: self._client.repeat("PATCH", path, sent))
            return str(own["id"])
        for wait in WAITS:
            try:
                made = await self._send(body, lambda sent: self._client.once("/api/v1/studies/", sent))
                return str(made["id"])
            except (PlatformAway, PlatformUnsure) as error:
                lost = error
            await self._client.sleep(wait)
            if (own := await self._own()) is not None:
                return str(own["id"])
        raise lost

    async def _own(self) -> Mapping[str, Any] | None:
        """Return the study that has the job's key; several raise RecruitError."""
        path = f"/api/v1/projects/{quote(self._account.project, safe='')}/studies/"
        found = {str(one["id"]): one async for one in paged(self._client, path) if is_of(one, self._job.key)}
        if len(found) > 1:
            raise RecruitError(
                Problem(
                    "Prolific",
                    f"has {len(found)} studies of this launch ({self._job.key}): {', '.join(sorted(found))}",
                    "one",
                    "Look at them on Prolific, delete the drafts that nobody took part in, then launch again.",
                )
            )
        return next(iter(found.values()), None)

    async def _send(
        self, body: dict[str, Any], send: Callable[[Mapping[str, Any]], Awaitable[Any]]
    ) -> Mapping[str, Any]:
        """Return the answer to a draft; what is refused with a paid screen-out, and not without it, goes without it."""
        try:
            return dict(await send(body))
        except PlatformRefused as error:
            if self._job.screen_out is None:
                raise
            why = str(error)
        body["completion_codes"] = self._codes(None, await self._group())
        made = dict(await send(body))
        self.notes.append(NO_SCREEN_OUT.format(why=why))
        return made

    async def _body(self, group: str | None) -> dict[str, Any]:
        """Return the draft; names that Prolific does not know raise RecruitError."""
        record = await self._store.current()
        return draft_body(
            self._study,
            self._job,
            Needed(
                project=self._account.project,
                codes=self._codes(self._job.screen_out, group),
                filters=await self._filters(group),
                record=record,
            ),
        )

    def _hold(self, body: Mapping[str, Any], *, is_any_address: bool) -> None:
        """Raise RecruitError with everything that Prolific asks for in prose and the draft does not keep."""
        if problems := draft_problems(body, is_any_address=is_any_address):
            raise RecruitError(problems)

    def _codes(self, screen_out: Sum | None, group: str | None) -> list[dict[str, Any]]:
        # Who may come again as a submission of its own would be kept out by the group after the first one; at the
        # end of such a study its people are added all at once.
        joins = None if self._study.recruit.further == "submissions" else group
        return completion_codes(
            codes_of(self._study, self._store.secret),
            places=self._job.places,
            screen_out=screen_out,
            group=joins,
        )

    async def _group(self) -> str | None:
        return await family_group(self._study, self._account.workspace, self._client)

    async def _filters(self, group: str | None) -> list[dict[str, Any]]:
        recruit, workspace = self._study.recruit, self._account.workspace
        there = await groups_in(workspace, self._client) if recruit.groups or recruit.block_groups else []
        audience = Audience(
            groups=group_ids(self._study, "recruit.groups", recruit.groups, there),
            block_groups=[
                *group_ids(self._study, "recruit.block_groups", recruit.block_groups, there),
                *([group] if group else []),
            ],
            block_studies=[*recruit.block_studies, *await earlier_postings(self._study, self._store)],
        )
        known = await self._client.get("/api/v1/filters/", workspace_id=workspace)
        return filters_of(self._study, known["results"], audience)
