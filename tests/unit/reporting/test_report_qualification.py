"""The report on who could take part: how many met each check, how it went, and who was turned away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from support.report_pages import SPREAD, Page, change_account, made_up, read

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
    return read(study)


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


def test_nobody_turned_away_is_said_and_a_study_without_checks_has_no_such_section(tmp_path: Path) -> None:
    study = made_up(tmp_path, SPREAD, participants=8)
    assert "Who could take part" not in read(study).text
    calm = {**FUNNEL, "by_questions": 0, "checks": FUNNEL["checks"][1:]}
    change_account(study, lambda account: account.update(qualification=calm))
    assert "Nobody was turned away." in read(study).text
