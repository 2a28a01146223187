"""Comparing: studies, runs, tables of ratings and tables of scores beside each other."""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import beholder
from beholder.analysis.sides import read_side
from beholder.cli import cli
from beholder.comparison.result import ComparisonTables, find
from beholder.comparison.sides import Source, open_sides
from beholder.comparison.text import told
from beholder.testing import write_study
from support.report_pages import made_up

CONDITIONS = {"low": 2.0, "middle": 3.0, "high": 4.0, "Größe 2": 4.1}


def ratings(path: Path, seed: int, shift: float = 0.0, *, people: int = 12, **columns: Any) -> Path:
    """Write ratings of 4 conditions and 5 contents on a scale of five."""
    rng = np.random.default_rng(seed)
    rows = [
        {"participant": f"p{person}", "content": content, "condition": condition,
         "value": float(np.clip(np.round(quality + 0.3 * place + shift + rng.normal(0, 0.7)), 1, 5)), **columns}
        for person in range(people)
        for place, content in enumerate(("01", "NA", "no", "four", "five"), -2)
        for condition, quality in CONDITIONS.items()
    ]  # fmt: skip
    pd.DataFrame(rows).to_csv(path, index=False)
    return path


def score_table(path: Path, source: Path, *columns: str) -> Path:
    """Write the scores that ratings give, with these columns only."""
    table = _read(source).stimuli
    table[list(columns) or ["stimulus", "mean", "sd", "n"]].to_csv(path, index=False)
    return path


_read = cache(read_side)


def found_of(*sources: Source, margin: float | None = None) -> ComparisonTables:
    return find(
        open_sides([_read(one) if isinstance(one, Path) and len(sources) > 1 else one for one in sources]), margin
    )


def row_of(table: pd.DataFrame, **keys: str) -> Any:
    mine = table
    for column, value in keys.items():
        mine = mine[mine[column] == value]
    assert len(mine) == 1
    return mine.iloc[0]


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Path]:
    folder = tmp_path_factory.mktemp("three")
    return ratings(folder / "a.csv", 1), ratings(folder / "b.csv", 2), ratings(folder / "c.csv", 3, 0.5)


@pytest.fixture(scope="module")
def compared(three: tuple[Path, Path, Path]) -> ComparisonTables:
    return found_of(*three)


# What is computed


def test_a_side_beside_itself_agrees_in_everything(three: tuple[Path, Path, Path]) -> None:
    found = found_of(three[0], three[0])
    assert found.names == ["a", "a (2)"]
    for row in found.table("agreement").to_dict("records"):
        assert (row["pearson"], row["spearman"], row["tau_b"], row["slope"]) == pytest.approx((1, 1, 1, 1))
        assert (row["rmse"], row["rmse_mapped"], row["intercept"]) == pytest.approx((0, 0, 0), abs=1e-9)
    assert (found.table("stimuli")["clear"] == 0).all()
    counts = found.table("contrast_counts").iloc[0]
    assert counts["contrasts"] == counts["same_direction"] == counts["agree"] == 6
    assert found.sides.notes == (
        "a and a (2) have 12 participants in common. Welch's test takes both sides as different people, which is "
        "cautious here.",
    )


def test_every_two_sides_have_a_row_and_a_place_in_the_matrix(compared: ComparisonTables) -> None:
    table = compared.table("agreement")
    assert len(table) == 3 * 2
    assert table[table["level"] == "stimulus"]["n"].eq(20).all()
    matrices = compared.table("matrices")
    wide = matrices[(matrices["level"] == "stimulus") & (matrices["measure"] == "tau_b")][["a", "b", "c"]].to_numpy()
    np.testing.assert_array_equal(wide, wide.T)
    assert wide[0, 2] == row_of(table, level="stimulus", side="a", other_side="c")["tau_b"]
    assert (np.diag(wide) == 1).all()


def test_a_scale_that_is_used_otherwise_is_mapped_away(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    other = pd.read_csv(score_table(tmp_path / "scores.csv", three[1], "stimulus", "mean"))
    other.assign(mean=20 * other["mean"] - 20).to_csv(tmp_path / "hundred.csv", index=False)
    plain, stretched = (
        row_of(found_of(three[0], tmp_path / name).table("agreement"), level="stimulus")
        for name in ("scores.csv", "hundred.csv")
    )
    assert stretched["rmse_mapped"] == pytest.approx(plain["rmse_mapped"], abs=1e-9)
    assert stretched["slope"] == pytest.approx(plain["slope"] / 20, abs=1e-9)
    assert stretched["rmse"] > 10 * plain["rmse"]


def test_scores_say_what_the_ratings_behind_them_say(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    whole = found_of(three[0], three[1])
    scores = found_of(three[0], score_table(tmp_path / "b.csv", three[1]))
    for name in ("pearson", "tau_b", "rmse_mapped"):
        for level in ("stimulus", "condition"):
            mine, theirs = (row_of(one.table("agreement"), level=level)[name] for one in (whole, scores))
            assert mine == pytest.approx(theirs, abs=1e-12)
    np.testing.assert_allclose(whole.table("stimuli")["p_holm"], scores.table("stimuli")["p_holm"], atol=1e-9)
    assert "effects" in whole.results
    assert "effects" not in scores.results


def test_a_plain_shift_differs_as_a_whole_and_not_in_what_it_says_of_conditions(compared: ComparisonTables) -> None:
    effects = compared.table("effects")
    same, shifted = (row_of(effects, side="a", other_side=name) for name in "bc")
    assert same["ci_low"] < 0 < same["ci_high"]
    assert shifted["ci_high"] < 0
    assert same["margin"] == pytest.approx(0.2)
    counts = row_of(compared.table("contrast_counts"), side="a", other_side="c")
    assert counts["both_clear"] >= 5
    assert counts["opposite_clear"] == 0
    wide = found_of(*(Path(side.study) for side in compared.sides.sides), margin=3.0)
    assert set(wide.table("effects")["equivalent"]) == {"yes"}


def test_three_sides_are_asked_which_two_agree_best(compared: ComparisonTables) -> None:
    table = compared.table("correlations")
    row = row_of(table, level="stimulus", side="a")
    assert (row["other_side"], row["third_side"], row["test"], row["n"]) == ("b", "c", "dependent", 20)
    assert row["ci_low"] <= row["difference"] <= row["ci_high"]
    assert row["p"] == pytest.approx(2 * row["p_one_sided"])


def test_correlations_over_different_stimuli_are_independent(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    table = _read(three[1]).stimuli[["stimulus", "mean"]]
    table.head(10).to_csv(tmp_path / "one.csv", index=False)
    table.tail(10).to_csv(tmp_path / "other.csv", index=False)
    found = found_of(three[0], tmp_path / "one.csv", tmp_path / "other.csv")
    row = row_of(found.table("correlations"), level="stimulus")
    assert (row["side"], row["test"], row["n"], row["third_n"]) == ("a", "independent", 10, 10)
    assert math.isnan(row["ci_low"])


def test_many_sides_are_told_in_one_sentence(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    found = found_of(*three, ratings(tmp_path / "d.csv", 4))
    (said,) = told(found)
    table = found.table("agreement")
    mine = table[table["level"] == "stimulus"].sort_values("pearson")
    least = mine.iloc[0]
    assert said.startswith(f"4 sides: r from {least['pearson']:.2f} ({least['side']} and {least['other_side']}) to ")
    clear = int(found.table("stimuli")["clear"].sum())
    assert f"In 120 comparisons of one stimulus between two sides {clear or 'none'} differ" in said
    assert "They agree on " in said
    assert "of 36 differences between conditions." in said


def test_many_questions_are_told_in_one_sentence_for_every_two_sides(tmp_path: Path) -> None:
    paths = []
    for name, seed in (("a", 1), ("b", 5)):
        tables = [pd.read_csv(ratings(tmp_path / "one.csv", seed + place), dtype=str, keep_default_na=False).assign(
            question=question) for place, question in enumerate(("real", "trust", "like", "no"))]  # fmt: skip
        pd.concat(tables).to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(tmp_path / f"{name}.csv")
    found = found_of(*paths)
    (said,) = told(found)
    assert said.startswith("a and b, 4 questions: r from 0.")
    assert "In 80 comparisons of one stimulus between two sides " in said
    assert "of 24 differences between conditions. As a whole they are equivalent in " in said
    assert "of 4 comparisons" in said


# What sides may be


def test_scores_of_conditions_with_sd_and_n_or_means_alone(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    means = pd.DataFrame({"condition": list(CONDITIONS), "mean": CONDITIONS.values()})
    means.to_csv(tmp_path / "means.csv", index=False)
    means.assign(sd=0.7, n=60).to_csv(tmp_path / "errors.csv", index=False)
    bare, tested = (found_of(three[0], tmp_path / name) for name in ("means.csv", "errors.csv"))
    assert "stimuli" not in bare.results
    assert bare.table("conditions")["p"].isna().all()
    assert tested.table("conditions")["p"].notna().all()
    assert set(bare.table("contrasts")["verdict"]) == {"same direction"}
    assert row_of(tested.table("contrast_counts"))["both_clear"] == 5
    assert told(bare) == (
        f"a and means: r = {row_of(bare.table('agreement'))['pearson']:.3f} "
        f"({row_of(bare.table('agreement'))['pearson_low']:.3f} to 1.000) over 4 conditions. "
        "Of 6 differences between conditions none points the other way.",
    )


def test_the_tables_of_an_analysis_are_sides(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    beholder.analyse(three[1], out=tmp_path)
    whole = found_of(three[0], three[1])
    for name, table in (("scores", "stimuli"), ("conditions", "conditions")):
        found = found_of(three[0], tmp_path / f"{name}.csv")
        np.testing.assert_allclose(found.table(table)["p"], whole.table(table)["p"], atol=1e-9)


def test_questions_with_one_name_each_are_taken_as_the_same_and_it_is_said(tmp_path: Path) -> None:
    one = ratings(tmp_path / "one.csv", 1, question="overall quality")
    other = ratings(tmp_path / "other.csv", 2, question="Qualität")
    found = found_of(one, other)
    assert found.sides.questions == ("overall quality",)
    assert found.sides.notes == (
        "Each side has one question, and they are taken as the same although their names differ: 'overall quality' "
        "(one), 'Qualität' (other).",
    )
    assert len(found.table("effects")) == 1
    assert len(found.table("contrasts")) == 6


def test_several_questions_are_averaged_on_fishers_scale(tmp_path: Path) -> None:
    for name, seed in (("one", 1), ("other", 5)):
        parts = [
            pd.read_csv(ratings(tmp_path / "part.csv", seed + place, question=question), keep_default_na=False)
            for place, question in enumerate(("clear", "natural"))
        ]
        pd.concat(parts).to_csv(tmp_path / f"{name}.csv", index=False)
    found = found_of(tmp_path / "one.csv", tmp_path / "other.csv")
    table = found.table("agreement")
    both = table[(table["level"] == "stimulus") & (table["question"] != "")]["pearson"]
    mean = row_of(table, level="stimulus", question="")
    assert mean["pearson"] == pytest.approx(math.tanh(np.arctanh(both).mean()), abs=1e-12)
    only = open_sides([tmp_path / "one.csv", tmp_path / "other.csv"], ["natural"])
    assert only.questions == ("natural",)
    assert set(find(only, None).table("stimuli")["question"]) == {"natural"}


def test_studies_are_sides_with_the_labels_of_their_conditions(tmp_path: Path) -> None:
    quality = {"plain": 40.0, "better": 70.0, "best": 72.0}
    one = made_up(tmp_path / "one", quality, participants=8)
    other = made_up(tmp_path / "other", quality, participants=6)
    found = found_of(one, other)
    assert found.names == ["made-up", "made-up (2)"]
    assert row_of(found.table("agreement"), level="condition")["n"] == 3


@pytest.mark.parametrize("alone", [True, False])
def test_runs_in_a_table_are_sides(tmp_path: Path, alone: bool) -> None:
    parts = []
    for run in (1, 2):
        part = pd.read_csv(ratings(tmp_path / "part.csv", run, run=run), keep_default_na=False)
        parts.append(part.assign(participant=f"r{run}" + part["participant"]))
    path = tmp_path / "runs.csv"
    pd.concat(parts).to_csv(path, index=False)
    found = found_of(path) if alone else found_of(f"{path}@1", f"again={path}@2")
    assert found.names == (["run 1", "run 2"] if alone else ["runs run 1", "again"])
    assert not found.sides.notes
    assert len(found.table("effects")) == 1


def test_runs_of_a_study_are_sides(tmp_path: Path, tiny: Path) -> None:
    study = write_study(tmp_path / "study", tiny)
    for run in (1, 2):
        lines = [line for line in study.read_text("utf-8").splitlines() if not line.startswith("run:")]
        study.write_text("\n".join([*lines, f"run: {run}", ""]), "utf-8")
        beholder.simulate(study, participants=4, seed=4)
    alone, named = found_of(study), found_of(f"{study}@1", f"{study}@2")
    assert alone.names == ["run 1", "run 2"]
    assert named.names == ["tiny run 1", "tiny run 2"]
    assert not named.sides.notes
    pd.testing.assert_frame_equal(
        alone.table("agreement").drop(columns=["side", "other_side"]),
        named.table("agreement").drop(columns=["side", "other_side"]),
    )


# What is odd


ODD: dict[str, dict[str, Any]] = {
    "one person": {"people": 1},
    "two people": {"people": 2},
    "all equal": {"people": 3, "value": 3.0},
    "shares": {"people": 4, "value": 1.0, "kind": "correct"},
}


@pytest.mark.parametrize("name", ODD)
def test_odd_sides_have_gaps_and_no_infinity(name: str, three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    odd = ratings(tmp_path / "odd.csv", 4, **ODD[name])
    found = found_of(odd, odd, three[0])
    for result in found.results.values():
        assert not np.isinf(result.table.select_dtypes("number")).any(axis=None)
    assert not any("nan" in line or "inf" in line for line in told(found))


def test_one_shared_stimulus_has_a_difference_and_no_correlation(
    three: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    pd.DataFrame({"stimulus": ["low/no"], "mean": [3.0]}).to_csv(tmp_path / "one.csv", index=False)
    found = found_of(three[0], tmp_path / "one.csv")
    assert told(found) == ("a and one: no correlation over 1 stimulus.",)


def test_contents_that_differ_all_by_the_same_have_no_test(tmp_path: Path) -> None:
    rows = [(name, f"k{k}", 1.1 + 0.7 * place + 0.3 * k) for place, name in enumerate(CONDITIONS) for k in range(3)]
    pd.DataFrame(rows, columns=["condition", "content", "mean"]).to_csv(tmp_path / "even.csv", index=False)
    table = found_of(tmp_path / "even.csv", read_side(tmp_path / "even.csv", "twice")).table("contrasts")
    assert table["p_holm"].isna().all()
    assert set(table["verdict"]) == {"same direction"}


def test_it_is_said_where_scales_differ(tmp_path: Path) -> None:
    five = ratings(tmp_path / "five.csv", 1, scale_min=1, scale_max=5)
    table = pd.read_csv(five, keep_default_na=False)
    table.assign(value=20 * table["value"], scale_min=0, scale_max=100).to_csv(tmp_path / "hundred.csv", index=False)
    assert open_sides([five, tmp_path / "hundred.csv"]).notes == (
        "rating was answered on different scales: 1 to 5 (five), 0 to 100 (hundred). Correlations, errors after "
        "mapping and the agreement on contrasts hold; differences, plain RMSE and equivalence say nothing.",
    )
    assert not any("scales" in note for note in open_sides([five, five]).notes)


# What is written


def test_the_folder_and_what_a_notebook_shows(tmp_path: Path) -> None:
    a, b = ratings(tmp_path / "a.csv", 1), ratings(tmp_path / "<b>.csv", 2, 1.2)
    result = CliRunner().invoke(cli, ["compare", str(a), f"Lab={b}"], catch_exceptions=False)
    folder = tmp_path / "compare"
    assert result.exit_code == 0
    assert result.stdout.startswith("a and Lab: r = 0.9")
    assert result.stdout.endswith(f"Page: {folder / 'index.html'}\n")
    page = (folder / "index.html").read_text("utf-8")
    assert "Stimuli that differ clearly" in page
    assert "Orange" in page
    assert "nan" not in page.lower().replace("nanosecond", "")
    notes = json.loads((folder / "notes.json").read_text("utf-8"))
    assert set(notes["analyses"]) == {path.stem for path in folder.glob("*.csv")}
    assert notes["words"] == result.stdout.splitlines()[:1]
    assert {path.name for path in (folder / "figures").glob("*.svg")} == {
        "scatter-stimulus-rating-1-2.svg", "scatter-condition-rating-1-2.svg", "difference-stimulus-rating-1-2.svg",
    }  # fmt: skip


def test_names_are_text_in_the_page_and_the_matrix_is_drawn(tmp_path: Path) -> None:
    sides = [
        score_table(tmp_path / f"{name}.csv", ratings(tmp_path / f"{seed}.csv", seed))
        for seed, name in enumerate("xyz")
    ]
    found = beholder.compare(*(f"<{path.stem}>={path}" for path in sides), out=tmp_path / "out")
    page = found.page.read_text("utf-8")
    assert "<x>" not in page
    assert "&lt;x&gt;" in page
    assert "matrix-stimulus-rating" in page
    assert repr(found).startswith("<x> and <y>: r = 0.9")
    assert "&lt;x&gt;" in found._repr_html_()
    assert "<x>" not in found._repr_html_()
    assert set(found.also) >= {"stimuli", "matrices", "correlations"}
