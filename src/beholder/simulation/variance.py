"""Variance components of ratings, from which rater models are built, and the sources of a population's numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy import special

from beholder.errors import Problem, UserError
from beholder.formats import join_names, plain_count
from beholder.simulation.truth import IDEAL, Population, Truth, read_people
from beholder.stats.crossed import VarianceComponents, fit_crossed, variance_components
from beholder.stats.mixed import Codes, Floats

_FEWEST_PEOPLE, _FEWEST_CONTENTS, _FEWEST_RATINGS = 5, 4, 60
"""With fewer, the error of a standard deviation is more than a third of it."""
_FEWEST_STEADY, _FEWEST_EACH = 8, 8
"""The least number of people, and of ratings more than conditions of each, to estimate the spread of inconsistency."""


class VarianceEstimate(NamedTuple):
    """An estimate, or the reason why there is none."""

    value: float | None
    why: str


class VarianceEstimates(NamedTuple):
    """Estimates from the ratings of a study, as shares of the scale."""

    variances: Mapping[str, VarianceEstimate]
    """By field of `Population`."""
    means: Mapping[str, float]
    """The quality of each condition, from 0 to 1."""


def estimate_variances(ratings: pd.DataFrame, steps: Mapping[str, float]) -> VarianceEstimates:
    """Return the estimates from scores (participant, content, condition, stimulus, question, value from 0 to 1).

    Variances of several questions are averaged. `steps` is the step of each question's scale: rounding adds a twelfth
    of its square to the variance within a person.
    """
    parts = [
        _question_estimates(mine, steps.get(str(name), 0.0)) for name, mine in ratings.groupby("question", sort=False)
    ]
    variances: dict[str, VarianceEstimate] = {}
    for name in ("bias", "content", "content_condition", "taste", "inconsistency", "inconsistency_spread"):
        estimates = [part.variances[name] for part in parts]
        values = [one.value for one in estimates if one.value is not None]
        why = next((one.why for one in estimates if one.value is None), "")
        variances[name] = (
            VarianceEstimate(math.sqrt(max(0.0, float(np.mean(values)))), "") if values else VarianceEstimate(None, why)
        )
    if (median := variances["inconsistency"].value) is not None:
        # Its square is a mean over people; that of the median person is smaller, the more people differ.
        spread = variances["inconsistency_spread"].value or 0.0
        variances["inconsistency"] = VarianceEstimate(median * math.exp(-(spread**2)), "")
    names = dict.fromkeys(name for part in parts for name in part.means)
    means = {name: float(np.mean([part.means[name] for part in parts if name in part.means])) for name in names}
    return VarianceEstimates(variances, means)


def _question_estimates(votes: pd.DataFrame, step: float) -> VarianceEstimates:
    """Return the variances of one question and the means of its conditions."""
    value = votes["value"].to_numpy(np.float64)
    person, content, condition, stimulus = (
        _codes(votes[name]) for name in ("participant", "content", "condition", "stimulus")
    )
    people, contents, conditions = (int(code.max(initial=-1)) + 1 for code in (person, content, condition))
    model = fit_crossed(value, condition, person, content)
    names = list(dict.fromkeys(votes["condition"]))
    means = model.mean if model is not None else [float(value[condition == n].mean()) for n in range(conditions)]
    by_stimulus = variance_components(value, person, stimulus)
    few = too_few(people, "participant", _FEWEST_PEOPLE) or too_few(len(value), "rating", _FEWEST_RATINGS)
    few_contents = few or too_few(contents, "content", _FEWEST_CONTENTS)
    content_spread, cell_spread = _content_variances(value, person, content, condition, stimulus, by_stimulus)
    rounding = step**2 / 12
    own = _rater_variances(value, condition, person, stimulus, by_stimulus)
    taste, inside = own.taste, own.inconsistency - rounding
    return VarianceEstimates(
        {
            "bias": _estimate(own.bias, few),
            "content": _estimate(content_spread, few_contents),
            "content_condition": _estimate(cell_spread, few_contents),
            "taste": _estimate(taste, few or ("one condition, and it takes 2" if conditions < 2 else "")),
            "inconsistency": _estimate(inside, few),
            "inconsistency_spread": _inconsistency_spread(value, condition, person, stimulus, inside, rounding),
        },
        dict(zip(names, (float(mean) for mean in means), strict=True)),
    )


def too_few(count: int, what: str, needed: int, such: str = "") -> str:
    """Return the reason if there are fewer than needed, otherwise an empty text."""
    return f"{plain_count(count, what)}{such}, and it takes {needed}" if count < needed else ""


def _estimate(value: float, few: str) -> VarianceEstimate:
    if few:
        return VarianceEstimate(None, few)
    return (
        VarianceEstimate(value, "")
        if math.isfinite(value)
        else VarianceEstimate(None, "who rated what does not tell it apart")
    )


def _content_variances(
    value: Floats, person: Codes, content: Codes, condition: Codes, stimulus: Codes, parts: VarianceComponents
) -> tuple[float, float]:
    """Return the variance between contents, and the variance of content by condition.

    All votes on a stimulus share the second, so both are estimated from the means of stimuli, without the biases of
    their raters.
    """
    each = np.bincount(stimulus)
    off = value - (np.bincount(stimulus, weights=value) / each)[stimulus]
    votes = np.bincount(person)
    kept = votes * parts.one / (votes * parts.one + parts.residual) if parts.one > 0 else np.zeros(len(votes))
    own = value - (kept * np.bincount(person, weights=off) / votes)[person]
    first = np.unique(stimulus, return_index=True)[1]
    means = np.bincount(stimulus, weights=own) / each
    single = np.arange(len(means), dtype=np.intp)
    model = fit_crossed(means, _recode(condition[first]), _recode(content[first]), single)
    if model is None:
        return math.nan, math.nan
    return model.one, model.residual - parts.residual * float(np.mean(1 / each))


def _recode(codes: Codes) -> Codes:
    return np.asarray(np.unique(codes, return_inverse=True)[1], np.intp)


class _RaterVarianceParts(NamedTuple):
    """Variances between and within raters; a taste that cannot be estimated is part of the inconsistency."""

    bias: float
    taste: float
    inconsistency: float


def _rater_variances(
    value: Floats, condition: Codes, person: Codes, stimulus: Codes, parts: VarianceComponents
) -> _RaterVarianceParts:
    """Return the variances of bias, of taste for a condition, and of the residual.

    `parts` has people only: their taste, averaged over the conditions that they rated, counts there as bias.
    """
    cells = _rater_condition_codes(condition, person)
    votes, many = np.bincount(person), np.bincount(cells)
    owner = person[np.unique(cells, return_index=True)[1]]
    shared = float(np.mean(np.bincount(owner, weights=np.square(many / votes[owner]))))
    model = fit_crossed(value, condition, cells, stimulus) if shared < 1 else None
    if model is None or not math.isfinite(model.one) or not math.isfinite(parts.one):
        return _RaterVarianceParts(parts.one, math.nan, parts.residual)
    taste = (model.one - parts.one) / (1 - shared)
    return _RaterVarianceParts(parts.one - shared * max(0.0, taste), taste, model.residual)


def _rater_condition_codes(condition: Codes, person: Codes) -> Codes:
    """Return a code for each combination of person and condition."""
    return _recode(person * (int(condition.max(initial=0)) + 1) + condition)


def _inconsistency_spread(
    value: Floats, condition: Codes, person: Codes, stimulus: Codes, inside: float, rounding: float
) -> VarianceEstimate:
    """Return the variance between people of the logarithm of their inconsistency; `inside` is its mean square.

    It is estimated from ratings of one person and one condition, which share bias and taste.
    """
    cells = _rater_condition_codes(condition, person)
    owner = person[np.unique(cells, return_index=True)[1]]
    free = np.bincount(person) - np.bincount(owner)
    enough = free >= _FEWEST_EACH
    if enough.sum() < _FEWEST_STEADY:
        with_many = f" with {_FEWEST_EACH} ratings more than conditions"
        return VarianceEstimate(None, too_few(int(enough.sum()), "participant", _FEWEST_STEADY, with_many))
    if not inside > 0:
        return VarianceEstimate(None, "nobody wavers")
    rest = value - (np.bincount(stimulus, weights=value) / np.bincount(stimulus))[stimulus]
    rest = rest - (np.bincount(cells, weights=rest) / np.bincount(cells))[cells]
    left = np.bincount(person, weights=rest**2)[enough] / free[enough] - rounding
    logs = np.log(np.maximum(left, inside / 20)) / 2
    # The logarithm of a standard deviation varies by chance alone, more so where rounding has been subtracted.
    luck = (1 + rounding / inside) ** 2 * float(np.mean(special.polygamma(1, free[enough] / 2))) / 4
    return VarianceEstimate(max(0.0, float(logs.var(ddof=1) - luck)), "")


def _codes(names: pd.Series) -> Codes:
    return np.asarray(pd.factorize(names)[0], np.intp)


# Sources of a population: defaults, public data, or a pilot


_USUAL = "usual"
_PUBLIC = "VQEG HDTV3"
_NAMED: Mapping[str, tuple[Population, str]] = {
    "public": (Population(), _PUBLIC),
    "vqeghd3": (Population(), _PUBLIC),
    "ideal": (IDEAL, "an ideal crowd"),
}
"""Populations by name, and where their numbers are from."""


@dataclass(frozen=True)
class PopulationSource:
    """A population, known qualities of conditions, and the origin of each number."""

    people: Population = field(default_factory=Population)
    means: Mapping[str, float] = field(default_factory=dict)
    origins: Mapping[str, str] = field(default_factory=dict)
    """The origin of a number, or the reason why it could not be estimated, by field of `Population`."""

    def rows(self) -> list[dict[str, str]]:
        """Return every number with its origin, as a table to print."""
        return [
            {
                "what": one.name,
                "value": f"{getattr(self.people, one.name):.3f}",
                "from": self.origins.get(one.name, _USUAL),
            }
            for one in fields(Population)
        ] + [
            {"what": f"quality of {name}", "value": f"{mean:.3f}", "from": self.origins.get("means", _USUAL)}
            for name, mean in self.means.items()
        ]


def read_source(source: str | Path | PopulationSource | None = None, people: str = "") -> PopulationSource:
    """Return the population that `--from` names, changed by `--people`."""
    base = _find_source(source)
    changed = read_people(people, base.people)
    origins = {
        one.name: "--people"
        for one in fields(Population)
        if getattr(changed, one.name) != getattr(base.people, one.name)
    }
    return PopulationSource(changed, base.means, {**base.origins, **origins})


def _find_source(source: str | Path | PopulationSource | None) -> PopulationSource:
    if isinstance(source, PopulationSource):
        return source
    source = "public" if source is None else source
    if str(source) in _NAMED:
        people, name = _NAMED[str(source)]
        shown = [one.name for one in fields(Population) if one.name in _ESTIMATED]
        return PopulationSource(people, {}, dict.fromkeys(shown, name))
    path = Path(source)
    if path.is_dir():
        path /= "study.yaml"
    if not path.is_file():
        allowed = f"{', '.join(_NAMED)}, or the study.yaml of a pilot"
        raise UserError(Problem("--from", f"{str(source)!r} is neither a known population nor a study", allowed))
    from beholder.simulation.pilot import from_pilot

    return from_pilot(path)


_ESTIMATED = frozenset({"bias", "inconsistency", "inconsistency_spread", "taste", "content", "content_condition"})


def planted_words(truth: Truth, source: PopulationSource | None = None) -> str:
    """Return what a rehearsal shall find again, in one sentence: qualities, and how people and contents differ."""
    best, *others = sorted(truth.conditions, key=lambda name: -truth.conditions[name])
    worst = f" down to {others[-1]} ({truth.conditions[others[-1]]:.2f})" if others else ""
    origins = (source or read_source()).origins
    named = sorted({origins[name].replace(_PUBLIC, f"public data ({_PUBLIC})") for name in _ESTIMATED & origins.keys()})
    as_in = f"people and contents differ as in {join_names(named)}" if named else "people differ as set"
    return f"Planted by the simulation: {best} is best ({truth.conditions[best]:.2f} of 1){worst}; {as_in}."
