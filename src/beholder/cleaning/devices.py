"""devices.csv: on what each session was rated, as far as the browser and the checks tell it.

Nothing here tells one person from another: of a browser its name and version, of a screen its size. Language and time
zone stay in the store. Sessions without consent, or withdrawn, have no row.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from beholder.checks.card import MM_PER_INCH
from beholder.checks.device import kind_of
from beholder.cleaning import columns as c
from beholder.cleaning.sessions import JudgedSession
from beholder.columns import Column
from beholder.types import Json

DEVICES = (
    c.SESSION, c.PARTICIPANT, c.USE,
    Column("kind", "text", "What it was, by the check of the device or by what points at the screen.", c.DEVICES),
    Column("screen_width", "integer", "Long side of the screen, in device pixels."),
    Column("screen_height", "integer", "Short side of the screen, in device pixels."),
    Column("dpr", "number", "Device pixels per CSS pixel when the session began."),
    Column("refresh_hz", "number", "Refresh rate of the screen, as measured."),
    Column("ppi", "number", "Device pixels per inch, by a card held to the screen."),
    Column("width_mm", "number", "Width of the screen, by the card."),
    Column("height_mm", "number", "Height of the screen, by the card."),
    Column("diagonal_inches", "number", "Diagonal of the screen, by the card."),
    Column("mbps", "number", "Speed of the network, as measured."),
    Column("system", "text", "Operating system, in one word."),
    Column("browser", "text", "Name of the browser."),
    Column("version", "integer", "Its major version."),
    Column("input", "text", "What most trials were answered with."),
)  # fmt: skip
_PIXELS = (1, 100_000)
_RATIOS = (0.1, 20)
_SILENT = ("no_consent", "withdrawn")
_BROWSERS = {"Version": "Safari", "Edg": "Edge", "OPR": "Opera"}
"""By what the names in our log mean; Chrome stands for all that are built on it and say so first."""
_SYSTEMS = (
    ("win", "Windows"), ("iphone", "iOS"), ("ipad", "iOS"), ("ipod", "iOS"), ("ios", "iOS"), ("mac", "macOS"),
    ("android", "Android"), ("chrome", "ChromeOS"), ("cros", "ChromeOS"), ("linux", "Linux"), ("freebsd", "BSD"),
)  # fmt: skip
"""How the names begin that systems give themselves."""


def device_rows(judged: Iterable[JudgedSession]) -> Iterator[dict[str, Any]]:
    """Yield one row for each session; what is not known is an empty cell."""
    for one in judged:
        row = {"session": one.visit.session, "participant": one.visit.participant, "use": one.decision.use}
        yield row if one.visit.outcome in _SILENT else row | _device(one)


def _device(one: JudgedSession) -> dict[str, Any]:
    device = one.visit.device
    row: dict[str, Any] = {"kind": _kind(device), **_pixels(device), "dpr": _number(device.get("dpr"), _RATIOS)}
    for settled in one.qualified.settled:
        row |= settled.check.device_facts(settled.verdict)
    return {
        **row,
        **_millimetres(row["screen_width"], row["screen_height"], row.get("ppi")),
        "system": _system(device),
        **_browser(device.get("browser")),
        "input": _input(one),
    }


def _kind(device: Mapping[str, Any]) -> str | None:
    """Return desktop, tablet or phone, by what points and how large it is."""
    if device.get("pointer") not in ("fine", "coarse") or _sides(device) is None:
        return None
    touches = 5 if device.get("touch") is True else 0
    system = str(device.get("platform") or "")
    signals: dict[str, Json] = {
        "mobile": system.lower().startswith(("android", "iphone")),
        "touches": touches,
        "system": system,
    }
    return kind_of({"pointer": device["pointer"], "screen": device["screen"], **signals})


def _pixels(device: Mapping[str, Any]) -> dict[str, int | None]:
    """Return the long and the short side in device pixels."""
    sides, ratio = _sides(device), _number(device.get("dpr"), _RATIOS)
    if sides is None or ratio is None:
        return {"screen_width": None, "screen_height": None}
    return {"screen_width": round(max(sides) * ratio), "screen_height": round(min(sides) * ratio)}


def _sides(device: Mapping[str, Any]) -> tuple[float, float] | None:
    sides = device.get("screen")
    if not isinstance(sides, list | tuple) or len(sides) != 2:
        return None
    width, height = (_number(side, _PIXELS) for side in sides)
    return None if width is None or height is None else (width, height)


def _millimetres(width: int | None, height: int | None, ppi: float | None) -> dict[str, float]:
    """Return how large the screen is, where the card check has measured the pixels."""
    if width is None or height is None or ppi is None:
        return {}
    return {
        "width_mm": round(MM_PER_INCH * width / ppi),
        "height_mm": round(MM_PER_INCH * height / ppi),
        "diagonal_inches": round(math.hypot(width, height) / ppi, 1),
    }


def _system(device: Mapping[str, Any]) -> str | None:
    """Return the system in one word. An iPad says Mac, and can be touched; Firefox on Android says Linux."""
    platform = str(device.get("platform") or "").lower()
    system = next((name for start, name in _SYSTEMS if platform.startswith(start)), None)
    is_touched = device.get("touch") is True and device.get("pointer") == "coarse"
    return {"macOS": "iOS", "Linux": "Android"}.get(system or "", system) if is_touched else system


def _browser(text: Any) -> dict[str, Any]:
    """Return name and major version."""
    match = re.fullmatch(r"([A-Za-z]{1,20}) (\d{1,4})", text) if isinstance(text, str) else None
    return {} if match is None else {"browser": _BROWSERS.get(match[1], match[1]), "version": int(match[2])}


def _input(one: JudgedSession) -> Any:
    """Return what most trials were answered with."""
    used = Counter([given.input for key, given in one.visit.answers.items() if key.startswith("trial:")])
    return used.most_common(1)[0][0] if used else None


def _number(value: Any, ends: tuple[float, float]) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and ends[0] <= value <= ends[1] else None
