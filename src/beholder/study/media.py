"""Where copies of the stimuli are kept for participants: the key `media` of the study file."""

from __future__ import annotations

import re
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import Field, model_validator

from beholder.study.backup import BUCKETS
from beholder.study.parts import Fault, Span, StudyPart, Text, duration, raise_faults
from beholder.study.value_kinds import Allowed

MEDIA_PLACE_WORDS = "s3://bucket/folder, gs://…, az://… or a folder beside the study"
FEWEST_COPIES, MOST_COPIES = 4, 64
"""A page may show a stimulus several times, each time as another copy."""
LONGEST_VALID = "7 d"
"""What S3 and Google Cloud Storage sign for at most."""
_SEGMENT = r"[A-Za-z0-9][A-Za-z0-9._-]*"
_OWN_FOLDERS = ("analyse", "clean", "media", "plan", "report", "stimuli", "store")


class MediaHosting(StudyPart):
    """Copies of the stimuli that a bucket, or a web server in front, hands to participants."""

    to: Text = Field(
        description="Where the copies are: `s3://bucket/folder` (`gs://`, `az://`), or a folder beside the study. Its "
        "name stands in addresses that participants get. Keys of a bucket are in the environment, never here."
    )
    copies: Annotated[int, Allowed(f"a whole number, {FEWEST_COPIES} to {MOST_COPIES}")] = Field(
        default=16,
        ge=FEWEST_COPIES,
        le=MOST_COPIES,
        description="How many different copies there are of each stimulus. A session gets one for each slot, never the "
        "same twice on a page.",
    )
    delivery: Literal["signed", "server"] = Field(
        default="signed",
        description="`signed`: browsers fetch from the bucket, by addresses that are signed for them; `server`: "
        "everything goes through this server, as from a folder it always does.",
    )
    valid: Span | None = Field(
        default=None,
        description="How long a signed address holds, before the page asks for another one; as long as a session may "
        "take (`recruit.time_limit`) when left out.",
    )

    @property
    def is_bucket(self) -> bool:
        """Whether the copies are in a bucket, and not in a folder."""
        return "://" in self.to

    @property
    def is_signed(self) -> bool:
        """Whether browsers fetch from the bucket itself."""
        return self.is_bucket and self.delivery == "signed"

    @model_validator(mode="after")
    def _reachable(self) -> MediaHosting:
        faults = media_place_faults(self.to)
        if not self.is_bucket:
            for name in ({"delivery"} if self.delivery == "signed" else set()) | {"valid"}:
                if name in self.model_fields_set and getattr(self, name) is not None:
                    what = "is of a bucket, and the copies are in a folder"
                    faults.append(Fault(what, "", "Take it out, or name a bucket.", (name,)))
        elif self.valid is not None and duration(self.valid) > duration(LONGEST_VALID):
            faults.append(Fault(f"is {self.valid}", f"up to {LONGEST_VALID}", "", ("valid",)))
        raise_faults(faults)
        return self


def media_place_faults(place: str) -> list[Fault]:
    """Return what is wrong with the place for copies of the stimuli."""
    scheme, separator, rest = place.partition("://")
    if not separator:
        return _folder_faults(place)
    if re.search(r"//[^/@]*:[^/@]*@", place):
        fix = "Secrets go by the environment, such as AWS_SECRET_ACCESS_KEY."
        return [Fault("holds a password", "an address without one", fix, ("to",))]
    if scheme not in BUCKETS:
        return [Fault(f"is {place}", MEDIA_PLACE_WORDS, "", ("to",))]
    bucket, _, folder = rest.strip("/").partition("/")
    if re.fullmatch(_SEGMENT, bucket) and not folder:
        fix = "Several studies may share a bucket, each with a folder of its own."
        return [Fault(f"is {place}, without a folder", f"{scheme}://{bucket}/folder", fix, ("to",))]
    if not re.fullmatch(rf"{_SEGMENT}(/{_SEGMENT})+", rest.rstrip("/")) or urlsplit(place).query:
        allowed = f"{scheme}://bucket/folder, of letters, digits, ., _ and -"
        return [Fault(f"is {place}", allowed, "", ("to",))]
    return []


def _folder_faults(place: str) -> list[Fault]:
    first, *rest = place.rstrip("/").split("/")
    if first in _OWN_FOLDERS or not re.fullmatch(_SEGMENT, first) or not all(re.fullmatch(_SEGMENT, s) for s in rest):
        fix = "Give it a folder of its own, such as copies."
        return [Fault(f"is {place}", MEDIA_PLACE_WORDS, fix, ("to",))]
    return []
