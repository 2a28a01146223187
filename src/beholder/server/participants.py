"""Participants: their identities, the block list, and the keys of a laboratory."""

from __future__ import annotations

import hmac
import logging
from dataclasses import dataclass

from beholder.server.tokens import keyed, url_text
from beholder.study.model import Study
from beholder.study.recruitment import Mode

LAB, NUMBERED = "lab", "number"
"""Platforms of seats and of numbered links: another study uses the same numbers for other people."""


@dataclass(frozen=True)
class Identity:
    """A participant, a robot or the researcher, as identified by the address."""

    mode: Mode
    participant: str = ""
    session: str | None = None
    platform: str = ""
    platform_id: str = ""
    posting: str = ""
    """The id of the study on the platform, if any."""
    submission: str = ""
    """The id of the visit on the platform, if it passes one."""
    preview: int | None = None
    """The list of a preview."""
    is_proven: bool = False
    """Whether more than a readable id shows that it is this person: a signature, or a visit that only they know."""
    is_signed: bool = False
    """Whether the platform itself has signed this visit, so that its list need not be asked."""
    kept: str = ""
    """Their session whose token the browser has kept: the only one with which a readable id goes on."""
    wants_more: bool = False
    """Whether a participant who has finished a session asks for another one."""


# Block list

_log = logging.getLogger("beholder.server")


class BlockList:
    """The platform ids in recruit.block. The file is read every time, so that a new line counts at once."""

    def __init__(self, study: Study) -> None:
        self._name = study.recruit.block
        self._path = study.folder / self._name if self._name else None
        self._ids: frozenset[str] = frozenset()
        self._read()

    def has(self, id: str) -> bool:
        """Return whether an id is in the list."""
        self._read()
        return id in self._ids

    def _read(self) -> None:
        """Read the list; while it cannot be read, keep the last one."""
        if self._path is None:
            return
        try:
            lines = self._path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            _log.warning("recruit.block: %s cannot be read, so it stays as it was: %s", self._name, error)
        else:
            self._ids = frozenset(line.strip() for line in lines)


# Keys of a laboratory

OPERATOR = "operator"


def lab_key(secret: bytes, place: str) -> str:
    """Return the secret part of the address of a station (its number) or of the operator."""
    return url_text(keyed(secret, "lab", place), 12)


def is_lab_key(secret: bytes, place: str, key: str) -> bool:
    """Return whether this is the key of a station or of the operator."""
    return hmac.compare_digest(key.encode(), lab_key(secret, place).encode())


def seat_token(secret: bytes, number: int) -> str:
    """Return the signed token of a seat number."""
    return f"{number}.{url_text(keyed(secret, 'seat', str(number)))}"


def read_seat_token(secret: bytes, text: str) -> int | None:
    """Return the seat number of a token; None for a forged one."""
    number = text.partition(".")[0]
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return None
    return int(number) if hmac.compare_digest(text.encode(), seat_token(secret, int(number)).encode()) else None
