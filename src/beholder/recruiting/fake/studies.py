"""Studies of the fake platform: drafts, publishing, places that only grow, and transitions."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from beholder.recruiting.fake.filters import BLOCKED_STUDIES, check_filters
from beholder.recruiting.fake.http import FakeCall, FakeReply, Refusal, page_of
from beholder.recruiting.fake.state import LIVE_STATUSES, FakeStudy, least_time, price, stamp, study_problems

if TYPE_CHECKING:
    from beholder.recruiting.fake.platform import FakeProlific


_DEFAULTS: dict[str, Any] = {
    "internal_name": None, "completion_codes": [], "device_compatibility": [], "peripheral_requirements": [],
    "filters": [], "study_labels": [], "content_warnings": [], "metadata": None,
}  # fmt: skip


class FakeStudies:
    """The studies of the workspace."""

    def __init__(self, fake: FakeProlific) -> None:
        self._fake = fake
        self.all: dict[str, FakeStudy] = {}

    def create(self, call: FakeCall) -> FakeReply:
        body = {**_DEFAULTS, "project": self._fake.project, **call.body}
        self._check(body)
        body.setdefault("maximum_allowed_time", least_time(body["estimated_completion_time"]))
        study = FakeStudy(self._fake.new_id(), body, self._fake.now)
        self.all[study.id] = study
        return FakeReply(201, self._shown(study))

    def show(self, call: FakeCall) -> FakeReply:
        return FakeReply(200, self._shown(self.find(call.ids[0])))

    def index(self, call: FakeCall) -> FakeReply:
        state = call.query.get("state")
        return FakeReply(
            200, {"results": [self._short(one) for one in self.all.values() if state in (None, one.status)]}
        )

    def of_project(self, call: FakeCall) -> FakeReply:
        if call.ids[0] != self._fake.project:
            raise Refusal("There is no such project.", 404)
        return FakeReply(200, {"results": page_of([self._short(one) for one in self.all.values()], call)})

    def change(self, call: FakeCall) -> FakeReply:
        study = self.find(call.ids[0])
        if study.is_published:
            self._change_published(study, call.body)
        else:
            body = {**study.body, **call.body}
            self._check(body)
            study.body = body
        self.refresh(study)
        return FakeReply(200, self._shown(study))

    def delete(self, call: FakeCall) -> FakeReply:
        study = self.find(call.ids[0])
        if study.is_published:
            raise Refusal("Published studies cannot be deleted.")
        del self.all[study.id]
        return FakeReply(200, {})

    def clone(self, call: FakeCall) -> FakeReply:
        source = self.find(call.ids[0])
        body = dict(source.body)
        if call.body.get("block_previous_participants", True):
            body["filters"] = [*body["filters"], {"filter_id": BLOCKED_STUDIES, "selected_values": [source.id]}]
        study = FakeStudy(self._fake.new_id(), body, self._fake.now)
        self.all[study.id] = study
        return FakeReply(200, self._shown(study))

    def move(self, call: FakeCall) -> FakeReply:
        """Carry out a transition."""
        study, action = self.find(call.ids[0]), call.body["action"]
        moves = {
            ("UNPUBLISHED", "PUBLISH"): self.publish, ("UNPUBLISHED", "SCHEDULE_PUBLISH"): self._schedule,
            ("SCHEDULED", "CANCEL_PUBLISH"): self._unschedule, ("ACTIVE", "PAUSE"): self._pause,
            ("PAUSED", "START"): self._start, ("ACTIVE", "STOP"): self._stop, ("PAUSED", "STOP"): self._stop,
            ("AWAITING REVIEW", "STOP"): self._stop,
        }  # fmt: skip
        if (study.status, action) not in moves:
            raise Refusal(f"A study that is {study.status} cannot {action}.")
        study.publish_at = _moment(call.body.get("publish_at")) or study.publish_at
        moves[study.status, action](study)
        return FakeReply(200, self._shown(study))

    def publish(self, study: FakeStudy) -> None:
        """Publish a study; the wallet must hold its highest possible cost."""
        if not self._is_ready(study):
            raise Refusal({"completion_codes": ["A study needs a completion code."]})
        self._fake.check_funds(self.whole_cost(study))
        study.status, study.published_at, study.publish_at = "ACTIVE", self._fake.now, None

    def refresh(self, study: FakeStudy) -> None:
        """Update the status by the submissions: full, all reviewed, or open again."""
        if study.status not in ("ACTIVE", "AWAITING REVIEW", "COMPLETED") or study.is_stopped:
            return
        inside = [one.status for one in self._fake.submissions.of(study.id)]
        if self._fake.submissions.taken(study.id) < study.places or any(status in LIVE_STATUSES for status in inside):
            study.status = "ACTIVE"
        else:
            study.status = "AWAITING REVIEW" if "AWAITING REVIEW" in inside else "COMPLETED"

    def pause_when_used_up(self, study: FakeStudy) -> None:
        """Pause a study whose paid screen-outs are used up."""
        act = study.screen_out
        if (
            act is not None
            and self._fake.submissions.screened_out(study.id) >= act["slots"]
            and study.status == "ACTIVE"
        ):
            self._pause(study)

    def find(self, id_: str) -> FakeStudy:
        if id_ not in self.all:
            raise Refusal("There is no such study.", 404)
        return self.all[id_]

    def whole_cost(self, study: FakeStudy) -> int:
        """Return the cost of a study if every place and every screen-out is paid, in hundredths."""
        return price(study.reward * study.places).total + self._screen_outs(study, 0)

    def held(self, study: FakeStudy) -> int:
        """Return the amount reserved for a study: what its open places may still cost."""
        if not study.is_published:
            return 0
        inside = [one.status for one in self._fake.submissions.of(study.id)]
        paid = inside.count("APPROVED") + inside.count("PARTIALLY APPROVED")
        if study.is_stopped:
            waiting = inside.count("AWAITING REVIEW") + sum(status in LIVE_STATUSES for status in inside)
            return price(study.reward * waiting).total
        used = inside.count("SCREENED OUT")
        return price(study.reward * max(0, study.places - paid)).total + self._screen_outs(study, used)

    def _screen_outs(self, study: FakeStudy, used: int) -> int:
        act = study.screen_out
        return 0 if act is None else price(act["fixed_screen_out_reward"] * max(0, act["slots"] - used)).total

    def _change_published(self, study: FakeStudy, body: dict[str, Any]) -> None:
        new = _with_changes(study, body)
        self._check(new)
        before = self.held(study)
        old, was_stopped = study.body, study.is_stopped
        study.body = new
        study.is_stopped = was_stopped and new["total_available_places"] == old["total_available_places"]
        if self.held(study) > before and self._fake.available < 0:
            missing = -self._fake.available
            study.body, study.is_stopped = old, was_stopped
            raise Refusal(f"Not enough funds: {missing} more needed.")

    def _check(self, body: dict[str, Any]) -> None:
        problems = study_problems(body, self._fake.features)
        if wrong := check_filters(body.get("filters") or [], self._fake.memberships()):
            problems["filters"] = [*problems.get("filters", []), *wrong]
        if body["project"] != self._fake.project:
            problems["project"] = ["There is no such project."]
        groups = {
            act["participant_group"]
            for one in body["completion_codes"]
            for act in one["actions"]
            if "participant_group" in act
        }
        if missing := sorted(groups - set(self._fake.groups.all)):
            problems["completion_codes"] = [*problems.get("completion_codes", []), f"There are no groups {missing}."]
        if problems:
            raise Refusal(problems)

    def _is_ready(self, study: FakeStudy) -> bool:
        return bool(study.body["completion_codes"])

    def _schedule(self, study: FakeStudy) -> None:
        if study.publish_at is None or study.publish_at <= self._fake.now:
            raise Refusal({"publish_at": ["This must be a time to come."]})
        study.status = "SCHEDULED"
        self._fake.schedule(study.publish_at, lambda: self.publish(study) if study.status == "SCHEDULED" else None)

    def _unschedule(self, study: FakeStudy) -> None:
        study.status, study.publish_at = "UNPUBLISHED", None

    def _pause(self, study: FakeStudy) -> None:
        study.status = "PAUSED"

    def _start(self, study: FakeStudy) -> None:
        study.status = "ACTIVE"
        self.pause_when_used_up(study)
        self.refresh(study)

    def _stop(self, study: FakeStudy) -> None:
        study.status, study.is_stopped = "COMPLETED", True

    def _shown(self, study: FakeStudy) -> dict[str, Any]:
        return {
            **study.body,
            "id": study.id,
            "status": study.status,
            "is_ready_to_publish": self._is_ready(study),
        }

    def _short(self, study: FakeStudy) -> dict[str, Any]:
        inside = self._fake.submissions.of(study.id)
        return {
            "id": study.id, "name": study.body["name"], "internal_name": study.body["internal_name"],
            "status": study.status, "study_type": "SINGLE",
            "estimated_completion_time": study.body["estimated_completion_time"],
            "total_available_places": study.places, "places_taken": self._fake.submissions.taken(study.id),
            "number_of_submissions": len(inside), "reward": study.reward, "total_cost": self.whole_cost(study),
            "published_at": stamp(study.published_at), "publish_at": stamp(study.publish_at),
            "date_created": stamp(study.created_at), "is_ready_to_publish": self._is_ready(study),
        }  # fmt: skip


def _moment(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text.replace("Z", "+00:00"))


# Changes of a published study


_CHANGEABLE = {"internal_name", "total_available_places", "submissions_config", "completion_codes"}


def _with_changes(study: FakeStudy, body: dict[str, Any]) -> dict[str, Any]:
    """Return the changed body of a published study, or raise Refusal: places and slots only grow, most is frozen."""
    if frozen := sorted(set(body) - _CHANGEABLE):
        raise Refusal({field: ["This cannot be changed once a study is published."] for field in frozen})
    if body.get("total_available_places", study.places) < study.places:
        raise Refusal({"total_available_places": ["The number of places can only be increased."]})
    return {**study.body, **body, "completion_codes": _more_slots(study, body.get("completion_codes", []))}


def _more_slots(study: FakeStudy, sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the changed completion codes of a published study: only the number of screen-outs may grow."""
    codes = list(study.body["completion_codes"])
    for one in sent:
        place = next((place for place, code in enumerate(codes) if code["code"] == one["code"]), None)
        if place is None or _without_slots(one) != _without_slots(codes[place]) or _slots(one) < _slots(codes[place]):
            raise Refusal({"completion_codes": ["Of codes, only slots can grow once a study is published."]})
        codes[place] = one
    return codes


def _slots(code: dict[str, Any]) -> int:
    return sum(act.get("slots", 0) for act in code["actions"])


def _without_slots(code: dict[str, Any]) -> dict[str, Any]:
    actions = [{key: value for key, value in act.items() if key != "slots"} for act in code["actions"]]
    return {"actor": "participant", **code, "actions": sorted(actions, key=str)}
