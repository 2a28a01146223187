"""reliability: how far people say the same of the same stimuli (reference: statistics 2.7, 6)."""

from __future__ import annotations

import pandas as pd

from beholder.analyse.models.votes import asked_votes, modelled_questions
from beholder.analyse.participants import FEWEST
from beholder.analyse.reliable import MOST_CROSSED, MOST_VOTES, Absent, Row, measures
from beholder.analyse.result import Result
from beholder.analyse.scales import ends_of
from beholder.analyse.table import Ratings, as_ratings

COLUMNS = ["question", "measure", "value", "low", "high", "p", "n", "participants", "stimuli", "note"]
_NOTE = (
    "Of all stimuli that were rated, references and anchors too; repetitions averaged; n: ratings it rests on. "
    "ICC(A,1): share of the variance of single ratings that is the stimuli's; ICC(C,1): the same, differences in the "
    "participants' mean level taken away; ICC(1,1): as if every rating came from somebody else; ICC(·,k): of the "
    "mean of k ratings, from the same by Spearman and Brown. Where everybody rated everything they come from mean "
    "squares, with the 95 % intervals of F (of ICC(A,·) after Satterthwaite); else from variance components, "
    f"participants and stimuli crossed, by REML (with more than {MOST_VOTES:,} ratings, or more than {MOST_CROSSED} of "
    "both, by moments), without intervals, k being the harmonic mean of the ratings of a stimulus. alpha: "
    "Krippendorff's, of stimuli with two ratings or more; SOS a: of SD² = a (mean - lowest) (highest - mean), SD over "
    "n - 1; both with a 95 % bootstrap over stimuli (percentiles). leave-one-out agreement: mean over participants of "
    f"Spearman's correlation with the mean of the others, {FEWEST} shared ratings or more, with 95 % Student t. "
    "Kendall's W: of participants who rated everything, corrected for ties, p by Friedman's chi-square."
)
_CITATION = (
    "McGraw and Wong (1996), Psychological Methods 1; Henderson (1953), Biometrics 9, and Yates (1934), "
    "Journal of the American Statistical Association 29 (moments); Krippendorff (2011), Computing "
    "Krippendorff's Alpha-Reliability; Hossfeld, Schatz and Egger (2011), QoMEX; Spearman (1904), American Journal of "
    "Psychology 15; Kendall and Babington Smith (1939), Annals of Mathematical Statistics 10"
)


def reliability(data: pd.DataFrame | Ratings) -> Result | None:
    """Return every measure of reliability by question; None where none can be had."""
    ratings = as_ratings(data)
    rows, told = [], []
    for question in modelled_questions(ratings):
        ends = ends_of(ratings, question)
        found = list(measures(asked_votes(ratings, question).votes, ends.low, ends.high))
        rows += [(question, *one) for one in found if isinstance(one, Row)]
        told += [f" {question}: no {one.measure}, as {one.why}." for one in found if isinstance(one, Absent)]
    return Result(pd.DataFrame(rows, columns=COLUMNS), _NOTE + "".join(told), _CITATION) if rows else None
