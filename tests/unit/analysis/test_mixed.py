"""Mixed models: run effects and crossed random effects, against published numbers, closed forms and planted truth."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.mixed import mixed, runs, variances
from beholder.analysis.result import Result, read_results
from beholder.cleaning.ratings import read_ratings
from beholder.reporting.material import load_material
from beholder.reporting.sensitivity import run_effects, told_runs, variance
from beholder.stats.crossed import RunEffect, fit_crossed, run_effect, variance_components
from beholder.stats.intervals import t_bounds
from support.data import DATA
from support.report_pages import made_up

Table = dict[str, Any]


def data_file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return path


def five_runs() -> pd.DataFrame:
    raw = pd.read_csv(data_file("ratings/lmm_runs_synth_raw.csv"))
    raw = raw.rename(columns={"subject": "participant", "score": "value"})
    return raw.assign(content=raw["stimulus"], condition="codec")


def codes(table: pd.DataFrame, *columns: str) -> list[Any]:
    return [pd.factorize(table[name], sort=True)[0] for name in columns]


def balanced(people: int, contents: int, groups: int, seed: int = 1, sd: tuple[float, float] = (0.5, 0.4)) -> Table:
    """Return values of everybody on everything."""
    rng = np.random.default_rng(seed)
    one, other, group = (axis.ravel() for axis in np.indices((people, contents, groups)))
    value = rng.normal(0, sd[0], people)[one] + rng.normal(0, sd[1], contents)[other] + rng.normal(0, 0.7, len(one))
    return {"value": value + 0.3 * group, "group": group, "one": one, "other": other}


def planted_runs(
    rng: np.random.Generator, runs: int, raters: int, *, stimuli: int = 24, each: int = 12, shift: float = 0.0
) -> Table:
    """Return ratings of several runs, each with raters of its own; the first run is so much above the others."""
    rater = np.repeat(np.arange(runs * raters), each)
    stimulus = np.concatenate([rng.permutation(stimuli)[:each] for _ in range(runs * raters)])
    run = rater // raters
    value = rng.normal(3, 0.8, stimuli)[stimulus] + rng.normal(0, 0.4, runs * raters)[rater] + shift * (run == 0)
    return {"value": value + rng.normal(0, 0.7, len(rater)), "stimulus": stimulus, "run": run, "rater": rater}


def test_run_effect_equals_the_reference() -> None:
    table = five_runs()
    known = pd.read_csv(data_file("ratings/lmm_runs_synth_reference.csv")).set_index("method").loc["profiled_ml"]
    found = run_effect(table["value"].to_numpy(float), *codes(table, "stimulus", "run", "participant"))
    names = {
        "chi2": "chi2", "df": "df", "p": "p", "residual": "resid_var", "rater": "subject_var", "llf_full": "llf_full",
        "llf_null": "llf_null",
    }  # fmt: skip
    for mine, theirs in names.items():
        assert getattr(found, mine) == pytest.approx(known[theirs], abs=1e-6)
    assert found.note == ""
    assert len(found.differences) == 10


def test_run_effect_whichever_factor_is_larger() -> None:
    """More stimuli than raters are eliminated the other way round; the likelihood is the same function of the data."""
    rng = np.random.default_rng(2)
    few = planted_runs(rng, 2, 6, stimuli=40, each=30, shift=0.3)
    found = run_effect(**few)
    twice = {**few, "stimulus": few["stimulus"] % 10}
    assert found.note == run_effect(**twice).note == ""
    pair = found.differences[0]
    # With everybody on most stimuli the difference is close to that of the raters' own means.
    own = pd.DataFrame(few).assign(value=lambda t: t["value"] - t.groupby("stimulus")["value"].transform("mean"))
    means = own.groupby(["run", "rater"])["value"].mean().groupby("run").mean()
    assert pair.difference == pytest.approx(means[0] - means[1], abs=0.15)
    assert pair.low < pair.difference < pair.high


def test_run_effect_of_a_balanced_design_is_the_t_test_of_rater_means() -> None:
    """Everybody rates everything: run against run is Student's t over the raters' means."""
    rng = np.random.default_rng(3)
    table = planted_runs(rng, 2, 9, stimuli=7, each=7)
    pair = run_effect(**table).differences[0]
    means = pd.DataFrame(table).groupby(["run", "rater"])["value"].mean()
    known = stats.ttest_ind(means[0], means[1])
    assert pair.difference == pytest.approx(means[0].mean() - means[1].mean())
    assert pair.df == known.df == 16
    assert pair.p == pytest.approx(known.pvalue, rel=1e-6)
    assert (pair.low, pair.high) == pytest.approx(tuple(known.confidence_interval()), rel=1e-6)


def test_one_rater_in_two_runs_is_one_rater() -> None:
    """A difference within people is told far better than one between as many people."""
    rng = np.random.default_rng(4)
    rater, run, stimulus = (axis.ravel() for axis in np.indices((10, 2, 8)))
    value = rng.normal(0, 1, 10)[rater] + rng.normal(0, 1, 8)[stimulus] + 0.4 * (run == 0) + rng.normal(0, 0.3, 160)
    within = run_effect(value, stimulus, run, rater)
    between = run_effect(value, stimulus, run, rater * 2 + run)
    assert within.differences[0].difference == pytest.approx(between.differences[0].difference)
    assert within.differences[0].se < between.differences[0].se / 4
    assert within.p < 1e-6 < 0.05 < between.p


@pytest.mark.parametrize(("margin", "said"), [(None, ""), (0.01, "no"), (0.35, "undecided"), (2.0, "yes")])
def test_equivalence_is_said_only_where_it_is_shown(margin: float | None, said: str) -> None:
    found = run_effect(**planted_runs(np.random.default_rng(5), 2, 40, shift=0.4), margin=margin)
    assert found.differences[0].equivalent == said


def test_no_clear_difference_is_not_equivalence() -> None:
    found = run_effect(**planted_runs(np.random.default_rng(6), 2, 4), margin=0.2)
    assert found.p > 0.05
    assert found.differences[0].equivalent == "undecided"


def small(value: Any, stimulus: Any, run: Any, rater: Any) -> RunEffect:
    return run_effect(np.asarray(value, float), *(np.asarray(code, np.intp) for code in (stimulus, run, rater)))


@pytest.mark.parametrize(
    ("found", "note"),
    [
        (small([1, 2, 3], [0, 1, 0], [0, 0, 0], [0, 0, 1]), "one run: nothing to compare"),
        (small([], [], [], []), "one run: nothing to compare"),
        (
            small([1, 2, 3, 4], [0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 2, 3]),
            "runs share no stimulus, not even through others: cannot be compared",
        ),
        (
            small([1, 2, 3, 4], [0, 1, 0, 1], [0, 0, 1, 1], [0, 0, 1, 1]),
            "one rater in each run: runs cannot be told from raters",
        ),
        (small([1, 2, 3], [0, 1, 0], [0, 0, 1], [0, 1, 2]), "too few ratings for so many stimuli and runs"),
        (
            small([3] * 12, [0, 1, 2] * 4, [0] * 6 + [1] * 6, [0, 0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3]),
            "ratings leave nothing to chance: nothing to test",
        ),
    ],
)
def test_run_effect_says_why_there_is_none(found: RunEffect, note: str) -> None:
    assert found.note == note
    assert np.isnan([found.chi2, found.p, found.residual, found.rater, found.llf_full, found.llf_null]).all()
    assert found.differences == ()


def test_raters_alike_have_no_variance() -> None:
    """Where raters differ less than chance would have them, their variance is zero and the model that without them."""
    rng = np.random.default_rng(7)
    rater, stimulus = (axis.ravel() for axis in np.indices((8, 6)))
    noise = rng.normal(0, 1, (8, 6))
    value = (noise - noise.mean(axis=1, keepdims=True)).ravel() + stimulus
    found = run_effect(value, stimulus, rater // 4, rater)
    assert found.rater == 0
    assert found.chi2 == pytest.approx(0, abs=1e-9)
    centred = value - pd.Series(value).groupby(stimulus).transform("mean")
    assert found.residual == pytest.approx(float((centred**2).mean()))


@pytest.mark.long
def test_run_effect_keeps_its_level(whole: bool) -> None:
    """Without any difference the likelihood ratio finds one in 5 to 9 %, OLS without raters many times as often."""
    times = 1_000 if whole else 60
    rng = np.random.default_rng(8)
    found, plain, held = 0, 0, 0
    for _ in range(times):
        table = planted_runs(rng, 4, 12)
        effect = run_effect(**table)
        found += effect.p < 0.05
        held += effect.differences[0].low < 0 < effect.differences[0].high
        rest = pd.Series(table["value"]).groupby(table["stimulus"]).transform("mean")
        left = pd.Series(table["value"] - rest).groupby(table["run"])
        plain += stats.f_oneway(*(group for _, group in left)).pvalue < 0.05
    low, high = stats.binom.interval(0.9999, times, 0.065)
    assert low <= found <= high
    assert plain > 3 * found
    assert held >= stats.binom.ppf(0.0001, times, 0.95)


def test_balanced_components_are_those_of_the_analysis_of_variance() -> None:
    table = balanced(12, 9, 1)
    grid = table["value"].reshape(12, 9)
    rows, columns, grand = grid.mean(axis=1), grid.mean(axis=0), grid.mean()
    left = grid - rows[:, None] - columns + grand
    residual = (left**2).sum() / (11 * 8)
    one = (rows.var(ddof=1) * 9 - residual) / 9
    other = (columns.var(ddof=1) * 12 - residual) / 12
    found = variance_components(table["value"], table["one"], table["other"])
    assert tuple(found) == pytest.approx((one, other, residual), rel=1e-7)
    turned = variance_components(table["value"], table["other"], table["one"])
    assert (turned.other, turned.one, turned.residual) == pytest.approx(tuple(found), rel=1e-7)


def test_balanced_means_are_plain_and_their_errors_known() -> None:
    table = balanced(10, 6, 3)
    found = fit_crossed(**table)
    assert found is not None
    assert found.mean == pytest.approx(pd.Series(table["value"]).groupby(table["group"]).mean().to_numpy())
    shared = found.one / 10 + found.other / 6
    assert np.diag(found.covariance) == pytest.approx(shared + found.residual / 60, rel=1e-7)
    assert found.covariance[0, 1] == pytest.approx(shared, rel=1e-7)
    parts = ((found.one / 10) ** 2 / 9, (found.other / 6) ** 2 / 5, (found.residual / 60) ** 2 / (180 - 17))
    assert found.df == pytest.approx((shared + found.residual / 60) ** 2 / sum(parts), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(
    seed=st.integers(0, 10_000), scale=st.floats(0.01, 100), shift=st.floats(-1000, 1000),
    sd=st.tuples(st.sampled_from([0.0, 0.5]), st.sampled_from([0.0, 0.4])),
)  # fmt: skip
def test_other_units_change_nothing_but_the_units(
    seed: int, scale: float, shift: float, sd: tuple[float, float]
) -> None:
    table = balanced(8, 5, 3, seed, sd)
    kept = np.random.default_rng(seed).random(len(table["value"])) < 0.7
    kept[: 3 * 5] = True
    part = {name: column[kept] for name, column in table.items()}
    part["one"] = np.unique(part["one"], return_inverse=True)[1]
    found, other = fit_crossed(**part), fit_crossed(**{**part, "value": scale * part["value"] + shift})
    assert found is not None
    assert other is not None
    np.testing.assert_allclose(other.mean, scale * found.mean + shift, rtol=1e-6, atol=1e-5 * scale)
    for name in ("one", "other", "residual"):
        assert getattr(other, name) == pytest.approx(scale**2 * getattr(found, name), rel=1e-4, abs=1e-6 * scale**2)
    assert other.chi2 == pytest.approx(found.chi2, abs=1e-4)
    assert found.residual > 0
    assert min(found.one, found.other) >= 0


def test_components_that_cannot_be_told_apart_are_none() -> None:
    def none(one: list[int], other: list[int]) -> bool:
        value = np.arange(len(one)) % 3 + 0.1 * np.arange(len(one))
        return bool(np.isnan(variance_components(value, np.array(one), np.array(other))).all())

    assert none([0, 0, 0], [0, 1, 2])
    assert none([0, 1, 2, 3], [0, 0, 1, 1])
    assert none([0, 0, 1, 1], [0, 0, 1, 1])
    assert np.isnan(variance_components(np.full(12, 3.0), *(a.ravel() for a in np.indices((3, 4))))).all()


def as_table(table: Table) -> pd.DataFrame:
    names = {"one": "participant", "other": "content", "group": "condition"}
    return pd.DataFrame(table).rename(columns=names).assign(value=table["value"])


def made(result: Result | None) -> pd.DataFrame:
    assert result is not None
    return result.table


@pytest.mark.long
def test_intervals_of_the_mixed_model_hold_the_truth(whole: bool) -> None:
    times = 600 if whole else 40
    rng = np.random.default_rng(9)
    held = 0.0
    for seed in rng.integers(0, 10**6, times):
        found = fit_crossed(**balanced(12, 5, 3, int(seed)))
        assert found is not None
        low, high = t_bounds(found.mean, np.sqrt(np.diag(found.covariance)), found.df)
        truth = 0.3 * np.arange(3)
        held += float(((low < truth) & (truth < high)).mean())
    # Three means of one study go together.
    assert stats.binom.ppf(0.0001, times, 0.95) <= held


def test_shares_sum_to_one_and_conditions_are_tested() -> None:
    rows = made(variances(as_table(balanced(20, 8, 4)))).set_index("source")
    assert list(rows.index) == ["condition", "participant", "content", "residual"]
    assert rows["share"].sum() == pytest.approx(1)
    assert list(rows["levels"]) == [4, 20, 8, 640]
    assert rows.loc["condition", "df"] == 3
    assert rows["p"]["condition"] < 1e-6
    assert rows["p"].notna().sum() == 1


def test_what_cannot_be_told_is_left_out_with_a_reason() -> None:
    def notes(table: pd.DataFrame) -> dict[str, str]:
        rows = made(variances(table)).set_index("source")
        assert rows.loc[rows["note"] != "", "variance"].isna().all()
        assert made(mixed(table))["ci_low"].notna().all()
        return {str(source): str(note) for source, note in rows["note"].items() if note}

    whole = as_table(balanced(6, 4, 2))
    assert notes(whole) == {}
    assert notes(whole[whole["content"] == 0]) == {"content": "one content"}
    assert notes(whole[whole["participant"] == 0]) == {"participant": "one participant"}
    assert notes(whole[whole["condition"] == 0]) == {"condition": "one condition"}
    alone = whole.assign(participant=np.arange(len(whole)))
    assert notes(alone) == {"participant": "one rating of each participant"}
    own = whole[whole["content"] == whole["condition"]]
    assert notes(own) == {"content": "every condition has a content of its own"}
    assert made(mixed(own))["note"][0] == "without contents: every condition has a content of its own"


@pytest.mark.parametrize(
    "table",
    [
        as_table(balanced(6, 4, 2)).assign(value=3.0),
        as_table(balanced(6, 4, 2)).head(1),
        as_table(balanced(6, 4, 2)).head(0),
        as_table(balanced(6, 4, 2)).assign(value=np.nan),
        as_table(balanced(6, 4, 2)).assign(value=1.0, kind="choice", other_condition="x"),
    ],
)
def test_nothing_to_say(table: pd.DataFrame) -> None:
    assert mixed(table) is None
    assert variances(table) is None
    assert runs(table) is None


def test_names_and_order_stay() -> None:
    table = as_table(balanced(6, 4, 3)).assign(condition=lambda t: t["condition"].map({0: "no", 1: "01", 2: "Größe 2"}))
    assert list(made(mixed(table))["condition"]) == ["01", "Größe 2", "no"]
    result = variances(table)
    assert result is not None
    drawn = result.plot().to_dict()
    assert {row["part"] for row in drawn["layer"][0]["data"]["values"]} <= {
        "conditions", "participants", "contents", "the rest",
    }  # fmt: skip


def test_runs_of_a_table() -> None:
    rows = made(runs(five_runs()))
    whole, pairs = rows.iloc[0], rows[rows["run"] != ""]
    assert (whole["statistic"], whole["df"], whole["p"]) == pytest.approx((2.639852454, 4, 0.6197799146), abs=1e-6)
    assert list(zip(pairs["run"], pairs["other_run"], strict=True))[:2] == [("r1", "r2"), ("r1", "r3")]
    assert (pairs["margin"] == 0.2).all()
    assert set(made(runs(five_runs(), margin=0.05))["equivalent"]) == {"", "undecided"}


def test_one_run_and_runs_apart() -> None:
    table = as_table(balanced(8, 4, 2))
    assert runs(table) is None
    assert runs(table.assign(run=1)) is None
    assert runs(table.assign(run=np.where(table["participant"] < 4, 1.0, np.nan))) is None
    named = made(runs(table.assign(run=np.where(table["participant"] < 4, 10.0, 2.0))))
    assert list(named["run"]) == ["", "2"]
    assert list(named["other_run"]) == ["", "10"]
    apart = made(runs(table.assign(run=table["content"] // 2)))
    assert list(apart["note"]) == ["runs share no stimulus, not even through others: cannot be compared"]


def test_the_report_tells_sources_and_runs(tmp_path: Path) -> None:
    asked = [{"id": name, "text": name.title() + "?", "scale": "acr5"} for name in ("quality", "real")]
    study = made_up(tmp_path, {"no": 60, "01": 45}, participants=12, questions=asked)
    path = tmp_path / "clean" / "ratings.csv"
    table = read_ratings(path)
    first = set(table["participant"].unique()[:6])
    is_real = table["question"] == "real"
    run = table["participant"].isin(first).map({True: 1, False: 2}).mask(is_real, 1)
    table.assign(run=run, use=table["use"].map({True: "true", False: "false"})).to_csv(path, index=False)
    analyse(study)
    material = load_material(study)
    sources, agreed = variance(material, {}), run_effects(material)
    assert sources is not None
    assert "Of all that ratings differ by, over 2 questions, <b>" in sources
    assert agreed is not None
    assert "The runs do not differ clearly (χ²(1) = " in agreed
    assert "Real?" not in agreed
    assert set(read_results(tmp_path).also["runs"]["run"]) == {"", "1"}


@pytest.mark.parametrize(
    ("p", "equivalent", "said"),
    [
        (0.5, ["yes"], "The runs do not differ clearly (χ²(2) = 1.00, p = 0.500), and they are equivalent within ±0.2 "
         "points."),
        (0.5, ["yes", "yes", "undecided"], "The runs do not differ clearly (χ²(2) = 1.00, p = 0.500). That does not "
         "make them the same: 2 of 3 pairs can be called equivalent within ±0.2 points."),
        (0.0001, ["yes", "no", "no"], "The runs differ (χ²(2) = 1.00, p < 0.001); 1 of 3 pairs is equivalent within "
         "±0.2 points."),
        (0.01, ["yes"] * 3, "The runs differ (χ²(2) = 1.00, p = 0.010), and every two are equivalent within ±0.2 "
         "points."),
    ],
)  # fmt: skip
def test_what_is_said_of_runs(p: float, equivalent: list[str], said: str) -> None:
    pairs = pd.DataFrame({"equivalent": equivalent, "margin": 0.2})
    assert told_runs({"note": "", "df": 2.0, "statistic": 1.0, "p": p}, pairs) == said


def test_what_is_said_of_runs_without_a_test() -> None:
    assert told_runs({"note": "one rater in each run"}, pd.DataFrame()) == "No test: one rater in each run."
