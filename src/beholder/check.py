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
    """Fewest and most, over all stimuli that are dealt, if everybody finishes; comparisons where two are compared."""
    warnings: tuple[Problem, ...]
    is_compared: bool = False
    """Stimuli are compared in pairs."""

    @property
    def minutes(self) -> float:
        """About how long a session takes."""
        return sum(stage.minutes for stage in self.stages)


def check(study: str | Path = "study.yaml") -> Checked:
    """Return what a study will be like, or raise all problems at once."""
    from beholder.errors import Problem, StudyError
    from beholder.methods import find, load_study, method_folder
    from beholder.plan.balance import ratings_range
    from beholder.plan.make import make_plan
    from beholder.plan.shown import is_of_pairs
    from beholder.serve.script import make_script, sets_volume
    from beholder.stimuli.ingest import load_catalogue
    from beholder.study.texts import study_text

    loaded = load_study(study)
    method = find(loaded.method)
    if not (method_folder(method.name) / "view.js").is_file():
        raise StudyError(Problem(f"method {method.name}", "has no view.js", "", "Add the view, or update its package."))
    catalogue = load_catalogue(loaded)
    plan = make_plan(loaded, catalogue, method)
    script = make_script(loaded, plan.lists[0].entries, has_volume=sets_volume(loaded, catalogue))
    words = sum(len((study_text(loaded, name) or "").split()) for name in ("consent", "instructions"))
    trials = [step.trial for step in script.steps if step.trial is not None]
    rating = sum(method.seconds(trial, catalogue) for trial in trials) / 60
    stages = [Stage("consent and instructions", 0.3 + words / 200), *_questions(len(loaded.before), "before")]
    if any(step.kind == "volume" for step in script.steps):
        stages.append(Stage("setting the volume", 0.3))
    stages.append(Stage(f"rating ({method.name}), {len(trials)} trials", rating))
    stages += _questions(len(loaded.after), "after")
    return Checked(
        study=loaded,
        stages=tuple(stages),
        stimuli=len(catalogue.stimuli),
        conditions=catalogue.conditions,
        contents=len(catalogue.contents),
        participants=len(plan.lists),
        ratings_per_stimulus=ratings_range(plan),
        warnings=catalogue.warnings,
        is_compared=is_of_pairs(plan),
    )


def _questions(n: int, when: str) -> list[Stage]:
    """Return the stage of a questionnaire, or none where nothing is asked."""
    return [Stage(f"{n} question{'s' * (n > 1)} {when}", n * 0.15)] if n else []
