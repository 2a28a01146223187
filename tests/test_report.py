"""The report: one honest page from clean/ and analyse/."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analyse import analyse
from beholder.analyse.results import read_results
from beholder.clean.ratings import COLUMNS
from beholder.clean.tables import write_json, write_table
from beholder.errors import UserError
from beholder.report import report
from beholder.report.latex import latex_text
from beholder.study.model import Study

FIGURES = ("figures/scores-quality.svg", "figures/scores-quality.pdf", "figures/scores-quality.png")


def made_up(
    folder: Path,
    quality: Mapping[str, float],
    *,
    participants: int = 24,
    contents: int = 4,
    population: str = "people",
    questions: Sequence[Mapping[str, Any]] = ({"id": "quality", "text": "How good is it?", "scale": "cont100"},),
    noise: float = 8,
    **keys: Any,
) -> Study:
    """Return a study whose clean/ holds made-up ratings; 13 sessions were lost."""
    study = Study.model_validate(
        {"beholder": 1, "name": "made-up", "title": "Gestures while talking", "method": "parallel", "stimuli": "stimuli"}
        | {"conditions": list(quality), "questions": list(questions), **keys}
    )
    study._folder = folder
    rng = np.random.default_rng(1)
    rows: list[dict[str, Any]] = []
    for person in range(participants):
        bias = rng.normal(0, noise / 2)
        for position in range(1, contents + 1):
            for slot, (condition, mean) in enumerate(quality.items(), 1):
                for question in study.questions:
                    scale = question.scale
                    span = scale.max - scale.min
                    felt = scale.min + span * (mean + bias + rng.normal(0, noise)) / 100
                    value = float(np.clip(round(felt), scale.min, scale.max))
                    rows.append(
                        dict.fromkeys(COLUMNS, "")
                        | {
                            "study": study.name, "digest": "d1", "run": 1, "participant": f"p{person:03}",
                            "session": f"s{person:03}", "mode": "link", "trial": f"t{position}", "position": position,
                            "repetition": 1, "method": "parallel", "question": question.id, "kind": "score",
                            "content": f"content {position}", "condition": condition, "role": "test", "keyed": "+",
                            "stimulus": f"{condition}/content {position}", "value": value, "raw_value": value,
                            "scale_min": scale.min, "scale_max": scale.max, "slot": f"s{slot}", "use": True,
                            "answered_at": datetime(2026, 11, 14, 9, tzinfo=UTC) + timedelta(minutes=person),
                        }
                    )  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", COLUMNS, rows)
    lost = [("complete", "not_finished", "Did not finish", 9), ("variance", "same_answer", "Nearly the same answer", 4)]
    counts = {
        "participants": participants + 13, "sessions": participants + 13, "completed": participants + 4,
        "completed_participants": participants + 4, "used_participants": participants, "used_sessions": participants,
        "ratings": len(rows), "used_ratings": len(rows), "missing_ratings": 0, "other_plans": 0,
    }  # fmt: skip
    write_json(
        folder / "clean" / "account.json",
        {
            "study": study.name,
            "population": population,
            "digests": ["d1"],
            "counts": counts,
            "lost": [
                {"rule": rule, "reason": reason, "words": words, "sessions": n, "only": n, "ratings": 0}
                for rule, reason, words, n in lost
            ],
            "verdicts": {"complete": {"pass": participants, "fail": 13, "unknown": 0}},
        },
    )
    return study
