"""Left, right and the middle: in which ear a sound is, and which mistakes are distinguished."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from beholder.checks.page_contract import RobotAbilities
from beholder.checks.sides import Sides
from support.listening_checks import answer, message_of, played, pose


def test_a_sound_is_in_the_ear_that_is_asked_for_and_as_strong_wherever_it_is() -> None:
    check = Sides(Sides.Options())
    energies = []
    for seed in range(10):
        posed = pose(check, seed)
        kept: Any = posed.private["sounds"]
        assert {side for side, _ in kept} == {"left", "middle", "right"}
        for sound, _, place in played(check, posed):
            left, right = (sound**2).sum(axis=0)
            side = "middle" if left == right else "left" if right == 0 else "right" if left == 0 else "neither"
            assert side == kept[place][0]
            energies.append(left + right)
    assert max(energies) / min(energies) == pytest.approx(1, abs=0.03)


def mistake(kept: Any, how: Mapping[str, str]) -> list[str]:
    return [how.get(side, side) for side, _ in kept]


@pytest.mark.parametrize(
    ("how", "reason"),
    [
        ({"left": "right", "right": "left"}, "swapped"),
        ({"left": "middle", "right": "middle"}, "mono"),
        ({"left": "nothing", "middle": "right"}, "silent"),
        ({"left": "middle"}, "sides"),
        ({"left": "right"}, "sides"),
    ],
)
def test_what_is_wrong_with_the_sides_is_told_apart(how: dict[str, str], reason: str) -> None:
    check = Sides(Sides.Options())
    posed = pose(check)
    verdict = answer(check, posed, {"sides": mistake(posed.private["sounds"], how)})
    assert (verdict.verdict, verdict.reason) == ("fail", reason)
    assert message_of(check, verdict)


def test_swapped_headphones_are_told_to_be_turned_round() -> None:
    check = Sides(Sides.Options())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["sides:swapped"])), np.random.default_rng(0))
    words = "Left and right are swapped. Turn your headphones round: L goes on the left ear."
    assert message_of(check, answer(check, posed, robot)) == words


def test_a_robot_in_mono_hears_everything_in_the_middle() -> None:
    check = Sides(Sides.Options())
    posed = pose(check)
    robot = check.respond(posed, RobotAbilities(frozenset(["sides:mono"])), np.random.default_rng(0))
    assert answer(check, posed, robot).reason == "mono"


@pytest.mark.parametrize("number", [1, 2, 3, 4])
def test_the_luck_of_sides_is_that_of_counting_the_orders_that_are_drawn(number: int) -> None:
    check = Sides(Sides.Options(sounds=number))
    drawn = {tuple(side for side, _ in pose(check, seed).private["sounds"]) for seed in range(400)}  # type: ignore[union-attr, misc]
    assert check.guess_rate() == pytest.approx(1 / len(drawn))
