"""Analysis as the researcher chooses it: which differences are asked for, and how their tests are corrected.

Nothing here changes what participants meet, and nothing of it is in the plan: it may change after the last answer.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from beholder.study.fault import Fault, raise_faults
from beholder.study.kind import Says
from beholder.study.part import Part, Text

Contrast = Annotated[tuple[Text, Text], Says("two conditions, such as [ours, baseline]")]


class Analyse(Part):
    """What is asked of the ratings."""

    contrasts: tuple[Contrast, ...] = Field(
        default=(),
        description="Pairs of conditions that the study is about, first minus second: only they are corrected for and "
        "called clear. All pairs when left out, but for anchors and MUSHRA's hidden reference.",
    )
    family: Literal["question", "study"] = Field(
        default="question", description="Tests are corrected (Holm) within each `question`, or over the whole `study`."
    )
    crush: Literal["none", "crush", "clip"] = Field(
        default="none",
        description="Where `acr-hr` gives more than the best grade, as someone prefers it to its reference: `none` "
        "leaves it, `crush` draws it in (P.910), `clip` cuts it off.",
    )

    @model_validator(mode="after")
    def _contrasts_are_two_and_once(self) -> Analyse:
        faults, first = [], dict[frozenset[str], int]()
        for place, pair in enumerate(self.contrasts):
            both = frozenset(pair)
            if len(both) == 1:
                what = f"holds {pair[0]} against itself"
                faults.append(Fault(what, "two conditions", "Name another one, or take it out.", ("contrasts", place)))
            elif both in first:
                what = f"holds {pair[0]} against {pair[1]}, as does contrasts.{first[both]}"
                faults.append(Fault(what, "every pair once", "Take one out.", ("contrasts", place)))
            first.setdefault(both, place)
        raise_faults(faults)
        return self
