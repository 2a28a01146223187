"""Agreement of sides: correlations, errors, differences and equivalence."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder.analysis.sides import read_side
from beholder.comparison.result import ComparisonTables, find
from beholder.comparison.sides import open_sides
from beholder.comparison.text import sentences
from support.compared_sides import CONDITIONS, _read, found_of, ratings, row_of, score_table


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


@pytest.mark.variant
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
    assert not any("nan" in line or "inf" in line for line in sentences(found))


def test_contents_that_differ_all_by_the_same_have_no_test(tmp_path: Path) -> None:
    rows = [(name, f"k{k}", 1.1 + 0.7 * place + 0.3 * k) for place, name in enumerate(CONDITIONS) for k in range(3)]
    pd.DataFrame(rows, columns=["condition", "content", "mean"]).to_csv(tmp_path / "even.csv", index=False)
    table = found_of(tmp_path / "even.csv", read_side(tmp_path / "even.csv", "twice")).table("contrasts")
    assert table["p_holm"].isna().all()
    assert set(table["verdict"]) == {"same direction"}
