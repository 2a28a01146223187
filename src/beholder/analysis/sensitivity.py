"""sensitivity, rating_rules and criteria: conclusions and scores under other choices of cleaning, and the scores of
sessions that failed a rule.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    NOTE,
    PARTICIPANTS,
    QUESTION,
    RATINGS_N,
    THEIR_STIMULI,
)
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.failures import CITATION, ERRORS, PER_STIMULUS, RATINGS, group_sizes
from beholder.analysis.means import conditions
from beholder.analysis.ratings import Ratings, as_ratings, ratings_of, with_use
from beholder.analysis.reasons import failed_reasons
from beholder.analysis.result import Result
from beholder.analysis.tests import conclusions_of, is_clear
from beholder.stats.correlation import ScoreAgreement, agreement

AS_CLEANED, NOBODY_OUT, UNMARKED = "as cleaned", "nobody left out", "unmarked only"
_Pair: TypeAlias = tuple[str, str]


class _CleaningVariant(NamedTuple):
    """What a choice leads to, in one question."""

    clear: Mapping[_Pair, bool]
    """Pairs with a clear difference, and whether the first is better."""
    tested: int
    means: Mapping[str, float]
    participants: int
    ratings: int


def sensitivity(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the conclusions under other choices of cleaning; None where all ratings are used and no session is marked.

    The choices: all ratings; each rule that excluded something switched off; each rule over ratings that is only noted
    switched on; and only sessions without any reason.
    """
    ratings = as_ratings(data)
    uses = _choices(ratings)
    if len(uses) == 1:
        return None
    conclusions = {choice: _conclusions(_chosen(ratings, choice, use)) for choice, use in uses.items()}
    rows = []
    for question in ratings.questions:
        base = conclusions[AS_CLEANED].get(question)
        if base is None:
            continue
        for choice in uses:
            rows.append((question, *_row(choice, base, conclusions[choice].get(question))))
    note = (
        "The conditions compared once more under other choices of cleaning, by the same test and correction. gained: "
        "pairs that differ clearly under this choice only; lost: pairs that differ clearly as cleaned only; turned: "
        "pairs that differ clearly both ways, in opposite directions. shift: the largest change of a condition's mean. "
        "order: whether the means keep their order. A conclusion changes where anything is gained, lost or turned."
    )
    if ratings.rows["reasons"].str.contains("rater:", regex=False).any():
        note += " What the rule over raters left out stays out while another rule is switched off."
    return SENSITIVITY.result(pd.DataFrame(rows, columns=SENSITIVITY.names), note)


_MEAN = Column("mean", "number", "Mean of the condition, contents weighing the same.")
SENSITIVITY = Analysis(
    "sensitivity",
    sensitivity,
    (
        QUESTION,
        Column("choice", "text", "The other choice of cleaning, such as `nobody left out`."),
        Column("rule", "text", "The rule that is switched off or on; empty where the choice is not of one."),
        PARTICIPANTS, RATINGS,
        Column("tested", "integer", "Pairs of conditions that are tested."),
        Column("clear", "integer", "Pairs that differ clearly."),
        Column("gained", "integer", "Pairs that differ clearly under this choice only."),
        Column("lost", "integer", "Pairs that differ clearly as cleaned only."),
        Column("turned", "integer", "Pairs that differ clearly both ways, in opposite directions."),
        Column("shift", "number", "The largest change of a condition's mean."),
        Column("order", "text", "Whether the means keep their order.", ("kept", "changed")),
        Column("changed", "text", "Whether a conclusion changes.", ("yes", "no")),
        NOTE,
    ),
    row="question and other choice of cleaning",
    holds="whether the conclusions would be the same",
    order=27,
    apart="sensitivity",
)  # fmt: skip


def _choices(ratings: Ratings) -> dict[str, pd.Series]:
    """Return for each choice which ratings it uses; what does not change what is used is no choice."""
    rows = ratings.rows
    uses = {AS_CLEANED: rows["use"], NOBODY_OUT: pd.Series(True, index=rows.index)}
    own = failed_reasons(ratings)
    for rule in own.rules_among(~rows["use"].to_numpy(bool)):
        uses[f"without {rule}"] = rows["use"] | own.has_rule(rule, only=True)
    uses |= {f"with {rule}": use.applied for rule, use in _rating_rule_uses(ratings).items()}
    if ratings.session_reasons and "session" in rows:
        unmarked = rows["use"] & ~rows["session"].isin([name for name, why in ratings.session_reasons.items() if why])
        if not any(unmarked.equals(use) for use in uses.values()):
            uses[UNMARKED] = unmarked
    return {name: use for name, use in uses.items() if name == AS_CLEANED or not use.equals(rows["use"])}


def _chosen(ratings: Ratings, choice: str, use: pd.Series) -> Ratings:
    """Return the ratings of a choice; as cleaned they are compared already, unless earlier looks correct them."""
    is_known = choice == AS_CLEANED and ratings.look is None and not ratings.order.looks
    return ratings if is_known else with_use(ratings, use)


def _conclusions(ratings: Ratings) -> dict[str, _CleaningVariant]:
    """Return what the comparison of conditions concludes, by question."""
    concluded = conclusions_of(ratings)
    means = ratings.table.groupby(["question", "condition", "stimulus"])["value"].mean()
    means = means.groupby(["question", "condition"]).mean()
    conclusions, claim = {}, ratings.order.settings.claim
    for question in ratings.questions:
        own = [one for one in concluded if one.question == question]
        clear = [one for one in own if is_clear(one.verdict, claim)]
        votes = ratings.votes[ratings.votes["question"] == question]
        conclusions[question] = _CleaningVariant(
            clear={(one.condition, one.other_condition): one.difference > 0 for one in clear},
            tested=sum(one.is_tested for one in own),
            means={str(name): float(mean) for name, mean in means[question].items()},
            participants=votes["participant"].nunique(),
            ratings=int((ratings.used["question"] == question).sum()),
        )
    return conclusions


def _row(choice: str, base: _CleaningVariant, other: _CleaningVariant | None) -> tuple[object, ...]:
    rule = choice.partition(" ")[2] if choice.startswith(("without ", "with ")) else ""
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


# rating_rules: scores with and without the rules that judge people by how they rate the stimuli under test


class _RuleUse(NamedTuple):
    """Which ratings are used where a rule costs the use, and where it does not."""

    applied: pd.Series
    without: pd.Series


def _rating_rule_uses(ratings: Ratings) -> dict[str, _RuleUse]:
    """Return what is used with and without each rule over ratings, where that differs."""
    return ratings.cached("rating rule uses", lambda: _uses_by_rating_rule(ratings))


def _uses_by_rating_rule(ratings: Ratings) -> dict[str, _RuleUse]:
    from beholder.checks.registry import rules_over_ratings

    rows, failed, excluded = ratings.rows, failed_reasons(ratings, ratings.session_reasons), failed_reasons(ratings)
    uses = {}
    for rule in sorted({*failed.rules_among()} & rules_over_ratings()):
        has_failed = failed.has_rule(rule)
        is_alone = excluded.has_rule(rule, only=True)
        uses[rule] = _RuleUse(rows["use"] & ~has_failed, rows["use"] | is_alone)
    return {rule: use for rule, use in uses.items() if not use.applied.equals(use.without)}


def rating_rules(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition with and without each rule over ratings that matters; None without any.

    Such a rule leaves people out by what is measured: where conditions are alike, nobody can agree with the others on
    them, and those who happen to do so stay.
    """
    ratings = as_ratings(data)
    tables = []
    for rule, rule_use in _rating_rule_uses(ratings).items():
        for choice, use in (("with", rule_use.applied), ("without", rule_use.without)):
            is_as_cleaned = use.equals(ratings.rows["use"])
            means = conditions(with_use(ratings, use)).table
            tables.append(means.assign(rule=rule, choice=choice, as_cleaned="yes" if is_as_cleaned else "no"))
    if not tables:
        return None
    note = (
        "The scores with and without each rule that judges people by how they rate the stimuli under test, such as "
        "agreement with the others. Where conditions are alike, such a rule leaves out honest people and makes chance "
        "look like agreement: in simulations 5 to 10 % of such pairs then differ clearly beyond these contents, and 10 "
        "to 28 % on them, where 5 % are promised. So it is only noted unless the study says otherwise. Means and "
        "intervals as in conditions."
    )
    return RATING_RULES.result(pd.concat(tables, ignore_index=True)[RATING_RULES.names], note)


RATING_RULES = Analysis(
    "rating_rules",
    rating_rules,
    (
        QUESTION, CONDITION,
        Column("rule", "text", "The rule that judges people by how they rate the stimuli under test."),
        Column("choice", "text", "Whether those who failed it are left out.", ("with", "without")),
        Column("as_cleaned", "text", "Whether the study is analysed so.", ("yes", "no")),
        PARTICIPANTS, RATINGS_N,
        _MEAN,
        CI_LOW, CI_HIGH,
    ),
    row="condition, rule over ratings, and whether it costs the use",
    holds="mean with interval",
    order=31,
    apart="rules",
)  # fmt: skip


# criteria: the scores of sessions that failed a rule, against the used scores (as in P.910's Tables V to VII)


_SEED = 1
"""Of the draws of used participants."""
PASSED = "used"
"""The name of the scores with which all others are compared."""
_DRAWS = 20
_MEASURES = 6
"""Measures of agreement, which the used scores have not with themselves."""
_NOTE = (
    "Mean of each stimulus by the ratings of sessions that failed a rule, whatever else they failed, held against the "
    "mean by the used ratings of others: Pearson's and Spearman's correlation over stimuli, root mean square error, "
    "and the same after a straight line (first-order mapping). expected: what as many used participants, drawn at "
    f"random {_DRAWS} times, reach against the rest of them; with few ratings even good ones are off."
)


def criteria(data: pd.DataFrame | Ratings) -> Result | None:
    """Return for each rule the agreement of its failed sessions with the used scores; None if no session failed."""
    ratings = as_ratings(data)
    failed = _ratings_by_failed_rule(ratings)
    if not failed:
        return None
    rng = np.random.default_rng(_SEED)
    rows = []
    for question in ratings.questions:
        own = ratings.table[ratings.table["question"] == question]
        rows.append((question, PASSED, *group_sizes(ratings, question), *(float("nan"),) * _MEASURES))
        for rule, group in failed.items():
            failed_table = group.table[group.table["question"] == question]
            if len(failed_table):
                agreed = _agreement_with_others(failed_table, own)
                expected = _expected(own, failed_table["participant"].nunique(), rng)
                measures = (agreed.pearson, agreed.spearman, agreed.rmse, agreed.rmse_mapped, *expected)
                rows.append((question, rule, *group_sizes(group, question), *measures))
    return CRITERIA.result(pd.DataFrame(rows, columns=CRITERIA.names), _NOTE)


_CRITERION = Column("criterion", "text", "The rule that sessions failed; `used` is of all that are analysed.")
CRITERIA = Analysis(
    "criteria",
    criteria,
    (
        QUESTION, _CRITERION,
        Column("sessions", "integer", "How many sessions failed it."),
        PARTICIPANTS, RATINGS,
        THEIR_STIMULI,
        PER_STIMULUS,
        Column("pearson", "number", "Correlation over stimuli with the scores of the others."),
        *ERRORS,
        Column("expected_pearson", "number", "Correlation that as many used participants reach with the rest."),
        Column("expected_rmse", "number", "Root mean square difference that as many used participants reach."),
    ),
    row="rule that sessions failed, and question",
    holds="how far their scores agree with the used ones",
    citation=CITATION,
    order=28,
    apart="failed",
)  # fmt: skip


def criteria_scores(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition by the sessions that failed each rule, and the used mean; None without any."""
    ratings = as_ratings(data)
    failed = _ratings_by_failed_rule(ratings)
    if not failed:
        return None
    tables = []
    for rule, group in {PASSED: ratings, **failed}.items():
        stimuli = group.table.groupby(["question", "condition", "stimulus"])["value"].mean()
        means = stimuli.groupby(["question", "condition"]).mean().rename("mean").reset_index()
        sizes = group.table.groupby(["question", "condition"])["participant"].agg(n="size", participants="nunique")
        tables.append(means.merge(sizes.reset_index(), on=["question", "condition"]).assign(criterion=rule))
    table = pd.concat(tables, ignore_index=True)[CRITERIA_SCORES.names]
    for column, names in (("condition", ratings.conditions), ("question", ratings.questions)):
        rank = {name: place for place, name in enumerate(names)}
        table = table.iloc[np.argsort(table[column].map(rank).to_numpy(dtype=float), kind="stable")]
    table = table.reset_index(drop=True)
    note = "Mean of every condition, contents weighing the same, by the ratings of sessions that failed each rule."
    return CRITERIA_SCORES.result(table, note)


CRITERIA_SCORES = Analysis(
    "criteria_scores",
    criteria_scores,
    (
        QUESTION, CONDITION, _CRITERION,
        RATINGS_N,
        PARTICIPANTS,
        _MEAN,
    ),
    row="condition, rule that sessions failed, and question",
    holds="the mean by their ratings",
    citation=CITATION,
    order=29,
    apart="failed",
)  # fmt: skip


def _ratings_by_failed_rule(ratings: Ratings) -> dict[str, Ratings]:
    """Return for each rule the ratings of those who failed it, whether or not it cost them anything.

    What is only recorded is no reason of a session, and counts here as well.
    """
    return ratings.cached("ratings by failed rule", lambda: _failed_groups(ratings))


def _failed_groups(ratings: Ratings) -> dict[str, Ratings]:
    failed = failed_reasons(ratings, ratings.session_reasons, ratings.session_failures)
    groups = {}
    for rule in failed.rules_among():
        group = ratings_of(ratings, failed.has_rule(rule))
        if len(group.used):
            groups[rule] = group
    return groups


def _agreement_with_others(failed_table: pd.DataFrame, own: pd.DataFrame) -> ScoreAgreement:
    """Return how far the stimulus means of some agree with those of the others among the used."""
    others = own[~own["participant"].isin(failed_table["participant"].unique())]
    means = [table.groupby("stimulus")["value"].mean() for table in (failed_table, others)]
    both = pd.concat(means, axis=1, join="inner", keys=["theirs", "others"])
    return agreement(both["theirs"], both["others"])


def _expected(own: pd.DataFrame, people: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return which correlation and error as many used participants reach against the rest; NaN with too few."""
    participant, everybody = pd.factorize(own["participant"])
    if len(everybody) < 2 * people:
        return float("nan"), float("nan")
    stimulus, value = pd.factorize(own["stimulus"])[0], own["value"].to_numpy(dtype=float)
    agreements = []
    for _ in range(_DRAWS):
        is_drawn = np.zeros(len(everybody), dtype=bool)
        is_drawn[rng.choice(len(everybody), people, replace=False)] = True
        sides = []
        for side in (is_drawn[participant], ~is_drawn[participant]):
            n = np.bincount(stimulus, weights=side)
            sides.append((n, np.bincount(stimulus, weights=side * value) / np.maximum(n, 1)))
        (n, means), (others_n, others) = sides
        is_shared = (n > 0) & (others_n > 0)
        agreements.append(agreement(means[is_shared], others[is_shared]))
    pearson = [one.pearson for one in agreements if one.pearson == one.pearson]
    return (float(np.mean(pearson)) if pearson else float("nan")), float(np.mean([one.rmse for one in agreements]))
