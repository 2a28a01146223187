"""All tables of the verb: odd ratings, unknown names."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from beholder.dimensionality.data import Joined, join
from beholder.dimensionality.folder import find
from beholder.dimensionality.profile import (
    profile,
)
from beholder.errors import UserError
from support.joined_studies import rate


def degenerate() -> dict[str, pd.DataFrame]:
    whole, by = rate(people=3, contents=2), ["participant", "condition", "content"]
    return {
        "one rater": whole[whole["participant"] == "p0"],
        "one condition": whole[whole["condition"] == "c0"],
        "one content": whole[whole["content"] == "k0"],
        "one row": whole[(whole["participant"] == "p0") & (whole["condition"] == "c0") & (whole["content"] == "k0")],
        "all equal": whole.assign(value=3.0),
        "one question is flat": whole.assign(value=whole["value"].where(whole["question"] != "mood", 3.0)),
        "two questions": whole[whole["question"].isin(["real", "face"])],
        "the same in all": whole.assign(value=whole.groupby(by)["value"].transform("first")),
        "disjoint people": whole[(whole["question"] == "real") == (whole["participant"] == "p0")],
        "names": whole.replace({"condition": {"c0": "no", "c1": "01", "c2": "NA", "c3": "Größe 2"}}),
        "nothing": whole.iloc[:0],
    }  # fmt: skip


@pytest.mark.parametrize("case", degenerate())
def test_odd_ratings_give_notes_and_no_infinite_number(case: str) -> None:
    joined = join(degenerate()[case])
    if len(joined.questions) < 2:
        assert case == "nothing"
        return
    found = find(joined, split=("real", 5))
    for name, result in found.results.items():
        numbers = result.table.select_dtypes("number").to_numpy(float)
        assert not np.isinf(numbers).any(), name
        assert "nan" not in result.note, name
    assert found.words
    assert not any("nan" in line for line in found.words)


def test_unknown_names_are_said_all_at_once(joined: Joined) -> None:
    with pytest.raises(UserError) as told:
        profile(joined, questions=["reel", "blue"])
    assert str(told.value).splitlines() == [
        "questions  has reel, which is not there. Allowed: face, mood, real, trust, warm. Did you mean real?",
        "questions  has blue, which is not there. Allowed: face, mood, real, trust, warm.",
    ]
    with pytest.raises(UserError) as told:
        profile(joined, factor="view")
    assert str(told.value) == (
        "factor  is view, and no rating has it. Allowed: a column of the manifest; these ratings have none."
    )
