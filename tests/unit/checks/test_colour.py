"""Colour vision: the number fades for the eye that its plate is meant for, and for nobody else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from beholder.checks.colour import Colour, Plate
from beholder.checks.colour.plates import (
    DIGITS,
    KINDS,
)
from beholder.checks.page_contract import Attempt, CheckContext, RobotAbilities
from beholder.errors import Refused


def test_two_sessions_read_different_numbers_in_another_order() -> None:
    check = Colour(Colour.Options())
    posed = [check.pose(np.random.default_rng(seed), CheckContext()) for seed in range(20)]
    plates: list[Any] = [one.private["plates"] for one in posed]
    assert len({tuple(plate["number"] for plate in one) for one in plates}) == len(plates)
    assert len({tuple(plate["kind"] for plate in one) for one in plates}) > 3
    assert all(sorted(plate["kind"] for plate in one) == sorted(KINDS) for one in plates)
    assert all(set(plate["number"]) <= set("23456789") for one in plates for plate in one)
    assert not {"0", "1", "6", "9"} & set(DIGITS)
    assert {tuple(one.public) for one in posed} == {("plates", "is_text", "size")}
    assert all(one.public["plates"] == ["p1", "p2", "p3"] for one in posed)


@pytest.fixture
def attempt() -> Any:
    """Judge an attempt at which each kind of plate was read so, or right where nothing is said."""
    check = Colour(Colour.Options())
    posed = check.pose(np.random.default_rng(5), CheckContext())
    plates: Any = posed.private["plates"]

    def judge(**read: str) -> Any:
        numbers = {f"p{place}": read.get(plate["kind"], plate["number"]) for place, plate in enumerate(plates, 1)}
        answer = check.read(posed.private, {"numbers": numbers, "scale": 1})
        return check.judge(Attempt(posed.private, answer))

    return judge


def test_all_three_read_is_a_pass_and_one_of_the_colours_missed_a_fail(attempt: Any) -> None:
    assert attempt().verdict == "pass"
    for kind in ("protan", "deutan"):
        verdict = attempt(**{kind: "none"})
        assert (verdict.verdict, verdict.reason, verdict.measured, verdict.needed) == ("fail", "plates", 1, 2)
    assert {plate["kind"] for plate in attempt().evidence["plates"]} == set(KINDS)


def test_a_control_plate_read_wrong_says_nothing_and_asks_again(attempt: Any) -> None:
    for others in ({}, {"protan": "none", "deutan": "none"}):
        verdict = attempt(control="11", **others)
        assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "control", True)


def test_a_number_counts_however_it_is_written() -> None:
    check = Colour(Colour.Options())
    posed = check.pose(np.random.default_rng(5), CheckContext())
    plates: Any = posed.private["plates"]
    far = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    written = {f"p{place}": f" {' '.join(plate['number'].translate(far))} " for place, plate in enumerate(plates, 1)}
    assert check.judge(Attempt(posed.private, check.read(posed.private, {"numbers": written}))).verdict == "pass"


def test_an_answer_without_every_number_is_refused() -> None:
    check = Colour(Colour.Options())
    posed = check.pose(np.random.default_rng(5), CheckContext())
    for numbers in (None, {}, {"p1": "22", "p2": "33"}, {"p1": "22", "p2": "33", "p3": " "}, {"p1": 2, "p2": 3}):
        with pytest.raises(Refused, match="A number is missing"):
            check.read(posed.private, {"numbers": numbers})


def test_one_number_is_guessed_once_in_thirty_six_times() -> None:
    assert Colour(Colour.Options()).guess_rate() == 1 / 36
    assert Colour(Colour.Options(images=(Plate(file="a.png", answer="7"),))).guess_rate() == 0


@pytest.mark.parametrize(
    ("fails", "verdict"),
    [((), "pass"), (("colour",), "fail"), (("colour:protan",), "fail"), (("colour:control",), "unknown")],
)
def test_a_robot_passes_or_fails_as_it_is_able_to(fails: tuple[str, ...], verdict: str) -> None:
    check = Colour(Colour.Options())
    rng = np.random.default_rng(3)
    posed = check.pose(rng, CheckContext())
    answer = check.read(posed.private, check.respond(posed, RobotAbilities(frozenset(fails)), rng))
    assert check.judge(Attempt(posed.private, answer)).verdict == verdict


# Images of the study's own
