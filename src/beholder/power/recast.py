"""A study by another method: the same stimuli and questions, a session about as long."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from beholder.errors import BeholderError
from beholder.methods.contract import Method
from beholder.plan.ground.lay import lay_ground
from beholder.power.session import imagined, session_of, sized
from beholder.power.world import World
from beholder.study.checks import Checks
from beholder.study.design import Design
from beholder.study.model import Question, Study
from beholder.study.scale import SCALES


def as_method(study: Study, method: Method, checks: Checks) -> Study:
    """Return the study by another method: the same stimuli and questions, its own options, scale and design."""
    design = study.design
    written = method.defaults.get("design", {})
    usual = Design.model_validate(written if isinstance(written, dict) else {})
    kept = {name: getattr(design, name) for name in ("participants", "sessions_per_participant", "both_orders", "seed")}
    if not any(level.options for levels in design.between.values() for level in levels.values()):
        kept["between"] = design.between
    return study.model_copy(
        update={
            "method": method.name,
            "options": method.Options().model_dump(mode="json", by_alias=True),
            "questions": tuple(_asked(question, method) for question in study.questions),
            "design": usual.model_copy(update=kept),
            "checks": checks,
        }
    )


def _asked(question: Question, method: Method) -> Question:
    """Return a question with a scale of the method: its own where the method has it, else the method's first."""
    names = [name for name in method.scales if name in SCALES]
    if not names or question.scale in [SCALES[name] for name in names]:
        return question
    return question.model_copy(update={"scale": SCALES[names[0]]})


def as_long(world: World, minutes: float) -> Study:
    """Return the study with as many trials as fit into so many minutes, or as many as the stimuli give."""
    study = sized(world.study, 2)
    ground = lay_ground(study, imagined(study, world.catalogue, world), world.method)
    pace = _seconds(world, study, ground.shape.trials)
    wanted = max(1, round(60 * minutes / pace)) if pace else ground.shape.trials
    for trials in (*_fewer(wanted), ground.shape.trials):
        tried = world.study.model_copy(update={"design": world.study.design.model_copy(update={"trials": trials})})
        try:
            session_of(replace(world, study=tried), 2)
        except BeholderError:
            continue
        return tried
    return world.study


def _fewer(wanted: int) -> Iterator[int]:
    """Yield numbers of trials to try, each about a tenth smaller than the one before."""
    while wanted >= 1:
        yield wanted
        wanted = min(wanted - 1, math.floor(0.9 * wanted))


def _seconds(world: World, study: Study, trials: int) -> float:
    """Return how long one trial takes."""
    return 60 * session_of(replace(world, study=study), 2).rating_minutes / max(1, trials)
