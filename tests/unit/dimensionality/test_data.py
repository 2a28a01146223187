"""Studies joined by condition."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from beholder.dimensionality.components import components, consistency
from beholder.dimensionality.data import Joined, join
from beholder.dimensionality.profile import (
    correlations,
    halves,
    profile,
)
from support.joined_studies import rate


def test_what_is_joined_already_can_be_joined_again(joined: Joined) -> None:
    pd.testing.assert_frame_equal(correlations([joined]).table, correlations(joined).table)


def test_reversed_questions_are_turned_and_named() -> None:
    table_ = rate({"good": (1.0, 0.0), "ugly": (-1.0, 0.0)}).assign(scale_min=0.0, scale_max=10.0)
    is_ugly = table_["question"] == "ugly"
    table_["keyed"] = table_["value"].where(~is_ugly, 10 - table_["value"])
    joined = join(table_)
    assert joined.turned == ("ugly (turned)",)
    raw = table_[is_ugly].groupby("condition")["value"].mean()
    assert joined.by_condition["ugly (turned)"].to_numpy() == pytest.approx(10 - raw.to_numpy())
    # Its id still names it.
    assert set(profile(joined, questions=["ugly"]).table["question"]) == {"ugly (turned)"}
    shown = profile(joined).table
    assert (shown["ci_low"] < shown["mean"]).all()
    assert (shown["mean"] < shown["ci_high"]).all()
    found = correlations(joined)
    assert (found.table[found.table["level"] != "within"]["pearson"] > 0.9).all()
    assert found.note.endswith("Reversed, so turned within the scale (lowest + highest - value): ugly (turned).")


def test_studies_with_other_clips_and_questions_are_joined_by_condition(tmp_path: Path) -> None:
    a = rate({"real": (1.0, 0.0), "trust": (1.0, 0.0)}, seed=1)
    b = rate({"mood": (0.0, 1.0), "real": (1.0, 0.0)}, seed=2).replace(
        {"content": {f"k{n}": f"b{n}" for n in range(6)}}
    )
    for name, one in (("a", a), ("b", b[b["condition"] != "c7"])):
        one.to_csv(tmp_path / f"{name}.csv", index=False)
    joined = join([tmp_path / "a.csv", tmp_path / "b.csv"])
    assert joined.questions == ("real (a)", "trust", "mood", "real (b)")
    found = correlations(joined).table
    across = found[(found["question"] == "trust") & (found["other_question"] == "mood")]
    assert across[["level", "n"]].to_numpy().tolist() == [["condition", 7]]
    assert set(found[(found["question"] == "real (a)") & (found["other_question"] == "trust")]["level"]) == {
        "condition", "stimulus", "within",
    }  # fmt: skip
    assert set(components(joined).table["level"]) == {"condition"}
    sets = consistency(joined).table
    assert set(sets["of"]) == {"all questions", "a", "b"}
    assert set(sets[sets["of"] == "all questions"]["level"]) == {"condition"}
    # A stimulus of b has no score on trust of a, and goes with its condition.
    above = halves(joined, "trust", 5)[0].joined
    is_above = joined.by_condition["trust"] > 5
    mine = [name for name in above.by_stimulus.index if str(name).split("/")[1].startswith("b")]
    assert {joined.condition_of[str(name)] for name in mine} == set(is_above.index[is_above]) - {"c7"}


def test_choices_are_no_numbers() -> None:
    both = pd.concat([rate({"real": (1.0, 0.0)}), rate({"pick": (1.0, 0.0)}).assign(kind="pick", unit="", value=1.0)])
    assert join(both).questions == ("real",)
