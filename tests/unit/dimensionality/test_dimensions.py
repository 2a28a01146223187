"""Dimensions: what many questions measure together, on one study or on several joined by condition."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from beholder.analysis.result import Result
from beholder.dimensionality.components import components, consistency, loadings
from beholder.dimensionality.data import Joined, join
from beholder.dimensionality.folder import find
from beholder.dimensionality.profile import (
    correlations,
    halves,
    profile,
    smallest_clear,
    split_correlations,
    split_means,
    table,
)
from beholder.dimensionality.relation import spread
from beholder.dimensionality.short_forms import shorter
from beholder.errors import UserError
from support.data import DATA

WEIGHTS = {"real": (1.0, 0.0), "trust": (0.9, 0.0), "warm": (0.8, 0.0), "face": (0.0, 1.0), "mood": (0.0, 0.9)}


def rate(
    weights: dict[str, tuple[float, float]] = WEIGHTS, *, people: int = 8, contents: int = 6, seed: int = 1
) -> pd.DataFrame:
    """Return ratings of eight conditions that differ in two things, of which each question sees its share."""
    rng = np.random.default_rng(seed)
    things = rng.normal(size=(8, contents, 2))
    person, condition, content = np.indices((people, 8, contents)).reshape(3, -1)
    offset = rng.normal(size=people) * 0.3
    parts = []
    for name, weight in weights.items():
        value = 5 + things[condition, content] @ np.array(weight) + offset[person] + 0.4 * rng.normal(size=len(person))
        parts.append(
            pd.DataFrame({
                "participant": [f"p{one}" for one in person], "content": [f"k{one}" for one in content],
                "condition": [f"c{one}" for one in condition], "question": name, "value": value,
            })
        )  # fmt: skip
    return pd.concat(parts, ignore_index=True)


@pytest.fixture(scope="module")
def ratings() -> pd.DataFrame:
    return rate()


@pytest.fixture(scope="module")
def joined(ratings: pd.DataFrame) -> Joined:
    return join(ratings)


def scores(tmp_path: Path, name: str, means: dict[str, dict[str, float]]) -> Path:
    path = tmp_path / f"{name}.csv"
    rows = [(question, condition, mean) for question, of in means.items() for condition, mean in of.items()]
    pd.DataFrame(rows, columns=["question", "condition", "mean"]).to_csv(path, index=False)
    return path


def at(result: Result, **wanted: Any) -> pd.Series:
    found = result.table
    for column, value in wanted.items():
        found = found[found[column] == value]
    assert len(found) == 1
    return found.iloc[0]


@pytest.mark.parametrize("level", ["condition", "stimulus"])
def test_correlations_of_means_are_those_of_scipy(joined: Joined, level: str) -> None:
    means = joined.by_condition if level == "condition" else joined.by_stimulus
    for one, other in (("real", "trust"), ("face", "real")):
        row = at(correlations(joined), level=level, question=min(one, other), other_question=max(one, other))
        expected = stats.pearsonr(means[one], means[other])
        assert row["pearson"] == pytest.approx(expected.statistic)
        assert row["pearson_p"] == pytest.approx(expected.pvalue)
        ends = expected.confidence_interval()
        assert (row["pearson_low"], row["pearson_high"]) == pytest.approx((ends.low, ends.high))
        assert (row["n"], row["df"]) == (len(means), len(means) - 2)


def test_within_people_is_the_partial_correlation_given_participants_and_stimuli(ratings: pd.DataFrame) -> None:
    some = ratings.sample(frac=0.7, random_state=2)  # holes: not everybody answered everything
    wide = some.pivot(index=["participant", "condition", "content"], columns="question", values="value")
    wide = wide[["face", "mood"]].dropna().reset_index()
    stimulus = wide["condition"] + wide["content"]
    design = np.hstack([pd.get_dummies(one).to_numpy(float) for one in (wide["participant"], stimulus)])
    rest = wide[["face", "mood"]].to_numpy()
    rest = rest - design @ np.linalg.lstsq(design, rest, rcond=None)[0]
    row = at(correlations(some, levels=["within"]), question="face", other_question="mood")
    assert row["pearson"] == pytest.approx(np.corrcoef(rest.T)[0, 1], abs=1e-9)
    assert row["df"] == len(wide) - 1 - np.linalg.matrix_rank(design)


def test_what_is_joined_already_can_be_joined_again(joined: Joined) -> None:
    pd.testing.assert_frame_equal(correlations([joined]).table, correlations(joined).table)


def test_eight_conditions_need_a_correlation_of_0_707(joined: Joined) -> None:
    assert smallest_clear(6) == pytest.approx(0.707, abs=5e-4)
    assert "With 8 conditions |r| below 0.707 does not differ from zero." in correlations(joined).note
    assert "rank conditions alike, not that people take them for the same" in correlations(joined).note


def test_two_planted_things_are_found_with_their_questions(joined: Joined) -> None:
    found = components(joined, levels=["stimulus"]).table
    assert found["kept"].sum() == 2
    assert found["share"].sum() == pytest.approx(1)
    assert (found["repeats"][:2] > 0.9).all()
    loaded = loadings(joined, levels=["stimulus"]).table
    strongest = loaded.loc[loaded.groupby("question")["loading"].idxmax()].set_index("question")["component"]
    assert strongest.to_dict() == {"real": 1, "trust": 1, "warm": 1, "face": 2, "mood": 2}


def test_more_questions_than_conditions_are_warned_of(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    means = {f"q{one}": {f"c{place}": float(mean) for place, mean in enumerate(rng.normal(size=4))} for one in range(5)}
    note = components(join(scores(tmp_path, "few", means))).note
    assert "condition: 4 conditions for 5 questions span at most 3 dimensions, whatever the questions measure" in note
    assert "stimulus: left out, as fewer than 4 stimuli have all questions." in note


def test_keep_keeps_so_many_and_says_so(joined: Joined) -> None:
    found = components(joined, levels=["stimulus"], keep=3)
    assert found.table["kept"].sum() == 3
    assert "stimulus: 3 are kept because that was asked for, more than stand above chance." in found.note
    assert loadings(joined, levels=["stimulus"], keep=3).table["component"].max() == 3


def test_alpha_of_single_answers_is_that_of_their_table(ratings: pd.DataFrame, joined: Joined) -> None:
    wide = ratings.pivot(index=["participant", "condition", "content"], columns="question", values="value")
    matrix = np.cov(wide.to_numpy(), rowvar=False)
    k = len(matrix)
    row = at(consistency(joined), level="answer", without="")
    assert row["alpha"] == pytest.approx(k / (k - 1) * (1 - np.trace(matrix) / matrix.sum()))
    assert row["alpha_low"] < row["alpha"] < row["alpha_high"]
    assert row["n"] == len(wide)


def test_a_question_that_runs_against_the_others_is_named() -> None:
    weights = {"good": (1.0, 0.0), "fine": (1.0, 0.0), "ugly": (-1.0, 0.0)}
    assert at(consistency(rate(weights)), level="answer", without="")["note"] == "runs against the others: ugly"


def test_reversed_questions_are_turned_and_named() -> None:
    table_ = rate({"good": (1.0, 0.0), "ugly": (-1.0, 0.0)}).assign(scale_min=0.0, scale_max=10.0)
    is_ugly = table_["question"] == "ugly"
    table_["keyed"] = table_["value"].where(~is_ugly, 10 - table_["value"])
    joined = join(table_)
    assert joined.turned == ("ugly",)
    raw = table_[is_ugly].groupby("condition")["value"].mean()
    assert joined.by_condition["ugly"].to_numpy() == pytest.approx(10 - raw.to_numpy())
    shown = profile(joined).table
    assert (shown["ci_low"] < shown["mean"]).all()
    assert (shown["mean"] < shown["ci_high"]).all()
    found = correlations(joined)
    assert (found.table[found.table["level"] != "within"]["pearson"] > 0.9).all()
    assert found.note.endswith("Reversed, so turned within the scale (lowest + highest - value): ugly.")


def test_a_shorter_survey_has_a_question_of_each_thing(joined: Joined) -> None:
    result = shorter(joined)
    assert result is not None
    found = result.table
    chosen = set(found[found["suggested"]]["questions"].iloc[0].split("; "))
    assert len(chosen) == 2
    assert chosen & {"real", "trust", "warm"}
    assert chosen & {"face", "mood"}
    assert found["size"].tolist() == [1, 2, 3, 4, 5]
    last = found.iloc[-1]
    assert (last["explained"], last["fresh"], last["minutes_saved"]) == pytest.approx((1, 1, 0))
    assert last["pearson_condition"] == pytest.approx(1)
    assert found["minutes_saved"].iloc[0] == pytest.approx(4 * 4 * 48 / 60)


def test_questions_that_measure_different_things_cannot_be_left_out() -> None:
    rng = np.random.default_rng(4)
    rows = [
        (f"p{person}", f"k{content}", f"c{condition}", f"q{place}", float(value))
        for place, things in enumerate(rng.normal(size=(4, 6, 6)))
        for (condition, content), value in np.ndenumerate(things)
        for person in range(6)
    ]
    result = shorter(pd.DataFrame(rows, columns=["participant", "content", "condition", "question", "value"]))
    assert result is not None
    assert not result.table["suggested"].any()


def test_a_split_tells_both_sides_of_the_threshold(joined: Joined) -> None:
    above, below = halves(joined, "real", 5)
    assert above.name == "real > 5"
    assert below.name == "real ≤ 5"
    means = joined.by_condition["real"]
    assert set(above.joined.conditions) == set(means.index[means > 5])
    assert set(below.joined.conditions) == set(means.index[means <= 5])
    stimuli = joined.by_stimulus["real"]
    assert set(above.joined.by_stimulus.index) == set(stimuli.index[stimuli > 5])
    pairs = split_correlations(joined, "real", 5)
    row = pairs.table[(pairs.table["part"] == "real > 5") & (pairs.table["level"] == "stimulus")].iloc[0]
    kept = joined.by_stimulus[stimuli > 5]
    assert row["pearson"] == pytest.approx(kept[row["question"]].corr(kept[row["other_question"]]))
    within = pairs.table[pairs.table["level"] == "within"].groupby("part")["n"].first()
    assert within.sum() == 8 * 48
    shown = split_means(joined, "real", 5).table.set_index(["part", "question"])
    assert shown.loc[("real > 5", "face"), "mean"] == pytest.approx(joined.by_condition["face"][means > 5].mean())


def test_a_profile_is_told_for_each_level_and_averaged_over_levels() -> None:
    ratings = rate({"good": (1.0, 0.0), "fine": (1.0, 0.0)})
    # Four of the six contents are frontal: averaged over the factor, both levels weigh the same.
    ratings["factor_view"] = np.where(ratings["content"].isin(["k0", "k1"]), "side", "front")
    found = profile(ratings, factor="view").table.set_index(["question", "condition", "level"])
    mine = ratings[(ratings["question"] == "good") & (ratings["condition"] == "c0")]
    by_view = mine.groupby("factor_view")["value"].mean()
    assert found.loc[("good", "c0", "side"), "mean"] == pytest.approx(by_view["side"])
    assert found.loc[("good", "c0", ""), "mean"] == pytest.approx(by_view.mean())
    assert (found["ci_low"] < found["mean"]).all()
    few = profile(ratings, questions=["fine"], conditions=["c3", "c1"]).table
    assert few[["question", "condition"]].to_numpy().tolist() == [["fine", "c1"], ["fine", "c3"]]


def test_spread_is_over_the_questions_of_the_study_that_asked(joined: Joined) -> None:
    found = spread(joined, "real").table.set_index("condition")
    means = joined.by_condition
    assert found["spread"].to_numpy() == pytest.approx(means.std(axis=1, ddof=1).to_numpy())
    assert found["range"].to_numpy() == pytest.approx((means.max(axis=1) - means.min(axis=1)).to_numpy())
    assert found["x"].to_numpy() == pytest.approx(means["real"].to_numpy())


def test_one_table_has_questions_and_metrics(joined: Joined) -> None:
    values = pd.DataFrame({
        "stimulus": ["c0/k0", "c0/k1", ""], "condition": ["", "", "c1"], "metric": "psnr", "region": ["face"] * 3,
        "value": [30.0, 32.0, 25.0],
    })  # fmt: skip
    found = table(joined, values).table.set_index("condition")
    assert found["psnr (face)"].dropna().to_dict() == {"c0": 31.0, "c1": 25.0}
    assert list(found.columns) == [*joined.questions, "psnr (face)"]


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


@pytest.mark.parametrize("case", degenerate())
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


@pytest.fixture(scope="module")
def avatars(tmp_path_factory: pytest.TempPathFactory) -> Joined:
    """The eight avatars of the paper's Table 14: eight questions of template A, two of template B."""
    path = DATA / "tables" / "avatar_table14.csv"
    if not path.is_file():
        pytest.skip(f"tables/avatar_table14.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    folder = tmp_path_factory.mktemp("avatars")
    published = pd.read_csv(path).rename(columns={"model": "condition"})
    for name, asked in (("a", published.columns[11:19]), ("b", published.columns[19:21])):
        published.melt("condition", list(asked), "question", "mean").to_csv(folder / f"{name}.csv", index=False)
    return join([folder / "a.csv", folder / "b.csv"])


def test_the_avatar_paper_reduces_ten_questions_to_three_and_so_do_we(avatars: Joined) -> None:
    """One of template A, which all say the same, and both of template B."""
    result = shorter(avatars)
    assert result is not None
    found = result.table[result.table["suggested"]].iloc[0]
    assert set(found["questions"].split("; ")) == {"Appropriate", "EmotionAccuracy", "Resemblance"}
    assert "no check" not in result.note
    assert "fresh: empty" in result.note


def test_the_avatars_have_the_published_structure(avatars: Joined) -> None:
    found = components(avatars, keep=2).table
    assert found["cumulative"][1] == pytest.approx(0.964, abs=5e-4)
    loaded = loadings(avatars, keep=2)
    assert at(loaded, question="Resemblance", component=1)["loading"] == pytest.approx(0.172, abs=5e-4)
    pairs = correlations(avatars).table
    of_a = pairs[
        ~pairs["question"].isin(["EmotionAccuracy"]) & ~pairs["other_question"].isin(["EmotionAccuracy", "Resemblance"])
    ]
    assert of_a["pearson"].mean() == pytest.approx(0.9975, abs=5e-5)
