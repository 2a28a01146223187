"""The flow of participants: everybody is counted once at every step, and lost for one reason."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from beholder.analysis import analyse
from beholder.cleaning.tables import clean_tables
from beholder.reporting.cleaning import flow_foot, flow_section
from beholder.reporting.material import Material, load_material
from beholder.study.model import Study
from support.report_pages import SPREAD, Page, made_up
from support.store_tables import Tables, add, empty, make_study

OUTCOMES = ("completed", "completed", "completed", None, "no_consent", "screened_out", "failed_checks", "technical",
            "withdrawn", "wrong_device")  # fmt: skip
Steps = list[dict[str, Any]]


def steps_of(study: Study, tables: Tables) -> Steps:
    folder = clean_tables(study, tables).folder
    steps: Steps = json.loads((folder / "account.json").read_text(encoding="utf-8"))["flow"]
    return steps


def came(tables: Tables, name: str, *, person: str | None = None, reason: str = "", **keys: Any) -> None:
    """Add a session, with who came and at what it ended."""
    add(tables, name, **keys)
    tables["sessions"][-1]["participant"] = person or f"p-{name}"
    if keys.get("outcome", "completed") is not None:
        tables["ends"][-1]["reason"] = reason
    if keys.get("outcome", "completed") in ("no_consent", "withdrawn"):
        tables["answers"] = [row for row in tables["answers"] if row["session"] != name]


def lost(steps: Steps, name: str) -> list[tuple[str, int, int]]:
    (step,) = (step for step in steps if step["step"] == name)
    return [(one["words"], one["people"], one["sessions"]) for one in step["lost"]]


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


FLOW: Steps = [
    {"step": "came", "people": 40, "sessions": 42, "lost": [
        {"reason": "complete:withdrawn", "words": "Withdrew; answers erased", "people": 3, "sessions": 4},
        {"reason": "x", "words": "<script>alert(1)</script>", "people": 1, "sessions": 1},
    ]},
    {"step": "agreed", "people": 36, "sessions": 37, "lost": []},
    {"step": "used", "people": 36, "sessions": 37, "lost": []},
]  # fmt: skip


@pytest.fixture(scope="module")
def material(tmp_path_factory: pytest.TempPathFactory) -> Material:
    study = made_up(tmp_path_factory.mktemp("flow"), SPREAD, participants=4)
    analyse(study)
    return load_material(study)


def drawn(material: Material, steps: Steps, population: str = "people") -> tuple[Page, str]:
    """Return the diagram and its foot."""
    followed = replace(material, account={**material.account, "flow": steps, "population": population})
    return Page(str(flow_section(followed))), flow_foot(followed)


def test_the_page_has_a_box_for_each_step_and_says_who_went_no_further(material: Material) -> None:
    page, foot = drawn(material, FLOW)
    assert page.text == (
        "40 people came 42 sessions No further: 4 (5 sessions) Withdrew; answers erased 3 (4 sessions) "
        "<script>alert(1)</script> 1 36 people agreed to take part 90 % 37 sessions 36 people used 90 % 37 sessions"
    )
    assert "script" not in {name for name, _ in page.tags}
    assert foot == (
        "Everybody who went no further is counted once, under the first reason. Of several sessions of one person the "
        "furthest counts. Of whoever withdrew nothing is kept that would tell how far they came."
    )


def test_robots_are_called_robots_and_nobody_used_is_no_trouble(material: Material) -> None:
    none: Steps = [{"step": "came", "people": 1, "sessions": 1, "lost": FLOW[0]["lost"][1:]},
                   {"step": "used", "people": 0, "sessions": 0, "lost": []}]  # fmt: skip
    page, _ = drawn(material, none, "robots")
    assert page.text == "1 robot came No further: 1 <script>alert(1)</script> 1 0 robots used 0 %"


def test_an_account_without_a_flow_has_no_such_section(material: Material) -> None:
    assert flow_section(material) is None
