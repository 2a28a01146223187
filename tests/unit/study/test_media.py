"""The key `media`: where copies of the stimuli are, in a word or with its parts; mistakes are told with their line."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import UserError
from beholder.methods import load_study
from beholder.study.serialization import study_json
from beholder.testing import write_study

PLACES = "s3://bucket/folder, gs://…, az://… or a folder beside the study"


def load(folder: Path, media: Any) -> Any:
    folder.mkdir(exist_ok=True)
    (folder / "stimuli").mkdir(exist_ok=True)
    (folder / "media").mkdir(exist_ok=True)
    like = folder / "like"
    for part in ("stimuli", "media"):
        (like / part).mkdir(parents=True, exist_ok=True)
    return load_study(write_study(folder / "study", like, media=media))


def test_a_word_is_enough(tmp_path: Path) -> None:
    media = load(tmp_path, "s3://lab/faces").media
    assert (media.to, media.copies, media.delivery, media.valid) == ("s3://lab/faces", 16, "signed", None)
    assert (media.is_bucket, media.is_signed) == (True, True)


def test_a_folder_is_served_by_this_server(tmp_path: Path) -> None:
    media = load(tmp_path, {"to": "copies", "copies": 8}).media
    assert (media.is_bucket, media.is_signed, media.copies) == (False, False, 8)


def test_where_media_are_is_no_part_of_what_people_see(tmp_path: Path) -> None:
    assert study_json(load(tmp_path / "a", None)) == study_json(load(tmp_path / "b", "s3://lab/faces"))


@pytest.mark.parametrize(
    ("media", "message"),
    [
        ("s3://lab", "media.to is s3://lab, without a folder. Allowed: s3://lab/folder. Several studies may share a "
         "bucket, each with a folder of its own."),
        ("http://lab/faces", f"media.to is http://lab/faces. Allowed: {PLACES}."),
        ("s3://lab/a b", "media.to is s3://lab/a b. Allowed: s3://bucket/folder, of letters, digits, ., _ and -."),
        ("s3://ann:key@lab/faces", "media.to holds a password. Allowed: an address without one. Secrets go by the "
         "environment, such as AWS_SECRET_ACCESS_KEY."),
        ("stimuli/x", f"media.to is stimuli/x. Allowed: {PLACES}. Give it a folder of its own, such as copies."),
        ("../copies", f"media.to is ../copies. Allowed: {PLACES}. Give it a folder of its own, such as copies."),
        ({"to": "s3://lab/faces", "copies": 2}, "media.copies is 2. Allowed: a whole number, 4 to 64."),
        ({"to": "s3://lab/faces", "valid": "8 d"}, "media.valid is 8 d. Allowed: up to 7 d."),
        ({"to": "copies", "delivery": "signed"},
         "media.delivery is of a bucket, and the copies are in a folder. Take it out, or name a bucket."),
        ({"to": "s3://lab/faces", "delivery": "proxy"}, "media.delivery is proxy. Allowed: signed or server."),
        (["a"], "media is a list. Allowed: " + PLACES + ", or {to, copies, delivery}."),
    ],
)  # fmt: skip
def test_a_mistake_is_told_with_its_line(tmp_path: Path, media: Any, message: str) -> None:
    with pytest.raises(UserError) as caught:
        load(tmp_path, media)
    where, _, words = str(caught.value).partition("  ")
    assert words == message
    assert ":" in where
