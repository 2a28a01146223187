"""How fast people go: how many trials a short session has time for."""

from __future__ import annotations

import numpy as np

from beholder.methods.contract import Method, Unit, Units
from beholder.plan.ground.grid import Grid
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study

LONGEST = 15
"""Minutes after which a session is no longer a short one."""
_RATING = 12
"""Minutes of them that are left for the trials."""
_LOOKED_AT = 12
"""Contents whose trials stand for all the others."""


def trials_in_time(study: Study, catalogue: Catalogue, method: Method, units: Units, grid: Grid) -> int:
    """Return how many trials a short session has time for, at least one, by what the method says of a few of them."""
    contents = np.unique(np.linspace(0, len(grid.contents) - 1, _LOOKED_AT).astype(np.int64)).tolist()
    rng = np.random.default_rng(0)
    seconds = []
    for content in contents:
        free = [column for column in grid.free if grid.cells[content][column]][: grid.dealt_per_trial]
        cells = [grid.cells[content][column] for column in sorted((*free, *grid.always))]
        stimuli = tuple(stimulus for cell in cells for stimulus in cell)
        if not stimuli:
            continue  # its reference alone, which is told elsewhere
        seconds.append(
            sum(
                method.seconds(
                    method.compose(study, Unit(grid.contents[content], stimuli, asks), catalogue, rng), catalogue
                )
                for asks in units.asks or ((),)
            )
        )
    return max(1, int(_RATING * 60 / max(float(np.mean(seconds or [0])), 1e-9)))
