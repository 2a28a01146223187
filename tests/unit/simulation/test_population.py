"""What simulated people have in common: each effect does what it says, and can be named."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from beholder import simulate
from beholder.errors import UserError
from beholder.methods import find
from beholder.planning.builder import make_plan
from beholder.simulation.memory import SimulatedAnswers, simulate_sheet
from beholder.simulation.rating_sheet import RatingSheet, sheet_of
from beholder.simulation.truth import PUBLIC, Population, Truth, read_people, truth_of
from beholder.simulation.variance import estimate_variances, read_source
from support.data import DATA
from support.method_studies import catalogue_of, make_study

NOBODY = {"bias": 0.0, "inconsistency": 0.0, "content": 0.0}


class Ground:
    """A plan of one method with its sheet, and what people of a population answer."""

    def __init__(self, method: str = "acr", people: int = 200, scale: str = "cont100", **keys: Any) -> None:
        questions = [{"id": "quality", "text": "?", **({"scale": scale} if method == "acr" else {})}]
        design = {"participants": people, "trials": 12, "seed": 1, "contents": "free"}
        self.study = make_study(method, list("abc"), questions=questions, design=design, **keys)
        self.method = find(method)
        self.catalogue = catalogue_of(self.study, contents=[f"content{n}" for n in range(6)])
        self.plan = make_plan(self.study, self.catalogue, self.method)

    def truth(self, people: Population) -> Truth:
        return truth_of(self.study, self.catalogue, self.method, people=people)

    def answers(self, **effects: float) -> tuple[RatingSheet, SimulatedAnswers]:
        people = Population(**effects)
        truth = self.truth(people)
        sheet = sheet_of(self.plan, self.study, self.catalogue, self.method, truth)
        assert sheet is not None
        return sheet, simulate_sheet(sheet, truth, people, repetition=1)


@pytest.fixture(scope="module")
def acr() -> Ground:
    return Ground()


def by_person(answers: SimulatedAnswers, values: Any) -> Any:
    return np.bincount(answers.participant, weights=values) / np.bincount(answers.participant)


def test_bias_is_how_far_the_means_of_people_differ(acr: Ground) -> None:
    _, answers = acr.answers(**{**NOBODY, "bias": 0.1})
    assert by_person(answers, answers.value).std() > 7
    _, answers = acr.answers(**NOBODY)
    assert set(answers.value.tolist()) == {85.0, 52.0, 20.0}


def test_tastes_differ_between_conditions_and_not_within(acr: Ground) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "taste": 0.1})
    cells = answers.participant * 3 + sheet.condition
    assert all(len({*answers.value[cells == cell].tolist()}) == 1 for cell in np.unique(cells)[:60])
    assert len({*answers.value.tolist()}) > 30


def test_contents_may_do_something_else_to_each_condition(acr: Ground) -> None:
    plain, mixed = (acr.truth(Population(content_condition=sd)) for sd in (0.0, 0.1))
    away = {name: [] for name in "abc"}  # type: dict[str, list[float]]
    for name, row in mixed.stimuli.items():
        away[name[0]].append(float(mixed.quality[row, 0] - plain.quality[row, 0]))
    spread = np.array(list(away.values()))
    assert 0.04 < spread.std() < 0.2
    assert spread.std(axis=0).min() > 0


def test_fatigue_makes_people_waver_more_towards_the_end(acr: Ground) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "inconsistency": 0.05, "fatigue": 1.0})
    truth = acr.truth(Population(content=0.0))
    off = answers.value - 100 * truth.quality[sheet.stimulus, 0]
    first, last = (off[sheet.position == position].std() for position in (1, 12))
    assert last / first == pytest.approx(2, abs=0.35)


def test_the_trial_before_draws_or_repels(acr: Ground) -> None:
    for carry in (0.3, -0.3):
        sheet, answers = acr.answers(**{**NOBODY, "carry": carry})
        truth = acr.truth(Population(content=0.0))
        off = answers.value / 100 - truth.quality[sheet.stimulus, 0]
        before = np.concatenate([[np.nan], truth.quality[sheet.stimulus, 0][:-1]]) - truth.quality.mean()
        is_later = sheet.position > 1
        assert np.abs(off[~is_later]).max() < 0.006
        assert np.polyfit(before[is_later], off[is_later], 1)[0] == pytest.approx(carry, abs=0.03)


def test_lapses_say_nothing(acr: Ground) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "lapse": 0.2})
    truth = acr.truth(Population(content=0.0))
    off = np.abs(answers.value - 100 * truth.quality[sheet.stimulus, 0]) > 1
    assert off.mean() == pytest.approx(0.2, abs=0.03)


def test_some_use_more_of_the_scale_and_nobody_its_ends(acr: Ground) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "gain_spread": 0.3})
    best, worst = (by_person(answers, np.where(sheet.condition == place, answers.value, 0)) * 3 for place in (0, 2))
    assert (best - worst).std() > 10
    assert np.corrcoef(best, worst)[0, 1] < -0.9
    _, answers = acr.answers(bias=0.3, inconsistency=0.3, ends=0.1)
    assert (answers.value.min(), answers.value.max()) == (10, 90)


def test_who_leaves_is_gone_for_all_later_trials(acr: Ground) -> None:
    sheet, answers = acr.answers(leaving=0.05)
    assert answers.stayed.mean() == pytest.approx(0.95**12, abs=0.1)
    last = np.zeros(len(answers.stayed))
    np.maximum.at(last, answers.participant, sheet.position[answers.entry])
    given = np.bincount(answers.participant, minlength=len(last))
    assert (last == given).all()
    assert ((last == 12) == answers.stayed).all()


def test_people_differ_in_how_much_they_waver(acr: Ground) -> None:
    sheet, answers = acr.answers(**{**NOBODY, "inconsistency": 0.08, "inconsistency_spread": 0.5})
    truth = acr.truth(Population(content=0.0))
    off = answers.value - 100 * truth.quality[sheet.stimulus, 0]
    spread = np.sqrt(by_person(answers, off**2))
    assert np.log(spread).std() == pytest.approx(0.5, abs=0.1)


@pytest.mark.parametrize(("taste", "spread"), [(0.06, 0.3), (0.12, 0.15)])
def test_effects_are_found_again_in_ratings(acr: Ground, taste: float, spread: float) -> None:
    """From a population to ratings and back: the variance components that a pilot is read by."""
    people = Population(bias=0.1, inconsistency=0.1, inconsistency_spread=spread, taste=taste, content_condition=0.06)
    sheet, answers = acr.answers(**{one.name: getattr(people, one.name) for one in fields(people)})
    names = ("list", "content", "condition", "stimulus")
    table = pd.DataFrame({name: getattr(sheet, name).astype(str) for name in names}).rename(
        columns={"list": "participant"}
    )
    found = estimate_variances(table.assign(question="q", value=answers.value / 100), {"q": 0.01}).variances
    # What is cut off at the ends of the scale is missing from inconsistency.
    for name, within in (("bias", 0.02), ("inconsistency", 0.015), ("inconsistency_spread", 0.1), ("taste", 0.015)):
        assert found[name].value == pytest.approx(getattr(people, name), abs=within), name
    assert found["content_condition"].value == pytest.approx(0.06, abs=0.04)


def test_tastes_that_cannot_be_told_are_part_of_the_inconsistency() -> None:
    """Everybody rates each condition once: what they think of it and what they waver by are one number."""
    rng = np.random.default_rng(1)
    people, conditions = (code.ravel() for code in np.meshgrid(np.arange(60), np.arange(4), indexing="ij"))
    table = pd.DataFrame({"participant": people, "condition": conditions, "stimulus": conditions, "content": "one"})
    bias, own = rng.normal(0, 0.1, 60), rng.normal(0, 0.1, len(people))
    found = estimate_variances(table.assign(question="q", value=0.5 + bias[people] + own), {"q": 0.01}).variances
    assert found["bias"].value == pytest.approx(0.1, abs=0.02)
    assert found["inconsistency"].value == pytest.approx(0.1, abs=0.01)
    assert found["taste"] == (None, "who rated what does not tell it apart")
    assert found["inconsistency_spread"] == (
        None,
        "0 participants with 8 ratings more than conditions, and it takes 8",
    )


def test_one_is_told_as_one() -> None:
    table = pd.DataFrame(
        {"participant": "p", "condition": list("ab"), "stimulus": list("ab"), "content": "one", "value": [0.2, 0.4]}
    )
    assert estimate_variances(table.assign(question="q"), {}).variances["bias"] == (
        None,
        "1 participant, and it takes 5",
    )


def test_spreads_of_the_laboratory_are_those_of_the_public_set() -> None:
    path, reference = (DATA / "ratings" / f"vqeghd3_{name}.csv" for name in ("raw", "variance_components"))
    if not path.is_file():
        pytest.skip(f"ratings/vqeghd3_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    raw, known = pd.read_csv(path), pd.read_csv(reference).set_index("component")["sd"] / 4
    table = raw.rename(columns={"subject": "participant"}).assign(question="q", value=(raw["score"] - 1) / 4)
    found = {name: one.value for name, one in estimate_variances(table, {"q": 0.25}).variances.items()}
    for name, component in (("bias", "S"), ("taste", "SH"), ("content", "C"), ("content_condition", "CH")):
        assert found[name] == pytest.approx(known[component], abs=0.004), name
    for name in ("taste", "content", "content_condition"):
        assert found[name] == pytest.approx(getattr(PUBLIC, name), abs=0.0006), name


# Naming them


def test_people_can_be_changed_by_name() -> None:
    people = read_people("fatigue:0.5, lapse:0.02", PUBLIC)
    assert (people.fatigue, people.lapse, people.taste) == (0.5, 0.02, PUBLIC.taste)
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


def test_a_source_is_a_set_or_a_pilot(tmp_path: Path) -> None:
    source = read_source("public", "leaving:0.02")
    assert source.people == read_people("leaving:0.02", PUBLIC)
    told = {row["what"]: row["from"] for row in source.rows()}
    assert (told["taste"], told["leaving"], told["pace"]) == ("VQEG HDTV3", "--people", "usual")
    with pytest.raises(UserError) as caught:
        read_source("nowhere")
    assert str(caught.value) == (
        "--from  'nowhere' is neither a set of public data nor a study. Allowed: public, vqeghd3, or the study.yaml of "
        "a pilot."
    )
    with pytest.raises(UserError) as caught:
        simulate(tmp_path / "study.yaml", participants=1, memory=True, store="elsewhere")
    assert str(caught.value) == ("--memory  keeps nothing in a store, and --store names one. Allowed: one of the two.")
