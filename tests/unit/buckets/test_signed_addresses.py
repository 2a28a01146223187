"""Signed addresses of copies: how long they hold, what pages may reach by them, and whose pages may use them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from beholder.buckets import remove_media, upload_media
from beholder.buckets.connection import BucketAway, BucketError
from beholder.buckets.signed_addresses import (
    HostedMedia,
    access_problems,
    cors_command,
    host_media,
    marked_names,
    origin_of,
    validity,
)
from beholder.methods import load_study
from beholder.stimuli.catalogue import Catalogue
from beholder.study.model import Study
from support.hosted_study import ALL, hosted_study
from support.s3_server import S3Access


@pytest.fixture(name="s3")
def _s3(each_s3: S3Access) -> S3Access:
    """One S3 server after the other."""
    return each_s3


PUBLIC, HOUR = "https://study.example.org/", timedelta(hours=1)
ORIGIN = "https://study.example.org"


@pytest.fixture
def study(s3: S3Access, tmp_path: Path, tiny: Path) -> tuple[Study, Catalogue]:
    return hosted_study(tmp_path / "study", tiny, s3.new_folder())


def rules(origin: str) -> str:
    rule = f'{{"AllowedOrigins": ["{origin}"], "AllowedMethods": ["GET"], "AllowedHeaders": ["range"], '
    return f'\'{{"CORSRules": [{rule}"MaxAgeSeconds": 3600}}]}}\''


def open_hosted(s3: S3Access, study: tuple[Study, Catalogue], valid: timedelta = HOUR) -> HostedMedia:
    s3.allow(ORIGIN)
    return host_media(*study, PUBLIC, valid)


def test_pages_may_reach_the_folder_of_the_bucket_and_nothing_else(
    s3: S3Access, study: tuple[Study, Catalogue], caplog: pytest.LogCaptureFixture
) -> None:
    hosted = open_hosted(s3, study)
    assert study[0].media is not None
    assert hosted.source == f"{s3.address}/{study[0].media.to.removeprefix('s3://')}/"
    assert caplog.messages == [f"{ALL} of {ALL} copies are not at {study[0].media.to} yet, and uploaded now"]


def test_a_bucket_that_does_not_know_the_study_is_told_with_what_to_run(
    s3: S3Access, study: tuple[Study, Catalogue]
) -> None:
    s3.allow("https://other.example.org")
    with pytest.raises(BucketError) as caught:
        host_media(*study, PUBLIC, HOUR)
    assert str(caught.value).partition("  ")[2] == (
        f"media does not let pages of {ORIGIN} read it (CORS). Run: aws s3api put-bucket-cors --bucket media "
        f"--cors-configuration {rules(ORIGIN)}"
    )


def test_a_bucket_that_lets_everybody_read_it_is_warned_of(s3: S3Access, study: tuple[Study, Catalogue]) -> None:
    hosted = open_hosted(s3, study)
    s3.allow("*")
    problems, (warning,) = access_problems(study[0], hosted, PUBLIC)
    assert problems == []
    assert warning.what == f"media lets pages of anybody read it (CORS); {ORIGIN} is enough"


def test_a_bucket_that_is_public_is_refused(s3: S3Access, study: tuple[Study, Catalogue]) -> None:
    hosted = open_hosted(s3, study)
    assert access_problems(study[0], hosted, PUBLIC) == ([], [])
    policy = (
        '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Principal": "*", "Action": "s3:GetObject", '
        '"Resource": "arn:aws:s3:::media/*"}]}'
    )
    s3.client.put_bucket_policy(Bucket="media", Policy=policy)
    try:
        (problem,), _ = access_problems(study[0], hosted, PUBLIC)
    finally:
        s3.client.delete_bucket_policy(Bucket="media")
    assert (
        problem.what == "media can be read by everybody without a signed address, and with it which files are the same"
    )
    assert problem.fix == "Block public access to the bucket."


def test_a_signature_that_is_refused_is_told(
    s3: S3Access, study: tuple[Study, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = open_hosted(s3, study)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    assert study[0].media is not None
    from beholder.buckets.connection import Bucket

    (problem,), _ = access_problems(study[0], HostedMedia(Bucket(study[0].media.to), hosted.copies, HOUR), PUBLIC)
    assert problem.what == "media refuses a signed address (403)"


def test_an_address_that_nobody_outside_reaches_is_told(
    s3: S3Access, study: tuple[Study, Catalogue], monkeypatch: pytest.MonkeyPatch
) -> None:
    hosted = open_hosted(s3, study)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    from beholder.buckets.connection import Bucket

    assert study[0].media is not None
    away = HostedMedia(Bucket(study[0].media.to), hosted.copies, HOUR)
    with pytest.raises(
        BucketError, match=r"media cannot be reached by a signed address \(ConnectError\)\. See that the"
    ):
        access_problems(study[0], away, PUBLIC)


def test_addresses_hold_as_long_as_a_session_unless_the_study_says_otherwise(tmp_path: Path, tiny: Path) -> None:
    plain, _ = hosted_study(tmp_path / "a", tiny, "s3://lab/a")
    short, _ = hosted_study(tmp_path / "b", tiny, "s3://lab/a", valid="90 s")
    proxied, _ = hosted_study(tmp_path / "c", tiny, "s3://lab/a", delivery="server")
    assert validity(plain, HOUR) == HOUR
    assert validity(plain, timedelta(days=30)) == timedelta(days=7)
    assert validity(short, HOUR) == timedelta(seconds=90)
    assert validity(proxied, HOUR) is None


def test_through_the_server_a_copy_is_read_in_ranges_and_one_that_was_lost_is_away(
    s3: S3Access, tmp_path: Path, tiny: Path
) -> None:
    study, catalogue = hosted_study(tmp_path / "study", tiny, s3.new_folder(), delivery="server")
    hosted = host_media(study, catalogue, PUBLIC, HOUR)
    assert (hosted.source, hosted.valid) == ("", None)
    copy = next(iter(hosted.copies.by_key.values()))
    opened = hosted.open(copy)
    assert (opened.size, opened.content_type) == (copy.size, "video/mp4")
    assert b"".join(opened.read(5, 50)) == b"".join(copy.file.read(5, 50))
    assert remove_media(study) == ALL
    with pytest.raises(BucketAway, match=rf"has lost {copy.key}\. `beholder media upload` brings it back"):
        b"".join(opened.read())
    assert upload_media(study).uploaded == ALL


def test_each_vendor_has_a_command_that_lets_one_origin_in() -> None:
    assert cors_command("s3://lab/x", ORIGIN) == (
        f"aws s3api put-bucket-cors --bucket lab --cors-configuration {rules(ORIGIN)}"
    )
    assert cors_command("gs://lab/x", ORIGIN) == (
        'gcloud storage buckets update gs://lab --cors-file=cors.json, with [{"origin": ["https://study.example.org"], '
        '"method": ["GET"], "responseHeader": ["Range"], "maxAgeSeconds": 3600}] in it'
    )
    assert cors_command("az://lab/x", ORIGIN) == (
        "az storage cors add --services b --methods GET --origins https://study.example.org --allowed-headers range "
        "--exposed-headers '' --max-age 3600"
    )
    assert origin_of("https://study.example.org:8443/a/") == "https://study.example.org:8443"


def test_a_place_that_names_a_condition_is_warned_of(tmp_path: Path, tiny: Path) -> None:
    study, catalogue = hosted_study(tmp_path, tiny, "s3://lab/jerky-or-not")
    (warning,) = marked_names(study, catalogue.conditions)
    assert warning.what == "media names the condition jerky, and stands in every address that participants get"
    assert not list(marked_names(load_study(study.folder / "study.yaml"), ["natural"]))
