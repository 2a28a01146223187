"""The rules of a study: which there are, in which order, and which act at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import beholder
from beholder.checks.colour import Colour
from beholder.checks.registry import check_warnings, immediate_rules, study_rules
from beholder.checks.registry import rules as installed_rules
from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.testing import write_study
from beholder.types import Medium
from support.method_studies import make_study
from support.researcher_plates import OWN, paint


def test_every_rule_of_the_study_has_a_check_in_the_order_in_which_they_are_told() -> None:
    assert [rule.name for rule in installed_rules()] == [
        "attention", "trap", "gold", "trap_item", "repeat", "variance", "ratio", "smooth", "focus", "speed",
        "automation", "agreement", "consistency", "stuffing", "copied", "side_pattern", "postscreen", "expertise",
        "quota",
    ]  # fmt: skip
    study = make_study("acr", checks=dict.fromkeys(("ratio", "speed"), True) | {"variance": False})
    assert [check.name for check in study_rules(study)] == ["ratio", "speed", "quota"]


def test_only_rules_that_warn_retry_or_end_act_at_once() -> None:
    study = make_study("acr", checks={"smooth": {"action": "retry"}, "focus": True, "speed": {"end_after": 3}})
    assert [check.name for check in immediate_rules(study)] == ["smooth", "speed"]


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
    assert load_study(path).qualification.rule("colour") == Colour.Options.model_validate(OWN)
    beholder.check(path)


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
        ({"checks": {"agreement": True, "consistency": True}}, "video", []),
        ({"checks": {"agreement": {"action": "flag"}}}, "video",
         ["checks.agreement.action is flag, which leaves people out by how they rate what is tested: where conditions "
          "are alike, honest people go and differences are found that are not there. With record it is noted, and "
          "costs nothing."]),
    ],
)  # fmt: skip
def test_a_preset_for_another_sense_and_rules_over_ratings_that_cost_the_use_are_told(
    tmp_path: Path, tiny: Path, keys: dict[str, Any], medium: Medium, told: list[str]
) -> None:
    study = load_study(write_study(tmp_path, tiny, **keys))
    assert [str(one).partition("  ")[2] for one in check_warnings(study, {medium})] == told
