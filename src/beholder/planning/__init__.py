"""Counterbalanced lists of trials: which contents and conditions, where, in which slot and colour.

ground/     what a plan stands on: what there is to deal, how much a list holds, how many lists there are
dealing/    contents to lists and positions, conditions to trials and slots
ordered/    Latin and Williams' squares, and blocks
groups      participants who get something else than others
teaching/   trials whose answer is known: training, and what gold and attention are held against
placing/    what the rules put into the lists: stimuli that ask, gold, repeats
given/      a plan that the researcher gives as a table, and any plan as such a table
make        all of these: Study, Catalogue, Method -> Plan
model       the plan; written: its lists as JSON; folder: its files; digest: what it depends on
counting/   how even it came out
growing/    lists that are added once a plan has begun
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
    """Return the plan of a study, written to `plan/` in its folder; one that was extended stays as it is."""
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
        found = read(loaded.folder, plan_digest(loaded, stimuli)) if was_extended(loaded.folder) else None
        if found is not None:
            made = with_units(found, loaded, stimuli, method, found.before)
        else:
            made = make_plan(loaded, stimuli, method)
        write_plan(made, stimuli, study_digest(loaded, stimuli), loaded.folder)
    return made


def read_plan(folder: Path, plan_digest: str | None = None) -> Plan | None:
    """Return the plan below a study's folder; None if there is none, it is torn, or it is of another digest."""
    from beholder.planning.folder import read_plan as read

    return read(folder, plan_digest)


def open_plan(study: Study, catalogue: Catalogue) -> Plan:
    """Return the plan of a study from its folder; made and written anew where the study or a stimulus has changed."""
    from beholder.planning.digest import plan_digest, study_digest
    from beholder.planning.folder import is_plan_of
    from beholder.planning.folder import read_plan as read

    found = read(study.folder, plan_digest(study, catalogue))
    if found is not None and is_plan_of(study.folder, study_digest(study, catalogue)):
        return found
    return plan_study(study, catalogue=catalogue)
