"""Visual acuity: the card tells how large a pixel is, and the rings are as large as the formula says."""

from __future__ import annotations

import io
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import map_coordinates

from beholder.checks.acuity import Acuity, gap_mm, mar_of, ring
from beholder.checks.card import Card
from beholder.checks.contract import Verdict
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.checks.pictures import decode
from beholder.errors import Refused

ACUITY, CARD = Acuity(Acuity.Options()), Card(Card.Options())


def known(ppi: float, ratio: float = 1) -> CheckContext:
    """Return the context of a participant whose card gave this density."""
    width = 85.60 * ppi / 25.4 / ratio
    return CheckContext({"dpr": ratio}, {"card": {"widths": [width, width], "dpr": ratio, "moved": True}})


def measure(picture: NDArray[np.uint8], gap: float, direction: int) -> tuple[float, float, float]:
    """Return outer diameter, stroke and gap of a ring in pixels, by areas along its rays and arcs."""
    black = 1 - decode(picture)
    middle = len(black) / 2 - 0.5

    def along(radius: NDArray[np.float64], angle: NDArray[np.float64]) -> NDArray[np.float64]:
        places = (middle - radius * np.sin(angle), middle + radius * np.cos(angle))
        values: NDArray[np.float64] = map_coordinates(black, places, order=1)
        return values

    towards = direction * np.pi / 4
    reach = np.linspace(0, len(black) / 2 - 1, 800)
    step = reach[1]
    strokes, middles = [], []
    for angle in towards + np.linspace(np.pi / 3, 2 * np.pi - np.pi / 3, 180):
        ray = along(reach, np.full(800, angle))
        strokes.append(ray.sum() * step)
        middles.append((ray * reach).sum() / ray.sum())
    stroke = float(np.mean(strokes))
    # The mean distance of a stroke is where its middle is, a little farther out in pictures of few pixels.
    outer = 2 * (float(np.mean(middles)) + stroke / 2)
    turn = np.linspace(-np.pi / 3, np.pi / 3, 600)
    chords = []
    for radius in np.linspace(1.8, 2.2, 9) * gap:
        opened = (1 - along(np.full(600, radius), towards + turn)).sum() * (turn[1] - turn[0])
        chords.append(2 * radius * math.sin(opened / 2))
    return outer, stroke, float(np.mean(chords))


@pytest.mark.parametrize("direction", range(8))
@pytest.mark.parametrize(
    ("ppi", "distance", "mar"), [(254, 500, 1.5), (326, 500, 1.5), (460, 600, 1.5), (163, 750, 1.5), (110, 500, 5)]
)
def test_a_ring_measured_in_its_picture_is_as_large_as_the_formula_says(
    ppi: float, distance: float, mar: float, direction: int
) -> None:
    check = Acuity(Acuity.Options(distance_mm=distance, mar=mar))
    posed = check.pose(np.random.default_rng(1), known(ppi))
    shown: Any = {**posed.private, "directions": [direction]}
    with Image.open(io.BytesIO(check.draw(shown, "r1").body)) as image:
        picture = np.asarray(image)
    gap = 2 * distance * math.tan(math.radians(mar / 60) / 2) * ppi / 25.4
    assert gap >= 2
    for measured, needed in zip(measure(picture, gap, direction), (5 * gap, gap, gap), strict=True):
        assert measured == pytest.approx(needed, abs=0.5)
    assert ((1 - decode(picture)).sum()) == pytest.approx(area(gap), rel=0.02)


def area(gap: float) -> float:
    """Return how large the black of a ring is: a ring without the strip of its gap."""
    across = np.linspace(-gap / 2, gap / 2, 2001)
    strip = float(np.mean(np.sqrt((2.5 * gap) ** 2 - across**2) - np.sqrt((1.5 * gap) ** 2 - across**2))) * gap
    return math.pi * gap**2 * (2.5**2 - 1.5**2) - strip


def test_the_gap_is_where_its_direction_says() -> None:
    """0 is right, 2 is up, and the ring is whole everywhere else."""
    for direction in range(8):
        light = decode(ring(8.0, direction))
        middle = len(light) / 2 - 0.5
        ways = [
            light[round(middle - 16 * math.sin(way * math.pi / 4)), round(middle + 16 * math.cos(way * math.pi / 4))]
            for way in range(8)
        ]
        assert np.argmax(ways) == direction
        assert sorted(ways)[:7] == [0] * 7


def test_the_formula_gives_the_numbers_of_the_reference() -> None:
    assert gap_mm(1.5, 1) == pytest.approx(4.363e-4, rel=1e-3)
    assert gap_mm(1.5, 500) == pytest.approx(0.218, abs=5e-4)
    assert 5 * gap_mm(1.5, 500) == pytest.approx(1.09, abs=5e-3)
    assert gap_mm(1.5, 750) == pytest.approx(0.327, abs=5e-4)
    assert 5 * gap_mm(1.5, 750) == pytest.approx(1.64, abs=5e-3)
    assert mar_of(gap_mm(1.5, 640), 640) == pytest.approx(1.5)


@pytest.mark.parametrize(("ppi", "finest"), [(96, 73), (110, 64), (141, 50), (163, 43), (220, 32)])
def test_a_coarser_ring_that_is_seen_says_only_what_it_shows(ppi: float, finest: int) -> None:
    posed, verdict = taken(known(ppi))
    assert posed.private["gap_px"] == 2
    assert (verdict.verdict, verdict.reason) == ("unknown", "coarse")
    assert verdict.evidence["snellen"] == f"20/{finest}"
    assert not verdict.again


def test_a_coarser_ring_that_is_not_seen_is_a_fail() -> None:
    _, verdict = taken(known(96), right=2)
    assert (verdict.verdict, verdict.reason) == ("fail", "rings")


@pytest.mark.parametrize(("distance", "least"), [(500, 233), (750, 155)])
def test_the_full_ring_needs_a_fine_screen(distance: float, least: float) -> None:
    for ppi, is_coarse in ((least - 1, True), (least + 1, False)):
        posed = Acuity(Acuity.Options(distance_mm=distance)).pose(np.random.default_rng(1), known(ppi))
        assert posed.private["is_coarse"] is is_coarse


def taken(person: CheckContext, right: int = 5, **answer: Any) -> tuple[CheckTask, Verdict]:
    """Return an attempt at which so many rings were right, and the verdict."""
    posed = ACUITY.pose(np.random.default_rng(1), person)
    ways: Any = posed.private["directions"]
    given = [way if place < right else (way + 3) % 8 for place, way in enumerate(ways)]
    read = ACUITY.read(posed.private, {"directions": given, "ms": [700] * 5, "scale": 1, **answer})
    return posed, ACUITY.judge(Attempt(posed.private, read, person))


@pytest.mark.parametrize(("right", "verdict"), [(5, "pass"), (3, "pass"), (2, "fail"), (0, "fail")])
def test_three_of_five_rings_have_to_be_right(right: int, verdict: str) -> None:
    _, result = taken(known(254), right)
    assert (result.verdict, result.measured, result.needed) == (verdict, right, 3)
    assert result.evidence["snellen"] == "20/30"
    assert dict(ACUITY.message_values(result)) == {"right": right, "rings": 5, "needed": 3, "distance": 50}


def test_zoom_changes_nothing_as_rings_have_device_pixels() -> None:
    plain, zoomed = (taken(known(254, ratio))[0].private["gap_px"] for ratio in (1, 2))
    assert plain == pytest.approx(zoomed)


def test_a_ring_that_was_scaled_says_nothing_and_comes_again() -> None:
    for right in (0, 5):
        _, verdict = taken(known(254), right, scale=1.25)
        assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "scaled", True)


def test_without_a_card_no_ring_is_shown_and_nothing_is_lost() -> None:
    cards: Any = ({}, {"card": {"none": True}}, {"card": {"widths": [20, 20], "dpr": 1, "moved": True}})
    for card in cards:
        person = CheckContext({}, card)
        posed = ACUITY.pose(np.random.default_rng(1), person)
        assert (posed.public, posed.media) == ({"skip": True}, ())
        verdict = ACUITY.judge(Attempt(posed.private, ACUITY.read(posed.private, {}), person))
        assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "no_card", False)


def test_directions_are_drawn_evenly_and_can_repeat() -> None:
    drawn: Any = [ACUITY.pose(np.random.default_rng(seed), known(254)).private["directions"] for seed in range(400)]
    counts = np.bincount([way for ways in drawn for way in ways], minlength=8)
    assert ((counts > 190) & (counts < 310)).all()  # of 250 each
    assert any(len(set(ways)) < 5 for ways in drawn)


def test_the_file_of_a_ring_is_as_long_for_every_direction() -> None:
    posed = ACUITY.pose(np.random.default_rng(1), known(326))
    assert len({len(ACUITY.draw({**posed.private, "directions": [way]}, "r1").body) for way in range(8)}) == 1


def test_guessing_passes_in_1_6_percent_of_attempts() -> None:
    assert ACUITY.guess_rate() == pytest.approx((10 * 7**2 + 5 * 7 + 1) / 8**5)
    assert ACUITY.guess_rate() == pytest.approx(0.016, abs=5e-4)
    assert 1 - (1 - ACUITY.guess_rate()) ** 2 == pytest.approx(0.032, abs=5e-4)
    assert Acuity(Acuity.Options(rings=1, right=1)).guess_rate() == 1 / 8


@pytest.mark.parametrize("given", [None, [], [1, 2, 3, 4], [1, 2, 3, 4, 8], [1, 2, 3, 4, True], [1, 2, 3, 4, "5"]])
def test_an_answer_without_every_direction_is_refused(given: Any) -> None:
    posed = ACUITY.pose(np.random.default_rng(1), known(254))
    with pytest.raises(Refused, match="A direction is missing"):
        ACUITY.read(posed.private, {"directions": given})


def test_robots_pass_or_fail_as_they_are_able_to() -> None:
    rng = np.random.default_rng(4)
    for fails, says in (((), "pass"), (("acuity",), "fail")):
        robot = RobotAbilities(frozenset(fails))
        posed = CARD.pose(rng, CheckContext({"dpr": 1.5}))
        card = CARD.read(posed.private, CARD.respond(posed, robot, rng))
        assert CARD.judge(Attempt(posed.private, card)).verdict == "pass"
        person = CheckContext({"dpr": 1.5}, {"card": card})
        posed = ACUITY.pose(rng, person)
        answer = ACUITY.read(posed.private, ACUITY.respond(posed, robot, rng))
        assert ACUITY.judge(Attempt(posed.private, answer, person)).verdict == says


# The card
