"""A backup that somebody else has put at the place is known, and refused unless its restore is told for a reason."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from beholder.backups.backup_settings import backup_settings, deployed_variables
from beholder.backups.cycle import make_backup
from beholder.backups.destinations import open_destination
from beholder.backups.encryption import make_key
from beholder.backups.history import read_history
from beholder.backups.seal import SEAL_VARIABLE, known_seal_keys, seal_keys_of, seal_text
from beholder.errors import BackupError
from beholder.methods import load_study
from beholder.testing import write_study
from beholder.workflow.restore import restore
from support.backed_up_store import answered_in, fill, key_in, settings_to


def refusal(to: str, folder: Path, identity: Path, **options: Any) -> str:
    with pytest.raises(BackupError) as refused:
        restore(to, folder, identity=identity, **options)
    return str(refused.value)


def test_what_a_server_of_ours_has_sealed_comes_back(tmp_path: Path) -> None:
    settings = settings_to(tmp_path / "to", tmp_path)
    fill(tmp_path / "store", "ann")
    make_backup(settings, tmp_path / "store", is_forced=True)
    restore(settings.to, tmp_path / "home", identity=tmp_path / "backup.key")
    assert answered_in(tmp_path / "home" / "store") == answered_in(tmp_path / "store")
    assert "seal" not in repr(settings), "the key of the seal is printed nowhere"


def test_a_forged_backup_is_refused_unless_told(tmp_path: Path) -> None:
    settings = settings_to(tmp_path / "to", tmp_path)
    fill(tmp_path / "store", "ann")
    fill(tmp_path / "forged", "eve")
    make_backup(settings, tmp_path / "store", is_forced=True)
    # Whoever may write there knows the public key, and makes what looks like a newer backup; with a seal of their own.
    eve = make_key(tmp_path / "eve.key").file
    for seal_keys in ({}, seal_keys_of(eve), {key_in(tmp_path).public: b"guessed"}):
        make_backup(replace(settings, seal_keys=seal_keys), tmp_path / "forged", is_forced=True)
        newest = read_history(open_destination(settings.to))[-1]
        told = refusal(settings.to, tmp_path / "home", tmp_path / "backup.key")
        assert told.startswith(newest.file)
        assert "whoever may write to the place could have put it there" in told
        assert not (tmp_path / "home").exists(), "nothing is changed"
    why = "the server had no key in May"
    restore(settings.to, tmp_path / "home", identity=tmp_path / "backup.key", anyway=why)
    assert answered_in(tmp_path / "home" / "store") == answered_in(tmp_path / "forged")


def test_a_note_that_was_changed_does_not_fit_its_seal(tmp_path: Path) -> None:
    settings = settings_to(tmp_path / "to", tmp_path)
    fill(tmp_path / "store", "ann")
    made = make_backup(settings, tmp_path / "store", is_forced=True).note
    assert made is not None
    keys = seal_keys_of(tmp_path / "backup.key")
    assert made.is_sealed(keys)
    for changed in (replace(made, erasures=7), replace(made, sha256="0" * 64), replace(made, sessions=9)):
        assert not changed.is_sealed(keys)
    # Bytes of one backup under the note of another, and a note that says other bytes.
    note = tmp_path / "to" / made.name
    note.write_text(json.dumps({**made.to_json(), "erasures": 0, "sessions": 99}), "utf-8")
    assert "has a seal that does not fit" in refusal(settings.to, tmp_path / "home", tmp_path / "backup.key")
    note.write_text(json.dumps({**made.to_json(), "seals": {key_in(tmp_path).public: 1}}), "utf-8")
    assert read_history(open_destination(settings.to)) == [], "no note of ours"


def test_a_deployed_server_gets_what_seals_and_not_what_reads(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    (tmp_path / "beholder").mkdir()
    shutil.copy(key_in(tmp_path).file, tmp_path / "beholder" / "backup.key")
    study = load_study(write_study(tmp_path / "study", tiny, backup="s3://bucket/folder"))
    variables = deployed_variables(study)
    assert variables[SEAL_VARIABLE] == seal_text(seal_keys_of(key_in(tmp_path).file))
    assert "AGE-SECRET-KEY" not in str(variables)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "nowhere"))
    settings = backup_settings(study, environment=variables)
    assert settings is not None
    assert settings.seal_keys == seal_keys_of(key_in(tmp_path).file)
    with pytest.raises(BackupError, match="BEHOLDER_BACKUP_SEAL  is not what"):
        known_seal_keys({SEAL_VARIABLE: "age1:xyz"})
