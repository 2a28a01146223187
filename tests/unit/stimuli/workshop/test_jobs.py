"""Jobs of the workshop: made once, nothing of others replaced, ledgers explained."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import click
import pytest

from beholder.cli import cli
from beholder.errors import StimuliError
from beholder.stimuli.workshop import WorkshopResult, make_anchors, make_stacks
from beholder.stimuli.workshop.jobs import RecipeLedger
from support.workshop_files import counter, film, refused, tones


def test_a_second_run_makes_nothing_and_a_changed_file_is_made_again(tmp_path: Path) -> None:
    for side in ("left", "right"):
        for name in ("one", "two"):
            film(tmp_path / side / f"{name}.mp4", counter(4))
    out = tmp_path / "out"
    make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert sorted(before) == [".beholder-made.json", "one.mp4", "two.mp4"]
    again = make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    assert (again.written, [path.name for path in again.kept]) == ((), ["one.mp4", "two.mp4"])
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before
    film(tmp_path / "right" / "two.mp4", counter(5)[1:])
    third = make_stacks(tmp_path / "left", tmp_path / "right", out, sound="none")
    assert ([path.name for path in third.written], [path.name for path in third.kept]) == (["two.mp4"], ["one.mp4"])


def test_a_file_of_somebody_else_is_never_replaced(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    (theirs,) = tones(tmp_path / "out" / "lowpass-3500", "one.wav")
    before = theirs.read_bytes()
    words = [f"{theirs}  is there, and is not what this command made. Choose another --out, or move it away."]
    assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == words
    assert theirs.read_bytes() == before
    theirs.unlink()
    make_anchors([one], [3500], tmp_path / "out")
    theirs.write_bytes(before)
    assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == words


def test_what_a_killed_run_left_behind_is_made_again_and_what_failed_is_nobodys(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    out = tmp_path / "out"
    (target,) = make_anchors([one], [3500], out).written
    made, ledger = target.read_bytes(), RecipeLedger(out)
    target.write_bytes(b"half of another run")
    ledger.begin([target])
    assert make_anchors([one], [3500], out) == WorkshopResult((target,), ())
    assert target.read_bytes() == made
    one.write_bytes(b"RIFF")
    for _ in range(2):
        with pytest.raises(StimuliError):
            make_anchors([one], [3500], out)
    assert target.read_bytes() == made
    target.write_bytes(b"theirs")
    assert "is not what this command made" in refused("anchor", one, "--cutoff", 3500, "--out", out)[0]


def test_a_folder_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    assert refused("anchor", one, "--cutoff", 3500, "--out", one) == [
        f"--out  is {one}, which is a file. Allowed: a folder."
    ]
    (said,) = refused("anchor", one, "--cutoff", 3500, "--out", one / "below")
    assert said.startswith(f"--out  is {one / 'below'}, which cannot be written to: ")
    assert said.endswith(". Allowed: a folder, there or to be made.")


def test_a_ledger_that_is_none_is_explained(tmp_path: Path) -> None:
    (one,) = tones(tmp_path / "sounds", "one.wav")
    ledger = tmp_path / "out" / ".beholder-made.json"
    ledger.parent.mkdir()
    for text in ("", "[]", '{"made": {"x": 3}}'):
        ledger.write_text(text, "utf-8")
        assert refused("anchor", one, "--cutoff", 3500, "--out", tmp_path / "out") == [
            f"{ledger}  is not what this command wrote. Delete it and what was made there, and run the command again."
        ]


def test_the_command_line_ends_with_2_and_no_traceback(tmp_path: Path) -> None:
    line = [sys.executable, "-m", "beholder", "media", "anchor", "gone.wav", "--cutoff", "3500", "--out", "out"]
    ended = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (2, "")
    assert ended.stderr == "gone.wav  does not exist. Look for a slip in the name.\n"


def test_the_media_commands_are_these() -> None:
    group = cli.commands["media"]
    assert isinstance(group, click.Group)
    assert list(group.commands) == ["anchor", "stack", "impair", "attention", "trap", "prepare", "upload", "probe"]
