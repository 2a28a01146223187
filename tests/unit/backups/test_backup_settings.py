"""The backups of a server: of the study, the environment, or an option; and never without a key by accident."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path

import pytest

from beholder.backups.backup_settings import (
    backup_settings,
    deployed_variables,
    needs_obstore,
    required_settings,
)
from beholder.errors import BackupError
from beholder.methods import load_study
from beholder.study.model import Study
from beholder.testing import write_study
from support.backed_up_store import key_in


@pytest.fixture(autouse=True)
def no_key_of_this_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


def _study(folder: Path, tiny: Path, backup: object = None) -> Study:
    keys: Mapping[str, object] = {} if backup is None else {"backup": backup}
    return load_study(write_study(folder / "study", tiny, **keys))


def test_a_study_without_backups_has_none_until_somebody_gives_a_place(tmp_path: Path, tiny: Path) -> None:
    study, key = _study(tmp_path, tiny), key_in(tmp_path).public
    assert backup_settings(study, environment={}) is None
    found = backup_settings(study, "/mnt/disk", {"BEHOLDER_BACKUP_KEY": key})
    assert found is not None
    assert (found.to, found.keys, found.every, found.keep) == (
        "/mnt/disk", (key,), timedelta(minutes=10), timedelta(days=30),
    )  # fmt: skip
    assert found.words == f"Every 10 min to /mnt/disk, encrypted for {key}."
    with pytest.raises(BackupError) as caught:
        required_settings(study)
    assert str(caught.value).endswith(
        "has no place for backups. Write backup: s3://bucket/folder, sftp://user@host/folder or a folder in it; or "
        "give --to."
    )


def test_an_option_goes_before_the_environment_and_that_before_the_study(tmp_path: Path, tiny: Path) -> None:
    key = key_in(tmp_path).public
    study = _study(tmp_path, tiny, {"to": "s3://lab/x", "every": "30 s", "keep": "7 d", "key": key})
    assert needs_obstore(study)
    for place, environment, to in (
        (None, {}, "s3://lab/x"),
        (None, {"BEHOLDER_BACKUP": "/mnt/b"}, "/mnt/b"),
        ("/mnt/c", {"BEHOLDER_BACKUP": "/mnt/b"}, "/mnt/c"),
    ):
        found = backup_settings(study, place, environment)
        assert found is not None
        assert (found.to, found.keys, found.every) == (to, (key,), timedelta(seconds=30))
    assert backup_settings(study, "none", {}) is None
    assert backup_settings(study, None, {"BEHOLDER_BACKUP": "none"}) is None
    with pytest.raises(BackupError, match=r"^BEHOLDER_BACKUP  is ftp://x"):
        backup_settings(study, None, {"BEHOLDER_BACKUP": "ftp://x"})
    with pytest.raises(BackupError, match=r"^--backup  is ftp://x"):
        backup_settings(study, "ftp://x", {})


def test_without_a_key_it_is_refused_unless_said_in_words(tmp_path: Path, tiny: Path) -> None:
    study = _study(tmp_path, tiny, "backups")
    with pytest.raises(BackupError) as caught:
        backup_settings(study, environment={})
    assert str(caught.value).startswith("study.yaml:")
    assert "to backups has no key to encrypt it for. Allowed: backup.key. `beholder backup key` makes one" in str(
        caught.value
    )
    said = _study(tmp_path / "said", tiny, {"to": "backups", "unencrypted": "the disk is encrypted itself"})
    found = backup_settings(said, environment={})
    assert found is not None
    assert found.keys == ()
    assert found.words == "Every 10 min to backups, not encrypted."
    wrong = "age1" + "q" * 58
    with pytest.raises(BackupError, match="A letter of it is wrong"):
        backup_settings(study, environment={"BEHOLDER_BACKUP_KEY": wrong})


def test_the_key_of_this_machine_is_taken_where_the_study_names_none(
    tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from beholder.backups.encryption import default_identity, make_key
    from beholder.backups.seal import seal_keys_of, seal_text

    made = make_key(default_identity())
    study = _study(tmp_path, tiny, "sftp://machine/x")
    found = backup_settings(study, environment={})
    assert found is not None
    assert found.keys == (made.public,)
    # A server elsewhere gets the public half, and what it needs to get in; never the identity.
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not for sftp")
    seals = {"BEHOLDER_BACKUP_SEAL": seal_text(seal_keys_of(made.file))}
    assert deployed_variables(study) == {"BEHOLDER_BACKUP_KEY": made.public, **seals}
    monkeypatch.setenv("BEHOLDER_BACKUP", "s3://lab/x")
    assert deployed_variables(study) == {
        "BEHOLDER_BACKUP": "s3://lab/x", "AWS_SECRET_ACCESS_KEY": "not for sftp", "BEHOLDER_BACKUP_KEY": made.public,
        **seals,
    }  # fmt: skip
    monkeypatch.delenv("BEHOLDER_BACKUP")
    assert not needs_obstore(study)
