"""The account: counts, flow, rules."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from beholder.cleaning.tables import clean_tables
from beholder.study.model import Study
from support.flow_steps import Steps, came, lost
from support.store_tables import START, Tables, account, add, empty, make_study


def test_the_account_counts_who_finished_in_both_populations(study: Study) -> None:
    tables = empty(study)
    for name in ("r1", "r2"):
        add(tables, name, mode="robot")
    add(tables, "preview", mode="preview")
    for name in ("a", "b", "gone"):
        add(tables, name)
    add(tables, "left", outcome=None)
    tables["erasures"].append({"session": "gone", "at": START, "rows": 3})
    for robots in (False, True):
        assert account(clean_tables(study, tables, robots=robots))["finished"] == {"people": 2, "robots": 2}


OUTCOMES = ("completed", "completed", "completed", None, "no_consent", "screened_out", "failed_checks", "technical",
            "withdrawn", "wrong_device")  # fmt: skip


def steps_of(study: Study, tables: Tables) -> Steps:
    folder = clean_tables(study, tables).folder
    steps: Steps = json.loads((folder / "account.json").read_text(encoding="utf-8"))["flow"]
    return steps


@pytest.mark.parametrize("seed", range(6))
def test_what_a_step_lost_and_the_next_one_has_are_what_it_had(seed: int, tmp_path: Path) -> None:
    rng = np.random.default_rng(seed)
    study = make_study(tmp_path)
    tables = empty(study)
    for number in range(int(rng.integers(1, 16))):
        outcome = OUTCOMES[rng.integers(len(OUTCOMES))]
        trials = 2 if outcome == "completed" else int(rng.integers(0, 3))
        low, middle, high = (int(score) for score in rng.integers(0, 101, 3))
        scores = (low, middle, high) if rng.random() < 0.7 else (50, 50, 50)
        came(
            tables, f"s{number:02}", person=f"p{rng.integers(6)}", outcome=outcome, trials=trials, scores=scores
        )  # fmt: skip
    cleaned = clean_tables(study, tables)
    steps: Steps = json.loads((cleaned.folder / "account.json").read_text(encoding="utf-8"))["flow"]
    for kind in ("people", "sessions"):
        for step, following in pairwise(steps):
            assert step[kind] - sum(one[kind] for one in step["lost"]) == following[kind]
    assert steps[-1]["lost"] == []
    assert (steps[0]["people"], steps[0]["sessions"]) == (cleaned.counts["participants"], cleaned.counts["sessions"])
    used = (cleaned.counts["used_participants"], cleaned.counts["used_sessions"])
    assert (steps[-1]["people"], steps[-1]["sessions"]) == used


def test_everybody_is_lost_for_one_reason_in_words(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = empty(study)
    came(tables, "good")
    came(tables, "flat", scores=(50, 50, 50))
    came(tables, "left", outcome=None, trials=1)
    came(tables, "fault", outcome="technical", trials=1)
    came(tables, "ended", outcome="failed_checks", trials=1, reason="attention:wrong")
    came(tables, "early", outcome=None, trials=0)
    came(tables, "blind", outcome="screened_out", trials=0, reason="colour:plates")
    came(tables, "asked", outcome="screened_out", trials=0, reason="questions:before.field")
    came(tables, "phone", outcome="wrong_device", trials=0, reason="device:phone")
    came(tables, "no", outcome="no_consent", trials=0)
    came(tables, "gone", outcome="withdrawn", trials=0)
    steps = steps_of(study, tables)
    assert [(step["step"], step["people"]) for step in steps] == [
        ("came", 11), ("agreed", 9), ("qualified", 6), ("rated", 5), ("finished", 2), ("accepted", 2), ("used", 1),
    ]  # fmt: skip
    assert lost(steps, "came") == [("Did not agree to take part", 1, 1), ("Withdrew; answers erased", 1, 1)]
    assert lost(steps, "agreed") == [
        ("Colour vision: numbers not read", 1, 1), ("Kind of device: a phone", 1, 1), ("Questions before: field", 1, 1),
    ]  # fmt: skip
    assert lost(steps, "qualified") == [("Left before the first rating", 1, 1)]
    assert lost(steps, "rated") == [
        ("Attention checks not answered as asked", 1, 1), ("Left before the end", 1, 1),
        ("Ended by a technical fault", 1, 1),
    ]  # fmt: skip
    assert lost(steps, "accepted") == [("Nearly the same answer throughout", 1, 1)]


def test_who_came_again_and_got_further_is_lost_nowhere_before(tmp_path: Path) -> None:
    study = make_study(tmp_path)
    tables = empty(study)
    came(tables, "first", person="ann", outcome="wrong_device", trials=0, reason="device:phone")
    came(tables, "second", person="ann")
    steps = steps_of(study, tables)
    assert [step["people"] for step in steps] == [1] * 7
    assert [step["sessions"] for step in steps] == [2, 2, 1, 1, 1, 1, 1]
    assert lost(steps, "agreed") == [("Kind of device: a phone", 0, 1)]


def test_visits_that_were_removed_are_counted_as_before(study: Study) -> None:
    tables = empty(study)
    for name in ("a", "b"):
        add(tables, name)
    came(tables, "looked", person="p1", outcome=None, trials=1)
    left = [f"left{number}" for number in range(3)]
    for number, name in enumerate(left):
        came(tables, name, person=f"q{number % 2}", outcome=None, trials=0)
    for table in ("answers", "claims"):
        tables[table][:] = [row for row in tables[table] if row["session"] not in left]
    before = account(clean_tables(study, tables))
    tables["sessions"][:] = [row for row in tables["sessions"] if row["session"] not in left]
    tables["removals"] = [
        {"run": 1, "participants": 1, "sessions": 2, "at": START},
        {"run": 1, "participants": 1, "sessions": 1, "at": START},
        {"run": 2, "participants": 9, "sessions": 9, "at": START},
    ]
    after = account(clean_tables(study, tables))
    assert before["flow"][0]["sessions"] == 6
    for part in ("flow", "lost", "qualification"):
        assert after[part] == before[part], part
    looked_at = after["counts"].pop("look_sessions"), before["counts"].pop("look_sessions")
    assert looked_at == (1, 4), "nobody has to look at what is not there"
    assert after["counts"] == before["counts"]
