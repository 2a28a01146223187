"""sensitivity: the comparison of conditions once more under other choices of cleaning. Does any conclusion change?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple, TypeAlias

import pandas as pd

from beholder.analyse.correction import UNNAMED, is_clear
from beholder.analyse.criteria import rules_of
from beholder.analyse.pairs import pairs
from beholder.analyse.result import Result, records
from beholder.analyse.table import Ratings, as_ratings, tidy

COLUMNS = [
    "question", "choice", "rule", "participants", "ratings", "tested", "clear", "gained", "lost", "turned", "shift",
    "order", "changed", "note",
]  # fmt: skip
AS_CLEANED, NOBODY_OUT, UNMARKED = "as cleaned", "nobody left out", "unmarked only"
Pair: TypeAlias = tuple[str, str]
Compare: TypeAlias = Callable[[Ratings], Result]


class _Found(NamedTuple):
    """What a choice leads to, in one question."""

    clear: Mapping[Pair, bool]
    """Pairs with a clear difference, and whether the first is better."""
    tested: int
    means: Mapping[str, float]
    participants: int
    ratings: int


def sensitivity(data: pd.DataFrame | Ratings, compare: Compare = pairs) -> Result | None:
    """Return what other choices of cleaning would have found; None where nothing was left out and nobody is marked.

    The choices: nobody left out; each rule that cost something switched off; and only sessions that no rule says
    anything of.
    """
    ratings = as_ratings(data)
    uses = _choices(ratings)
    if len(uses) == 1:
        return None
    found = {choice: _conclusions(_again(ratings, use), compare) for choice, use in uses.items()}
    rows = []
    for question in ratings.questions:
        base = found[AS_CLEANED].get(question)
        if base is None:
            continue
        for choice in uses:
            rows.append((question, *_row(choice, base, found[choice].get(question))))
    note = (
        "The conditions compared once more under other choices of cleaning, by the same test and correction. gained: "
        "pairs that differ clearly under this choice only; lost: pairs that differ clearly as cleaned only; turned: "
        "pairs that differ clearly both ways, in opposite directions. shift: the largest change of a condition's mean. "
        "order: whether the means keep their order. A conclusion changes where anything is gained, lost or turned."
    )
    if ratings.rows["reasons"].str.contains("rater:", regex=False).any():
        note += " What the rule over raters left out stays out while another rule is switched off."
    return Result(pd.DataFrame(rows, columns=COLUMNS), note, "")


def _choices(ratings: Ratings) -> dict[str, pd.Series]:
    """Return for each choice which ratings it uses; what does not change what is used is no choice."""
    rows = ratings.rows
    uses = {AS_CLEANED: rows["use"], NOBODY_OUT: pd.Series(True, index=rows.index)}
    own = rows["reasons"].map({reasons: rules_of(reasons) for reasons in rows["reasons"].unique()})
    for rule in sorted({rule for rules in own[~rows["use"]] for rule in rules}):
        uses[f"without {rule}"] = rows["use"] | own.map(lambda rules, rule=rule: rules == {rule})
    if ratings.marks and "session" in rows:
        uses[UNMARKED] = rows["use"] & (rows["session"].map(ratings.marks).fillna("") == "")
    return {name: use for name, use in uses.items() if name == AS_CLEANED or not use.equals(rows["use"])}


def _again(ratings: Ratings, use: pd.Series) -> Ratings:
    """Return the ratings with another choice of what is used. Ticks have the name of their question already."""
    return tidy(ratings.rows.assign(use=use, unit=""), ratings.order)


def _conclusions(ratings: Ratings, compare: Compare) -> dict[str, _Found]:
    """Return what the comparison of conditions concludes, by question."""
    table = compare(ratings).table
    means = ratings.table.groupby(["question", "condition", "stimulus"])["value"].mean()
    means = means.groupby(["question", "condition"]).mean()
    found = {}
    for question in ratings.questions:
        own = table[table["question"] == question]
        clear = own[own["clear_by"].map(is_clear).astype(bool)]
        votes = ratings.votes[ratings.votes["question"] == question]
        found[question] = _Found(
            clear={(row["condition"], row["other_condition"]): row["mean_difference"] > 0 for row in records(clear)},
            tested=int((own["p"].notna() & ~own["note"].str.contains(UNNAMED, regex=False)).sum()),
            means={str(name): float(mean) for name, mean in means[question].items()},
            participants=votes["participant"].nunique(),
            ratings=int((ratings.kept["question"] == question).sum()),
        )
    return found


def _row(choice: str, base: _Found, other: _Found | None) -> tuple[object, ...]:
    rule = choice.removeprefix("without ") if choice.startswith("without ") else ""
    if other is None:
        return (choice, rule, 0, 0, 0, 0, 0, 0, 0, float("nan"), "", "", "no rating is left")
    both = base.clear.keys() & other.clear.keys()
    gained, lost = len(other.clear.keys() - both), len(base.clear.keys() - both)
    turned = sum(base.clear[pair] != other.clear[pair] for pair in both)
    shared = [name for name in base.means if name in other.means]
    shift = max((abs(other.means[name] - base.means[name]) for name in shared), default=float("nan"))
    is_kept = sorted(shared, key=base.means.__getitem__) == sorted(shared, key=other.means.__getitem__)
    return (
        choice, rule, other.participants, other.ratings, other.tested, len(other.clear), gained, lost, turned, shift,
        "kept" if is_kept else "changed", "yes" if gained or lost or turned else "no", "",
    )  # fmt: skip
