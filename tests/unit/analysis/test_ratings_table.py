"""Tables of ratings: required columns, and every problem at once."""

from __future__ import annotations

import math
from pathlib import Path

import pandas as pd
import pytest

from beholder.analysis import analyse
from beholder.analysis.means import conditions
from beholder.analysis.ratings_table import TableOptions, load_table
from beholder.errors import UserError
from support.crossed_ratings import write_csv
from support.data import ROOT, data_file
from support.messy_tables import MESSY_TABLES, MessyTable


def test_absent_columns_are_all_named_with_the_line_to_write(tmp_path: Path) -> None:
    path = write_csv(tmp_path, pd.DataFrame({"participants": ["p"], "value": [1]}))
    with pytest.raises(UserError) as error:
        analyse(path)
    assert str(error.value).splitlines() == [
        f"{path}  has no column that says who rated. Allowed: a name such as participant, subject, subj, rater, "
        'listener, viewer. Did you mean participants? --columns "value=value,participant=participants,condition=NAME".',
        f"{path}  has no column that says what was rated. Allowed: a name such as condition, system, model, hrc, "
        "codec, algorithm. Columns: participants, value. --columns "
        '"value=value,participant=participants,condition=NAME".',
    ]


@pytest.mark.parametrize("messy", MESSY_TABLES, ids=lambda messy: messy.name)
def test_what_a_messy_table_gets_and_the_docs_say_so(tmp_path: Path, messy: MessyTable) -> None:
    path = messy.write(tmp_path)
    docs = (ROOT / "docs" / "data.md").read_text("utf-8")
    if messy.refused:
        with pytest.raises(UserError) as error:
            load_table(path)
        assert str(error.value).splitlines()[0] == f"{path}{messy.refused}"
    else:
        own = load_table(path)
        assert "; ".join(own.notes) == messy.read
        assert " | ".join(map(str, own.findings)) == (messy.odd or " | ".join(map(str, own.findings)))
        assert own.table["value"].notna().sum() > 4
        assert own.table["value"].max() <= 5
    told = messy.odd.split(" | ")[0] or messy.refused.partition("  ")[2] or messy.read
    assert f"| {messy.is_about} | " in docs
    assert told.replace("|", "\\|") in docs


def test_a_reference_is_marked_by_its_name(tmp_path: Path) -> None:
    path = MESSY_TABLES[0].write(tmp_path)
    table = load_table(path, TableOptions.of(reference="a")).table
    assert set(table[table["role"] == "reference"]["condition"]) == {"A"}
    with pytest.raises(UserError) as error:
        load_table(path, TableOptions.of(reference="C"))
    assert str(error.value) == f"--reference  'C' is no condition of {path}. Allowed: A, B."


def test_a_reference_that_nobody_marked_is_told(tmp_path: Path) -> None:
    path = tmp_path / "mushra.csv"
    path.write_text("listener,Reference,A\np,100,60\nq,98,40\n", "utf-8")
    note = "no condition is marked as the reference (--reference 'Reference' does)"
    assert note in load_table(path).notes
    assert note not in load_table(path, TableOptions.of(reference="Reference")).notes


def test_a_value_that_cannot_be_read_is_what_is_wrong(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("rater,system,score\np,A,inf\n", "utf-8")
    with pytest.raises(UserError, match=r"a.csv:2  score is 'inf'. Allowed: a number, a word of a scale"):
        load_table(path)


def test_a_declared_scale_is_kept_and_checked(tmp_path: Path) -> None:
    path = MESSY_TABLES[1].write(tmp_path)
    table = load_table(path, TableOptions.of(scale="0..10")).table
    assert set(zip(table["scale_min"], table["scale_max"], strict=True)) == {(0.0, 10.0)}
    with pytest.raises(UserError, match=r"Rating is 5, and the scale is 1 to 4. Allowed: 1 to 4."):
        load_table(path, TableOptions.of(scale="1..4"))


def test_what_is_said_of_a_table_is_refused_for_a_study() -> None:
    with pytest.raises(UserError) as error:
        analyse("study.yaml", columns="value=x", scale="acr5")
    fix = "Its columns are ours; scales and references stand in the study file."
    assert str(error.value).splitlines() == [
        f"{name}  is for a table, and study.yaml is a study. Allowed: a table such as ratings.csv. {fix}"
        for name in ("--columns", "--scale")
    ]
    with pytest.raises(UserError) as error:
        analyse("ratings.csv", robots=True)
    assert str(error.value) == "--robots  is for a study, and ratings.csv is a table. Allowed: a study."


@pytest.mark.parametrize(
    ("name", "columns", "conditions", "rows"),
    [
        ("ratings/vqeghd3_raw.csv", None, 9, 1728),
        ("ratings/lukas_pc_raw.csv", None, 40, 2128),
        ("ratings/lmm_runs_synth_raw.csv", None, 1, 7560),
        ("p910/acr_B_default_bonus/answers_merged_votes_per_worker.csv", "names={content}_{condition}_{}", 10, 1210),
    ],
)
def test_public_tables_are_read_as_they_are(name: str, columns: str | None, conditions: int, rows: int) -> None:
    table = load_table(data_file(name), TableOptions.of(columns)).table
    assert (table["condition"].nunique(), len(table)) == (conditions, rows)


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
    actual = conditions(table).table
    assert actual[["condition", "mean"]].to_numpy().tolist() == [["1", 1.5], ["2", 4.0]]


def test_values_of_a_data_frame_that_are_no_numbers_are_told() -> None:
    table = pd.DataFrame({"participant": "p", "content": "c", "condition": "a", "value": [1, "good", math.inf, None]})
    with pytest.raises(UserError) as error:
        conditions(table)
    assert str(error.value).splitlines() == [
        "ratings.loc[1]  value is 'good'. Allowed: a number, or NaN when missing.",
        "ratings.loc[2]  value is inf. Allowed: a number, or NaN when missing.",
    ]


def test_ranks_are_turned_round_unless_the_researcher_says_that_the_highest_is_best(tmp_path: Path) -> None:
    path = next(one for one in MESSY_TABLES if one.name == "ranks.csv").write(tmp_path)
    turned = load_table(path).table
    assert turned.groupby("condition")["value"].mean().to_dict() == {"A": 2.75, "B": 2.25, "C": 1.0}
    assert set(turned["method"]) == {"rank"}
    assert turned[["scale_min", "scale_max"]].drop_duplicates().to_numpy().tolist() == [[1.0, 3.0]]
    given = load_table(path, TableOptions.of("value=Rank"))
    assert given.table.groupby("condition")["value"].mean().to_dict() == {"A": 1.25, "B": 1.75, "C": 3.0}
    assert "higher counts as better (--columns rank=Rank if 1 is the best)" in given.notes
    longer = load_table(path, TableOptions.of(scale="1..8")).table
    assert longer.groupby("condition")["value"].mean().to_dict() == {"A": 7.75, "B": 7.25, "C": 6.0}


def test_a_score_beside_a_rank_is_what_is_read(tmp_path: Path) -> None:
    path = tmp_path / "both.csv"
    path.write_text("rater,system,rank,score\np,A,1,80\np,B,2,20\nq,A,1,70\nq,B,2,30\n", "utf-8")
    assert load_table(path).table["value"].tolist() == [80, 20, 70, 30]
    assert load_table(path, TableOptions.of("rank=rank")).table["value"].tolist() == [2, 1, 2, 1]
    with pytest.raises(UserError) as error:
        TableOptions.of("value=score,rank=rank")
    fix = "A rank is a value of which 1 is the best."
    assert str(error.value) == f"--columns  value and rank are both told. Allowed: one of the two. {fix}"


def test_ranks_of_several_questions_are_turned_round_by_their_own_length(tmp_path: Path) -> None:
    path = tmp_path / "two.csv"
    rows = [f"{who},{system},{question},{place}" for who in "pq" for question, last in (("clear", 2), ("warm", 3))
            for place, system in enumerate("ABC"[:last], 1)]  # fmt: skip
    path.write_text("\n".join(["rater,system,question,place", *rows, ""]), "utf-8")
    own = load_table(path)
    first = own.table[own.table["condition"] == "A"]
    assert first.groupby("question")["value"].first().to_dict() == {"clear": 2.0, "warm": 3.0}
    assert "ranks of clear are turned round, so that 1, the best, counts 2 and 2 counts 1" in own.notes


def test_ranks_that_were_left_out_are_no_ranks(tmp_path: Path) -> None:
    path = tmp_path / "partial.csv"
    path.write_text("rater,system,item,rank\np,A,s,1\np,B,s,2\np,C,s,\nq,A,s,1\nq,B,s,\nq,C,s,NA\n", "utf-8")
    own = load_table(path)
    assert own.table["value"].dropna().tolist() == [2, 1, 2]
    assert "ranks are turned round, so that 1, the best, counts 2 and 2 counts 1" in own.notes
