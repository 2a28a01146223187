"""Whether one condition is better than another: yes, no or undecided, with evidence and a sentence."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, NoReturn

import pandas as pd

from beholder.analysis.result import records
from beholder.analysis.tests import UNNAMED, is_clear
from beholder.errors import Problem, UserError, did_you_mean
from beholder.formats import count, decimals_for, number, p_value, percent_half_up

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
    """How far the condition is above the other; above zero it is better, also where less is better."""
    low: float | None
    high: float | None
    p: float | None
    """As it was judged: corrected where the pair is in the family of the correction. None without a test."""
    n: int
    """Pages (one participant and one content) or comparisons."""
    participants: int
    test: str
    words: str

    def __str__(self) -> str:
        return self.words

    def __bool__(self) -> NoReturn:
        raise TypeError('The answer is "yes", "no" or "undecided": ask for one of them, such as `.answer == "yes"`.')

    def __eq__(self, other: object) -> bool:
        if isinstance(other, str):
            return self.answer == other
        return isinstance(other, ConditionDifference) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash(self.answer)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.words)}</p>"


def better(results: Results, condition: str, other: str, question: str | None = None) -> ConditionDifference:
    """Return whether a condition is better than another: `no` where it is clearly worse.

    It is clear where the report calls it clear: by the corrected p of the clustered t in pairs.csv.
    """
    question_name = _question(results, f'better("{condition}", "{other}")', question)
    _check_conditions(results, condition, other)
    row = _pair_row(results, condition, other, question_name)
    is_turned = _is_turned(results, question_name)
    sign = (1 if row["condition"] == condition else -1) * (-1 if is_turned else 1)
    ends = [] if math.isnan(row["ci_low"]) else sorted((sign * row["ci_low"], sign * row["ci_high"]))
    low, high = ends or (None, None)
    estimate = round(sign * float(row["mean_difference"]), _DECIMALS) or 0.0
    judged = row["p"] if math.isnan(row["p_holm"]) else row["p_holm"]
    p = None if math.isnan(judged) else float(judged)
    answer: Answer = "undecided"
    if is_clear(row["clear_by"]) and estimate:
        answer = "yes" if estimate > 0 else "no"
    people = int(row["participants"])
    evidence = _Evidence(
        answer=answer, condition=condition, other=other, question=question_name if len(_questions(results)) > 1 else "",
        kind=results.notes["kinds"][question_name], metric=results.notes["metrics"][question_name]["name"],
        is_turned=is_turned, decimals=_decimals(results, question_name), estimate=estimate, low=low, high=high, p=p,
        is_corrected=not math.isnan(row["p_holm"]), people=people, are_robots=results.notes["population"] == "robots",
        note=str(row["note"]),
    )  # fmt: skip
    return ConditionDifference(
        answer,
        condition,
        other,
        question_name,
        estimate,
        low,
        high,
        p,
        int(row["n"]),
        people,
        str(row["test"]),
        _sentence(evidence),
    )


def inconclusive(results: Results, question: str | None = None) -> list[tuple[str, str]]:
    """Return the pairs that stayed undecided in a question, or in any; anchors and pairs not asked about left out."""
    names = [_question(results, "inconclusive", question)] if question is not None else _questions(results)
    rows = [row for name in names for row in records(results.pairs) if row["question"] == name]
    left = [row for row in rows if not any(why in row["note"] for why in (UNNAMED, _ANCHOR))]
    return list(dict.fromkeys((r["condition"], r["other_condition"]) for r in left if not is_clear(r["clear_by"])))


def _questions(results: Results) -> list[str]:
    return [str(name) for name in results.notes["questions"]]


def _question(results: Results, where: str, question: str | None) -> str:
    names = _questions(results)
    if question in names:
        return question
    allowed = ", ".join(names)
    if question is not None:
        raise UserError(Problem(where, f"no question {question!r} was asked", allowed, did_you_mean(question, names)))
    if len(names) != 1:
        what = f"{len(names)} questions were asked" if names else "no question has ratings that count"
        fix = f'Say which: question="{names[0]}".' if names else "Look at `beholder clean`: who was lost, and why."
        raise UserError(Problem(where, what, allowed, fix))
    return names[0]


def _check_conditions(results: Results, condition: str, other: str) -> None:
    """Raise where one of the two is unknown, or both are the same."""
    where, others = f'better("{condition}", "{other}")', results.ratings["other_condition"]
    names = list(dict.fromkeys([*results.notes["conditions"], *(name for name in others if name)]))
    problems = [
        Problem(where, f"no condition {name!r} was rated", ", ".join(names), did_you_mean(name, names))
        for name in dict.fromkeys((condition, other))
        if name not in names
    ]
    if not problems and condition == other:
        problems = [Problem(where, "is one condition against itself", "", "Name two conditions.")]
    if problems:
        raise UserError(problems)


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


def _is_turned(results: Results, question: str) -> bool:
    """Return whether less is better: a reversed question has ratings whose column `keyed` differs from `value`."""
    table = results.ratings
    if "keyed" not in table or results.notes["kinds"][question] not in ("score", "diff"):
        return False
    mine = table[table["question"] == question]
    keyed = pd.to_numeric(mine["keyed"], errors="coerce")
    return bool((keyed.notna() & mine["value"].notna() & (keyed != mine["value"])).any())


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
    """Empty for a study with one question."""
    kind: str
    metric: str
    is_turned: bool
    """Whether less is better."""
    decimals: int
    estimate: float
    """Above zero the condition is better, as are low and high."""
    low: float | None
    high: float | None
    p: float | None
    is_corrected: bool
    people: int
    are_robots: bool
    note: str


def _sentence(evidence: _Evidence) -> str:
    """Return the answer, how far the two are apart, and how sure that is."""
    about = f", on {evidence.question}" if evidence.question else ""
    text = f"{evidence.answer.capitalize()}{about}: {evidence.condition} {_difference_text(evidence)}"
    people = count(evidence.people, "robot" if evidence.are_robots else "participant")
    if evidence.p is None:
        return f"{text} ({people}), without a test: {evidence.note}."
    p = p_value(evidence.p)
    correction = "Holm-corrected p" if evidence.is_corrected else "p"
    p = f"{correction} {p}" if p.startswith("<") else f"{correction} = {p}"
    text = f"{text} ({', '.join([*_interval_text(evidence), p, people])})"
    if UNNAMED in evidence.note:
        return f"{text}; the study names other contrasts, and this one is not judged."
    if evidence.answer == "undecided":
        return f"{text}, which cannot be told from {'one half' if evidence.kind == 'choice' else 'none'}."
    return f"{text}."


def _difference_text(evidence: _Evidence) -> str:
    """Return how far the condition is from the other, as it was answered."""
    if evidence.kind == "choice":
        chosen = "called closer than" if evidence.metric.startswith("Closeness") else "preferred to"
        return f"was {chosen} {evidence.other} in {percent_half_up(_share(evidence.estimate))} of their comparisons"
    less = ", where less is better" if evidence.is_turned else ""
    if not evidence.estimate:
        same = "was ticked as often as" if evidence.kind == "pick" else "scores the same as"
        return f"{same} {evidence.other}{less}"
    is_above = (evidence.estimate > 0) != evidence.is_turned
    if evidence.kind == "pick":
        size = f"{number(100 * abs(evidence.estimate), 0)} percentage points"
        return f"was ticked {size} {'more' if is_above else 'less'} often than {evidence.other}"
    size = f"{number(abs(evidence.estimate), evidence.decimals)} points"
    return f"scores {size} {'higher' if is_above else 'lower'} than {evidence.other}{less}"


def _interval_text(evidence: _Evidence) -> list[str]:
    """Return the interval of the difference, with the sign that it has in the sentence."""
    if evidence.low is None or evidence.high is None:
        return []
    if evidence.kind == "choice":
        return [f"95 % interval {number(100 * _share(evidence.low), 0)} to {percent_half_up(_share(evidence.high))}"]
    low, high = (evidence.low, evidence.high) if evidence.estimate >= 0 else (-evidence.high, -evidence.low)
    if evidence.kind == "pick":
        return [f"95 % interval {number(100 * low, 0)} to {number(100 * high, 0)}"]
    return [f"95 % interval {number(low, evidence.decimals)} to {number(high, evidence.decimals)}"]


def _share(preference: float) -> float:
    """Return how often one of two was chosen, ties halved, from won minus lost."""
    return (preference + 1) / 2
