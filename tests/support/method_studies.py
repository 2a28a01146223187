"""Studies and catalogues in memory for tests of methods, without files or servers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import yaml

from beholder.errors import PlanError
from beholder.methods import find, load_study
from beholder.methods.contract import Catalogue, Method, Role, Stimulus, Study, Trial
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Probe
from beholder.types import Medium

QUESTION = {"id": "quality", "text": "How good is it?"}
ODD = ("Größe 2", "no", "01", "NA", "-", "anchor", "proposed", "WORLD", "Vocoder")
"""Names of conditions that other tools have changed."""


def make_study(method: str, conditions: Iterable[Any] = ("a", "b"), **keys: Any) -> Study:
    """Return a study of this method; `keys` replace or add top-level keys, or (None) drop them."""
    study: dict[str, Any] = {
        "beholder": 1,
        "name": "tiny",
        "title": "A tiny study",
        "method": method,
        "stimuli": "stimuli",
        "conditions": list(conditions),
        "questions": [QUESTION],
        "design": {"participants": 6, "trials": 2},
        **keys,
    }
    written = {key: value for key, value in study.items() if value is not None}
    return _loaded(yaml.safe_dump(written, sort_keys=False, allow_unicode=True))


def study_with_transcripts(folder: Path, method: str, contents: Iterable[str], **keys: Any) -> Study:
    """Return a study of this method in a folder with the same transcript for every content."""
    (folder / "transcripts").mkdir(parents=True)
    for content in contents:
        path = folder / "transcripts" / f"{content}.txt"
        path.write_text("The small boat reached the harbour before the storm.", "utf-8")
    study: dict[str, Any] = {
        "beholder": 1, "name": "tiny", "title": "A tiny study", "method": method, "stimuli": "stimuli",
        "conditions": ["a", "b"], "questions": [QUESTION], "design": {"participants": 6, "trials": 1}, **keys,
    }  # fmt: skip
    (folder / "study.yaml").write_text(yaml.safe_dump(study), "utf-8")
    return load_study(folder)


@cache
def _loaded(written: str) -> Study:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "study.yaml"
        path.write_text(written, "utf-8")
        return load_study(path)


def make_catalogue(
    conditions: Sequence[str] = ("a", "b"),
    *,
    contents: Sequence[str] = ("one", "three", "two"),
    roles: Mapping[str, Role] | None = None,
    medium: Medium = "video",
    without: Iterable[tuple[str, str]] = (),
    **probe: Any,
) -> Catalogue:
    """Return a catalogue of all contents under all conditions except `without`; roles are by condition."""
    usual = {
        "bytes": 1000, "container": "", "duration_ms": 3000, "width": 640, "height": 360, "fps": 25.0, "codec": "",
        "audio_codec": "aac", "channels": 2,
    }  # fmt: skip
    measured = Probe(**{**usual, **probe})
    left_out = set(without)
    return Catalogue(
        stimuli=tuple(
            Stimulus(
                id=f"{condition}/{content}",
                content=content,
                condition=condition,
                role=(roles or {}).get(condition, "test"),
                medium=medium,
                file=f"{condition}/{content}",
                sha256=f"{condition}/{content}",
                probe=measured,
                served=Path(f"{condition}-{content}"),
            )
            for content in contents
            for condition in conditions
            if (content, condition) not in left_out
        ),
        conditions=tuple(conditions),
        contents=tuple(contents),
    )


def catalogue_of(study: Study, **keys: Any) -> Catalogue:
    """Return a catalogue with the conditions and roles of a study."""
    roles = {condition.name: condition.role for condition in study.conditions}
    return make_catalogue([condition.name for condition in study.conditions], roles=roles, **keys)


def planned(study: Study, catalogue: Catalogue | None = None) -> tuple[Method, tuple[Trial, ...]]:
    """Return the method of a study and every trial of its plan."""
    method = find(study.method)
    plan = make_plan(study, catalogue or catalogue_of(study), method)
    return method, tuple(trial for planned in plan.lists for trial in planned.trials)


def one_trial(study: Study, catalogue: Catalogue | None = None) -> tuple[Method, Trial]:
    """Return the method of a study and the first trial of its plan."""
    method, trials = planned(study, catalogue)
    return method, trials[0]


def problems(study: Study, catalogue: Catalogue | None = None) -> list[str]:
    """Return the problems of planning a study, as text."""
    try:
        planned(study, catalogue)
    except PlanError as error:
        return [str(problem).partition("  ")[2] for problem in error.problems]
    return []


def felt(trial: Trial, quality: Mapping[str, float]) -> dict[str, float]:
    """Return the percepts of a trial from the quality of each condition."""
    return {
        f"{asked.id}.{slot.id}": quality[slot.stimulus.rpartition("/")[0]]
        for asked in trial.asked
        for slot in trial.slots
    }


def answer_of(method: Method, trial: Trial, quality: Mapping[str, float], seed: int = 1) -> Any:
    """Return the answer of a robot, as read."""
    return method.read(trial, method.respond(trial, felt(trial, quality), np.random.default_rng(seed)))
