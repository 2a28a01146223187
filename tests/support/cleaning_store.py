"""A small store of an acr study in memory: several lists, trapping and gold trials, several sessions of one person."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.cleaning import Cleaned
from beholder.methods.contract import Asked, Role, Slot, Target, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.study.model import Study, installed_study_model
from beholder.study.serialization import resolved_yaml
from support.answered_trials import PLAYED

Tables = dict[str, list[dict[str, Any]]]
START = datetime(2026, 11, 15, 9, tzinfo=UTC)
QUALITY = {"c01": 1, "c02": 2, "c03": 3, "c04": 4, "c05": 5, "c06": 2, "c07": 3, "c08": 4, "c09": 1, "c10": 5}
"""The usual vote on each content, on five points."""
ASKED = 4
"""The answer that trapping trials ask for."""


def make_study(folder: Path, **keys: Any) -> Study:
    study = installed_study_model().model_validate(
        {
            "beholder": 1, "name": "cleaned", "title": "Cleaned", "method": "acr", "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good?", "scale": "acr5"}], "contact": "name@example.org",
            **keys,
        }
    )  # fmt: skip
    study._folder = folder
    return study


def store(study: Study, lists: int = 4) -> Tables:
    """Return a store without sessions: each list has ten contents under conditions a and b in turn.

    After the third trial of a list comes one that asks for 4, after the fifth another, at the end a gold one worth 5.
    """
    (asked,) = (Asked("q1", q.id, "ask", q.text, q.scale) for q in study.questions)
    names: dict[str, Role] = {}
    planned = []
    for number in range(1, lists + 1):
        trials: list[Trial] = []
        for place, content in enumerate(QUALITY):
            trials.append(_trial(len(trials) + 1, f"{'ab'[(place + number) % 2]}/{content}", "test", asked))
            if place in (2, 4):
                trials.append(_trial(len(trials) + 1, f"asks/{place}", "trap", asked, Target(ASKED, 0, "", True)))
        trials.append(_trial(len(trials) + 1, "gold/best", "gold", asked, Target(5, 1, "")))
        names |= {slot.stimulus: slot.role for trial in trials for slot in trial.slots}
        planned.append(
            {"plan_digest": "p1", "list": number, "trials": list_to_json(PlannedList(number, tuple(trials)))}
        )
    stimuli = [
        {
            "digest": "d1", "stimulus": name, "content": name.partition("/")[2], "condition": name.partition("/")[0],
            "role": role, "medium": "video", "sha256": "", "probe": {"duration_ms": 4000}, "factors": {},
        }
        for name, role in sorted(names.items())
    ]  # fmt: skip
    return {
        "studies": [{"digest": "d1", "plan_digest": "p1", "study": study.name, "yaml": resolved_yaml(study)}],
        "stimuli": stimuli,
        "lists": planned,
        **{name: [] for name in ("sessions", "claims", "answers", "ends", "erasures")},
    }


def _trial(number: int, stimulus: str, role: Role, asked: Asked, target: Target | None = None) -> Trial:
    slot = Slot("s1", stimulus, role, None, True, None)
    targets = {} if target is None else {"q1.s1": target}
    return Trial(f"trial:{number}", stimulus.partition("/")[2], "rate", (slot,), (asked,), {}, targets)


def add(
    tables: Tables,
    name: str,
    *,
    person: str = "",
    number: int = 1,
    votes: Mapping[str, float] | None = None,
    obeys: tuple[float, float] = (ASKED, ASKED),
    gold: float = 5,
    outcome: str | None = "completed",
    mode: str = "link",
    minutes: float = 20,
) -> None:
    """Add a session on list `number` with the usual votes, except for these `votes` by content."""
    at = START + timedelta(hours=len(tables["sessions"]))
    row = {"session": name, "participant": person or f"p-{name}", "digest": "d1", "run": 1, "mode": mode, "visit": 1}
    tables["sessions"].append(row | {"device": {}, "at": at})
    tables["claims"].append({"session": name, "list": number, "at": at})
    given = list((QUALITY | dict(votes or {})).values())
    given[3:3], given[6:6] = [obeys[0]], [obeys[1]]
    for place, value in enumerate([*given, gold], 1):
        tables["answers"].append(
            {
                "session": name, "key": f"trial:{place}", "answer": {"scores": {"q1": {"s1": value}}},
                "playback": {"s1": dict(PLAYED)}, "shown_ms": 0.0, "sent_ms": 12_000.0, "input": "mouse", "tab": "t",
                "at": at + timedelta(minutes=place),
            }
        )  # fmt: skip
    if outcome:
        end = {"session": name, "outcome": outcome, "reason": "", "code": "", "receipt": ""}
        tables["ends"].append(end | {"at": at + timedelta(minutes=minutes)})


def rows(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def decided(cleaned: Cleaned) -> dict[str, tuple[str, str, str]]:
    return {row["session"]: (row["accept"], row["use"], row["reasons"]) for row in rows(cleaned, "sessions")}


ASKING = {"trap": True, "gold": True, "quota": {"sessions": 9}}
