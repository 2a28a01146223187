"""Long tables: wide ones turned, names taken apart, and rows that are no ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from support.own_tables import long, rows


def test_rows_are_people_where_all_columns_are_conditions(tmp_path: Path) -> None:
    table = long(tmp_path, "A,B\n4,2\n5,1\n", "condition=*")
    assert rows(table, "participant", "condition", "value") == [
        ("row 2", "A", "4"), ("row 2", "B", "2"), ("row 3", "A", "5"), ("row 3", "B", "1"),
    ]  # fmt: skip


@pytest.mark.parametrize("pattern", ["{content}_{condition}_v1", "{content}_{condition}_{}"])
def test_names_of_stimuli_can_hold_condition_and_content(tmp_path: Path, pattern: str) -> None:
    text = "worker,file,vote\np1,https://x.org/s1_a_v1.mp4,4\np2,s2_b_v1,2\n"
    assert rows(long(tmp_path, text, f"names={pattern}"), "condition", "content") == [("a", "s1"), ("b", "s2")]


def test_contents_are_stimuli_without_their_condition(tmp_path: Path) -> None:
    text = "subject,stimulus,condition,score\np,s1_a_cut,a,4\np,s1_b_cut,b,2\np,s2_a_cut,a,4\np,s2_b_cut,b,1\n"
    table = long(tmp_path, text)
    assert rows(table, "content") == [("s1 cut",), ("s1 cut",), ("s2 cut",), ("s2 cut",)]
    assert table.notes == ("contents are the names of stimuli without their condition",)


def test_winners_and_losers_are_choices(tmp_path: Path) -> None:
    table = long(tmp_path, "subject,content,winner,loser,weight\np,x,a,b,1\n")
    assert rows(table, "condition", "other_condition", "kind", "value") == [("a", "b", "choice", "1")]


@pytest.mark.parametrize("ends", [("model_a", "model_b"), ("system1", "system2"), ("left", "right"), ("A", "B")])
def test_two_options_and_who_won_are_choices(tmp_path: Path, ends: tuple[str, str]) -> None:
    lines = [f"p,x,y,{said}" for said in (ends[0], ends[1], "y", "Tie", "")]
    table = long(tmp_path, "\n".join([f"voter,{ends[0]},{ends[1]},winner", *lines]) + "\n")
    assert rows(table, "condition", "other_condition", "kind", "value") == [
        ("x", "y", "choice", value) for value in ("1", "-1", "-1", "0", "")
    ]


def test_a_winner_that_is_neither_of_the_two_is_told(tmp_path: Path) -> None:
    table = long(tmp_path, "voter,model_a,model_b,winner\np,x,y,z\n")
    assert [str(one) for one in table.problems] == [
        f"{tmp_path / 't.csv'}:2  winner is 'z'. Allowed: x, y, model_a, model_b or tie."
    ]


def test_nobody_called_max_is_a_statistic(tmp_path: Path) -> None:
    table = long(tmp_path, "person,A,B\nMax,4,2\nSD,5,1\nMean,4.5,1.5\nSD,0.7,0.7\n")
    assert rows(table, "participant") == [("Max",), ("Max",), ("SD",), ("SD",)]
    assert table.notes[0] == "2 rows computed from the others left out (Mean, SD)"


def test_merged_cells_are_told(tmp_path: Path) -> None:
    table = long(tmp_path, "subject,system,vote\np,a,3\n,b,4\n,c,4\n")
    assert [str(one) for one in table.problems] == [
        f"{tmp_path / 't.csv'}:{line}  subject is empty. Allowed: a name. If cells were merged, fill each of them in."
        for line in (3, 4)
    ]


def test_names_as_we_write_them_are_taken_apart(tmp_path: Path) -> None:
    table = long(tmp_path, "rater,stimulus,score\np,a/x,1\np,a/y,2\np,b/x,3\np,b/y,4\n")
    assert rows(table, "condition", "content") == [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y")]
    assert table.notes == ("stimuli are named condition/content",)
