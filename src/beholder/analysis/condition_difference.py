"""Whether one condition is better than another: yes, no or undecided, with evidence and a sentence; and equivalence, by
two one-sided tests of every contrast against the study's margin.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn, cast

import numpy as np
import pandas as pd
from scipy import special

from beholder.analysis.columns import CONDITION, NOTE, OTHER_CONDITION, QUESTION
from beholder.analysis.contract import Analysis, Column
from beholder.analysis.contrasts import Contrast, Pair, difference_limits
from beholder.analysis.ratings import Ratings, as_ratings
from beholder.analysis.result import Result, records
from beholder.analysis.tests import (
    ALPHA,
    TESTS,
    UNNAMED,
    Claim,
    Family,
    corrected_tests,
    family_note,
    is_clear,
    verdict_words,
)
from beholder.errors import Problem, UserError, did_you_mean, name_given
from beholder.formats import count, decimals_for, number, p_value, percent_half_up
from beholder.stats.additive import CITATION as ADDITIVE
from beholder.stats.clustered import Estimate, Floats
from beholder.stats.tests import EQUIVALENCE_CITATION, HOLM_CITATION, holm, margin_tests
from beholder.study.cleaning import Analyse

if TYPE_CHECKING:
    from beholder.analysis.result import Results


Answer = Literal["yes", "no", "undecided"]
_DECIMALS = 9
"""A difference that is none on paper may be one in the last bits."""
_ANCHOR = "anchor: "
"""What is noted of a pair with an anchor."""


@dataclass(frozen=True, eq=False)
class ConditionDifference:
    """Whether one condition is better than another in one question, and what that rests on.

    `str()` gives the sentence. It equals its answer: `results.better("new", "old") == "yes"`. It is neither true nor
    false by itself, because it has three possible answers.
    """

    answer: Answer
    condition: str
    other: str
    question: str
    estimate: float
    """How far the condition is above the other; above zero it is better: reversed questions are turned round."""
    low: float | None
    """Interval and p are of what the study claims (`analyse.claim`): beyond its contents, or on them."""
    high: float | None
    p: float | None
    """As it was judged: corrected where the pair is in the family of the correction. None without a test."""
    verdict: str
    """How far it is clear: `beyond` these contents too, on `these` only, `undecided`; empty where not judged."""
    n: int
    """Pages (one participant and one content) or comparisons."""
    participants: int
    test: str
    words: str

    def __str__(self) -> str:
        return self.words

    def summary(self) -> str:
        """Return the answer with its evidence, in a sentence."""
        return self.words

    def __bool__(self) -> NoReturn:
        raise TypeError('The answer is "yes", "no" or "undecided": ask for one of them, such as `.answer == "yes"`.')

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.answer == other
        return isinstance(other, ConditionDifference) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.answer)

    def __repr__(self) -> str:
        return self.words

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.words)}</p>"


def better(results: Results, condition: str, other: str, question: str | None = None) -> ConditionDifference:
    """Return whether a condition is better than another: `no` where it is clearly worse.

    It is clear where the report calls it clear: by the corrected p of the clustered t in pairs.csv, for contents like
    these, or for these contents where the study claims no more (`analyse.claim: these`).
    """
    question_name = find_question(results, f'better("{condition}", "{other}")', question)
    condition, other = _find_conditions(results, condition, other)
    row = _pair_row(results, condition, other, question_name)
    sign = 1 if row["condition"] == condition else -1
    claim, verdict = claim_of(results), str(row["verdict"])
    estimate = round(sign * float(row["mean_difference"]), _DECIMALS) or 0.0
    mine, rest = (_claimed(row, which, sign) for which in (claim, _OTHER_CLAIM[claim]))
    answer: Answer = "undecided"
    if is_clear(verdict, claim) and estimate:
        answer = "yes" if estimate > 0 else "no"
    people = int(row["participants"])
    evidence = _Evidence(
        answer=answer, condition=results.display_name(condition), other=results.display_name(other),
        question=_named(results, question_name),
        kind=results.notes["kinds"][question_name], metric=results.notes["metrics"][question_name]["name"],
        decimals=_decimals(results, question_name), estimate=estimate, claim=claim, claimed=mine,
        other_claim=rest, is_corrected=not math.isnan(row["p_holm"]), verdict=verdict, contents=int(row["contents"]),
        people=people, are_robots=results.notes["population"] == "robots", note=str(row["note"]),
    )  # fmt: skip
    return ConditionDifference(
        answer, condition, other, question_name, estimate, mine.low, mine.high, mine.p, verdict, int(row["n"]), people,
        str(row["test"]), _sentence(evidence),
    )  # fmt: skip


def claim_of(results: Results) -> Claim:
    """Return what the study of these results claims."""
    return cast("Claim", results.notes.get("claim", "beyond"))


class _Claimed(NamedTuple):
    """Interval and judged p-value of one claim; None without a test."""

    low: float | None
    high: float | None
    p: float | None


_OTHER_CLAIM: Mapping[Claim, Claim] = {"beyond": "these", "these": "beyond"}
CLAIM_COLUMNS: Mapping[Claim, tuple[str, str, str, str]] = {
    "beyond": ("ci_low", "ci_high", "p", "p_holm"),
    "these": ("these_low", "these_high", "these_p", "these_p_holm"),
}
"""Interval, p-value and corrected p-value of each claim in the table of pairs."""


def _claimed(row: Mapping[str, Any], claim: Claim, sign: int) -> _Claimed:
    low, high, p, p_holm = (float(row[name]) for name in CLAIM_COLUMNS[claim])
    judged = p if math.isnan(p_holm) else p_holm
    if math.isnan(judged):
        return _Claimed(None, None, None)
    if math.isnan(low):
        return _Claimed(None, None, judged)
    return _Claimed(min(sign * low, sign * high), max(sign * low, sign * high), judged)


def inconclusive(results: Results, question: str | None = None) -> list[tuple[str, str]]:
    """Return the pairs that stayed undecided in a question, or in any, by what the study claims.

    Anchors and pairs not asked about are left out.
    """
    names = [find_question(results, "inconclusive", question)] if question is not None else _questions(results)
    rows = [row for name in names for row in records(results.pairs) if row["question"] == name]
    left = [row for row in rows if not any(why in row["note"] for why in (UNNAMED, _ANCHOR))]
    open_rows = [row for row in left if not is_clear(row["verdict"], claim_of(results))]
    return list(dict.fromkeys((row["condition"], row["other_condition"]) for row in open_rows))


def _questions(results: Results) -> list[str]:
    return [str(name) for name in results.notes["questions"]]


def find_question(results: Results, where: str, question: str | None) -> str:
    """Return the name of a question that is given by its name or its label; UserError names those that there are."""
    names = _questions(results)
    found = None if question is None else name_given(question, {name: results.question_name(name) for name in names})
    if found is not None:
        return found
    allowed = ", ".join(names)
    if question is not None:
        raise UserError(Problem(where, f"no question {question!r} was asked", allowed, did_you_mean(question, names)))
    if len(names) != 1:
        what = f"{len(names)} questions were asked" if names else "no question has ratings that count"
        fix = (
            f'Say which: question="{names[0]}" (--question {names[0]}).'
            if names
            else "Look at `beholder clean`: who was lost, and why."
        )
        raise UserError(Problem(where, what, allowed, fix))
    return names[0]


def _find_conditions(results: Results, condition: str, other: str) -> tuple[str, str]:
    """Return the names of two conditions, each given by its name or its label.

    UserError where one of the two is unknown, or both are the same.
    """
    where, others = f'better("{condition}", "{other}")', results.ratings["other_condition"]
    names = list(dict.fromkeys([*results.notes["conditions"], *(name for name in others if name)]))
    labels = {name: results.display_name(name) for name in names}
    known = {given: name_given(given, labels) for given in (condition, other)}
    problems = [
        Problem(where, f"no condition {given!r} was rated", ", ".join(names),
                did_you_mean(given, list(dict.fromkeys([*labels.values(), *names]))))
        for given, name in known.items()
        if name is None
    ]  # fmt: skip
    condition, other = known[condition] or condition, known[other] or other
    if not problems and condition == other:
        problems = [Problem(where, "is one condition against itself", "", "Name two conditions.")]
    if problems:
        raise UserError(problems)
    return condition, other


def _pair_row(results: Results, condition: str, other: str, question: str) -> Mapping[str, Any]:
    """Return the row of pairs.csv with these two conditions, in either order."""
    rows = [row for row in records(results.pairs) if row["question"] == question]
    for row in rows:
        if {row["condition"], row["other_condition"]} == {condition, other} and not math.isnan(row["mean_difference"]):
            return row
    where = f'better("{condition}", "{other}")'
    if results.notes["kinds"][question] == "correct":
        what = f"{question} asks which of two something was: conditions are held against chance, not against each other"
        raise UserError(Problem(where, what, "", "Look at `results.conditions`: the share correct with its interval."))
    partners = dict.fromkeys(
        name
        for row in rows
        for name in (row["condition"], row["other_condition"])
        if condition in (row["condition"], row["other_condition"]) and name != condition and row["n"]
    )
    raise UserError(
        Problem(
            where,
            f"{condition} was not compared with {other} in {question}",
            f"{condition} with {' or '.join(partners)}" if partners else "",
            "A study that shows both to the same people compares them.",
        )
    )


def _named(results: Results, question: str) -> str:
    """Return what the sentence calls a question; empty for a study with one, but for one that is turned."""
    is_turned = question in results.notes.get("turned", ())
    return results.question_name(question) if is_turned or len(_questions(results)) > 1 else ""


def _decimals(results: Results, question: str) -> int:
    mine = results.ratings[results.ratings["question"] == question]
    ends = ("scale_min", "scale_max") if {"scale_min", "scale_max"} <= set(mine.columns) else ("value", "value")
    low, high = mine[ends[0]].min(), mine[ends[1]].max()
    return 2 if math.isnan(low) or math.isnan(high) else decimals_for(low, high)


# The difference as a sentence


class _Evidence(NamedTuple):
    """What the sentence rests on."""

    answer: str
    condition: str
    other: str
    question: str
    """What it is called; empty for a study with one question."""
    kind: str
    metric: str
    decimals: int
    estimate: float
    """Above zero the condition is better, as are the ends of intervals."""
    claim: Claim
    claimed: _Claimed
    """For what the study claims."""
    other_claim: _Claimed
    is_corrected: bool
    verdict: str
    contents: int
    people: int
    are_robots: bool
    note: str


def _sentence(evidence: _Evidence) -> str:
    """Return the answer, how far the two are apart, and how sure that is."""
    about = f", on {evidence.question}" if evidence.question else ""
    text = f"{evidence.answer.capitalize()}{about}: {evidence.condition} {_difference_text(evidence)}"
    people = count(evidence.people, "robot" if evidence.are_robots else "participant")
    if evidence.claimed.p is None:
        return f"{text} ({people}), without a test: {evidence.note}."
    name = "Holm-corrected p" if evidence.is_corrected else "p"
    numbers = _claim_text(evidence, evidence.claimed, name)
    text = f"{text} ({numbers}, {people})"
    if UNNAMED in evidence.note:
        return f"{text}; the study names other contrasts, and this one is not judged."
    if not evidence.estimate and evidence.kind != "choice":
        return f"{text}."
    if evidence.verdict == "undecided" or not evidence.estimate:
        return f"{text}, which cannot be told from {'one half' if evidence.kind == 'choice' else 'none'}."
    words = verdict_words(evidence.verdict, evidence.contents)
    if evidence.verdict == "beyond" or evidence.other_claim.p is None:
        return f"{text}: {words}."
    # The numbers of the other step stand behind the half of the verdict that they are of.
    other = f" ({_claim_text(evidence, evidence.other_claim, name)})"
    return f"{text}: {words.replace(';', f'{other};') if evidence.claim == 'beyond' else words + other}."


def _claim_text(evidence: _Evidence, claimed: _Claimed, name: str) -> str:
    """Return interval and p-value of one claim."""
    p = p_value(claimed.p or 0.0)
    return ", ".join([*_interval_text(evidence, claimed), f"{name} {p}" if p.startswith("<") else f"{name} = {p}"])


def _difference_text(evidence: _Evidence) -> str:
    """Return how far the condition is from the other, as it was answered."""
    if evidence.kind == "choice":
        chosen = "called closer than" if evidence.metric.startswith("Closeness") else "preferred to"
        return f"was {chosen} {evidence.other} in {percent_half_up(_share(evidence.estimate))} of their comparisons"
    if not evidence.estimate:
        same = f"was {_ticked(evidence)} as often as" if evidence.kind == "pick" else "scores the same as"
        return f"{same} {evidence.other}"
    is_above = evidence.estimate > 0
    if evidence.kind == "pick":
        size = f"{number(100 * abs(evidence.estimate), 0)} percentage points"
        return f"was {_ticked(evidence)} {size} {'more' if is_above else 'less'} often than {evidence.other}"
    size = f"{number(abs(evidence.estimate), evidence.decimals)} points"
    return f"scores {size} {'higher' if is_above else 'lower'} than {evidence.other}"


def _ticked(evidence: _Evidence) -> str:
    return "marked" if evidence.metric.startswith("Words marked") else "ticked"


def _interval_text(evidence: _Evidence, claimed: _Claimed) -> list[str]:
    """Return the interval of the difference, with the sign that it has in the sentence."""
    low, high, _ = claimed
    if low is None or high is None:
        return []
    if evidence.kind == "choice":
        return [f"95 % interval {number(100 * _share(low), 0)} to {percent_half_up(_share(high))}"]
    low, high = (low, high) if evidence.estimate >= 0 else (-high, -low)
    if evidence.kind == "pick":
        return [f"95 % interval {number(100 * low, 0)} to {number(100 * high, 0)}"]
    return [f"95 % interval {number(low, evidence.decimals)} to {number(high, evidence.decimals)}"]


def _share(preference: float) -> float:
    """Return how often one of two was chosen, ties halved, from won minus lost."""
    return (preference + 1) / 2


# equivalence: differences that are too small to matter (Schuirmann 1987)


INNER = 1 - 2 * ALPHA
"""Level of the interval that decides: within the margin where both one-sided tests refute."""
_POPULATIONS = {"": "", "these_": " with these contents (other people)"}
"""Prefixes of columns, and of what population they are."""


def equivalence(
    data: pd.DataFrame | Ratings,
    *,
    margin: float | Mapping[str, float] | None = None,
    contrasts: Sequence[Pair] | None = None,
    family: Family | None = None,
) -> Result | None:
    """Return for every contrast whether it is within the margin, and whether its first condition is not worse.

    `margin`, in points or by question, `contrasts` and `family` are those of the study when left out. None without a
    margin, or where no question with one compares conditions.
    """
    ratings = as_ratings(data)
    settings = ratings.order.settings
    asked = settings if margin is None else Analyse(margin=margin if isinstance(margin, float | int) else dict(margin))
    corrected = corrected_tests(ratings, contrasts, family)
    tests = corrected.table[:: len(TESTS)].reset_index(drop=True)
    allowed = np.array([asked.margin_of(one.question) or np.nan for one in corrected.contrasts], float)
    is_asked = ~np.isnan(allowed)
    if not is_asked.any():
        return None
    mine = [one for one, is_mine in zip(corrected.contrasts, is_asked, strict=True) if is_mine]
    tests, allowed = tests[is_asked].reset_index(drop=True), allowed[is_asked]
    columns: dict[str, object] = {
        "question": [one.question for one in mine],
        "condition": [one.condition for one in mine],
        "other_condition": [one.other_condition for one in mine],
        "margin": allowed,
        "mean_difference": [one.estimate.mean for one in mine],
    }
    is_whole = (family or settings.family) == "study"
    over = tests["question"].map(lambda question: "" if is_whole else question)
    # What is not corrected for, such as a pair that is not named, has no p-value of this kind either.
    is_counted = ~tests["note"].str.contains("not corrected for", regex=False)
    for prefix in _POPULATIONS:
        columns |= _population_columns(ratings, prefix, mine, allowed, is_counted, over)
    table = pd.DataFrame({**columns, "note": tests["note"]})[EQUIVALENCE.names]
    note = (
        "Two one-sided t tests of each contrast against the margin, the largest difference that does not matter. "
        "equivalent: yes where both are below 5 % after correction; before it, they are where the 90 % interval "
        "(inner_low, inner_high) lies within the margin on both sides. not_worse: yes where the first condition is not "
        "worse than the other by the margin or more. no means that it is not shown, not that they differ. Difference "
        f"and errors as in pairs. {family_note(ratings, contrasts, family)} A margin is evidence only if it was chosen "
        "before the ratings were seen."
    )
    if ratings.look is not None:
        note += " Interval and p-values are corrected for the looks at the study."
    return EQUIVALENCE.result(table, note)


def _margin_columns(prefix: str, of: str) -> tuple[Column, ...]:
    return (
        Column(f"{prefix}inner_low", "number", f"Lower end of the 90 % interval{of}."),
        Column(f"{prefix}inner_high", "number", f"Upper end of the 90 % interval{of}."),
        Column(f"{prefix}equivalent_p", "number", f"p-value against a difference of the margin or more{of}."),
        Column(f"{prefix}equivalent_p_holm", "number", f"The same after Holm's correction{of}."),
        Column(f"{prefix}equivalent", "text", f"Whether the two are shown to be equivalent{of}.", ("yes", "no")),
        Column(f"{prefix}not_worse_p", "number", f"p-value against the first being worse by the margin or more{of}."),
        Column(f"{prefix}not_worse_p_holm", "number", f"The same after Holm's correction{of}."),
        Column(f"{prefix}not_worse", "text", f"Whether the first is shown not to be worse{of}.", ("yes", "no")),
    )


EQUIVALENCE = Analysis(
    "equivalence",
    equivalence,
    (
        QUESTION, CONDITION, OTHER_CONDITION,
        Column("margin", "number", "The largest difference that does not matter: `analyse.margin`."),
        Column("mean_difference", "number", "The first minus the second, as in pairs.csv."),
        *(column for prefix, of in _POPULATIONS.items() for column in _margin_columns(prefix, of)),
        NOTE,
    ),
    row="pair of conditions and question with a margin",
    holds="whether the two are equivalent, and whether the first is not worse",
    citation=f"{EQUIVALENCE_CITATION}; {ADDITIVE}; {HOLM_CITATION}",
    order=5.5,
    holds_at_looks=True,
)  # fmt: skip


def _population_columns(
    ratings: Ratings, prefix: str, contrasts: Sequence[Contrast], margin: Floats, is_counted: pd.Series, over: pd.Series
) -> dict[str, object]:
    """Return the columns of one population."""
    estimates: list[Estimate] = [one.these if prefix else one.estimate for one in contrasts]
    mean, se, df = (np.array([getattr(one, name) for one in estimates], float) for name in ("mean", "se", "df"))
    # As if one page had been a margin away: what all say alike is not known for ever.
    pages = np.array([max(1, one.n) for one in estimates], float)
    se = np.maximum(se, margin / pages)
    tested = margin_tests(mean, se, df, margin)
    half = special.stdtrit(df, (1 + _inner_level(ratings)) / 2) * se
    ends = [difference_limits(ratings, one.question, is_direct=one.comparison == "direct") for one in contrasts]
    least, most = np.array(ends, float).T
    columns: dict[str, object] = {
        f"{prefix}inner_low": np.maximum(mean - half, least),
        f"{prefix}inner_high": np.minimum(mean + half, most),
    }
    for name, raw in (("equivalent", tested.within), ("not_worse", tested.not_below)):
        p = _corrected_for_looks(ratings, raw)
        p_holm = pd.Series(p).where(is_counted).groupby(over).transform(holm)
        verdict = np.where(p_holm.isna(), "", np.where(p_holm < ALPHA, "yes", "no"))
        columns |= {f"{prefix}{name}_p": p, f"{prefix}{name}_p_holm": p_holm, f"{prefix}{name}": verdict}
    return columns


def _corrected_for_looks(ratings: Ratings, p: Floats) -> Floats:
    """Return one-sided p-values that hold for all looks at the study together."""
    if ratings.look is None:
        return p
    return np.where(p < 0.5, ratings.look.p(np.minimum(1, 2 * p)) / 2, p)


def _inner_level(ratings: Ratings) -> float:
    """Return the level of an interval that holds at 90 % for all looks at the study together."""
    if ratings.look is None:
        return INNER
    rates = np.geomspace(1e-12, 1 - INNER, 4000)
    is_below = ratings.look.p(rates) <= 1 - INNER
    return 1 - float(rates[is_below].max(initial=rates[0]))
