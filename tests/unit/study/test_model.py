"""The study as a model: lines of its keys, equality, and where stimuli come from."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.study.model import installed_study_model
from beholder.study.serialization import digest, study_json
from support.study_texts import HEAD, INSIDE, load, refusal


def test_a_study_knows_the_line_of_each_key_and_of_what_is_around_a_missing_one(tmp_path: Path) -> None:
    study = load(tmp_path, "# A study\n" + HEAD + "conditions:\n  - a\n  - {name: b}\ndesign:\n  trials: 3\n")
    keys = ("conditions", "conditions.1", "conditions.1.name", "design.trials", "design.always.0", "stimuli.folder")
    assert [study.where(key) for key in keys] == [f"study.yaml:{line}" for line in (7, 9, 9, 11, 10, 6)]
    assert study.where("questions") == study.where("") == "study.yaml:2"
    assert str(study.problem("design.trials", "is 3", "2", "Write 2.")) == (
        "study.yaml:11  design.trials is 3. Allowed: 2. Write 2."
    )


def test_lines_are_no_part_of_what_a_study_is(tmp_path: Path) -> None:
    study, moved = load(tmp_path, HEAD), load(tmp_path, "\n\n" + HEAD)
    assert (study.where("title"), moved.where("title")) == ("study.yaml:3", "study.yaml:5")
    assert study == moved
    assert digest(study_json(study)) == digest(study_json(moved))
    assert installed_study_model().model_validate(study.model_dump()).where("title") == "study.yaml"


EXAMPLE = r"Write for example (?P<content>[^_]+)_(?P<condition>.+)\.mp4"


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("stimuli: {foldr: x}", "stimuli.foldr is not a known key. Allowed: folder, pattern, manifest and accept. "
                                "Did you mean folder?"),
        ("stimuli: {folder: a, accept: [loudnes]}",
         "stimuli.accept.0 is loudnes. Allowed: loudness, silence, channels, sample_rate, depth, frame_rate, "
         "resolution, duration, format, layout, encoders, file_size, identical or missing. Did you mean loudness?"),
        ("stimuli: {}", "stimuli names neither folder nor manifest. Allowed: one of the two."),
        ("stimuli: {folder: a, manifest: b}", "stimuli names both folder and manifest. Allowed: one of the two."),
        ("stimuli: {manifest: b, pattern: '(?P<content>.)(?P<condition>.)'}",
         "stimuli.pattern goes with folder, not with manifest. Take it out."),
        ("stimuli: {folder: a, pattern: '('}",
         "stimuli.pattern is not a regular expression: missing ) at position 1. "
         f"Allowed: a regular expression. {EXAMPLE}"),
        ("stimuli: {folder: a, pattern: '(?P<content>.)'}",
         f"stimuli.pattern has no group condition. Allowed: the groups content and condition. {EXAMPLE}"),
        ("stimuli: ../clips",
         f"stimuli is ../clips, outside the study folder. {INSIDE} Move it into the study folder."),
        ("stimuli: {manifest: /clips.csv}",
         f"stimuli.manifest is /clips.csv, an absolute path. {INSIDE} Move it into the study folder."),
        ("stimuli: [a]", "stimuli is a list. Allowed: a folder, {folder, pattern} or {manifest}."),
        ("stimuli:", "stimuli is missing. Allowed: a folder, {folder, pattern} or {manifest}."),
    ],
)  # fmt: skip
def test_a_problem_with_the_stimuli_is_told(tmp_path: Path, written: str, message: str) -> None:
    assert refusal(tmp_path, HEAD.replace("stimuli: stimuli", written)) == [f"study.yaml:5  {message}"]


def test_a_study_is_frozen(tmp_path: Path) -> None:
    study = load(tmp_path, HEAD)
    with pytest.raises(ValueError, match="frozen"):
        study.title = "Other"
