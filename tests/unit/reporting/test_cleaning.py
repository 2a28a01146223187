"""The account, the flow of participants, checks and rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.analysis import analyse
from beholder.files import write_json
from beholder.reporting.cleaning import flow_foot, flow_section
from beholder.reporting.material import Material, load_material
from beholder.study.model import Study
from support.flow_steps import Steps
from support.report_pages import SPREAD, Page, change_account, made_up, read_undrawn


def test_sessions_that_are_named_and_used_stand_under_used(tmp_path: Path) -> None:
    study = made_up(tmp_path, {"a": 60.0, "b": 40.0})
    path = tmp_path / "clean" / "account.json"
    account = json.loads(path.read_text(encoding="utf-8"))
    named = {"rule": "complete", "reason": "mostly_missing", "words": "More than half could not be rated"}
    account["lost"].insert(0, named | {"sessions": 3, "only": 2, "kept": 2, "ratings": 0, "costs": False})
    write_json(path, account)
    assert "Used 24 More than half could not be rated 2 Not used 13 Did not finish 9" in read_undrawn(study).text


def test_who_was_lost_is_told_with_reasons(people: tuple[Study, Page]) -> None:
    assert "Not used 13 Did not finish 9 Nearly the same answer 4" in people[1].text


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


FUNNEL: dict[str, Any] = {
    "arrived": 40, "agreed": 38, "by_questions": 1, "rated": 30, "minutes_before_rating": 4.46,
    "checks": [
        {"check": "colour", "title": "Colour vision", "action": "gate", "met": 37, "passed": 34, "passed_at_once": 31,
         "failed": 2, "unknown": 1, "turned_away": 2, "attempts": 1.24, "seconds": 31.5},
        {"check": "distance", "title": "Viewing distance", "action": "warn", "met": 0, "passed": 0, "passed_at_once": 0,
         "failed": 0, "unknown": 0, "turned_away": 0, "attempts": None, "seconds": None},
    ],
}  # fmt: skip


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Page:
    study = made_up(tmp_path_factory.mktemp("qualified"), SPREAD, participants=8)
    change_account(study, lambda account: account.update(qualification=FUNNEL))
    return read_undrawn(study)


def test_the_report_tells_who_could_take_part(page: Page) -> None:
    assert (
        "Who could take part 30 sessions of 40 began to rate. "
        "3 were turned away at a check: Questions before (1) and Colour vision (2). "
        "The pages before the first rating took 4.5 minutes (median)."
    ) in page.text


def test_each_check_has_a_row_with_passed_failed_unknown_and_turned_away(page: Page) -> None:
    assert "Colour vision 37 31 3 2 1 2 1.2 32" in page.text
    assert "Viewing distance 0 0 0 0 0 0 – –" in page.text
    assert "Came 40 Agreed 38" in page.text
    assert "Began to rate 30" in page.text


def test_a_bar_is_as_long_as_the_share_of_all_sessions(page: Page) -> None:
    widths = [float(attributes["width"] or 0) for tag, attributes in page.tags if tag == "rect" and "rx" in attributes]
    assert widths[:3] == [96.0, 91.2, 88.8]


@pytest.mark.variant
def test_nobody_turned_away_is_said_and_a_study_without_checks_has_no_such_section(tmp_path: Path) -> None:
    study = made_up(tmp_path, SPREAD, participants=8)
    assert "Who could take part" not in read_undrawn(study).text
    calm = {**FUNNEL, "by_questions": 0, "checks": FUNNEL["checks"][1:]}
    change_account(study, lambda account: account.update(qualification=calm))
    assert "Nobody was turned away." in read_undrawn(study).text
