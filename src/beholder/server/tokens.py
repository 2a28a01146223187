"""Tokens, codes and pseudonyms, all keyed by the store's secret."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from typing import NamedTuple

from beholder.errors import Refused
from beholder.stimuli.blinding import MAX_SLOTS

_CLEAR_LETTERS = "ABCDEFGHJKMNPQRSTVWXYZ23456789"  # no letters that look or sound alike
_RECEIPT = 28


def keyed(secret: bytes, *parts: str) -> bytes:
    """Return 32 bytes that only the holder of the secret can make from these parts."""
    # BLAKE2 takes a key by design (RFC 7693, 2.9), and each step has dozens of addresses: HMAC is five times slower.
    return hashlib.blake2b("\x1f".join(parts).encode(), key=secret, digest_size=32).digest()


def url_text(digest: bytes, length: int = 16) -> str:
    """Return a digest as URL-safe text."""
    return base64.urlsafe_b64encode(digest[:length]).decode().rstrip("=")


class SessionToken(NamedTuple):
    """The study and the session of a token."""

    study: str
    session: str


def session_token(secret: bytes, study: str, session: str) -> str:
    """Return the bearer token of a session."""
    return f"{study}.{session}.{url_text(keyed(secret, 'session', study, session))}"


def read_token(secret: bytes, study: str, token: str) -> SessionToken:
    """Return the study and session of a token, or raise Refused: 403 for another study, 401 if forged."""
    parts = token.split(".")
    if len(parts) == 3 and parts[0] != study:
        raise Refused.because("other_study", where="token", code="other_study", status=403)
    if len(parts) != 3 or not hmac.compare_digest(token.encode(), session_token(secret, study, parts[1]).encode()):
        raise Refused.because("invalid_link", where="token", code="unknown_token", status=401)
    return SessionToken(study, parts[1])


def resume_address(secret: bytes, public_url: str, study: str, session: str) -> str:
    """Return the resume link of a session: whoever has it has the session."""
    return f"{public_url}/s/{study}?resume={session_token(secret, study, session)}"


class MediaAddress(NamedTuple):
    """The address of a slot of a step of a session, and the secret key of its filler bytes."""

    token: str
    filler: bytes


def media_address(secret: bytes, session: str, key: str, slot: str) -> MediaAddress:
    """Return the address of a slot; it begins with the session, so that any server can resolve it."""
    digest = keyed(secret, "media", session, key, slot)
    # The last byte is the place on the page, so that no two slots of a page get fillers of equal length.
    return MediaAddress(f"{session}-{digest[:16].hex()}", digest[16:-1] + bytes([int(slot[1:]) % MAX_SLOTS]))


def pseudonym(secret: bytes, platform: str, platform_id: str) -> str:
    """Return the pseudonym under which a participant's facts are stored."""
    return keyed(secret, "participant", platform, platform_id).hex()[:20]


def preview_secret(secret: bytes) -> str:
    """Return the secret part of the researcher's preview link."""
    return url_text(keyed(secret, "preview"), 12)


def robot_signature(secret: bytes, robot: str) -> str:
    """Return the signature of a robot."""
    return url_text(keyed(secret, "robot", robot))


def invitation(secret: bytes, invited: str) -> str:
    """Return the parameter of a personal link: the id of the person invited, signed."""
    return f"{invited}.{url_text(keyed(secret, 'invitation', invited))}"


def read_invitation(secret: bytes, text: str) -> str | None:
    """Return the id in the parameter of a personal link; None for a forged one."""
    invited = text.rpartition(".")[0]
    is_ours = hmac.compare_digest(text.encode(), invitation(secret, invited).encode())
    return invited if invited and is_ours else None


def panel_key(secret: bytes) -> str:
    """Return the secret part of the address that a panel gets: it keeps out who only guesses the id of a person."""
    return url_text(keyed(secret, "panel"), 12)


def is_panel_key(secret: bytes, key: str) -> bool:
    """Return whether this is the secret part of the address that a panel gets."""
    return hmac.compare_digest(key.strip().encode(), panel_key(secret).encode())


def completion_code(secret: bytes, session: str, outcome: str) -> str:
    """Return the completion code of a session, such as K7QM-4XPD."""
    letters = _letters(keyed(secret, "code", session, outcome), 8)
    return f"{letters[:4]}-{letters[4:]}"


def receipt_code(secret: bytes, session: str) -> str:
    """Return the receipt with which a participant can request erasure without giving a name.

    Its letters carry 137 bits, so that it cannot be guessed.
    """
    letters = _letters(keyed(secret, "receipt", session), _RECEIPT)
    return "-".join(["BH", *(letters[first : first + 4] for first in range(0, _RECEIPT, 4))])


# A separate stage

_STAGE_CODE = 6


def stage_code(secret: bytes, session: str, number: int) -> str:
    """Return the code by which another device becomes the stage of a session, such as K7QM4X; each has a number."""
    return _letters(keyed(secret, "stage code", session, str(number)), _STAGE_CODE)


class StageToken(NamedTuple):
    """The session of a stage, and the number of the code by which it was coupled."""

    session: str
    number: int


def stage_token(secret: bytes, study: str, session: str, number: int) -> str:
    """Return the bearer token of a stage, which opens nothing else."""
    return f"{study}.{session}.{number}.{url_text(keyed(secret, 'stage', study, session, str(number)))}"


def read_stage_token(secret: bytes, study: str, token: str) -> StageToken:
    """Return the session and the number of a stage's token, or raise Refused for one that is not ours."""
    parts = token.split(".")
    number = int(parts[2]) if len(parts) == 4 and re.fullmatch("[0-9]{1,4}", parts[2]) else -1
    if number < 0 or not hmac.compare_digest(token.encode(), stage_token(secret, study, parts[1], number).encode()):
        raise Refused.because("no_stage", where="token", code="no_stage", status=401)
    return StageToken(parts[1], number)


def _letters(digest: bytes, count: int) -> str:
    number = int.from_bytes(digest)
    letters = []
    for _ in range(count):
        number, index = divmod(number, len(_CLEAR_LETTERS))
        letters.append(_CLEAR_LETTERS[index])
    return "".join(letters)
