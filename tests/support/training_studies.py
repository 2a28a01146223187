"""Studies with training: a manifest of the tiny stimuli, and training stimuli in memory."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer
from beholder.testing import TINY_CONDITIONS, write_study

ACR = {
    "method": "acr",
    "conditions": None,
    "playback": {"fullscreen": False},
    "design": {"participants": 4, "trials": 2, "seed": 3},
    "stimuli": {"manifest": "stimuli.csv"},
}
"""Keys of a study of single clips."""
LESSONS: tuple[Mapping[str, str], ...] = (
    {"condition": "natural", "expected": "5", "anchor": "Excellent: no flaw can be seen"},
    {"condition": "frozen", "expected": "1", "tolerance": "0", "message": "It stands still."},
    {"condition": "jerky"},
    {"condition": "smooth", "expected": "2", "trap": "true"},
)
"""Examples for both ends of the scale, one without an expected answer, and a trap."""


def write_taught(folder: Path, like: Path, lessons: Sequence[Mapping[str, str]] = LESSONS, /, **keys: Any) -> Path:
    """Write a study whose manifest lists the tiny stimuli and these lessons; return its study.yaml."""
    study = write_study(folder, like, **{**ACR, **keys})
    files = sorted((folder / "stimuli").rglob("*.mp4"))
    rows: list[dict[str, str]] = [
        {"file": _name(file, folder), "content": file.stem, "condition": file.parent.name} for file in files
    ]
    for number, lesson in enumerate(lessons, 1):
        condition = lesson.get("condition", TINY_CONDITIONS[0])
        file = next(file for file in files if file.parent.name == condition)
        rows.append(
            {"file": _name(file, folder), "content": f"practice{number}", "condition": condition, "role": "training"}
            | dict(lesson)
        )
    write_manifest(folder / "stimuli.csv", rows)
    return study


def write_manifest(path: Path, rows: Sequence[Mapping[str, str]]) -> None:
    columns = list(dict.fromkeys(column for row in rows for column in row))
    with path.open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, columns)
        table.writeheader()
        table.writerows(rows)


def _name(file: Path, folder: Path) -> str:
    return file.relative_to(folder).as_posix()


def lesson(number: int, expected: float | Mapping[str, float] | None = None, **more: Any) -> KnownAnswer:
    """Return the known answer of line `number` + 1 of a manifest; tolerance and message hold for all answers."""
    of = expected if isinstance(expected, Mapping) else {} if expected is None else {EVERY_QUESTION: expected}
    near, message = more.pop("tolerance", None), more.pop("message", "")
    expectations = {question: Expectation(value, near, message) for question, value in of.items()}
    return KnownAnswer(f"list.csv:{number + 1}", "", number, expectations, **more)


def teach(catalogue: Catalogue, *taught: tuple[str, KnownAnswer]) -> Catalogue:
    """Return a catalogue with training stimuli, each named `condition/content`."""
    like = catalogue.stimuli[0]
    stimuli = []
    for name, one in taught:
        condition, _, content = name.partition("/")
        stimuli.append(
            replace(
                like, id=f"training:{name}", content=content, condition=condition, role="training", known_answer=one
            )
        )
    return replace(catalogue, stimuli=(*catalogue.stimuli, *stimuli))
