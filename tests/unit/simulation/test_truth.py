"""The planted truth, and changes of a population."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.simulation.truth import IDEAL, Population, plant_truth, read_people
from beholder.study.model import Question
from support.method_studies import make_catalogue
from support.simulated_ratings import SimulatedStudy


def test_gold_is_as_good_as_what_is_expected_of_it_on_every_question() -> None:
    from dataclasses import replace

    from beholder.stimuli.known_answers import EVERY_QUESTION, Expectation, KnownAnswer

    catalogue = make_catalogue(("a", "b"), contents=("one",))
    lesson = KnownAnswer("here", expected={EVERY_QUESTION: Expectation(5), "dull": Expectation(1)})
    gold = replace(catalogue.stimuli[0], id="gold", condition="gold", role="gold", known_answer=lesson)
    asks = replace(catalogue.stimuli[1], id="asks", condition="trap", role="trap", derived_from="b/one")
    catalogue = replace(catalogue, stimuli=(*catalogue.stimuli, gold, asks))
    scales = {
        name: Question.model_validate({"id": name, "text": "?", "scale": "agree5", **more})
        for name, more in (("good", {}), ("dull", {"keyed": "-"}))
    }
    truth = plant_truth(catalogue, ("good", "dull"), 1, scales)
    assert truth.quality[truth.stimuli["gold"]].tolist() == [0.96, 0.96]
    assert (truth.quality[truth.stimuli["asks"]] == truth.quality[truth.stimuli["b/one"]]).all()


def test_of_our_samples_sound_and_picture_have_qualities_of_their_own() -> None:
    samples = make_catalogue(("lifelike", "muffled", "pixelated", "poor"), contents=("one", "two"))
    truth = plant_truth(samples, ("audio", "video", "overall"), 1, people=IDEAL)
    sound, picture, whole = truth.quality.T
    muffled, pixelated = truth.stimuli["muffled/one"], truth.stimuli["pixelated/one"]
    assert sound[muffled] < whole[muffled] < picture[muffled]
    assert picture[pixelated] < whole[pixelated] < sound[pixelated]
    assert sorted(truth.means("audio"), key=lambda name: -truth.means("audio")[name]) == [
        "lifelike", "pixelated", "muffled", "poor",
    ]  # fmt: skip
    assert truth.means("overall") == truth.conditions
    known = plant_truth(samples, ("audio",), 1, people=IDEAL, means={"muffled": 0.6})
    assert known.means("audio")["muffled"] == 0.6
    others = plant_truth(make_catalogue(("lifelike", "ours"), contents=("one",)), ("audio",), 1)
    assert others.means("audio") == others.conditions


def test_contents_may_do_something_else_to_each_condition(acr: SimulatedStudy) -> None:
    plain, mixed = (acr.truth(replace(IDEAL, content_condition=sd)) for sd in (0.0, 0.1))
    away = {name: [] for name in "abc"}  # type: dict[str, list[float]]
    for name, row in mixed.stimuli.items():
        away[name[0]].append(float(mixed.quality[row, 0] - plain.quality[row, 0]))
    spread = np.array(list(away.values()))
    assert 0.04 < spread.std() < 0.2
    assert spread.std(axis=0).min() > 0


def test_people_can_be_changed_by_name() -> None:
    people = read_people("fatigue:0.5, lapse:0.02", Population())
    assert (people.fatigue, people.lapse, people.taste) == (0.5, 0.02, Population().taste)
    assert read_people("") == Population()


@pytest.mark.parametrize(
    ("written", "told"),
    [
        (
            "fatige:0.5",
            "--people  'fatige' is nothing that people differ in. Allowed: bias, inconsistency, inconsistency_spread, "
            "taste, content, content_condition, carry, fatigue, lapse, gain_spread, ends, leaving, pace. Did you mean "
            "fatigue?",
        ),
        ("lapse:2", "--people  lapse is '2'. Allowed: a number from 0 to 1."),
        ("lapse", "--people  lapse is ''. Allowed: a number from 0 to 1."),
        ("lapse:nan,carry:-2", "--people  lapse is 'nan'. Allowed: a number from 0 to 1.\n"
         "--people  carry is '-2'. Allowed: a number from -1 to 1."),
    ],
)  # fmt: skip
def test_what_is_no_people(written: str, told: str) -> None:
    with pytest.raises(UserError) as caught:
        read_people(written)
    assert str(caught.value) == told
