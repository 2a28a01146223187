"""Objective metrics of the stimuli (PSNR, SSIM, VMAF, STOI ...), and how well they agree with the ratings.

contract     what a metric declares, and the pair that it gets
registry     which metrics are installed, and the selection of what is measured
decoding     frames and sounds of a stimulus and its reference, masks
frames       PSNR, SSIM, MS-SSIM and VMAF
audio        STOI and SI-SDR
landmarks    points of a file, and their distance
learned      LPIPS, FID and FVD, where their libraries are installed
regions      boxes and masks; values that were measured elsewhere
measurement  all pairs in parallel, with a cache
correlation  agreement with the ratings, and whether one metric does better than another
folder       the folder metrics/ and the result of `metrics`
page         its page
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
    landmarks: str | Path | None = None,
    reference: str | None = None,
    out: str | Path | None = None,
    jobs: int | None = None,
    progress: Callable[[int, int], None] | None = None,
    drawing: Callable[[int, int], None] | None = None,
) -> Metrics:
    """Measure the stimuli of a study and relate the values to its ratings; write `metrics/` and return the tables.

        found = beholder.metrics("study.yaml", metric=["psnr", "ssim"])

    What most studies need:
        source          the study file, or the study; a table of ratings or scores takes `values` only
        metric          what is measured: psnr, psnr-y, ssim, ssim-y, ms-ssim, vmaf, stoi, estoi, si-sdr, lmd; lpips,
                        fid and fvd where they are installed; those of other packages. The usual ones that fit when left
                        out, and nothing where `values` are given
        reference       the condition to compare with, by name or label, where none has that role
        values          tables of values from elsewhere

    Parts of the picture:
        regions         a table of boxes and masks
        landmarks       a table of points

    Rarely:
        out, jobs       another folder than metrics/, and how many pairs are measured at a time
        progress        a function that gets the number of pairs that are measured, and of all
        drawing         the same of figures that are drawn
    """
    from beholder.objective.folder import metrics_folder

    return metrics_folder(
        source,
        metric=metric,
        tables=[Path(one) for one in values],
        regions=Path(regions) if regions is not None else None,
        landmarks=Path(landmarks) if landmarks is not None else None,
        reference=reference,
        out=Path(out) if out is not None else None,
        jobs=jobs,
        progress=progress,
        drawing=drawing,
    )
