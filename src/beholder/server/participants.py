"""Identities: who arrives, read from the parameters of the address; the block list; the keys of a laboratory."""

from __future__ import annotations

import hmac
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from beholder.errors import Refused
from beholder.server import tokens
from beholder.server.endings import platform_home
from beholder.server.tokens import keyed, url_text
from beholder.study.model import Study
from beholder.study.recruitment import Mode

_PLATFORMS = {"participant": "link", "PROLIFIC_PID": "prolific"}
"""Parameters of an open link that carry a participant's id, and the platform of that id."""
LAB, NUMBERED = "lab", "number"
"""Platforms of seats and of numbered links: another study uses the same numbers for other people."""
PROLIFIC_PARAMETERS = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
"""Prolific's parameters for the participant, the posting and the submission."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACEHOLDER = re.compile(r"\{\{|\{.+\}|%.+%|<.+>|\[.+\]")
"""Placeholders that a platform or mail program should have replaced, such as {{id}}, ${ID}, %SURVEY_CODE% or [ID]."""


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
    list: int = 1
    """The list of a preview."""
    wants_more: bool = False
    """Whether a participant who has finished a session asks for another one."""


class _PlatformIds(NamedTuple):
    """The ids of a participant, posting and submission on a platform."""

    platform: str
    id: str
    posting: str = ""
    submission: str = ""


def identify(
    params: Mapping[str, str], secret: bytes, study: Study, words: Mapping[str, str], blocked: BlockList
) -> Identity:
    """Return who arrives; without any id, a new anonymous participant on an open link, else raise Refused."""
    if "preview" in params:
        if not hmac.compare_digest(params["preview"].encode(), tokens.preview_secret(secret).encode()):
            raise Refused(words["unknown_token"], where="preview", code="unknown_token", status=401)
        number = params.get("list", "1")
        return Identity("preview", list=int(number) if number.isdecimal() and len(number) < 10 else 0)
    if "robot" in params:
        robot = params["robot"]
        signature = tokens.robot_signature(secret, robot)
        if not hmac.compare_digest(params.get("signature", "").encode(), signature.encode()):
            raise Refused(words["unknown_token"], where="signature", code="unknown_token", status=401)
        return Identity("robot", tokens.pseudonym(secret, "robot", robot))
    if study.recruit.mode == "lab" and params.keys().isdisjoint(("again", "resume")):
        seat = read_seat_token(secret, params.get("seat", ""))
        if seat is None:
            raise Refused(words["lab"], where="seat", code="closed", status=403)
        return Identity("lab", tokens.pseudonym(secret, LAB, str(seat)), platform=LAB, platform_id=str(seat))
    by_platform = _platform_identity(params, secret, study, words, blocked)
    if by_platform is not None:
        return by_platform
    if "again" in params:
        return Identity("link", session=tokens.read_token(secret, study.name, params["again"]).session, wants_more=True)
    if "resume" in params:
        return Identity("link", session=tokens.read_token(secret, study.name, params["resume"]).session)
    if study.recruit.mode != "link" or study.recruit.single_use:
        raise _refusal(study, words, "no_id")
    return Identity("link", tokens.pseudonym(secret, "anonymous", secrets.token_hex(16)))


def _platform_identity(
    params: Mapping[str, str], secret: bytes, study: Study, words: Mapping[str, str], blocked: BlockList
) -> Identity | None:
    """Return the identity on the platform that sent the participant; None without platform ids in the address."""
    recruit = study.recruit
    ids: _PlatformIds | None
    if "invited" in params and recruit.mode in ("link", "panel"):
        invited = tokens.read_invitation(secret, params["invited"].strip())
        if invited is None:
            raise _refusal(study, words, "no_id", "invited")
        is_numbered = recruit.mode == "link" and recruit.people is None
        ids = _PlatformIds(NUMBERED if is_numbered else recruit.mode, invited)
    elif recruit.mode == "link":
        ids = None if recruit.single_use else _open_link_ids(params, study, words)
    else:
        ids = _passed_ids(params, study, words)
    if ids is None:
        return None
    if blocked.has(ids.id):
        raise _refusal(study, words, "blocked")
    participant = tokens.pseudonym(secret, ids.platform, ids.id)
    return Identity(
        recruit.mode,
        participant,
        platform=ids.platform,
        platform_id=ids.id,
        posting=ids.posting,
        submission=ids.submission,
    )


def _open_link_ids(params: Mapping[str, str], study: Study, words: Mapping[str, str]) -> _PlatformIds | None:
    """Return the platform and the id in an open link; a placeholder, which all would share, is refused."""
    for name, platform in _PLATFORMS.items():
        if value := params.get(name, "").strip():
            if _PLACEHOLDER.fullmatch(value.lstrip("$")):
                raise _refusal(study, words, "placeholder", name)
            return _PlatformIds(platform, value)
    return None


def _passed_ids(params: Mapping[str, str], study: Study, words: Mapping[str, str]) -> _PlatformIds | None:
    """Return the ids of participant, posting and visit that the platform passed; a malformed id raises Refused."""
    recruit = study.recruit
    names = PROLIFIC_PARAMETERS if recruit.mode == "prolific" else (recruit.id_parameter, None, recruit.visit_parameter)
    values = [params.get(name, "").strip() if name else "" for name in names]
    if any(map(_PLACEHOLDER.search, values)):
        raise _refusal(study, words, "placeholder")
    if not values[0] or (recruit.mode == "prolific" and not all(values)):
        return None
    for name, value in zip(names, values, strict=True):
        if value and not _ID.fullmatch(value):
            raise _refusal(study, words, "odd_id", name or "")
    return _PlatformIds(recruit.mode, *values)


def _refusal(study: Study, words: Mapping[str, str], code: str, where: str = "") -> Refused:
    """Return the refusal with this code, with the platform's page to return to."""
    back = platform_home(study)
    return Refused(words[code], where=where, code=code, status=403, more={"return_url": back} if back else None)


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


def lab_addresses(study: Study, secret: bytes, url: str) -> dict[str, str]:
    """Return the addresses of the operator and of every station, by name; empty outside of a laboratory."""
    if study.recruit.mode != "lab":
        return {}
    stations = [str(number) for number in range(1, study.recruit.stations + 1)]
    operator = {"Operator": f"{url}/lab?key={lab_key(secret, OPERATOR)}"}
    return operator | {f"Station {name}": f"{url}/lab/{name}?key={lab_key(secret, name)}" for name in stations}
