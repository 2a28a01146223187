"""Counterbalanced lists of trials: which contents and conditions, at which position, in which slot and colour.

The plan: `model` (plan and lists), `serialization` (lists as JSON), `digest` (what a plan depends on), `folder`
(plan/).

Making one: `builder` (study, stimuli, method -> plan), `feasibility` (whether there can be a plan), `grid` (contents by
conditions), `capacity` (trials of a list), `list_counts` (number of lists), `groups` (factors between participants).

Allocation: `allocation` (all of it), `contents` (to lists and positions), `slots`, `even_rounding` (even picks),
`squares` and `square_contents` (Latin and Williams squares), `blocks`.

Trials with a known answer: `training`, `known_answers`, `trial_templates`. Checks in the lists: `check_counts`,
`check_trials`, `check_placement`, `attention`, `message_trials`, `statements`.

Plans from elsewhere: `given_plan` (a table that the researcher wrote). Extensions: `growth`, `replacement_lists`.

How even a plan is: `balance`, `order_balance`, `counts`.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.planning.model import Plan
    from beholder.stimuli.catalogue import Catalogue
    from beholder.study.model import Study


def plan_study(
    study: str | Path | Study = "study.yaml",
    *,
    catalogue: Catalogue | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return the plan of a study and write it to `plan/` in its folder; a plan that was extended is kept."""
    from beholder.methods import find, load_study
    from beholder.planning.builder import make_plan
    from beholder.planning.digest import plan_digest, study_digest
    from beholder.planning.folder import read_plan as read
    from beholder.planning.folder import was_extended, write_plan
    from beholder.planning.growth import with_units
    from beholder.planning.message_trials import load_stimuli
    from beholder.planning.model import no_collection

    loaded = load_study(study) if isinstance(study, str | Path) else study
    method = find(loaded.method)
    stimuli = catalogue or load_stimuli(loaded, method, progress)
    with no_collection():
        extended = read(loaded.folder, plan_digest(loaded, stimuli)) if was_extended(loaded.folder) else None
        if extended is not None:
            plan = with_units(extended, loaded, stimuli, method, extended.earlier_stimuli)
        else:
            plan = make_plan(loaded, stimuli, method)
        write_plan(plan, stimuli, study_digest(loaded, stimuli), loaded.folder)
    return plan


def read_plan(folder: Path, plan_digest: str | None = None) -> Plan | None:
    """Return the plan below a study's folder; None if it is missing, incomplete, or of another digest."""
    from beholder.planning.folder import read_plan as read

    return read(folder, plan_digest)


def open_plan(study: Study, catalogue: Catalogue) -> Plan:
    """Return the plan in a study's folder, made again if the study or a stimulus has changed."""
    from beholder.planning.digest import plan_digest, study_digest
    from beholder.planning.folder import is_plan_of
    from beholder.planning.folder import read_plan as read

    plan = read(study.folder, plan_digest(study, catalogue))
    if plan is not None and is_plan_of(study.folder, study_digest(study, catalogue)):
        return plan
    return plan_study(study, catalogue=catalogue)
