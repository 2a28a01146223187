"""The group `beholder`, and its errors."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

import beholder
from beholder.errors import UserError
from beholder.testing import write_study
from support.commands import command, command_process


def test_schema_prints_json(tmp_path: Path) -> None:
    assert "properties" in json.loads(command_process("schema", cwd=tmp_path).stdout)


BAD = {
    "broken YAML": ("questions: [", "study.yaml:"),
    "an unknown key": ("colour: red", "study.yaml:"),
    "a duplicate key": ("title: Once more", "study.yaml:"),
    "zero participants": ("design: {participants: 0}", "participants"),
    "more trials than contents": ("design: {trials: 9}", "contents"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_input_gets_a_clear_error_and_exit_code_2(what: str, study: Path) -> None:
    line, expected = BAD[what]
    key = line.partition(":")[0]
    text = study.read_text("utf-8")
    if what != "a duplicate key" and f"\n{key}:" in text:
        written = yaml.safe_load(text)
        written.pop(key)
        text = yaml.safe_dump(written)
    study.write_text(f"{text}\n{line}\n", "utf-8")
    result = command("check", cwd=study.parent)
    assert result.returncode == 2, result.stdout
    assert expected in result.stderr
    assert "Traceback" not in result.stderr
    for verb in (beholder.plan, beholder.serve, beholder.run):
        with pytest.raises(UserError, match=expected):
            verb(study)


def test_a_text_file_named_mp4_and_an_empty_folder_are_explained(study: Path, tmp_path: Path, tiny: Path) -> None:
    (study.parent / "stimuli" / "jerky" / "greeting.mp4").write_text("no video", "utf-8")
    result = command("check", cwd=study.parent)
    assert result.returncode == 2
    assert "greeting.mp4" in result.stderr
    empty = write_study(tmp_path / "empty", tiny)
    for file in (empty.parent / "stimuli").rglob("*.mp4"):
        file.unlink()
    result = command("check", cwd=empty.parent)
    assert result.returncode == 2
    assert "Traceback" not in result.stderr


def test_without_a_study_file_the_message_says_how_to_begin(tmp_path: Path) -> None:
    result = command("check", cwd=tmp_path)
    assert result.returncode == 2
    assert "beholder new" in result.stderr
