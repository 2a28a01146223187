"""Published means of photorealistic avatars reproduce the published correlations, lines and spreads."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from beholder.dimensionality.data import Joined, open_joined
from beholder.dimensionality.profile import correlations, table
from beholder.dimensionality.relation import relation, relations, spread
from beholder.objective.correlation import relate
from support.data import DATA

TEMPLATE_A = (
    "Appropriate", "ComfortableInteracting", "ComfortableUsing", "Formal", "Affinity", "NotCreepy", "Realistic",
    "Trust",
)  # fmt: skip
TEMPLATE_B = ("EmotionAccuracy", "Resemblance")
REGIONS = {"table12": "torso", "table13": "face"}


def published(name: str) -> pd.DataFrame:
    path = DATA / "tables" / name
    if not path.is_file():
        pytest.skip(f"tables/{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return pd.read_csv(path)


@pytest.fixture(scope="module")
def means() -> pd.DataFrame:
    return published("avatar_table14.csv").rename(columns={"model": "condition"})


@pytest.fixture(scope="module")
def values(means: pd.DataFrame) -> pd.DataFrame:
    """The metrics as `beholder metrics` has them: condition, metric, region and value."""
    columns = [name for name in means.columns.astype(str) if name.startswith(("face_", "torso_"))]
    long = means.melt("condition", columns, "name", "value")
    return long.assign(region=long["name"].str.partition("_")[0], metric=long["name"].str.partition("_")[2])


@pytest.fixture(scope="module")
def joined(means: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Joined:
    """The two templates as tables of scores, joined by condition."""
    folder = tmp_path_factory.mktemp("avatars")
    paths = []
    for name, questions in (("A", TEMPLATE_A), ("B", TEMPLATE_B)):
        paths.append(folder / f"{name}.csv")
        means.melt("condition", list(questions), "question", "mean").to_csv(paths[-1], index=False)
    return open_joined(paths)


def test_questions_with_metrics(joined: Joined, values: pd.DataFrame) -> None:
    known = published("avatar_table12_13_expected.csv")
    actual = relate(joined.means, values, "condition").table
    assert (actual["n"] == 8).all()
    assert len(actual) == 100
    for stat, column, within in (("kendall_tau_b", "tau_b", 5e-4), ("pearson", "pearson", 1e-3)):
        mine = known[known["stat"] == stat]
        assert len(mine) == 100
        both = mine.assign(region=mine["table"].map(REGIONS)).merge(
            actual, left_on=["region", "item", "metric"], right_on=["region", "question", "metric"], validate="1:1"
        )
        assert len(both) == 100
        assert (both[column] - both["published"]).abs().max() <= within
    # With eight models |r| below 0.707 is not significant, which the paper's tables do not say.
    assert ((actual["pearson_p"] < 0.05) == (actual["pearson"].abs() > 0.7067)).all()


def test_affinity_on_realism(joined: Joined) -> None:
    fit = relation(joined, "Realistic", "Affinity").table.iloc[0]
    assert fit["n"] == 8
    assert fit["r_squared"] == pytest.approx(0.990, abs=5e-4)
    assert fit["slope"] == pytest.approx(0.992, abs=5e-4)
    assert fit["slope_low"] < 1 < fit["slope_high"]
    # No uncanny valley: none deeper than a fifth of a point.
    assert fit["dip"] == "no"
    assert fit["depth_most"] < 0.2
    assert fit["aicc_line"] < fit["aicc_curve"]


def test_no_question_of_the_first_template_has_a_dip(joined: Joined) -> None:
    fits = relations(joined, "Realistic").table.set_index("y")
    assert (fits.loc[[name for name in TEMPLATE_A if name != "Realistic"], "dip"] == "no").all()
    # Eight models with one outlier do not decide it for resemblance.
    assert fits.loc["Resemblance", "dip"] == "undecided"


def test_spread_on_realism(joined: Joined) -> None:
    result = spread(joined, "Realistic")
    assert (result.table["questions"] == 8).all()
    x, y = result.table["x"].to_numpy(float), result.table["spread"].to_numpy(float)
    assert np.corrcoef(x, y)[0, 1] ** 2 == pytest.approx(0.400, abs=5e-4)
    assert np.polyfit(x, y, 1)[0] < 0
    # Neither the range of the eight items nor all ten items reproduce it.
    assert np.corrcoef(x, result.table["range"].to_numpy(float))[0, 1] ** 2 == pytest.approx(0.316, abs=5e-4)
    ten = spread(joined, "Realistic", questions=[*TEMPLATE_A, *TEMPLATE_B]).table
    assert np.corrcoef(ten["x"].to_numpy(float), ten["spread"].to_numpy(float))[0, 1] ** 2 > 0.8
    assert "R² = 0.400" in str(result.plot().to_dict())


def test_questions_with_each_other(joined: Joined) -> None:
    pearson = correlations(joined, levels=["condition"]).table.set_index(["question", "other_question"])["pearson"]
    assert len(pearson) == 45
    for one, other, known in (
        ("Affinity", "Realistic", 0.995), ("Realistic", "Resemblance", 0.454), ("Formal", "EmotionAccuracy", 0.659),
        ("EmotionAccuracy", "Resemblance", 0.596), ("Appropriate", "Trust", 1.0),
    ):  # fmt: skip
        assert pearson[one, other] == pytest.approx(known, abs=1e-3)


def test_one_table_of_everything(joined: Joined, means: pd.DataFrame, values: pd.DataFrame) -> None:
    whole = table(joined, values).table
    assert whole.shape == (8, 21)
    assert whole["condition"].tolist() == means["condition"].tolist()
    assert whole["FVD (torso)"].tolist() == means["torso_FVD"].tolist()
    assert whole["NotCreepy"].tolist() == means["NotCreepy"].tolist()
