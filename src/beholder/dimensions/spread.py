"""spread: how far the questions of a condition lie apart, against its mean on one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from beholder.analyse.result import Result
from beholder.dimensions.correlations import turned_note
from beholder.dimensions.joined import Data, join
from beholder.dimensions.profile import check_names
from beholder.dimensions.scaling import factors, scaling_note

COLUMNS = ["condition", "of", "x", "questions", "spread", "range"]


def spread(data: Data | Sequence[Data], of: str, *, questions: Sequence[str] | None = None) -> Result:
    """Return the sd and the range over questions of every condition, beside its mean on the question `of`.

    `questions` are those of the study that asked `of` when left out.
    """
    joined = join(data)
    check_names("of", [of], joined.questions)
    check_names("questions", questions or (), joined.questions)
    part = joined.part_of([of])
    asked = list(questions) if questions is not None else list(part.questions if part is not None else joined.questions)
    means = joined.by_condition[asked] * factors(joined, asked)
    table = pd.DataFrame(
        {
            "condition": list(joined.conditions),
            "of": of,
            "x": joined.by_condition[of].to_numpy(),
            "questions": means.notna().sum(axis=1).to_numpy(),
            "spread": means.std(axis=1, ddof=1).to_numpy(),
            "range": (means.max(axis=1) - means.min(axis=1)).to_numpy(),
        }
    )
    table = table[table["x"].notna() & table["spread"].notna()].reset_index(drop=True)[COLUMNS]
    note = (
        f"x: the condition's mean on {of}. spread: sd (n - 1) over its means on {len(asked)} questions "
        f"({', '.join(asked)}); range: highest minus lowest of them. Part of it is chance: each mean has its own error."
    )
    return Result(table, note + scaling_note(joined) + turned_note(joined), "", _draw)


def _draw(table: pd.DataFrame) -> Any:
    from beholder.analyse.plots.spread import spread_chart

    return spread_chart(table)
