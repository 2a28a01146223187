"""`plan`: the plan of a study, and its report."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.planning import plan_study

if TYPE_CHECKING:
    from beholder.planning.model import Plan
    from beholder.stimuli.catalogue import Catalogue
    from beholder.study.model import Study


def plan(
    study: str | Path | Study = "study.yaml",
    *,
    catalogue: Catalogue | None = None,
    report: bool = False,
    progress: Callable[[int, int], None] | None = None,
    drawing: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return the plan of a study, written to `plan/` in its folder.

        print(beholder.plan("study.yaml", report=True))

    What most studies need:
        study           the study file, or the study
        report          draws its counts as heat maps in plan/report/

    Rarely:
        catalogue       the stimuli, where they are read already
        progress        a function that gets the number of stimuli that are looked at, and of all
        drawing         the same of figures that are drawn
    """
    from beholder.methods import find, load_study
    from beholder.planning.message_trials import load_stimuli

    loaded = load_study(study) if isinstance(study, str | Path) else study
    stimuli = catalogue or load_stimuli(loaded, find(loaded.method), progress)
    planned = plan_study(loaded, catalogue=stimuli)
    if report:
        from beholder.reporting.plan_page import plan_report

        plan_report(loaded, stimuli, planned, drawing)
    return planned
