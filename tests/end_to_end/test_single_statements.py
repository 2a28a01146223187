"""A survey whose statements come one by one: its obvious and repeated statements, from the plan to the account."""

from __future__ import annotations

import json
from pathlib import Path

from beholder import check, clean, simulate
from beholder.cleaning.ratings import read_cells
from support.message_studies import write_asking
from support.rehearsed_studies import ITEMS

STATEMENTS, CLIPS = 5, 4


def test_who_does_not_read_the_statements_fails_those_that_are_trials_of_their_own(tmp_path: Path) -> None:
    checks = {"trap_item": {"per_trial": 2, "max_failed": 0}, "repeat": {"items_per_trial": 1}}
    study = write_asking(
        tmp_path, method="likert", questions=ITEMS[:STATEMENTS], options={"layout": "random"}, checks=checks,
        design={"participants": 4, "trials": CLIPS, "seed": 3},
    )  # fmt: skip
    rating = next(stage for stage in check(study).stages if stage.is_rating)
    assert rating.name == "rating (likert), 20 trials, 8 obvious statements, 4 repeats"
    assert rating.screens == STATEMENTS * CLIPS + 3 * CLIPS
    without = write_asking(
        tmp_path / "without", method="likert", questions=ITEMS[:STATEMENTS], options={"layout": "random"}, checks={},
        design={"participants": 4, "trials": CLIPS, "seed": 3},
    )  # fmt: skip
    shorter = next(stage for stage in check(without).stages if stage.is_rating)
    assert 1.5 < rating.minutes / shorter.minutes < 1.7

    crowd = simulate(study, participants=4, raters="honest:0.5,careless:0.5", seed=5)
    kinds = dict(zip((robot.session for robot in crowd.robots), crowd.kinds, strict=True))
    assert sorted(kinds.values()) == ["careless", "careless", "honest", "honest"]
    cleaned = clean(study, robots=True)
    assert (cleaned.counts["used_sessions"], cleaned.counts["completed"]) == (2, 4)
    assert cleaned.counts["ratings"] == 4 * STATEMENTS * CLIPS
    assert cleaned.counts["planned_votes"] == STATEMENTS * 12
    reasons = {(one.rule, one.reason): one.sessions for one in cleaned.lost}
    assert reasons["trap_item", "wrong"] == 2

    ratings = read_cells(cleaned.folder / "ratings.csv")
    assert set(ratings["role"]) == {"test"}
    assert set(ratings["question"]) == {item["id"] for item in ITEMS[:STATEMENTS]}
    assert set(ratings["repetition"]) == {"1"}
    careless = {session for session, kind in kinds.items() if kind == "careless"}
    assert set(ratings["session"][ratings["use"] == "false"]) == careless
    verdicts = read_cells(cleaned.folder / "verdicts.csv")
    again = verdicts[verdicts["check"] == "repeat"]
    assert [json.loads(cell)["compared"] for cell in again["evidence"]] == [CLIPS] * 4
    trust = {one["check"]: one for one in json.loads((cleaned.folder / "account.json").read_text("utf-8"))["trust"]}
    obvious = trust["trap_item"]
    assert obvious["words"].startswith("2 statements about each stimulus are obviously true or false")
    assert (obvious["met"], obvious["passed"], obvious["failed"]) == (4, 2, 2)
    # An answer in the middle is neither right nor wrong.
    assert obvious["right"] < obvious["asked"] <= 4 * 2 * CLIPS
    assert (trust["repeat"]["met"], trust["repeat"]["unknown"]) == (4, 0)
