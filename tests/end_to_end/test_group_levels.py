"""Groups from robots to results: levels are columns of the ratings, and apply to their participants."""

from __future__ import annotations

import csv
import json
from collections import Counter
from pathlib import Path

import pytest

import beholder
from support.group_studies import write_served


@pytest.fixture(scope="module")
def rehearsed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A study of four groups that robots have taken over HTTP, cleaned."""
    folder = tmp_path_factory.mktemp("groups")
    path = write_served(folder)
    beholder.simulate(path, participants=6, seed=2)
    beholder.clean(path)
    return folder


def test_levels_are_columns_of_the_ratings(rehearsed: Path) -> None:
    with (rehearsed / "clean" / "ratings.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    asked = {(row["factor_zqasked"], row["question"]) for row in rows}
    assert asked == {("zqone", "first"), ("zqtwo", "second")}
    people = Counter(levels for levels, _ in {
        ((row["factor_zqasked"], row["factor_zqhow"]), row["participant"]) for row in rows
    })  # fmt: skip
    assert sorted(people.values()) == [1, 1, 2, 2]
    assert {row["use"] for row in rows} == {"true"}


def test_the_account_tells_how_many_of_each_group_began_finished_and_are_used(rehearsed: Path) -> None:
    account = json.loads((rehearsed / "clean" / "account.json").read_text("utf-8"))
    assert account["groups"][0] == {
        "levels": {"zqasked": "zqone", "zqhow": "zqset"}, "began": 2, "finished": 2, "used": 2,
    }  # fmt: skip
    assert [one["used"] for one in account["groups"]] == [2, 2, 1, 1]


def test_each_question_is_analysed_by_those_who_were_asked(rehearsed: Path) -> None:
    results = beholder.analyse(rehearsed)
    assert list(dict.fromkeys(results.conditions["question"])) == ["first", "second"]
    table = results.also["factors"]
    rows = {(row.question, row.factor, row.level): row for row in table.itertuples()}
    assert set(rows) == {
        (question, factor, level)
        for question, own in (("first", "zqone"), ("second", "zqtwo"))
        for factor, level in (("zqasked", own), ("zqhow", "zqset"), ("zqhow", "zqfree"))
    }
    assert rows["first", "zqhow", "zqset"].participants == 2
