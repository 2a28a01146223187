"""Metrics beside ratings: correlations as scipy has them, values from elsewhere, what the page says, all problems."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import beholder
from beholder.cli import cli
from beholder.errors import UserError
from beholder.objective.correlation import SCORE_COLUMNS, between, relate
from beholder.objective.regions import read_values

CONDITIONS = ["no", "01", "NA", "Größe 2", "e", "f", "g"]


def tables(x: list[float], y: list[float], **more: list[float]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return scores y of as many stimuli, and the metrics x and others of them."""
    names = [f"s{place}" for place in range(len(y))]
    scores = pd.DataFrame({"stimulus": names, "question": "quality", "mean": y})
    values = [
        pd.DataFrame({"stimulus": names, "metric": metric, "value": given})
        for metric, given in {"x": x, **more}.items()
    ]
    return scores, pd.concat(values)


def test_correlations_are_those_of_scipy() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=40)
    y = 0.8 * x + rng.normal(size=40)
    row = relate(*tables(list(x), list(y)), "stimulus").table.iloc[0]
    pearson, spearman, tau = stats.pearsonr(x, y), stats.spearmanr(x, y), stats.kendalltau(x, y)
    line = stats.linregress(x, y)
    left = y - line.intercept - line.slope * x
    assert row[["pearson", "spearman", "tau_b"]].tolist() == pytest.approx(
        [pearson.statistic, spearman.statistic, tau.statistic]
    )
    assert row[["pearson_p", "spearman_p", "tau_b_p"]].tolist() == pytest.approx(
        [pearson.pvalue, spearman.pvalue, tau.pvalue]
    )
    ends = pearson.confidence_interval()
    assert row[["pearson_low", "pearson_high"]].tolist() == pytest.approx([ends.low, ends.high])
    assert row["tau_b_low"] < row["tau_b"] < row["tau_b_high"]
    assert row[["slope", "intercept"]].tolist() == pytest.approx([line.slope, line.intercept])
    assert row["rmse_mapped"] == pytest.approx(np.sqrt(np.mean(left**2)))
    assert row["rmse_mapped_unbiased"] == pytest.approx(np.sqrt(np.sum(left**2) / 38))
    assert row["n"] == 40
    assert list(row.index) == SCORE_COLUMNS


numbers = st.floats(-1e6, 1e6, allow_nan=False).map(lambda value: round(value, 3))


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(numbers, numbers), max_size=12))
def test_nothing_breaks_it_and_a_lower_is_better_metric_only_turns_the_sign(pairs: list[tuple[float, float]]) -> None:
    x, y = [one for one, _ in pairs], [other for _, other in pairs]
    table = relate(*tables(x, y, turned=[-one for one in x]), "stimulus").table
    assert len(table) == (2 if pairs else 0)
    if not pairs:
        return
    up, down = table.iloc[0], table.iloc[1]
    for name in ("pearson", "spearman", "tau_b"):
        assert (np.isnan(up[name]) and np.isnan(down[name])) or up[name] == pytest.approx(-down[name])
        assert np.isnan(up[name]) or abs(up[name]) <= 1 + 1e-9
    assert np.isnan(up["pearson"]) or len(pairs) >= 3
    assert not np.isinf(table.select_dtypes("number").to_numpy(dtype=float)).any()


def test_several_values_of_a_condition_are_averaged_and_regions_stand_apart() -> None:
    values = pd.DataFrame(
        {
            "condition": [*CONDITIONS * 2, *CONDITIONS],
            "metric": "lpips",
            "region": [*["face"] * 14, *["torso"] * 7],
            "value": [*range(7), *range(2, 9), *[1.0] * 7],
        }
    )
    scores = pd.DataFrame({"condition": CONDITIONS, "question": "real", "mean": [7.0, 6, 5, 4, 3, 2, 1]})
    table = relate(scores, values, "condition").table
    assert table[["metric", "region", "n"]].to_numpy().tolist() == [["lpips", "face", 7], ["lpips", "torso", 7]]
    assert table["pearson"].iloc[0] == pytest.approx(-1)
    assert np.isnan(table["pearson"].iloc[1])


def test_two_metrics_are_compared_on_what_both_have_and_without_their_signs() -> None:
    rng = np.random.default_rng(5)
    y = rng.normal(size=60)
    good, poor = -(y + rng.normal(0, 0.3, 60)), y + rng.normal(0, 2, 60)
    found = between(*tables(list(good), list(y), poor=list(poor)), "stimulus")
    assert found is not None
    row = found.table.iloc[0]
    assert row["pearson"] > row["other_pearson"] > 0
    assert row["z"] > 0
    assert row["p"] == row["p_holm"] < 0.001
    same = between(*tables(list(good), list(y), poor=list(2 * good + 1)), "stimulus")
    assert same is not None
    assert same.table["p"].iloc[0] == pytest.approx(1)
    assert between(*tables([1, 2, 3], [1, 2, 4], poor=[3, 2, 1]), "stimulus") is None
    assert between(*tables([1, 2, 3, 4, 5], [1, 2, 4, 3, 5], poor=[0.3] * 4 + [0.1 + 0.2]), "stimulus") is None


@pytest.fixture
def rated(tmp_path: Path) -> Path:
    """A table of ratings: four contents under seven conditions, by six people."""
    rng = np.random.default_rng(7)
    rows = ["participant,content,condition,value"]
    for person in range(6):
        for place, condition in enumerate(CONDITIONS):
            rows += [f"p{person},c{content},{condition},{place + rng.normal():.3f}" for content in range(4)]
    path = tmp_path / "ratings.csv"
    path.write_text("\n".join(rows) + "\n", "utf-8")
    return path


def test_values_from_elsewhere_are_held_beside_ratings(rated: Path, tmp_path: Path) -> None:
    wide = tmp_path / "wide.csv"
    rows: list[str] = []
    for place, condition in enumerate(CONDITIONS):
        rows += [f"{condition},c{content},{place + content / 10},{7 - place - content / 5}" for content in range(4)]
    wide.write_text("condition,content,sharp,LPIPS\n" + "\n".join(rows) + "\n", "utf-8")
    long = tmp_path / "fvd.csv"
    said = [f"{condition},FVD,{500 - 10 * place}" for place, condition in enumerate(CONDITIONS)]
    long.write_text("condition,metric,value\n" + "\n".join([*said[:-1], f"{CONDITIONS[-1]},FVD,inf"]) + "\n", "utf-8")
    found = beholder.metrics(rated, values=[wide, long])
    table = found.correlations.set_index(["level", "metric"])
    assert table["n"].to_dict() == {
        ("stimulus", "sharp"): 28, ("stimulus", "LPIPS"): 28,
        ("condition", "sharp"): 7, ("condition", "LPIPS"): 7, ("condition", "FVD"): 6,
    }  # fmt: skip
    assert table["pearson"]["stimulus", "sharp"] > 0.9
    assert table["pearson"]["stimulus", "LPIPS"] < -0.9
    assert table["pearson"]["condition", "FVD"] < -0.95
    assert found.values["note"].to_list().count("infinite") == 1
    assert found.page == tmp_path / "metrics" / "index.html"
    assert re.fullmatch(
        r"(sharp|LPIPS) agrees best with what people said: r = −?0\.9\d \(.* to .*\) over 28 stimuli; (sharp|LPIPS) "
        r"−?0\.9\d\.",
        found.words[0],
    )
    page = found.page.read_text("utf-8")
    assert found.words[0] in page
    assert "Größe 2" in page
    assert (
        "nan" not in re.sub(r"<svg.*?</svg>|<script.*?</script>|<style.*?</style>", "", page, flags=re.DOTALL).lower()
    )
    assert repr(found).startswith(found.words[0])
    assert "<table" in found._repr_html_()
    # Its own values can be read again.
    names = found.values[["stimulus", "content", "condition"]].drop_duplicates()
    pd.testing.assert_frame_equal(read_values(found.page.parent / "values.csv", names, {}), found.values)


def test_few_things_are_said_to_say_little(tmp_path: Path) -> None:
    scores, values = tmp_path / "scores.csv", tmp_path / "values.csv"
    scores.write_text("condition,question,mean\na,q,1\nb,q,2\nc,q,4\na,r,2\nb,r,1\nc,r,3\n", "utf-8")
    values.write_text("condition,one,two\na,1,5\nb,2,4\nc,3,\n", "utf-8")
    found = beholder.metrics(scores, values=[values])
    assert found.words == (
        "Over 2 questions one agrees best with what people said: |r| = 0.90 on average, from 0.50 (r) to 0.98 (q), "
        "over 3 conditions.",
        "With 3 conditions the intervals are wide: this says little about which metric is better.",
    )
    values.write_text("condition,one\na,1\nb,1\n", "utf-8")
    assert beholder.metrics(scores, values=[values]).words == (
        "No metric can be held beside the scores: fewer than three stimuli and conditions have both, or all are alike.",
    )


def refused(call: Callable[[], object]) -> list[str]:
    with pytest.raises(UserError) as caught:
        call()
    return str(caught.value).splitlines()


def test_values_that_cannot_be_are_said_with_their_lines(rated: Path, tmp_path: Path) -> None:
    one, two, three = (tmp_path / f"{name}.csv" for name in ("one", "two", "three"))
    one.write_text("condition,sharp,soft\nno,1,high\n01,low,\nNA,,3\n", "utf-8")
    two.write_text("clip,sharp\nx,1\n", "utf-8")
    three.write_text("stimulus,sharp\nx/y,1\n", "utf-8")
    gone = tmp_path / "gone.csv"
    assert refused(lambda: beholder.metrics(rated, values=[one, two, three, gone])) == [
        f"{one}:3  sharp is 'low'. Allowed: a number, or nothing.",
        f"{one}:2  soft is 'high'. Allowed: a number, or nothing.",
        f"{two}  has neither stimulus nor condition. Allowed: stimulus or condition, and metric and value, or a column "
        "for each metric.",
        f"{three}  names nothing that was rated, as in 'x/y'. Allowed: a stimulus such as 01/c0, or a "
        "condition such as 01.",
        f"{gone}  is not there.",
    ]
    one.write_text("condition,metric,value\nno,sharp,1\nno,sharp,2\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [
        "metric sharp  has two values of no. Allowed: one of each."
    ]
    one.write_text("condition,metric,value\nno,,1\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [f"{one}:2  metric is empty. Allowed: a name."]
    one.write_text("condition\nno\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[one])) == [
        f"{one}  has no values. Allowed: at least one column with numbers."
    ]
    assert refused(lambda: beholder.metrics(rated)) == [
        f"{rated}  is a table, and only a study has stimuli that can be measured. Allowed: --values alone. Name "
        "study.yaml to measure its stimuli."
    ]


def test_tables_as_people_save_them_are_read_or_refused_clearly(rated: Path, tmp_path: Path) -> None:
    path, scores = tmp_path / "values.csv", tmp_path / "scores.csv"
    rows = [f"{at},{name} ,{9 - at}" for at, name in enumerate(CONDITIONS)]
    # With a mark of order, ends of lines as on Windows, an empty line, numbered rows, spaces, and a metric of any name.
    path.write_bytes("\r\n".join(["", ", condition ,line", *rows, ""]).encode("utf-8-sig"))
    table = beholder.metrics(rated, values=[path]).correlations
    assert table[["metric", "n"]].to_numpy().tolist() == [["line", 7]]
    need = "Allowed: stimulus or condition, and metric and value, or a column for each metric."
    for text, said in {
        "condition,value\nno,1\n": f"has value and no metric. {need}",
        "condition,metric\nno,sharp\n": f"has metric and no value. {need}",
        "condition,sharp,sharp\nno,1,2\n": "has the column sharp twice. Allowed: one of each.",
        "condition;sharp\nno;1\n": "has semicolons between its cells. Allowed: commas. Save it as CSV with commas.",
        "condition,sharp\nno,1,2\n": "has rows with more cells than the header has names. Allowed: as many cells as "
        "names.",
        "": "cannot be read as a table: No columns to parse from file. Allowed: CSV, UTF-8, with a header line.",
    }.items():
        path.write_text(text, "utf-8")
        assert refused(lambda: beholder.metrics(rated, values=[path])) == [f"{path}  {said}"]
    # Squares of these would have no end.
    path.write_text("condition,sharp\nno,1e300\n", "utf-8")
    scores.write_text("condition,mean\nno,1e300\n", "utf-8")
    assert refused(lambda: beholder.metrics(rated, values=[path])) == [
        f"{path}:2  sharp is '1e300'. Allowed: a number below 1e+15, or nothing."
    ]
    assert refused(lambda: beholder.metrics(scores, values=[path])) == [
        f"{scores}:2  mean is '1e300'. Allowed: a number below 1e+15, or an empty cell."
    ]


def test_the_command_prints_the_finding(rated: Path, tmp_path: Path) -> None:
    values = tmp_path / "fvd.csv"
    values.write_text("condition,FVD\n" + "".join(f"{name},{9 - at}\n" for at, name in enumerate(CONDITIONS)), "utf-8")
    ran = CliRunner().invoke(cli, ["metrics", str(rated), "--values", str(values), "--out", str(tmp_path / "out")])
    assert ran.exit_code == 0, ran.output
    lines = ran.output.splitlines()
    assert lines[0].split() == ["level", "question", "metric", "n", "pearson", "spearman", "tau_b"]
    assert lines[2].split()[:4] == ["condition", "rating", "FVD", "7"]
    assert lines[4].startswith("FVD beside what people said: r = −0.99")
    assert lines[-1] == f"Page: {tmp_path / 'out' / 'index.html'}"
    ran = CliRunner().invoke(cli, ["metrics", str(rated)], standalone_mode=False)
    assert isinstance(ran.exception, UserError)
