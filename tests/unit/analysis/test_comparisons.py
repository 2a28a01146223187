"""Comparisons: counts, order, and what was compared with what."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.pairs import preferences
from beholder.analysis.ranks import ranks
from beholder.analysis.strengths import strength_pairs, strengths
from support.choice_ratings import choices, of_conditions, present, simulated


def test_a_choice_counts_the_same_whichever_condition_the_row_is_about() -> None:
    table = simulated({"a": 0.5, "b": 0.0, "c": -0.5}, position=0.3, ties=0.5, each=20)
    turned = table.rename(columns={"condition": "other_condition", "other_condition": "condition"})
    turned = turned.assign(value=-table["value"], slot=table["slot"].map({"s1": "s2", "s2": "s1"}))
    one, other = (present(strengths(each)).table for each in (table, turned))
    pd.testing.assert_frame_equal(one, other, check_exact=False, atol=1e-8)


def test_without_the_order_no_position_effect_is_claimed() -> None:
    table = simulated({"a": 0.5, "b": -0.5}, position=0.3).drop(columns=["raw_value", "slot"])
    assert "position" not in set(present(strengths(table)).table["level"])
    always_first = simulated({"a": 0.5, "b": -0.5}).query("slot == 's1' and condition == 'a'")
    assert "position" not in set(present(strengths(always_first)).table["level"])


def test_groups_that_were_never_compared_are_told_apart() -> None:
    rows = [
        (f"p{n}", "t", one, other, 1.0 if (n + len(one)) % 3 else -1.0)
        for n in range(9)
        for one, other in (("NA", "no"), ("01", "Größe 2"))
    ]
    table = choices(*rows)
    result = present(strengths(table))
    actual = of_conditions(result)
    assert actual.loc["NA", "component"] == actual.loc["no", "component"] != actual.loc["01", "component"]
    assert (
        "q: there are 2 groups that were never compared with each other, not even through others (01 and Größe 2; NA "
        "and no), so that strengths compare within a group only."
    ) in result.note
    pairs = present(strength_pairs(table, models=["bradley-terry"])).table.set_index(["condition", "other_condition"])
    assert pairs.loc[("01", "NA"), "note"] == "never compared, not even through others"
    assert pairs.loc[("01", "NA"), ["difference", "se", "p", "p_holm", "win_probability"]].isna().all()
    assert pairs.loc[("NA", "no"), "p_holm"] == pytest.approx(2 * pairs.loc[("NA", "no"), "p"])
    by_component = present(ranks(table)).table.groupby(["component", "rank"])["probability"].sum()
    np.testing.assert_allclose(by_component, 1)


def test_only_ties_say_nothing_of_who_is_stronger() -> None:
    table = choices(*[(f"p{n}", "t", "a", "b", 0.0) for n in range(8)])
    actual = of_conditions(strengths(table))
    np.testing.assert_allclose(actual["quality"], 0, atol=1e-9)
    assert set(actual["note"]) == {"every comparison was a tie"}
    row = present(preferences(table)).table.iloc[0]
    assert row["half_share"] == 0.5
    assert row["note"] == "every comparison was a tie; one content: over participants only"
    assert row[["share", "exact_low", "exact_high", "exact_p"]].isna().all()
    assert row["p"] == 1
    assert row["ci_low"] < 0.5 < row["ci_high"]
