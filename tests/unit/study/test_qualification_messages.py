"""What a researcher is told about a mistake in `qualification` and in the training examples."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from beholder.checks.registry import check_warnings
from beholder.errors import StimuliError, StudyError
from beholder.methods import load_study
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.serialization import resolved_yaml
from beholder.testing import write_study
from beholder.types import Medium

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
        ("{colour: {images: plates}}", "colour.images is plates. Allowed: a list."),
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


def test_the_resolved_study_has_every_threshold_of_a_preset(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny, preset="p910", qualification={"brightness": {"level": 5}}))
    shown = yaml.safe_load(resolved_yaml(study))["qualification"]
    assert shown["screen"] == {
        "action": "gate", "feedback": True, "attempts": 3, "valid": None, "min": [1280, 720],
    }  # fmt: skip
    assert (shown["brightness"]["level"], shown["brightness"]["attempts"]) == (5, 4)
    assert (shown["tones"], shown["questions"]) == (False, False)


@pytest.mark.parametrize(
    ("keys", "medium", "told"),
    [
        ({"preset": "p910"}, "audio",
         ["preset is p910, which checks eyes and screens, and the stimuli are sounds. Write preset: audio."]),
        ({"preset": "audio"}, "image",
         ["preset is audio, which checks ears and headphones, and the stimuli have no sound. "
          "Write preset: p910, or none."]),
        ({"preset": "audio", "playback": {"sound": "off"}}, "video",
         ["preset is audio, which checks ears and headphones, and the stimuli have no sound. "
          "Write preset: p910, or none."]),
        ({"preset": "audio"}, "video", []),
        ({"preset": "audio"}, "audio", []),
        ({"preset": "p910"}, "video", []),
        ({"preset": "p910"}, "image", []),
        ({}, "audio", []),
    ],
)  # fmt: skip
def test_a_preset_for_another_sense_is_told(
    tmp_path: Path, tiny: Path, keys: dict[str, Any], medium: Medium, told: list[str]
) -> None:
    study = load_study(write_study(tmp_path, tiny, **keys))
    assert [str(one).partition("  ")[2] for one in check_warnings(study, {medium})] == told


def test_two_training_examples_of_one_name_are_told_by_their_keys(tmp_path: Path, tiny: Path) -> None:
    file = {"file": "stimuli/natural/greeting.mp4"}
    study = load_study(write_study(tmp_path, tiny, training={"items": [file, file]}))
    with pytest.raises(StimuliError) as raised:
        load_catalogue(study)
    (found,) = (str(one).partition("  ")[2] for one in raised.value.problems)
    assert found == (
        "training.items.1 is content greeting under condition training again, as training.items.0 is. "
        "Allowed: one file for each content and condition. "
        "Write another training.items.1.content or training.items.1.condition."
    )


def test_one_example_that_is_not_shown_is_counted_as_one(tmp_path: Path, tiny: Path) -> None:
    assert warnings(tmp_path, tiny, ["role", "expected"], ["training", "3"], training=False) == [
        "training is false, so 1 stimulus with role training is not shown."
    ]


@pytest.mark.parametrize(
    ("columns", "cells", "told"),
    [
        (["role", "expcted"], ["training", "3"], "column expcted is a factor and does nothing. Did you mean expected?"),
        (["role", "Mesage"], ["training", ""], "column Mesage is a factor and does nothing. Did you mean message?"),
        (["roles"], ["test"], "column roles is a factor and does nothing. Did you mean role?"),
        (["role", "bitrate"], ["", "500"], None),
        (["role", "roles"], ["", "lead"], None),
    ],
)
def test_a_column_whose_name_is_nearly_known_is_told(
    tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], told: str | None
) -> None:
    assert warnings(tmp_path, tiny, columns, cells) == ([told] if told else [])


def warnings(tmp_path: Path, tiny: Path, columns: list[str], cells: list[str], **keys: Any) -> list[str]:
    """Return the warnings about a manifest with one line more than the study needs."""
    path = write_study(tmp_path, tiny, stimuli={"manifest": "list.csv"}, **keys)
    files = sorted((tmp_path / "stimuli").glob("*/*.mp4"))
    blank = [""] * len(columns)
    rows = [["file", "content", "condition", *columns]]
    rows += [[file.relative_to(tmp_path).as_posix(), file.stem, file.parent.name, *blank] for file in files]
    rows.append([rows[1][0], "more", rows[1][2], *cells])
    (tmp_path / "list.csv").write_text("".join(f"{','.join(row)}\n" for row in rows), "utf-8")
    told = [str(one).partition("  ")[2] for one in load_catalogue(load_study(path)).warnings]
    return [one for one in told if "is missing" not in one]
