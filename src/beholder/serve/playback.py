"""What was really watched, computed from the event log of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias, cast

from beholder.errors import Refused
from beholder.types import Json

Event: TypeAlias = tuple[float, str, str | None, Json]
"""When on the step's clock, what, in which slot, and more of it; a list of four on the wire."""

KINDS = frozenset(
    [
        "shown",
        "load",
        "play",
        "pause",
        "ended",
        "seek",
        "rate",
        "stall",
        "error",
        "frames",
        "fullscreen",
        "visibility",
        "focus",
        "change",
        "key",
        "click",
        "measure",
    ]
)
WHOLE = 0.97
"""The share of a stimulus that counts as all of it (reference: P3), together with its last half second."""
_LAST_MS = 500
_LATEST_MS = 1e15
_LEAVING = frozenset({"visibility", "focus"})
_TELLING = _LEAVING | {"play", "pause", "ended", "seek", "stall", "rate", "frames", "error"}
"""Kinds that say something about watching."""
# A player may report positions a little ahead of the clock, in all plays of a slot together; the rest was not watched.
_FASTEST = 1.05
_SLACK_MS = 300


@dataclass
class Watched:
    """How one slot played, summed over all its plays."""

    plays: int = 0
    watched_ms: int = 0
    coverage: float = 0.0
    furthest_ms: int = 0
    stalls: int = 0
    dropped: int = 0
    frames: int | None = None
    blurs: int = 0
    errors: int = 0


@dataclass
class _Player:
    """One slot while the log is read."""

    ms: int
    seen: Watched = field(default_factory=Watched)
    ranges: list[tuple[float, float]] = field(default_factory=list)
    since: tuple[float, float] | None = None
    rate: float = 1.0
    is_counted: bool = False
    slack_ms: float = _SLACK_MS

    def start(self, now: float, at: float) -> None:
        if self.since is None:
            self.since = (now, at)

    def stop(self, now: float, at: float | None) -> None:
        if self.since is None:
            return
        began, start = self.since
        self.since = None
        reach = start + (now - began) * _FASTEST
        end = min(reach if at is None else at, reach + self.slack_ms, self.ms)
        self.slack_ms -= max(0.0, end - reach)
        if end > start and self.rate == 1.0:
            self.ranges.append((start, end))
            self.seen.watched_ms += round(end - start)

    def result(self) -> Watched:
        covered, reached = 0.0, 0.0
        for start, end in sorted(self.ranges):
            if end > reached:
                covered += end - max(start, reached)
                reached = end
        self.seen.coverage = round(min(1.0, covered / self.ms), 4) if self.ms else 0.0
        self.seen.furthest_ms = round(reached)
        if self.seen.plays and not self.is_counted:
            self.seen.frames = 0  # our page counts after every play, if only to say that it cannot
        return self.seen


def read_events(events: Json) -> list[Event]:
    """Return the events of a log as they are, checked for shape, or raise Refused."""
    if not isinstance(events, list):
        raise Refused("The event log is not a list", where="events", allowed="[[ms, kind, slot, data], ...]")
    for index, event in enumerate(events):
        if not _is_event(event):
            raise Refused(
                "An event has the wrong shape", where=f"events.{index}", allowed="[ms, kind, slot or null, data]"
            )
    return cast("list[Event]", events)


def _is_event(event: Any) -> bool:
    try:
        ms, kind, slot, _ = event
        return 0 <= ms < _LATEST_MS and kind in KINDS and (slot is None or isinstance(slot, str))
    except (TypeError, ValueError):  # cheaper than asking for each type: almost all events are well formed
        return False


def watch(events: Json, lengths_ms: Mapping[str, int]) -> dict[str, Watched]:
    """Return what a log shows for each slot of a trial, or raise Refused where it has the wrong shape."""
    return watch_log(read_events(events), lengths_ms)


def watch_log(log: Iterable[Event], lengths_ms: Mapping[str, int]) -> dict[str, Watched]:
    """Return what a log that was read shows for each slot of a trial."""
    players = {slot: _Player(ms) for slot, ms in lengths_ms.items()}
    last = 0.0
    for ms, kind, slot, data in log:
        now = last = ms if ms > last else last  # a clock that runs backwards earns nothing
        if kind not in _TELLING:
            continue
        if not isinstance(data, dict):
            data = {}
        if kind in _LEAVING:
            if data.get("hidden") is True or data.get("has") is False:
                for player in players.values():
                    player.seen.blurs += player.since is not None
            continue
        if slot not in players:
            continue
        player = players[slot]
        position = _number(data.get("at"))
        match kind:
            case "play":
                for other in players.values():
                    if other.since is not None and other is not player:
                        other.stop(now, None)
                if not position or player.seen.plays == 0:  # going on after a pause or a stall is the same play
                    player.seen.plays += 1
                player.start(now, position or 0.0)
            case "pause" | "ended" | "seek":
                player.stop(now, position)
            case "stall":
                player.seen.stalls += 1
                player.stop(now, position)
            case "rate":
                player.stop(now, position)
                player.rate = _number(data.get("rate")) or 0.0
            case "frames":
                _count_frames(player, data)
            case "error":
                player.seen.errors += 1
                player.stop(now, position)
    for player in players.values():
        player.stop(last, None)
    return {slot: player.result() for slot, player in players.items()}


def is_watched(seen: Watched, length_ms: int, rule: Literal["whole", "start", "none"]) -> bool:
    """Return whether a slot was watched as the study asks. Frames prove it, not the `ended` event."""
    if rule == "none":
        return True
    if seen.plays == 0 or seen.frames == 0:
        return False
    return rule == "start" or (seen.coverage >= WHOLE and seen.furthest_ms >= length_ms - _LAST_MS)


def as_json(seen: Mapping[str, Watched]) -> dict[str, Json]:
    """Return the evidence as it is stored."""
    return {slot: dict(vars(watched)) for slot, watched in seen.items()}


def _count_frames(player: _Player, data: Mapping[str, Json]) -> None:
    """Add the frames of one play; a browser that cannot count them says null, which stays unknown."""
    player.is_counted = True
    total, dropped = _number(data.get("total")), _number(data.get("dropped"))
    if total is not None:
        has_size = bool(data.get("width")) and bool(data.get("height"))
        player.seen.frames = (player.seen.frames or 0) + (int(total) if has_size else 0)
    if dropped is not None:
        player.seen.dropped += int(dropped)


def _number(value: Json) -> float | None:
    """Return a number that a clock or a counter can show, else None."""
    if (type(value) is int or type(value) is float) and -_LATEST_MS < value < _LATEST_MS:
        return float(value)
    return None
