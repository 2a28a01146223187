"""A study of texts in its folder, with a store."""

from __future__ import annotations

import json
from collections.abc import Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from beholder.methods import find, load_study
from beholder.planning.serialization import list_from_json
from beholder.server.process import run_server
from beholder.store.contract import Answer, End, Session
from beholder.store.open import open_store
from support.answered_trials import PLAYED

CONDITIONS = ("plain", "ornate")


def write_texts(folder: Path, conditions: Collection[str] = CONDITIONS, **keys: Any) -> Path:
    """Write a study of four texts under some conditions."""
    for condition in conditions:
        (folder / "stimuli" / condition).mkdir(parents=True, exist_ok=True)
        for content in ("dawn", "noon", "dusk", "night"):
            file = folder / "stimuli" / condition / f"{content}.txt"
            file.write_text(f"The {condition} words of {content}, some of them long.", "utf-8")
    study: dict[str, Any] = {
        "beholder": 1, "name": "texts", "title": "Texts", "method": "acr", "stimuli": "stimuli",
        "questions": [{"id": "quality", "text": "How good is it?", "scale": "acr5"}],
        "playback": {"watch": "none"}, "design": {"participants": 4, "trials": 4, "seed": 3},
        "checks": {"variance": False}, **keys,
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")
    return folder / "study.yaml"


async def begin(path: Path, url: str) -> None:
    """Register a study in a store, as a server does."""
    async with run_server(load_study(path), store=url, port=0):
        pass


async def finish(path: Path, url: str, names: str, *, lost: str = "", mode: Any = "link") -> list[int]:
    """Let people with these names each finish a list; those who are `lost` answer its traps with the lowest score."""
    study = load_study(path)
    method = find(study.method)
    claimed = []
    async with open_store(url) as store:
        record = await store.current()
        assert record is not None
        for name in names:
            now = datetime.now(UTC)
            asked = Session(f"s-{name}", f"p-{name}", record.digest, study.run, mode, 1, {}, now)
            session, _ = await store.arrive(asked)
            number = await store.claim(session.session, now=now, until=now, per_list=1)
            assert number is not None, f"no list is left for {name}"
            claimed.append(number)
            rng = np.random.default_rng(number)
            for trial in list_from_json(record.lists[number - 1]).trials:
                percept = {f"{one.id}.{slot.id}": float(rng.random()) for one in trial.asked for slot in trial.slots}
                for where, target in trial.targets.items():
                    percept[where] = 0.0 if name in lost else (target.value - 1) / 4
                answer = method.respond(trial, percept, rng)
                played = {slot.id: dict(PLAYED) for slot in trial.slots}
                await store.append([Answer(session.session, trial.id, answer, played, 0, 9000, "mouse", "t", now)])
            await store.append([End(session.session, "completed", "", "", f"r-{name}", now)])
    return claimed


TRAPS = {"trap": {"per_session": 1, "clips": 3}, "variance": False}
"""Texts that ask for an answer; sessions with another answer are excluded."""


def plan_json(path: Path) -> dict[str, Any]:
    return dict(json.loads((path.parent / "plan" / "plan.json").read_bytes()))


def lists_of(path: Path) -> list[bytes]:
    return (path.parent / "plan" / "lists.jsonl").read_bytes().splitlines()
