"""Reports of studies in which everybody gives the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from beholder.cleaning.ratings import COLUMNS
from beholder.columns import names_of
from beholder.files import write_table
from beholder.study.model import Study
from support.report_pages import Page, made_up, read, read_undrawn

Given = tuple[str, str, float]
"""condition, other condition, value"""


def compared(folder: Path, method: str, kind: str, given: Sequence[Given], **more: Any) -> Page:
    """Return the report of a study in which everybody gives these answers."""
    return read(made_alike(folder, method, kind, given, **more))


def compared_undrawn(folder: Path, method: str, kind: str, given: Sequence[Given], **more: Any) -> Page:
    """Return the same without figures."""
    return read_undrawn(made_alike(folder, method, kind, given, **more))


def made_alike(
    folder: Path, method: str, kind: str, given: Sequence[Given], *, people: int = 8, unit: str = "", **keys: Any
) -> Study:
    """Write and return a study in which everybody gives these answers."""
    names = dict.fromkeys(name for one, other, _ in given for name in (one, other) if name)
    study = made_up(folder, dict.fromkeys(names, 50.0), participants=1, contents=1, method=method, **keys)
    low, high = {"diff": (-3, 3), "choice": (-1, 1)}.get(kind, (0, 1))
    rows = [
        dict.fromkeys(names_of(COLUMNS), "")
        | {
            "digest": "d1", "participant": f"p{person}", "session": f"s{person}", "position": place, "kind": kind,
            "method": method, "question": study.questions[0].id, "content": f"t{person % 8}", "condition": one,
            "other_condition": other, "stimulus": f"{one}/{person % 8}", "role": "test", "value": value, "unit": unit,
            "other_stimulus": f"{other}/{person % 8}" if other else "", "scale_min": low, "scale_max": high,
            "use": True, "answered_at": "2026-11-14T09:00:00+00:00",
        }
        for person in range(people)
        for place, (one, other, value) in enumerate(given, 1)
    ]  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", names_of(COLUMNS), rows)
    return study
