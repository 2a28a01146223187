"""Everything that a comparison computes, before it is told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from beholder.analyse.result import Result
from beholder.compare.agreeing import agreeing, matrices
from beholder.compare.contrasts import contrast_counts, contrasts
from beholder.compare.correlated import correlated
from beholder.compare.differences import differences
from beholder.compare.effects import effects
from beholder.compare.matching import Matched, every_two
from beholder.compare.sides import Sides


class Found(NamedTuple):
    """The sides, what they share, and the tables by the names of their files."""

    sides: Sides
    matched: Sequence[Matched]
    results: Mapping[str, Result]

    @property
    def names(self) -> list[str]:
        """What the sides are called."""
        return [side.name for side in self.sides.sides]

    @property
    def labels(self) -> dict[str, str]:
        """What people read in place of the name of a condition: as the first side has it that has one."""
        return {name: label for side in reversed(self.sides.sides) for name, label in side.labels.items()}

    def table(self, name: str) -> pd.DataFrame:
        """Return a table; an empty one where there is none."""
        return self.results[name].table if name in self.results else pd.DataFrame()

    def rows(self, name: str, one: Matched) -> pd.DataFrame:
        """Return the rows of a table that are of these two sides and this question."""
        table = self.table(name)
        if table.empty:
            return table
        is_mine = (table["question"] == one.question) & (table["side"] == one.side)
        is_mine &= table["other_side"] == one.other_side
        return table[is_mine & (table["level"] == one.level)] if "level" in table else table[is_mine]

    def differing(self, one: Matched) -> pd.DataFrame:
        """Return what was tested between these two sides: stimuli or conditions."""
        return self.rows("stimuli" if one.level == "stimulus" else "conditions", one)


def find(sides: Sides, margin: float | None) -> Found:
    """Return everything that is to be said of the sides."""
    matched = list(every_two(sides.sides, sides.questions))
    agreement = agreeing(matched)
    found: dict[str, Result | None] = {
        "agreement": agreement,
        "stimuli": differences(matched, "stimulus"),
        "conditions": differences(matched, "condition"),
        "contrasts": contrasts(sides.sides, sides.questions),
    }
    if (contrasted := found["contrasts"]) is not None:
        found["contrast_counts"] = contrast_counts(contrasted.table)
    found["matrices"] = matrices(agreement.table, [side.name for side in sides.sides])
    found["correlations"] = correlated(sides.sides, sides.questions)
    found["effects"] = effects(sides.sides, sides.questions, margin)
    return Found(sides, matched, {name: one for name, one in found.items() if one is not None})
