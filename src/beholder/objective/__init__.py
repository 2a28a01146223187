"""Metrics: what programs measure of the stimuli, beside what people said of them.

kinds, choosing    which metrics there are, and what is measured beside what
pair, filters      pictures, by ffmpeg's own filters
regions, masked    the same on a box, or on the pixels of a mask
sounds             speech and other sounds
measure, cache     all of it in parallel, and never twice
reading            values that were measured elsewhere
relate, between    how far they agree with people, and whether one does better than another
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.objective.folder import Metrics
    from beholder.study.model import Study

__all__ = ["metrics"]


def metrics(
    source: str | Path | Study = "study.yaml",
    *,
    metric: Sequence[str] = (),
    values: Sequence[str | Path] = (),
    regions: str | Path | None = None,
    reference: str | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    drawing: Callable[[int, int], None] | None = None,
) -> Metrics:
    """Measure the stimuli of a study and relate the values to its ratings; write `metrics/` and return the tables.

    `metric` names what is measured (psnr, psnr-y, ssim, ssim-y, ms-ssim, vmaf, stoi, estoi, si-sdr): all that fit when
    left out, and nothing where `values` brings tables of values from elsewhere. `regions` is a table of boxes and
    masks, `reference` the condition to compare with where none has that role. A table of ratings or scores in place
    of the study takes `values` only. `progress` is told of measured pairs, `drawing` of figures.
    """
    from beholder.objective.folder import metrics_folder

    return metrics_folder(
        source,
        metric=metric,
        tables=[Path(one) for one in values],
        regions=Path(regions) if regions is not None else None,
        reference=reference,
        out=Path(out) if out is not None else None,
        jobs=jobs,
        progress=progress,
        drawing=drawing,
    )
