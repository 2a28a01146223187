"""How steady people were: with themselves, where something came again, and with the others."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator

from beholder.report.data_quality.line import Line, share_of
from beholder.report.material import Material
from beholder.report.tallies import percent
from beholder.report.words import count, number

_SPREAD = 0.2
"""Of the scale. Answers by chance have 0.29."""
_AGREEMENT = 0.5
_DIFFER = 0.25
_WHAT = ["participant", "question", "stimulus", "other_stimulus", "unit"]


def steadiness(material: Material) -> Iterator[Line]:
    """Yield how far repeats and people agree, as far as there are any."""
    yield from _within(material)
    yield from _repeats(material)
    yield from _between(material)


def _within(material: Material) -> Iterator[Line]:
    """Yield the sd of one person rating one stimulus again, as the root of the mean variance (statistics 2.1)."""
    used = material.used[material.used["kind"].isin(("score", "diff"))]
    values = used["value"] / (used["scale_max"] - used["scale_min"])
    again = values.groupby([used[name].fillna("") for name in _WHAT])
    spread = again.var(ddof=1).dropna()
    if spread.empty:
        return
    sd = math.sqrt(float(spread.mean()))
    said = f"Standard deviation of one person rating the same again, over {count(len(spread), 'repeat')}."
    warning = f"Who rated something again was {percent(sd)} of the scale off; answers by chance would be 29 %."
    yield Line("Repeated ratings", f"{percent(sd)} of the scale", said, warning if sd > _SPREAD else "")


def _repeats(material: Material) -> Iterator[Line]:
    """Yield what the check `repeat` found, over all sessions."""
    verdicts = material.clean("verdicts")
    mine = verdicts[verdicts["check"] == "repeat"]["evidence"] if len(verdicts) else ()
    found = [json.loads(cell) for cell in mine if cell]
    compared, differ = (sum(int(one.get(name) or 0) for one in found) for name in ("compared", "differ"))
    if compared:
        said = "Answers to what came again that differ by more than the study allows, over all sessions."
        warning = f"{percent(differ / compared)} of what came again was answered differently."
        yield Line(
            "Repeats that differ", share_of(differ, compared), said, warning if differ > _DIFFER * compared else ""
        )


def _between(material: Material) -> Iterator[Line]:
    agreement = material.results.participants["agreement"].dropna()
    if len(agreement):
        middle, low = float(agreement.median()), float(agreement.min())
        said = f"Median rank correlation of a person with the mean of the others; the lowest is {number(low, 2)}."
        warning = "People hardly agree. Stimuli may be too much alike, the question unclear, or many careless."
        yield Line("Agreement with the others", number(middle, 2), said, warning if middle < _AGREEMENT else "")
