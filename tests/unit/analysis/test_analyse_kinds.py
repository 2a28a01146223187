"""Analyse: comparisons, correct answers and ticks give numbers of their own kind, never taken for scores."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.means import conditions, contents, questions
from beholder.analysis.pairs import pairs, preferences
from beholder.analysis.participants import participants, raters
from beholder.analysis.ratings import RowOrder, tidy
from beholder.analysis.result import metric
from beholder.analysis.strengths import strengths
from beholder.stats.intervals import interval_for, share_interval

Row = tuple[str, str, str, float]
"""participant, condition, other condition, value"""


def table(kind: str, *rows: Row, method: str = "", unit: str = "", content: str = "t") -> pd.DataFrame:
    return pd.DataFrame(
        [
            {
                "participant": person, "content": content, "condition": one, "other_condition": other, "kind": kind,
                "question": "q", "value": value, "method": method, "unit": unit, "use": True, "role": "test",
                "stimulus": f"{one}/{content}", "other_stimulus": f"{other}/{content}" if other else "",
            }
            for person, one, other, value in rows
        ]
    )  # fmt: skip


def results(folder: Path, ratings: pd.DataFrame) -> Any:
    ratings.to_csv(folder / "ratings.csv", index=False, encoding="utf-8", lineterminator="\n")
    return analyse(folder / "ratings.csv")


def means(found: Any) -> dict[str, float]:
    return dict(zip(found.conditions["condition"], found.conditions["mean"], strict=True))


def test_a_preference_counts_for_one_and_against_the_other(tmp_path: Path) -> None:
    found = results(
        tmp_path, table("choice", ("p1", "a", "b", 1), ("p1", "a", "c", 1), ("p1", "b", "c", -1), ("p2", "a", "b", 0))
    )
    assert means(found) == {"a": pytest.approx(0.5), "b": pytest.approx(-0.5), "c": pytest.approx(0.0)}
    assert dict(zip(found.conditions["condition"], found.conditions["n"], strict=True)) == {"a": 3, "b": 3, "c": 2}
    assert found.notes["metrics"]["q"]["name"] == "Preference"
    assert found.notes["ratings"]["used"] == 4
    assert "counts once for each of them" in found.notes["analyses"]["conditions"]["note"]


def test_pairs_of_a_comparison_are_the_comparisons_themselves(tmp_path: Path) -> None:
    found = results(
        tmp_path,
        table("choice", *[(f"p{n}", "a", "b", 1) for n in range(6)], *[("p9", "b", "c", 1), ("p8", "b", "c", 1)]),
    )
    pairs = found.pairs.set_index(["condition", "other_condition"])["mean_difference"].to_dict()
    assert pairs == {("a", "b"): 1.0, ("b", "c"): 1.0}  # a and c never met, and nobody says that they did


def test_grades_against_a_reference_are_means_of_the_condition_and_the_reference_has_none(tmp_path: Path) -> None:
    rows = [(f"p{n}", name, "original", value) for n in range(4) for name, value in (("a", -1), ("b", -2 - n % 2))]
    ratings = pd.concat(
        [table("diff", *rows), table("score", ("p1", "original", "", 5)).assign(question="x", role="reference")]
    )
    found = results(tmp_path, ratings)
    graded = found.conditions[found.conditions["question"] == "q"].set_index("condition")["mean"]
    assert graded.to_dict() == {"a": -1.0, "b": -2.5}
    pairs = found.pairs[found.pairs["question"] == "q"].set_index(["condition", "other_condition"])["mean_difference"]
    assert pairs.to_dict() == {("a", "b"): 1.5, ("a", "original"): -1.0, ("b", "original"): -2.5}
    assert found.notes["metrics"]["q"]["name"] == "CMOS"


def test_correct_answers_are_a_share_and_have_no_pairs(tmp_path: Path) -> None:
    found = results(tmp_path, table("correct", ("p1", "a", "b", 1), ("p2", "a", "b", 0), ("p3", "a", "b", 1)))
    assert means(found) == {"a": pytest.approx(2 / 3)}
    assert found.pairs.empty
    assert "chance is 0.5" in found.notes["analyses"]["conditions"]["note"]


def test_each_tick_is_a_question_of_its_own(tmp_path: Path) -> None:
    echo = table("pick", ("p1", "a", "", 1), ("p2", "a", "", 0), unit="Echo")
    other = table("pick", ("p1", "a", "", 0), ("p2", "a", "", 0), unit="no")
    found = results(tmp_path, pd.concat([echo, other]))
    assert dict(zip(found.conditions["question"], found.conditions["mean"], strict=True)) == {
        "q: Echo": 0.5,
        "q: no": 0,
    }


@settings(max_examples=30, deadline=None)
@given(st.lists(st.sampled_from([-1, 0, 1]), min_size=3, max_size=12))
def test_naming_the_other_condition_first_changes_no_mean(values: list[int]) -> None:
    rows = [(f"p{place}", "a", "b", value) for place, value in enumerate(values)]
    turned = [(person, other, one, -value) for person, one, other, value in rows]
    one, two = (tidy(table("choice", *some)).table for some in (rows, turned))
    columns = ["participant", "condition", "value"]
    assert sorted(map(tuple, one[columns].to_numpy())) == sorted(map(tuple, two[columns].to_numpy()))


def test_made_anchors_stand_after_all_other_conditions() -> None:
    ratings = table("score", *[("p", name, "", 1.0) for name in ("lowpass-3500", "zebra", "no", "01", "NA", "-")])
    found = tidy(ratings, RowOrder(conditions=("zebra",), last=("lowpass-3500", "lowpass-7000")))
    assert found.conditions == ("zebra", "-", "01", "NA", "no", "lowpass-3500")


@pytest.mark.parametrize(
    ("method", "kind", "name"),
    [
        ("acr", "score", "MOS(ACR)"), ("acr-hr", "score", "MOS(ACR-HR)"), ("dcr", "score", "DMOS(DCR)"),
        ("ccr", "diff", "CMOS(CCR)"), ("mushra", "score", "MUSHRA mean"), ("parallel", "score", "Score (parallel)"),
        ("pair", "choice", "Preference (pair)"), ("ab", "choice", "Preference (AB)"),
        ("abx", "correct", "Share correct (ABX)"), ("abx", "choice", "Closeness (ABX)"),
        ("likert", "score", "Agreement (Likert)"), ("likert", "pick", "Share ticked (Likert)"),
        ("", "score", "Score"), ("", "diff", "CMOS"),
    ],
)  # fmt: skip
def test_every_number_has_the_name_of_its_method(method: str, kind: str, name: str) -> None:
    assert metric(method, kind).name == name


RANGES = {"pick": (0.0, 1.0), "correct": (0.0, 1.0), "choice": (-1.0, 1.0)}
ANSWERS = {"pick": [0, 1], "correct": [0, 1], "choice": [-1, 0, 1]}


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(sorted(RANGES)), st.data())
def test_the_interval_of_a_share_stays_in_its_range_and_has_a_width(kind: str, data: st.DataObject) -> None:
    answers = st.lists(st.sampled_from(ANSWERS[kind]), min_size=1, max_size=6)
    people = data.draw(st.lists(answers, min_size=2, max_size=12))
    found = interval_for(kind, [sum(own) / len(own) for own in people], sum(map(len, people)))
    low, high = RANGES[kind]
    assert low <= found.low <= found.mean <= found.high <= high
    assert found.high - found.low > 0.01


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from([0, 1]), min_size=2, max_size=60))
def test_one_answer_of_everybody_has_the_interval_of_clopper_and_pearson(answers: list[int]) -> None:
    found = share_interval(answers, len(answers))
    exact = stats.binomtest(sum(answers), len(answers)).proportion_ci(method="exact")
    assert [found.low, found.high] == pytest.approx([exact.low, exact.high])
    turned = interval_for("choice", [2 * answer - 1 for answer in answers], len(answers))
    assert [turned.low, turned.high] == pytest.approx([2 * exact.low - 1, 2 * exact.high - 1])


def test_ratings_that_differ_between_people_only_are_worth_less_than_their_number() -> None:
    shares = [1.0, 0.0] * 10
    own, each = share_interval(shares, 20), share_interval(shares, 200)
    assert each.high - each.low == pytest.approx(own.high - own.low, abs=0.05)
    exact = stats.binomtest(100, 200).proportion_ci(method="exact")
    assert each.high - each.low > 2 * (exact.high - exact.low)


def test_one_participant_has_no_interval_of_a_share() -> None:
    found = share_interval([0.5], 4)
    assert found.low != found.low


def test_agreeing_people_have_an_interval_everywhere(tmp_path: Path) -> None:
    found = results(tmp_path, table("choice", *[(f"p{n}", "a", "b", 1) for n in range(8)], method="pair"))
    exact = stats.binomtest(8, 8).proportion_ci(method="exact")
    (pair,) = found.pairs.to_dict("records")
    assert (pair["ci_low"], pair["ci_high"]) == (pytest.approx(2 * exact.low - 1), 1.0)
    for rows in (found.conditions, found.scores):
        assert rows[rows["condition"] == "a"]["ci_low"].item() == pytest.approx(2 * exact.low - 1)
        assert rows[rows["condition"] == "b"]["ci_high"].item() == pytest.approx(1 - 2 * exact.low)
    assert set(found.conditions["note"]) == {"one content: interval over participants only"}
    assert set(found.conditions["interval"]) == {"Korn-Graubard over participants"}
    assert found.notes["intervals"] == {"q": "Korn-Graubard over participants and contents"}
    assert "Korn and Graubard" in found.notes["analyses"]["conditions"]["note"]


def test_the_difference_of_two_shares_stays_between_minus_one_and_one(tmp_path: Path) -> None:
    rows = [(f"p{n}", name, "", value) for n in range(3) for name, value in (("a", 1), ("b", int(n == 0)))]
    (pair,) = results(tmp_path, table("pick", *rows, unit="Echo")).pairs.to_dict("records")
    assert pair["ci_high"] == 1.0


@pytest.mark.parametrize(
    ("method", "kind", "sources", "others"),
    [
        ("mushra", "score", ["ITU-R BS.1534", "Student"], ["P.910", "Korn"]),
        ("acr", "score", ["P.910", "Student"], ["BS.1534", "Korn"]),
        ("pair", "choice", ["Korn and Graubard", "Wilcoxon"], ["P.910", "BS.1534"]),
        ("abx", "correct", ["Clopper and Pearson", "Korn and Graubard"], ["P.910", "Wilcoxon", "Student", "Spearman"]),
    ],
)
def test_sources_are_those_of_the_method(
    method: str, kind: str, sources: list[str], others: list[str], tmp_path: Path
) -> None:
    other = "" if kind == "score" else "b"
    rows: list[Row] = [(f"p{n}", "a", other, n % 2) for n in range(4)]
    rows += [(f"p{n}", "c", other, 1) for n in range(4)]
    notes = results(tmp_path, table(kind, *rows, method=method)).notes
    of_method = [name for name in notes["analyses"] if name not in ("models", "model_raters")]
    cited = "; ".join(notes["analyses"][name]["citation"] for name in of_method)
    assert [name for name in sources if name not in cited] == []
    assert [name for name in others if name in cited] == []


def test_both_of_which_one_had_to_be_named_are_told_alike_everywhere(tmp_path: Path) -> None:
    found = results(tmp_path, table("correct", ("p1", "a", "b", 1), ("p2", "a", "b", 0)))
    assert found.display_name("a") == "a or b"
    assert "a or b" in repr(found)


def test_winners_and_losers_are_the_same_as_choices_in_any_other_order() -> None:
    rng = np.random.default_rng(4)
    names = ["good", "fair", "bad"]
    told = [
        (f"p{person}", one, other, float(rng.choice([-1, 0, 1])))
        for person in range(6) for one, other in combinations(names, 2) for _ in range(4)
    ]  # fmt: skip
    won = [row if row[3] >= 0 else (row[0], row[2], row[1], -row[3]) for row in told]
    assert won != told
    plain, winners = (
        pd.concat([table("choice", *rows[at::4], content=f"c{at}") for at in range(4)]) for rows in (told, won)
    )
    for analysis in (conditions, contents, questions, pairs, participants, raters, preferences, strengths):
        one, other = analysis(plain), analysis(winners)
        assert one is not None
        assert other is not None
        pd.testing.assert_frame_equal(one.table, other.table)
    assert participants(winners).table["agreement"].notna().all()
