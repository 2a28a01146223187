"""Playback evidence: what was watched and what happened on the page, computed from the event log of a step."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import floor
from typing import Any, Literal

from beholder.checks.playback import LAST_MS, WHOLE, is_whole
from beholder.server.requests import LATEST_MS, Event, read_events
from beholder.server.views import ViewLog, ViewUse
from beholder.types import Json

_FASTEST, _SLACK_MS = 1.05, 300
"""Positions may run a little ahead of the clock, summed over all plays of a slot; what exceeds that was not watched."""
_MOST_OF_IT = 0.9
"""Of what has to be played several times: a stall may cost a little each time."""
COUNTING: Mapping[str, float] = {
    "share": WHOLE, "last_ms": LAST_MS, "fastest": _FASTEST, "slack_ms": _SLACK_MS, "each": _MOST_OF_IT
}  # fmt: skip
"""What counts as watched. Every page with stimuli gets it, so that the browser counts as the server does."""
PAGE = "page"
"""The entry of the page in the stored evidence, next to those of the slots."""
_LEAVING = frozenset({"visibility", "focus"})
_ACTING = frozenset({"play", "change", "key", "click"})
_BESIDE = "beside"
_PRESSES: Mapping[str, type] = {
    "by": str, "moves": float, "gone": float, "off": float, "held": float, "letters": float, "trusted": bool,
    "away": bool, "decoy": bool,
}  # fmt: skip
"""What is kept of a press, and of which type; `gone`, `off` in pixels, `held` in ms."""
_OPERATED = ("presses", "driver")
_IF_ANY = (*_OPERATED, "loops", "views")
"""What is stored of a page only where there is any."""
_MOST_LOOPS = 100
_MOST_PRESSES, _MOST_MARKS, _LONGEST_WORD = 200, 20, 40
_PLAYING = frozenset({"play", "pause", "ended", "seek", "stall", "rate", "frames", "error"})


@dataclass
class SlotPlayback:
    """How one slot played, summed over all its plays."""

    plays: int = 0
    """Plays from the start; further rounds of a loop do not count."""
    watched_ms: int = 0
    coverage: float = 0.0
    furthest_ms: int = 0
    stalls: int = 0
    dropped: int = 0
    frames: int | None = None
    blurs: int = 0
    errors: int = 0
    changes: int = 0
    """How often an answer about this slot was changed."""
    displayed: list[int] | None = None
    duration_ms: int | None = None
    """The length of the file as the browser decodes it."""
    played_ms: int | None = None
    """Duration of the last whole play by the clock, stalls included."""
    whole_ms: int | None = None
    """Duration of the first whole play."""
    ended_ms: int | None = None
    """When it first reached its end."""
    stalled_ms: int = 0
    """The longest stall of the whole play with the least stalling; of all plays while none was whole."""
    away: int = 0
    """How often the window or full screen was left during a play, until one whole play without that."""


@dataclass
class PageFacts:
    """What happened on the page, independent of slots."""

    first_ms: int | None = None
    """When the participant first did anything."""
    exits: int = 0
    """How often full screen was left."""
    blurs: int = 0
    """How often the window was left."""
    changes: int = 0
    """How often an answer that belongs to no slot was changed."""
    viewport: list[int] | None = None
    screen: list[int] | None = None
    dpr: float | None = None
    skew_ms: float | None = None
    """The largest offset between synchronised clips."""
    loops: list[list[int]] = field(default_factory=list)
    """The parts that were looped, from and to in milliseconds, each once, in the order of their first use."""
    presses: list[dict[str, Json]] = field(default_factory=list)
    """How the page was operated, where a check of the study looks at that."""
    driver: list[str] = field(default_factory=list)
    """By what the browser says that a program drives it."""
    views: ViewUse | None = None
    """How a pair was looked at, on a page with views."""


@dataclass(frozen=True)
class PlaybackEvidence:
    """The evidence in a log, for each slot of a trial and for the page."""

    slots: Mapping[str, SlotPlayback]
    page: PageFacts
    played: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    """The stretches of each slot that were played, in milliseconds, in the order of the log; not stored."""


@dataclass
class _Player:
    """The state of one slot while the log is read."""

    ms: int
    playback: SlotPlayback = field(default_factory=SlotPlayback)
    ranges: list[tuple[float, float]] = field(default_factory=list)
    since: tuple[float, float] | None = None
    begun: float | None = None
    rate: float = 1.0
    is_counted: bool = False
    slack_ms: float = _SLACK_MS
    stalled: float | None = None
    stall_ms: float = 0
    """The longest stall of this play."""
    calmest_ms: float | None = None
    is_left: bool = False
    is_undisturbed: bool = False
    """Whether it was played whole without leaving the window."""

    def begin(self, now: float, *, is_away: bool) -> None:
        """Begin a play from the start."""
        self.begun, self.stall_ms, self.is_left = now, 0, False
        if is_away:
            self.leave()

    def end(self, now: float) -> None:
        """End a play that reached the end of the file."""
        if self.playback.ended_ms is None:
            self.playback.ended_ms = round(now)
        if self.begun is None:
            return
        self.playback.played_ms = round(now - self.begun)
        if self.playback.whole_ms is None:
            self.playback.whole_ms = self.playback.played_ms
        self.calmest_ms = self.stall_ms if self.calmest_ms is None else min(self.calmest_ms, self.stall_ms)
        self.begun = None
        if not self.is_left:
            self.is_undisturbed, self.playback.away = True, 0

    def end_stall(self, now: float) -> None:
        """End a stall."""
        assert self.stalled is not None
        self.stall_ms = max(self.stall_ms, now - self.stalled)
        self.playback.stalled_ms = max(self.playback.stalled_ms, round(self.stall_ms))
        self.stalled = None

    def interrupt(self) -> None:
        """Drop a play that was interrupted by leaving the page, at an unknown time."""
        self.since = self.begun = self.stalled = None

    def leave(self) -> None:
        """Note that the window or full screen was left."""
        self.is_left = True
        self.playback.away += not self.is_undisturbed

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
            self.playback.watched_ms += floor(end - start + 0.5)  # as the browser rounds

    def result(self) -> SlotPlayback:
        covered, reached = 0.0, 0.0
        for start, end in sorted(self.ranges) if len(self.ranges) > 1 else self.ranges:
            if end > reached:
                covered += end - max(start, reached)
                reached = end
        # As the browser rounds: half upwards.
        self.playback.coverage = floor(min(1.0, covered / self.ms) * 1e4 + 0.5) / 1e4 if self.ms else 0.0
        self.playback.furthest_ms = floor(reached + 0.5)
        if self.calmest_ms is not None:
            self.playback.stalled_ms = round(self.calmest_ms)
        if self.playback.plays and not self.is_counted:
            self.playback.frames = 0  # our page reports frames after every play, null if it cannot count them
        return self.playback


class _PageLog:
    """The state of the page while its log is read."""

    def __init__(self) -> None:
        self.facts = PageFacts()
        self.is_away = self.is_full = False
        self.answered: set[tuple[str | None, str | None]] = set()
        """Questions and slots that have an answer; what comes after is a change."""

    def reset(self) -> None:
        """Reset at a page load: the page is visible, and not in full screen."""
        self.is_away = self.is_full = False

    def leave(self, data: Mapping[str, Json]) -> bool:
        """Apply a visibility or focus event; return whether the window was left."""
        is_leaving = data.get("hidden") is True or data.get("has") is False
        if is_leaving and not self.is_away:  # a hidden window also loses the focus
            self.facts.blurs += 1
        self.is_away = is_leaving
        return is_leaving

    def fill_screen(self, data: Mapping[str, Json]) -> bool:
        """Apply a full screen event; return whether full screen ended."""
        is_full = data.get("on") is True
        is_over = self.is_full and not is_full
        self.facts.exits += is_over
        self.is_full = is_full
        return is_over

    def press(self, now: float, data: Mapping[str, Json]) -> None:
        """Keep how the page was operated, as far as it is plausible."""
        if len(self.facts.presses) < _MOST_PRESSES:
            kept = {name: _plausible(data[name], kind) for name, kind in _PRESSES.items() if name in data}
            self.facts.presses.append({"ms": round(now), **{k: v for k, v in kept.items() if v is not None}})

    def loop(self, part: Json, length_ms: int) -> None:
        """Keep the part within which something begins to play, as far as it is plausible."""
        ends = _pair(part)
        if ends is None or not 0 <= ends[0] < ends[1] <= length_ms or ends in self.facts.loops:
            return
        if len(self.facts.loops) < _MOST_LOOPS:
            self.facts.loops.append(ends)

    def measure(self, data: Mapping[str, Json], playback: SlotPlayback | None) -> None:
        facts = self.facts
        facts.viewport = _pair(data.get("viewport")) or facts.viewport
        facts.screen = _pair(data.get("screen")) or facts.screen
        ratio, skew, duration = (_number(data.get(name)) for name in ("dpr", "skew_ms", "duration"))
        facts.dpr = facts.dpr if ratio is None else ratio
        driver = data.get("driver")
        if isinstance(driver, list):
            facts.driver = [mark[:_LONGEST_WORD] for mark in driver[:_MOST_MARKS] if isinstance(mark, str)]
        if skew is not None:
            facts.skew_ms = max(skew, facts.skew_ms or 0.0)
        if playback is not None:
            playback.displayed = _pair(data.get("displayed")) or playback.displayed
            playback.duration_ms = playback.duration_ms if duration is None else round(duration)


def read_playback(events: Json, lengths_ms: Mapping[str, int], *, together: bool = False) -> PlaybackEvidence:
    """Return the evidence in an unchecked log, or raise Refused where it is malformed."""
    return playback_evidence(read_events(events), lengths_ms, together=together)


def playback_evidence(
    log: Iterable[Event], lengths_ms: Mapping[str, int], *, together: bool = False
) -> PlaybackEvidence:
    """Return the evidence in a checked log. Only slots that are shown `together` can play at the same time."""
    players = {slot: _Player(ms) for slot, ms in lengths_ms.items()}
    page = _PageLog()
    facts, answered = page.facts, page.answered
    views: ViewLog | None = None
    now = 0.0
    is_acting = False
    for ms, kind, slot, data in log:
        if ms > now:  # a clock that runs backwards adds nothing
            now = ms
        if type(data) is not dict:
            data = {}
        if not is_acting and kind in _ACTING and data.get("what") != _BESIDE:
            is_acting, facts.first_ms = True, round(now)
        # The kinds of which a log has the most come first.
        if kind == "change":
            question = data.get("question")
            place = (question if type(question) is str else None, slot)
            if place not in answered:
                answered.add(place)
            elif (player := players.get(slot)) is not None:  # type: ignore[arg-type]  # None is nobody's
                player.playback.changes += 1
            else:
                facts.changes += 1
        elif kind in _PLAYING:
            player = players.get(slot)  # type: ignore[arg-type]
            if player is not None:
                if kind == "frames":
                    _count_frames(player, data)
                    continue
                if kind == "play" and not together:
                    for other in players.values():
                        if other.since is not None and other is not player:
                            other.stop(now, None)
                if "part" in data:
                    page.loop(data["part"], player.ms)
                _play(player, kind, now, data, is_away=page.is_away)
        elif kind in _LEAVING:
            if views is not None and kind == "visibility":
                (views.leave if data.get("hidden") is True else views.return_)(now)
            if page.leave(data):
                for player in players.values():
                    if player.since is not None:
                        player.playback.blurs += 1
                        player.leave()
        elif kind == "shown":
            page.reset()
            if views is not None:
                views.reload()
            for player in players.values():
                player.interrupt()
        elif kind == "view":
            views = views or ViewLog(tuple(lengths_ms))
            views.read(now, slot, data)
        elif kind == "press":
            page.press(now, data)
        elif kind == "measure":
            player = players.get(slot)  # type: ignore[arg-type]
            page.measure(data, None if player is None else player.playback)
        elif kind == "fullscreen" and page.fill_screen(data):
            for player in players.values():
                if player.since is not None:
                    player.leave()
    for player in players.values():
        if player.since is not None:
            player.stop(now, None)
    facts.views = None if views is None else views.result(now)
    played = {slot: player.ranges for slot, player in players.items()}
    return PlaybackEvidence({slot: player.result() for slot, player in players.items()}, facts, played)


def _play(player: _Player, kind: str, now: float, data: Mapping[str, Json], *, is_away: bool) -> None:
    """Apply one event of a player, other than its frames."""
    position = _number(data.get("at"))
    if kind == "stall":
        player.playback.stalls += 1
        player.stalled = now
        player.stop(now, position)
        return
    if player.stalled is not None:
        player.end_stall(now)
    if kind == "play":
        if not position or player.playback.plays == 0:  # continuing after a pause or a stall is the same play
            player.begin(now, is_away=is_away)
            player.playback.plays += data.get("loop") is not True
        if player.since is None:
            player.since = (now, position or 0.0)
        return
    player.stop(now, position)
    if kind == "ended":
        player.end(now)
        return
    player.begun = None
    if kind == "rate":
        player.rate = _number(data.get("rate")) or 0.0
    elif kind == "error":
        player.playback.errors += 1
        if data.get("again") is True:
            player.ranges.clear()  # it has to be played again


def is_watched(
    playback: SlotPlayback, length_ms: int, rule: Literal["whole", "start", "none"], passes: int = 1
) -> bool:
    """Return whether a slot was watched as the study requires, and as often. Frames prove it, not the `ended` event."""
    if rule == "none":
        return True
    if playback.plays < passes or playback.frames == 0:
        return False
    if rule == "whole" and passes > 1 and floor(playback.watched_ms / (length_ms * _MOST_OF_IT)) < passes:
        return False  # begun as often as asked, and not played so often
    return rule == "start" or is_whole(playback.coverage, playback.furthest_ms, length_ms)


def evidence_to_json(evidence: PlaybackEvidence) -> dict[str, Json]:
    """Return the evidence as it is stored: an entry for each slot, and one for the page."""
    stored: dict[str, Json] = {slot: vars(watched) for slot, watched in evidence.slots.items()}
    page = vars(evidence.page) | {"views": evidence.page.views and vars(evidence.page.views)}
    stored[PAGE] = {name: value for name, value in page.items() if name not in _IF_ANY or value}
    return stored


def operation_to_json(log: Iterable[Event]) -> dict[str, Json]:
    """Return how a page without stimuli was operated, as it is stored; empty where nothing looks at that."""
    page = vars(playback_evidence(log, {}).page)
    operated = {name: page[name] for name in _OPERATED if page[name]}
    return {PAGE: operated} if operated else {}


def _count_frames(player: _Player, data: Mapping[str, Json]) -> None:
    """Add the frames of one play; a browser that cannot count them sends null, which stays unknown."""
    player.is_counted = True
    total, dropped = _number(data.get("total")), _number(data.get("dropped"))
    if total is not None:
        has_size = bool(data.get("width")) and bool(data.get("height"))
        player.playback.frames = (player.playback.frames or 0) + (int(total) if has_size else 0)
    if dropped is not None:
        player.playback.dropped += int(dropped)


def _pair(value: Any) -> list[int] | None:
    """Return width and height in whole pixels, else None."""
    if not isinstance(value, list) or len(value) != 2:
        return None
    numbers = [_number(one) for one in value]
    return None if None in numbers else [round(one) for one in numbers if one is not None]


def _plausible(value: Json, kind: type) -> Json:
    """Return a value of a press that is of its type, else None."""
    if kind is float:
        number = _number(value)
        return None if number is None else round(number)
    if isinstance(value, str):
        return value[:_LONGEST_WORD] if kind is str else None
    return value if type(value) is kind else None


def _number(value: Json) -> float | None:
    """Return a plausible number of a clock or counter, else None."""
    if (type(value) is int or type(value) is float) and -LATEST_MS < value < LATEST_MS:
        return float(value)
    return None
