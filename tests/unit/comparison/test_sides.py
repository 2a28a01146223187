"""Comparing: studies, runs, tables of ratings and tables of scores beside each other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.analysis.sides import read_side
from beholder.comparison.sides import open_sides
from beholder.comparison.text import sentences
from beholder.testing import write_study
from support.compared_sides import CONDITIONS, found_of, ratings, row_of, score_table
from support.report_pages import made_up

# What is computed


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
    assert sentences(bare) == (
        f"a and means: r = {row_of(bare.table('agreement'))['pearson']:.3f} "
        f"({row_of(bare.table('agreement'))['pearson_low']:.3f} to 1.000) over 4 conditions. "
        "Of 6 differences between conditions none points the other way.",
    )


@pytest.mark.variant
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


def test_sides_that_asked_in_other_words_are_warned_of_and_marks_are_no_words(tmp_path: Path) -> None:
    texts = {"one": "It is **real**.", "two": "It is real", "three": "It could be a film."}
    studies = [
        made_up(tmp_path / name, {"a": 30.0, "b": 60.0, "c": 80.0}, participants=4,
                questions=[{"id": "real", "text": text, "scale": "cont100", "label": "Realistic"}])
        for name, text in texts.items()
    ]  # fmt: skip
    sides = [read_side(study, name) for study, name in zip(studies, texts, strict=True)]
    assert open_sides(sides[:2], ["Realistic"]).questions == open_sides(sides[:2], ["real"]).questions == ("real",)
    with pytest.raises(beholder.UserError, match=r"Allowed: real\. Did you mean Realistic\?"):
        open_sides(sides[:2], ["Realstic"])
    assert not any("other words" in note for note in open_sides(sides[:2]).notes)
    (note,) = (note for note in open_sides(sides).notes if "other words" in note)
    assert note == (
        "Realistic was asked in other words: “It is real.” (one), “It is real” (two), “It could be a film.” "
        "(three). Answers to other words are not interchangeable: what differs between the sides may be the words."
    )
