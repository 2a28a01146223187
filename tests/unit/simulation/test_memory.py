"""Rehearsals in memory: the same ratings as over HTTP."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from beholder import clean, simulate
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import judge_tables, store_of
from beholder.methods import find, load_study
from beholder.methods.choices import NOISE, choice_values
from beholder.methods.contract import Asked, Scale, Slot, Trial
from beholder.methods.scores import score_response, score_values
from beholder.planning.builder import make_plan
from beholder.simulation.memory import rehearse
from beholder.simulation.truth import IDEAL, Population
from beholder.store.open import read_tables
from beholder.study.questions import SCALES as SCALES_BY_NAME
from support.message_studies import CONDITIONS, write_asking
from support.method_studies import catalogue_of, make_study
from support.rehearsed_studies import DESIGN, ITEMS, STUDIES, rehearsed, rows
from support.variants import variant

EVERYTHING = replace(IDEAL, inconsistency_spread=0.2, taste=0.05, content_condition=0.08,
    carry=0.3, fatigue=0.8, lapse=0.05, gain_spread=0.2,
    ends=0.05, leaving=0.1,
)  # fmt: skip


@pytest.mark.parametrize(
    "people", [pytest.param(Population(), marks=pytest.mark.variant), EVERYTHING], ids=["usual", "everything"]
)
@pytest.mark.parametrize("name", STUDIES)
def test_all_at_once_is_as_trial_by_trial(name: str, people: Population) -> None:
    raters = "honest:0.4,sharp:0.1,careless:0.2,straight:0.1,forges:0.1,visible:0.1"
    tables = [rows(rehearsed(name, people=people, raters=raters, at_once=at_once)) for at_once in (True, False)]
    assert len(tables[0])
    at_once, one_by_one = (one.to_dict("records") for one in tables)
    assert at_once == one_by_one


def test_factors_of_stimuli_and_of_people_have_columns() -> None:
    questions = [{"id": name, "text": "?", "scale": "cont100"} for name in ("look", "fit")]
    between = {"asked": {"look": {"questions": ["look"]}, "no": {"questions": ["fit"]}}}
    study = make_study("pair", list("abc"), design={**DESIGN, "trials": 2})
    parallel = make_study("parallel", list("abc"), questions=questions, design={**DESIGN, "between": between})
    for one in (study, parallel):
        plain, method = catalogue_of(one), find(one.method)
        stimuli = tuple(replace(stimulus, factors={"NA": stimulus.content}) for stimulus in plain.stimuli)
        catalogue = replace(plain, stimuli=stimuli)
        plan = make_plan(one, catalogue, method)
        tables = [
            rows(rehearse(one, catalogue, method, plan, participants=8, at_once=at_once)) for at_once in (True, False)
        ]
        assert tables[0].to_dict("records") == tables[1].to_dict("records")
        assert tables[0]["factor_NA"].tolist() == tables[0]["content"].tolist()
        if one is parallel:
            asked = {*zip(tables[0]["factor_asked"], tables[0]["question"], strict=True)}
            assert asked == {("look", "look"), ("no", "fit")}
        else:
            assert tables[0]["other_factor_NA"].tolist() == tables[0]["content"].tolist()


def test_nobody_who_stays_is_an_empty_table() -> None:
    table = rehearsed("parallel", people=replace(IDEAL, leaving=1.0)).ratings
    assert len(table) == 0
    assert list(table)[:4] == ["study", "digest", "run", "participant"]


# Over HTTP

CHECKS: dict[str, dict[str, Any]] = {
    "parallel": {"checks": {"attention": {"per_session": 1}}, "design": {"per_trial": 2}},
    "acr": {"checks": {"attention": {"per_session": 1}, "repeat": {"per_session": 1}}, "design": {"trials": 8}},
    "pair": {"checks": {"attention": {"per_session": 1}}, "options": {"tie": True}, "design": {"trials": 6}},
    "likert": {"checks": {"trap_item": {"per_trial": 1}, "repeat": {"items_per_trial": 1}}, "questions": ITEMS},
    "abx": {"conditions": list(CONDITIONS[:2]), "options": {"mode": "identify"}, "checks": {}},
    "mushra": {"conditions": [{"name": CONDITIONS[0], "role": "reference"}, *CONDITIONS[1:]], "checks": {}},
    "bs1116": {"conditions": [{"name": CONDITIONS[0], "role": "reference"}, *CONDITIONS[1:]], "checks": {}},
}  # fmt: skip


@pytest.mark.parametrize("method", ["acr", variant("mushra")])
def test_robots_answer_in_memory_as_they_do_over_http(method: str, tmp_path: Path) -> None:
    assert_same(method, tmp_path)


@pytest.mark.long
def test_robots_of_every_kind_of_answer_do(tmp_path: Path, whole: bool) -> None:
    for method in CHECKS if whole else ("pair",):
        assert_same(method, tmp_path / method)


def assert_same(method: str, folder: Path) -> None:
    """Send robots over HTTP, ask the same ones in memory, and compare every rating."""
    keys = {"method": method, **CHECKS[method]}
    path = write_asking(folder, **{**keys, "design": {"participants": 3, "trials": 4, **keys.get("design", {})}})
    if method == "mushra":
        draw_instead(folder)
    raters, people = "honest:0.5,careless:0.25,sloppy:0.25", "leaving:0.25,fatigue:1,lapse:0.1,taste:0.1,carry:0.3"
    crowd = simulate(path, participants=4, raters=raters, seed=5, people=people)
    names = {robot.session: robot.name for robot in crowd.robots}
    made = simulate(path, participants=4, raters=raters, seed=5, people=people, memory=True)
    study = load_study(path)
    judged = judge_tables(study, read_tables(store_of(study, None), TABLES), robots=True).judged
    over_http = {
        (names[row.session], row.trial, row.question, row.slot): (row.stimulus, row.other_stimulus, row.value)
        for one in judged
        for row in one.ratings
    }
    table = made.ratings.astype(object).where(made.ratings.notna(), None)
    columns = [table[name].tolist() for name in ("participant", "trial", "question", "slot")]
    values = zip(*(table[name].tolist() for name in ("stimulus", "other_stimulus", "value")), strict=True)
    assert dict(zip(zip(*columns, strict=True), values, strict=True)) == over_http
    assert made.truth.conditions == crowd.truth.conditions
    assert (made.path or Path()).read_text("utf-8").count("\n") == len(table) + 1
    left = {robot.name for robot in crowd.robots if robot.has_left}
    assert left
    assert set(table["participant"][~table["use"].astype(bool)]) <= left


def test_robots_come_back_for_further_sessions_which_are_shorter_in_memory_as_over_http(tmp_path: Path) -> None:
    design = {"participants": 2, "trials": 3, "sessions_per_participant": 2}
    bonus = {"bonus": {"quantity": {"sessions": 2, "each": "0.10 GBP"}}}
    path = write_asking(
        tmp_path, method="acr", design=design, qualification={"colour": True}, checks={}, clean=bonus,
        recruit={"reward": "1.00 GBP"},
    )  # fmt: skip
    crowd = simulate(path, seed=5)
    names = {robot.session: robot.name for robot in crowd.robots}
    assert [robot.name for robot in crowd.robots] == ["5-1", "5-2", "5-1", "5-2"]
    assert len(names) == len(crowd.kinds) == 4
    first, later = (len(crowd.robots[place].acknowledged) for place in (0, 2))
    assert later < first
    counts = clean(path, robots=True).counts
    assert (counts["participants"], counts["completed"], counts["bonuses"]) == (2, 4, 2)
    over_http = pd.read_csv(tmp_path / "clean" / "ratings.csv", keep_default_na=False, dtype=str)
    rows = zip(over_http["session"].map(names), over_http["stimulus"], over_http["value"].astype(float), strict=True)
    made = simulate(path, seed=5, memory=True).ratings
    assert sorted(rows) == sorted(zip(made["participant"], made["stimulus"], made["value"], strict=True))
    assert sorted(set(made["session"])) == ["5-1", "5-1-2", "5-2", "5-2-2"]
    assert not made.duplicated(["participant", "stimulus"]).any()


def draw_instead(folder: Path) -> None:
    """Put a picture in the place of every text."""
    for text in (folder / "stimuli").rglob("*.txt"):
        Image.new("RGB", (64, 48), (len(text.name), 100, 150)).save(text.with_suffix(".png"))
        text.unlink()


# The rules of answers

SCALES = [SCALES_BY_NAME[name] for name in ("pref2", "pref3", "ccr7", "ccr5", "ccr9")]


@given(st.lists(st.floats(-1.2, 1.2), min_size=1, max_size=20), st.sampled_from(SCALES))
@settings(max_examples=50)
def test_choices_at_once_are_those_of_respond(differences: list[float], scale: Scale) -> None:
    """With the same chance, the array and the method say the same."""
    method = find("ccr")
    slots = tuple(Slot(f"s{n}", f"stimulus{n}", "test", None, True, None) for n in (1, 2))
    trial = Trial("t", "c", "rate", slots, (Asked("q1", "q", "ask", "?", scale),), {"judged": "stimulus2"})
    noise = NOISE * np.random.default_rng(3).standard_normal(len(differences))
    expected = []
    rng = np.random.default_rng(3)
    for difference in differences:
        answer = method.read(trial, method.respond(trial, {"q1.s1": 0.0, "q1.s2": difference}, rng))
        expected.append(method.judgements(trial, answer)[0].value)
    assert choice_values(scale, np.array(differences) + noise).tolist() == expected


@given(st.lists(st.floats(-0.5, 1.5), min_size=1, max_size=20), st.booleans())
def test_scores_at_once_are_those_of_respond(strengths: list[float], is_reversed: bool) -> None:
    scale = Scale(min=-2, max=3, step=0.5)
    slots = tuple(Slot(f"s{n}", f"stimulus{n}", "test", None, True, None) for n in range(len(strengths)))
    trial = Trial("t", "c", "rate", slots, (Asked("q1", "q", "ask", "?", scale, "-" if is_reversed else "+"),))
    felt = {f"q1.s{n}": strength for n, strength in enumerate(strengths)}
    given_scores: Any = score_response(trial, felt)["scores"]
    assert score_values(scale, np.array(strengths), is_reversed=is_reversed).tolist() == [*given_scores["q1"].values()]


# One stream of chance, for power
