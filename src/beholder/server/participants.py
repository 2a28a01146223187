"""Who is at the door: read from the parameters of the address."""

from __future__ import annotations

import hmac
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from beholder.errors import Refused
from beholder.serve import tokens
from beholder.serve.block_list import BlockList
from beholder.serve.lab.keys import read_seat
from beholder.serve.returning import home
from beholder.study.model import Study
from beholder.types import Mode

_PLATFORMS = {"participant": "link", "PROLIFIC_PID": "prolific"}
"""Parameters of an open link that carry somebody's id, and whose id it is."""
LAB, NUMBER = "lab", "number"
"""Where people are known by a seat, or by a numbered link: another study has the same numbers, and other people."""
PROLIFIC = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
"""What Prolific calls the person, the posting and the visit."""
_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")
_PLACEHOLDER = re.compile(r"\{\{|\{.+\}|%.+%|<.+>|\[.+\]")
"""What a platform or a mail program should have filled in, such as {{id}}, ${ID}, %SURVEY_CODE% or [ID]."""


@dataclass(frozen=True)
class Guest:
    """A person, a robot or the researcher, as the address tells."""

    mode: Mode
    participant: str = ""
    session: str | None = None
    platform: str = ""
    platform_id: str = ""
    posting: str = ""
    """The study's own id on the platform, where it has one."""
    submission: str = ""
    """The visit as the platform counts it, where it passes one."""
    list: int = 1
    """Which list a preview is of."""
    wants_more: bool = False
    """Whether somebody who has finished a session wants another one."""


class _Known(NamedTuple):
    """Who somebody is on a platform, and under which of its ids they came."""

    platform: str
    id: str
    posting: str = ""
    submission: str = ""


def identify(
    params: Mapping[str, str], secret: bytes, study: Study, words: Mapping[str, str], blocked: BlockList
) -> Guest:
    """Return who arrives; somebody without any id is a new anonymous person where the link is open, else refused."""
    if "preview" in params:
        if not hmac.compare_digest(params["preview"].encode(), tokens.preview_secret(secret).encode()):
            raise Refused(words["unknown_token"], where="preview", code="unknown_token", status=401)
        number = params.get("list", "1")
        return Guest("preview", list=int(number) if number.isdecimal() and len(number) < 10 else 0)
    if "robot" in params:
        robot = params["robot"]
        signature = tokens.robot_signature(secret, robot)
        if not hmac.compare_digest(params.get("signature", "").encode(), signature.encode()):
            raise Refused(words["unknown_token"], where="signature", code="unknown_token", status=401)
        return Guest("robot", tokens.pseudonym(secret, "robot", robot))
    if study.recruit.mode == "lab" and params.keys().isdisjoint(("again", "resume")):
        seat = read_seat(secret, params.get("seat", ""))
        if seat is None:
            raise Refused(words["lab"], where="seat", code="closed", status=403)
        return Guest("lab", tokens.pseudonym(secret, LAB, str(seat)), platform=LAB, platform_id=str(seat))
    known = _known(params, secret, study, words, blocked)
    if known is not None:
        return known
    if "again" in params:
        return Guest("link", session=tokens.read_token(secret, study.name, params["again"]).session, wants_more=True)
    if "resume" in params:
        return Guest("link", session=tokens.read_token(secret, study.name, params["resume"]).session)
    if study.recruit.mode != "link" or study.recruit.single_use:
        raise _refusal(study, words, "no_id")
    return Guest("link", tokens.pseudonym(secret, "anonymous", secrets.token_hex(16)))


def _known(
    params: Mapping[str, str], secret: bytes, study: Study, words: Mapping[str, str], blocked: BlockList
) -> Guest | None:
    """Return who somebody is on the platform that they came from; None where the address does not tell."""
    recruit = study.recruit
    found: _Known | None
    if "invited" in params and recruit.mode in ("link", "panel"):
        invited = tokens.read_invitation(secret, params["invited"].strip())
        if invited is None:
            raise _refusal(study, words, "no_id", "invited")
        is_numbered = recruit.mode == "link" and recruit.people is None
        found = _Known(NUMBER if is_numbered else recruit.mode, invited)
    elif recruit.mode == "link":
        found = None if recruit.single_use else _open(params, study, words)
    else:
        found = _passed(params, study, words)
    if found is None:
        return None
    if blocked.has(found.id):
        raise _refusal(study, words, "blocked")
    participant = tokens.pseudonym(secret, found.platform, found.id)
    return Guest(
        recruit.mode,
        participant,
        platform=found.platform,
        platform_id=found.id,
        posting=found.posting,
        submission=found.submission,
    )


def _open(params: Mapping[str, str], study: Study, words: Mapping[str, str]) -> _Known | None:
    """Return the platform and the id that an open link was given; a placeholder, which all would share, is refused."""
    for name, platform in _PLATFORMS.items():
        if value := params.get(name, "").strip():
            if _PLACEHOLDER.fullmatch(value.lstrip("$")):
                raise _refusal(study, words, "placeholder", name)
            return _Known(platform, value)
    return None


def _passed(params: Mapping[str, str], study: Study, words: Mapping[str, str]) -> _Known | None:
    """Return the platform, and the ids of person, posting and visit that it passed; what is no id raises Refused."""
    recruit = study.recruit
    names = PROLIFIC if recruit.mode == "prolific" else (recruit.id_parameter, None, recruit.visit_parameter)
    values = [params.get(name, "").strip() if name else "" for name in names]
    if any(map(_PLACEHOLDER.search, values)):
        raise _refusal(study, words, "placeholder")
    if not values[0] or (recruit.mode == "prolific" and not all(values)):
        return None
    for name, value in zip(names, values, strict=True):
        if value and not _ID.fullmatch(value):
            raise _refusal(study, words, "odd_id", name or "")
    return _Known(recruit.mode, *values)


def _refusal(study: Study, words: Mapping[str, str], code: str, where: str = "") -> Refused:
    """Return why somebody cannot come in, with the platform's own page to go back to."""
    back = home(study)
    return Refused(words[code], where=where, code=code, status=403, more={"return_url": back} if back else None)
