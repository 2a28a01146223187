"""The plan: every list, every trial, every outcome of chance; and a list as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from beholder.methods.contract import Asked, Break, Slot, Target, Trial
from beholder.study.scale import Scale
from beholder.types import Json

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


@dataclass(frozen=True)
class PlannedList:
    """One sequence of trials and breaks: what a session claims. Numbered from 1."""

    number: int
    entries: tuple[Trial | Break, ...]

    @property
    def trials(self) -> tuple[Trial, ...]:
        return tuple(entry for entry in self.entries if isinstance(entry, Trial))


@dataclass(frozen=True)
class Plan:
    """Every list of a study, deterministic in study, stimuli and seed."""

    plan_digest: str
    seed: int
    lists: tuple[PlannedList, ...]


def list_to_json(planned: PlannedList) -> Json:
    """Return a list as JSON that stands alone and is small.

    Questions are written once and referred to by number. A slot's id, label, rated and colour are left out where
    they are the usual ones: s1, s2, ...; A, B, ... or none for a single slot; true; none.
    """
    asked: list[tuple[Asked, ...]] = []
    entries: list[Json] = []
    for entry in planned.entries:
        if isinstance(entry, Break):
            entries.append({"break": entry.id})
            continue
        if entry.asked not in asked:
            asked.append(entry.asked)
        entries.append(_trial_to_json(entry, asked.index(entry.asked)))
    return {"list": planned.number, "asked": [[_asked_to_json(a) for a in page] for page in asked], "entries": entries}


def list_from_json(data: Json) -> PlannedList:
    """Return the list that `list_to_json` wrote."""
    written = cast("Mapping[str, Any]", data)
    asked = [tuple(_asked_from_json(a) for a in page) for page in written["asked"]]
    return PlannedList(
        written["list"],
        tuple(
            Break(entry["break"]) if "break" in entry else _trial_from_json(entry, asked[entry["asked"]])
            for entry in written["entries"]
        ),
    )


def _asked_to_json(asked: Asked) -> Json:
    return {
        "id": asked.id,
        "question": asked.question,
        "purpose": asked.purpose,
        "text": asked.text,
        "scale": asked.scale.model_dump(mode="json"),
    }


def _asked_from_json(data: Mapping[str, Any]) -> Asked:
    return Asked(data["id"], data["question"], data["purpose"], data["text"], Scale.model_validate(data["scale"]))


def _usual_ids(count: int) -> list[str]:
    return [f"s{place}" for place in range(1, count + 1)]


def _usual_labels(count: int) -> list[str | None]:
    return [None] if count == 1 else list(_LETTERS[:count])


def _trial_to_json(trial: Trial, asked: int) -> dict[str, Json]:
    slots = trial.slots
    data: dict[str, Json] = {
        "trial": trial.id,
        "content": trial.content,
        "asked": asked,
        "stimuli": [slot.stimulus for slot in slots],
        "roles": _folded([slot.role for slot in slots]),
    }
    if trial.purpose != "rate":
        data["purpose"] = trial.purpose
    ids = [slot.id for slot in slots]
    if ids != _usual_ids(len(slots)):
        data["ids"] = ids
    labels = [slot.label for slot in slots]
    if labels != _usual_labels(len(slots)):
        data["labels"] = labels
    if not all(slot.rated for slot in slots):
        data["rated"] = [slot.rated for slot in slots]
    colours = [slot.colour for slot in slots]
    if any(colour is not None for colour in colours):
        data["colours"] = colours
    if trial.draws:
        data["draws"] = trial.draws
    if trial.targets:
        data["targets"] = {where: list(target) for where, target in trial.targets.items()}
    return data


def _folded(values: Sequence[str]) -> Json:
    """Return one value for all where they are the same."""
    return values[0] if values and all(value == values[0] for value in values) else list(values)


def _trial_from_json(data: Mapping[str, Any], asked: tuple[Asked, ...]) -> Trial:
    stimuli = data["stimuli"]
    count = len(stimuli)
    roles = data["roles"]
    columns = zip(
        data.get("ids") or _usual_ids(count),
        stimuli,
        [roles] * count if isinstance(roles, str) else roles,
        data.get("labels") or _usual_labels(count),
        data.get("rated") or [True] * count,
        data.get("colours") or [None] * count,
        strict=True,
    )
    return Trial(
        id=data["trial"],
        content=data["content"],
        purpose=data.get("purpose", "rate"),
        slots=tuple(Slot(*column) for column in columns),
        asked=asked,
        draws=data.get("draws", {}),
        targets={where: Target(*target) for where, target in data.get("targets", {}).items()},
    )
