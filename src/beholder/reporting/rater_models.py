"""Means of conditions under rater models, next to the plain means."""

from __future__ import annotations

import math
from itertools import combinations
from typing import NamedTuple

import pandas as pd

from beholder.analysis.models import MAX_NAMES, MIN_RATINGS_P910, why_none_rejected
from beholder.analysis.rater_models import PLAIN, RATER_MODELS
from beholder.formats import NONE, count, join_names, number, signed
from beholder.reporting.html import Child, Markup, folded, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.section import Section
from beholder.reporting.sheets import TextTable
from beholder.stats.rater_models import MAX_OUTLIER_SHARE

_FIGURE_NOTE = (
    "Below, each dot is a participant as the shrunken model finds them: at the right those who score higher than the "
    "others, at the top those whose ratings scatter most once that is taken away."
)
_NAMES = {PLAIN: "Plain mean", "p913": "P.913", "bt500": "BT.500", "p910": "Annex E", "shrunken": "Shrunken"}
MAX_TABLES = 3
"""The most questions that have a table each; with more, each has a line."""


class _ModelledQuestion(NamedTuple):
    """One question: means of its conditions by model, its raters, and the number of unconnected groups of stimuli."""

    part: QuestionResults
    means: pd.DataFrame
    """A row for each condition, best first; a column for each model."""
    raters: pd.DataFrame
    groups: int

    def shift(self, model: str) -> float:
        """Return by how much a model moves the mean of a condition at most; NaN where it has no means."""
        return float((self.means[model] - self.means[PLAIN]).abs().max())

    def turned(self, model: str) -> list[tuple[str, str]]:
        """Return the pairs of conditions whose order a model reverses."""
        plain, other = self.means[PLAIN], self.means[model]
        return [
            (one, two)
            for one, two in combinations(self.means.index, 2)
            if round(plain[one] - plain[two], 9) * round(other[one] - other[two], 9) < 0
        ]

    @property
    def rejection(self) -> pd.DataFrame:
        return self.raters[self.raters["model"] == "bt500"]


def rater_models_section(material: Material) -> Markup | None:
    """Return the means under rater models next to the plain means; None if no question has scores."""
    questions = _modelled_questions(material)
    if not questions:
        return None
    parts: list[Child] = [tag("p", tag("b", _shift_sentence(questions)), " ", _warnings(questions))]
    if len(questions) > MAX_TABLES:
        parts.append(table("Largest shift of a condition under each model", _question_sheet(questions)))
        return render(parts)
    several = len(questions) > 1
    for one in questions:
        caption = f"Means of conditions under each model{f': {one.part.caption}' if several else ''}"
        own: list[Child] = [table(caption, _condition_sheet(one, material))]
        if (drawn := material.figures.get(f"biases-{one.part.slug}")) is not None:
            own += [tag("p", _FIGURE_NOTE), drawn]
        rejected = f"{one.part.short}: {_rejected(one)}" if several else _rejected(one)
        parts += [tag("p", rejected), folded(f"Means under each model{f': {one.part.short}' if several else ''}", own)]
    return render(parts)


MODELLED_MEANS = Section(
    "models",
    "Rater models beside the plain mean",
    rater_models_section,
    foot=(
        "Means of conditions, every stimulus weighing the same. P.913: each participant's habit of scoring high or low "
        "is taken away. BT.500: participants who are often far from the others, on both sides, are left out. Annex E "
        "(P.910): habits are taken away, and consistent participants weigh more. Shrunken: the same, made for short "
        "sessions by trusting less what few ratings say of a person; ours, no standard. All other scores here are "
        "plain means."
    ),
)


def _modelled_questions(material: Material) -> list[_ModelledQuestion]:
    models, raters = (material.results.also.get(name) for name in ("models", "model_raters"))
    if models is None or raters is None:
        return []
    questions = []
    for part in material.parts:
        mine = models[models["question"] == part.id]
        if mine.empty:
            continue
        means = mine.groupby(["condition", "model"], sort=False)["quality"].mean().unstack("model")
        means = means.reindex(index=part.order, columns=list(_NAMES))
        groups = mine["component"].nunique()
        questions.append(_ModelledQuestion(part, means, raters[raters["question"] == part.id], groups))
    return questions


def _shift_sentence(questions: list[_ModelledQuestion]) -> str:
    """Return the largest shift of a mean, and whether any order changes."""
    shifts = [(one.shift(model), one.part, model) for one in questions for model in RATER_MODELS]
    known = [shift for shift in shifts if not math.isnan(shift[0])]
    if not known:
        return "No rater model has anything to add to the plain means."
    shift, part, model = max(known, key=lambda shift: shift[0])
    turned = [_NAMES[model] for model in RATER_MODELS if any(one.turned(model) for one in questions)]
    moved = f"Rater models move means of conditions by {number(shift, part.decimals)} at most ({_NAMES[model]})"
    if not turned:
        return f"{moved}, and their order stays the same."
    return f"{moved}; under {join_names(turned)} some conditions change places."


def _warnings(questions: list[_ModelledQuestion]) -> str:
    warnings = []
    usual = min(float(one.rejection["ratings"].median()) for one in questions)
    if usual < MIN_RATINGS_P910:
        warnings.append(
            f"Do not go by Annex E here: half of the participants gave {usual:g} or fewer ratings, and below "
            f"{MIN_RATINGS_P910} its intervals are too narrow."
        )
    if any(one.groups > 1 for one in questions):
        warnings.append("Some stimuli share no participant with others: no model can compare them.")
    return " ".join(warnings)


def _condition_sheet(one: _ModelledQuestion, material: Material) -> TextTable:
    places = one.part.decimals
    rows = [
        (
            material.labels.get(str(name), str(name)),
            number(row[PLAIN], places),
            *(_mean_and_shift(row[model], row[PLAIN], places) for model in RATER_MODELS),
        )
        for name, row in one.means.iterrows()
    ]
    return TextTable(("Condition", *_NAMES.values()), rows)


def _mean_and_shift(value: float, plain: float, places: int) -> str:
    """Return a model's mean, with its distance from the plain one if that is not zero."""
    if math.isnan(value):
        return NONE
    shown = number(value, places)
    return shown if round(value - plain, places) == 0 else f"{shown} ({signed(value - plain, places)})"


def _question_sheet(questions: list[_ModelledQuestion]) -> TextTable:
    rows = [
        (
            one.part.short,
            *(number(one.shift(model), one.part.decimals) for model in RATER_MODELS),
            join_names([_NAMES[model] for model in RATER_MODELS if one.turned(model)] or ["none"]),
            f"{(one.rejection['rejected'] == 'yes').sum():,} of {len(one.rejection):,}",
        )
        for one in questions
    ]
    heads = [_NAMES[model] for model in RATER_MODELS]
    return TextTable(("Question", *heads, "Changes the order", "BT.500 leaves out"), rows)


def _rejected(one: _ModelledQuestion) -> str:
    """Return the participants whom BT.500 would leave out, or why there are none."""
    raters = one.rejection
    out = list(raters[raters["rejected"] == "yes"]["participant"])
    if not out:
        far = int((raters["above"] + raters["below"] > MAX_OUTLIER_SHARE * raters["ratings"]).sum())
        return f"BT.500 would leave out nobody: {why_none_rejected(far)}."
    named = join_names(out) if len(out) <= MAX_NAMES else f"{', '.join(out[:MAX_NAMES])} and others"
    return f"BT.500 would leave out {count(len(out), 'participant')} of {len(raters):,}: {named}."
