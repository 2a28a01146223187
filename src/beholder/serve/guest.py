"""Who is at the door: read from the parameters of the address."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from beholder.errors import Refused
from beholder.serve import tokens
from beholder.study.model import Study
from beholder.types import Mode

_PLATFORMS = {"participant": "link", "PROLIFIC_PID": "prolific"}
"""Parameters that carry somebody's id, and whose id it is."""


@dataclass(frozen=True)
class Guest:
    """A person, a robot or the researcher, as the address tells."""

    mode: Mode
    participant: str = ""
    session: str | None = None
    platform: str = ""
    platform_id: str = ""
    list: int = 1
    """Which list a preview is of."""
    wants_more: bool = False
    """Whether somebody who has finished a session wants another one."""


def identify(params: Mapping[str, str], secret: bytes, study: Study, words: Mapping[str, str]) -> Guest:
    """Return who arrives; somebody without any id is a new anonymous person."""
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
    for name, platform in _PLATFORMS.items():
        value = params.get(name, "").strip()
        if value:
            if value in _blocked(study):
                raise Refused(words["blocked"], code="blocked", status=403)
            return Guest("link", tokens.pseudonym(secret, platform, value), platform=platform, platform_id=value)
    if "again" in params:
        return Guest("link", session=tokens.read_token(secret, study.name, params["again"]).session, wants_more=True)
    if "resume" in params:
        return Guest("link", session=tokens.read_token(secret, study.name, params["resume"]).session)
    return Guest("link", tokens.pseudonym(secret, "anonymous", secrets.token_hex(16)))


def _blocked(study: Study) -> frozenset[str]:
    """Return the ids in the study's block list, read anew each time, so that a line added counts at once."""
    if study.recruit.block is None:
        return frozenset()
    lines = (study.folder / study.recruit.block).read_text("utf-8").splitlines()
    return frozenset(line.strip() for line in lines)
