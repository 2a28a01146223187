"""mixed and variances: means of conditions with participants and contents random, and what makes ratings differ."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd

from beholder.analyse.groups import codes_of
from beholder.analyse.plots.variances import variances_chart
from beholder.analyse.result import Result
from beholder.analyse.table import Ratings, as_ratings
from beholder.stats.crossed import CITATION, Crossed, crossed
from beholder.stats.interval import t_bounds
from beholder.stats.mixed_equations import Codes, components

COLUMNS = ["question", "condition", "n", "mean", "se", "df", "ci_low", "ci_high", "note"]
VARIANCES = ["question", "source", "levels", "variance", "sd", "share", "statistic", "df", "p", "note"]
SOURCES = ("condition", "participant", "content", "residual")
_KINDS = ("score", "diff")


class _Fitted(NamedTuple):
    """The model of one question."""

    question: str
    names: list[str]
    """Of the conditions that were rated, in the order in which they are told."""
    n: Codes
    """Ratings of each of them."""
    levels: dict[str, int]
    """Participants and contents."""
    absent: dict[str, str]
    """Why a source is not in the model."""
    model: Crossed


def mixed(data: pd.DataFrame | Ratings) -> Result | None:
    """Return the mean of every condition by a mixed model; None where no question can have one.

    Of questions that are answered by a number: value ~ condition + (1 | participant) + (1 | content), by REML.
    """
    parts = []
    for fitted in _models(as_ratings(data)):
        model = fitted.model
        se = np.sqrt(np.diag(model.covariance))
        low, high = t_bounds(model.mean, se, model.df)
        note = "; ".join(f"without {source}s: {why}" for source, why in fitted.absent.items())
        parts.append(
            pd.DataFrame(
                {
                    "question": fitted.question, "condition": fitted.names, "n": fitted.n, "mean": model.mean, "se": se,
                    "df": model.df, "ci_low": low, "ci_high": high, "note": note,
                }
            )
        )  # fmt: skip
    if not parts:
        return None
    note = (
        "Linear mixed model by REML: condition fixed, participant and content random and crossed. 95 % Student t with "
        "Satterthwaite's degrees of freedom, from what participants, contents and the rest have in the variance of a "
        "mean; it generalises over participants and contents. The model knows that some people are strict and some "
        "contents easy. It takes for granted that no person, and no content, favours a condition more than others do. "
        "Where they do its errors of differences are too small, so scores and pairs go by the clustered error, which "
        "asks for no such thing; where both agree this model stands beside it as a check."
    )
    return Result(pd.concat(parts, ignore_index=True)[COLUMNS], note, CITATION)


def variances(data: pd.DataFrame | Ratings) -> Result | None:
    """Return how much conditions, participants, contents and the rest add to what ratings differ by, per question."""
    rows = []
    for fitted in _models(as_ratings(data)):
        model = fitted.model
        found = dict(zip(SOURCES, (model.groups, model.one, model.other, model.residual), strict=True))
        levels = {"condition": len(fitted.names), **fitted.levels, "residual": int(fitted.n.sum())}
        whole = sum(variance for variance in found.values() if variance == variance)
        for source, variance in found.items():
            is_tested = source == "condition" and len(fitted.names) > 1
            test = (model.chi2, len(fitted.names) - 1, model.p) if is_tested else (np.nan,) * 3
            why = "one condition" if source == "condition" and not is_tested else fitted.absent.get(source, "")
            rows.append(
                (fitted.question, source, levels[source], variance, variance**0.5, variance / whole, *test, why)
            )
    if not rows:
        return None
    note = (
        "The variances of the model of mixed.csv. condition: between the means of the conditions, without what chance "
        "adds; its statistic is the likelihood ratio against a model without conditions, chi² with conditions - 1 "
        "degrees of freedom, by ML. residual: what one person says of one stimulus beside all of this, with whatever a "
        "person or a content favours. share: of the sum of the variances. levels: how many conditions, participants "
        "and contents there are; of residual, ratings."
    )
    return Result(pd.DataFrame(rows, columns=VARIANCES), note, CITATION, variances_chart)


def _models(ratings: Ratings) -> list[_Fitted]:
    return ratings.once("mixed", lambda: list(_fitted(ratings)))


def _fitted(ratings: Ratings) -> Iterator[_Fitted]:
    """Yield the model of every question that can have one."""
    for question in ratings.questions:
        # What counts for both conditions of a comparison is not two ratings.
        if ratings.kinds[question] not in _KINDS or ratings.is_mirrored(question):
            continue
        table = ratings.table[ratings.table["question"] == question]
        told = codes_of(table["condition"], ratings.conditions)
        present, condition = np.unique(told, return_inverse=True)
        participant, content = codes_of(table["participant"]), codes_of(table["content"])
        model = crossed(table["value"].to_numpy(float), condition, participant, content)
        if model is None:
            continue
        codes = {"participant": participant, "content": content}
        levels = {name: int(code.max()) + 1 for name, code in codes.items()}
        known = {"participant": model.one, "content": model.other}
        absent = {name: _why(name, codes[name], condition) for name in codes if known[name] != known[name]}
        names = [ratings.conditions[place] for place in present]
        yield _Fitted(question, names, np.bincount(condition), levels, absent, model)


def _why(name: str, code: Codes, condition: Codes) -> str:
    """Return why a source of differences is not in the model."""
    size = int(code.max()) + 1
    if size == 1:
        return f"one {name}"
    if size == components(code, condition):
        return f"every condition has a {name} of its own"
    return f"one rating of each {name}" if size == len(code) else f"too few ratings of each {name}"
