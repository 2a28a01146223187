"""What the mean of a condition is called, so that numbers of different kinds are never taken for the same."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


class Metric(NamedTuple):
    """The name of a number, and what it says."""

    name: str
    meaning: str


_MOS = Metric("MOS", "Mean opinion score: the mean of all votes.")
_SCORES: Mapping[str, Metric] = {
    "acr": _MOS,
    "acr-hr": Metric("MOS", "Mean opinion score of every condition, the hidden reference among them."),
    "dcr": Metric(
        "DMOS(DCR)", "Mean of the votes on how visible a change from the shown reference is; higher is less."
    ),
    "mushra": Metric("MUSHRA score", "Mean score, the hidden reference and the anchors among the conditions."),
    "likert": Metric(
        "Agreement", "Mean agreement with the statement, as answered: a reversed statement is not turned."
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
_P910 = "ITU-T P.910 (mean opinion score); ITU-T P.1401 (Student t)"
_SOURCES: Mapping[str, str] = {
    "acr": _P910, "acr-hr": _P910, "dcr": _P910, "ccr": _P910, "mushra": "ITU-R BS.1534 (MUSHRA)",
    "parallel": "Jonell et al. (2021), HEMVIP, International Conference on Multimodal Interaction (parallel)",
}  # fmt: skip


def source(method: str) -> str:
    """Return where a method's way to score comes from; nothing where it has no standard."""
    return _SOURCES.get(method, "")


def metric(method: str, kind: str) -> Metric:
    """Return what the mean of a condition is called under this method and kind of rating."""
    if (method, kind) == ("abx", "choice"):
        return _CLOSEST
    return _SCORES.get(method, _KINDS["score"]) if kind == "score" else _KINDS.get(kind, _KINDS["score"])
