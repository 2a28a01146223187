"""pairs, position and preferences: the differences of every two conditions (reference: statistics 2.5, 4.2, 5)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import scipy

from beholder.analysis.columns import (
    CI_HIGH,
    CI_LOW,
    CONDITION,
    CONTENTS,
    DF,
    NOTE,
    OTHER_CONDITION,
    P_HOLM,
    PAGES_N,
    PARTICIPANTS,
    QUESTION,
    STANDARD_ERROR,
    STATISTIC,
    THESE_HIGH,
    THESE_LOW,
    THESE_P,
    THESE_P_HOLM,
    TIES,
    VERDICT,
    P,
    bounds,
)
from beholder.analysis.comparisons import Tally, sum_by_code
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, Pair, VoteMean, vote_mean
from beholder.analysis.figures.pairs import pairs_chart, preferences_chart
from beholder.analysis.means import average_by, codes_of
from beholder.analysis.ratings import COMPARISONS, Ratings, as_ratings, orient_comparisons, tidy
from beholder.analysis.result import Result, records
from beholder.analysis.strengths import compared_questions
from beholder.analysis.tests import TESTS, Family, corrected_tests, family_note, verdict
from beholder.formats import percent
from beholder.stats.additive import CITATION as CLUSTERED
from beholder.stats.clustered import Cells, Floats
from beholder.stats.intervals import EFFECT_CITATION as EFFECT
from beholder.stats.intervals import LEVEL, STUDENT_CITATION, dz
from beholder.stats.sequential import ANYTIME_CITATION, SPENDING_CITATION
from beholder.stats.tests import HOLM_CITATION as HOLM
from beholder.stats.tests import Zeros

_CHANCE = "Correct answers are held against chance, not against each other, and have no pairs."


def pairs(
    data: pd.DataFrame | Ratings,
    *,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
    zeros: Zeros = "pratt",
) -> Result:
    """Return the difference of every two conditions with its interval, test and size.

    `contrasts` and `family` are those of the study when left out; `zeros` is the rule of the Wilcoxon test in clear_by.
    """
    ratings = as_ratings(data)
    corrected = corrected_tests(ratings, contrasts, family, zeros)
    by_contrast = [corrected.table[place :: len(TESTS)].reset_index(drop=True) for place in range(len(TESTS))]
    clear = pd.DataFrame({name: rows["clear"] == 1 for name, rows in zip(TESTS, by_contrast, strict=True)})
    rows = [
        _row(one, tests, "; ".join(name for name in TESTS if agrees[name]), ratings.level)
        for one, tests, agrees in zip(corrected.contrasts, records(by_contrast[0]), records(clear), strict=True)
    ]
    table = pd.DataFrame(rows, columns=PAIRS.names)
    note = _note(ratings, family_note(ratings, contrasts, family)) + ratings.look_note
    return PAIRS.result(table, note, _citation(ratings, table))


PAIRS = Analysis(
    "pairs",
    pairs,
    (
        QUESTION, CONDITION, OTHER_CONDITION,
        Column("comparison", "text", "Rated by the same people, by different people, or compared in one vote.",
               ("within", "between", "direct")),
        PAGES_N,
        PARTICIPANTS, CONTENTS,
        Column("mean_difference", "number", "The first minus the second; above zero the first is better."),
        STANDARD_ERROR,
        DF, CI_LOW, CI_HIGH,
        STATISTIC,
        P, P_HOLM, THESE_LOW, THESE_HIGH, THESE_P, THESE_P_HOLM,
        VERDICT,
        Column("test", "text", "Name of the test that p is of."),
        Column(
            "effect", "number",
            "Of people with these contents: mean over participants of their own differences, in standard deviations of "
            "these (dz).",
        ),
        *bounds("effect", "its 95 % interval"),
        Column("clear_by", "text", "By which tests of tests.csv it is clear, with `; ` between."),
        NOTE,
    ),
    row="pair of conditions and question",
    holds="difference with interval, test, p, p after Holm's correction, and size",
    citation="; ".join([CLUSTERED, HOLM, EFFECT, SPENDING_CITATION, ANYTIME_CITATION]),
    draw=pairs_chart,
    order=4,
    holds_at_looks=True,
)  # fmt: skip


def _row(one: Contrast, clustered: dict[str, Any], clear_by: str, level: float) -> tuple[object, ...]:
    estimate, effect = one.estimate, dz(one.by_participant, level)
    return (
        one.question, one.condition, one.other_condition, one.comparison, estimate.n, estimate.participants,
        estimate.contents, estimate.mean, estimate.se, estimate.df, estimate.low, estimate.high, estimate.statistic,
        estimate.p, clustered["p_holm"], one.these.low, one.these.high, one.these.p, clustered["these_p_holm"],
        verdict(float(clustered["clear"]), float(clustered["these_clear"])), clustered["test"], *effect, clear_by,
        clustered["note"],
    )  # fmt: skip


def _note(ratings: Ratings, family: str) -> str:
    kinds = set(ratings.kinds.values())
    if kinds == {"correct"}:
        return _CHANCE
    from_all = (
        "condition minus other_condition, from all ratings (n counts pages of either: one participant and one "
        "content): additive least squares of participant, content and condition."
    )
    if kinds == {"choice"}:
        from_all = (
            "How often condition was chosen minus how often other_condition was, as a share of the votes in which "
            "the two met (n counts pages: one participant and one content)."
        )
    note = (
        f"{from_all} Its variance has a part of people and "
        "a part of contents, each clustered, corrected for what fitting took, moderated over the pairs of the question "
        "and never below that of single pages; t has Satterthwaite's degrees of freedom. ci_low, ci_high, p and p_holm "
        "are for people and contents like these (over participants only where there is one content); these_low, "
        "these_high, these_p and these_p_holm for people like these with these contents. within: people are their own "
        "control; between: different people rated the two. Conditions without a common content are not tested. "
        f"Two-sided. {family} The intervals are not corrected for the number of pairs, and are cut at the ends of the "
        "scale. effect: of people with these contents, the mean over participants of their own differences, in "
        "standard deviations of these (dz), with an exact noncentral t interval; it says nothing about other contents, "
        "and where people rated different contents it is not adjusted for that, unlike mean_difference. "
        "verdict: whether p_holm, or these_p_holm alone, is below 0.05 (p, of an anchor or the hidden reference that "
        "is not corrected for); clear_by: by which of the tests in tests the difference is clear after correction. A "
        "difference of zero has no direction and is not called clear. Where ratings are missing, a difference can "
        "point the other way than the two means, which are not adjusted for who rated what."
    )
    if not kinds.isdisjoint(COMPARISONS):
        note += (
            " direct: two conditions were compared with each other, and the difference is the mean of these "
            "comparisons, every content weighing the same, above zero where the condition was better; conditions that "
            "were compared with the same reference only differ as they differ from it."
        )
    return f"{note} {_CHANCE}" if "correct" in kinds else note


def _citation(ratings: Ratings, table: pd.DataFrame) -> str:
    """Return the sources of what was computed."""
    sources = [CLUSTERED] if table["p"].notna().any() or table["these_p"].notna().any() else []
    sources += [HOLM] if table["p_holm"].notna().any() else []
    sources += [EFFECT] if table["effect"].notna().any() else []
    sources += [ratings.look.citation] if ratings.look is not None else []
    return "; ".join(sources)


# position: preference for the second, or right, of two (reference: statistics 2.5)


_UNEVEN = 0.1
"""How far from one half the share of orders may be before a place can be mistaken for a quality."""


def position(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how far comparisons lean to the second, or right, stimulus; None where nothing was compared in an order.

    It looks at `raw_value`, which is above zero where the second was called better, whatever it was.
    """
    ratings = as_ratings(data)
    if "raw_value" not in ratings.used:
        return None
    kept = ratings.used[ratings.used["question"].map(ratings.kinds).isin(COMPARISONS)]
    kept = kept[kept["raw_value"].notna() & (kept["other_condition"] != "")]
    kept = orient_comparisons(kept, ratings.conditions, ratings.order.references)
    groups = {str(name): part for name, part in kept.groupby("question", sort=False, observed=True)}
    rows = [(name, *_position_row(ratings, name, groups[name])) for name in ratings.questions if name in groups]
    if not rows:
        return None
    note = (
        "mean: of what was answered as seen, above zero where the second, or right, one was called better, with "
        "interval and test against zero as in pairs: ci_low, ci_high and p for people and contents like these, these_ "
        "for people with these contents. Over balanced orders it is zero but for chance. first, ties, second: how "
        "often each was called better. second_share: of the second, a tie being half, every content weighing the same; "
        "its interval is for people with these contents. balance: the share of comparisons without a tie in which the "
        "condition that stands first in the study, or the one that was held against the reference, was the second; "
        "away from one half, place and quality are not told apart."
    )
    return POSITION.result(pd.DataFrame(rows, columns=POSITION.names), note)


POSITION = Analysis(
    "position",
    position,
    (
        QUESTION,
        Column("n", "integer", "Comparisons."),
        PARTICIPANTS, CONTENTS,
        Column("mean", "number", "Mean of `raw_value`, every content weighing the same: above zero the second, or "
               "right, one."),
        Column("sd", "number", "Standard deviation of the participants' own means."),
        CI_LOW, CI_HIGH,
        Column("statistic", "number", "t of the mean."),
        DF, P, THESE_LOW, THESE_HIGH, THESE_P,
        Column("first", "integer", "How often the first was called better."),
        TIES,
        Column("second", "integer", "How often the second was."),
        Column("second_share", "number", "Share of the second, a tie being half."),
        *bounds("second", "its 95 % interval with these contents"),
        Column("balance", "number", "Share in which one and the same condition was the second; even orders have 0.5."),
        NOTE,
    ),
    row="question that compares two",
    holds="how far answers lean to the second, or right, one",
    citation=f"{CLUSTERED}; {STUDENT_CITATION}",
    order=11,
)  # fmt: skip


def _position_row(ratings: Ratings, question: str, kept: pd.DataFrame) -> tuple[object, ...]:
    raw = kept["raw_value"].to_numpy(float)
    lean = _lean(ratings, kept, raw, choice=1.0 if ratings.kinds[question] == "choice" else None)
    share = _lean(ratings, kept, np.sign(raw), choice=1.0).these
    beyond, these = lean.estimate, lean.these
    own = kept.groupby("participant", sort=True, observed=True)["raw_value"].mean()
    decided = kept[raw != 0]
    is_second = np.sign(decided["value"]) == np.sign(decided["raw_value"])
    balance = float(is_second.mean()) if len(decided) else math.nan
    counted = (int((raw < 0).sum()), int((raw == 0).sum()), int((raw > 0).sum()))
    return (
        len(kept), beyond.participants, beyond.contents, beyond.mean, float(own.std()), beyond.low, beyond.high,
        beyond.statistic, beyond.df, beyond.p, these.low, these.high, these.p, *counted, (1 + share.mean) / 2,
        (1 + share.low) / 2, (1 + share.high) / 2, balance, _position_note(beyond.participants, balance),
    )  # fmt: skip


def _lean(ratings: Ratings, kept: pd.DataFrame, value: Floats, choice: float | None) -> VoteMean:
    """Return the mean of votes as they were seen."""
    value, (participant, content) = average_by(value, codes_of(kept["participant"]), codes_of(kept["content"]))
    limit = choice or max(1.0, float(np.abs(kept["raw_value"]).max()))
    return vote_mean(ratings, Cells(value, participant, content), (-limit, limit), choice)


def _position_note(participants: int, balance: float) -> str:
    notes = ["one participant: no interval and no test"] * (participants == 1)
    if abs(balance - 0.5) > _UNEVEN:
        notes.append(f"orders are not balanced ({percent(balance)} one way): the lean may be quality")
    return "; ".join(notes)


# preferences (reference: statistics 5)


def preferences(data: pd.DataFrame | Ratings, *, from_grades: bool = False) -> Result | None:
    """Return wins, ties and losses of every two conditions that were compared, with exact and clustered intervals.

    With `from_grades` graded comparisons count too, by their sign alone. None where nothing was compared.
    """
    ratings = as_ratings(data)
    if from_grades:
        ratings = _as_choices(ratings)
    claims = _preference_claims(ratings)
    parts = [_preferences(one.question, one.tally, claims) for one in compared_questions(ratings)]
    if not parts:
        return None
    note = (
        "wins: how often condition was preferred to other_condition. share: wins among wins and losses, ties left out, "
        "with Clopper and Pearson's exact 95 % interval and the exact two-sided binomial p against one half (exact_); "
        "they take every comparison as independent, which is too sure where one person compared the two more than "
        "once, or one content was compared by many. half_share: a tie counts as half a win, and every content weighs "
        "the same: the difference in pairs on a scale from 0 to 1. Its intervals and tests are those of pairs, and the "
        "ones to report: ci_low, ci_high, p and p_holm for people and contents like these, these_ for people with "
        "these contents."
    )
    if from_grades:
        note += " Of grades only the sign counts."
    return PREFERENCES.result(pd.concat(parts, ignore_index=True), note)


PREFERENCES = Analysis(
    "preferences",
    preferences,
    (
        QUESTION, CONDITION, OTHER_CONDITION,
        Column("n", "integer", "All comparisons of the two."),
        PARTICIPANTS, CONTENTS,
        Column("wins", "integer", "How often the first was preferred."),
        TIES,
        Column("losses", "integer", "How often the other was preferred."),
        Column("share", "number", "Wins among wins and losses."),
        *bounds("exact", "Clopper and Pearson's interval of it, as if all comparisons were independent"),
        Column("exact_p", "number", "Exact two-sided p-value of it against one half, as if they were independent."),
        Column("half_share", "number", "Share of wins, a tie being half a win, every content weighing the same."),
        CI_LOW, CI_HIGH, P, P_HOLM, THESE_LOW, THESE_HIGH, THESE_P, THESE_P_HOLM,
        NOTE,
    ),
    row="pair of conditions, of choices between two",
    holds="wins, ties, losses, and shares with intervals",
    citation=f"Clopper and Pearson (1934), Biometrika 26; {CLUSTERED}; {HOLM}",
    draw=preferences_chart,
    order=12,
)  # fmt: skip


def _as_choices(ratings: Ratings) -> Ratings:
    """Return the comparisons of two as choices: of grades the sign."""
    rows = ratings.rows[ratings.rows["kind"].isin(COMPARISONS)]
    choices = tidy(rows.assign(kind="choice", value=np.sign(rows["value"])), ratings.order)
    return replace(choices, look=ratings.look)


class _PreferenceClaim(NamedTuple):
    """A share of one half plus half the difference of two conditions, with its intervals and tests."""

    share: float
    low: float
    high: float
    p: float
    p_holm: float
    these_low: float
    these_high: float
    these_p: float
    these_p_holm: float
    note: str

    def turned(self) -> _PreferenceClaim:
        """Return the same of the other condition."""
        return self._replace(
            share=1 - self.share, low=1 - self.high, high=1 - self.low,
            these_low=1 - self.these_high, these_high=1 - self.these_low,
        )  # fmt: skip


def _preference_claims(ratings: Ratings) -> dict[tuple[str, str, str], _PreferenceClaim]:
    """Return what pairs says of all that were compared, by question and the two conditions in either order."""
    corrected = corrected_tests(ratings)
    claims = {}
    for one, row in zip(corrected.contrasts, records(corrected.table[:: len(TESTS)]), strict=True):
        if one.comparison != "direct":
            continue
        beyond, these = one.estimate, one.these
        share, low, high, these_low, these_high = (
            (1 + number) / 2 for number in (beyond.mean, beyond.low, beyond.high, these.low, these.high)
        )
        claim = _PreferenceClaim(
            share, low, high, beyond.p, row["p_holm"], these_low, these_high, these.p, row["these_p_holm"], row["note"]
        )
        claims[one.question, one.condition, one.other_condition] = claim
        claims[one.question, one.other_condition, one.condition] = claim.turned()
    return claims


def _preferences(question: str, tally: Tally, claims: Mapping[tuple[str, str, str], _PreferenceClaim]) -> pd.DataFrame:
    """Return all pairs of a question that were compared."""
    size = len(tally.names)
    place, pair = np.unique(tally.one * size + tally.other, return_inverse=True)
    wins, ties, losses = (sum_by_code(pair, each) for each in (tally.wins, tally.ties, tally.losses))
    decided = wins + losses
    people, contents = (
        np.bincount(np.unique(np.stack([pair, codes]), axis=1)[0]) for codes in (tally.person, tally.content)
    )
    exact_p = np.where(
        decided > 0, np.minimum(1, 2 * scipy.stats.binom.cdf(np.minimum(wins, losses), decided, 0.5)), np.nan
    )
    low, high = _exact(wins, losses)
    counted = zip(wins, ties, losses, people, contents, low, high, exact_p, strict=True)
    rows = []
    for at, (won, tied, lost, persons, shown, exact_low, exact_high, p) in zip(place.tolist(), counted, strict=True):
        names = (tally.names[at // size], tally.names[at % size])
        *numbers, note = claims[question, *names]
        tie_note = "every comparison was a tie" if not won + lost else ""
        rows.append(
            (
                question, *names, int(won + tied + lost), int(persons), int(shown), int(won), int(tied), int(lost),
                won / (won + lost) if won + lost else math.nan, exact_low, exact_high, p, *numbers,
                "; ".join(filter(None, [tie_note, note])),
            )
        )  # fmt: skip
    return pd.DataFrame(rows, columns=PREFERENCES.names)


def _exact(wins: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Return Clopper and Pearson's interval of each share of wins; NaN without a win or a loss."""
    tail = (1 - LEVEL) / 2
    low = np.where(wins > 0, scipy.stats.beta.ppf(tail, np.maximum(wins, 1), losses + 1), 0.0)
    high = np.where(losses > 0, scipy.stats.beta.ppf(1 - tail, wins + 1, np.maximum(losses, 1)), 1.0)
    is_none = wins + losses == 0
    return np.where(is_none, np.nan, low), np.where(is_none, np.nan, high)
