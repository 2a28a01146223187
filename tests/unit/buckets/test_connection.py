"""Folders of a bucket, against a real S3 server, and folders of a disk: what can be asked of them, and their words."""

from __future__ import annotations

import hashlib
import sys
from datetime import timedelta
from pathlib import Path

import httpx
import pytest

from beholder.buckets.connection import Bucket, BucketAway, BucketError, CopyStore, DiskFolder
from support.s3_server import SECRET, S3Access


@pytest.fixture(name="s3")
def _s3(each_s3: S3Access) -> S3Access:
    """One S3 server after the other."""
    return each_s3


BODY = bytes(range(256)) * 40


@pytest.fixture(params=["bucket", "folder"])
def place(request: pytest.FixtureRequest, s3: S3Access, tmp_path: Path) -> CopyStore:
    return DiskFolder(tmp_path / "deep" / "copies") if request.param == "folder" else Bucket(s3.new_folder())


def test_what_is_put_is_read_back_whole_and_in_ranges(place: CopyStore) -> None:
    assert place.held() == {}
    tag = place.put("aa", iter([BODY[:100], BODY[100:]]), "video/mp4")
    assert {key: (held.size, held.tag) for key, held in place.held().items()} == {"aa": (len(BODY), tag)}
    assert b"".join(place.read("aa")) == BODY
    assert b"".join(place.read("aa", 7)) == BODY[7:]
    assert b"".join(place.read("aa", 7, 700)) == BODY[7:700]
    place.put("aa", iter([b"other"]), "video/mp4")
    assert b"".join(place.read("aa")) == b"other"


def test_what_is_new_does_not_replace_what_is_there(place: CopyStore) -> None:
    place.put("aa", iter([b"first"]), "text/plain", is_new=True)
    with pytest.raises(FileExistsError):
        place.put("aa", iter([b"second"]), "text/plain", is_new=True)
    assert b"".join(place.read("aa")) == b"first"


def test_what_is_gone_is_gone(place: CopyStore) -> None:
    place.put("aa", iter([b"x"]), "text/plain")
    place.remove(["aa", "bb"])
    assert place.held() == {}
    with pytest.raises(FileNotFoundError):
        b"".join(place.read("aa"))


def test_a_large_file_goes_in_parts_and_a_bucket_marks_a_small_one_by_its_hash(s3: S3Access) -> None:
    bucket = Bucket(s3.new_folder())
    assert bucket.put("small", iter([BODY]), "video/mp4") == hashlib.md5(BODY, usedforsecurity=False).hexdigest()
    large = [bytes([number]) * (1 << 20) for number in range(18)]
    bucket.put("large", iter(large), "video/mp4")
    assert bucket.held()["large"].size == 18 << 20
    assert b"".join(bucket.read("large", (9 << 20) - 1, (9 << 20) + 1)) == b"\x08\x09"


def test_a_signed_address_reads_one_file_and_nothing_else(s3: S3Access) -> None:
    bucket = Bucket(s3.new_folder())
    bucket.put("aa", iter([BODY]), "video/mp4")
    address = bucket.sign("aa", timedelta(minutes=1))
    reply = httpx.get(address)
    assert (reply.status_code, reply.content) == (200, BODY)
    assert (reply.headers["content-type"], reply.headers["cache-control"]) == (
        "video/mp4", "private, max-age=31536000, immutable",
    )  # fmt: skip
    assert not [name for name in reply.headers if name.startswith("x-amz-meta")]
    assert httpx.put(address, content=b"mine").status_code == 403
    assert httpx.delete(address).status_code == 403


def test_without_keys_in_the_environment_nothing_is_asked_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AZURE_STORAGE_ACCOUNT_NAME", "GOOGLE_SERVICE_ACCOUNT"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(BucketError) as caught:
        Bucket("s3://lab/media")
    assert str(caught.value) == (
        "s3://lab/media  has no keys in the environment. Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY in the "
        "environment; the keys of a machine itself (instance metadata) are not asked for."
    )
    with pytest.raises(BucketError, match="Set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY in the"):
        Bucket("az://lab/media")
    with pytest.raises(BucketError, match="Set GOOGLE_SERVICE_ACCOUNT or GOOGLE_SERVICE_ACCOUNT_KEY or GOOGLE_APPLI"):
        Bucket("gs://lab/media")


def test_wrong_keys_are_told_without_them(s3: S3Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-secret")
    with pytest.raises(BucketAway) as caught:
        Bucket("s3://media/x").held()
    assert str(caught.value) == (
        "s3://media/x  cannot be read (SignatureDoesNotMatch). See that it is there, and that AWS_ACCESS_KEY_ID, "
        "AWS_SECRET_ACCESS_KEY are those of somebody who may write to it."
    )
    assert SECRET not in str(caught.value)


def test_without_the_extra_it_says_how_to_get_it(s3: S3Access, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "obstore", None)
    with pytest.raises(BucketError) as caught:
        Bucket("s3://media/x")
    assert str(caught.value) == 's3://media/x  needs the package obstore. Run `pip install "beholder[buckets]"`.'


def test_all_files_of_a_folder_have_one_date(tmp_path: Path) -> None:
    folder = DiskFolder(tmp_path)
    folder.put("aa", iter([b"x"]), "text/plain")
    folder.put("bb", iter([b"y"]), "text/plain")
    assert {path.stat().st_mtime for path in tmp_path.iterdir()} == {946_684_800}


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(BucketAway, match=r"file/x  cannot be written \(Not a directory\)\. See that the disk is there"):
        DiskFolder(tmp_path / "file" / "x").put("aa", iter([b"x"]), "text/plain")


# Signing alone: for these there is no server here

AZURE = {"AZURE_STORAGE_ACCOUNT_NAME": "lab", "AZURE_STORAGE_ACCOUNT_KEY": "a2V5IG9mIHRoZSBsYWI="}


def test_azure_signs_for_one_file_and_for_reading(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in AZURE.items():
        monkeypatch.setenv(name, value)
    address = httpx.URL(Bucket("az://stimuli/lab").sign("aa", timedelta(minutes=1)))
    assert (address.host, address.path) == ("lab.blob.core.windows.net", "/stimuli/lab/aa")
    assert (address.params["sp"], address.params["sr"]) == ("r", "b")
    assert {"sig", "se"} <= set(address.params)


def test_google_signs_for_one_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    import json

    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import rsa

    key = rsa.generate_private_key(public_exponent=65537, key_size=2048).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    account = tmp_path / "account.json"
    account.write_text(
        json.dumps({
            "type": "service_account", "private_key": key.decode(), "private_key_id": "1",
            "client_email": "lab@example.iam.gserviceaccount.com", "token_uri": "https://oauth2.googleapis.com/token",
        })
    )  # fmt: skip
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", str(account))
    address = httpx.URL(Bucket("gs://stimuli/lab").sign("aa", timedelta(minutes=1)))
    assert (address.host, address.path) == ("storage.googleapis.com", "/stimuli/lab/aa")
    assert address.params["X-Goog-Expires"] == "60"
    assert "X-Goog-Signature" in address.params


def test_a_bucket_of_amazon_has_a_host_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"ACCESS_KEY_ID": "a", "SECRET_ACCESS_KEY": "b", "REGION": "eu-central-1"}.items():
        monkeypatch.setenv(f"AWS_{name}", value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    address = httpx.URL(Bucket("s3://our-stimuli/lab").sign("aa", timedelta(minutes=1)))
    assert (address.host, address.path) == ("our-stimuli.s3.eu-central-1.amazonaws.com", "/lab/aa")
    dotted = httpx.URL(Bucket("s3://our.stimuli/lab").sign("aa", timedelta(minutes=1)))
    assert (dotted.host, dotted.path) == ("s3.eu-central-1.amazonaws.com", "/our.stimuli/lab/aa"), "for its certificate"
