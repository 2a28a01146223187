"""DMOS: votes against the hidden reference."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.analysis.dmos import crush_votes, dmos
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.ratings_table import fill_columns
from beholder.analysis.result import records
from beholder.stats.intervals import t_interval
from beholder.study.cleaning import Analyse
from support.stimulus_ratings import NAMES, noisy, rated, referenced, row


def test_dmos_pairs_each_vote_with_the_same_persons_vote_on_the_reference() -> None:
    values = noisy(9, 3, 2)
    table = referenced(values)
    differences = values[:, :, 1] - values[:, :, 0] + 5
    known = t_interval(differences[:, 0])
    actual = row(dmos(table), level="stimulus", stimulus="01/c0")
    assert (actual["mean"], actual["sd"]) == (pytest.approx(known.mean), pytest.approx(known.sd))
    assert (actual["ci_low"], actual["ci_high"]) == (pytest.approx(known.low), pytest.approx(known.high))
    assert (actual["metric"], actual["pairing"], actual["n"]) == ("DMOS(ACR-HR)", "paired", 9)
    whole = row(dmos(table), level="condition")
    assert whole["mean"] == pytest.approx(differences.mean())
    assert whole["interval"] == "clustered t over participants and contents"


def test_where_some_did_not_rate_the_reference_all_ratings_count() -> None:
    values = noisy(10, 2, 2)
    values[:7, 0, 0] = math.nan
    result = dmos(referenced(values))
    actual = row(result, level="stimulus", stimulus="01/c0")
    assert (actual["pairing"], actual["note"]) == ("all ratings", "3 of 10 rated the reference too")
    people = np.indices(values.shape)[0]
    stimulus = np.arange(4).reshape(2, 2)[np.indices(values.shape)[1], np.indices(values.shape)[2]]
    is_there = ~np.isnan(values)
    columns = np.concatenate([np.eye(10)[people[is_there]], np.eye(4)[stimulus[is_there]]], axis=1)
    effect = np.linalg.lstsq(columns, values[is_there], rcond=None)[0][10:]
    assert actual["mean"] == pytest.approx(effect[1] - effect[0] + 5)
    assert actual["ci_low"] < actual["mean"] < actual["ci_high"]
    assert row(result, level="stimulus", stimulus="01/c1")["pairing"] == "paired"
    whole = row(result, level="condition")
    assert whole["pairing"] == "all ratings"
    assert whole["ci_low"] <= whole["these_low"] < whole["these_high"] <= whole["ci_high"]


def test_a_condition_that_not_everybody_rated_is_not_called_paired() -> None:
    values = noisy(10, 3, 2)
    values[:5, 0, 1] = math.nan
    result = dmos(referenced(values))
    assert result is not None
    assert {one["pairing"] for one in records(result.table) if one["level"] == "stimulus"} == {"paired"}
    whole = row(result, level="condition")
    assert (whole["pairing"], math.isnan(whole["sd"])) == ("all ratings", False)
    own = np.nanmean(values[:, :, 1] - values[:, :, 0], axis=0).mean() + 5
    assert whole["mean"] != pytest.approx(own, abs=1e-6)


def test_crushing_and_clipping_have_names_of_their_own() -> None:
    table = referenced(noisy())
    asked = tidy(fill_columns(table), RowOrder(settings=Analyse(crush="clip")))
    assert row(dmos(asked), level="condition")["metric"] == "DMOS(ACR-HR, clipped)"
    assert row(dmos(table, crush="crush"), level="condition")["metric"] == "DMOS(ACR-HR, crushed)"
    assert row(dmos(table), level="condition")["metric"] == "DMOS(ACR-HR)"


@settings(max_examples=40, deadline=None)
@given(st.floats(-3, 100), st.sampled_from([5.0, 9.0, 100.0]))
def test_drawn_in_votes_keep_their_order_and_those_below_the_top_stay(dv: float, highest: float) -> None:
    drawn = float(crush_votes(dv, highest))
    assert drawn == dv if dv <= highest else highest < drawn < dv
    assert float(crush_votes(dv, highest, "clip")) == min(dv, highest)
    assert float(crush_votes(dv, highest, "none")) == dv


def test_a_poor_source_is_named_and_a_content_without_reference_has_no_dmos() -> None:
    values = noisy(6, 3, 2)
    values[:, 0, 0], values[:, 1, 0] = 3, 5
    values[:, 2, 0] = math.nan
    result = dmos(referenced(values))
    assert result is not None
    assert "the reference scores below 4 for c0 (3.00): a poor source." in result.note
    assert "nobody rated the reference of 1 stimulus." in result.note
    assert set(result.table["stimulus"]) == {"01/c0", "01/c1", ""}


def test_other_methods_have_no_dmos() -> None:
    assert dmos(rated(noisy())) is None
    assert dmos(referenced(noisy()).assign(method="mushra")) is None
    assert dmos(referenced(noisy()).assign(kind="diff")) is None


def test_originals_among_the_conditions_of_acr_are_what_the_others_are_held_against() -> None:
    values = noisy(9, 3, 3)
    table = rated(values, method="acr")
    asked = tidy(fill_columns(table), RowOrder(settings=Analyse(dmos=NAMES[0])))
    result = dmos(asked)
    assert result is not None
    actual = row(result, level="condition", condition=NAMES[1])
    assert actual["metric"] == "DMOS(ACR)"
    assert actual["mean"] == pytest.approx((values[:, :, 1] - values[:, :, 0]).mean() + 5)
    assert NAMES[0] not in set(result.table["condition"])
    same = dmos(table, original=NAMES[0])
    assert same is not None
    assert same.table.equals(result.table)


def test_an_original_gives_no_dmos_to_a_method_that_does_not_name_it() -> None:
    assert dmos(rated(noisy(), method="mushra"), original="01") is None
    assert dmos(rated(noisy(), method="acr")) is None
