"""What a number is called, so that numbers of different methods are never taken for the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

HIDDEN_REFERENCE, MUSHRA = "acr-hr", "mushra"
"""Methods with numbers of their own, beside the mean."""


class Metric(NamedTuple):
    """The name of a number, with its method, and what it says."""

    name: str
    meaning: str


DMOS = Metric(
    "DMOS(ACR-HR)",
    "Mean of each participant's vote minus the same participant's vote on the hidden reference of that content, plus "
    "the highest vote of the scale.",
)
MUSHRA_MEDIAN = Metric("MUSHRA median", "Median score, the hidden reference and the anchors among the conditions.")
_SCORES: Mapping[str, Metric] = {
    "acr": Metric("MOS(ACR)", "Mean opinion score: the mean of the votes."),
    "acr-hr": Metric("MOS(ACR-HR)", "Mean opinion score of every condition, the hidden reference among them."),
    "dcr": Metric(
        "DMOS(DCR)", "Mean of the votes on how visible a change from the shown reference is; higher is less."
    ),
    "mushra": Metric("MUSHRA mean", "Mean score, the hidden reference and the anchors among the conditions."),
    "likert": Metric(
        "Agreement (Likert)", "Mean agreement with the statement, as answered: a reversed statement is not turned."
    ),
}
_KINDS: Mapping[str, Metric] = {
    "score": Metric("Score", "Mean score."),
    "diff": Metric("CMOS", "Mean of the signed grades: above zero is better than what it was compared with."),
    "choice": Metric(
        "Preference",
        "Won minus lost, as a share of all its comparisons, from -1 (never preferred) to 1 (always); a tie counts "
        "zero. Every comparison counts once for each of the two.",
    ),
    "correct": Metric("Share correct", "Share of correct answers; guessing gives one half."),
    "pick": Metric("Share ticked", "Share of the participants' answers in which this was ticked."),
}
_CLOSEST = Metric(
    "Closeness",
    "How often it was called closer to the reference, minus how often the other was, as a share of all its "
    "comparisons, from -1 (never closer) to 1 (always). Every comparison counts once for each of the two.",
)
_SHORT: Mapping[str, str] = {"ccr": "CCR", "ab": "AB", "abx": "ABX", "likert": "Likert"}
"""What a method is called in the name of a number, where that is not its own name."""
HEMVIP = "Jonell et al. (2021), HEMVIP, International Conference on Multimodal Interaction"
_P910 = "ITU-T P.910 (mean opinion score); ITU-T P.1401 (Student t)"
_SOURCES: Mapping[str, str] = {
    "acr": _P910, "acr-hr": _P910, "dcr": _P910, "ccr": _P910, "mushra": "ITU-R BS.1534 (MUSHRA)",
    "parallel": HEMVIP,
}  # fmt: skip


def source(method: str) -> str:
    """Return where a method's way to score comes from; nothing where it has no standard."""
    return _SOURCES.get(method, "")


def metric(method: str, kind: str) -> Metric:
    """Return what the mean of a condition is called under this method and kind of rating.

    The method is in the name; a table that does not tell its method has plain names.
    """
    if kind == "score" and method in _SCORES:
        return _SCORES[method]
    found = _CLOSEST if (method, kind) == ("abx", "choice") else _KINDS.get(kind, _KINDS["score"])
    if not method:
        return found
    # Abbreviations are written as in the Recommendations, DMOS(DCR); words have a space.
    space = "" if found.name.isupper() else " "
    return found._replace(name=f"{found.name}{space}({_SHORT.get(method, method)})")
