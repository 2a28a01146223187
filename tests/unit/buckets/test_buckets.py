"""The front of the package: uploading and removing by the path of a study."""

from __future__ import annotations

from pathlib import Path

import pytest

from beholder.buckets import remove_media, upload_media
from beholder.buckets.connection import BucketError
from beholder.methods import load_study
from beholder.testing import write_study


def test_media_are_uploaded_and_removed_by_the_path_of_a_study_or_the_study(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path / "study", tiny, media={"to": "copies", "copies": 4})
    told: list[tuple[int, int]] = []
    assert upload_media(path, progress=lambda done, total: told.append((done, total))).uploaded == 64
    assert told[-1] == (64, 64)
    assert upload_media(load_study(path)).uploaded == 0
    assert remove_media(str(path)) == 64
    assert remove_media(load_study(path)) == 0
    assert list((path.parent / "copies").iterdir()) == []


def test_a_study_without_a_place_is_told_so(tmp_path: Path, tiny: Path) -> None:
    path = write_study(tmp_path, tiny)
    for verb in (upload_media, remove_media):
        with pytest.raises(BucketError, match="tiny names no place for its media"):
            verb(path)
