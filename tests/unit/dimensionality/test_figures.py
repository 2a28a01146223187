"""The figures of dimensions: what they show, on every layout and on what is hardly anything."""

from __future__ import annotations

from itertools import combinations

import pandas as pd

from beholder.dimensionality.figures import correlations_chart
from support.charts import NAMES, tooltips


def test_several_levels_stand_under_each_other() -> None:
    pairs = pd.DataFrame([
        {
            "level": level, "question": a, "other_question": b, "n": 8, "pearson": 0.5, "pearson_low": -0.3,
            "pearson_high": 0.9, "pearson_p": 0.2,
        }
        for level in ("condition", "within")
        for a, b in combinations(NAMES, 2)
    ])  # fmt: skip
    whole = correlations_chart(pairs).to_dict()
    assert [part["title"]["text"] for part in whole["vconcat"]] == ["Between conditions", "Within people"]
    assert "config" in whole
    one = correlations_chart(pairs[pairs["level"] == "within"])
    assert "no, 01: 0.50\n95 % interval −0.30 to 0.90, p = 0.200\nn = 8" in {
        tip.replace("01, no", "no, 01") for tip in tooltips(one)
    }
