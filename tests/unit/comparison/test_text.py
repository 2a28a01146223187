"""A comparison in words."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.comparison.text import sentences
from support.compared_sides import found_of, ratings


def test_many_sides_are_told_in_one_sentence(three: tuple[Path, Path, Path], tmp_path: Path) -> None:
    found = found_of(*three, ratings(tmp_path / "d.csv", 4))
    (said,) = sentences(found)
    table = found.table("agreement")
    mine = table[table["level"] == "stimulus"].sort_values("pearson")
    least = mine.iloc[0]
    assert said.startswith(f"4 sides: r from {least['pearson']:.2f} ({least['side']} and {least['other_side']}) to ")
    clear = int(found.table("stimuli")["clear"].sum())
    assert f"In 120 comparisons of one stimulus between two sides {clear or 'none'} differ" in said
    assert "They agree on " in said
    assert "of 36 differences between conditions." in said


@pytest.mark.variant
def test_many_questions_are_told_in_one_sentence_for_every_two_sides(tmp_path: Path) -> None:
    paths = []
    for name, seed in (("a", 1), ("b", 5)):
        tables = [pd.read_csv(ratings(tmp_path / "one.csv", seed + place), dtype=str, keep_default_na=False).assign(
            question=question) for place, question in enumerate(("real", "trust", "like", "no"))]  # fmt: skip
        pd.concat(tables).to_csv(tmp_path / f"{name}.csv", index=False)
        paths.append(tmp_path / f"{name}.csv")
    found = found_of(*paths)
    (said,) = sentences(found)
    assert said.startswith("a and b, 4 questions: r from 0.")
    assert "In 80 comparisons of one stimulus between two sides " in said
    assert "of 24 differences between conditions. As a whole they are equivalent in " in said
    assert "of 4 comparisons" in said


def test_one_shared_stimulus_has_a_difference_and_no_correlation(
    three: tuple[Path, Path, Path], tmp_path: Path
) -> None:
    pd.DataFrame({"stimulus": ["low/no"], "mean": [3.0]}).to_csv(tmp_path / "one.csv", index=False)
    found = found_of(three[0], tmp_path / "one.csv")
    assert sentences(found) == ("a and one: no correlation over 1 stimulus.",)
