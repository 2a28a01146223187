"""Simulated people: as noisy as real ones, obedient as far as their kind is, and slow."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from beholder.errors import UserError
from beholder.server.playback import read_playback
from beholder.simulation.cheats import opposite_answer
from beholder.simulation.participants import Habits, habits_of
from beholder.simulation.raters import RATERS, perceive, read_mixture
from beholder.simulation.robot import page_log
from beholder.simulation.truth import Truth, plant_truth
from beholder.study.model import Question
from support.data import DATA, ROOT
from support.method_studies import make_catalogue

HONEST = ("sharp", "honest", "sloppy")


@pytest.fixture
def tools(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tools"))


def truth_of(values: list[float]) -> Truth:
    quality = np.array(values)[:, None]
    return Truth(quality, {f"s{n}": n for n in range(len(values))}, {"q": 0}, {})


@pytest.mark.usefixtures("tools")
def test_honest_people_are_as_fitted_to_the_laboratory() -> None:
    """The model of the fit, with our numbers: bias and inconsistency on five points come out as they were measured."""
    from fit_raters import fit, measure, read_ratings

    path = DATA / "ratings" / "vqeghd3_raw.csv"
    if not path.is_file():
        pytest.skip(f"ratings/vqeghd3_raw.csv is not in {DATA}; set BEHOLDER_TEST_DATA")
    real = read_ratings(path)
    felt, rated = fit(real), measure(real)
    # What people give who are shown the same videos.
    truth = truth_of(((felt.quality - 1) / 4).tolist())
    for kind, percentile in zip(HONEST, (0.1, 0.5, 0.95), strict=True):
        given = np.array([1 + np.rint(4 * perceive(kind, truth, 1, str(n))[:, 0]) for n in range(800)])
        ours = measure(given)
        wanted = float(np.quantile(rated.inconsistencies, percentile))
        # Everybody of a kind is alike, so the mean over many is that of the one person at the percentile.
        assert statistics.fmean(ours.inconsistencies) == pytest.approx(wanted, abs=0.03)
        assert ours.bias_sd == pytest.approx(rated.bias_sd, rel=0.1)


def test_a_second_look_keeps_the_bias_and_wavers_anew() -> None:
    truth = truth_of([0.5] * 400)
    once, again = (perceive("honest", truth, 1, "p", again=again) for again in (False, True))
    assert abs(once.mean() - again.mean()) < 0.03
    assert abs(np.corrcoef(once[:, 0], again[:, 0])[0, 1]) < 0.15
    assert (perceive("straight", truth, 1, "p") == perceive("straight", truth, 1, "p", again=True)).all()
    assert (perceive("middle", truth, 1, "p") == 0.5).all()


def test_every_kind_can_be_named() -> None:
    assert list(read_mixture(",".join(RATERS))) == list(RATERS)


@pytest.mark.parametrize("share", ["0", "-1", "nan", "inf", "many"])
def test_a_share_is_a_number_above_zero(share: str) -> None:
    with pytest.raises(UserError) as caught:
        read_mixture(f"careless:0.1,honest:{share}")
    assert str(caught.value) == f"--raters  '{share}' is no share. Allowed: a number above 0, as in honest:0.9."


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


# Time

SLIDER = {"min": 0, "max": 100, "step": 1, "labels": [], "look": "slider"}


def board(slots: int = 3, ms: int = 4000) -> dict[str, Any]:
    media = {"medium": "video", "ms": ms, "width": 160, "height": 90}
    return {
        "asked": [{"id": "q1", "text": "?", "scale": SLIDER}],
        "slots": [{"id": f"s{n}", "rated": True, "media": media} for n in range(1, slots + 1)],
        "together": False,
        "extra": {},
    }


def logged(habits: Habits, seed: int = 1, *, is_away: bool = False) -> tuple[Any, Mapping[str, Any], float]:
    page = board()
    answer = {"scores": {"q1": {slot["id"]: 40 for slot in page["slots"]}}}
    events = page_log(page, answer, habits, np.random.default_rng(seed), is_away=is_away)
    evidence = read_playback(events, {slot["id"]: slot["media"]["ms"] for slot in page["slots"]})
    return events, evidence.slots, events[-1][0]


def test_an_honest_log_shows_every_clip_whole_in_real_time_and_an_answer_to_each() -> None:
    events, slots, sent = logged(Habits(stall=0))
    assert all(slot.coverage > 0.99 and slot.plays == 1 and slot.blurs == 0 for slot in slots.values())
    assert all(4000 <= (slot.played_ms or 0) < 4400 for slot in slots.values())
    assert [event[2] for event in events if event[1] == "change"] == ["s1", "s2", "s3"]
    assert [event[0] for event in events] == sorted(event[0] for event in events)
    assert sent > 3 * 4000 + 3 * 1000


def test_sloppy_people_hurry_and_a_program_hurries_more() -> None:
    times = {
        kind: statistics.median(logged(habits_of(kind), seed)[2] for seed in range(40))
        for kind in ("honest", "sloppy", "careless", "fast")
    }
    assert times["honest"] > times["sloppy"] > times["careless"] > times["fast"]
    assert times["fast"] < 3 * 4000 + 600


def test_who_is_away_has_left_the_window_while_each_clip_played() -> None:
    _, slots, _ = logged(habits_of("away"), is_away=True)
    assert [slot.blurs for slot in slots.values()] == [1, 1, 1]


def test_another_answer_is_another_one_on_the_same_scale() -> None:
    page = board(2)
    assert opposite_answer(page, {"scores": {"q1": {"s1": 72, "s2": 10}}}) == {"scores": {"q1": {"s1": 0, "s2": 100}}}
    pair = {**page, "asked": [{"id": "q1", "text": "?", "scale": {**SLIDER, "min": -1, "max": 1}}]}
    assert opposite_answer(pair, {"choices": {"q1": {"better": "s1"}}}) == {"choices": {"q1": {"better": "s2"}}}
    assert opposite_answer(pair, {"choices": {"q1": {"better": "tie"}}}) == {"choices": {"q1": {"better": "tie"}}}
