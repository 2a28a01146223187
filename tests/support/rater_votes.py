"""Votes of raters on stimuli, from a table of the public data and by number."""

from __future__ import annotations

import pandas as pd
import pytest

from beholder.stats.rater_models import RaterVotes
from support.data import DATA


def table(name: str) -> pd.DataFrame:
    path = DATA / "ratings" / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {path.parent}; set BEHOLDER_TEST_DATA")
    return pd.read_csv(path)


def coded(raw: pd.DataFrame) -> tuple[RaterVotes, pd.Index, pd.Index]:
    rater, raters = pd.factorize(raw["subject"])
    stimulus, stimuli = pd.factorize(raw["stimulus"])
    votes = RaterVotes(raw["score"].to_numpy(float), rater, stimulus, len(raters), len(stimuli))
    return votes, raters, stimuli
