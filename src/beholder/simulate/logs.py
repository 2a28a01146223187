"""The log of a page as a browser would write it, in human time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.random import Generator

from beholder.methods.contract import Trial
from beholder.simulate.habits import Habits
from beholder.types import Json

Log = list[Any]
_ORIENT_MS = 1200.0
_BETWEEN_MS = 700.0
_NEXT_MS = 900.0
"""Median times to look at a page before anything is played, from one clip to the next, and to find the button."""
_START_MS = 25.0
"""How much longer than its length a clip plays, on average: players take a moment."""
_AT_ONCE_MS = 50.0
_DROPPED = 0.004
"""Share of frames that an ordinary computer drops."""
_FRAME_MS = 40


def page_log(trial: Mapping[str, Any], answer: Json, habits: Habits, rng: Generator, *, is_away: bool = False) -> Log:
    """Return the log of somebody who plays every slot once, answers, and goes on at its last event."""
    pace = _Pace(habits, rng)
    events: Log = [[0, "shown", None, {}]]
    clicks = list(_clicks(trial, answer))
    now, together = pace.after(_ORIENT_MS), bool(trial.get("together"))
    gap = (trial.get("extra") or {}).get("gap")
    ended = now
    for slot in trial["slots"]:
        begun, more = now, pace.play(slot, now, is_away=is_away)
        events += more
        ended = max(ended, more[-1][0])
        now = begun if together else ended
        own = [one for one in clicks if one[1] == slot["id"] and len(trial["slots"]) > 1 and not together]
        now = _click(events, own, now, pace)
        clicks = [one for one in clicks if one not in own]
        now += 0 if together else pace.after(_BETWEEN_MS) if gap is None else 1000 * gap
    now = _click(events, clicks, max(now, ended), pace)
    events.append([now + pace.after(_NEXT_MS), "click", None, {"what": "next"}])
    return [[round(event[0]), *event[1:]] for event in sorted(events, key=lambda event: event[0])]


def page_ms(trial: Trial, lengths_ms: Sequence[int], habits: Habits) -> tuple[float, float]:
    """Return how long a page takes in the middle of all times: all but the judgements, and the judgements."""
    played = max(lengths_ms, default=0) if trial.together else sum(lengths_ms) + _BETWEEN_MS * len(lengths_ms)
    rated = sum(slot.rated for slot in trial.slots)
    judged = [
        (habits.slider_s if asked.scale.look == "slider" else habits.click_s) * (1 if asked.scale.min < 0 else rated)
        for asked in trial.asked
    ]
    return _ORIENT_MS + played + _NEXT_MS, 1000 * sum(judged)


class _Pace:
    """The time that one person takes on one page."""

    def __init__(self, habits: Habits, rng: Generator) -> None:
        self._habits, self._rng = habits, rng

    def after(self, median_ms: float) -> float:
        if self._habits.hurries:
            return _AT_ONCE_MS / 3
        return float(median_ms * self._rng.lognormal(0, self._habits.spread))

    def judge(self, look: str) -> float:
        return self.after(1000 * (self._habits.slider_s if look == "slider" else self._habits.click_s))

    def play(self, slot: Mapping[str, Any], begun: float, *, is_away: bool) -> Log:
        """Return the events of one play, to the end of the slot."""
        media, rng, name = slot["media"], self._rng, slot["id"]
        length = media["ms"]
        events: Log = [[begun, "play", name, {"at": 0}]]
        late = float(rng.exponential(_START_MS))
        if rng.random() < self._habits.stall and length > 1000:
            at, lasts = float(rng.uniform(0.1, 0.9)) * length, float(rng.uniform(100, 1000))
            events += [[begun + at, "stall", name, {"at": at}], [begun + at + lasts, "play", name, {"at": at}]]
            late += lasts
        ended = begun + length + late
        if is_away:
            # Back in time for the end, as somebody is who hears that it is over.
            out, back = begun + 0.2 * length, begun + 0.95 * length
            events += [[out, "visibility", None, {"hidden": True}], [back, "visibility", None, {"hidden": False}]]
        frames = max(1, length // _FRAME_MS) if media["medium"] == "video" else None
        drawn = {
            "total": frames, "dropped": int(rng.binomial(frames, _DROPPED)) if frames else 0,
            "width": media["width"], "height": media["height"],
        }  # fmt: skip
        return [*events, [ended, "ended", name, {"at": length}], [ended, "frames", name, drawn]]


def _click(events: Log, clicks: Sequence[tuple[str, str | None, str, Json]], now: float, pace: _Pace) -> float:
    for question, slot, look, value in clicks:
        now += pace.judge(look)
        events.append([now, "change", slot, {"question": question, "value": value}])
    return now


def _clicks(trial: Mapping[str, Any], answer: Json) -> Iterator[tuple[str, str | None, str, Json]]:
    """Yield every judgement of an answer: its question, its slot where it has one, the look of its scale, its value."""
    looks = {asked["id"]: (asked.get("scale") or {}).get("look", "radio") for asked in trial.get("asked", ())}
    given: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    for part in ("scores", "ticks"):
        for slot in trial["slots"]:
            for question, values in given.get(part, {}).items():
                if slot["id"] in values:
                    yield question, slot["id"], looks.get(question, "radio"), values[slot["id"]]
    for question in given.get("choices", {}):
        yield question, None, "radio", None
