"""The folder rehearsal/: the ratings of a rehearsal in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from beholder.clean.tables import csv_blocks, write_together
from beholder.methods import find, load_study
from beholder.plan import open_plan
from beholder.plan.bulk import no_collection
from beholder.plan.digest import study_digest
from beholder.plan.placing.clips import load_stimuli
from beholder.simulate.memory import Progress, Rehearsal, rehearse
from beholder.simulate.sources import Source

FOLDER = "rehearsal"


def rehearse_folder(
    study: str | Path,
    *,
    participants: int | None,
    raters: str,
    seed: int,
    source: Source,
    progress: Progress | None = None,
) -> Rehearsal:
    """Return a rehearsal of a study, its ratings written to rehearsal/ratings.csv."""
    loaded = load_study(study)
    method = find(loaded.method)
    catalogue = load_stimuli(loaded, method)
    with no_collection():
        plan = open_plan(loaded, catalogue)
        found = rehearse(
            loaded, catalogue, method, plan, participants=participants or len(plan.lists), raters=raters, seed=seed,
            people=source.people, means=source.means, digest=study_digest(loaded, catalogue), progress=progress,
        )  # fmt: skip
        table = found.ratings.astype(object)
        columns = [table[name].where(table[name].notna(), None).tolist() for name in table]
        lines = zip(*columns, strict=True)
        write_together(loaded.folder / FOLDER, {"ratings.csv": csv_blocks([str(name) for name in table], lines)})
    return replace(found, path=loaded.folder / FOLDER / "ratings.csv")
