"""Participant groups: those that a study names, and the one of its family, which keeps people apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from beholder.errors import RecruitError, did_you_mean
from beholder.recruit.prolific.client import Client
from beholder.study.model import Study


class Group(NamedTuple):
    """A group of the workspace."""

    id: str
    name: str


async def groups_in(workspace: str, client: Client) -> list[Group]:
    """Return the groups of a workspace that are not deleted."""
    listed = await client.get("/api/v1/participant-groups/", workspace_id=workspace, active="true")
    return [Group(str(one["id"]), str(one["name"])) for one in listed["results"] if not one.get("is_deleted")]


def family_name(study: Study) -> str | None:
    """Return the name of the group of a study's family; None where it has no family."""
    return None if study.family is None else f"beholder {study.family}"


async def family_group(study: Study, workspace: str, client: Client) -> str | None:
    """Return the id of the family's group, made where there is none yet; None where the study has no family."""
    name = family_name(study)
    if name is None:
        return None
    if not (found := await _named(name, workspace, client)):
        description = f"Took part in a study of the family {study.family}"
        body = {"workspace_id": workspace, "name": name, "description": description}
        await client.repeat("POST", "/api/v1/participant-groups/", body)
        found = await _named(name, workspace, client)
    # Should a lost answer have led to two of one name, everybody takes the first: ids grow with time.
    return min(found)


async def _named(name: str, workspace: str, client: Client) -> list[str]:
    return [group.id for group in await groups_in(workspace, client) if group.name == name]


def group_ids(study: Study, key: str, wanted: Sequence[str], there: Sequence[Group]) -> list[str]:
    """Return the ids of groups that a study names, by id or name; whichever is not there raises RecruitError."""
    by_word = {word: group.id for group in reversed(there) for word in group}
    problems = [
        study.problem(
            f"{key}.{place}",
            f"is {word}, and the workspace on Prolific has no such group",
            ", ".join(group.name for group in there),
            did_you_mean(word, [group.name for group in there]),
        )
        for place, word in enumerate(wanted)
        if word not in by_word
    ]
    if problems:
        raise RecruitError(problems)
    return [by_word[word] for word in wanted]
