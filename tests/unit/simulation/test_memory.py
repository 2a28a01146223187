"""Rehearsals in memory: what robots would answer over HTTP, all at once or trial by trial."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from beholder import simulate
from beholder.cleaning.facts import TABLES
from beholder.cleaning.screening import judge_tables, store_of
from beholder.methods import find, load_study
from beholder.methods.choices import NOISE, choice_values
from beholder.methods.contract import Asked, Method, Scale, Slot, Trial
from beholder.methods.scores import score_response, score_values
from beholder.planning.builder import make_plan
from beholder.planning.model import Plan
from beholder.simulation.memory import MemoryRehearsal, rehearse, simulate_sheet
from beholder.simulation.participants import draw_from_stream
from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import PUBLIC, Population, truth_of
from beholder.stimuli.catalogue import Catalogue
from beholder.store.open import read_tables
from beholder.study.model import Study
from beholder.study.questions import SCALES as SCALES_BY_NAME
from support.message_studies import CONDITIONS, write_asking
from support.method_studies import ODD, catalogue_of, make_study
from support.plans import with_clips

EVERYTHING = Population(
    inconsistency_spread=0.2, taste=0.05, content_condition=0.08, carry=0.3, fatigue=0.8, lapse=0.05, gain_spread=0.2,
    ends=0.05, leaving=0.1,
)  # fmt: skip
KEYS = ["participant", "trial", "question", "slot", "unit"]
REFERENCE = [{"name": "original", "role": "reference"}, "b", "c", "d"]
DESIGN = {"participants": 7, "trials": 3, "seed": 2}
ITEMS = [
    {"id": f"item{n}", "text": f"Statement {n}.", "scale": "agree5", "keyed": "-" if n % 2 else "+"} for n in range(6)
]
STUDIES: dict[str, tuple[str, dict[str, Any]]] = {
    "parallel": ("parallel", {"design": {**DESIGN, "per_trial": 3}}),
    "parallel, attention": ("parallel", {"checks": {"attention": {"per_session": 2, "targets": [5, 95]}}}),
    "parallel, a shown and a hidden reference": (
        "parallel", {"conditions": REFERENCE, "options": {"reference": "both"}},
    ),
    "acr, attention and repeats": (
        "acr",
        {"checks": {"attention": {"per_session": 1}, "repeat": {"per_session": 1}}, "design": {**DESIGN, "trials": 6}},
    ),
    "acr-hr": ("acr-hr", {"conditions": REFERENCE, "design": {**DESIGN, "trials": 6}}),
    "dcr": ("dcr", {"conditions": REFERENCE}),
    "mushra": ("mushra", {"conditions": REFERENCE}),
    "likert": ("likert", {"questions": ITEMS, "checks": {"trap_item": {"per_trial": 1}}}),
    "likert, repeated": ("likert", {"questions": ITEMS, "checks": {"repeat": {"items_per_trial": 1}}}),
    "pair": ("pair", {"checks": {"attention": {"per_session": 1}}}),
    "pair, tie": ("pair", {"options": {"tie": True}, "design": {**DESIGN, "trials": 6}}),
    "ab": ("ab", {"conditions": ["no", "01"]}),
    "ccr": ("ccr", {"conditions": REFERENCE}),
    "ccr, even": ("ccr", {"questions": [{"id": "quality", "text": "?", "scale": "ccr5"}]}),
}  # fmt: skip
ONE_BY_ONE: dict[str, tuple[str, dict[str, Any]]] = {
    "abx": ("abx", {"conditions": ["a", "b"], "options": {"mode": "identify"}}),
    "abx, closest": ("abx", {"conditions": REFERENCE[:3], "options": {"mode": "closest"}}),
    "likert, ticks": ("likert", {"options": {"items": "problem-token"}, "questions": None}),
}


def study_of(name: str) -> Study:
    method, keys = {**STUDIES, **ONE_BY_ONE}[name]
    return make_study(method, **{"conditions": list(ODD[:4]), "design": DESIGN, **keys})


@cache
def ground(name: str) -> tuple[Study, Catalogue, Method, Plan]:
    study = study_of(name)
    method = find(study.method)
    catalogue = with_clips(study, catalogue_of(study), method)
    return study, catalogue, method, make_plan(study, catalogue, method)


def rehearsed(name: str, **keys: Any) -> MemoryRehearsal:
    return rehearse(*ground(name), **{"participants": 9, **keys})


def rows(rehearsal: MemoryRehearsal) -> Any:
    table = rehearsal.ratings.astype(object).sort_values(KEYS).reset_index(drop=True)
    table = table.astype(dict.fromkeys(("value", "raw_value", "keyed", "position"), float)).astype(object)
    return table.where(table.notna(), None)


@pytest.mark.parametrize("people", [Population(), EVERYTHING], ids=["usual", "everything"])
@pytest.mark.parametrize("name", STUDIES)
def test_all_at_once_is_as_trial_by_trial(name: str, people: Population) -> None:
    raters = "honest:0.4,sharp:0.1,careless:0.2,straight:0.1,forges:0.1,visible:0.1"
    found = [rows(rehearsed(name, people=people, raters=raters, at_once=at_once)) for at_once in (True, False)]
    assert len(found[0])
    at_once, one_by_one = (one.to_dict("records") for one in found)
    assert at_once == one_by_one


@pytest.mark.parametrize("name", [*STUDIES, *ONE_BY_ONE])
def test_which_methods_are_answered_at_once(name: str) -> None:
    study, catalogue, method, plan = ground(name)
    sheet = sheet_of(plan, study, catalogue, method, truth_of(study, catalogue, method))
    assert isinstance(sheet, RatingSheet) == (name in STUDIES)
    assert len(rehearsed(name).ratings)


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
    table = rehearsed("parallel", people=Population(leaving=1.0)).ratings
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
}  # fmt: skip


@pytest.mark.parametrize("method", ["acr", "mushra"])
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


def test_one_stream_follows_the_same_laws_as_names_do() -> None:
    """Means and spreads of conditions over many people agree, and a repetition is its own."""
    study = make_study("parallel", list("abcd"), design={"participants": 400, "trials": 3, "seed": 1})
    method, catalogue = find("parallel"), catalogue_of(study)
    truth = truth_of(study, catalogue, method, people=PUBLIC)
    sheet = sheet_of(make_plan(study, catalogue, method), study, catalogue, method, truth)
    assert sheet is not None
    named = simulate_sheet(sheet, truth, PUBLIC)
    quick = [simulate_sheet(sheet, truth, PUBLIC, repetition=n) for n in (1, 1, 2)]
    assert (quick[0].value == quick[1].value).all()
    assert (quick[0].value != quick[2].value).any()
    for place in range(4):
        one, other = (answers.value[sheet.condition == place] for answers in (named, quick[0]))
        assert abs(one.mean() - other.mean()) < 4
        assert abs(one.std() - other.std()) < 2


def test_in_one_stream_a_stimulus_that_comes_twice_is_perceived_alike() -> None:
    study = make_study("pair", list("abc"), design={"participants": 5, "trials": 9, "seed": 1, "contents": "free"})
    method, catalogue = find("pair"), catalogue_of(study)
    truth = truth_of(study, catalogue, method)
    sheet = sheet_of(make_plan(study, catalogue, method), study, catalogue, method, truth)
    assert sheet is not None
    chance = draw_from_stream(sheet, Population(), ["honest"] * 5, np.random.default_rng(1))
    assert chance.other is not None
    rows = np.concatenate([sheet.stimulus, sheet.other])
    waver = np.concatenate([np.asarray(chance.judged.waver), np.asarray(chance.other.waver)])
    lists = np.concatenate([sheet.list, sheet.list])
    for one in {*zip(lists.tolist(), rows.tolist(), strict=True)}:
        assert len({*waver[(lists == one[0]) & (rows == one[1])].tolist()}) == 1


@pytest.mark.parametrize("many", [1, 3, 7, 16])
def test_lists_are_taken_in_turn(many: int) -> None:
    table = rehearsed("parallel", participants=many).ratings
    assert table["participant"].nunique() == many
    if many > 7:
        per = [table[table["participant"] == f"1-{n}"][["trial", "stimulus", "slot"]] for n in (1, 8)]
        assert per[0].reset_index(drop=True).equals(per[1].reset_index(drop=True))
