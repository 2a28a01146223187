"""Check a study and its stimuli, and say what a participant will go through."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.errors import Problem
    from beholder.study.model import Study


@dataclass(frozen=True)
class Stage:
    """A part of the session: what it is, and about how long it takes."""

    name: str
    minutes: float


@dataclass(frozen=True)
class Checked:
    """A study without problems, and what it will be like."""

    study: Study
    stages: tuple[Stage, ...]
    stimuli: int
    conditions: tuple[str, ...]
    contents: int
    participants: int
    ratings_per_stimulus: tuple[int, int]
    """Fewest and most, over all stimuli, if everybody finishes."""
    warnings: tuple[Problem, ...]

    @property
    def minutes(self) -> float:
        """About how long a session takes."""
        return sum(stage.minutes for stage in self.stages)


def check(study: str | Path = "study.yaml") -> Checked:
    """Return what a study will be like, or raise all problems at once."""
    from beholder.errors import Problem, StudyError
    from beholder.methods import find, load_study, method_folder
    from beholder.plan.balance import ratings_per_stimulus
    from beholder.plan.make import make_plan
    from beholder.serve.script import make_script
    from beholder.stimuli.ingest import load_catalogue
    from beholder.study.texts import study_text

    loaded = load_study(study)
    method = find(loaded.method)
    if not (method_folder(method.name) / "view.js").is_file():
        raise StudyError(Problem(f"method {method.name}", "has no view.js", "", "Add the view, or update its package."))
    catalogue = load_catalogue(loaded)
    plan = make_plan(loaded, catalogue, method)
    script = make_script(loaded, plan.lists[0].entries)
    words = sum(len((study_text(loaded, name) or "").split()) for name in ("consent", "instructions"))
    trials = [step.trial for step in script.steps if step.trial is not None]
    rating = sum(method.seconds(trial, catalogue) for trial in trials) / 60
    asked = len(loaded.before) + len(loaded.after)
    when = " and ".join(name for name, items in (("before", loaded.before), ("after", loaded.after)) if items)
    stages = [Stage("consent and instructions", 0.3 + words / 200)]
    if asked:
        stages.append(Stage(f"{asked} question{'s' * (asked > 1)} {when}", asked * 0.15))
    stages.append(Stage(f"rating ({method.name}), {len(trials)} trials", rating))
    counts = ratings_per_stimulus(plan)
    rated = [stimulus.id for stimulus in catalogue.by_cell.values()]
    return Checked(
        study=loaded,
        stages=tuple(stages),
        stimuli=len(catalogue.stimuli),
        conditions=catalogue.conditions,
        contents=len(catalogue.contents),
        participants=len(plan.lists),
        ratings_per_stimulus=(min(counts.get(s, 0) for s in rated), max(counts.values())),
        warnings=catalogue.warnings,
    )
