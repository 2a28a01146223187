"""Synthetic ratings with a report, and a parser of its page."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.analysis import analyse
from beholder.cleaning.devices import DEVICES
from beholder.cleaning.ratings import COLUMNS
from beholder.columns import names_of
from beholder.files import utf8, write_atomically, write_json, write_table
from beholder.reporting import report
from beholder.reporting.figures import drawn_inline, figures
from beholder.reporting.findings import findings
from beholder.reporting.html import Markup
from beholder.reporting.material import Material, load_material
from beholder.reporting.page import page
from beholder.study.model import Study, installed_study_model


def made_up(
    folder: Path,
    quality: Mapping[str, float],
    *,
    participants: int = 24,
    contents: int = 4,
    population: str = "people",
    questions: Sequence[Mapping[str, Any]] = ({"id": "quality", "text": "How good is it?", "scale": "cont100"},),
    noise: float = 8,
    roles: Mapping[str, str] | None = None,
    **keys: Any,
) -> Study:
    """Return a study whose clean/ holds made-up ratings; 13 sessions were lost."""
    study = installed_study_model().model_validate(
        {
            "beholder": 1,
            "name": "made-up",
            "title": "Gestures while talking",
            "method": "parallel",
            "stimuli": "stimuli",
        }
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
                        dict.fromkeys(names_of(COLUMNS), "")
                        | {
                            "study": study.name, "digest": "d1", "run": 1, "participant": f"p{person:03}",
                            "session": f"s{person:03}", "mode": "link", "trial": f"t{position}", "position": position,
                            "repetition": 1, "method": "parallel", "question": question.id, "kind": "score",
                            "content": f"content {position}", "condition": condition, "role": "test", "keyed": value,
                            "stimulus": f"{condition}/content {position}", "value": value, "raw_value": value,
                            "scale_min": scale.min, "scale_max": scale.max, "slot": f"s{slot}", "use": True,
                            "answered_at": datetime(2026, 11, 14, 9, tzinfo=UTC) + timedelta(minutes=person),
                        }
                    )  # fmt: skip
    write_table(folder / "clean" / "ratings.csv", names_of(COLUMNS), rows)
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
            "finished": {"people": participants + 4 if population == "people" else 0, "robots": 0},
            "digests": ["d1"],
            "texts": [text_row(study, used_sessions=participants)],
            "roles": dict(roles or {}),
            "counts": counts,
            "lost": [
                {
                    "rule": rule,
                    "reason": reason,
                    "words": words,
                    "sessions": n,
                    "only": n,
                    "kept": 0,
                    "ratings": 0,
                    "costs": True,
                }
                for rule, reason, words, n in lost
            ],
            "verdicts": {"complete": {"pass": participants, "fail": 13, "unknown": 0}},
        },
    )
    return study


def text_row(study: Study, digest: str = "d1", *, used_sessions: int = 24) -> dict[str, Any]:
    """Return a study text as account.json holds it."""
    questions = [question.model_dump(mode="json") for question in study.questions]
    row = {"digest": digest, "title": study.title, "watch": study.playback.watch, "questions": questions}
    return row | {"used_sessions": used_sessions, "used_participants": used_sessions}


def change_account(study: Study, change: Callable[[dict[str, Any]], None]) -> None:
    path = study.folder / "clean" / "account.json"
    account = json.loads(path.read_text(encoding="utf-8"))
    change(account)
    write_json(path, account)


class Page(HTMLParser):
    """A page as a browser would take it apart."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "br", "img"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not {"style", "script", "title", "desc"} & set(self.open) and data.strip():
            self.words.append(" ".join(data.split()))

    @property
    def text(self) -> str:
        return " ".join(self.words)


def read(study: Study) -> Page:
    """Return the page of a report, whose folder is written with every figure."""
    analyse(study)
    shown = Page(report(study).read_text(encoding="utf-8"))
    assert shown.open == []
    return shown


def read_undrawn(study: Study) -> Page:
    """Return the page of a report without its figures."""
    analyse(study)
    return undrawn(load_material(study))


def undrawn(material: Material) -> Page:
    """Return the page of a report without figures: drawing them takes ten times as long as everything else."""
    shown = Page(page(replace(material, figures=defaultdict(Markup))))
    assert shown.open == []
    return shown


def findings_text(study: Study) -> str:
    """Return the findings of the first question as one text, without drawing anything."""
    analyse(study)
    material = load_material(study)
    reference = next((one.name for one in study.conditions if one.role == "reference"), None)
    entries = findings(material.parts[0], material.names, reference, ("person", "people"))
    return " ".join(f"{finding.headline} {finding.detail}" for finding in entries)


FIGURES = ("figures/scores-quality.svg", "figures/scores-quality.pdf", "figures/scores-quality.png")
SPREAD = {"natural": 85.0, "smooth": 60.0, "jerky": 58.0, "frozen": 20.0}


@pytest.fixture(scope="session")
def people(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Page]:
    study = made_up(tmp_path_factory.mktemp("people"), SPREAD)
    return study, read(study)


CROWDED = {
    "Natural motion capture of the speaker, upper body and both hands": 88.0,
    "diffusion-transformer-with-text-audio-and-speaker-identity": 71.0,
    "Mismatched_segment_permutation_control_2026": 48.0,
    "nearest neighbour in a very large library of recorded motion": 47.0,
    "k = 16": 41.0,
    "k = 8": 40.0,
    "frozen": 10.0,
}
"""Conditions with names that are too long for a line."""


@pytest.fixture(scope="session")
def crowded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Study, Page]:
    """A report of four questions about many conditions, all with long names."""
    texts = {
        "human-likeness": "How human-like does the motion appear, regardless of what is being said and of the face?",
        "two": "Does the speaker move in time with the speech?",
        "three": "Is it three?",
        "four": "Is it four?",
    }
    questions = [{"id": name, "text": text, "scale": "agree5"} for name, text in texts.items()]
    questions[0]["scale"] = "cont100"
    study = made_up(tmp_path_factory.mktemp("crowded"), CROWDED, participants=8, questions=questions)
    sessions = [
        {"session": f"s{n:03}", "use": True, "screen_width": 2560, "screen_height": 1440, "dpr": 1.25, "input": "mouse"}
        for n in range(8)
    ]
    write_table(study.folder / "clean" / "devices.csv", names_of(DEVICES), sessions)
    analyse(study)
    material = load_material(study)
    # Of one question, and those of all together: drawing takes longer than everything else.
    mine = [one for one in figures(material) if one.in_page and not one.name.endswith(("-two", "-three", "-four"))]
    inline = {one.name: drawn for one in mine if (drawn := drawn_inline(one)) is not None}
    text = page(replace(material, figures=defaultdict(Markup, inline)))
    write_atomically(study.folder / "report" / "index.html", utf8(text))
    shown = Page(text)
    assert shown.open == []
    return study, shown
