"""What the listening checks share: how often something may be played, and what their pages send besides the answer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.checks.contract import refuse
from beholder.types import Json

PLAYS = 2
"""How often a sound may be heard to its end. A cough in the first must not cost anybody the study.

The second time tells nothing new to who sits before loudspeakers. The page counts, so it can be forged: evidence only.
"""
_MOST_PLAYS = 99
_WHY = ("start", "decode", "missing")


def heard(answer: Mapping[str, Json], number: int) -> dict[str, Json]:
    """Return how often each sound was played, and through what, as it is kept."""
    plays, output = answer.get("plays"), answer.get("output")
    read: dict[str, Json] = {"plays": None, "output": None}
    if isinstance(plays, Sequence) and len(plays) == number and all(_is_whole(one, _MOST_PLAYS) for one in plays):
        read["plays"] = list(plays)
    if isinstance(output, Mapping):
        channels, rate = output.get("channels"), output.get("rate")
        if _is_whole(channels, 64) and _is_whole(rate, 1_000_000):
            read["output"] = {"channels": channels, "rate": rate}
    return read


def blocked(answer: Mapping[str, Json]) -> dict[str, Json] | None:
    """Return why no sound could be played, as it is kept; None where it could."""
    if answer.get("blocked") is not True:
        return None
    why = answer.get("why")
    return {"blocked": True, "why": why if why in _WHY else None}


def choices(answer: Mapping[str, Json], name: str, number: int, allowed: Sequence[Json]) -> list[Json]:
    """Return one choice for each sound, or raise Refused."""
    given = answer.get(name)
    words = f"{number} of " + ", ".join(str(one) for one in allowed)
    if not isinstance(given, list) or len(given) != number:
        raise refuse(name, "There is not one choice for each sound", words)
    for one in given:
        if isinstance(one, bool) or one not in allowed:
            raise refuse(name, "A choice is none of those that were offered", words)
    return list(given)


def _is_whole(value: Json, most: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most
