"""How a pair was looked at: views and the time in each, flips, moves of the line, the magnifier, what was uncovered.

[ms, "view", null, {"view": "wipe", "line": 50}]            a view begins; the line is in percent from the left
[ms, "view", null, {"line": 80, "low": 40, "high": 95}]     the line was moved, and how far on the way
[ms, "view", "s2", {"shown": true}]                         the pair was flipped, and this one is seen now
[ms, "view", null, {"magnifier": true}]                     the magnifier was opened, or put away
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from beholder.types import Json

UNCOVERED = 0.9
"""The share of the picture that has to have been uncovered of each of the two: to the eye, all of it."""
_VIEWS = ("side-by-side", "flip", "wipe")


@dataclass
class ViewUse:
    """How one page was looked at."""

    view: str
    """The view when the answer was sent."""
    ms: dict[str, int] = field(default_factory=dict)
    """How long each view was open while the page was in sight."""
    flips: int = 0
    moves: int = 0
    """How often the line was moved and let go."""
    magnified: int = 0
    """How often the magnifier was opened."""
    magnified_ms: int = 0
    uncovered: dict[str, float] = field(default_factory=dict)
    """How much of each of the two was uncovered at most, 0 to 1."""


class ViewLog:
    """Reads the events of kind `view` of one page, whose slots stand in the order shown."""

    def __init__(self, slots: Sequence[str]) -> None:
        self._slots = slots
        self._use: ViewUse | None = None
        self._since: float | None = None
        """From when on time passes; None while the page is away."""
        self._is_magnified = False

    def read(self, now: float, slot: str | None, data: Mapping[str, Json]) -> None:
        """Apply one event."""
        view = data.get("view")
        if view in _VIEWS and len(self._slots) > 1:
            self._pass(now)
            self._since = now
            self._use = self._use or ViewUse(str(view))
            self._use.view = str(view)
            self._uncover(self._slots if view == "side-by-side" else ())
        if (use := self._use) is None:
            return
        if slot in self._slots and data.get("shown") is True:
            use.flips += view is None
            self._uncover((slot,) if slot is not None else ())
        if (line := _percent(data.get("line"))) is not None and use.view == "wipe":
            use.moves += view is None
            low, high = (_percent(data.get(name)) for name in ("low", "high"))
            self._uncover_line(line if low is None else min(low, line), line if high is None else max(high, line))
        if isinstance(is_open := data.get("magnifier"), bool):
            self._pass(now)
            use.magnified += is_open and not self._is_magnified
            self._is_magnified = is_open

    def _uncover(self, slots: Collection[str]) -> None:
        assert self._use is not None
        self._use.uncovered |= dict.fromkeys(slots, 1.0)

    def _uncover_line(self, low: float, high: float) -> None:
        assert self._use is not None
        for slot, share in zip(self._slots, (high / 100, 1 - low / 100), strict=False):
            self._use.uncovered[slot] = round(max(share, self._use.uncovered.get(slot, 0.0)), 4)

    def _pass(self, now: float) -> None:
        """Count the time until now."""
        if self._use is None or self._since is None:
            return
        spent = max(0, round(now - self._since))
        self._since = now
        self._use.ms[self._use.view] = self._use.ms.get(self._use.view, 0) + spent
        self._use.magnified_ms += spent if self._is_magnified else 0

    def leave(self, now: float) -> None:
        """Apply that the page went out of sight."""
        self._pass(now)
        self._since = None

    def return_(self, now: float) -> None:
        """Apply that the page came back into sight."""
        if self._since is None and self._use is not None:
            self._since = now

    def reload(self) -> None:
        """Apply that the page was loaded anew, an unknown time after it went away."""
        self._since, self._is_magnified = None, False

    def result(self, now: float) -> ViewUse | None:
        """Return how the page was looked at; None where it has no views."""
        self._pass(now)
        return self._use


def is_uncovered(use: ViewUse | None, views: Collection[str], slots: Collection[str]) -> bool:
    """Return whether a page was looked at in these views only, and all of each slot could be seen in them."""
    if use is None or not {use.view, *use.ms} <= set(views):
        return False
    return all(use.uncovered.get(slot, 0.0) >= UNCOVERED for slot in slots)


def _percent(value: Json) -> float | None:
    """Return a place of the line, else None."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value <= 100 else None  # type: ignore[arg-type, operator]
