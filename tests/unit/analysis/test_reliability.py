"""Reliability: the numbers of others, of two other implementations, and what happens where there is little to go by."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.reliability import COLUMNS, reliability
from beholder.reporting.material import load_material
from beholder.reporting.reliability import reliable
from beholder.stats.crossed import variance_components
from beholder.stats.rater_models import Floats, RaterVotes
from beholder.stats.reliability import (
    ValueCounts,
    icc_complete,
    icc_sparse,
    kendall_w,
    krippendorff_alpha,
    leave_one_out,
    moment_components,
    sos,
    sos_terms,
)
from support.data import data_file
from support.report_pages import made_up

ICCS = [f"ICC({kind},{many})" for many in "1k" for kind in "1AC"]


def votes_of(table: Floats) -> RaterVotes:
    """Return a table of things by raters, with NaN for gaps, as votes."""
    thing, rater = np.nonzero(~np.isnan(table))
    return RaterVotes(table[thing, rater], rater, thing, table.shape[1], table.shape[0])


def rated(things: int, raters: int, seed: int = 1, gaps: float = 0.0) -> Floats:
    """Return votes on five points: things and raters differ, and everybody wavers."""
    rng = np.random.default_rng(seed)
    felt = rng.normal(3, 1, (things, 1)) + rng.normal(0, 0.4, raters) + rng.normal(0, 0.7, (things, raters))
    table = np.clip(np.round(felt), 1, 5)
    table[rng.random(table.shape) < gaps] = np.nan
    return table


def frame(table: Floats) -> pd.DataFrame:
    thing, rater = np.nonzero(~np.isnan(table))
    return pd.DataFrame(
        {
            "participant": [f"p{n}" for n in rater], "content": [f"c{n}" for n in thing], "condition": "x",
            "value": table[thing, rater], "scale_min": 1, "scale_max": 5,
        }
    )  # fmt: skip


def measured(data: pd.DataFrame) -> pd.DataFrame:
    found = reliability(data)
    assert found is not None
    return found.table.set_index("measure")


# Numbers of others

REFERENCE = {
    **{name: name for name in ICCS}, "Kendall's W": "kendall_W", "alpha, ordinal": "kripp_alpha_ordinal",
    "alpha, interval": "kripp_alpha_interval", "SOS a": "sos_a_ddof1",
    "leave-one-out agreement": "mean_subject_spearman_vs_mos_excl",
}  # fmt: skip


def test_laboratory_ratings_give_the_known_numbers() -> None:
    known = pd.read_csv(data_file("evidence/reliability_reference.csv")).iloc[0]
    raw = pd.read_csv(data_file("ratings/vqeghd3_raw.csv"))
    found = measured(raw.rename(columns={"subject": "participant", "score": "value"}))
    assert set(found.index) == set(REFERENCE)
    for mine, theirs in REFERENCE.items():
        assert found["value"][mine] == pytest.approx(known[theirs], abs=1e-6), mine
    assert set(found["n"]) == {1728}
    assert set(found["participants"]) == {24}
    assert set(found["stimuli"]) == {72}
    assert found["note"]["Kendall's W"] == "chi-square(71) = 1283"
    assert found["note"]["ICC(A,k)"] == "k = 24"
    assert found["low"]["ICC(A,1)"] < found["value"]["ICC(A,1)"] < found["high"]["ICC(A,1)"]


@pytest.mark.parametrize(("things", "raters", "seed"), [(30, 6, 1), (8, 20, 2), (5, 3, 3), (3, 2, 8)])
def test_correlations_and_intervals_equal_those_of_pingouin(things: int, raters: int, seed: int) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pingouin import intraclass_corr

        table = rated(things, raters, seed)
        theirs = intraclass_corr(frame(table), targets="content", raters="participant", ratings="value")
    ends = next(name for name in theirs.columns if "95" in name)
    mine = icc_complete(table)
    # Rows by place: one-way, absolute, consistent, of one rater and then of the mean; their names have changed before.
    for place, name in enumerate(ICCS):
        assert mine[name].value == pytest.approx(theirs["ICC"].iloc[place], abs=1e-9)
        np.testing.assert_allclose(mine[name][1:], theirs[ends].iloc[place], atol=0.0051)


@pytest.mark.parametrize("gaps", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("level", ["ordinal", "interval"])
def test_alpha_equals_that_of_krippendorff(gaps: float, level: Literal["ordinal", "interval"]) -> None:
    import krippendorff

    for seed in range(5):
        table = rated(40, 12, seed, gaps)
        mine = krippendorff_alpha(ValueCounts(votes_of(table)), is_ordinal=level == "ordinal")[0]
        theirs = krippendorff.alpha(reliability_data=table.T, level_of_measurement=level)
        assert mine == pytest.approx(theirs, abs=1e-9)


def test_an_alpha_of_drawn_things_is_that_of_a_table_with_them() -> None:
    table = rated(12, 7, gaps=0.2)
    times = np.array([0, 2, 1, 0, 1, 3, 1, 0, 1, 1, 1, 1])
    drawn = np.repeat(table, times, axis=0)
    for is_ordinal in (True, False):
        mine = krippendorff_alpha(ValueCounts(votes_of(table)), times[None].astype(float), is_ordinal=is_ordinal)
        assert mine == pytest.approx(krippendorff_alpha(ValueCounts(votes_of(drawn)), is_ordinal=is_ordinal), abs=1e-12)


def test_concordance_is_the_test_of_friedman() -> None:
    table = rated(9, 14)
    found = kendall_w(table)
    assert found is not None
    theirs = stats.friedmanchisquare(*table)
    assert found.chi2 == pytest.approx(theirs.statistic)
    assert found.p == pytest.approx(theirs.pvalue)
    assert found.w == pytest.approx(theirs.statistic / (14 * 8))


def test_agreement_leaves_the_rater_out() -> None:
    table = rated(20, 5, gaps=0.1)
    mine = leave_one_out(votes_of(table), 10)
    for rater in range(5):
        others = np.nanmean(np.delete(table, rater, axis=1), axis=1)
        both = ~np.isnan(table[:, rater])
        assert mine[rater] == pytest.approx(stats.spearmanr(table[both, rater], others[both]).statistic, abs=1e-9)
    assert np.isnan(leave_one_out(votes_of(table), 21)).all()


def test_spread_follows_from_the_mean() -> None:
    rng = np.random.default_rng(1)
    shares = rng.uniform(0.1, 0.9, (400, 1))
    votes = votes_of((rng.random((400, 200)) < shares).astype(float))
    # With two values only, the variance is all that there can be: a is 1, but for n - 1.
    assert sos(sos_terms(votes, 0, 1))[0] == pytest.approx(200 / 199)


# Properties


@settings(max_examples=40)
@given(st.integers(2, 8), st.integers(2, 6), st.integers(0, 999), st.floats(0.1, 50), st.integers(-90, 90))
def test_no_measure_knows_the_unit_of_the_scale(n: int, k: int, seed: int, unit: float, zero: int) -> None:
    table = np.random.default_rng(seed).integers(1, 6, (n, k)).astype(float)
    moved = table * unit + zero
    for mine, theirs in zip(icc_complete(table).values(), icc_complete(moved).values(), strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6)
    for is_ordinal in (True, False):
        one, other = (krippendorff_alpha(ValueCounts(votes_of(some)), is_ordinal=is_ordinal) for some in (table, moved))
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-6)


def test_raters_who_agree_have_ones_everywhere() -> None:
    table = np.repeat(np.array([[1.0], [2], [4], [5]] * 3), 6, axis=1)
    found = measured(frame(table))
    ones = found.drop(index="SOS a")["value"]
    np.testing.assert_allclose(ones.astype(float), 1.0)
    assert found["value"]["SOS a"] == 0


def test_a_level_of_ones_own_costs_absolute_agreement_alone() -> None:
    table = np.array([[1.0], [2], [4], [5]] * 3) + np.arange(6) / 10
    found = measured(frame(table).assign(scale_max=6))["value"]
    assert found["ICC(C,1)"] == pytest.approx(1)
    assert found["Kendall's W"] == pytest.approx(1)
    assert found["ICC(A,1)"] < 1


# Gaps


@pytest.mark.parametrize("gaps", [0.2, 0.9])
def test_correlations_of_sparse_ratings_are_near_those_of_all(gaps: float) -> None:
    rng = np.random.default_rng(3)
    whole = rng.normal(0, 1, (150, 1)) + rng.normal(0, 0.5, 120) + rng.normal(0, 0.8, (150, 120))
    table = np.where(rng.random(whole.shape) < gaps, np.nan, whole)
    votes = votes_of(table)
    known = icc_complete(whole)
    sparse = icc_sparse(votes, variance_components(votes.value, votes.stimulus, votes.rater))
    by_moments = icc_sparse(votes, moment_components(votes))
    for name in ("ICC(1,1)", "ICC(A,1)", "ICC(C,1)"):
        assert sparse[name].value == pytest.approx(known[name].value, abs=0.03)
        assert by_moments[name].value == pytest.approx(known[name].value, abs=0.04)


def test_without_gaps_components_and_mean_squares_say_the_same() -> None:
    table = rated(30, 10)
    votes, known = votes_of(table), icc_complete(table)
    for components in (variance_components(votes.value, votes.stimulus, votes.rater), moment_components(votes)):
        found = icc_sparse(votes, components)
        for name in ICCS:
            assert found[name].value == pytest.approx(known[name].value, abs=1e-5)


def test_moments_are_near_reml_where_a_few_things_have_most_votes() -> None:
    rng = np.random.default_rng(0)
    things, raters = 120, 150
    often = 1 / np.arange(1, things + 1)
    chosen = [rng.choice(things, 15, replace=False, p=often / often.sum()) for _ in range(raters)]
    _, thing = np.unique(np.concatenate(chosen), return_inverse=True)
    rater = np.repeat(np.arange(raters), 15)
    felt = rng.normal(3, 1, things)[thing] + rng.normal(0, 0.4, raters)[rater] + rng.normal(0, 0.6, len(rater))
    votes = RaterVotes(felt, rater, thing, raters, int(thing.max()) + 1)
    by_moments, by_reml = (
        icc_sparse(votes, found) for found in (moment_components(votes), variance_components(felt, thing, rater))
    )
    for name in ("ICC(A,1)", "ICC(C,1)"):
        assert by_moments[name].value == pytest.approx(by_reml[name].value, abs=0.01)


def test_moments_know_what_one_vote_of_each_rater_cannot_tell() -> None:
    rng = np.random.default_rng(1)
    votes = RaterVotes(rng.integers(1, 6, 90).astype(float), np.arange(90), np.arange(90) % 9, 90, 9)
    assert np.isnan(moment_components(votes)).all()
    assert list(icc_sparse(votes, moment_components(votes))) == ["ICC(1,1)", "ICC(1,k)"]


def test_sparse_ratings_say_what_they_rest_on() -> None:
    found = measured(frame(rated(30, 20, gaps=0.5)))
    gaps = "not everybody rated everything: from variance components, without an interval"
    assert found["note"]["ICC(A,1)"] == gaps
    assert found["low"][ICCS].isna().all()
    assert found["note"]["ICC(A,k)"].endswith(f"; {gaps}")
    assert "Kendall's W" not in found.index
    result = reliability(frame(rated(30, 20, gaps=0.5)))
    assert result is not None
    assert "rating: no Kendall's W, as no two participants rated everything." in result.note


def test_concordance_is_of_those_who_rated_everything() -> None:
    table = rated(12, 10)
    table[0, :4] = np.nan
    row = measured(frame(table)).loc["Kendall's W"]
    assert (row["participants"], row["n"]) == (6, 72)
    assert row["note"].endswith("6 of 10 participants rated everything")
    assert row["value"] == pytest.approx(kendall_w(table[:, 4:])[0])  # type: ignore[index]


# Little to go by

ODD = {
    "one participant": rated(12, 1),
    "one stimulus": rated(1, 12),
    "all the same": np.full((4, 4), 3.0),
    "one rating": np.array([[3.0]]),
    "two and two": np.array([[1.0, 5.0], [5.0, 1.0]]),
    "a straight-liner": np.column_stack([rated(12, 3), np.full(12, 3.0)]),
    "two parts without a common rater": np.block(
        [[rated(5, 4), np.full((5, 4), np.nan)], [np.full((5, 4), np.nan), rated(5, 4)]]
    ),
    "everybody rated something else": np.where(np.eye(6) == 1, 3.0, np.nan) + np.arange(6),
    "at the end of the scale": np.ones((5, 5)),
}


@pytest.mark.parametrize("name", ODD)
def test_little_to_go_by_gives_fewer_measures_and_a_reason(name: str) -> None:
    result = reliability(frame(ODD[name]))
    if result is None:
        return
    numbers = result.table[["value", "low", "high", "p"]].to_numpy(float)
    assert not np.isinf(numbers).any()
    assert result.table["value"].notna().all()
    assert list(result.table.columns) == COLUMNS
    absent = set(REFERENCE) - set(result.table["measure"])
    assert all(measure.split("(")[0] in result.note.partition("chi-square.")[2] for measure in absent)


def test_nothing_is_told_where_nothing_can_be_measured() -> None:
    assert reliability(frame(ODD["at the end of the scale"])) is None
    assert reliability(frame(rated(12, 4)).assign(kind="choice", value=1.0)) is None
    assert reliability(frame(rated(12, 4)).assign(use=False)) is None


def test_names_of_any_kind_are_only_names() -> None:
    table = rated(12, 4)
    odd = {"p0": "no", "p1": "01", "p2": "NA", "p3": "Größe 2"}
    data = frame(table)
    renamed = data.assign(participant=data["participant"].map(odd), question="ja?")
    pd.testing.assert_frame_equal(measured(renamed).drop(columns="question"), measured(data).drop(columns="question"))


def test_the_same_ratings_give_the_same_intervals() -> None:
    data = frame(rated(20, 8, gaps=0.3))
    pd.testing.assert_frame_equal(measured(data), measured(data.sample(frac=1, random_state=1)))


# In the report


def told(folder: Path, **keys: Any) -> str:
    study = made_up(folder, {"ours": 70, "base": 50, "natural": 85}, **keys)
    analyse(study)
    found = reliable(load_material(study))
    assert found is not None
    return found


def test_the_report_says_in_words_what_the_numbers_mean(tmp_path: Path) -> None:
    page = told(tmp_path)
    found = pd.read_csv(tmp_path / "analyse" / "reliability.csv").set_index("measure")["value"]
    share = round(100 * found["ICC(A,1)"])
    assert f"{share} % of the differences between single ratings come from what was rated" in page
    assert f", the other {100 - share} % from who rated and from chance." in page
    assert f"Of the differences between means of 24 ratings each it is {round(100 * found['ICC(A,k)'])} %." in page
    assert "It grows with the number of raters, so it says little by itself." in page
    assert "Videos have 0.1 to 0.25" in page
    assert "Against none: p &lt; 0.001." in page
    assert page.count("<svg") == len(REFERENCE)


def test_several_questions_stand_in_one_table(tmp_path: Path) -> None:
    asked = [{"id": name, "text": f"How {name} is it?", "scale": "agree5"} for name in ("good", "clear")]
    page = told(tmp_path, questions=asked)
    assert "<caption>Reliability by question</caption>" in page
    assert "of the differences between single ratings come from what was rated" in page
    assert page.count("Kendall&#x27;s W. ") == 1


def test_one_person_has_no_reliability(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"ours": 70, "base": 50}, participants=1)
    analyse(study)
    assert not (tmp_path / "analyse" / "reliability.csv").exists()
    assert reliable(load_material(study)) is None
