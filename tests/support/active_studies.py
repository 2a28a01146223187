"""Studies whose pairs are chosen while answers come in."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import yaml

from beholder.methods.contract import Trial
from beholder.planning.model import PlannedList
from beholder.planning.serialization import lists_from_json


def write_active_study(
    folder: Path, *, conditions: Sequence[str] = tuple("abcdefgh"), contents: int = 4, method: str = "pair", **keys: Any
) -> Path:
    """Write a study of texts, and return its file."""
    for content in range(1, contents + 1):
        for condition in conditions:
            write_text(folder, condition, content)
    study: dict[str, Any] = {
        "beholder": 1, "name": "active", "title": "Active", "method": method, "stimuli": "stimuli",
        "questions": [{"id": "better", "text": "Which reads better?"}],
        **keys,
        "design": {"participants": 12, "trials": 4, "pairs": "active", **keys.get("design", {})},
    }  # fmt: skip
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study, sort_keys=False), "utf-8")
    return path


def write_text(folder: Path, condition: str, content: int) -> None:
    path = folder / "stimuli" / condition / f"text{content}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"Text {content} as {condition} wrote it.", "utf-8")


def batches_of(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[int, str], list[PlannedList]]:
    """Return the lists of each batch of a store, by its number and population."""
    batches = defaultdict(list)
    for planned in lists_from_json([row["trials"] for row in rows]):
        assert planned.batch is not None
        batches[planned.batch.number, planned.batch.population].append(planned)
    return dict(batches)


def compared(trial: Trial) -> tuple[str, ...]:
    """Return what is compared in a trial, in no order."""
    return tuple(sorted(slot.stimulus for slot in trial.slots))


def compared_in(lists: Iterable[PlannedList]) -> list[tuple[str, ...]]:
    return [compared(trial) for planned in lists for trial in planned.rated]


def conditions_in(lists: Iterable[PlannedList]) -> list[frozenset[str]]:
    """Return the two conditions of each comparison; of a page with several, every two of them."""
    return [
        frozenset(pair)
        for stimuli in compared_in(lists)
        for pair in combinations([stimulus.partition("/")[0] for stimulus in stimuli], 2)
    ]
