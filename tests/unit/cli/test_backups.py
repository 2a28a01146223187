"""`beholder backup` and `beholder restore`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from support.commands import command
from support.taken_study import TakenStudy


@pytest.fixture(autouse=True)
def own_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def test_a_key_a_backup_and_the_way_back(taken: TakenStudy, tmp_path: Path) -> None:
    folder, place = taken[0], str(tmp_path / "to")
    refused = command("backup", "now", "--to", place, cwd=folder)
    assert refused.returncode == 2
    assert "has no key to encrypt it for" in refused.stderr
    made = command("backup", "key", cwd=folder)
    assert made.stdout.startswith(f"Made: {tmp_path / 'config' / 'beholder' / 'backup.key'}\n")
    assert "  key: age1" in made.stdout
    assert "AGE-SECRET" not in made.stdout
    assert command("backup", "key", cwd=folder).stdout.startswith("Kept: ")
    assert "Made and verified: " in command("backup", "now", "--to", place, cwd=folder).stdout
    listed = command("backup", "list", "--to", place, cwd=folder).stdout
    assert listed.splitlines()[0].split()[:2] == ["made", "(UTC)"]
    assert f"1 backup at {place}." in listed
    assert len(command("restore", place, "--list", cwd=folder).stdout.splitlines()) == 1
    document = json.loads(command("restore", place, str(tmp_path / "new"), "--json", cwd=folder).stdout)
    assert document["backup"]["sessions"] == 3
    assert (tmp_path / "new" / "store" / "facts.sqlite").is_file()


def test_a_key_is_not_kept_in_the_folder_of_a_study(taken: TakenStudy) -> None:
    refused = command("backup", "key", "keys/mine.key", cwd=taken[0])
    assert refused.returncode == 2
    assert refused.stderr == (
        "keys/mine.key  is in the folder of a study. Keep it elsewhere: whoever gets the study, such as the machine "
        "that serves it, could read the backups.\n"
    )


def test_a_restore_that_is_refused_ends_with_2(taken: TakenStudy, tmp_path: Path) -> None:
    refused = command("restore", str(tmp_path / "nowhere"), cwd=taken[0])
    assert refused.returncode == 2
    assert "holds no backup of Beholder" in refused.stderr
    assert "Traceback" not in refused.stderr
