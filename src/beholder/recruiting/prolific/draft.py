"""Drafts: the body of a study on Prolific, its creation, and the rules that Prolific documents only in prose."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any
from urllib.parse import quote, urlsplit

from beholder.checks.page_registry import page_checks
from beholder.errors import Problem, RecruitError
from beholder.recruiting.contract import Job, PlatformAway, PlatformRefused, PlatformUnsure
from beholder.recruiting.prolific.client import ProlificClient, paginate, study_path
from beholder.recruiting.prolific.filters import (
    Audience,
    earlier_postings,
    family_group,
    family_name,
    filters_of,
    group_ids,
    groups_in,
)
from beholder.recruiting.prolific.money import SCREEN_OUT, ProlificAccount, completion_codes
from beholder.recruiting.prolific.submissions import WAITS, state_of
from beholder.server.entrances import shared_codes
from beholder.store.contract import Store, StudyRecord
from beholder.study.model import Study
from beholder.study.recruitment import Sum, longest_minutes
from beholder.types import Json

_TAGS = {"b", "i", "em", "strong", "s", "u", "h1", "h2", "ol", "ul", "li", "p"}
"""HTML elements that Prolific keeps in a description."""
_DEVICES = {"desktop": "desktop", "tablet": "tablet", "phone": "mobile"}
_LABEL = "annotation"


@dataclass(frozen=True)
class DraftContext:
    """What a draft needs from Prolific or from the store."""

    project: str
    codes: Sequence[Mapping[str, Any]]
    filters: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    record: StudyRecord | None = None


def draft_body(study: Study, job: Job, context: DraftContext) -> dict[str, Any]:
    """Return the body of a job's draft, with every field that has a default on Prolific written out."""
    record = context.record
    several = study.recruit.further == "submissions"
    return {
        "name": job.title,
        "internal_name": _internal_name(job),
        "description": plain_description(job.description),
        "project": context.project,
        "external_study_url": job.url,
        "prolific_id_option": "url_parameters",
        "total_available_places": job.places,
        "estimated_completion_time": job.minutes,
        "maximum_allowed_time": job.time_limit_minutes or longest_minutes(job.minutes),
        "reward": job.reward.minor,
        "device_compatibility": _devices(study),
        "peripheral_requirements": ["audio"] if has_sound(study, record) else [],
        "completion_codes": list(context.codes),
        "filters": list(context.filters),
        "submissions_config": {
            "max_submissions_per_participant": study.design.sessions_per_participant if several else 1
        },
        "study_labels": [_LABEL],
        "metadata": json.dumps({"digest": record.digest if record else "", "launch": job.key}),
        # Only some workspaces have it: others may refuse the key, whatever its value.
        **({_SIGNED: True} if study.recruit.signed_visits else {}),
    }


def _internal_name(job: Job) -> str:
    """Return the name that only the researcher sees; its last word identifies the draft."""
    return f"{job.title} {job.key}"


def _has_key(listed: Mapping[str, Any], key: str) -> bool:
    """Return whether an entry of Prolific's list belongs to the launch with this key."""
    return str(listed.get("internal_name") or "").endswith(f" {key}")


def plain_description(html: str) -> str:
    """Return a description with the HTML elements that Prolific keeps; links and tables become text."""
    import nh3

    html = re.sub(r"<(/?)h[3-6]\b[^>]*>", r"<\1h2>", html)
    html = re.sub(r"</t[dh]>", " ", html)
    html = re.sub(
        r"</?(?:table|thead|tbody|t[dh])\b[^>]*>", "", html
    )  # the sanitizer would move paragraphs out of the table
    html = re.sub(r"<(/?)tr\b[^>]*>", r"<\1p>", html)
    return nh3.clean(re.sub(r"<br\s*/?>", " ", html), tags=_TAGS, attributes={}).strip()


def has_sound(study: Study, record: StudyRecord | None) -> bool:
    """Return whether participants need sound: a stimulus has some, or a check tests hearing."""
    if any(check.sense == "ears" for check in page_checks(study)):
        return True
    if study.playback.sound == "off" or record is None:
        return False
    return any(row["medium"] == "audio" or _has_audio(row.get("probe")) for row in record.stimuli)


def _has_audio(probe: Json) -> bool:
    return isinstance(probe, Mapping) and bool(probe.get("audio_codec"))


def _devices(study: Study) -> list[str]:
    """Return the devices that the study allows; an empty list means any."""
    return [_DEVICES[kind] for check in page_checks(study) for kind in check.allowed_devices()]


# Creating and updating


NO_SCREEN_OUT = (
    "Prolific takes no paid screen-out ({why}): whoever does not fit is asked to return, and paid by a bonus."
)
NO_SIGNATURE = "Prolific does not sign the visits of this workspace ({why}): its list alone tells which are real."
_SIGNED, _CODES = "is_external_study_url_secure", "completion_codes"
_LEFT_OUT: Mapping[str, str] = {_SIGNED: NO_SIGNATURE, _CODES: NO_SCREEN_OUT}
"""What is noted where a field is left out or replaced."""


class ProlificDraft:
    """Creates or updates the draft of one job. What a workspace does not support is left out, with a note."""

    def __init__(self, study: Study, store: Store, client: ProlificClient, account: ProlificAccount, job: Job) -> None:
        self._study, self._store, self._client, self._account, self._job = study, store, client, account, job
        self.notes: list[str] = []

    async def check(self) -> None:
        """Raise RecruitError with all problems of the draft except its address, which is checked when launching.

        Nothing is created: the family's group may not exist yet, so only its filter is checked.
        """
        self._check_body(await self._body(family_name(self._study)), is_any_address=True)

    async def save(self) -> str:
        """Return the id of the job's draft: the existing one, updated, or a new one."""
        existing = await self._find_existing()
        if existing is not None and state_of(existing.get("status")) not in ("draft", "scheduled"):
            if round(existing.get("reward", 0)) != self._job.reward.minor:
                self.notes.append("It is published already: Prolific keeps its reward, whatever the study says now.")
            return str(existing["id"])
        body = await self._body(await self._group())
        self._check_body(body, is_any_address=self._client.is_rehearsal)
        if existing is not None:
            path = study_path(str(existing["id"]))
            await self._send(body, lambda content: self._client.send_idempotent("PATCH", path, content))
            return str(existing["id"])
        for wait in WAITS:
            try:
                created = await self._send(body, lambda content: self._client.send_once("/api/v1/studies/", content))
                return str(created["id"])
            except (PlatformAway, PlatformUnsure) as error:
                lost = error
            await self._client.sleep(wait)
            if (existing := await self._find_existing()) is not None:
                return str(existing["id"])
        raise lost

    async def _find_existing(self) -> Mapping[str, Any] | None:
        """Return the study with the job's key, or None; raise RecruitError if there are several."""
        path = f"/api/v1/projects/{quote(self._account.project, safe='')}/studies/"
        studies = {str(one["id"]): one async for one in paginate(self._client, path) if _has_key(one, self._job.key)}
        if len(studies) > 1:
            raise RecruitError(
                Problem(
                    "Prolific",
                    f"has {len(studies)} studies of this launch ({self._job.key}): {', '.join(sorted(studies))}",
                    "one",
                    "Look at them on Prolific, delete the drafts that nobody took part in, then launch again.",
                )
            )
        return next(iter(studies.values()), None)

    async def _send(
        self, body: dict[str, Any], send: Callable[[Mapping[str, Any]], Awaitable[Any]]
    ) -> Mapping[str, Any]:
        """Return the answer to a draft; one that is refused is sent again without what only some workspaces have.

        That is a signature on visits, or paid screen-outs: as little as possible is left out.
        """
        optional = {_SIGNED: _SIGNED in body, _CODES: self._job.screen_out is not None}
        parts = [name for name, is_wanted in optional.items() if is_wanted]
        why = ""
        for left_out in (names for number in range(len(parts) + 1) for names in combinations(parts, number)):
            sent = {name: value for name, value in body.items() if name not in left_out}
            if _CODES in left_out:
                sent[_CODES] = self._codes(None, await self._group())
            try:
                answer = dict(await send(sent))
                break
            except PlatformRefused as error:
                if len(left_out) == len(parts):
                    raise
                why = why or str(error)
        self.notes += [_LEFT_OUT[name].format(why=why) for name in left_out]
        if _SIGNED in sent and answer.get(_SIGNED) is not True:
            self.notes.append(NO_SIGNATURE.format(why="it did not switch that on"))
        return answer

    async def _body(self, group: str | None) -> dict[str, Any]:
        """Return the body of the draft; raise RecruitError for names that Prolific does not know."""
        record = await self._store.current()
        return draft_body(
            self._study,
            self._job,
            DraftContext(
                project=self._account.project,
                codes=self._codes(self._job.screen_out, group),
                filters=await self._filters(group),
                record=record,
            ),
        )

    def _check_body(self, body: Mapping[str, Any], *, is_any_address: bool) -> None:
        """Raise RecruitError with all problems of a body."""
        if problems := draft_problems(body, is_any_address=is_any_address):
            raise RecruitError(problems)

    def _codes(self, screen_out: Sum | None, group: str | None) -> list[dict[str, Any]]:
        # Where a further session is a further submission, the group would exclude participants after their first one;
        # they are added to it at the end of the study.
        joins = None if self._study.recruit.further == "submissions" else group
        return completion_codes(
            shared_codes(self._study, self._store.secret),
            places=self._job.places,
            screen_out=screen_out,
            group=joins,
        )

    async def _group(self) -> str | None:
        return await family_group(self._study, self._account.workspace, self._client)

    async def _filters(self, group: str | None) -> list[dict[str, Any]]:
        recruit, workspace = self._study.recruit, self._account.workspace
        groups = await groups_in(workspace, self._client) if recruit.groups or recruit.block_groups else []
        audience = Audience(
            groups=group_ids(self._study, "recruit.groups", recruit.groups, groups),
            block_groups=[
                *group_ids(self._study, "recruit.block_groups", recruit.block_groups, groups),
                *([group] if group else []),
            ],
            block_studies=[*recruit.block_studies, *await earlier_postings(self._study, self._store)],
        )
        known = await self._client.get("/api/v1/filters/", workspace_id=workspace)
        return filters_of(self._study, known["results"], audience)


# Rules that Prolific documents only in prose


_PLACEHOLDERS = ("{{%PROLIFIC_PID%}}", "{{%STUDY_ID%}}", "{{%SESSION_ID%}}")
_DAY = 24 * 60


def draft_problems(body: Mapping[str, Any], *, is_any_address: bool = False) -> list[Problem]:
    """Return every reason for which Prolific would or should refuse a draft; `is_any_address` allows http."""
    return [
        *_texts(body),
        *_numbers(body),
        *_address(str(body["external_study_url"]), is_any_address),
        *_codes(body["completion_codes"], body["reward"]),
    ]


def _texts(body: Mapping[str, Any]) -> list[Problem]:
    return [
        Problem(f"Prolific {field}", "is empty", "a text that people read before they begin")
        for field in ("name", "description")
        if not str(body[field]).strip()
    ]


def _numbers(body: Mapping[str, Any]) -> list[Problem]:
    problems = [
        Problem(f"Prolific {field}", f"is {body[field]}", "a whole number, 1 or more")
        for field in ("reward", "total_available_places", "estimated_completion_time")
        if not isinstance(body[field], int) or body[field] < 1
    ]
    limit, minutes = body["maximum_allowed_time"], body["estimated_completion_time"]
    if isinstance(minutes, int) and minutes >= 1:
        least = longest_minutes(minutes)
        if not least <= limit < _DAY:
            problems.append(
                Problem(
                    "Prolific maximum_allowed_time",
                    f"is {limit:g} minutes for an estimate of {minutes}",
                    f"{least} to {_DAY - 1} minutes",
                    f"Write recruit: {{time_limit: {least} min}} or longer, or leave it out.",
                )
            )
    return problems


def _address(url: str, is_any_address: bool) -> list[Problem]:
    where, problems = "Prolific external_study_url", []
    if urlsplit(url).scheme != "https" and not is_any_address:
        problems.append(
            Problem(where, f"is {url}", "https://", "Serve the study over https and name it by --public-url.")
        )
    missing = [word for word in _PLACEHOLDERS if word not in url]
    if missing:
        problems.append(Problem(where, f"is without {', '.join(missing)}", ", ".join(_PLACEHOLDERS)))
    return problems


def _codes(codes: Sequence[Mapping[str, Any]], reward: Any) -> list[Problem]:
    where, problems = "Prolific completion_codes", []
    if not any(entry["code_type"] == "COMPLETED" for entry in codes):
        problems.append(Problem(where, "have none for those who completed", "one at least"))
    for code, count in Counter(entry["code"] for entry in codes).items():
        if count > 1:
            problems.append(Problem(where, f"have {code} {count} times", "every code once"))
    for entry in codes:
        names = {action["action"] for action in entry["actions"]}
        if {"AUTOMATICALLY_APPROVE", "MANUALLY_REVIEW"} <= names:
            problems.append(
                Problem(where, f"approve {entry['code_type']} by themselves and by hand", "one of the two for a code")
            )
    outs = [action for entry in codes for action in entry["actions"] if action["action"] == SCREEN_OUT]
    if len(outs) > 1:
        problems.append(Problem(where, f"pay for {len(outs)} kinds of screen-out", "one at most"))
    for out in outs:
        if not 0 < out["fixed_screen_out_reward"] < reward:
            what = f"pay {out['fixed_screen_out_reward']} to those who did not fit, and {reward} to those who did"
            problems.append(Problem(where, what, f"1 to {reward - 1}", "Write a smaller recruit: {screen_out: ..}."))
    return problems
