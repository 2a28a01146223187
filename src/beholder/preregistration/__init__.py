"""Preregistration: the plan of a study, in the words of the usual templates, recorded before the first person.

registration  the record in the ledger of the store: versions, digests, times, addresses, and who had come by then
templates     the plan as answers to the questions of OSF and AsPredicted
changes       what differs between two versions of a study, and between the plan and what people met
folder        what is recorded, the folder preregistration/ and its page, the result of `preregister`
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.preregistration.folder import Preregistration
    from beholder.study.model import Study

__all__ = ["preregister"]


def preregister(
    study: str | Path | Study = "study.yaml",
    *,
    words: str | Path | None = None,
    why: str = "",
    late: bool = False,
    registered: str | None = None,
    store: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Preregistration:
    """Record the plan of a study before anybody takes part; write `preregistration/` and return the record.

        made = beholder.preregister("study.yaml")
        made.digest, made.at

    What most studies need:
        study           the study file, or the study
        words           a Markdown file with what only you know, below headings of the template: `## Description`,
                        `## Sample size rationale`. Kept as that of the version before when left out
        registered      where you have registered it, as `https://osf.io/abcde`

    Of a plan that has changed:
        why             why it was changed: a plan that differs from the last one is a new version
        late            people have taken part: it is recorded all the same, with how many, and called late everywhere

    Rarely:
        store           where answers will be kept, if not in store/ beside the study
        progress        a function that gets the number of stimuli that are looked at, and of all
    """
    from beholder.preregistration.folder import preregister_study

    return preregister_study(
        study, words=None if words is None else Path(words), why=why, late=late, registered=registered, store=store,
        progress=progress,
    )  # fmt: skip
