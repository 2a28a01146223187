"""Analyse: published numbers come out again, and edge cases stay honest."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from beholder.analysis import analyse
from beholder.analysis.means import conditions
from beholder.analysis.ranks import ranks
from beholder.analysis.result import read_result
from beholder.errors import UserError
from beholder.stats.intervals import t_interval
from beholder.stats.tests import holm, signed_rank
from support.data import DATA


def data_file(name: str) -> Path:
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"{name} is not in {DATA}; set BEHOLDER_TEST_DATA")
    return path


def write_csv(folder: Path, table: pd.DataFrame) -> Path:
    path = folder / "ratings.csv"
    table.to_csv(path, index=False, encoding="utf-8", lineterminator="\n")
    return path


def crossed(means: dict[str, float], participants: int, contents: int = 2, noise: float = 1) -> pd.DataFrame:
    """Return ratings in which everybody rates every condition on every content."""
    rng = np.random.default_rng(5)
    rows = [
        {"participant": f"p{p}", "content": f"c{k}", "condition": name, "value": mean + rng.normal(0, noise)}
        for p in range(participants)
        for k in range(contents)
        for name, mean in means.items()
    ]
    return pd.DataFrame(rows, columns=["participant", "content", "condition", "value"])


# Published and exact values


def test_holm_gives_the_published_values() -> None:
    known = json.loads(data_file("tables/unit_values.json").read_text())["holm"]
    np.testing.assert_allclose(holm(known["p"]), known["adj"])


def test_the_signed_rank_test_with_zeros_gives_the_published_value() -> None:
    known = json.loads(data_file("tables/unit_values.json").read_text())["wilcoxon"]
    found = signed_rank(known["d"])
    assert (found.statistic, found.p) == pytest.approx(tuple(known["pratt_corrFalse"]))
    assert found.method == "Wilcoxon (Pratt), asymptotic"


# Holm


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_never_lowers_a_p_value_and_keeps_the_order(p: list[float]) -> None:
    adjusted = holm(p)
    assert (adjusted >= np.asarray(p)).all()
    assert (adjusted <= 1).all()
    order = np.argsort(p, kind="stable")
    assert (np.diff(adjusted[order]) >= 0).all()


def test_holm_leaves_out_tests_that_were_not_made() -> None:
    np.testing.assert_allclose(holm([0.01, math.nan, 0.04]), [0.02, math.nan, 0.04])
    assert len(holm([])) == 0


# Wilcoxon


def test_small_samples_without_ties_are_exact() -> None:
    found = signed_rank([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    assert found.p == pytest.approx(2 / 2**6)
    assert found.method == "Wilcoxon (Pratt), exact"


def test_small_samples_with_ties_try_every_sign_pattern() -> None:
    found = signed_rank([1, 1, 2, 2, 0])
    assert found.p == pytest.approx(2 / 2**4)
    assert found.method == "Wilcoxon (Pratt), all sign patterns"


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(-5, 5), min_size=2, max_size=8))
def test_the_sign_patterns_agree_with_an_exhaustive_permutation_test(d: list[int]) -> None:
    if not any(d) or (len({abs(one) for one in d}) == len(d) and all(d)):
        return
    ranks = stats.rankdata(np.abs(d))

    def centred(x: Any, axis: int) -> Any:
        return np.sum(np.sign(x) * ranks, axis=axis)

    wanted = stats.permutation_test(
        (np.asarray(d, dtype=float),), centred, permutation_type="samples", n_resamples=np.inf, vectorized=True
    )
    assert signed_rank(d).p == pytest.approx(min(1.0, wanted.pvalue))


def test_differences_that_are_all_zero_give_p_one() -> None:
    assert signed_rank([0.0, 0.0, 0.0]).p == 1


def test_float_noise_does_not_break_ties() -> None:
    assert signed_rank([0.1 + 0.2 - 0.3, 0.0]).p == 1


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(-100, 100), min_size=2, max_size=30))
def test_p_is_the_same_for_both_directions(d: list[float]) -> None:
    assert signed_rank(d).p == pytest.approx(signed_rank([-one for one in d]).p)


# Intervals


def test_one_value_has_a_mean_and_no_interval() -> None:
    found = t_interval([3.0])
    assert (found.n, found.mean) == (1, 3.0)
    assert math.isnan(found.low)
    assert math.isnan(t_interval([]).mean)


def test_intervals_cover_as_often_as_they_claim() -> None:
    rng = np.random.default_rng(11)
    found = [t_interval(rng.normal(0, 1, 8)) for _ in range(800)]
    assert 0.93 < np.mean([one.low <= 0 <= one.high for one in found]) < 0.97


# The verb


def test_a_foreign_table_needs_four_columns_only(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 3}, 8)))
    assert {path.stem for path in (tmp_path / "analyse").iterdir()} == {*results.notes["analyses"], "notes"}
    assert {"scores", "conditions", "contents", "pairs", "participants", "questions"} <= set(results.notes["analyses"])
    assert list(results.scores.columns)[:9] == [
        "stimulus", "content", "condition", "question", "n", "mean", "sd", "ci_low", "ci_high",
    ]  # fmt: skip
    (pair,) = results.pairs.to_dict("records")
    assert (pair["condition"], pair["other_condition"], pair["comparison"]) == ("a", "b", "paired")
    assert (pair["n"], pair["participants"], pair["contents"], pair["test"]) == (16, 8, 2, "clustered t")
    assert pair["mean_difference"] < 0


def test_results_go_where_they_are_asked_to(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1}, 2)), out=tmp_path / "elsewhere")
    assert (tmp_path / "elsewhere" / "scores.csv").is_file()
    assert not (tmp_path / "analyse").exists()


def test_analysing_twice_gives_the_same_bytes(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1, "b": 2, "c": 2}, 6))
    analyse(path)
    first = {file.name: file.read_bytes() for file in (tmp_path / "analyse").iterdir()}
    analyse(path)
    assert {file.name: file.read_bytes() for file in (tmp_path / "analyse").iterdir()} == first


def test_tables_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    table = crossed({"no": 1, "01": 2, "NA": 3}, 5)
    results = analyse(write_csv(tmp_path, table))
    for name in ("scores", "conditions", "contents", "pairs", "participants"):
        written = getattr(results, name)
        back = read_result(tmp_path / "analyse" / f"{name}.csv")
        pd.testing.assert_frame_equal(back, written, check_dtype=False, rtol=1e-9)
    assert set(results.conditions["condition"]) == {"no", "01", "NA"}


def test_a_rating_more_from_one_person_does_not_narrow_the_interval(tmp_path: Path) -> None:
    """Repetitions of a participant are averaged before anything is counted."""
    table = crossed({"a": 1}, 5, contents=1)
    once = analyse(write_csv(tmp_path, table))
    thrice = analyse(write_csv(tmp_path, pd.concat([table] * 3)))
    pd.testing.assert_frame_equal(once.scores, thrice.scores)
    assert thrice.notes["ratings"]["repeated"] == 10


def test_every_content_weighs_the_same_in_a_condition_however_many_rated_it(tmp_path: Path) -> None:
    rows = [("p1", "c1", 0.0), ("p2", "c1", 0.0), ("p3", "c1", 0.0), ("p1", "c2", 4.0)]
    table = pd.DataFrame([{"participant": p, "content": c, "condition": "a", "value": v} for p, c, v in rows])
    (row,) = analyse(write_csv(tmp_path, table)).conditions.to_dict("records")
    assert (row["mean"], row["n"], row["participants"], row["contents"]) == (2.0, 4, 3, 2)


def test_one_participant_gives_scores_without_intervals_and_without_tests(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 1)))
    assert set(results.conditions["note"]) == {"one participant: no interval"}
    assert results.conditions["ci_low"].isna().all()
    (pair,) = results.pairs.to_dict("records")
    assert pair["note"] == "one participant: no test"
    assert math.isnan(pair["p_holm"])
    assert '"p"' not in (tmp_path / "analyse" / "notes.json").read_text()


def test_one_condition_has_no_pairs(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1}, 4)))
    assert len(results.pairs) == 0
    assert len(results.conditions) == 1


def test_conditions_that_nobody_rated_both_of_are_compared_by_their_means(tmp_path: Path) -> None:
    table = crossed({"a": 1, "b": 2}, 4)
    apart = table[(table["participant"] < "p2") == (table["condition"] == "a")]
    (pair,) = analyse(write_csv(tmp_path, apart)).pairs.to_dict("records")
    assert (pair["comparison"], pair["n"], pair["participants"]) == ("unpaired", 8, 4)
    assert pair["note"].startswith("unpaired, as few rated both on the same content: 0 of 4 pages")


def test_equal_conditions_have_p_one(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 2, "b": 2}, 6, noise=0)))
    assert results.pairs["p"].tolist() == [1.0]
    assert set(results.conditions["note"]) == {"all participants agree: interval of no width"}


def test_missing_values_and_unused_rows_are_left_out_and_counted(tmp_path: Path) -> None:
    table = crossed({"a": 1, "b": 2}, 4).assign(use=True)
    table.loc[0, "value"] = math.nan
    table.loc[1, "use"] = False
    results = analyse(write_csv(tmp_path, table))
    counts = results.notes["ratings"]
    assert (counts["rows"], counts["used"], counts["missing"], counts["not_used"]) == (16, 14, 1, 1)


def test_answers_to_checks_and_other_kinds_are_not_scores(tmp_path: Path) -> None:
    table = crossed({"a": 1}, 3).assign(role="test", kind="score")
    table.loc[0, "role"] = "gold"
    table.loc[1, "kind"] = "diff"
    assert analyse(write_csv(tmp_path, table)).notes["ratings"]["used"] == 4


def test_a_table_without_any_rating_gives_empty_results(tmp_path: Path) -> None:
    results = analyse(write_csv(tmp_path, crossed({"a": 1}, 0)))
    assert [len(getattr(results, name)) for name in ("scores", "conditions", "contents", "pairs", "participants")] == [
        0
    ] * 5


def test_questions_are_families_of_their_own(tmp_path: Path) -> None:
    means: dict[str, float] = {"a": 1, "b": 2, "c": 3}
    table = pd.concat([crossed(means, 10).assign(question=question) for question in ("fit", "quality")])
    pairs = analyse(write_csv(tmp_path, table)).pairs
    for _, family in pairs.groupby("question"):
        np.testing.assert_allclose(family["p_holm"], holm(family["p"]))


def test_agreement_leaves_the_participant_out(tmp_path: Path) -> None:
    table = crossed({f"x{n:02}": float(n) for n in range(12)}, 4, contents=1, noise=0.1)
    opposed = table["participant"] == "p0"
    table.loc[opposed, "value"] = -table.loc[opposed, "value"]
    found = analyse(write_csv(tmp_path, table)).participants.set_index("participant")["agreement"]
    assert found["p0"] == pytest.approx(-1)
    assert found["p1"] > 0.9


def test_absent_columns_are_all_named(tmp_path: Path) -> None:
    path = write_csv(tmp_path, pd.DataFrame({"participants": ["p"], "content": ["c"], "value": [1]}))
    with pytest.raises(UserError) as error:
        analyse(path)
    allowed = "Allowed: participant, content, condition, value."
    assert str(error.value).splitlines() == [
        f"{path}  has no column participant. {allowed} Did you mean participants?",
        f"{path}  has no column condition. {allowed}",
    ]


def test_columns_under_the_names_of_others_are_recognised(tmp_path: Path) -> None:
    path = write_csv(tmp_path, pd.DataFrame({"Subject": ["p"], "content": ["c"], "condition": ["a"], "score": [1]}))
    with pytest.raises(UserError) as error:
        analyse(path)
    allowed = "Allowed: participant, content, condition, value."
    assert str(error.value).splitlines() == [
        f"{path}  has no column participant. {allowed} Rename Subject to participant.",
        f"{path}  has no column value. {allowed} Rename score to value.",
    ]


def test_notes_name_unit_correction_and_sources(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4)))
    notes = json.loads((tmp_path / "analyse" / "notes.json").read_text())
    assert notes["unit"] == "participant and content"
    assert notes["correction"]["method"] == "Holm"
    assert "Pratt" in notes["analyses"]["tests"]["note"]
    assert all(notes["analyses"][name]["citation"] for name in ("scores", "conditions", "contents", "pairs"))


def test_results_show_themselves_as_a_small_table(tmp_path: Path) -> None:
    table = crossed({"a": 1, "<b>": 2.5}, 4, noise=0)
    results = analyse(write_csv(tmp_path, table))
    assert [line.split() for line in repr(results).splitlines()] == [
        ["condition", "n", "mean", "interval"],
        ["<b>", "8", "2.50", "2.50", "to", "2.50"],
        ["a", "8", "1.00", "1.00", "to", "1.00"],
    ]
    shown = results._repr_html_()
    assert "<td>&lt;b&gt;</td>" in shown
    assert "<td>2.50 to 2.50</td>" in shown


def test_results_show_population_questions_and_report_where_there_is_something_to_say(tmp_path: Path) -> None:
    table = pd.concat([crossed({"a": 1}, 1).assign(question=question) for question in ("fit", "quality")])
    results = analyse(write_csv(tmp_path, table))
    robots = replace(results, notes=results.notes | {"population": "robots"}, report=Path("report") / "index.html")
    first, *lines, last = repr(robots).splitlines()
    assert first == "Simulated: these ratings come from robots."
    assert [line.split() for line in lines] == [
        ["question", "condition", "n", "mean", "interval"],
        ["fit", "a", "2", *lines[1].split()[3:]],
        ["quality", "a", "2", *lines[2].split()[3:]],
    ]
    assert last == f"Report: {Path('report') / 'index.html'}"
    shown = robots._repr_html_()
    assert shown.startswith("<p>Simulated: these ratings come from robots.</p><table")
    assert shown.endswith(f"</table><p>{last}</p>")


def test_notes_hold_the_hash_of_the_ratings_that_were_analysed(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1}, 2))
    assert analyse(path).notes["ratings_sha256"] == hashlib.sha256(path.read_bytes()).hexdigest()


def test_no_note_and_no_source_refers_to_another_analysis(tmp_path: Path) -> None:
    analyses = analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4))).notes["analyses"]
    for analysis in analyses.values():
        assert "as conditions" not in analysis["citation"]
        assert "as for" not in analysis["note"]


# Tables that cannot be


def test_ratings_without_a_name_and_values_that_cannot_be_are_all_told(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "participant": ["p", "", "p", "p"], "content": ["c", "c", "", "c"], "condition": ["a", "a", "a", ""],
            "value": [7, 1, 0, 1], "kind": "correct",
        }
    )  # fmt: skip
    path = write_csv(tmp_path, table)
    with pytest.raises(UserError) as error:
        analyse(path)
    assert str(error.value).splitlines() == [
        f"{path}:3  participant is empty. Allowed: a name.",
        f"{path}:4  content is empty. Allowed: a name.",
        f"{path}:5  condition is empty. Allowed: a name.",
        f"{path}:2  value is 7, of kind correct. Allowed: from 0 to 1.",
    ]


def test_a_data_frame_may_name_things_by_numbers() -> None:
    table = pd.DataFrame({"participant": [1, 2, 1, 2], "content": 1, "condition": [1, 1, 2, 2], "value": [1, 2, 3, 5]})
    found = conditions(table).table
    assert found[["condition", "mean"]].to_numpy().tolist() == [["1", 1.5], ["2", 4.0]]


def test_values_of_a_data_frame_that_are_no_numbers_are_told() -> None:
    table = pd.DataFrame({"participant": "p", "content": "c", "condition": "a", "value": [1, "good", math.inf, None]})
    with pytest.raises(UserError) as error:
        conditions(table)
    assert str(error.value).splitlines() == [
        "ratings.loc[1]  value is 'good'. Allowed: a number, or NaN when missing.",
        "ratings.loc[2]  value is inf. Allowed: a number, or NaN when missing.",
    ]


@pytest.mark.parametrize("name", ["", "clip.mp4"])
def test_one_stimulus_under_many_conditions_is_many(name: str) -> None:
    table = crossed({"a": 1, "b": 2}, 4).assign(stimulus=name)
    found = ranks(table)
    assert found is not None
    assert found.table["probability"].notna().all()


def test_a_comparison_with_itself_says_nothing() -> None:
    table = pd.DataFrame(
        {"participant": ["p", "q", "r"] * 2, "content": "c", "condition": "a", "other_condition": "b", "kind": "choice",
         "value": [1, 1, -1] * 2}
    )  # fmt: skip
    null = table.assign(other_condition="a", value=1)
    pd.testing.assert_frame_equal(conditions(pd.concat([table, null])).table, conditions(table).table)


def test_where_all_agree_a_share_is_as_sure_as_the_fewer_of_people_and_contents() -> None:
    table = crossed({"a": 1}, 20, contents=6, noise=0).assign(kind="correct")
    found = conditions(table).table.loc[0]
    assert found["ci_low"] == pytest.approx(0.025 ** (1 / 6))
    assert found["participants_low"] == pytest.approx(0.025 ** (1 / 20))


def test_files_of_an_earlier_analysis_that_no_longer_apply_are_gone(tmp_path: Path) -> None:
    analyse(write_csv(tmp_path, crossed({"a": 1, "b": 2}, 4)))
    (tmp_path / "analyse" / "mine.txt").write_text("stays", encoding="utf-8")
    analyse(write_csv(tmp_path, crossed({"a": 1}, 4)))
    left = {path.name for path in (tmp_path / "analyse").iterdir()}
    assert "mine.txt" in left
    assert not {"tests.csv", "agreement.csv", "ranks.csv"} & left


def test_a_folder_that_cannot_be_written_is_said_plainly(tmp_path: Path) -> None:
    path = write_csv(tmp_path, crossed({"a": 1}, 2))
    with pytest.raises(UserError) as error:
        analyse(path, out=path)
    told = "cannot be written: File exists. Allowed: a folder in which you may write."
    assert str(error.value) == f"{path}  {told}"
