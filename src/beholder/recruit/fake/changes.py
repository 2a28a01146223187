"""What may still change of a study once it is published."""

from __future__ import annotations

from typing import Any

from beholder.recruit.fake.answers import Refusal
from beholder.recruit.fake.state import Study

_CHANGEABLE = {"internal_name", "total_available_places", "submissions_config", "completion_codes"}


def changed(study: Study, body: dict[str, Any]) -> dict[str, Any]:
    """Return a published study with what was sent, or raise Refusal: most is frozen, places and slots only grow."""
    if frozen := sorted(set(body) - _CHANGEABLE):
        raise Refusal({field: ["This cannot be changed once a study is published."] for field in frozen})
    if body.get("total_available_places", study.places) < study.places:
        raise Refusal({"total_available_places": ["The number of places can only be increased."]})
    return {**study.body, **body, "completion_codes": _more_slots(study, body.get("completion_codes", []))}


def _more_slots(study: Study, sent: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the codes of a published study with what was sent: nothing but more screen-outs may be in it."""
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
