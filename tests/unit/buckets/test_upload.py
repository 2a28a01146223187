"""Uploading copies: what is missing, verified, in random order, continued after a kill; comparing and removing."""

from __future__ import annotations

import hashlib
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from beholder.buckets import connection
from beholder.buckets.connection import Bucket, BucketAway, BucketError
from beholder.buckets.disguises import SECRET_FILE, disguise, is_key, read_secret
from beholder.buckets.upload import (
    RECORD,
    compare_copies,
    hosting_variables,
    remove_copies,
    require_media,
    upload_copies,
)
from beholder.methods import load_study
from beholder.testing import write_study
from support.hosted_study import ALL, hosted_study
from support.s3_server import S3Access


@pytest.fixture(name="s3")
def _s3(each_s3: S3Access) -> S3Access:
    """One S3 server after the other."""
    return each_s3


def test_everything_is_uploaded_once_and_is_what_a_session_gets(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    assert len(compare_copies(study, catalogue).missing) == ALL
    told: list[tuple[int, int]] = []
    copies, done = upload_copies(study, catalogue, lambda so_far, all_: told.append((so_far, all_)))
    assert told == [(number, ALL) for number in range(1, ALL + 1)]
    assert (done.uploaded, done.is_whole, done.copies) == (ALL, True, ALL)
    bucket = Bucket(study.media.to) if study.media else None
    assert bucket is not None
    assert set(bucket.held()) == {*copies.by_key, SECRET_FILE}
    for key, copy in list(copies.by_key.items())[:5]:
        assert b"".join(bucket.read(key)) == b"".join(copy.file.read())
    _, again = upload_copies(study, catalogue)
    assert again.uploaded == 0
    assert compare_copies(study, catalogue).words == (
        f"{done.address}: {ALL} of {ALL} copies ({_size(done.bytes)} in all).",
    )


def _size(count: int) -> str:
    return f"{count / 1e6:.1f} MB"


def test_another_computer_finds_the_same_copies_by_what_lies_there(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    to = s3.new_folder()
    here, there = (hosted_study(tmp_path / name, tiny, to) for name in ("here", "there"))
    copies, _ = upload_copies(*here)
    same, done = upload_copies(*there)
    assert done.uploaded == 0
    assert list(same.by_key) == list(copies.by_key)


def test_a_copy_that_was_spoiled_or_lost_is_found_by_its_hash_and_mended(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    copies, done = upload_copies(study, catalogue)
    bucket = Bucket(done.address)
    spoiled, lost = list(copies.by_key)[3:5]
    bucket.put(spoiled, iter([bytes(copies.by_key[spoiled].size)]), "video/mp4")
    bucket.remove([lost])
    found = compare_copies(study, catalogue)
    assert set(found.missing) == {spoiled, lost}
    assert (
        found.words[1] == "`beholder media upload` uploads what is missing; so does `beholder serve`, before it begins."
    )
    _, mended = upload_copies(study, catalogue)
    assert mended.uploaded == 2
    assert compare_copies(study, catalogue).is_whole


def test_where_a_place_marks_nothing_by_a_hash_everything_is_read(tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, "copies")
    copies, _ = upload_copies(study, catalogue)
    file = study.folder / "copies" / next(iter(copies.by_key))
    body = bytearray(file.read_bytes())
    body[100] ^= 1
    file.write_bytes(body)
    assert compare_copies(study, catalogue, by_hash=False).is_whole
    assert compare_copies(study, catalogue).missing == (file.name,)
    assert upload_copies(study, catalogue)[1].uploaded == 1


def test_what_arrives_otherwise_than_it_was_sent_is_removed_and_told(
    s3: S3Access, tmp_path: Path, tiny: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    put = connection.Bucket.put

    def spoil(bucket: Bucket, key: str, pieces: Any, content_type: str, **more: Any) -> str:
        body = b"".join(pieces)
        return put(bucket, key, iter([body if not is_key(key) else bytes(len(body))]), content_type, **more)

    monkeypatch.setattr(connection.Bucket, "put", spoil)
    with pytest.raises(
        BucketAway, match=r"gave back [0-9a-f]{32} otherwise than it was sent\. Run `beholder media upl"
    ):
        upload_copies(study, catalogue)
    monkeypatch.undo()
    for name, value in s3.variables.items():
        monkeypatch.setenv(name, value)
    assert len(compare_copies(study, catalogue).missing) == ALL


def test_copies_of_earlier_stimuli_stay_until_somebody_tidies(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    to = s3.new_folder()
    upload_copies(*hosted_study(tmp_path / "study", tiny, to))
    changed = write_study(tmp_path / "changed", tiny, media={"to": to, "copies": 4}, conditions=["natural", "smooth"])
    for name in ("jerky", "frozen"):
        for path in (changed.parent / "stimuli" / name).iterdir():
            path.unlink()
        (changed.parent / "stimuli" / name).rmdir()
    from beholder.buckets import upload_media

    done = upload_media(changed)
    assert (done.uploaded, len(done.surplus)) == (ALL // 2, ALL)
    assert done.words[-1] == (
        f"{ALL} copies of earlier stimuli: `beholder media upload --tidy` removes them; do so when nobody is inside "
        "who began before."
    )
    assert upload_media(changed, tidy=True).surplus == ()
    assert len(Bucket(to).held()) == ALL // 2 + 1


def test_removing_leaves_nothing_of_ours_and_everything_of_others(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    _, done = upload_copies(study, catalogue)
    bucket = Bucket(done.address)
    bucket.put("notes.txt", iter([b"mine"]), "text/plain")
    assert remove_copies(study) == ALL
    assert set(bucket.held()) == {"notes.txt"}
    assert not (study.folder / "media" / RECORD).exists()
    assert remove_copies(study) == 0


def test_copies_arrive_in_an_order_that_tells_nothing(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    copies, done = upload_copies(study, catalogue)
    listed = s3.client.list_objects_v2(Bucket="media", Prefix=done.address.removeprefix("s3://media/"))["Contents"]
    dates = {str(one["Key"]).rpartition("/")[2]: one["LastModified"] for one in listed}
    # By second, in which many arrive: the order within is that of the keys, and these are drawn.
    order = sorted(copies.by_key, key=lambda key: (dates[key], key))
    stimuli = [copies.by_key[key].file.path.name for key in order]
    assert len(set(stimuli[: len(set(stimuli))])) > len(set(stimuli)) / 2


KILLED = """
import sys, time
from pathlib import Path
from beholder.buckets import upload_media
upload_media(sys.argv[1], progress=lambda done, total: print(done, flush=True))
"""


def test_an_upload_that_is_killed_goes_on_where_it_was(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder(), copies=16)
    command = [sys.executable, "-c", KILLED, str(study.folder / "study.yaml")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ}) as process:
        assert process.stdout is not None
        while int(process.stdout.readline()) < 20:
            pass
        os.kill(process.pid, signal.SIGKILL if os.name != "nt" else signal.SIGTERM)
    place = Bucket(study.media.to) if study.media else None
    assert place is not None
    before = {key: held.tag for key, held in place.held().items() if is_key(key)}
    assert 20 <= len(before) < 256
    copies, done = upload_copies(study, catalogue)
    assert done.uploaded == 256 - len(before)
    after = place.held()
    assert {key: after[key].tag for key in before} == before
    assert all(
        after[key].tag == hashlib.md5(b"".join(copy.file.read()), usedforsecurity=False).hexdigest()
        for key, copy in copies.by_key.items()
    )


def test_a_line_of_the_record_that_was_cut_off_costs_one_look_and_nothing_else(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder())
    upload_copies(study, catalogue)
    record = study.folder / "media" / RECORD
    record.write_text(record.read_text()[:-9])
    assert compare_copies(study, catalogue).is_whole
    assert upload_copies(study, catalogue)[1].uploaded == 0


def test_two_who_upload_at_once_bring_the_same_copies(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    to = s3.new_folder()
    studies = [hosted_study(tmp_path / name, tiny, to) for name in ("one", "two")]
    commands = [[sys.executable, "-c", KILLED, str(study.folder / "study.yaml")] for study, _ in studies]
    started = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for command in commands]
    assert [process.wait() for process in started] == [0, 0]
    held = Bucket(to).held()
    assert len(held) == ALL + 1
    secret = read_secret(Bucket(to), studies[0][0])
    assert secret is not None
    assert set(held) == {*disguise(studies[0][1], secret, 4).by_key, SECRET_FILE}


def test_a_study_without_a_place_says_how_to_name_one(tmp_path: Path, tiny: Path) -> None:
    study = load_study(write_study(tmp_path, tiny))
    with pytest.raises(BucketError) as caught:
        require_media(study)
    assert str(caught.value).partition("  ")[2] == (
        "tiny names no place for its media. Write media: s3://bucket/folder; without it, everything comes from this "
        "server."
    )
    assert hosting_variables(study) == {}


def test_a_server_elsewhere_gets_the_keys_of_the_bucket(s3: S3Access, tmp_path: Path, tiny: Path) -> None:
    study, _ = hosted_study(tmp_path / "study", tiny, "s3://media/x")
    assert hosting_variables(study) == s3.variables
    folder, _ = hosted_study(tmp_path / "folder", tiny, "copies")
    assert hosting_variables(folder) == {}
