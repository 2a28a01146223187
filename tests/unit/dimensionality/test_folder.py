"""All tables of the verb: odd ratings, unknown names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import beholder
from beholder.analysis.figures.theme import COLUMN
from beholder.dimensionality.data import Joined, join
from beholder.dimensionality.figures import figures
from beholder.dimensionality.folder import find
from beholder.dimensionality.profile import (
    profile,
)
from beholder.dimensionality.text import main_level
from beholder.errors import UserError
from support.charts import tooltips
from support.joined_studies import rate
from support.variants import cases


def degenerate() -> dict[str, pd.DataFrame]:
    whole, by = rate(people=3, contents=2), ["participant", "condition", "content"]
    return {
        "one rater": whole[whole["participant"] == "p0"],
        "one condition": whole[whole["condition"] == "c0"],
        "one content": whole[whole["content"] == "k0"],
        "one row": whole[(whole["participant"] == "p0") & (whole["condition"] == "c0") & (whole["content"] == "k0")],
        "all equal": whole.assign(value=3.0),
        "one question is flat": whole.assign(value=whole["value"].where(whole["question"] != "mood", 3.0)),
        "two questions": whole[whole["question"].isin(["real", "face"])],
        "the same in all": whole.assign(value=whole.groupby(by)["value"].transform("first")),
        "disjoint people": whole[(whole["question"] == "real") == (whole["participant"] == "p0")],
        "names": whole.replace({"condition": {"c0": "no", "c1": "01", "c2": "NA", "c3": "Größe 2"}}),
        "nothing": whole.iloc[:0],
    }  # fmt: skip


@pytest.mark.parametrize(
    "case", cases(degenerate(), ("one rater", "one row", "one question is flat", "disjoint people", "names", "nothing"))
)
def test_odd_ratings_give_notes_and_no_infinite_number(case: str) -> None:
    joined = join(degenerate()[case])
    if len(joined.questions) < 2:
        assert case == "nothing"
        return
    found = find(joined, split=("real", 5))
    for name, result in found.results.items():
        numbers = result.table.select_dtypes("number").to_numpy(float)
        assert not np.isinf(numbers).any(), name
        assert "nan" not in result.note, name
    assert found.words
    assert not any("nan" in line for line in found.words)


def test_unknown_names_are_said_all_at_once(joined: Joined) -> None:
    with pytest.raises(UserError) as told:
        profile(joined, questions=["reel", "blue"])
    assert str(told.value).splitlines() == [
        "questions  has reel, which is not there. Allowed: face, mood, real, trust, warm. Did you mean real?",
        "questions  has blue, which is not there. Allowed: face, mood, real, trust, warm.",
    ]
    with pytest.raises(UserError) as told:
        profile(joined, factor="view")
    assert str(told.value) == (
        "factor  is view, and no rating has it. Allowed: a column of the manifest; these ratings have none."
    )


def test_spread_and_relations_can_be_over_every_stimulus(joined: Joined) -> None:
    over = find(joined, of="real", over="stimulus")
    spread, relation = over.tables["spread"], over.tables["relation"]
    assert list(spread.columns[:3]) == ["stimulus", "condition", "of"]
    assert len(spread) == len(joined.by_stimulus) == 48
    assert spread["spread"].tolist() == pytest.approx(joined.by_stimulus.std(axis=1, ddof=1).tolist())
    assert set(relation["level"]) == {"stimulus"}
    assert set(relation["n"]) == {48}
    titles = {figure.name: (figure.title, figure.words) for figure in figures(over)}
    assert titles["spread"][0] == "Spread across questions against real, over stimuli"
    assert titles["spread"][1].startswith("How far the questions of a stimulus lie apart")
    assert titles["relation-trust-on-real"][0] == "trust against real, over stimuli"
    chart = next(figure for figure in figures(over) if figure.name == "spread").draw(COLUMN)
    assert sum(tip.startswith("c0/") for tip in tooltips(chart)) == 6


def test_stimuli_of_which_nothing_is_known_are_told(tmp_path: Path) -> None:
    rows = [{"condition": f"c{n}", "question": name, "mean": n * 0.5} for n in range(4) for name in ("real", "trust")]
    pd.DataFrame(rows).to_csv(tmp_path / "scores.csv", index=False)
    with pytest.raises(UserError) as told:
        beholder.dimensions(tmp_path / "scores.csv", over="stimulus")
    assert str(told.value) == (
        "over  is stimulus, and only means of conditions are known. Allowed: condition. Take tables with a column "
        "stimulus, or ratings."
    )


@pytest.mark.variant
def test_the_question_against_which_others_are_held_is_that_of_the_split_or_the_most_typical(joined: Joined) -> None:
    assert find(joined, split=("mood", 2.0)).of == "mood"
    assert find(joined, split=("mood", 2.0), of="real").of == "real"
    tables = find(joined).tables
    loaded, level = tables["loadings"], main_level(tables["components"])
    first = loaded[(loaded["level"] == level) & (loaded["component"] == 1)]
    assert find(joined).of == first["question"].iloc[int(first["unrotated"].abs().argmax())]
