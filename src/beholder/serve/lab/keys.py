"""What opens a laboratory: a key for each station, one for the operator, and who may sit down under a number."""

from __future__ import annotations

import hmac

from beholder.serve.tokens import keyed, short
from beholder.study.model import Study

OPERATOR = "operator"


def lab_key(secret: bytes, place: str) -> str:
    """Return the secret part of the address of a station (its number), or of the operator."""
    return short(keyed(secret, "lab", place), 12)


def is_key(secret: bytes, place: str, key: str) -> bool:
    """Return whether a key opens this place."""
    return hmac.compare_digest(key.encode(), lab_key(secret, place).encode())


def seat(secret: bytes, number: int) -> str:
    """Return what proves that somebody may take part under a number."""
    return f"{number}.{short(keyed(secret, 'seat', str(number)))}"


def read_seat(secret: bytes, text: str) -> int | None:
    """Return under which number somebody may take part; None where we did not write it."""
    number = text.partition(".")[0]
    if not (number.isascii() and number.isdecimal() and len(number) < 10):
        return None
    return int(number) if hmac.compare_digest(text.encode(), seat(secret, int(number)).encode()) else None


def lab_addresses(study: Study, secret: bytes, url: str) -> dict[str, str]:
    """Return the address of the operator, and that of every station, by what they are called; none elsewhere."""
    if study.recruit.mode != "lab":
        return {}
    stations = [str(number) for number in range(1, study.recruit.stations + 1)]
    operator = {"Operator": f"{url}/lab?key={lab_key(secret, OPERATOR)}"}
    return operator | {f"Station {name}": f"{url}/lab/{name}?key={lab_key(secret, name)}" for name in stations}
