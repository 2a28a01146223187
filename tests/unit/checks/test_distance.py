"""distance and display: pairs of which one is blurred, what the answers say, and help for each system."""

from __future__ import annotations

import io
from collections.abc import Mapping
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.checks.display import SYSTEMS, Display
from beholder.checks.distance import JND_ARCMIN, STRENGTHS, Distance, radii_at
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.errors import Refused, StudyError
from beholder.methods import load_study
from beholder.server.page_checks import fill_words
from beholder.testing import write_study
from support.variants import variant

FULL_HD: dict[str, Any] = {"screen": [1920, 1080], "viewport": [1920, 970], "dpr": 1}
WIDE = {"screen": [2560, 1440], "viewport": [1280, 800], "dpr": 1}
ULTRA_HD = {"screen": [1920, 1080], "viewport": [1280, 800], "dpr": 2}
SMALL = {"screen": [1366, 768], "viewport": [1366, 650], "dpr": 1}
PHONE = {"screen": [390, 844], "viewport": [390, 664], "dpr": 3}
CARD: dict[str, Any] = {"card": {"widths": [342.4, 342.4], "dpr": 1, "moved": True}}
"""Four CSS pixels make a millimetre."""


def pose(seed: int = 1, device: Mapping[str, Any] = FULL_HD, **rule: Any) -> tuple[Distance, CheckTask]:
    check = Distance(Distance.Options(**rule))
    return check, check.pose(np.random.default_rng(seed), CheckContext(device))


def pairs(posed: CheckTask) -> list[dict[str, Any]]:
    pairs: Any = posed.private["pairs"]
    return list(pairs)


def picture(check: Distance, posed: CheckTask, name: str) -> NDArray[np.float64]:
    return np.asarray(Image.open(io.BytesIO(check.draw(posed.private, name).body))).astype(np.float64)


def say(check: Distance, posed: CheckTask, seen: Mapping[str, str], scale: float = 1) -> Any:
    """Return the verdict on somebody who saw so much: `right`, `wrong` or `none` for each strength."""
    other = {"a": "b", "b": "a"}
    better = [
        {"none": "none", "right": other[pair["blurred"]], "wrong": pair["blurred"]}[seen[pair["strength"]]]
        for pair in pairs(posed)
    ]
    return check.judge(Attempt(posed.private, check.read(posed.private, {"better": better, "scale": scale})))


def told(check: Distance, verdict: Any) -> str:
    """Return what somebody reads about their answers."""
    words = Distance.texts("en")
    return fill_words(words[f"told.{verdict.reason}"], check.message_values(verdict), words)


def box_transfer(frequency: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return how much of each frequency, in cycles per pixel, a box leaves whose outermost pixels count in part."""
    reach = int(np.ceil(radius))
    total = np.ones_like(frequency)
    for step in range(1, reach + 1):
        weight = 1 if step < reach else radius - reach + 1
        total = total + 2 * weight * np.cos(2 * np.pi * frequency * step)
    return total / (2 * radius + 1)


def measured_radius(sharp: NDArray[np.float64], blurred: NDArray[np.float64], around: float) -> float:
    """Return the radius that explains best how the spectrum of the columns' means lost its higher frequencies."""
    window = np.hanning(sharp.shape[1])
    before = np.fft.rfft((sharp.mean(0) - sharp.mean()) * window)
    after = np.fft.rfft((blurred.mean(0) - blurred.mean()) * window)
    frequency = np.fft.rfftfreq(sharp.shape[1]).astype(np.float64)
    tried = np.arange(0.5 * around, 1.5 * around, 0.02)
    misses = [float(np.abs(np.subtract(after, box_transfer(frequency, radius) * before)).sum()) for radius in tried]
    return float(tried[int(np.argmin(misses))])


@pytest.mark.parametrize(
    ("device", "scale"),
    [(FULL_HD, 1), (WIDE, 4 / 3), (ULTRA_HD, 2), (SMALL, 768 / 1080)],
)
def test_the_blur_in_the_pixels_grows_with_the_lines_of_the_screen(device: Mapping[str, Any], scale: float) -> None:
    check, posed = pose(4, device, radii=(3, 5, 7))
    wanted = dict(zip(STRENGTHS, (3, 5, 7), strict=True))
    for number, pair in enumerate(pairs(posed), 1):
        assert pair["radius"] == pytest.approx(wanted[pair["strength"]] * scale, abs=1e-4)
        blurred = picture(check, posed, f"{pair['blurred']}{number}")
        sharp = picture(check, posed, f"{'ab'.replace(pair['blurred'], '')}{number}")
        assert sharp.shape == blurred.shape
        assert measured_radius(sharp, blurred, pair["radius"]) == pytest.approx(pair["radius"], abs=0.15)


def test_every_pixel_of_a_blurred_picture_is_the_mean_of_a_square() -> None:
    check, posed = pose(2, radii=(3, 5, 7))
    for number, pair in enumerate(pairs(posed), 1):
        radius = int(pair["radius"])
        blurred = picture(check, posed, f"{pair['blurred']}{number}")
        sharp = picture(check, posed, f"{'ab'.replace(pair['blurred'], '')}{number}")
        for row, column in ((radius, radius), (100, 77), (150, 200)):
            square = sharp[row - radius : row + radius + 1, column - radius : column + radius + 1]
            assert abs(square.mean() - blurred[row, column]) <= 0.5
        assert sharp.std() > 1.5 * blurred.std()


def test_order_and_sides_are_drawn_by_chance_and_kept() -> None:
    posed = [pose(seed)[1] for seed in range(60)]
    orders = {tuple(pair["strength"] for pair in pairs(one)) for one in posed}
    assert len(orders) == 6
    assert {tuple(pair["blurred"] for pair in pairs(one)) for one in posed} == set(product("ab", repeat=3))
    assert all(sorted(order) == sorted(STRENGTHS) for order in orders)
    assert len({pair["seed"] for one in posed for pair in pairs(one)}) == 180


@pytest.mark.parametrize(("device", "cm"), [(FULL_HD, None), variant(ULTRA_HD, None), (PHONE, 30)])
def test_nothing_that_is_sent_tells_which_one_is_blurred(device: Mapping[str, Any], cm: int | None) -> None:
    check, posed = pose(3, device)
    size = [posed.private["width"], posed.private["height"]]
    assert posed.public == {"pairs": 3, "heights": 1.5, "cm": cm, "held": cm is not None, "size": size}
    assert posed.media == ("a1", "b1", "a2", "b2", "a3", "b3")
    bodies = [check.draw(posed.private, name).body for name in posed.media]
    assert len({len(body) for body in bodies}) == 1
    assert len(set(bodies)) == 6


def test_all_answers_are_judged_as_the_rule_says() -> None:
    check, posed = pose()
    for weak, middle, strong in product(("right", "none", "wrong"), repeat=3):
        verdict = say(check, posed, {"weak": weak, "middle": middle, "strong": strong})
        if (middle, strong) == ("right", "right") and weak != "wrong":
            expected = ("pass", "near" if weak == "right" else "", False)
        elif strong == "right" and middle != "right":
            expected = ("fail", "far", False)
        else:
            expected = ("unknown", "unclear", True)
        assert (verdict.verdict, verdict.reason, verdict.again) == expected
        assert verdict.measured == {"weak": weak, "middle": middle, "strong": strong}


def test_pictures_that_were_scaled_prove_nothing() -> None:
    check, posed = pose()
    seen = {"weak": "none", "middle": "right", "strong": "right"}
    verdict = say(check, posed, seen, scale=1.2)
    assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "scaled", True)
    assert say(check, posed, seen, scale=1.01).verdict == "pass"


def test_a_blind_guess_passes_once_in_eight_times() -> None:
    # Sides for all three: the strong and the middle one have to be right by luck, and the weak one as well.
    assert Distance(Distance.Options()).guess_rate() == pytest.approx(1 / 2**3)


@pytest.mark.parametrize("given", [None, "abc", ["a", "b"], ["a", "b", "c"], ["a", "b", None]])
def test_a_pair_without_an_answer_is_refused(given: Any) -> None:
    check, posed = pose()
    with pytest.raises(Refused) as refused:
        check.read(posed.private, {"better": given})
    assert str(refused.value) == "A pair has no answer"
    assert refused.value.allowed == "a list of 3 of a, b, none"


def test_where_to_sit_is_said_in_centimetres_once_the_card_was_measured() -> None:
    check = Distance(Distance.Options())
    known = CheckContext(FULL_HD, CARD)
    posed = check.pose(np.random.default_rng(1), known)
    assert posed.public["cm"] == 40  # 1.5 x 1080 pixels are 405 mm
    far = {"weak": "none", "middle": "none", "strong": "right"}
    assert told(check, say(check, posed, far)).endswith(
        "1.5 times the height of your screen away (40 cm), and stay there."
    )
    check, posed = pose()
    assert told(check, say(check, posed, far)).endswith("1.5 times the height of your screen away, and stay there.")
    without: dict[str, Any] = {"card": {"none": True}}
    assert check.pose(np.random.default_rng(1), CheckContext(FULL_HD, without)).public["cm"] is None


@pytest.mark.parametrize(
    ("device", "card", "heights"),
    [
        (PHONE, {}, 300 / 145),
        ({**PHONE, "screen": [844, 390]}, {}, 300 / 67),
        (PHONE, {"card": {"widths": [513.6, 513.6], "dpr": 3, "moved": True}}, 300 / (844 / 6)),
    ],
)
def test_nobody_is_asked_to_hold_a_phone_in_front_of_their_nose(
    device: Mapping[str, Any], card: Mapping[str, Any], heights: float
) -> None:
    check = Distance(Distance.Options())
    posed = check.pose(np.random.default_rng(1), CheckContext(device, card))
    assert (posed.public["cm"], posed.public["held"]) == (30, True)
    far = say(check, posed, {"weak": "none", "middle": "none", "strong": "right"})
    assert told(check, far).endswith("Please hold the screen about 30 cm from your eyes, and keep it there.")
    lines = device["screen"][1] * device["dpr"]
    blurs = {pair["strength"]: pair["radius"] * 1080 / lines for pair in pairs(posed)}
    assert [blurs[name] for name in STRENGTHS] == pytest.approx(radii_at(heights), abs=0.01)
    own = Distance(Distance.Options(radii=(3, 5, 7))).pose(np.random.default_rng(1), CheckContext(device, card))
    widest = max(pair["radius"] for pair in pairs(own))
    assert widest * 1080 / lines == pytest.approx(7 * heights / 1.5, rel=0.001)


@pytest.mark.parametrize(
    ("fails", "verdict", "reason"),
    [
        ("", "pass", ""),
        ("distance", "fail", "far"),
        ("distance:far", "fail", "far"),
        ("distance:near", "pass", "near"),
        ("distance:unclear", "unknown", "unclear"),
    ],
)
def test_robots_sit_where_they_are_told(fails: str, verdict: str, reason: str) -> None:
    check, posed = pose(7)
    answer = check.respond(posed, RobotAbilities(frozenset({fails})), np.random.default_rng(1))
    judged = check.judge(Attempt(posed.private, check.read(posed.private, answer)))
    assert (judged.verdict, judged.reason) == (verdict, reason)


@pytest.mark.parametrize(
    ("radii", "problem"),
    [
        ([5, 3, 7], "radii is 5, 3, 7. Allowed: above 0 and up to 50, from the weakest blur to the strongest."),
        ([3, 5, 70], "radii is 3, 5, 70. Allowed: above 0 and up to 50, from the weakest blur to the strongest."),
        (3, "radii is 3. Allowed: three radii in pixels, such as [3, 5, 7]."),
    ],
)
def test_radii_that_make_no_sense_are_told(radii: Any, problem: str, tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path / "study", tiny, qualification={"distance": {"radii": radii}})
    with pytest.raises(StudyError) as raised:
        load_study(path)
    assert [str(one).partition("qualification.distance.")[2] for one in raised.value.problems] == [problem]


def test_there_are_words_for_every_reason_and_every_system() -> None:
    distance, display = Distance.texts("en"), Display.texts("en")
    assert {key for key in distance if key.startswith("told.")} == {
        "told.near", "told.far", "told.unclear", "told.scaled",
    }  # fmt: skip
    for name in SYSTEMS:
        assert f"system.{name}" in display
        assert len([key for key in display if key.startswith(f"{name}.")]) == 5


def test_left_out_the_blurs_are_around_what_is_just_noticed_at_the_expected_distance() -> None:
    weak, middle, strong = Distance.Options().blurs
    assert (weak, middle, strong) == (0.1, 0.9, 4.01)
    assert Distance.Options(heights=3).blurs == (0.9, 2.22, 8.45)
    # From twice as far away the same blur covers half the angle.
    kernel = np.array([middle, 1, middle]) / (1 + 2 * middle)
    sigma_arcmin = (kernel @ np.array([1, 0, 1])) ** 0.5 * np.degrees(1 / (1080 * 1.5)) * 60
    assert sigma_arcmin == pytest.approx(1.7 * JND_ARCMIN, abs=0.02)
    for heights in (0.01, 0.5, 10):
        one, two, three = Distance.Options(heights=heights).blurs
        assert 0 < one < two < three <= 50
    assert Distance.Options(radii=(3, 5, 7)).blurs == (3, 5, 7)
