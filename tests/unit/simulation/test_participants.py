"""Simulated people: each effect of a population is visible in their ratings."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.simulation.memory import SimulatedAnswers, simulate_sheet
from beholder.simulation.participants import draw_from_stream
from beholder.simulation.rating_sheet import sheet_of
from beholder.simulation.truth import IDEAL, Population, truth_of
from support.method_studies import catalogue_of, make_study
from support.simulated_ratings import SimulatedStudy

NOBODY = {"bias": 0.0, "inconsistency": 0.0, "content": 0.0}


def by_person(answers: SimulatedAnswers, values: Any) -> Any:
    return np.bincount(answers.participant, weights=values) / np.bincount(answers.participant)


def test_bias_is_how_far_the_means_of_people_differ(acr: SimulatedStudy) -> None:
    _, answers = acr.answers(**{**NOBODY, "bias": 0.1})
    assert by_person(answers, answers.value).std() > 7
    _, answers = acr.answers(**NOBODY)
    assert set(answers.value.tolist()) == {85.0, 52.0, 20.0}


def test_tastes_differ_between_conditions_and_not_within(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "taste": 0.1})
    cells = answers.participant * 3 + sheet.condition
    assert all(len({*answers.value[cells == cell].tolist()}) == 1 for cell in np.unique(cells)[:60])
    assert len({*answers.value.tolist()}) > 30


def test_fatigue_makes_people_waver_more_towards_the_end(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "inconsistency": 0.05, "fatigue": 1.0})
    truth = acr.truth(replace(IDEAL, content=0.0))
    off = answers.value - 100 * truth.quality[sheet.stimulus, 0]
    first, last = (off[sheet.position == position].std() for position in (1, 12))
    assert last / first == pytest.approx(2, abs=0.35)


def test_the_trial_before_draws_or_repels(acr: SimulatedStudy) -> None:
    for carry in (0.3, -0.3):
        sheet, answers = acr.answers(**{**NOBODY, "carry": carry})
        truth = acr.truth(replace(IDEAL, content=0.0))
        off = answers.value / 100 - truth.quality[sheet.stimulus, 0]
        before = np.concatenate([[np.nan], truth.quality[sheet.stimulus, 0][:-1]]) - truth.quality.mean()
        is_later = sheet.position > 1
        assert np.abs(off[~is_later]).max() < 0.006
        assert np.polyfit(before[is_later], off[is_later], 1)[0] == pytest.approx(carry, abs=0.03)


def test_lapses_say_nothing(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "lapse": 0.2})
    truth = acr.truth(replace(IDEAL, content=0.0))
    off = np.abs(answers.value - 100 * truth.quality[sheet.stimulus, 0]) > 1
    assert off.mean() == pytest.approx(0.2, abs=0.03)


def test_some_use_more_of_the_scale_and_nobody_its_ends(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "gain_spread": 0.3})
    best, worst = (by_person(answers, np.where(sheet.condition == place, answers.value, 0)) * 3 for place in (0, 2))
    assert (best - worst).std() > 10
    assert np.corrcoef(best, worst)[0, 1] < -0.9
    _, answers = acr.answers(bias=0.3, inconsistency=0.3, ends=0.1)
    assert (answers.value.min(), answers.value.max()) == (10, 90)


def test_who_leaves_is_gone_for_all_later_trials(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(leaving=0.05)
    assert answers.stayed.mean() == pytest.approx(0.95**12, abs=0.1)
    last = np.zeros(len(answers.stayed))
    np.maximum.at(last, answers.participant, sheet.position[answers.entry])
    answered = np.bincount(answers.participant, minlength=len(last))
    assert (last == answered).all()
    assert ((last == 12) == answers.stayed).all()


def test_people_differ_in_how_much_they_waver(acr: SimulatedStudy) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "inconsistency": 0.08, "inconsistency_spread": 0.5})
    truth = acr.truth(replace(IDEAL, content=0.0))
    off = answers.value - 100 * truth.quality[sheet.stimulus, 0]
    spread = np.sqrt(by_person(answers, off**2))
    assert np.log(spread).std() == pytest.approx(0.5, abs=0.1)


# Naming them


def test_one_stream_follows_the_same_laws_as_names_do() -> None:
    """Means and spreads of conditions over many people agree, and a repetition is its own."""
    study = make_study("parallel", list("abcd"), design={"participants": 400, "trials": 3, "seed": 1})
    method, catalogue = find("parallel"), catalogue_of(study)
    truth = truth_of(study, catalogue, method, people=Population())
    sheet = sheet_of(make_plan(study, catalogue, method), study, catalogue, method, truth)
    assert sheet is not None
    named = simulate_sheet(sheet, truth, Population())
    quick = [simulate_sheet(sheet, truth, Population(), repetition=n) for n in (1, 1, 2)]
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
