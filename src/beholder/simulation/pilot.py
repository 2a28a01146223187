"""Populations estimated from the store of a pilot study."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.cleaning.collection import record_judged_look
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import JudgedPopulation, judge_tables, store_of
from beholder.cleaning.sessions import JudgedSession
from beholder.simulation.participants import Habits
from beholder.simulation.robot import page_ms
from beholder.simulation.truth import Population
from beholder.simulation.variance import PopulationSource, VarianceEstimate, estimate_variances, too_few

_FEWEST_SESSIONS, _FEWEST_PAGES = 10, 20
_FASTEST = 0.05


def from_pilot(study: str | Path, store: str | None = None) -> PopulationSource:
    """Return the population of a study's store: its people, or its robots if nobody else took part.

    Where the data are too few, the usual number is kept, and `origins` gives the reason.
    """
    from beholder.methods import load_study
    from beholder.store.open import read_tables

    loaded = load_study(Path(study))
    url = store_of(loaded, store)
    tables = read_tables(url, TABLES)
    judging = judge_tables(loaded, tables)
    record_judged_look(judging, tables["ledger"], url, "power")
    return _people_of(judging)


def _people_of(judging: JudgedPopulation) -> PopulationSource:
    """Return the population of judged sessions."""
    ratings = _scores(judging)
    estimates: dict[str, VarianceEstimate] = {"leaving": _leaving(judging.judged), "pace": _pace(judging)}
    means: dict[str, float] = {}
    if ratings.empty:
        kinds = sorted({rating.kind for one in judging.judged for rating in one.ratings})
        why = f"ratings are {', '.join(kinds)}, and it takes scores" if kinds else "no rating is used"
        estimates |= {
            one.name: VarianceEstimate(None, why) for one in fields(Population) if one.name in _SCORE_ESTIMATES
        }
    else:
        steps = {
            question.id: question.scale.step / (question.scale.max - question.scale.min)
            for question in judging.method.questions(judging.study)
        }
        by_question = estimate_variances(ratings, steps)
        estimates |= by_question.variances
        means = {name: min(1.0, max(0.0, mean)) for name, mean in by_question.means.items()}
    name, who = judging.study.name, judging.facts.population
    values = {name: round(one.value, 4) for name, one in estimates.items() if one.value is not None}
    origins = {
        part: f"pilot {name}, {who}" if one.value is not None else f"usual: {one.why}"
        for part, one in estimates.items()
    }
    return PopulationSource(replace(Population(), **values), means, {**origins, "means": f"pilot {name}, {who}"})


_SCORE_ESTIMATES = frozenset({"bias", "inconsistency", "inconsistency_spread", "taste", "content", "content_condition"})


def _scores(judging: JudgedPopulation) -> pd.DataFrame:
    """Return the used scores, from 0 to 1, higher being better."""
    rows = [
        (one.participant, one.content, one.condition, one.stimulus, one.question,
         ((one.keyed if one.keyed is not None else one.value) - one.scale_min) / (one.scale_max - one.scale_min))
        for judged in judging.judged
        for one in judged.ratings
        if one.use and one.kind == "score" and one.value is not None
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "stimulus", "question", "value"])


def _leaving(judged: Sequence[JudgedSession]) -> VarianceEstimate:
    """Return the probability of leaving before any one trial after having begun."""
    sessions = [one.visit for one in judged if one.visit.by_position and one.visit.outcome in (None, "completed")]
    if few := too_few(len(sessions), "session", _FEWEST_SESSIONS, " with a trial"):
        return VarianceEstimate(None, few)
    left = sum(session.outcome is None for session in sessions)
    chances = sum(len(session.by_position) - 1 for session in sessions) + left
    return VarianceEstimate(left / chances, "") if chances else VarianceEstimate(None, "sessions of one trial")


def _pace(judging: JudgedPopulation) -> VarianceEstimate:
    """Return the time of judgements as a multiple of the usual time."""
    ratios = [*_pace_ratios(judging)]
    if few := too_few(len(ratios), "page", _FEWEST_PAGES):
        return VarianceEstimate(None, few)
    return VarianceEstimate(max(_FASTEST, float(np.median(ratios))), "")


def _pace_ratios(judging: JudgedPopulation) -> Iterator[float]:
    """Yield for each used page the time of its judgements as a multiple of the usual time."""
    for judged in judging.judged:
        session = judged.visit
        used = {rating.position for rating in judged.ratings if rating.use}
        for position, record in session.by_position:
            trial = session.trials[position - 1]
            if position not in used:
                continue
            lengths = [judging.facts.stimuli[session.digest, slot.stimulus].length_ms or 0 for slot in trial.slots]
            waiting, judging_ms = page_ms(trial, lengths, Habits())
            if judging_ms:
                yield (record.sent_ms - record.shown_ms - waiting) / judging_ms
