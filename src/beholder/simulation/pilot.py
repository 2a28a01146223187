"""Simulated people as those of a pilot: what its store tells of them, number by number."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pandas as pd

from beholder.clean.facts import TABLES
from beholder.clean.judging import Judging, judge_tables, store_of
from beholder.clean.sessions import Judged
from beholder.simulate.habits import Habits
from beholder.simulate.logs import page_ms
from beholder.simulate.population import Population
from beholder.simulate.sources import Source
from beholder.simulate.spreads import Found, spreads_of, too_few

_FEWEST_SESSIONS, _FEWEST_PAGES = 10, 20
_FASTEST = 0.05


def from_pilot(study: str | Path, store: str | None = None) -> Source:
    """Return people as those whose ratings a store holds, people where there are any, else robots.

    What it is too small for stays as usual, and `said` says so.
    """
    from beholder.methods import load_study
    from beholder.store.open import read_tables

    loaded = load_study(Path(study))
    judging = judge_tables(loaded, read_tables(store_of(loaded, store), TABLES))
    return people_of(judging)


def people_of(judging: Judging) -> Source:
    """Return people as those of the sessions that were judged."""
    ratings = _scores(judging)
    found: dict[str, Found] = {"leaving": _leaving(judging.judged), "pace": _pace(judging)}
    means: dict[str, float] = {}
    if ratings.empty:
        kinds = sorted({rating.kind for one in judging.judged for rating in one.ratings})
        why = f"ratings are {', '.join(kinds)}, and it takes scores" if kinds else "no rating is used"
        found |= {one.name: Found(None, why) for one in fields(Population) if one.name in _OF_SCORES}
    else:
        steps = {
            question.id: question.scale.step / (question.scale.max - question.scale.min)
            for question in judging.method.questions(judging.study)
        }
        spreads = spreads_of(ratings, steps)
        found |= spreads.found
        means = {name: min(1.0, max(0.0, mean)) for name, mean in spreads.means.items()}
    name, who = judging.study.name, judging.facts.population
    taken = {name: round(one.value, 4) for name, one in found.items() if one.value is not None}
    said = {
        part: f"pilot {name}, {who}" if one.value is not None else f"usual: {one.why}" for part, one in found.items()
    }
    return Source(replace(Population(), **taken), means, {**said, "means": f"pilot {name}, {who}"})


_OF_SCORES = frozenset({"bias", "inconsistency", "inconsistency_spread", "taste", "content", "content_condition"})


def _scores(judging: Judging) -> pd.DataFrame:
    """Return the scores that are used, from 0 to 1, more being better."""
    rows = [
        (one.participant, one.content, one.condition, one.stimulus, one.question,
         ((one.keyed if one.keyed is not None else one.value) - one.scale_min) / (one.scale_max - one.scale_min))
        for judged in judging.judged
        for one in judged.ratings
        if one.use and one.kind == "score" and one.value is not None
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "stimulus", "question", "value"])


def _leaving(judged: Sequence[Judged]) -> Found:
    """Return how likely somebody who has begun leaves before any one trial."""
    begun = [one.visit for one in judged if one.visit.by_position and one.visit.outcome in (None, "completed")]
    if few := too_few(len(begun), "session", _FEWEST_SESSIONS, " with a trial"):
        return Found(None, few)
    left = sum(visit.outcome is None for visit in begun)
    chances = sum(len(visit.by_position) - 1 for visit in begun) + left
    return Found(left / chances, "") if chances else Found(None, "sessions of one trial")


def _pace(judging: Judging) -> Found:
    """Return how much longer than usual judgements take, so that pages take as long as they did."""
    ratios = [*_ratios(judging)]
    if few := too_few(len(ratios), "page", _FEWEST_PAGES):
        return Found(None, few)
    return Found(max(_FASTEST, float(np.median(ratios))), "")


def _ratios(judging: Judging) -> Iterator[float]:
    """Yield of each page that was used how long its judgements took, as a multiple of the usual."""
    for judged in judging.judged:
        visit = judged.visit
        used = {rating.position for rating in judged.ratings if rating.use}
        for position, given in visit.by_position:
            trial = visit.trials[position - 1]
            if position not in used:
                continue
            lengths = [judging.facts.stimuli[visit.digest, slot.stimulus].length_ms or 0 for slot in trial.slots]
            waiting, judging_ms = page_ms(trial, lengths, Habits())
            if judging_ms:
                yield (given.sent_ms - given.shown_ms - waiting) / judging_ms
