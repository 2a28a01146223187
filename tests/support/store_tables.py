"""Tables of a store, row by row, without a store."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning import Cleaned
from beholder.methods.contract import Asked, Break, Slot, Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import list_to_json
from beholder.study.model import Study, installed_study_model
from beholder.study.serialization import resolved_yaml

Tables = dict[str, list[dict[str, Any]]]


START = datetime(2026, 11, 15, 9, tzinfo=UTC)


CONDITIONS = ("natural", "no", "01")


def make_study(folder: Path, **keys: Any) -> Study:
    study = installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "cleaned",
            "title": "Cleaned",
            "method": "parallel",
            "stimuli": "stimuli",
            "questions": [{"id": "quality", "text": "How good?", "scale": "cont100"}],
            "after": [{"id": "age", "text": "Age", "type": "number"}],
            **keys,
        }
    )
    study._folder = folder
    return study


def planned(study: Study) -> PlannedList:
    asked = tuple(Asked(f"q{n}", q.id, "ask", q.text, q.scale) for n, q in enumerate(study.questions, 1))
    entries: list[Trial | Break] = []
    for content in ("city", "park"):
        slots = tuple(Slot(f"s{n}", f"{c}/{content}", "test", "A", True, None) for n, c in enumerate(CONDITIONS, 1))
        entries += [Trial(content, content, "rate", slots, asked), Break("1")]
    return PlannedList(1, tuple(entries[:-1]))


def empty(study: Study) -> Tables:
    """Return the rows of a store without sessions."""
    stimuli = [
        {
            "digest": "d1", "stimulus": f"{condition}/{content}", "content": content, "condition": condition,
            "role": "test", "medium": "video", "sha256": "", "probe": {"duration_ms": 4000}, "factors": {"fps": "25"},
        }
        for condition in CONDITIONS
        for content in ("city", "park")
    ]  # fmt: skip
    studies = {"digest": "d1", "plan_digest": "p1", "study": study.name, "yaml": resolved_yaml(study)}
    lists = {"plan_digest": "p1", "list": 1, "trials": list_to_json(planned(study))}
    empty: Tables = {name: [] for name in ("sessions", "claims", "answers", "ends", "erasures")}
    return {"studies": [studies | {"software": "beholder", "at": START}], "stimuli": stimuli, "lists": [lists], **empty}


SEEN = {"plays": 1, "watched_ms": 4000, "coverage": 1.0, "furthest_ms": 4000, "frames": 100}


def add(
    tables: Tables,
    name: str,
    *,
    mode: str = "link",
    outcome: str | None = "completed",
    scores: tuple[int, int, int] = (80, 50, 20),
    trials: int = 2,
    playback: dict[str, Any] | None = None,
    missing: tuple[str, ...] = (),
    after: dict[str, Any] | None = None,
    digest: str = "d1",
) -> None:
    """Add one session that answered the trials with these scores."""
    at = START + timedelta(minutes=10 * len(tables["sessions"]))
    row = {"session": name, "participant": f"p-{name}", "digest": digest, "run": 1, "mode": mode, "visit": 1}
    tables["sessions"].append(row | {"device": {}, "at": at})
    tables["claims"].append({"session": name, "list": 1, "at": at})
    answers: dict[str, Any] = {"consent": {"agree": True}}
    for position in range(1, trials + 1):
        given = {f"s{n}": score for n, score in enumerate(scores, 1) if f"s{n}" not in missing}
        answers[f"trial:{position}"] = {
            "scores": {"q1": given},
            **({"missing": dict.fromkeys(missing, "media_error")} if missing else {}),
        }
    answers["questions:after"] = {"answers": {"age": 30} | (after or {})}
    for minute, (key, answer) in enumerate(answers.items(), 1):
        watched = dict.fromkeys(("s1", "s2", "s3"), SEEN) | (playback or {}) if key.startswith("trial") else {}
        tables["answers"].append(
            {"session": name, "key": key, "answer": answer, "playback": watched, "shown_ms": 0.0, "sent_ms": 9000.0}
            | {"input": "mouse", "tab": "t", "at": at + timedelta(minutes=minute)}
        )
    if outcome:
        end = {"session": name, "outcome": outcome, "reason": "", "code": "", "receipt": ""}
        tables["ends"].append(end | {"at": at + timedelta(minutes=6)})


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return make_study(tmp_path)


def rows(cleaned: Cleaned, name: str) -> list[dict[str, str]]:
    with (cleaned.folder / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def account(cleaned: Cleaned) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((cleaned.folder / "account.json").read_text(encoding="utf-8"))
    return content
