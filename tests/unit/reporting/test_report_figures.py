"""Figures: drawn from tables of results, alive in the page, and files for a paper."""

from __future__ import annotations

import re
import struct
from collections.abc import Sequence

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.distributions import distributions
from beholder.analysis.figures.distributions import distributions_chart
from beholder.analysis.figures.pairs import preferences_chart, ranks_chart
from beholder.analysis.figures.raters import raters_chart
from beholder.analysis.figures.scores import medians_chart, scores_chart, strengths_chart
from beholder.analysis.figures.theme import COLUMN, DOUBLE, Layout, ramp, scale_bands
from beholder.analysis.participants import raters, times
from beholder.analysis.result import Result, read_results
from beholder.reporting.figures import paper_files, to_svg
from beholder.reporting.sheets import TextTable, markdown_table, markdown_text
from beholder.study.model import Study
from beholder.study.questions import Scale
from support.report_pages import Page

ODD = ("no", "01", "NA", "Größe 2", 'a "b" <c> & d')


def tidy(rows: Sequence[tuple[object, ...]], *columns: str) -> pd.DataFrame:
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value", *columns])


def of(result: Result | None) -> pd.DataFrame:
    assert result is not None
    return result.table


# Distributions


def test_a_scale_of_few_whole_values_has_a_row_for_each_also_for_those_that_nobody_gave() -> None:
    data = tidy([("p1", "x", "a", 1.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 5.0), ("p1", "x", "b", 4.0)])
    table = of(distributions(data.assign(scale_min=1.0, scale_max=5.0)))
    assert list(table["band"]) == ["1", "2", "3", "4", "5"] * 2
    assert list(table[table["condition"] == "a"]["n"]) == [1, 0, 0, 0, 2]
    assert table.groupby("condition")["share"].sum().tolist() == pytest.approx([1, 1])


def test_a_long_scale_is_cut_into_twenty_bands_and_its_end_is_in_the_last() -> None:
    data = tidy([("p1", "x", "a", 0.0), ("p2", "x", "a", 5.0), ("p3", "x", "a", 100.0)])
    table = of(distributions(data.assign(scale_min=0.0, scale_max=100.0)))
    assert list(table["band"])[:2] == ["0 to 5", "5 to 10"]
    assert list(table[table["n"] > 0]["low"]) == [0, 5, 95]


def test_grades_between_two_conditions_count_for_both_with_opposite_signs() -> None:
    data = tidy([("p1", "x", "a", 2.0, "b"), ("p2", "x", "a", -1.0, "b")], "other_condition")
    table = of(distributions(data.assign(kind="diff", scale_min=-3.0, scale_max=3.0)))
    given = table[table["n"] > 0]
    assert list(zip(given["condition"], given["band"], strict=True)) == [
        ("a", "−1"),
        ("a", "2"),
        ("b", "−2"),
        ("b", "1"),
    ]


def test_choices_have_no_distribution() -> None:
    assert distributions(tidy([("p1", "x", "a", 1.0, "b")], "other_condition").assign(kind="choice")) is None


# Times


def test_a_page_counts_once_however_many_ratings_are_on_it() -> None:
    rows = [(f"p{n}", "x", name, 3.0, f"s{n}", 1, 8000.0) for n in range(3) for name in "ab"]
    rows += [(f"p{n}", "y", name, 3.0, f"s{n}", 2, 4000.0) for n in range(3) for name in "ab"]
    table = of(times(tidy(rows, "session", "position", "response_ms")))
    told = [(row.of, row.n, row.median_s) for row in table.itertuples()]
    assert told == [("page", 6, 6), ("page", 3, 8), ("page", 3, 4), ("rating", 6, 3)]


def test_pages_of_one_condition_tell_its_time() -> None:
    rows = [("p1", "x", "a", 3.0, "s1", 1, 8000.0), ("p1", "x", "b", 3.0, "s1", 2, 2000.0)]
    table = of(times(tidy(rows, "session", "position", "response_ms")))
    named = table[table["of"] == "condition"]
    assert dict(zip(named["condition"], named["median_s"], strict=True)) == {"a": 8, "b": 2}


def test_ratings_without_times_have_none() -> None:
    data = tidy([("p1", "x", "a", 3.0)])
    assert times(data) is None
    assert times(data.assign(response_ms=float("nan"), position=1.0, session="s1")) is None


# Raters


def crowd(n: int = 12, *, unused: tuple[str, ...] = ()) -> pd.DataFrame:
    """Return n people who agree but for noise, p000 ten points above them, p001 the other way round."""
    rng = np.random.default_rng(3)
    rows = []
    for person in range(n):
        for place in range(12):
            value = 20 + 5 * place + rng.normal(0, 2) + (10 if person == 0 else 0)
            rows.append((f"p{person:03}", f"x{place}", "a", 100 - value if person == 1 else value))
    data = tidy(rows).assign(scale_min=0.0, scale_max=100.0)
    return data.assign(use=~data["participant"].isin(unused))


def test_the_rater_map_finds_who_is_higher_and_who_disagrees() -> None:
    table = of(raters(crowd())).set_index("participant")
    assert table["offset"].idxmax() == "p000"
    assert table["agreement"].idxmin() == "p001"
    assert table["agreement"]["p001"] < -0.9
    assert table.drop(index="p001")["agreement"].min() > 0.9


def test_people_who_are_not_used_are_on_the_map_and_change_nobody_else() -> None:
    table = of(raters(crowd(unused=("p001",)))).set_index("participant")
    everybody = crowd()
    alone = of(raters(everybody[everybody["participant"] != "p001"])).set_index("participant")
    assert not table["use"]["p001"]
    assert table["agreement"]["p001"] < -0.9
    pd.testing.assert_frame_equal(table.drop(index="p001"), alone)


def test_one_rater_has_no_map_and_few_ratings_are_shown_by_their_spread() -> None:
    assert raters(crowd(1)) is None
    data = crowd()
    table = of(raters(data[data["content"].isin(["x0", "x5", "x9"])]))
    assert table["agreement"].isna().all()
    assert "Spread round the others" in to_svg(lambda layout: raters_chart(table, layout=layout), COLUMN)


# Drawing


def means(names: tuple[str, ...] = ODD) -> pd.DataFrame:
    rows = [("q", name, 40, 10, 50.0 + place, 45.0 + place, 55.0 + place) for place, name in enumerate(names)]
    return pd.DataFrame(rows, columns=["question", "condition", "n", "participants", "mean", "ci_low", "ci_high"])


def test_every_result_that_has_a_picture_draws_a_valid_chart() -> None:
    pair = {"question": "q", "condition": "a", "other_condition": "b"}
    medians = means().assign(median=50.0, q1=40.0, q3=60.0)
    strength = {"question": "q", "model": "bradley-terry", "level": "condition", "stimulus": "", "comparisons": 4}
    charts = [
        scores_chart(means()),
        scores_chart(pd.concat([means(), means().assign(question="r")])),
        medians_chart(medians),
        preferences_chart(pd.DataFrame([{**pair, "wins": 3, "ties": 0, "losses": 5}])),
        strengths_chart(pd.DataFrame([{**strength, "condition": "a", "quality": 0.5, "low": -1.0, "high": 2.0}])),
        ranks_chart(pd.DataFrame([{"question": "q", "condition": "a", "rank": 1, "probability": 1.0}])),
        raters_chart(of(raters(crowd(unused=("p001",))))),
        distributions_chart(of(distributions(crowd()))),
    ]
    for chart in charts:
        assert chart.to_dict()["config"]["font"].startswith("Helvetica")


def test_a_condition_without_an_interval_and_numbers_without_spread_are_drawn() -> None:
    bare = means(("a", "b")).assign(mean=3.0, ci_low=float("nan"), ci_high=float("nan"), n=1)
    svg = to_svg(lambda layout: scores_chart(bare, layout=layout), COLUMN)
    assert "NaN" not in svg
    assert svg.count(">3.00<") == 2


def test_colours_go_from_orange_to_blue_and_are_all_different() -> None:
    for n in (1, 2, 5, 7, 11):
        assert len(set(ramp(n))) == n
    assert (ramp(5)[0], ramp(5)[-1]) == ("#b35806", "#3a57ad")


def test_bands_of_a_category_scale_reach_half_a_step_beyond_its_ends() -> None:
    low, high, bands = scale_bands(Scale.model_validate({"min": 1, "max": 3, "labels": ["bad", "fair", "good"]}))
    assert (low, high) == (0.5, 3.5)
    assert [(band.start, band.stop) for band in bands] == [(0.5, 1.5), (1.5, 2.5), (2.5, 3.5)]


# Files


@pytest.mark.parametrize(("layout", "mm"), [(COLUMN, 88), (DOUBLE, 180)])
def test_files_are_as_wide_as_a_column_of_a_paper(layout: Layout, mm: int) -> None:
    files = paper_files(to_svg(lambda layout: scores_chart(means(), layout=layout), layout), layout)
    svg = files["svg"].decode()
    assert f'width="{mm:.2f}mm"' in svg
    assert "aria-label" not in svg
    box = re.search(rb"MediaBox \[0 0 ([\d.]+)", files["pdf"])
    assert box is not None
    assert float(box.group(1)) == pytest.approx(mm * 72 / 25.4, abs=0.1)
    assert b"FontFile" in files["pdf"]
    width = struct.unpack(">I", files["png"][16:20])[0]
    assert width == pytest.approx(mm * 300 / 25.4, abs=2)
    points = {float(size) * mm * 72 / 25.4 / layout.whole for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert 7 <= min(points) <= max(points) <= 8.5


def test_every_figure_and_table_lies_beside_the_page(people: tuple[Study, Page]) -> None:
    folder = people[0].folder / "report"
    figures = {path.stem for path in (folder / "figures").glob("*.svg")}
    assert {"scores-quality", "distributions-quality", "pairs-quality", "raters"} <= figures
    for name in figures:
        assert {path.suffix for path in (folder / "figures").glob(f"{name}.*")} == {".svg", ".pdf", ".png"}
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        assert {path.suffix for path in (folder / "tables").glob(f"{name}.*")} == {".csv", ".tex", ".md"}


# The page


def test_every_mark_says_what_it_stands_for(people: tuple[Study, Page]) -> None:
    study, page = people
    tips = [attributes["data-tip"] or "" for _, attributes in page.tags if "data-tip" in attributes]
    row = read_results(study.folder).conditions.set_index("condition").loc["natural"]
    ends = f"{row['ci_low']:.1f} to {row['ci_high']:.1f}"
    assert f"natural\n{row['mean']:.1f}, 95 % interval {ends}\nn = 96, 24 participants" in tips
    for said in ("agreement", "bias"):
        assert len([tip for tip in tips if tip.startswith(f"p000\n{said}")]) == 1


def test_the_script_is_in_the_page_and_small(people: tuple[Study, Page]) -> None:
    scripts = [attributes for tag, attributes in people[1].tags if tag == "script"]
    assert {"type": "module"} in scripts
    assert not [attributes for attributes in scripts if "src" in attributes]
    assert (people[0].folder / "report" / "index.html").stat().st_size < 600_000


# Markdown


def test_a_markdown_table_keeps_every_name_in_its_cell() -> None:
    assert markdown_text("a|b\n*c* <d>") == r"a\|b \*c\* \<d\>"
    sheet = TextTable(("Condition", "Mean"), [("a|b", "3.0")])
    assert markdown_table(sheet) == "| Condition | Mean |\n| :-- | --: |\n| a\\|b | 3.0 |\n"
