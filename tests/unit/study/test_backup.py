"""The key `backup` of a study: a place, or a place with its settings."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.errors import StudyError
from beholder.methods import load_study
from beholder.planning.digest import study_digest
from beholder.stimuli.ingestion import load_catalogue
from beholder.testing import write_study

KEY = "age1lgfa2j9scm6h6xsjjuj90mzy6yltrgcuyyevjvhs6ey9p3d3zetqgamk9x"


def test_a_place_alone_is_the_short_form(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny, backup="sftp://ada@lab.example.org/~/backups"))
    assert study.backup is not None
    assert (study.backup.to, study.backup.every, study.backup.keep) == (
        "sftp://ada@lab.example.org/~/backups", "10 min", "30 d",
    )  # fmt: skip
    assert study.backup.keys == ()
    several = load_study(write_study(tmp_path / "two", tiny, backup={"to": "x", "key": [KEY, KEY]}))
    assert several.backup is not None
    assert several.backup.keys == (KEY, KEY)


def test_where_backups_go_is_no_part_of_what_people_see(tmp_path: Path, tiny: Path) -> None:
    plain = load_study(write_study(tmp_path / "a", tiny))
    backed = load_study(write_study(tmp_path / "b", tiny, backup={"to": "s3://lab/x", "key": KEY}))
    assert study_digest(plain, load_catalogue(plain)) == study_digest(backed, load_catalogue(backed))


@pytest.mark.parametrize(
    ("backup", "words"),
    [
        ("ftp://host/x", "backup.to is ftp://host/x. Allowed: a folder, s3://bucket/folder, gs://…, az://… or sftp://"),
        (
            "sftp://ada:secret@host/x",
            "backup.to holds a password. Allowed: an address without one. Secrets go by the environment, such as "
            "AWS_SECRET_ACCESS_KEY; sftp uses the keys of ssh.",
        ),
        (
            {"to": "x", "key": "AGE-SECRET-KEY-1QQ"},
            "backup.key is the secret half of a key. Allowed: the public half of a key, which begins with age1. "
            "Take it out, and make another key",
        ),
        (
            {"to": "x", "unencrypted": "yes"},
            "backup.unencrypted is 'yes'. Allowed: three words or more. Say why, such as `unencrypted: the disk is",
        ),
        (
            {"to": "x", "unencrypted": "the disk is encrypted", "key": KEY},
            "backup.unencrypted is given beside a key. Allowed: one of the two. Take it out.",
        ),
        ({"to": "x", "every": "often"}, "backup.every is often. Allowed: a time such as 30 min, 12 h or 30 d."),
        (
            ["x"],
            "Allowed: a folder, s3://bucket/folder, gs://…, az://… or sftp://user@host/folder, or {to, every, ",
        ),
    ],
)
def test_mistakes_are_told(tmp_path: Path, tiny: Path, backup: object, words: str) -> None:
    with pytest.raises(StudyError) as caught:
        load_study(write_study(tmp_path, tiny, backup=backup))
    assert words in str(caught.value)
    assert "AGE-SECRET-KEY-1QQ" not in str(caught.value)
