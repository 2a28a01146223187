"""Stimuli with a known answer that the study lists itself, where there is no manifest with a line for each."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from beholder.stimuli.lesson import item_lesson, unknown_answer
from beholder.stimuli.manifest import locate, medium_at
from beholder.stimuli.sources import Source, Sources, name_problem, plain
from beholder.study.checks import Gold, GoldItem
from beholder.study.model import Study
from beholder.study.training import Training, TrainingItem
from beholder.types import Role


def read_items(study: Study, sources: Sources) -> None:
    """Add what stands in `training.items` and `checks.gold.items`, after those of a manifest."""
    last = max((source.lesson.number for source in sources.found if source.lesson), default=0)
    gold = study.checks.rule("gold")
    if isinstance(study.training, Training):
        for place, item in enumerate(study.training.items):
            _read_item(study, f"training.items.{place}", "training", last + 1 + place, item, sources)
    if isinstance(gold, Gold):
        for place, key in enumerate(gold.items):
            _read_item(study, f"checks.gold.items.{place}", "gold", last + 1 + place, key, sources)


def _read_item(
    study: Study, key: str, role: Role, number: int, item: TrainingItem | GoldItem, sources: Sources
) -> None:
    where, before = study.where(key), len(sources.problems)
    content = plain(item.content or PurePosixPath(urlsplit(item.file).path).stem)
    # One that has no condition of its own is called by its role.
    condition = plain(item.condition or role)
    for kind, name in (("content", content), ("condition", condition)):
        if problem := name_problem(where, kind, name):
            sources.problems.append(problem)
    lesson = item_lesson(study, key, number, item, sources.problems)
    if len(sources.problems) == before and (missing := unknown_answer(role, lesson)):
        sources.problems.append(missing)
    medium = medium_at(item.file)
    path = locate(study.folder.absolute(), study.where(f"{key}.file"), item.file, medium, sources.problems)
    if len(sources.problems) == before and medium is not None:
        sources.found.append(Source(where, item.file, path, content, condition, medium, role, lesson=lesson))
