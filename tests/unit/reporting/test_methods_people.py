"""Sentences on participants, apparatus and quality control."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.cleaning.tables import clean_tables
from beholder.reporting.methods_section import methods
from beholder.reporting.methods_text import plain_text
from support import cleaning_store as cleaning
from support.report_material import analysed_material
from support.report_pages import SPREAD, change_account, made_up


@pytest.mark.parametrize(
    ("recruit", "words"),
    [
        ({"mode": "lab"}, "took part in a laboratory [where, on which screens, and how they were recruited]"),
        ({"mode": "panel", "id_parameter": "id"}, "were invited [from which panel, and who could take part]"),
        ({"mode": "prolific", "reward": "2.00 GBP"}, "were recruited on Prolific [who could take part]"),
        (
            {
                "mode": "prolific", "reward": "2.00 GBP",
                "filters": {"countries": ["GB", "IE"], "age": [18, 60], "approval_rate": 95},
            },
            "were recruited on Prolific among people living in GB and IE, aged 18 to 60 and with an approval rate of "
            "95 or more per cent",
        ),
    ],
)  # fmt: skip
def test_the_methods_say_where_people_came_from(tmp_path: Path, recruit: dict[str, Any], words: str) -> None:
    study = made_up(tmp_path, {"natural": 85.0, "jerky": 40.0}, participants=3, recruit=recruit)
    text = next(one.text for one in methods(analysed_material(study)) if one.title == "Participants")
    assert f"16 people {words}" in text
    assert ("A session earned 2.00 GBP" in text) == ("reward" in recruit)


def test_the_methods_tell_checks_and_rules_with_thresholds_and_numbers(tmp_path: Path) -> None:
    checks = {"screen": True, "colour": True, "network": True}
    study = made_up(tmp_path, {"a": 85.0, "b": 40.0}, participants=6, qualification=checks)
    row = {"met": 9, "passed": 8, "passed_at_once": 8, "failed": 1, "unknown": 0, "attempts": 1.0, "seconds": 5.0}
    funnel = {
        "arrived": 9, "agreed": 9, "by_questions": 0, "rated": 8, "minutes_before_rating": 1.0,
        "checks": [
            {"check": "screen", "title": "Resolution of the screen", "action": "gate", "turned_away": 1, **row},
            {"check": "network", "title": "Speed of the network", "action": "warn", "turned_away": 0, **row},
            {"check": "colour", "title": "Colour vision", "action": "gate", "turned_away": 0, **row},
        ],
    }  # fmt: skip
    rule = {"check": "variance", "title": "Spread of the answers", "words": "Answers vary by 0.15 or more.",
            "action": "flag", "alone": 4, "ratings": 0, **row}  # fmt: skip
    change_account(study, lambda account: account.update(qualification=funnel, trust=[rule]))
    paragraphs = {one.title: one.text for one in methods(analysed_material(study))}
    assert (
        "Before rating they had to pass: resolution of the screen (at least 1280 by 720 pixels, 1 turned away) and "
        "colour vision. Also looked at: speed of the network (40 Mbit/s)."
    ) in paragraphs["Apparatus"]
    assert paragraphs["Quality control"] == (
        "Sessions were judged by rules set in the study. Spread of the answers: answers vary by 0.15 or more (1 of 9 "
        "sessions failed)."
    )


@pytest.mark.parametrize(
    ("action", "told"),
    [
        ("record", "There were no rules over what participants did while they rated. Agreement with the others was "
                   "recorded and left nobody out (1 of 9 sessions failed)."),
        ("flag", "Sessions were judged by rules set in the study. Agreement with the others: rank correlation of 0.5 "
                 "or more (1 of 9 sessions failed). Agreement with the others depends on the ratings of the stimuli "
                 "under test; scores without it are reported too."),
    ],
)  # fmt: skip
def test_the_methods_say_which_rule_depends_on_the_ratings(tmp_path: Path, action: str, told: str) -> None:
    study = made_up(tmp_path, {"a": 85.0, "b": 40.0}, participants=3)
    rule = {"check": "agreement", "title": "Agreement with the others", "words": "Rank correlation of 0.5 or more.",
            "action": action, "met": 9, "passed": 8, "failed": 1, "unknown": 0, "alone": 0, "ratings": 0}  # fmt: skip
    change_account(study, lambda account: account.update(trust=[rule]))
    (text,) = (one.text for one in methods(analysed_material(study)) if one.title == "Quality control")
    assert text == told


def test_the_methods_tell_single_ratings_that_are_left_out_and_who_withdrew(tmp_path: Path) -> None:
    study = cleaning.make_study(tmp_path)
    tables = cleaning.store(study)
    for name in ("one", "two", "three"):
        cleaning.add(tables, name)
    cleaning.add(tables, "gone", outcome="withdrawn")
    tables["answers"][0]["playback"]["s1"] |= {"coverage": 0.2}
    clean_tables(study, tables)
    (text,) = (one.text for one in methods(analysed_material(study)) if one.title == "Participants")
    assert (
        "1 session was left out: withdrew, answers erased (1). Of the sessions that are used, 1 rating was left" in text
    )
    assert "left out singly (stimulus not watched as asked). 3 participants with 29 ratings are analysed." in text


def test_a_bonus_is_told_as_the_study_has_it(tmp_path: Path) -> None:
    bonus = {"quantity": {"sessions": 4, "each": "0.10 GBP"}, "quality": {"best": 20, "each": "0.15 GBP"}}
    text = plain_text(methods(analysed_material(made_up(tmp_path, SPREAD, participants=3, clean={"bonus": bonus}))))
    assert "From 4 accepted sessions on there was a bonus of 0.10 GBP for each of them." in text
    assert "The 20 % who agreed best with the others had a bonus of 0.15 GBP for each accepted session." in text
