"""Ratings by a rule of participant and content, and their material."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from beholder.cleaning.ratings import COLUMNS
from beholder.columns import names_of
from beholder.files import write_table
from beholder.reporting.material import Material
from support.report_material import analysed_material
from support.report_pages import made_up

Value = Callable[[int, int], float]
"""The rating of a person on a content, both counted from 0."""


ENDS = {"diff": (-3, 3), "choice": (-1, 1), "correct": (0, 1), "pick": (0, 1)}


def rated(
    folder: Path,
    values: Mapping[Any, Value],
    *,
    kind: str = "score",
    method: str = "parallel",
    people: int = 12,
    contents: int = 6,
    **keys: Any,
) -> Material:
    """Return the material of a study with these ratings; a pair of conditions is one that was compared."""
    pairs = {(one, "") if isinstance(one, str) else one: value for one, value in values.items()}
    names = dict.fromkeys(name for pair in pairs for name in pair if name)
    study = made_up(folder, dict.fromkeys(names, 50.0), participants=1, contents=1, method=method, **keys)
    low, high = ENDS.get(kind, (0, 100))
    rows = [
        dict.fromkeys(names_of(COLUMNS), "")
        | {
            "digest": "d1", "participant": f"p{person:03}", "session": f"s{person:03}", "position": content + 1,
            "kind": kind, "method": method, "question": study.questions[0].id, "content": f"c{content}",
            "condition": one, "stimulus": f"{one}/c{content}", "role": "test", "value": value(person, content),
            "other_condition": other, "other_stimulus": f"{other}/c{content}" if other else "", "scale_min": low,
            "scale_max": high, "use": True, "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for person in range(people)
        for content in range(contents)
        for (one, other), value in pairs.items()
    ]  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", names_of(COLUMNS), rows)
    return analysed_material(study)


def around(middle: float, person: int = 1, content: int = 1) -> Value:
    """Return ratings around a middle, with people and contents that differ by so much."""
    return lambda who, what: middle + person * (who % 4 - 1.5) + content * (what % 3 - 1)


def flat(value: float) -> Value:
    return lambda _, __: value
