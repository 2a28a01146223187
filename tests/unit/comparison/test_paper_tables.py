"""Tables of a comparison as papers print them."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.sides import read_side
from beholder.comparison.agreement import AGREEMENT_COLUMNS
from beholder.comparison.paper_tables import (
    accuracy,
    accuracy_sheet,
    by_question,
    by_question_sheet,
    paper_failure_sheet,
    triangle_averages,
    triangle_sheet,
    triangles,
)
from beholder.comparison.result import ComparisonTables
from support.compared_sides import found_of, ratings, row_of, score_table
from support.stimulus_ratings import NAMES, noisy, rated


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> ComparisonTables:
    """Two runs with originals among their conditions, after the scores of a laboratory without any."""
    folder = tmp_path_factory.mktemp("runs")
    for seed in (1, 2, 3):
        table = rated(noisy(8, 4, 3, seed=seed), method="", scale_min=1, scale_max=5)
        table["role"] = table["condition"].map(lambda name: "reference" if name == NAMES[0] else "test")
        table.to_csv(folder / f"run{seed}.csv", index=False)
    lab = pd.read_csv(folder / "run3.csv", keep_default_na=False)
    means = lab.groupby(["condition", "content"])["value"].mean().rename("mean")
    means.reset_index().to_csv(folder / "lab.csv", index=False)
    return found_of(*(folder / name for name in ("lab.csv", "run1.csv", "run2.csv")))


@pytest.mark.variant
def test_each_run_has_a_row_for_mos_and_dmos_and_the_last_one_is_their_plain_mean(runs: ComparisonTables) -> None:
    table = runs.table("accuracy")
    assert table["other_side"].tolist() == ["run1", "run2", "average"] * 2
    of_runs, average = table[:2], table.iloc[2]
    for name in ("pearson", "rmse_mapped", "dmos_pearson", "dmos_rmse"):
        assert average[name] == pytest.approx(of_runs[name].mean())
    known = row_of(runs.table("agreement"), level="stimulus", question="rating (DMOS)", side="lab", other_side="run2")
    assert of_runs.iloc[1]["dmos_spearman"] == known["spearman"]
    sheet = accuracy_sheet(table)
    assert sheet.heads[:5] == ("Over", "Side", "n", "MOS PCC", "MOS SRCC")
    assert sheet.heads[-1] == "DMOS RMSE FOM"
    assert sheet.rows[2][:3] == ("stimuli", "average", "–")


def test_scores_of_a_laboratory_are_held_against_its_own_reference(runs: ComparisonTables) -> None:
    lab = runs.sides.sides[0]
    own = lab.stimuli.set_index(["question", "stimulus"])["mean"]
    test, reference = own["rating", f"{NAMES[1]}/c0"], own["rating", f"{NAMES[0]}/c0"]
    assert own["rating (DMOS)", f"{NAMES[1]}/c0"] == pytest.approx(test - reference + 5)
    assert not any(NAMES[0] in name for question, name in own.index if question.endswith("(DMOS)"))
    assert set(runs.table("contrasts")["question"]) == {"rating"}


def test_pearson_stands_above_the_diagonal_and_spearman_below_it(runs: ComparisonTables) -> None:
    table, names = runs.table("triangles"), runs.names
    own = table[(table["level"] == "stimulus") & (table["question"] == "rating")].set_index("side")
    known = row_of(runs.table("agreement"), level="stimulus", question="rating", side="lab", other_side="run1")
    assert (own.loc["lab", "run1"], own.loc["run1", "lab"]) == (known["pearson"], known["spearman"])
    assert own["lab"].isna().tolist() == [True, False, False]
    sheet = triangle_sheet(table, names)
    assert sheet.heads[:3] == ("Question", "Side", "lab, stimuli")
    assert [row[:3] for row in sheet.rows[:2]] == [
        ("rating", "lab", "–"),
        ("rating", "run1", f"{known['spearman']:.3f}"),
    ]
    averages = triangle_averages(table, names)
    assert averages[0].startswith("rating, stimuli: on average 0.")


def test_how_many_stimuli_differ_from_the_laboratory_is_told_where_it_can_be_tested(
    compared: ComparisonTables, runs: ComparisonTables
) -> None:
    assert runs.table("accuracy")["differ"].isna().all()
    known = row_of(compared.table("accuracy"), level="stimulus", other_side="c")["differ"]
    mine = compared.table("stimuli").query("side == 'a' and other_side == 'c'")
    assert known == pytest.approx((mine["clear"] == 1).mean())
    assert accuracy_sheet(compared.table("accuracy")).heads[-1] == "Differ clearly"


def _failed(folder: Path, seed: int) -> Path:
    """Write ratings of people of whom every fourth was careless and failed a check."""
    table = ratings(folder / f"run{seed}.csv", seed, people=12)
    frame = pd.read_csv(table, keep_default_na=False).assign(run=seed, use=True, reasons="")
    number = frame["participant"].str[1:].astype(int)
    is_bad = number % 4 == 0
    rng = np.random.default_rng(seed)
    frame.loc[is_bad, "value"] = rng.integers(1, 6, int(is_bad.sum())).astype(float)
    frame.loc[is_bad, "reasons"] = "acuity:rings"
    frame.loc[number == 0, "reasons"] = "acuity:rings; gold:wrong"
    who = f"r{seed}" + frame["participant"]
    frame.assign(participant=who, session=who).to_csv(table, index=False)
    return table


@pytest.mark.variant
def test_those_who_failed_are_held_against_a_laboratory_over_all_runs(tmp_path: Path) -> None:
    lab = score_table(tmp_path / "lab.csv", ratings(tmp_path / "source.csv", 9, people=24))
    sides = [replace(read_side(_failed(tmp_path, seed)), study="one") for seed in (1, 2)]
    table = found_of(read_side(lab), *sides).table("failures")
    assert set(table["side"]) == {"one"}
    passed = row_of(table, criterion="")
    failed = row_of(table, criterion="acuity", result="failed", others="any")
    alone = row_of(table, criterion="acuity", result="failed", others="passed")
    assert (passed["sessions"], failed["sessions"], alone["sessions"]) == (18, 6, 4)
    assert passed["pearson"] > 0.9 > failed["pearson"]
    assert passed["rmse"] < failed["rmse"]
    assert failed["p"] < 0.05
    assert failed["p_one_sided"] == pytest.approx(failed["p"] / 2)
    assert passed["differ"] < 0.3
    groups = [row[0] for row in paper_failure_sheet(table).rows]
    assert groups[:3] == ["Everything passed", "Visual acuity: passed", "Visual acuity: failed"]
    assert "Visual acuity: failed, all else passed" in groups


def test_two_sides_need_no_such_table(runs: ComparisonTables) -> None:
    assert accuracy(runs.table("agreement"), runs.names[:2]) is None
    assert triangles(runs.table("agreement"), runs.names[:2]) is None


def test_every_run_of_a_table_is_a_side_beside_another(tmp_path: Path) -> None:
    tables = [rated(noisy(6, 3, 3, seed=seed)).assign(run=seed) for seed in (1, 2)]
    pd.concat(tables).assign(participant=lambda one: one["participant"] + one["run"].astype(str)).to_csv(
        tmp_path / "both.csv", index=False
    )
    tables[0].to_csv(tmp_path / "lab.csv", index=False)
    assert found_of(f"lab={tmp_path / 'lab.csv'}", f"{tmp_path / 'both.csv'}@all").names == ["lab", "run 1", "run 2"]


def test_every_two_runs_stand_by_question_with_the_plain_average_that_papers_print() -> None:
    # Pearson's r of five runs by clips, from Table 8 of the avatar paper; averaged by Fisher's z it would be 0.873.
    emotion = (0.849, 0.863, 0.828, 0.835, 0.921, 0.892, 0.849, 0.919, 0.875, 0.870)
    creepy = (0.940, 0.951, 0.930, 0.952, 0.973, 0.951, 0.972, 0.957, 0.982, 0.966)
    pairs = list(combinations([f"run {number}" for number in range(1, 6)], 2))
    rows = [
        {"level": "stimulus", "question": name, "side": one, "other_side": other, "pearson": r}
        for name, column in (("creepy", creepy), ("emotion", emotion), ("", emotion))
        for (one, other), r in zip(pairs, column, strict=True)
    ]
    result = by_question(pd.DataFrame(rows, columns=AGREEMENT_COLUMNS))
    assert result is not None
    printed = result.table[result.table["measure"] == "pearson"]
    assert list(printed.columns) == ["level", "measure", "side", "other_side", "creepy", "emotion"]
    assert printed[["side", "other_side"]].to_numpy().tolist() == [*map(list, pairs), ["average", ""]]
    assert printed["emotion"].tolist()[:-1] == list(emotion)
    assert [round(printed[name].iloc[-1], 3) for name in ("creepy", "emotion")] == [0.957, 0.870]
    sheet = by_question_sheet(printed)
    assert sheet.heads == ("Sides", "creepy", "emotion")
    assert sheet.rows[0] == ("run 1 – run 2", "0.940", "0.849")
    assert sheet.rows[-1] == ("Average", "0.957", "0.870")
    assert by_question(pd.DataFrame(rows[:1], columns=AGREEMENT_COLUMNS)) is None
    named = by_question(pd.DataFrame([{**row, "question": "side"} for row in rows[:2]], columns=AGREEMENT_COLUMNS))
    assert named is not None
    assert list(named.table.columns)[-1] == "side (question)"
