"""Encryption of backups: what a key opens, and what is said where it does not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from beholder.backups.encryption import decrypt, default_identity, encrypt, make_key, public_key, recipients
from beholder.errors import BackupError


def test_what_is_encrypted_for_two_can_be_read_by_each_and_by_nobody_else(tmp_path: Path) -> None:
    ada, bob, eve = (make_key(tmp_path / name) for name in ("ada", "bob", "eve"))
    plain, encrypted, back = tmp_path / "plain", tmp_path / "walk.age", tmp_path / "back"
    content = b"what people said " * 100_000
    plain.write_bytes(content)
    encrypt(plain, encrypted, [ada.public, bob.public])
    assert b"people said" not in encrypted.read_bytes()
    for one in (ada, bob):
        decrypt(encrypted, back, one.file)
        assert back.read_bytes() == content
    with pytest.raises(BackupError) as caught:
        decrypt(encrypted, back, eve.file)
    assert str(caught.value) == (
        f"walk.age  is encrypted for another key than {eve.file} ({eve.public}). Name the file with the other half of "
        "the key for which it was made: --identity."
    )


@pytest.mark.parametrize("change", ["cut", "cut early", "changed"])
def test_damage_is_told_and_nothing_is_taken_for_whole(tmp_path: Path, change: str) -> None:
    key = make_key(tmp_path / "key")
    plain, encrypted = tmp_path / "plain", tmp_path / "walk.age"
    plain.write_bytes(os.urandom(200_000))
    encrypt(plain, encrypted, [key.public])
    content = encrypted.read_bytes()
    damaged = {
        "cut": content[:-70_000],
        "cut early": content[:100],
        "changed": content[:90_000] + bytes([content[90_000] ^ 1]) + content[90_001:],
    }[change]
    encrypted.write_bytes(damaged)
    with pytest.raises(BackupError, match=r"^walk\.age  is damaged or cut off\. Take the one before it"):
        decrypt(encrypted, tmp_path / "back", key.file)
    encrypted.write_bytes(b"something else")
    with pytest.raises(BackupError, match="is no backup in the age format"):
        decrypt(encrypted, tmp_path / "back", key.file)


def test_a_key_is_for_its_owner_and_is_never_overwritten(tmp_path: Path) -> None:
    made = make_key(tmp_path / "keys" / "backup.key")
    assert made.is_new
    assert made.file.stat().st_mode & 0o777 == 0o600
    text = made.file.read_text("utf-8")
    again = make_key(made.file)
    assert not again.is_new
    assert again.public == made.public == public_key(made.file)
    assert made.file.read_text("utf-8") == text
    assert f"# public key: {made.public}" in text


def test_files_without_a_key_and_keys_with_a_wrong_letter_are_told(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_text("# nothing\n", "utf-8")
    with pytest.raises(BackupError, match=r"holds no key\. Allowed: a line that begins with AGE-SECRET-KEY-1"):
        public_key(empty)
    with pytest.raises(BackupError, match=r"cannot be read \(No such file or directory\)\. It is the file that "):
        public_key(tmp_path / "none")
    good = make_key(tmp_path / "good").public
    wrong = good[:-1] + ("q" if good[-1] != "q" else "p")
    with pytest.raises(BackupError) as caught:
        recipients([wrong, good, "age1"])
    assert [problem.where for problem in caught.value.problems] == ["backup.key", "backup.key"]
    assert "A letter of it is wrong, or missing" in str(caught.value)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full on this system")
def test_a_full_disk_is_an_error_also_where_the_library_says_nothing(tmp_path: Path) -> None:
    key = make_key(tmp_path / "key")
    plain = tmp_path / "plain"
    plain.write_bytes(b"a few bytes, which are written at the very end")
    with pytest.raises(OSError, match="No space left"):
        encrypt(plain, Path("/dev/full"), [key.public])


def test_the_key_of_this_machine_is_in_its_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert default_identity() == tmp_path / "beholder" / "backup.key"
