"""criteria: the scores by those who failed a rule, beside the scores that are used (as in P.910's Tables V to VII)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings, tidy
from beholder.stats.correlation import Agreement, agreement

SEED = 1
"""Of the draws of used participants."""
PASSED = "used"
"""What the scores are called that all others are held against."""
_DRAWS = 20
_CITATION = "Naderi and Cutler, A crowdsourcing approach to video quality assessment"
_SIZES = ["question", "criterion", "sessions", "participants", "ratings", "stimuli", "per_stimulus"]
_AGREEMENT = ["pearson", "spearman", "rmse", "rmse_mapped", "expected_pearson", "expected_rmse"]
_NOTE = (
    "Mean of each stimulus by the ratings of sessions that failed a rule, whatever else they failed, held against the "
    "mean by the used ratings of others: Pearson's and Spearman's correlation over stimuli, root mean square error, "
    "and the same after a straight line (first-order mapping). expected: what as many used participants, drawn at "
    f"random {_DRAWS} times, reach against the rest of them; with few ratings even good ones are off."
)


def criteria(data: pd.DataFrame | Ratings) -> Result | None:
    """Return for each rule how the scores by those who failed it agree with the used ones; None where nobody did."""
    ratings = as_ratings(data)
    failed = _failed(ratings)
    if not failed:
        return None
    rng = np.random.default_rng(SEED)
    rows = []
    for question in ratings.questions:
        own = ratings.table[ratings.table["question"] == question]
        rows.append((question, PASSED, *_sizes(ratings, question), *(float("nan"),) * len(_AGREEMENT)))
        for rule, group in failed.items():
            theirs = group.table[group.table["question"] == question]
            if len(theirs):
                found = _held_against(theirs, own)
                expected = _expected(own, theirs["participant"].nunique(), rng)
                told = (found.pearson, found.spearman, found.rmse, found.rmse_mapped, *expected)
                rows.append((question, rule, *_sizes(group, question), *told))
    return Result(pd.DataFrame(rows, columns=[*_SIZES, *_AGREEMENT]), _NOTE, _CITATION)


def criteria_scores(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition by those who failed each rule, beside the used one; None where nobody did."""
    ratings = as_ratings(data)
    failed = _failed(ratings)
    if not failed:
        return None
    tables = []
    for rule, group in {PASSED: ratings, **failed}.items():
        stimuli = group.table.groupby(["question", "condition", "stimulus"])["value"].mean()
        means = stimuli.groupby(["question", "condition"]).mean().rename("mean").reset_index()
        sizes = group.table.groupby(["question", "condition"])["participant"].agg(n="size", participants="nunique")
        tables.append(means.merge(sizes.reset_index(), on=["question", "condition"]).assign(criterion=rule))
    table = pd.concat(tables, ignore_index=True)[["question", "condition", "criterion", "n", "participants", "mean"]]
    for column, names in (("condition", ratings.conditions), ("question", ratings.questions)):
        rank = {name: place for place, name in enumerate(names)}
        table = table.iloc[np.argsort(table[column].map(rank).to_numpy(dtype=float), kind="stable")]
    table = table.reset_index(drop=True)
    note = "Mean of every condition, contents weighing the same, by the ratings of sessions that failed each rule."
    return Result(table, note, _CITATION)


def rules_of(reasons: str) -> frozenset[str]:
    """Return the rules in `check:reason; check:reason`."""
    return frozenset(reason.partition(":")[0] for reason in reasons.split("; ") if reason)


def _failed(ratings: Ratings) -> dict[str, Ratings]:
    """Return for each rule the ratings of those who failed it, whether or not it cost them anything."""
    rows = ratings.rows
    reasons = rows["reasons"]
    if ratings.marks and "session" in rows:
        reasons = reasons + "; " + rows["session"].map(ratings.marks).fillna("")
    own = reasons.map({text: rules_of(text) for text in reasons.unique()})
    found = {}
    for rule in sorted({rule for rules in set(own) for rule in rules}):
        group = tidy(rows[[rule in rules for rules in own]].assign(use=True, unit=""), ratings.order)
        if len(group.kept):
            found[rule] = group
    return found


def _sizes(ratings: Ratings, question: str) -> tuple[float, ...]:
    """Return sessions, participants, ratings, stimuli, and participants per stimulus, of one question."""
    own = ratings.kept[ratings.kept["question"] == question]
    table = ratings.table[ratings.table["question"] == question]
    stimuli = table["stimulus"].nunique()
    sessions = own["session"].nunique() if "session" in own else own["participant"].nunique()
    return sessions, own["participant"].nunique(), len(own), stimuli, len(table) / stimuli if stimuli else 0.0


def _held_against(theirs: pd.DataFrame, own: pd.DataFrame) -> Agreement:
    """Return how far the stimulus means of some agree with those of the others among the used."""
    others = own[~own["participant"].isin(set(theirs["participant"]))]
    means = [table.groupby("stimulus")["value"].mean() for table in (theirs, others)]
    both = pd.concat(means, axis=1, join="inner", keys=["theirs", "others"])
    return agreement(both["theirs"], both["others"])


def _expected(own: pd.DataFrame, people: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return which correlation and error as many used participants reach against the rest; NaN with too few."""
    participant, everybody = pd.factorize(own["participant"])
    if len(everybody) < 2 * people:
        return float("nan"), float("nan")
    stimulus, value = pd.factorize(own["stimulus"])[0], own["value"].to_numpy(dtype=float)
    found = []
    for _ in range(_DRAWS):
        is_drawn = np.zeros(len(everybody), dtype=bool)
        is_drawn[rng.choice(len(everybody), people, replace=False)] = True
        sides = []
        for side in (is_drawn[participant], ~is_drawn[participant]):
            n = np.bincount(stimulus, weights=side)
            sides.append((n, np.bincount(stimulus, weights=side * value) / np.maximum(n, 1)))
        (n, means), (others_n, others) = sides
        is_shared = (n > 0) & (others_n > 0)
        found.append(agreement(means[is_shared], others[is_shared]))
    pearson = [one.pearson for one in found if one.pearson == one.pearson]
    return (float(np.mean(pearson)) if pearson else float("nan")), float(np.mean([one.rmse for one in found]))
