"""Training examples that the study lists itself, for stimuli without a manifest."""

from __future__ import annotations

from pathlib import PurePosixPath
from urllib.parse import urlsplit

from beholder.stimuli.lesson import item_lesson
from beholder.stimuli.manifest import locate, medium_at
from beholder.stimuli.sources import Source, Sources, name_problem, plain
from beholder.study.model import Study
from beholder.study.training import Training

TRAINING = "training"
"""The condition of an example that has none of its own."""


def read_items(study: Study, sources: Sources) -> None:
    """Add the examples in `training.items`, after those of a manifest."""
    if not isinstance(study.training, Training):
        return
    last = max((source.lesson.number for source in sources.found if source.lesson), default=0)
    for place, item in enumerate(study.training.items):
        key = f"training.items.{place}"
        where, before = study.where(key), len(sources.problems)
        content = plain(item.content or PurePosixPath(urlsplit(item.file).path).stem)
        condition = plain(item.condition or TRAINING)
        for kind, name in (("content", content), ("condition", condition)):
            if problem := name_problem(where, kind, name):
                sources.problems.append(problem)
        lesson = item_lesson(study, place, last + 1 + place, item, sources.problems)
        medium = medium_at(item.file)
        path = locate(study.folder.absolute(), study.where(f"{key}.file"), item.file, medium, sources.problems)
        if len(sources.problems) == before and medium is not None:
            sources.found.append(Source(where, item.file, path, content, condition, medium, "training", lesson=lesson))
