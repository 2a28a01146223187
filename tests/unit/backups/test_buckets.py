"""Backups in an object store, against a real S3 server."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from beholder.backups.buckets import BucketDestination
from beholder.backups.destinations import DestinationAway, open_destination
from beholder.errors import BackupError
from support.backed_up_store import check_destination
from support.s3_server import SECRET, S3Server


def test_a_bucket_keeps_the_contract(s3: S3Server, tmp_path: Path) -> None:
    check_destination(open_destination("s3://backups/lab/walk"), tmp_path)


def test_folders_of_a_bucket_do_not_see_each_other(s3: S3Server, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    outer, inner = open_destination("s3://backups/a"), open_destination("s3://backups/a/b")
    inner.put("walk.1.json", file)
    assert outer.names() == []
    assert inner.names() == ["walk.1.json"]
    inner.delete("walk.1.json")


def test_wrong_credentials_and_a_bucket_that_is_missing_are_told_without_secrets(
    s3: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with pytest.raises(DestinationAway, match=r"^s3://nowhere/x  cannot be read \(NoSuchBucket\)\. See that it is "):
        open_destination("s3://nowhere/x").names()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
    with pytest.raises(DestinationAway) as caught:
        open_destination("s3://backups/x").put("a", file)
    assert str(caught.value) == (
        "s3://backups/x  cannot be written (SignatureDoesNotMatch). See that it is there, and that AWS_ACCESS_KEY_ID, "
        "AWS_SECRET_ACCESS_KEY are those of somebody who may write to it."
    )
    assert SECRET not in str(caught.value)


def test_a_server_that_does_not_answer_is_away(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    with pytest.raises(DestinationAway, match=r"cannot be read \(it does not answer\)"):
        open_destination("s3://backups/x").names()


def test_without_the_extra_it_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(BackupError) as caught:
        BucketDestination("s3://backups/x/")
    assert str(caught.value) == (
        's3://backups/x  needs the package obstore. Run `pip install "beholder[buckets]"`; or give a folder, or an '
        "address with sftp://."
    )
