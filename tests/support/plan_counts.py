"""Tables of counts of a plan that is made for a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.reporting.plan_counts import Count, counts, read_shows
from support.given_plans import catalogue_of, study_of


def counted(method: str, folder: Path, contents: int = 6, conditions: int = 4, **design: Any) -> dict[str, Count]:
    catalogue = catalogue_of(method, contents, conditions)
    plan = make_plan(study_of(method, folder, **design), catalogue, find(method))
    return {one.name: one for one in counts(read_shows(plan, catalogue))}
