"""The findings and notes of a power analysis in words."""

from __future__ import annotations

from dataclasses import replace

from beholder.sample_size.page import finding_words, notes, outcome
from beholder.simulation.truth import IDEAL
from support.method_studies import make_study
from support.power_worlds import power_tables_of


def test_what_nobody_could_test_is_told_and_not_made_up() -> None:
    tables = power_tables_of(make_study("acr", ["a", "b", "c", "d"], design={"trials": 1}), (2, 3))
    assert finding_words(tables) == (
        "With 3 participants no difference can be tested: too few of them rate the same conditions.",
    )
    assert tables.table("power").empty
    assert tables.table("needed").empty
    assert tables.results["power"].plot().to_dict()


def test_leavers_and_ends_of_the_scale_are_noted() -> None:
    study = make_study("acr", ["a", "b"], design={"trials": 4}, recruit={"mode": "link", "reward": "2.00 EUR"})
    tables = power_tables_of(study, (5,), difference=4, people=replace(IDEAL, leaving=0.1))
    assert notes(tables)[2:] == (
        "Pay: 2.00 EUR for a session.",
        "The outermost conditions lie near the ends of the scale, where ratings have no room to spread: differences "
        "are estimated smaller there than they are.",
        "Some leave before the end: for 5 who finish about 8 have to begin. Their lists go to others, and only those "
        "who finish are counted and paid here.",
    )
    assert tables.table("sizes")["cost"].tolist() == [10.0]


def test_questions_are_called_by_their_labels_and_reversed_ones_by_the_name_of_what_is_shown() -> None:
    questions = [
        {"id": "real", "text": "It looks real.", "scale": "cont100", "label": "Realistic"},
        {"id": "creepy", "text": "It is creepy.", "scale": "cont100", "keyed": "-", "turned": "Not creepy"},
    ]
    study = make_study("parallel", ["a", "b"], questions=questions, design={"trials": 3})
    shown = outcome(power_tables_of(study, (4,)))
    assert [figure.title for figure in shown.figures][:2] == ["Realistic", "Not creepy"]
