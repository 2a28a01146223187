"""preferences: how often each of two was preferred (reference: statistics 5)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import stats

from beholder.analyse.comparing.question import asked
from beholder.analyse.comparing.tally import Tally, sums
from beholder.analyse.plots.preferences import preferences_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.clustered import Floats
from beholder.stats.holm import holm
from beholder.stats.interval import LEVEL, SHARES, share_bounds

COLUMNS = [
    "question", "condition", "other_condition", "n", "participants", "wins", "ties", "losses", "share", "exact_low",
    "exact_high", "p", "p_holm", "half_share", "ci_low", "ci_high", "note",
]  # fmt: skip


def preferences(data: pd.DataFrame | Ratings, *, from_grades: bool = False) -> Result | None:
    """Return wins, ties and losses of every two conditions that were compared, with exact and clustered intervals.

    With `from_grades` graded comparisons count too, by their sign alone. None where nothing was compared.
    """
    ratings = as_ratings(data)
    parts = [_pairs(one.question, one.tally) for one in asked(ratings, from_grades=from_grades)]
    if not parts:
        return None
    note = (
        "wins: how often condition was preferred to other_condition. share: wins among wins and losses, ties left out, "
        "with Clopper and Pearson's exact 95 % interval and the exact two-sided binomial p against one half "
        "(p_holm: Holm's correction over the pairs of a question); they take every comparison as independent, which "
        "is too sure where one person compared the two more than once. half_share: a tie counts as half a win; its "
        "interval (ci_low, ci_high) is Korn and Graubard's, clustered by participant, and is the one to report. pairs "
        "holds the test that knows who is who."
    )
    if from_grades:
        note += " Of grades only the sign counts."
    citation = f"{SHARES}; Holm (1979), Scandinavian Journal of Statistics 6"
    return Result(pd.concat(parts, ignore_index=True), note, citation, preferences_chart)


def _pairs(question: str, tally: Tally) -> pd.DataFrame:
    """Return all pairs of a question that were compared."""
    names = np.array(tally.names, dtype=object)
    _, first, pair = np.unique(tally.one * len(names) + tally.other, return_index=True, return_inverse=True)
    wins, ties, losses = (sums(pair, each) for each in (tally.wins, tally.ties, tally.losses))
    n, decided = wins + ties + losses, wins + losses
    half = (wins + ties / 2) / n
    # How far each person pulls the share away from where it is.
    everybody = int(tally.person.max()) + 1
    cell, row = np.unique(pair * everybody + tally.person, return_inverse=True)
    pulls = sums(row, tally.wins + tally.ties / 2 - half[pair] * tally.n)
    people = np.bincount(cell // everybody)
    spread = sums(cell // everybody, pulls**2) * people / np.maximum(1, people - 1)
    se = np.where(people > 1, np.sqrt(spread) / n, np.nan)
    ends = share_bounds(half, se, people - 1, people, n)
    p = np.where(decided > 0, np.minimum(1, 2 * stats.binom.cdf(np.minimum(wins, losses), decided, 0.5)), np.nan)
    low, high = _exact(wins, losses)
    return pd.DataFrame(
        {
            "question": question,
            "condition": names[tally.one[first]],
            "other_condition": names[tally.other[first]],
            "n": n.astype(int),
            "participants": people,
            "wins": wins.astype(int),
            "ties": ties.astype(int),
            "losses": losses.astype(int),
            "share": np.where(decided > 0, wins / np.maximum(1, decided), np.nan),
            "exact_low": low,
            "exact_high": high,
            "p": p,
            "p_holm": holm(p),
            "half_share": half,
            "ci_low": ends.low,
            "ci_high": ends.high,
            "note": [_note(*one) for one in zip(decided.tolist(), people.tolist(), strict=True)],
        },
        columns=COLUMNS,
    )


def _exact(wins: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's interval of each share of wins; NaN where there is neither win nor loss."""
    tail = (1 - LEVEL) / 2
    low = np.where(wins > 0, stats.beta.ppf(tail, np.maximum(wins, 1), losses + 1), 0.0)
    high = np.where(losses > 0, stats.beta.ppf(1 - tail, wins + 1, np.maximum(losses, 1)), 1.0)
    is_none = wins + losses == 0
    return np.where(is_none, np.nan, low), np.where(is_none, np.nan, high)


def _note(decided: float, people: int) -> str:
    notes = ["every comparison was a tie"] * (decided == 0) + ["one participant: no interval"] * (people == 1)
    return "; ".join(notes)
