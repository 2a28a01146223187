"""Mistakes in `qualification`: what is wrong, and what to write."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.testing import write_study

EACH = "action, feedback, attempts"
POOL = [{"id": "q1", "text": "?", "options": ["a"], "correct": "a"}]


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("{brightness: on}",
         f"brightness is on. Allowed: true or false, or a map with the keys {EACH}, valid, level and second. "
         "Write true."),
        ("{remote: off}",
         f"remote is off. Allowed: true or false, or a map with the keys {EACH} and valid. Write false."),
        ("{screen: 1280x720}",
         f"screen is 1280x720. Allowed: true or false, or a map with the keys {EACH}, valid and min. "
         "Write {min: [1280, 720]}."),
        ("{screen: {min: 1920 x 1080}}",
         "screen.min is 1920 x 1080. Allowed: two numbers of pixels, such as [1280, 720]. Write [1920, 1080]."),
        ("{screen: {min: [1280]}}",
         "screen.min is a list of 1. Allowed: two numbers of pixels, such as [1280, 720]."),
        ("{screen: {min: [1280, 720, 60]}}",
         "screen.min is a list of 3. Allowed: two numbers of pixels, such as [1280, 720]."),
        ("{screen: {min: []}}", "screen.min is empty. Allowed: two numbers of pixels, such as [1280, 720]."),
        ("{screen: {min: [720p, 3]}}", "screen.min.0 is 720p. Allowed: a whole number."),
        ("{distance: {radii: [3, 5]}}",
         "distance.radii is a list of 2. Allowed: three radii in pixels, such as [3, 5, 7]."),
        ("{device: {allow: desktop}}",
         "device.allow is desktop. Allowed: a list of desktop, tablet or phone. Write [desktop]."),
        ("{device: {allow: laptop}}", "device.allow is laptop. Allowed: a list of desktop, tablet or phone."),
        ("{device: {allow: []}}", "device.allow is empty. Allowed: a list of desktop, tablet or phone."),
        ("{colour: {images: plates}}", "colour.images is plates. Allowed: a list. Write [plates]."),
        (f"{{questions: {{items: {POOL}}}}}",
         "questions.items.0.options is a list of 1. Allowed: a list of 2 or more."),
    ],
)  # fmt: skip
def test_a_mistake_in_a_check_is_told_with_what_to_write(tmp_path: Path, tiny: Path, written: str, told: str) -> None:
    path = write_study(tmp_path, tiny)
    path.write_text(f"{path.read_text('utf-8')}qualification: {written}\n", "utf-8")
    with pytest.raises(StudyError) as raised:
        load_study(path)
    assert [str(one).partition("  ")[2] for one in raised.value.problems] == [f"qualification.{told}"]
