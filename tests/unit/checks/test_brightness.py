"""brightness: what is drawn, how it is judged, and how often a blind guess passes."""

from __future__ import annotations

import io
import json
import struct
from collections import Counter
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from beholder.checks.brightness import (
    BETWEEN,
    COLUMNS,
    FEWEST,
    GREYS,
    ROWS,
    Brightness,
    SecondBrightness,
)
from beholder.checks.page_contract import Attempt, CheckContext, CheckTask, RobotAbilities
from beholder.errors import Refused

DEVICES = {
    "laptop": {"screen": [1280, 800], "viewport": [1280, 700], "dpr": 1},
    "scaled": {"screen": [1536, 864], "viewport": [1536, 730], "dpr": 1.25},
    "dense": {"screen": [1440, 900], "viewport": [1440, 800], "dpr": 2},
    "phone": {"screen": [390, 844], "viewport": [390, 664], "dpr": 3},
    "silent": {},
}
SEEDS = range(4)


def pose(seed: int = 1, device: Mapping[str, Any] | None = None, **rule: Any) -> tuple[Brightness, CheckTask]:
    check = Brightness(Brightness.Options(**rule))
    return check, check.pose(np.random.default_rng(seed), CheckContext(device or {}))


def squares(check: Brightness, posed: CheckTask) -> list[NDArray[np.int64]]:
    """Return the squares of the matrix as the browser decodes it, cut at the grey between them."""
    pixels = np.asarray(Image.open(io.BytesIO(check.draw(posed.private, "matrix").body))).astype(np.int64)
    is_row, is_column = ((pixels != BETWEEN).any(axis) for axis in (1, 0))
    rows, columns = (
        np.split(np.flatnonzero(inside), np.flatnonzero(np.diff(np.flatnonzero(inside)) > 1) + 1)
        for inside in (is_row, is_column)
    )
    return [pixels[row[0] : row[-1] + 1, column[0] : column[-1] + 1] for row in rows for column in columns]


def judge(check: Brightness, posed: CheckTask, **answer: Any) -> Any:
    return check.judge(Attempt(posed.private, check.read(posed.private, {"scale": 1, **answer})))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("level", [4, 1, 15])
def test_a_shape_differs_from_its_square_by_exactly_its_level_in_every_pixel(device: str, level: int) -> None:
    for seed in SEEDS:
        check, posed = pose(seed, DEVICES[device], level=level)
        shown = squares(check, posed)
        assert len(shown) == ROWS * COLUMNS
        cells: Any = posed.private["cells"]
        for square, (grey, shape, *_) in zip(shown, cells, strict=True):
            assert set(np.unique(square)) == ({grey, grey + level} if shape else {grey})
            assert (square == grey).mean() > 0.5
        counts: Any = posed.private["counts"]
        assert sum(len(np.unique(square)) == 2 for square in shown) == sum(counts.values())


def test_a_circle_is_as_wide_at_its_head_as_at_its_foot_and_a_triangle_is_not() -> None:
    for seed in SEEDS:
        check, posed = pose(seed, DEVICES["dense"])
        cells: Any = posed.private["cells"]
        for square, (grey, shape, *_) in zip(squares(check, posed), cells, strict=True):
            if not shape:
                continue
            widths = (square > grey).sum(1)
            widths = widths[widths > 0]
            upper, lower = np.array_split(widths, 2)
            share = upper.sum() / lower.sum()
            assert (0.9 < share < 1.1) if shape == "circle" else share < 0.5


def test_a_row_has_four_different_greys_and_every_square_is_seen() -> None:
    for seed in SEEDS:
        _, posed = pose(seed)
        cells: Any = posed.private["cells"]
        for row in range(ROWS):
            assert len({cell[0] for cell in cells[row * COLUMNS : (row + 1) * COLUMNS]}) == COLUMNS
        assert min(posed.private["counts"].values()) >= FEWEST  # type: ignore[union-attr]
    assert min(abs(grey - BETWEEN) for grey in GREYS) >= 25


def test_each_attempt_is_a_new_matrix_and_the_same_seed_the_same() -> None:
    drawn = [pose(seed)[1].private["cells"] for seed in SEEDS]
    assert len({json.dumps(cells) for cells in drawn}) == len(drawn)
    assert pose(3)[1] == pose(3)[1]


@pytest.mark.parametrize(("device", "most"), [("phone", 326), ("laptop", 416), ("dense", 416)])
def test_the_matrix_fits_its_window(device: str, most: int) -> None:
    check, posed = pose(1, DEVICES[device])
    image = Image.open(io.BytesIO(check.draw(posed.private, "matrix").body))
    ratio: Any = DEVICES[device]["dpr"]
    assert 0.9 * 320 < image.width / ratio <= most
    assert image.width == image.height


def test_neither_the_size_nor_what_is_written_in_a_file_tells_its_shapes() -> None:
    for device in DEVICES.values():
        bodies = [check.draw(posed.private, "matrix").body for check, posed in (pose(seed, device) for seed in SEEDS)]
        assert len({len(body) for body in bodies}) == 1
        assert {name for body in bodies for name in _chunks(body)} == {"IHDR", "IDAT", "fiLl", "IEND"}
    drawn = Image.open(io.BytesIO(pose()[0].draw(pose()[1].private, "matrix").body))
    assert pose()[1].public == {"size": list(drawn.size)}
    assert pose()[1].media == ("matrix",)


def _chunks(body: bytes) -> list[str]:
    at, names = 8, []
    while at < len(body):
        (length,) = struct.unpack(">I", body[at : at + 4])
        names.append(body[at + 4 : at + 8].decode())
        at += length + 12
    return names


def test_the_best_blind_guess_is_right_in_one_of_twenty_one_matrices() -> None:
    ways: Counter[tuple[int, int]] = Counter({(0, 0): 1})
    for _ in range(ROWS * COLUMNS):  # each square is empty, a circle or a triangle, alike often
        following: Counter[tuple[int, int]] = Counter()
        for (circles, triangles), count in ways.items():
            for more in ((0, 0), (1, 0), (0, 1)):
                following[circles + more[0], triangles + more[1]] += count
        ways = following
    assert ways.total() == 3**16
    allowed = {counts: count for counts, count in ways.items() if min(counts) >= FEWEST}
    best = max(allowed.values()) / sum(allowed.values())
    check = Brightness(Brightness.Options())
    assert check.guess_rate() == pytest.approx(best, rel=1e-12)
    assert check.guess_rate() == pytest.approx(0.0482, abs=5e-5)
    assert 1 - (1 - check.guess_rate()) ** check.options.attempts == pytest.approx(0.1793, abs=5e-5)


def test_both_counts_have_to_be_exact() -> None:
    check, posed = pose()
    counts: Any = posed.private["counts"]
    passed = judge(check, posed, **counts)
    assert (passed.verdict, passed.reason, passed.measured, passed.needed) == ("pass", "", counts, counts)
    for shape in counts:
        for off in (-1, 1):
            failed = judge(check, posed, **{**counts, shape: counts[shape] + off})
            assert (failed.verdict, failed.reason, failed.again) == ("fail", "count", False)


@pytest.mark.parametrize("scale", [0.8, 1.03, 2])
def test_a_picture_that_was_scaled_proves_nothing_and_is_shown_again(scale: float) -> None:
    check, posed = pose()
    counts: Any = posed.private["counts"]
    verdict = judge(check, posed, **counts, scale=scale)
    assert (verdict.verdict, verdict.reason, verdict.again) == ("unknown", "scaled", True)
    assert judge(check, posed, **counts, scale=1.01).verdict == "pass"
    assert judge(check, posed, **counts, scale=None).verdict == "pass"


@pytest.mark.parametrize("given", [None, "3", 2.5, True, -1, 17])
def test_a_count_that_is_none_is_refused(given: Any) -> None:
    check, posed = pose()
    with pytest.raises(Refused) as refused:
        check.read(posed.private, {"circles": 3, "triangles": given})
    assert str(refused.value) == "The number of triangles is missing"
    assert refused.value.where == "answer.triangles"
    assert refused.value.allowed == "a whole number, 0 to 16"


def test_the_second_matrix_is_silent_and_comes_once() -> None:
    second = SecondBrightness(Brightness.Options(action="gate", attempts=4, level=6))
    assert (second.action, second.options.attempts, second.options.feedback, second.options.level) == (
        "flag",
        1,
        False,
        6,
    )
    assert second.options.valid == "30 min"
    words = SecondBrightness.texts("en")
    assert not [key for key in words if key.startswith(("told.", "out", "needs"))]
    assert words["title"] == "One more time"


def test_there_are_words_for_every_reason() -> None:
    words = Brightness.texts("en")
    assert {key for key in words if key.startswith("told.")} == {"told.count", "told.scaled"}
    assert {"needs", "out"} <= words.keys()


def test_an_able_robot_passes_and_an_unable_one_does_not() -> None:
    for make in (Brightness, SecondBrightness):
        check = make(Brightness.Options())
        for fails, verdict in ((frozenset[str](), "pass"), (frozenset({check.name}), "fail")):
            rng = np.random.default_rng(5)
            posed = check.pose(rng, CheckContext())
            answer = check.read(posed.private, check.respond(posed, RobotAbilities(fails), rng))
            assert check.judge(Attempt(posed.private, answer)).verdict == verdict
