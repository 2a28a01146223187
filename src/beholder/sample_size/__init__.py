"""Power analysis: how many participants a study needs, what they cost, and which method needs the fewest.

`request` (options and their limits), `design` (the simulated study), `simulation` (repetitions and looks), `tests`
(contrasts as in the analysis), `variants` (other methods and pages), `estimates` (tables), `figures`, `page`, `folder`
(power/).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from beholder.sample_size.page import Power

__all__ = ["power"]


def power(
    study: str | Path = "study.yaml",
    *,
    participants: str | Sequence[int] | None = None,
    difference: float | None = None,
    repetitions: int = 200,
    source: str | Path | None = None,
    people: str = "",
    methods: Sequence[str] | None = None,
    pages: str | Sequence[int] | None = None,
    contents: Literal["random", "fixed"] | None = None,
    rate: str | None = None,
    seed: int = 1,
    out: str | Path | None = None,
    progress: Callable[[int, int], None] | None = None,
    stimuli: Callable[[int, int], None] | None = None,
) -> Power:
    """Imagine the study many times with simulated people; write `power/` and return how many participants it needs.

    For each number of `participants` (10, 20, 40, 80 and the study's own when left out) it is told how often conditions
    that are `difference` points apart, and all the larger differences between others, are found by the analysis of the
    real study; how wide intervals are; and the time and cost, at `rate` for an hour or the study's own reward. Without
    a `difference` it is 5 % of the scale, or what a pilot shows. `source` is the study file of that pilot; people are
    those of a public data set when left out, and `people` changes some of it, as `taste:0.1`. With `contents` random a
    finding is to hold for other contents as well; fixed, for these alone; when left out, as `analyse.claim` has it.
    `methods` are held against the study's own:
    parallel, acr and pair when left out, none with an empty list. `pages` are numbers of stimuli on a page to hold
    against each other, as [4, 8]: those of the study's groups when left out, none with an empty list. `progress` is
    told of repetitions, `stimuli` of stimuli that are looked at.
    """
    from beholder.sample_size.folder import power_folder

    return power_folder(
        study, participants=participants, difference=difference, repetitions=repetitions, pilot=source, people=people,
        methods=methods, pages=pages, contents=contents, rate=rate, seed=seed,
        out=Path(out) if out is not None else None, progress=progress, stimuli=stimuli,
    )  # fmt: skip
