"""How long the curves of votes needed take, with 200 replicates each."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from beholder.analysis.votes_needed import REPLICATES, votes_needed
from bench.table import Row, below

_LIMIT_S = 10
_SHAPES = {
    "24 people, 72 stimuli, all rated": (24, 72, 72),
    "1,000 people, 500 stimuli, 25 rated each": (1000, 500, 25),
}


def measure_votes() -> list[Row]:
    """Return the time of the default curve for a laboratory and for a crowd."""
    rows = []
    for shape, sizes in _SHAPES.items():
        ratings = _ratings(*sizes)
        began = time.perf_counter()
        votes_needed(ratings, replicates=REPLICATES)
        spent = time.perf_counter() - began
        rows.append(below(f"Votes needed, {REPLICATES} replicates: {shape}", spent, _LIMIT_S, "s"))
    return rows


def _ratings(people: int, stimuli: int, each: int) -> pd.DataFrame:
    """Return ratings on five points: everybody rates so many stimuli, drawn without replacement."""
    rng = np.random.default_rng(1)
    chosen = np.argsort(rng.random((people, stimuli)), axis=1)[:, :each].ravel()
    person = np.repeat(np.arange(people), each)
    felt = rng.uniform(1, 5, stimuli)[chosen] + rng.normal(0, 0.4, people)[person] + rng.normal(0, 0.6, len(person))
    return pd.DataFrame(
        {
            "participant": np.char.add("p", person.astype(str)),
            "content": np.char.add("clip-", chosen.astype(str)),
            "condition": "codec",
            "value": np.clip(np.round(felt), 1, 5),
        }
    )
