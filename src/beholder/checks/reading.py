"""Parts of an answer that a page measured: each read as what it has to be, or refused."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.checks.contract import refuse
from beholder.types import Json


def number(answer: Mapping[str, Json], name: str, least: float, most: float) -> float:
    """Return a number within bounds."""
    given = _within(answer.get(name), least, most)
    if given is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a number, {least:g} to {most:g}")
    return given


def whole(answer: Mapping[str, Json], name: str, least: int, most: int) -> int:
    """Return a whole number within bounds."""
    given = answer.get(name)
    if not isinstance(given, int) or _within(given, least, most) is None:
        raise refuse(name, f"{name} is missing or out of bounds", f"a whole number, {least} to {most}")
    return given


def pair(answer: Mapping[str, Json], name: str, least: float, most: float) -> tuple[float, float]:
    """Return two numbers within bounds."""
    found = _all_within(answer.get(name), least, most)
    if found is None or len(found) != 2:
        raise refuse(name, f"{name} is missing or out of bounds", f"two numbers, {least:g} to {most:g}")
    return found[0], found[1]


def numbers(answer: Mapping[str, Json], name: str, least: float, most: float, count: int) -> list[float]:
    """Return up to `count` numbers within bounds."""
    found = _all_within(answer.get(name), least, most)
    if found is None or len(found) > count:
        raise refuse(name, f"{name} is missing or out of bounds", f"up to {count} numbers, {least:g} to {most:g}")
    return found


def switch(answer: Mapping[str, Json], name: str) -> bool | None:
    """Return yes or no; None where the browser could not tell."""
    given = answer.get(name)
    if given is None or isinstance(given, bool):
        return given
    raise refuse(name, f"{name} is neither yes nor no", "true, false or null")


def _within(given: Json, least: float, most: float) -> float | None:
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    # Compared before it is made a float: a whole number in JSON can be larger than any of those.
    return float(given) if least <= given <= most else None


def _all_within(given: Json, least: float, most: float) -> list[float] | None:
    if not isinstance(given, list | tuple):
        return None
    found = [one for one in (_within(part, least, most) for part in given) if one is not None]
    return found if len(found) == len(given) else None
