"""What the tables of means say about themselves: unit, weights, intervals, signs, sources."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.analyse.table import Ratings
from beholder.stats.clustered import CITATION as CLUSTERED
from beholder.stats.clustered import Over
from beholder.stats.interval import SHARES, STUDENT, is_share

_ERRORS: Mapping[str, str] = {
    "both": (
        "with an error clustered by participant and by content, so that it generalises over both (t with the smaller "
        "number of the two minus one degrees of freedom; over participants only where there is one content)"
    ),
    "participants": "with an error over participants (their number minus one degrees of freedom), all else fixed",
}
_NARROWER: Mapping[str, str] = {
    "both": (
        " Other kinds are named by what they generalise over: participants_ (contents fixed), contents_ "
        "(participants fixed), ratings_ (as if no two ratings shared a participant or a content: too narrow, for "
        "comparison only)."
    ),
    "participants": (
        " ratings_ is the interval as if no two ratings shared a participant: too narrow, for comparison only."
    ),
}


def unit_note(ratings: Ratings, equal: str, over: Over) -> str:
    """Return what n, mean and intervals stand for, where every `equal` weighs the same."""
    return (
        f"n counts ratings. In the mean every {equal} weighs the same, and within it every participant. The interval "
        f"is {_interval(ratings)} {_ERRORS[over]}.{_NARROWER[over]} sd, median and quartiles are over ratings. With "
        "one participant there is no interval."
    )


def _interval(ratings: Ratings) -> str:
    """Return which interval the means have."""
    t = "95 % Student t"
    shares = (
        "Korn and Graubard's (Clopper and Pearson's exact 95 % interval with the number of ratings cut to what they "
        "are worth, as the ratings of one participant, and of one content, are alike)"
    )
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    return f"{t}, and for shares and preferences {shares}," if len(kinds) == 2 else shares if True in kinds else t


def interval_citation(ratings: Ratings, over: Over) -> str:
    """Return where the intervals come from."""
    kinds = {is_share(kind) for kind in ratings.kinds.values()}
    clustered = [CLUSTERED] * (over == "both" and bool(kinds))
    return "; ".join([STUDENT] * (False in kinds) + [SHARES] * (True in kinds) + clustered)


def kind_note(ratings: Ratings) -> str:
    """Return what the mean is where ratings are not plain scores."""
    kinds = set(ratings.kinds.values())
    mirrored = any(ratings.is_mirrored(question) for question in ratings.questions)
    against = "diff" in kinds and not all(
        ratings.is_mirrored(question) for question, kind in ratings.kinds.items() if kind == "diff"
    )
    notes = {
        " Grades against the reference are signed so that above zero the condition is better than the reference, "
        "which itself has no row.": against,
        " A comparison of two conditions counts once for each of them, with opposite signs, so that the means order "
        "them; they depend on which others each was compared with, and n counts comparisons.": mirrored,
        " Of correct answers the mean is the share, and chance is 0.5.": "correct" in kinds,
        " Of what was ticked the mean is the share in which it was; each tick is told as a question of its own.": (
            "pick" in kinds
        ),
    }
    return "".join(note for note, applies in notes.items() if applies)


def sign_note(ratings: Ratings) -> str:
    """Return what the sign of a comparison means where it counts once."""
    if not any(ratings.is_mirrored(question) for question in ratings.questions):
        return ""
    return (
        " A comparison of two conditions counts once, with the sign of the condition that stands first in the study: "
        "above zero the earlier ones were preferred."
    )
