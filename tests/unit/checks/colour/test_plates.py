"""Colour plates, measured in their pixels as different eyes see them."""

from __future__ import annotations

import io
import math
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.checks.colour.plates import (
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
from beholder.checks.pictures import LUMINANCE, decode, lightness, png

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
