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

        found = beholder.power("study.yaml", difference=5)
        found.summary(), found.plot()  # and `open` shows the page

    What most studies need:
        study           the study file
        participants    numbers to try, as [20, 40]: 10, 20, 40, 80 and the study's own when left out
        difference      the points by which two conditions differ that are to be found, and with them all the larger
                        differences: 5 % of the scale, or what a pilot shows, when left out
        repetitions     how often each study is imagined: more make the answer more exact

    What people are like:
        source          the study file of a pilot; people are those of a public data set when left out
        people          changes some of it, as `taste:0.1`
        contents        `random`: a finding is to hold for other contents as well; `fixed`: for these alone; as
                        `analyse.claim` has it when left out

    Other designs beside it:
        methods         methods to hold against the study's own: parallel, acr and pair when left out, none with []
        pages           numbers of stimuli on a page to hold against each other, as [4, 8]: those of the study's groups
                        when left out, none with []

    Rarely:
        rate            the pay of an hour, as `9 GBP`; the study's own reward when left out
        seed, out       random numbers, and another folder than power/
        progress        a function that gets the number of repetitions that are done, and of all
        stimuli         the same of stimuli that are looked at
    """
    from beholder.sample_size.folder import power_folder

    return power_folder(
        study, participants=participants, difference=difference, repetitions=repetitions, pilot=source, people=people,
        methods=methods, pages=pages, contents=contents, rate=rate, seed=seed,
        out=Path(out) if out is not None else None, progress=progress, stimuli=stimuli,
    )  # fmt: skip
