"""Media from their place: by signed addresses, or through the server; and whose pages may fetch them."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from beholder.buckets.connection import Bucket, BucketAway, BucketError, CopyStore
from beholder.buckets.disguises import SECRET_FILE, Copy, DisguisedCopies, content_type
from beholder.buckets.upload import Progress, compare_copies, open_place, upload_copies
from beholder.errors import Problem
from beholder.formats import plural
from beholder.stimuli.catalogue import Catalogue
from beholder.study.media import LONGEST_VALID
from beholder.study.model import Study
from beholder.study.parts import duration

if TYPE_CHECKING:
    import httpx

_log = logging.getLogger("beholder.media")
_STRANGER = "https://stranger.example"
"""An origin that no study has."""


@dataclass(frozen=True)
class StoredCopy:
    """A copy as the server passes it on: any range of it is read from its place."""

    place: CopyStore
    copy: Copy

    @property
    def size(self) -> int:
        return self.copy.size

    @property
    def content_type(self) -> str:
        return content_type(self.copy)

    def read(self, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
        try:
            yield from self.place.read(self.copy.key, start, stop)
        except FileNotFoundError:
            fix = "`beholder media upload` brings it back."
            raise BucketAway(Problem(self.place.address, f"has lost {self.copy.key}", "", fix)) from None


@dataclass(frozen=True)
class HostedMedia:
    """The copies of a study at their place, as participants get them."""

    place: CopyStore
    copies: DisguisedCopies
    valid: timedelta | None
    """How long a signed address holds; None where everything goes through the server."""

    @cached_property
    def source(self) -> str:
        """What pages may reach beside this server (a source of a content security policy); empty where nothing."""
        if self.valid is None:
            return ""
        parts = urlsplit(self.address(next(iter(self.copies.by_key.values()))))
        return f"{parts.scheme}://{parts.netloc}{parts.path.rpartition('/')[0]}/"

    def address(self, copy: Copy) -> str:
        """Return an address of a copy that holds from now on."""
        assert self.valid is not None
        assert isinstance(self.place, Bucket)
        return self.place.sign(copy.key, self.valid)

    def open(self, copy: Copy) -> StoredCopy:
        """Return the bytes of a copy."""
        return StoredCopy(self.place, copy)


def host_media(
    study: Study, catalogue: Catalogue, public_url: str, session: timedelta, progress: Progress | None = None
) -> HostedMedia:
    """Return the copies of a study at their place, uploaded where they are missing; raise what keeps people from them.

    `session`: how long a session may take, for which addresses hold.
    """
    assert study.media is not None
    before = compare_copies(study, catalogue, by_hash=False)
    if before.missing:
        missing = len(before.missing)
        what = plural(missing, "1 copy is", f"{missing} of {before.copies} copies are")
        _log.warning("%s not at %s yet, and uploaded now", what, before.address)
    copies, _ = upload_copies(study, catalogue, progress, by_hash=False)
    hosted = HostedMedia(open_place(study), copies, validity(study, session))
    problems, warnings = access_problems(study, hosted, public_url)
    if problems:
        raise BucketError(problems)
    for warning in warnings:
        _log.warning("%s", warning)
    return hosted


def validity(study: Study, session: timedelta) -> timedelta | None:
    """Return how long signed addresses of a study hold, None where it has none; `session`: how long one may take."""
    if study.media is None or not study.media.is_signed:
        return None
    return min(duration(study.media.valid) if study.media.valid else session, duration(LONGEST_VALID))


# Who may fetch from the bucket


def access_problems(study: Study, hosted: HostedMedia, public_url: str) -> tuple[list[Problem], list[Problem]]:
    """Return what keeps participants from the media of a bucket, and what lets others at it, as tried out."""
    import httpx

    if hosted.valid is None:
        return [], []
    assert study.media is not None
    copy = next(iter(hosted.copies.by_key.values()))
    address, origin = hosted.address(copy), origin_of(public_url)
    try:
        with httpx.Client(timeout=20) as client:
            own = _ask(client, address, origin)
            stranger = _ask(client, address, _STRANGER)
            bare = [client.get(_unsigned(address, name), headers={"range": "bytes=0-0"}) for name in ("", SECRET_FILE)]
    except httpx.TransportError as error:
        what = f"cannot be reached by a signed address ({type(error).__name__})"
        raise BucketError(
            study.problem("media", what, "", "See that the address of the bucket is one from outside.")
        ) from None
    problems, warnings = [], []
    if not own.is_success:
        what = f"refuses a signed address ({own.status_code})"
        fix = "See that its keys may read objects, and that the clock of this machine is right."
        problems.append(study.problem("media", what, "", fix))
    elif _allowed(own) not in (origin, "*"):
        what = f"does not let pages of {origin} read it (CORS)"
        problems.append(study.problem("media", what, "", cors_advice(study.media.to, origin)))
    elif _allowed(stranger) in (_STRANGER, "*"):
        what = f"lets pages of anybody read it (CORS); {origin} is enough"
        warnings.append(study.problem("media", what, "", cors_advice(study.media.to, origin)))
    if any(reply.is_success for reply in bare):
        what = "can be read by everybody without a signed address, and with it which files are the same"
        problems.append(study.problem("media", what, "", "Block public access to the bucket."))
    return problems, warnings


def _ask(client: httpx.Client, address: str, origin: str) -> httpx.Response:
    return client.get(address, headers={"origin": origin, "range": "bytes=0-0"})


def _allowed(reply: httpx.Response) -> str:
    return str(reply.headers.get("access-control-allow-origin", ""))


def _unsigned(address: str, name: str) -> str:
    bare = address.partition("?")[0]
    return f"{bare.rpartition('/')[0]}/{name}" if name else bare


def origin_of(public_url: str) -> str:
    """Return the origin that browsers tell a bucket: the address of the study without its path."""
    parts = urlsplit(public_url)
    return f"{parts.scheme}://{parts.netloc}"


# How to let pages of a study read a bucket


def cors_rules(scheme: str, origin: str) -> str:
    """Return the rules by which a bucket lets pages of one origin read it, as its vendor takes them."""
    if scheme == "s3":
        rule = {
            "AllowedOrigins": [origin],
            "AllowedMethods": ["GET"],
            "AllowedHeaders": ["range"],
            "MaxAgeSeconds": 3600,
        }
        return json.dumps({"CORSRules": [rule]})
    return json.dumps([{"origin": [origin], "method": ["GET"], "responseHeader": ["Range"], "maxAgeSeconds": 3600}])


def cors_command(address: str, origin: str) -> str:
    """Return the vendor's own command that sets these rules."""
    scheme, bucket = urlsplit(address).scheme, urlsplit(address).netloc
    rules = cors_rules(scheme, origin)
    if scheme == "s3":
        return f"aws s3api put-bucket-cors --bucket {bucket} --cors-configuration '{rules}'"
    if scheme == "gs":
        return f"gcloud storage buckets update gs://{bucket} --cors-file=cors.json, with {rules} in it"
    return (
        f"az storage cors add --services b --methods GET --origins {origin} --allowed-headers range "
        "--exposed-headers '' --max-age 3600"
    )


def cors_advice(address: str, origin: str) -> str:
    """Return what to do, as the end of a message."""
    return f"Run: {cors_command(address, origin)}"


def marked_names(study: Study, names: Sequence[str]) -> Iterator[Problem]:
    """Yield a warning for each condition that is named in the address of the copies, which participants can read."""
    assert study.media is not None
    for name in names:
        if len(name) > 2 and name.lower() in study.media.to.lower():
            what = f"names the condition {name}, and stands in every address that participants get"
            yield study.problem("media", what, "", "Name bucket and folder by something that tells nothing.")
