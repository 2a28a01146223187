"""Votes on stimuli of planted quality, and those of a laboratory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from support.data import data_file


def planted(
    people: int = 12, stimuli: int = 9, noise: float = 0.7, share: float = 1.0, seed: int = 1, **more: Any
) -> pd.DataFrame:
    """Return ratings of stimuli of different quality, by people who each rate a share of them."""
    rng = np.random.default_rng(seed)
    person, stimulus = (part.ravel() for part in np.meshgrid(np.arange(people), np.arange(stimuli), indexing="ij"))
    kept = rng.random(len(person)) < share
    value = 1 + stimulus / 2 + rng.normal(0, 0.4, people)[person] + rng.normal(0, noise, len(person))
    table = pd.DataFrame(
        {
            "participant": [f"p{at}" for at in person],
            "content": [f"c{at}" for at in stimulus],
            "condition": "no",
            "stimulus": [f"no/c{at}" for at in stimulus],
            "value": np.round(value, 2),
            **more,
        }
    )
    return table[kept]


def hdtv_ratings() -> pd.DataFrame:
    """Return the ratings of a laboratory (VQEG HDTV, experiment 3)."""
    raw = pd.read_csv(data_file("ratings/vqeghd3_raw.csv"))
    return raw.rename(columns={"subject": "participant", "score": "value"})
