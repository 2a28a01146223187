"""Presets: what they fill in."""

from __future__ import annotations

from pathlib import Path

import yaml

from beholder.methods import load_study
from beholder.study.serialization import resolved_yaml
from beholder.testing import write_study
from support.study_texts import HEAD, load


def test_the_resolved_study_has_every_threshold_of_a_preset(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny, preset="p910", qualification={"brightness": {"level": 5}}))
    shown = yaml.safe_load(resolved_yaml(study))["qualification"]
    assert shown["screen"] == {
        "action": "gate", "feedback": True, "attempts": 3, "valid": None, "min": [1280, 720],
    }  # fmt: skip
    assert (shown["brightness"]["level"], shown["brightness"]["attempts"]) == (5, 4)
    assert (shown["tones"], shown["questions"]) == (False, False)


def test_preset_none_is_accepted(tmp_path: Path) -> None:
    assert load(tmp_path, HEAD + "preset: none\n").preset == "none"
