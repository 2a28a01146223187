"""Counterbalanced lists of trials: which contents and conditions, where, in which slot and colour.

grid        what there is to deal
room        how much a list can hold
flow        even picks by one maximum flow
contents    contents to lists and positions
companions  contents to lists, each with its reference
conditions  conditions, or pairs of them, to trials
slots       conditions to slots, and colours
orders      which of two comes first
scatter     trials of one stimulus, question by question
training    what people practise on, the same in every list
placing/    what the rules put into the lists: stimuli that ask, gold, repeats
ground      what a plan stands on, or everything that stands in its way
make        all of these: Study, Catalogue, Method -> Plan
balance     how even it came out
folder      plan.json, lists.jsonl, balance.csv
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.plan.model import Plan
    from beholder.stimuli.catalogue import Catalogue
    from beholder.study.model import Study


def plan(
    study: str | Path | Study = "study.yaml",
    *,
    catalogue: Catalogue | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Plan:
    """Return the plan of a study, written to `plan/` in its folder."""
    from beholder.methods import find, load_study
    from beholder.plan.bulk import no_collection
    from beholder.plan.digest import study_digest
    from beholder.plan.folder import write_plan
    from beholder.plan.make import make_plan
    from beholder.plan.placing.clips import load_stimuli

    loaded = load_study(study) if isinstance(study, str | Path) else study
    method = find(loaded.method)
    stimuli = catalogue or load_stimuli(loaded, method, progress)
    with no_collection():
        made = make_plan(loaded, stimuli, method)
        write_plan(made, stimuli, study_digest(loaded, stimuli), loaded.folder)
    return made


def read_plan(folder: Path, plan_digest: str | None = None) -> Plan | None:
    """Return the plan below a study's folder; None if there is none, it is torn, or it is of another digest."""
    from beholder.plan.folder import read_plan as read

    return read(folder, plan_digest)


def open_plan(study: Study, catalogue: Catalogue) -> Plan:
    """Return the plan of a study from its folder; made and written anew where the study or a stimulus has changed."""
    from beholder.plan.digest import plan_digest, study_digest
    from beholder.plan.folder import is_of
    from beholder.plan.folder import read_plan as read

    found = read(study.folder, plan_digest(study, catalogue))
    if found is not None and is_of(study.folder, study_digest(study, catalogue)):
        return found
    return plan(study, catalogue=catalogue)
