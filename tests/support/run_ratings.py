"""Ratings of several runs, and balanced designs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from support.data import data_file

Table = dict[str, Any]


def five_runs() -> pd.DataFrame:
    raw = pd.read_csv(data_file("ratings/lmm_runs_synth_raw.csv"))
    raw = raw.rename(columns={"subject": "participant", "score": "value"})
    return raw.assign(content=raw["stimulus"], condition="codec")


def balanced(people: int, contents: int, groups: int, seed: int = 1, sd: tuple[float, float] = (0.5, 0.4)) -> Table:
    """Return fully crossed values."""
    rng = np.random.default_rng(seed)
    one, other, group = (axis.ravel() for axis in np.indices((people, contents, groups)))
    value = rng.normal(0, sd[0], people)[one] + rng.normal(0, sd[1], contents)[other] + rng.normal(0, 0.7, len(one))
    return {"value": value + 0.3 * group, "group": group, "one": one, "other": other}


def interacting(seed: int = 1, *, people: int = 10, contents: int = 4, groups: int = 5) -> Table:
    """Return values of which some 40 % are missing, with people and contents that favour groups."""
    rng = np.random.default_rng(seed)
    one, other, group = (axis.ravel() for axis in np.indices((people, contents, groups)))
    kept = rng.random(len(one)) < 0.6
    one, other, group = one[kept], other[kept], group[kept]
    value = 3 + rng.normal(0, 0.5, people)[one] + rng.normal(0, 0.4, contents)[other] + 0.2 * group
    value = (
        value + rng.normal(0, 0.3, (people, groups))[one, group] + rng.normal(0, 0.3, (contents, groups))[other, group]
    )
    return {"value": value + rng.normal(0, 0.7, len(one)), "group": group, "one": one, "other": other}
