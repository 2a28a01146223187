"""What was really watched, computed from the event log of a step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Literal

from beholder.errors import Refused
from beholder.types import Json

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
# A player may report positions a little ahead of the clock; anything faster than this was not watched.
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
    drawn: bool = False

    def start(self, now: float, at: float) -> None:
        if self.since is None:
            self.since = (now, at)

    def stop(self, now: float, at: float | None) -> None:
        if self.since is None:
            return
        began, start = self.since
        self.since = None
        reach = start + (now - began) * _FASTEST + _SLACK_MS
        end = min(reach if at is None else at, reach, self.ms)
        if end > start and self.rate == 1.0:
            self.ranges.append((start, end))
            self.seen.watched_ms += round(end - start)

    def result(self) -> Watched:
        covered, reached = 0.0, 0.0
        for start, end in sorted(self.ranges):
            covered += max(0.0, end - max(start, reached))
            reached = max(reached, end)
        self.seen.coverage = round(min(1.0, covered / self.ms), 4) if self.ms else 0.0
        self.seen.furthest_ms = round(reached)
        return self.seen


def read_events(events: Json) -> list[tuple[float, str, str | None, Mapping[str, Json]]]:
    """Return the events of a log, checked for shape, or raise Refused."""
    if not isinstance(events, Sequence) or isinstance(events, str):
        raise Refused("The event log is not a list", where="events", allowed="[[ms, kind, slot, data], ...]")
    read = []
    for index, event in enumerate(events):
        match event:
            case [int() | float() as ms, str() as kind, str() | None as slot, data] if kind in KINDS and ms >= 0:
                read.append((float(ms), kind, slot, data if isinstance(data, Mapping) else {}))
            case _:
                raise Refused(
                    "An event has the wrong shape", where=f"events.{index}", allowed="[ms, kind, slot or null, data]"
                )
    return read


def watch(events: Json, lengths_ms: Mapping[str, int]) -> dict[str, Watched]:
    """Return what the log shows for each slot of a trial."""
    players = {slot: _Player(ms) for slot, ms in lengths_ms.items()}
    last = 0.0
    for ms, kind, slot, data in read_events(events):
        now = last = max(last, ms)  # a clock that runs backwards earns nothing
        at = data.get("at")
        position = float(at) if isinstance(at, int | float) and not isinstance(at, bool) else None
        if kind in ("visibility", "focus") and (data.get("hidden") is True or data.get("has") is False):
            for player in players.values():
                if player.since is not None:
                    player.seen.blurs += 1
            continue
        if slot is None or slot not in players:
            continue
        player = players[slot]
        match kind:
            case "play":
                for other in players.values():
                    if other is not player:
                        other.stop(now, None)
                player.seen.plays += 1
                player.start(now, position or 0.0)
            case "pause" | "ended" | "seek":
                player.stop(now, position)
            case "stall":
                player.seen.stalls += 1
                player.stop(now, position)
            case "rate":
                rate = data.get("rate")
                player.stop(now, position)
                player.rate = float(rate) if isinstance(rate, int | float) else 0.0
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
    return {slot: asdict(watched) for slot, watched in seen.items()}


def _count_frames(player: _Player, data: Mapping[str, Json]) -> None:
    """Add the frames of one play; a browser that cannot count them says null, which stays unknown."""
    total, dropped = data.get("total"), data.get("dropped")
    if isinstance(total, int | float) and not isinstance(total, bool):
        has_size = bool(data.get("width")) and bool(data.get("height"))
        player.seen.frames = (player.seen.frames or 0) + (int(total) if has_size else 0)
    if isinstance(dropped, int | float):
        player.seen.dropped += int(dropped)
