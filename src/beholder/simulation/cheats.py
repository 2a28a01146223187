"""Cheats: robots that send other or more requests than honest participants.

What they perceive is in `raters`, what they notice in `participants`.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.simulation.robot import Robot
from beholder.types import Json

_REFUSED = frozenset({403, 409, 410, 422})
_SKIP_MS = 300


@dataclass
class Cheat(Robot):
    """A robot that counts its illegitimate requests, and how many of them the server accepted."""

    tried: int = 0
    taken: int = 0

    def count(self, status: int) -> None:
        """Count one request that should be refused."""
        self.tried += 1
        self.taken += status not in _REFUSED


class TrialCheat(Cheat, ABC):
    """A cheat that answers only trials differently."""

    async def answer_step(self) -> None:
        if self.step["kind"] == "trial":
            await self.rate(self.step)
        else:
            await super().answer_step()

    @abstractmethod
    async def rate(self, step: Mapping[str, Any]) -> None:
        """Answer a trial."""


@dataclass
class CopyingCheat(Cheat):
    """Repeats the first value of the first trial everywhere."""

    first: dict[str, Json] = field(default_factory=dict)

    def answer_for(self, step: Mapping[str, Any]) -> tuple[Json, list[Any]]:
        answer, events = super().answer_for(step)
        if step["kind"] != "trial" or not step["key"].startswith("trial:"):
            return answer, events
        return self._copied(step["trial"], answer), events

    def _copied(self, trial: Mapping[str, Any], answer: Json) -> Json:
        assert isinstance(answer, Mapping)
        scales = {asked["id"]: f"{asked['scale']['min']} {asked['scale']['max']}" for asked in trial["asked"]}
        copied = dict(answer)
        if isinstance(scores := answer.get("scores"), Mapping):
            copied["scores"] = {
                question: {slot: self.first.setdefault(scales[question], value) for slot, value in values.items()}
                for question, values in scores.items()
                if isinstance(values, Mapping)
            }
        if isinstance(choices := answer.get("choices"), Mapping):
            copied["choices"] = {name: self.first.setdefault("choice", choice) for name, choice in choices.items()}
        if isinstance(texts := answer.get("texts"), Mapping):
            copied["texts"] = {name: self.first.setdefault("text", text) for name, text in texts.items()}
        return copied


@dataclass
class SkippingCheat(TrialCheat):
    """Seeks to the end of every clip, and leaves when that is refused."""

    async def rate(self, step: Mapping[str, Any]) -> None:
        answer, _ = self.answer_for(step)
        response = await self.put(step["key"], answer, _skipping_log(step["trial"]))
        self.count(response.status_code)
        if response.status_code == 422:
            self.refusal = response.json()["error"]
            return
        await self.follow(step, answer, response)


@dataclass
class SharingCheat(Cheat):
    """Two people on one account: the second continues in the middle, and both try to begin again after the end."""

    is_other: bool = False

    async def take(self) -> None:
        answered = 0
        while not self.is_done:
            answered += self.step["kind"] == "trial"
            if answered == 2 and not self.is_other:
                self.is_other = True
                await self._come_in()
            await self.answer_step()
        end, session = self.step, self.session
        await self._come_in()
        self.count(403 if self.refused or self.session == session else 200)
        self.step, self.session = end, session

    async def _come_in(self) -> None:
        """Open the link again, without the token of the first browser."""
        self.token = ""
        await self.arrive()

    def answer_for(self, step: Mapping[str, Any]) -> tuple[Json, list[Any]]:
        answer, events = super().answer_for(step)
        return (opposite_answer(step["trial"], answer) if self.is_other and step["kind"] == "trial" else answer), events


@dataclass
class TabsCheat(TrialCheat):
    """Answers every trial in two tabs at once, differently."""

    async def rate(self, step: Mapping[str, Any]) -> None:
        answer, events = self.answer_for(step)
        other = opposite_answer(step["trial"], answer)
        tabs = [(answer, f"{self.name}-1"), (other, f"{self.name}-2")]
        replies = await asyncio.gather(*(self.put(step["key"], one, events, tab) for one, tab in tabs))
        if other != answer:
            self.tried += 1
            self.taken += all(reply.status_code == 200 for reply in replies)
        stored = next(((one, reply) for (one, _), reply in zip(tabs, replies, strict=True) if reply.is_success), None)
        await self.follow(step, *(stored or (answer, replies[0])))


@dataclass
class ReplayingCheat(TrialCheat):
    """Sends every answer to a trial again, then with other values, and the first trial once more at the end."""

    first: tuple[str, Json, list[Any]] | None = None

    async def rate(self, step: Mapping[str, Any]) -> None:
        answer, events = self.answer_for(step)
        await self.follow(step, answer, await self.put(step["key"], answer, events))
        repeated = await self.put(step["key"], answer, events)
        if repeated.status_code == 200:
            # A repeated body is an outbox that missed the reply: it must have no effect.
            self.tried += 1
            self.taken += repeated.json()["stored_at"] != self.acknowledged[-1].stored_at
        other = opposite_answer(step["trial"], answer)
        if other != answer:
            self.count((await self.put(step["key"], other, events)).status_code)
            self.first = self.first or (step["key"], other, events)

    async def take(self) -> None:
        await super().take()
        if self.first is not None:
            self.count((await self.put(*self.first)).status_code)


CHEATS: Mapping[str, type[Robot]] = {
    "copies": CopyingCheat,
    "skips": SkippingCheat,
    "shares": SharingCheat,
    "tabs": TabsCheat,
    "replays": ReplayingCheat,
}
"""Kinds of raters with their own class of robot."""


def opposite_answer(trial: Mapping[str, Any], answer: Json) -> Json:
    """Return the opposite valid answer: scores at the other end of the scale, the other choice, another text."""
    assert isinstance(answer, Mapping)
    scales = {asked["id"]: asked["scale"] for asked in trial["asked"]}
    slots = [slot["id"] for slot in trial["slots"]]
    changed = dict(answer)
    if isinstance(scores := answer.get("scores"), Mapping):
        changed["scores"] = {
            question: {slot: _other_end(scales[question], value) for slot, value in values.items()}
            for question, values in scores.items()
            if isinstance(values, Mapping)
        }
    if isinstance(choices := answer.get("choices"), Mapping):
        changed["choices"] = {question: _other_choice(slots, choice) for question, choice in choices.items()}
    if isinstance(texts := answer.get("texts"), Mapping):
        changed["texts"] = {
            question: {slot: "" if typed else "nothing at all" for slot, typed in of_slots.items()}
            for question, of_slots in texts.items()
            if isinstance(of_slots, Mapping)
        }
    if isinstance(picks := answer.get("picks"), Mapping):
        changed["picks"] = {question: _other_pick(pick) for question, pick in picks.items()}
    return changed


def _other_pick(pick: Json) -> Json:
    """Return the first word where none was marked, else none."""
    is_none = isinstance(pick, Mapping) and pick.get("none") is True
    return {"words": [0] if is_none else [], "none": not is_none}


def _other_choice(slots: Sequence[str], choice: Json) -> Json:
    """Return the opposite choice: the other one of two, or the order turned round."""
    if not isinstance(choice, Mapping):
        return choice
    if choice.get("better") in slots[:2]:
        return {**choice, "better": slots[choice["better"] == slots[0]]}
    if "best" in choice:
        return {"best": choice["worst"], "worst": choice["best"]}
    if isinstance(order := choice.get("order"), list | tuple):
        return {"order": list(reversed(order))}
    return choice


def _other_end(scale: Mapping[str, Any], value: Json) -> Json:
    assert isinstance(value, int | float)
    low, high = scale["min"], scale["max"]
    end = low if value - low > high - value else high
    return int(end) if float(end).is_integer() else float(end)


def _skipping_log(trial: Mapping[str, Any]) -> list[Any]:
    """Return the log of playing the beginning of every slot and seeking to its end."""
    now, events = 200, [[0, "shown", None, {}]]
    for slot in trial["slots"]:
        end = slot["media"]["ms"]
        events += [
            [now, "play", slot["id"], {"at": 0}],
            [now + _SKIP_MS, "seek", slot["id"], {"at": _SKIP_MS, "to": end}],
            [now + _SKIP_MS, "play", slot["id"], {"at": end}],
            [now + _SKIP_MS, "ended", slot["id"], {"at": end}],
            [now + _SKIP_MS, "frames", slot["id"], {"total": 8, "dropped": 0, "width": 640, "height": 360}],
        ]
        now += 2 * _SKIP_MS
    return events
