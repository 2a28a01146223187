"""Colour vision: the number fades for the eye that its plate is meant for, and for nobody else."""

from __future__ import annotations

import io
import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import beholder
from beholder.checks.colour import ColourCheck
from beholder.checks.colour.plates import (
    DIGITS,
    JITTER,
    KINDS,
    PAIRS,
    RADII,
    DrawnPlate,
    Kind,
    draw_plate,
    plate_dots,
    plate_picture,
)
from beholder.checks.page_contract import Attempt, CheckContext, RobotAbilities
from beholder.checks.pictures import LUMINANCE, decode, lightness, png
from beholder.errors import Refused, StudyError
from beholder.methods import load_study
from beholder.study import qualification as rules
from beholder.testing import write_study

Pixels = NDArray[np.float64]
SIDE = 420

# Machado, Oliveira, Fernandes 2009, severity 1.0; on linear RGB.
PROTANOPIA = np.array(
    ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998))
)
DEUTERANOPIA = np.array(
    ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881))
)
EYES = {"normal": np.eye(3), "protan": PROTANOPIA, "deutan": DEUTERANOPIA}
XYZ = np.array(
    ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750), (0.0193339, 0.1191920, 0.9503041))
)


def lab(light: Pixels) -> Pixels:
    """Return CIE L*a*b* of linear sRGB, under D65."""
    share = light @ XYZ.T / XYZ.sum(1)
    root = np.where(share > 216 / 24389, np.cbrt(np.maximum(share, 1e-9)), (24389 / 27 * share + 16) / 116)
    x, y, z = np.moveaxis(root, -1, 0)
    return np.stack((116 * y - 16, 500 * (x - y), 200 * (y - z)), -1)


def seen(light: Pixels, eye: str) -> Pixels:
    """Return how an eye sees light, as L*a*b*."""
    return lab(np.clip(light @ EYES[eye].T, 0, 1))


dots_of = cache(plate_dots)


@cache
def rendered(plate: DrawnPlate) -> tuple[Pixels, Pixels]:
    """Return what the picture shows of the dots of the number and of the ground: the light of each, in its middle."""
    with Image.open(io.BytesIO(png(plate_picture(plate, SIDE)).body)) as image:
        light = decode(np.asarray(image))
    drawn = dots_of(plate)
    across, down = np.floor((drawn.centres.T + 1) / 2 * SIDE).astype(int)
    middles = light[down, across]
    return middles[drawn.is_number], middles[~drawn.is_number]


def contrast_and_noise(plate: DrawnPlate, eye: str) -> tuple[float, float]:
    """Return how far number and ground are from each other to an eye, and how far dots are from their own class."""
    number, ground = (seen(dots_seen, eye) for dots_seen in rendered(plate))
    middles = number.mean(0), ground.mean(0)
    spread = np.concatenate([one - middle for one, middle in zip((number, ground), middles, strict=True)])
    return float(np.linalg.norm(middles[0] - middles[1])), float(np.sqrt((spread**2).sum(1).mean()))


def drawn_plates(kind: Kind) -> list[DrawnPlate]:
    return [draw_plate(kind, np.random.default_rng(seed)) for seed in range(3)]


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_a_number_fades_below_the_noise_for_its_eye_and_stays_for_the_normal_one(kind: Kind) -> None:
    for plate in drawn_plates(kind):
        contrast, noise = contrast_and_noise(plate, kind)
        assert contrast < 4.5 < noise
        contrast, noise = contrast_and_noise(plate, "normal")
        assert contrast > 35
        assert contrast > 5 * noise


@pytest.mark.parametrize("eye", EYES)
def test_the_control_plate_can_be_read_by_every_eye(eye: str) -> None:
    for plate in drawn_plates("control"):
        contrast, noise = contrast_and_noise(plate, eye)
        assert contrast > 5 * noise
        number, ground = (seen(light, eye)[:, 0] for light in rendered(plate))
        assert number.max() < ground.min() or ground.max() < number.min()  # not one dot is in doubt


@pytest.mark.parametrize(("kind", "normal", "own"), [("protan", 39, 3.7), ("deutan", 43, 2.7)])
def test_the_pairs_of_colours_are_as_far_apart_as_was_computed(kind: Kind, normal: float, own: float) -> None:
    light = [decode(colour) for colour in PAIRS[kind]]
    apart = {eye: math.dist(*(seen(one, eye) for one in light)) for eye in EYES}
    assert apart["normal"] == pytest.approx(normal, abs=0.5)
    assert apart[kind] == pytest.approx(own, abs=0.05)
    assert apart[kind] < 4 < 35 < apart["normal"]


@pytest.mark.parametrize(("kind", "copunctal"), [("protan", (0.747, 0.253)), ("deutan", (1.40, -0.40))])
def test_the_pairs_lie_on_a_line_through_the_point_that_their_eye_confuses(
    kind: Kind, copunctal: tuple[float, float]
) -> None:
    one, other = (xyz[:2] / xyz.sum() for xyz in (XYZ @ decode(colour) for colour in PAIRS[kind]))
    along, out = other - one, np.array(copunctal) - one
    away = abs(along[0] * out[1] - along[1] * out[0]) / np.linalg.norm(along)
    assert away < 0.02


@pytest.mark.parametrize("kind", ["protan", "deutan"])
def test_in_grey_nothing_is_left_of_the_number(kind: Kind) -> None:
    for plate in drawn_plates(kind):
        number, ground = (lightness(light @ LUMINANCE) for light in rendered(plate))
        assert abs(number.mean() - ground.mean()) < 0.5
        assert abs(number.std() - ground.std()) < 0.5
        assert np.ptp(number) == pytest.approx(2 * JITTER, abs=1)
        drawn = dots_of(plate)
        sizes = [np.mean(drawn.radii[drawn.is_number == side]) for side in (True, False)]
        assert sizes[0] == pytest.approx(sizes[1], rel=0.1)


@pytest.mark.parametrize("kind", KINDS)
def test_more_than_six_hundred_dots_of_three_sizes_lie_beside_each_other(kind: Kind) -> None:
    for plate in drawn_plates(kind):
        centres, radii, is_number, _ = dots_of(plate)
        assert len(radii) > 600
        assert all(np.count_nonzero(radii == radius) > 100 for radius in RADII)
        assert 100 < np.count_nonzero(is_number) < len(radii) / 2
        apart = np.linalg.norm(centres[:, None] - centres[None], axis=2) - radii[:, None] - radii[None]
        np.fill_diagonal(apart, 1)
        assert apart.min() > 0
        assert (np.linalg.norm(centres, axis=1) + radii).max() < 1


def test_a_plate_is_a_picture_in_srgb_and_nothing_else() -> None:
    check = ColourCheck(rules.Colour())
    posed = check.pose(np.random.default_rng(1), CheckContext({"dpr": 1, "screen": [1280, 700]}))
    assert len({len(check.draw(posed.private, name).body) for name in posed.media}) == 1
    for name in posed.media:
        body, content_type = check.draw(posed.private, name)
        assert content_type == "image/png"
        assert body == check.draw(posed.private, name).body
        assert set(chunks(body)) == {b"IHDR", b"sRGB", b"IDAT", b"fiLl", b"IEND"}  # and zeros up to a length for all
        with Image.open(io.BytesIO(body)) as image:
            assert image.mode == "RGB"
            assert image.size == (posed.private["side"], posed.private["side"])


def chunks(body: bytes) -> list[bytes]:
    """Return the names of the chunks of a PNG."""
    found, at = [], 8
    while at < len(body):
        found.append(body[at + 4 : at + 8])
        at += 12 + int.from_bytes(body[at : at + 4], "big")
    return found


def test_two_sessions_read_different_numbers_in_another_order() -> None:
    check = ColourCheck(rules.Colour())
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
    check = ColourCheck(rules.Colour())
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
    check = ColourCheck(rules.Colour())
    posed = check.pose(np.random.default_rng(5), CheckContext())
    plates: Any = posed.private["plates"]
    far = str.maketrans("0123456789", "٠١٢٣٤٥٦٧٨٩")
    written = {f"p{place}": f" {' '.join(plate['number'].translate(far))} " for place, plate in enumerate(plates, 1)}
    assert check.judge(Attempt(posed.private, check.read(posed.private, {"numbers": written}))).verdict == "pass"


def test_an_answer_without_every_number_is_refused() -> None:
    check = ColourCheck(rules.Colour())
    posed = check.pose(np.random.default_rng(5), CheckContext())
    for numbers in (None, {}, {"p1": "22", "p2": "33"}, {"p1": "22", "p2": "33", "p3": " "}, {"p1": 2, "p2": 3}):
        with pytest.raises(Refused, match="A number is missing"):
            check.read(posed.private, {"numbers": numbers})


def test_one_number_is_guessed_once_in_thirty_six_times() -> None:
    assert ColourCheck(rules.Colour()).guess_rate() == 1 / 36
    assert ColourCheck(rules.Colour(images=(rules.Plate(file="a.png", answer="7"),))).guess_rate() == 0


@pytest.mark.parametrize(
    ("fails", "verdict"),
    [((), "pass"), (("colour",), "fail"), (("colour:protan",), "fail"), (("colour:control",), "unknown")],
)
def test_a_robot_passes_or_fails_as_it_is_able_to(fails: tuple[str, ...], verdict: str) -> None:
    check = ColourCheck(rules.Colour())
    rng = np.random.default_rng(3)
    posed = check.pose(rng, CheckContext())
    answer = check.read(posed.private, check.respond(posed, RobotAbilities(frozenset(fails)), rng))
    assert check.judge(Attempt(posed.private, answer)).verdict == verdict


# Images of the study's own


OWN = {
    "images": [{"file": "plates/a.png", "answer": "Duck"}, {"file": "plates/b.jpg", "answer": "12", "control": True}]
}


def paint(folder: Path) -> None:
    """Paint two images, with words in them that nobody should read."""
    from PIL.PngImagePlugin import PngInfo

    told = PngInfo()
    told.add_text("answer", "Duck")
    (folder / "plates").mkdir(parents=True)
    Image.new("RGB", (60, 30), (200, 10, 10)).save(folder / "plates" / "a.png", pnginfo=told)
    Image.new("RGB", (30, 60), (10, 10, 200)).save(folder / "plates" / "b.jpg", comment=b"12")


def test_own_images_are_shown_without_their_names_and_read_by_their_answers(tmp_path: Path) -> None:
    paint(tmp_path)
    check = ColourCheck(rules.Colour.model_validate(OWN), tmp_path)
    posed = check.pose(np.random.default_rng(2), CheckContext())
    assert str(tmp_path) not in str(posed.private), "a path of this machine would be kept"
    side = posed.private["side"]
    assert posed.public == {"plates": ["p1", "p2"], "is_text": True, "size": [side, side]}
    bodies = [check.draw(posed.private, name).body for name in posed.media]
    for body in bodies:
        assert set(chunks(body)) == {b"IHDR", b"sRGB", b"IDAT", b"IEND"}
        with Image.open(io.BytesIO(body)) as image:
            assert max(image.size) == posed.private["side"]
            assert 2 * min(image.size) == max(image.size)
    answers = {"own": "duck", "control": "12"}
    plates: Any = posed.private["plates"]
    numbers = {f"p{place}": answers[plate["kind"]] for place, plate in enumerate(plates, 1)}
    assert check.judge(Attempt(posed.private, check.read(posed.private, {"numbers": numbers}))).verdict == "pass"


def test_every_problem_with_own_images_is_told_at_once(tmp_path: Path, tiny: Path) -> None:
    images = [
        {"file": "plates/a.png", "answer": "7", "control": True},
        {"file": "plates/none.png", "answer": "7", "control": True},
        {"file": "plates/words.png", "answer": "7", "control": True},
        {"file": "../away.png", "answer": "7", "control": True},
    ]
    path = write_study(tmp_path / "study", tiny, qualification={"colour": {"images": images}})
    paint(path.parent)
    (path.parent / "plates" / "words.png").write_text("not a picture", "utf-8")
    with pytest.raises(StudyError) as caught:
        beholder.check(path)
    line, *_ = (n for n, text in enumerate(path.read_text("utf-8").splitlines(), 1) if "images:" in text)
    lines = {place: line + 1 + 3 * place for place in range(4)}
    assert str(caught.value).splitlines() == [
        f"study.yaml:{line}  qualification.colour.images are all control plates, which everybody can read. "
        "Allowed: at least one plate without control. Leave out control where colour has to be seen.",
        f"study.yaml:{lines[1]}  qualification.colour.images.1.file is plates/none.png, and there is no such file. "
        "Allowed: an image in the study folder, such as plates/29.png.",
        f"study.yaml:{lines[2]}  qualification.colour.images.2.file is plates/words.png, which is not an image. "
        "Allowed: an image in the study folder, such as plates/29.png. Save it as PNG.",
        f"study.yaml:{lines[3]}  qualification.colour.images.3.file is ../away.png, outside the study folder. "
        "Allowed: a path inside the study folder, with / between folders. Move it into the study folder.",
    ]


def test_a_study_with_good_images_of_its_own_can_be_checked(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path / "study", tiny, qualification={"colour": OWN})
    paint(path.parent)
    assert load_study(path).qualification.rule("colour") == rules.Colour.model_validate(OWN)
    beholder.check(path)
