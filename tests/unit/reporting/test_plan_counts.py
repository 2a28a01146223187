"""Tables of counts of a plan."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from beholder.methods import find
from beholder.planning.balance import balance
from beholder.planning.builder import make_plan
from beholder.reporting.plan_counts import counts, read_shows, stimuli_by_position
from beholder.reporting.plan_page import sentence
from support.given_plans import catalogue_of, study_of
from support.plan_counts import counted


def test_what_is_promised_is_even_in_the_pictures(tmp_path: Path) -> None:
    tables = counted("parallel", tmp_path, participants=12, trials=6, per_trial=3, always=["condition0"])
    assert list(tables) == [
        "condition-slot", "content-condition", "content-position", "condition-position", "condition-other-condition",
        "content-list",
    ]  # fmt: skip
    for name in ("condition-slot", "content-condition", "content-position"):
        assert tables[name].is_even, name
    text = sentence(tables["content-position"], {})
    assert text == "Every content comes at every position twice."
    # What is in every trial is no more than it should be.
    assert sentence(tables["content-condition"], {}) == (
        "Every content is shown under every condition equally often, within one: 8 to 12 times."
    )


def test_counts_are_those_of_the_balance_table(tmp_path: Path) -> None:
    catalogue = catalogue_of("acr", 6, 4)
    plan = make_plan(study_of("acr", tmp_path, participants=17, trials=7), catalogue, find("acr"))
    shows = read_shows(plan, catalogue)
    tables = {one.name: one for one in counts(shows)}
    rows = {row.count: row for row in balance(plan, catalogue)}
    for name, row in (("content-position", "content x position"), ("content-condition", "content x condition")):
        assert (tables[name].least, tables[name].most) == (rows[row].least, rows[row].most)
    assert stimuli_by_position(shows).sum() == tables["content-condition"].values.sum() == 17 * 7
    # Nothing comes after the last trial of a list.
    assert tables["condition-after"].values.sum() == 17 * 6


def test_pairs_are_counted_in_both_orders(tmp_path: Path) -> None:
    tables = counted("pair", tmp_path, participants=24, trials=6)
    assert "condition-other-condition" not in tables
    assert sentence(tables["first-second"], {}) == "Every pair comes in both orders 12 times."
    assert not tables["first-second"].counted.diagonal().any()


@pytest.mark.parametrize(
    ("method", "design"),
    [
        ("acr", {"participants": 1, "trials": 1}),
        ("parallel", {"participants": 1, "trials": 1, "per_trial": 2}),
        ("acr-hr", {"participants": 2, "trials": 4}),
        ("dcr", {"participants": 3, "trials": 2}),
        ("mushra", {"participants": 2, "trials": 2}),
    ],
)
def test_the_smallest_plans_can_be_told(method: str, design: dict[str, int], tmp_path: Path) -> None:
    for one in counted(method, tmp_path, **design).values():
        assert sentence(one, {})
        assert np.isfinite(one.even).all()


def test_one_content_or_one_condition_leaves_nothing_to_hold_against_each_other(tmp_path: Path) -> None:
    assert list(counted("acr", tmp_path, contents=4, conditions=1, participants=3, trials=4)) == [
        "content-position", "content-list",
    ]  # fmt: skip
    assert list(counted("acr", tmp_path, contents=1, conditions=4, participants=3, trials=1)) == ["content-condition"]
