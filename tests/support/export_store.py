"""A study with finished, abandoned and withdrawn sessions, and the tables of its export."""

from __future__ import annotations

import csv
import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from beholder.methods.contract import Asked, Break, Slot, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.store.contract import (
    Answer,
    End,
    Events,
    PlatformIdentity,
    PosedAttempt,
    Session,
    StoredVerdict,
    StudyRecord,
)
from beholder.store.open import open_store
from beholder.study.model import Study, installed_study_model
from beholder.study.recruitment import Mode
from beholder.study.serialization import resolved_yaml
from beholder.types import Json
from support.answered_trials import PLAYED

START = datetime(2026, 11, 15, 9, tzinfo=UTC)
CONDITIONS = ("NA", "01", "no", "Größe 2")
SECRETS = ("Anna from Bonn", "because of my boss", "a remark of mine", "prolific-5f3a", "BH-RECEIPT", "Europe/Berlin")
"""Identifying texts that a shared export must not contain."""
NAMED = "Write to Anna.O'Neil+1@uni-bonn.de: I am PROLIFIC-5F3A, and 5f0f0f0f0f0f0f0f0f0f0f0f is my friend."
"""A remark with personal data."""


def make_study(folder: Path, **keys: Any) -> Study:
    study = installed_study_model().model_validate(
        {
            "beholder": 1, "name": "exported", "title": "Exported", "method": "parallel", "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good?", "scale": "acr5"}],
            "before": [
                {"id": "name", "text": "Who are you?", "type": "text"},
                {"id": "sees", "text": "Glasses?", "type": "single", "options": ["no", "01"]},
                {"id": "uses", "text": "What?", "type": "multiple", "options": ["=phone", "NA"]},
            ],
            "after": [
                {"id": "age", "text": "Age", "type": "number"}, {"id": "easy", "text": "Easy", "type": "likert"},
            ],
            **keys,
        }
    )  # fmt: skip
    study._folder = folder
    return study


def record(study: Study, digest: str = "d1", plan: str = "p1", conditions: Sequence[str] = CONDITIONS) -> StudyRecord:
    (asked,) = (Asked("q1", question.id, "ask", question.text, question.scale) for question in study.questions)
    entries: list[Trial | Break] = []
    for content in ("city", "007"):
        slots = tuple(
            Slot(f"s{place}", f"{condition}/{content}", "test", "ABCD"[place - 1], True, None)
            for place, condition in enumerate(conditions, 1)
        )
        draws = {"judged": slots[0].stimulus}  # the sign of a comparison
        entries += [Trial(content, content, "rate", slots, (asked,), draws), Break("1")]
    return StudyRecord(
        digest,
        plan,
        study.name,
        resolved_yaml(study),
        "beholder 0",
        [
            {
                "stimulus": f"{condition}/{content}", "content": content, "condition": condition, "role": "test",
                "medium": "video", "sha256": "f0", "probe": {"duration_ms": 4000, "fps": 25.0},
                "factors": {"rate": "0050"},
            }
            for condition in conditions
            for content in ("city", "007")
        ],
        [list_to_json(PlannedList(1, tuple(entries[:-1])))],
        START,
    )  # fmt: skip


def answers_of(scores: Mapping[str, float]) -> dict[str, Json]:
    rated: dict[str, Json] = {"scores": {"q1": dict(scores)}}
    return {
        "consent": {"agree": True},
        "questions:before": {"answers": {"name": SECRETS[0], "sees": "no", "uses": ["=phone", "NA"]}},
        "check:colour:1": {"numbers": [12]},
        "trial:1": {**rated, "comment": SECRETS[2], "reasons": {"q1": [SECRETS[1]]}},
        "trial:2": {**rated, "comment": NAMED},
        "questions:after": {"answers": {"age": 30.5, "easy": 2}},
    }


async def come(store: Any, name: str, place: int, *, mode: Mode = "link", digest: str = "d1", says: Any = None) -> None:
    """Add a session with all answers and a log of typed text."""
    at = START + timedelta(hours=place)
    device: dict[str, Json] = {
        "screen": [1920, 1080], "dpr": 1.5, "pointer": "fine", "browser": "Chrome 130", "platform": "Win32",
        "timezone": SECRETS[5],
    }  # fmt: skip
    await store.arrive(Session(name, f"p-{name}", digest, 1, mode, 1, device, at))
    if says is None:
        return
    await store.identify(PlatformIdentity(f"p-{name}", "prolific", SECRETS[3]))
    await store.claim(name, now=at, until=at + timedelta(hours=1), per_list=None)
    for minute, (key, answer) in enumerate(answers_of(says).items(), 1):
        later = at + timedelta(minutes=minute)
        played: dict[str, Json] = {slot: dict(PLAYED) for slot in says} if key.startswith("trial") else {}
        events: list[Json] = [[0, "shown", None, None], [1.5, "change", "s1", {"question": "q1", "value": 3}]]
        if key == "questions:before":
            events = [[9, "change", None, {"question": "name", "value": SECRETS[0]}]]
            events += [[10, "change", None, {"question": "sees", "value": "no"}]]
        await store.append(
            [
                Answer(name, key, answer, played, 1000.0, 10_000.0, "mouse", "t1", later),
                Events(name, key, "t1", 0, events, later),
            ]
        )
    await store.append([PosedAttempt(name, "check:colour:1", "5eed", {"plates": 1}, {"numbers": [12]}, at)])
    await store.append([StoredVerdict(name, "check:colour:1", "colour", "pass", "", {"attempt": 1}, at)])
    await store.append([End(name, "completed", "", "CODE-1", SECRETS[4], at + timedelta(minutes=20))])


GOOD = {"s1": 5, "s2": 3, "s3": 2, "s4": 1}


async def fill(study: Study) -> None:
    """Fill a store: three people (one straight-lining), one who withdrew, one who left, and a robot."""
    async with open_store(study.folder / "store") as store:
        await store.begin(record(study))
        await come(store, "alice", 1, says=GOOD)
        await come(store, "bob", 2, says={"s1": 4, "s2": 4, "s3": 1, "s4": 2})
        await come(store, "same", 3, says=dict.fromkeys(GOOD, 3))
        await come(store, "gone", 4, says=GOOD)
        await store.append([End("gone", "withdrawn", "", "", "", START)])
        await store.erase("gone", START + timedelta(hours=9))
        await come(store, "left", 5)
        await come(store, "machine", 6, mode="robot", says=GOOD)


def package(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "datapackage.json").read_text("utf-8")))


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


async def fill_one(study: Study, votes: Sequence[Mapping[str, Json]], record: StudyRecord) -> None:
    """Fill a store with one-page sessions."""
    async with open_store(study.folder / "store") as store:
        await store.begin(record)
        for place, vote in enumerate(votes, 1):
            name, at = f"v{place:02}", START + timedelta(hours=place)
            await store.arrive(Session(name, f"p{place:02}", "d1", 1, "link", 1, {}, at))
            await store.claim(name, now=at, until=at + timedelta(hours=1), per_list=None)
            played: dict[str, Json] = {slot: dict(PLAYED) for slot in ("s1", "s2", "s3")}
            await store.append([Answer(name, "trial:1", vote, played, 0.0, 9000.0, "mouse", "t", at)])
            await store.append([End(name, "completed", "", "", "", at)])
