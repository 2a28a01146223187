"""Participant groups of the fake."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from beholder.recruit.fake.answers import Answer, Call, Refusal
from beholder.recruit.fake.clock import stamp
from beholder.recruit.fake.state import Group

if TYPE_CHECKING:
    from beholder.recruit.fake.platform import FakeProlific


class Groups:
    """All groups of the workspace. Membership is live: it counts for published studies too."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, Group] = {}

    def index(self, call: Call) -> Answer:
        if not {"workspace_id", "project_id"} & set(call.query):
            raise Refusal({"workspace_id": ["Give workspace_id or project_id."]})
        return Answer(200, {"results": [_shown(one) for one in self.all.values() if not one.is_deleted]})

    def create(self, call: Call) -> Answer:
        if call.body.get("workspace_id") != self._fake.workspace:
            raise Refusal({"workspace_id": ["There is no such workspace."]})
        group = Group(self._fake.new_id(), call.body["name"], self._fake.workspace, call.body.get("description"))
        self.all[group.id] = group
        self.add(group.id, call.body.get("participant_ids", []))
        return Answer(201, _shown(group))

    def show(self, call: Call) -> Answer:
        return Answer(200, _shown(self.find(call.ids[0])))

    def delete(self, call: Call) -> Answer:
        self.find(call.ids[0]).is_deleted = True
        return Answer(204)

    def members(self, call: Call) -> Answer:
        return Answer(200, {"results": _listed(self.find(call.ids[0]))})

    def put_in(self, call: Call) -> Answer:
        self.add(call.ids[0], call.body.get("participant_ids", []))
        return self.members(call)

    def take_out(self, call: Call) -> Answer:
        self.remove(call.ids[0], call.body.get("participant_ids", []))
        return self.members(call)

    def find(self, id_: str) -> Group:
        if id_ not in self.all or self.all[id_].is_deleted:
            raise Refusal("There is no such participant group.", 404)
        return self.all[id_]

    def add(self, id_: str, people: Sequence[str]) -> None:
        """Put people into a group; who is in it already stays."""
        members = self.find(id_).members
        for person in people:
            members.setdefault(person, self._fake.now)

    def remove(self, id_: str, people: Sequence[str]) -> None:
        for person in people:
            self.find(id_).members.pop(person, None)


def _shown(group: Group) -> dict[str, Any]:
    return {
        "id": group.id, "name": group.name, "project_id": None, "workspace_id": group.workspace,
        "organisation_id": None, "description": group.description, "participant_count": len(group.members),
        "is_deleted": group.is_deleted, "feeder_studies": [],
    }  # fmt: skip


def _listed(group: Group) -> list[dict[str, Any]]:
    return [{"participant_id": person, "datetime_created": stamp(at)} for person, at in group.members.items()]
