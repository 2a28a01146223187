"""Where and how often backups of the answers are made: the key `backup` of the study file."""

from __future__ import annotations

import re
from typing import Annotated, Any
from urllib.parse import unquote, urlsplit

from pydantic import Field, StringConstraints, model_validator

from beholder.study.parts import Fault, Span, StudyPart, Text, raise_faults
from beholder.study.value_kinds import Allowed

BUCKETS = ("s3", "gs", "az")
"""Schemes of object stores."""
PLACE_WORDS = "a folder, s3://bucket/folder, gs://…, az://… or sftp://user@host/folder"
KEY = r"^age1[02-9ac-hj-np-z]{58}$"
KEY_WORDS = "the public half of a key, which begins with age1"
PublicKey = Annotated[str, StringConstraints(pattern=KEY), Allowed(KEY_WORDS)]
FEWEST_WORDS = 3
"""In which somebody says that they mean it."""


class Backup(StudyPart):
    """Encrypted copies of everything that people answered, made while the study is served."""

    to: Text = Field(
        description="Where they go: a folder, `s3://bucket/folder` (`gs://`, `az://`), or `sftp://user@host/folder`. "
        "Passwords and keys of such a place are in the environment, never here."
    )
    every: Span = Field(default="10 min", description="How often, while something was answered.")
    keep: Span = Field(
        default="30 d",
        description="How long: all of the last hour, one an hour for a day, one a day after that. The newest stays.",
    )
    key: PublicKey | tuple[PublicKey, ...] = Field(
        default=(),
        description="For whom they are encrypted: what `beholder backup key` prints, of one person or several. Left "
        "out: the key that is kept on this machine.",
    )
    unencrypted: Text | None = Field(
        default=None, description="Why they are not encrypted, in three words or more. Left out: they are."
    )

    @property
    def keys(self) -> tuple[str, ...]:
        """The public keys for which they are encrypted."""
        return (self.key,) if isinstance(self.key, str) else self.key

    @model_validator(mode="before")
    @classmethod
    def _no_secret(cls, data: Any) -> Any:
        if isinstance(data, dict) and "AGE-SECRET-KEY-" in str(data.get("key", "")).upper():
            fix = "Take it out, and make another key (`beholder backup key FILE`): whoever has read the study has it."
            raise_faults([Fault("is the secret half of a key", KEY_WORDS, fix, ("key",))])  # which is not repeated
        return data

    @model_validator(mode="after")
    def _readable(self) -> Backup:
        faults = [*place_faults(self.to)]
        if self.unencrypted is not None:
            if len(self.unencrypted.split()) < FEWEST_WORDS:
                why = "Say why, such as `unencrypted: the disk is encrypted itself`."
                faults.append(Fault(f"is {self.unencrypted!r}", "three words or more", why, ("unencrypted",)))
            if self.keys:
                faults.append(Fault("is given beside a key", "one of the two", "Take it out.", ("unencrypted",)))
        raise_faults(faults)
        return self


def place_faults(place: str) -> list[Fault]:
    """Return what is wrong with the address of a place; a folder is taken as it is."""
    scheme, separator, _ = place.partition("://")
    if not separator:
        return []
    fix = "Secrets go by the environment, such as AWS_SECRET_ACCESS_KEY; sftp uses the keys of ssh."
    if re.search(r"//[^/@]*:[^/@]*@", place):
        return [Fault("holds a password", "an address without one", fix, ("to",))]
    try:
        parts = urlsplit(place)
        parts.port  # noqa: B018, which is read here, and may be no number
    except ValueError:
        return [Fault(f"is {place}", PLACE_WORDS, "", ("to",))]
    if scheme not in (*BUCKETS, "sftp") or not parts.hostname or parts.query or parts.fragment:
        return [Fault(f"is {place}", PLACE_WORDS, "", ("to",))]
    if scheme in BUCKETS and (parts.port or parts.username):
        return [Fault(f"is {place}", f"{scheme}://bucket/folder", "", ("to",))]
    if scheme == "sftp" and not parts.path.strip("/"):
        fix = "A folder in the home there is written sftp://user@host/~/backups."
        return [Fault("names no folder", "sftp://user@host/folder", fix, ("to",))]
    if scheme == "sftp" and re.search(r"""[*?\[\]"'\\\x00-\x1f]""", unquote(parts.path)):
        return [Fault(f"is {place}", "a folder without quotes, \\, *, ? and [ in its name", "", ("to",))]
    return []
