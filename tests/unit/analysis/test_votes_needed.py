"""Votes needed: the curves of the reference, what holds of every curve, and what is said of it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from beholder.analysis.figures.theme import COLUMN
from beholder.analysis.figures.votes_needed import votes_needed_chart
from beholder.analysis.scores import scores
from beholder.analysis.votes_needed import VOTES_NEEDED, VotesForTarget, default_curves, votes_for_target, votes_needed
from beholder.errors import UserError
from beholder.reporting.figures import to_svg
from support.data import DATA
from support.planted_votes import hdtv_ratings, planted

# The reference


@pytest.fixture(scope="module")
def hdtv() -> pd.DataFrame:
    return hdtv_ratings()


@pytest.mark.parametrize(
    ("by", "against", "name"),
    [("rating", "all", "vote"), ("participant", "all", "subject"), ("participant", "halves", "disjoint")],
)
def test_the_curves_are_those_of_the_reference(hdtv: pd.DataFrame, by: Any, against: Any, name: str) -> None:
    reference = pd.read_csv(DATA / "evidence" / "votes_needed_curves.csv").set_index("N")
    reference = reference[reference[f"pcc_{name}"].notna()]
    result = votes_needed(hdtv, by=by, against=against, sizes=list(reference.index))
    assert result is not None
    table = result.table.set_index("votes")
    assert list(table.index) == list(reference.index)
    assert set(table["replicates"]) == {200}
    # Both are means of 200 draws, so they differ by chance: of r by 0.003 at most, of the error by 6 %.
    assert table["pearson"].to_numpy() == pytest.approx(reference[f"pcc_{name}"].to_numpy(), abs=0.003)
    assert table["rmse"].to_numpy() == pytest.approx(reference[f"rmse_{name}"].to_numpy(), rel=0.06)
    if name == "vote":
        for end in ("low", "high"):
            expected = reference[f"pcc_vote_{end[:2]}"].to_numpy()
            assert table[f"pearson_{end}"].to_numpy() == pytest.approx(expected, abs=0.012)


def test_a_curve_against_all_flatters_and_single_votes_look_worse_than_people(hdtv: pd.DataFrame) -> None:
    asked: list[tuple[Any, Any]] = [("participant", "halves"), ("participant", "all"), ("rating", "all")]
    actual = {(by, against): votes_needed(hdtv, by=by, against=against, sizes=[12]) for by, against in asked}
    rows = {name: result.table.iloc[0] for name, result in actual.items() if result is not None}
    assert rows["participant", "halves"]["rmse"] > 1.3 * rows["participant", "all"]["rmse"]
    assert rows["participant", "all"]["pearson"] > rows["rating", "all"]["pearson"]


# What holds of every curve


def test_the_default_is_halves_of_people_up_to_half_the_votes() -> None:
    result = votes_needed(planted())
    assert result is not None
    assert list(result.table.columns) == VOTES_NEEDED.names
    assert list(result.table["votes"]) == [2, 3, 4, 5, 6]
    assert set(result.table["by"] + " " + result.table["against"]) == {"participant halves"}
    assert set(result.table["votes_now"]) == {12.0}
    assert "200 replicates." in result.note
    assert votes_needed(planted()).table.equals(result.table), "the same seed, the same curve"  # type: ignore[union-attr]
    other = votes_needed(planted(), seed=2)
    assert other is not None
    assert not other.table.equals(result.table)


@settings(max_examples=15, deadline=None)
@given(
    st.integers(2, 8), st.integers(3, 6), st.floats(0.3, 1), st.sampled_from(["participant", "rating"]),
    st.sampled_from(["halves", "all"]), st.integers(0, 99),
)  # fmt: skip
def test_every_curve_is_finite_and_within_its_bounds(
    people: int, stimuli: int, share: float, by: Any, against: Any, seed: int
) -> None:
    result = votes_needed(planted(people, stimuli, share=share, seed=seed), by=by, against=against, replicates=10)
    if result is None:
        return
    table = result.table
    for name in ("pearson", "rmse"):
        known = table[table[name].notna()]
        assert np.isfinite(known[[name, f"{name}_low", f"{name}_high"]].to_numpy()).all()
        assert (known[f"{name}_low"] <= known[name] + 1e-9).all()
        assert (known[name] <= known[f"{name}_high"] + 1e-9).all()
    assert (table["pearson"].abs().dropna() <= 1).all()
    assert table["votes"].is_monotonic_increasing
    assert table["votes"].max() <= table["votes_now"].max() / (2 if against == "halves" else 1)


def test_where_people_rate_a_part_votes_are_an_average() -> None:
    result = votes_needed(planted(60, 20, share=0.2, seed=3))
    assert result is not None
    table = result.table
    now = table["votes_now"].iloc[0]
    assert 9 < now < 15
    assert table["votes"].iloc[-1] == math.floor(now / 2)
    assert table["pearson"].is_monotonic_increasing


def test_scores_of_a_laboratory_can_be_held_against() -> None:
    table = planted(noise=0.5)
    means = scores(table).table[["stimulus", "mean"]]
    same = votes_needed(table, against=means)
    everything = votes_needed(table, against="all")
    assert same is not None
    assert everything is not None
    assert same.table["pearson"].to_numpy() == pytest.approx(everything.table["pearson"].to_numpy())
    assert set(same.table["against"]) == {"scores"}
    # Stimuli that the laboratory does not know are left out; a constant shift costs error and no correlation.
    shifted = means.assign(mean=means["mean"] + 10, question="rating").iloc[2:]
    result = votes_needed(table, against=shifted, by="rating", sizes=[4, 40])
    assert result is not None
    assert list(result.table["votes"]) == [4, 40]
    assert result.table["rmse"].iloc[1] == pytest.approx(10, abs=0.3)
    assert result.table["pearson"].iloc[1] > 0.97


def test_comparisons_and_several_questions_have_curves_and_choices_have_none() -> None:
    rows = planted()
    asked = pd.concat([rows.assign(question="Größe 2"), rows.assign(question="NA", kind="choice", value=1.0)])
    result = default_curves(asked)
    assert result is not None
    assert set(result.table["question"]) == {"Größe 2"}
    assert list(dict.fromkeys(result.table["by"] + " " + result.table["against"])) == [
        "participant halves",
        "rating all",
    ]
    graded = rows.assign(kind="diff", other_condition="reference", value=rows["value"] - 3)
    assert votes_needed(graded) is not None


@pytest.mark.parametrize(
    "table",
    [
        planted(1),
        planted(6, 2),
        planted(6).head(1),
        planted(3, 4).assign(use=False),
        planted(6).assign(kind="choice", value=1.0),
    ],
    ids=["one rater", "two stimuli", "one rating", "nothing used", "choices"],
)
def test_where_nothing_can_be_told_there_is_no_curve(table: pd.DataFrame) -> None:
    assert votes_needed(table) is None
    assert default_curves(table) is None


def test_answers_that_are_all_alike_have_an_error_of_none_and_no_correlation() -> None:
    result = votes_needed(planted(6, 5).assign(value=3.0))
    assert result is not None
    assert set(result.table["rmse"]) == {0.0}
    assert result.table["pearson"].isna().all()
    text = votes_for_target(result.table, "rating")
    assert (text.votes_now, text.is_measured) == (6.0, False)
    assert math.isnan(text.r_now)
    assert math.isnan(text.votes)
    assert "NaN" not in to_svg(lambda layout: votes_needed_chart(result.table, layout=layout), COLUMN)


@pytest.mark.variant
def test_many_ratings_are_drawn_less_often_and_the_note_says_so() -> None:
    result = votes_needed(planted(400, 300), sizes=[2])
    assert result is not None
    assert set(result.table["replicates"]) == {166}
    assert "166 replicates, fewer than usual as there are so many ratings." in result.note
    asked = votes_needed(planted(40, 30), replicates=7)
    assert asked is not None
    assert asked.note.endswith(" 7 replicates.")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"by": "rater"}, "by  is 'rater'. Allowed: participant or rating."),
        ({"against": "lab"}, "against  is 'lab'. Allowed: halves, all, or a table of scores."),
        ({"against": pd.DataFrame({"stimulus": []})}, "against  has no column mean. Allowed: stimulus, mean."),
        ({"replicates": 0}, "replicates  is 0. Allowed: 1 or more."),
        ({"sizes": [2, 0]}, "sizes  is [2, 0]. Allowed: whole numbers, 1 or more."),
        (
            {"against": pd.DataFrame({"stimulus": ["no/c1", "x"], "mean": [1, 2]})},
            "against  shares 1 stimuli with the ratings of rating. Allowed: 3 or more, by the names in the column "
            "stimulus.",
        ),
    ],
)  # fmt: skip
def test_a_wrong_option_says_what_is_allowed(options: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError) as caught:
        votes_needed(planted(), **options)
    assert str(caught.value) == message


# What is said of it


def curve_of(r: list[float], votes: list[int], now: float) -> pd.DataFrame:
    return pd.DataFrame({"question": "q", "by": "participant", "against": "halves", "votes": votes, "pearson": r,
                         "votes_now": now})  # fmt: skip


@pytest.mark.parametrize(
    ("r", "votes", "now", "told"),
    [
        ([0.90, 0.94, 0.97], [2, 4, 8], 16.0, VotesForTarget(16.0, 0.985, 5.0, is_measured=True)),
        ([0.5, 0.6], [2, 3], 6.0, VotesForTarget(6.0, 0.75, 38.0, is_measured=False)),
        ([0.96], [1], 2.0, VotesForTarget(2.0, 0.98, 1.0, is_measured=True)),
    ],
)
def test_enough_is_where_the_curve_reaches_it_or_would(
    r: list[float], votes: list[int], now: float, told: VotesForTarget
) -> None:
    actual = votes_for_target(curve_of(r, votes, now), "q")
    assert actual.r_now == pytest.approx(told.r_now, abs=0.001)
    assert actual._replace(r_now=0) == told._replace(r_now=0)


def test_halves_that_disagree_tell_no_number() -> None:
    text = votes_for_target(curve_of([-0.2, -0.1], [2, 3], 6.0), "q")
    assert math.isnan(text.r_now)
    assert math.isnan(text.votes)
