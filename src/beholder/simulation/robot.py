"""Robots: simulated participants that take a study over the same HTTP interface as people, and the logs they send."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

import httpx
from numpy.random import Generator

from beholder.methods.contract import Trial
from beholder.methods.views import is_seen_in_turn
from beholder.server.requests import OF_STAGE
from beholder.simulation.participants import Habits
from beholder.study.earlier_answers import is_asked
from beholder.study.questionnaire import QUESTION_TYPES
from beholder.types import Json

_FIRST_WAIT_S, _LONGEST_WAIT_S = 0.05, 2.0


@dataclass
class StoredAnswer:
    """An answer that the server acknowledged."""

    session: str
    key: str
    answer: Json
    stored_at: str


class ServerUnavailable(Exception):
    """The server did not answer for longer than a robot waits."""


class Responder(Protocol):
    """Decides a robot's answers: ratings, questionnaire items, and checks with the seconds they take."""

    def rate(self, robot: Robot, step: Mapping[str, Any]) -> Json: ...
    def log(self, robot: Robot, step: Mapping[str, Any], answer: Json) -> list[Any]:
        """Return the log of a page with playback and this answer."""
        ...

    def fill(self, item: Mapping[str, Any], key: str) -> Json:
        """Return the answer to an item of the questionnaire of a step; None leaves out what is not required."""
        ...

    def answer_check(self, robot: Robot, step: Mapping[str, Any]) -> tuple[Json, float]: ...


@dataclass
class Robot:
    """One simulated participant. The responder decides its answers; the robot does everything else."""

    name: str
    study: str
    params: Mapping[str, str]
    client: httpx.AsyncClient
    responder: Responder
    patience_s: float = 60.0
    token: str = ""
    session: str = ""
    language: str = ""
    """In which it takes part, where the study has several."""
    step: dict[str, Any] = field(default_factory=dict)
    acknowledged: list[StoredAnswer] = field(default_factory=list)
    checked: dict[str, Json] = field(default_factory=dict)
    """The last answer to each check by name, as the server stores it."""
    refusal: dict[str, Any] = field(default_factory=dict)
    """The error with which the server refused the robot."""
    stage_token: str = ""
    """Of the second device, on which a study with `stage: separate` shows; the robot plays both parts."""
    trial_limit: int | None = None
    """The number of trials before the robot leaves for good; None means all."""
    input: ClassVar[str] = "robot"

    @property
    def refused(self) -> str:
        """The code of the refusal; empty while the robot may continue."""
        return str(self.refusal.get("code", ""))

    @property
    def device(self) -> dict[str, Json]:
        """The reported device: a computer with an ordinary screen."""
        return {"robot": self.name, "screen": [1920, 1080], "dpr": 1}

    @property
    def is_done(self) -> bool:
        return bool(self.refused) or self.step.get("kind") == "end" or self.has_left

    @property
    def has_completed(self) -> bool:
        """Whether the session came to its end as planned, after which another one may be taken."""
        return not self.refused and self.step.get("kind") == "end" and self.step.get("outcome") == "completed"

    @property
    def has_left(self) -> bool:
        """Whether the robot has left before the current trial."""
        key = str(self.step.get("key", ""))
        return self.trial_limit is not None and key.startswith("trial:") and int(key.split(":")[1]) > self.trial_limit

    async def arrive(self) -> None:
        """Arrive; a robot that finished earlier is refused and done."""
        body: Json = {
            "study": self.study, "params": dict(self.params), "device": self.device, "token": self.token,
        }  # fmt: skip
        response = await self._send("POST", "/api/arrive", body)
        if response.status_code == 403:
            self.refusal = response.json()["error"]
            return
        response.raise_for_status()
        arrival = response.json()
        self.token, self.step = arrival["token"], arrival["step"]
        codes = [one["code"] for one in arrival["study"]["languages"]]
        if codes:
            # The same robot speaks the same language in every run.
            place = int.from_bytes(hashlib.sha256(self.name.encode()).digest()[:4])
            self.language = codes[place % len(codes)]
        self.session = self.token.split(".")[1]

    async def consent(self) -> None:
        """Give consent, which claims a list."""
        if not self.is_done and self.step["kind"] == "consent":
            await self.answer_step()

    async def take(self) -> None:
        """Answer every step until the end."""
        while not self.is_done:
            await self.answer_step()

    async def answer_step(self) -> None:
        """Answer the current step and go to the next."""
        step = self.step
        answer, events = self.answer_for(step)
        if step["kind"] == "trial" and step["trial"].get("stage") == "separate":
            events = await self.show_on_stage(step, events)
        await self.follow(step, answer, await self.put(step["key"], answer, events))

    async def show_on_stage(self, step: Mapping[str, Any], log: list[Any]) -> list[Any]:
        """Play the part of the second device, which tells how the clips were shown; return the rest of the log."""
        key = step["key"]
        if not self.stage_token:
            told = (await self._send("POST", "/api/stage/code", {"key": key})).raise_for_status().json()
            body: Json = {"code": told["code"]["text"], "device": self.device}
            reply = await self._send("POST", "/api/stage/couple", body)
            self.stage_token = reply.raise_for_status().json()["token"]
        slots: Json = [slot["id"] for slot in step["trial"]["slots"]]
        order: Json = {"key": key, "number": 1, "ms": 0, "slots": slots, "way": "sequence"}
        (await self._send("POST", "/api/stage/order", order)).raise_for_status()
        shown = [event for event in log if event[1] in OF_STAGE]
        shown.append([shown[-1][0] if shown else 0, "state", None, {"is": "over", "order": 1}])
        body = {"key": key, "page": "robot", "from": 0, "events": shown}
        (await self._send("POST", "/api/stage/report", body, self.stage_token)).raise_for_status()
        return [event for event in log if event[1] not in OF_STAGE]

    async def put(self, key: str, answer: Json, events: list[Any], tab: str = "") -> httpx.Response:
        """Send an answer with the log of its page and return the reply."""
        spent = events[-1][0] if events else 1000.0
        body: Json = {
            "answer": answer, "events": events, "from": 0, "tab": tab or self.name, "shown_ms": 0.0, "sent_ms": spent,
            "input": self.input,
        }  # fmt: skip
        return await self._send("PUT", f"/api/answers/{key}", body)

    async def follow(self, step: Mapping[str, Any], answer: Json, response: httpx.Response) -> None:
        """Go to the step of a reply, and record what was stored."""
        if response.status_code == 403:
            self.refusal = response.json()["error"]
            return
        if response.status_code != 409:
            response.raise_for_status()
        reply = response.json()
        if response.status_code == 200:
            self.acknowledged.append(StoredAnswer(self.session, step["key"], answer, reply["stored_at"]))
        self.step = reply["step"]

    def answer_for(self, step: Mapping[str, Any]) -> tuple[Json, list[Any]]:
        """Return the answer to a step and the log of its page."""
        match step["kind"]:
            case "consent":
                told = {"language": self.language, "language_from": "choice"} if self.language else {}
                return {"agree": True, **told}, []
            case "questions":
                log = self.responder.log(self, step, {}) if "trial" in step else []
                return {"answers": filled(step, lambda item: self.responder.fill(item, step["key"]))}, log
            case "check":
                answer, seconds = self.responder.answer_check(self, step)
                return answer, [[0, "shown", None, {}], [round(1000 * seconds), "click", None, {}]]
            case "text" if "trial" in step:
                return {}, self.responder.log(self, step, {})
            case "trial":
                answer = self.responder.rate(self, step)
                return answer, self.responder.log(self, step, answer)
            case _:
                return {}, []

    async def _send(self, method: str, path: str, body: Json, token: str = "") -> httpx.Response:
        """Return the first reply; retry while the server is away, as the browser's outbox does."""
        wait, waited = _FIRST_WAIT_S, 0.0
        token = token or self.token
        headers = {"authorization": f"Bearer {token}"} if token else {}
        while True:
            try:
                response = await self.client.request(method, path, json=body, headers=headers)
            except httpx.TransportError as error:
                failure: Exception | None = error
            else:
                if response.status_code not in (429, 502, 503, 504):
                    return response
                failure = None
            if waited >= self.patience_s:
                raise ServerUnavailable(
                    f"robot {self.name}: {method} {path} unanswered for {waited:.0f} s"
                ) from failure
            await asyncio.sleep(wait)
            waited += wait
            wait = min(_LONGEST_WAIT_S, 2 * wait)


def watch_events(trial: Mapping[str, Any]) -> list[Any]:
    """Return the log of playing every slot to the end, as often as is asked: one after the other, or all at once."""
    now, at_once = 200.0, _is_at_once(trial)
    events: list[Any] = [[0, "shown", None, {}], *_first_view(trial, now)]
    for place, slot in enumerate([*trial["slots"]] * trial.get("passes", 1)):
        events += _flip(trial, slot, now) if place else []
        started, now = now, now + slot["media"]["ms"]
        events += _play_events(slot, started, now)
        now = started if at_once else now + 500
    return sorted([*events, *_last_moves(trial, max(event[0] for event in events))], key=lambda event: event[0])


# In a view, both are looked at as a person would who does no more than is asked


def _view_of(trial: Mapping[str, Any]) -> str:
    """Return the view with which a page begins; empty where it has none."""
    views = (trial.get("extra") or {}).get("views") or ("",)
    return str(views[0])


def _is_at_once(trial: Mapping[str, Any]) -> bool:
    """Return whether all slots are seen at once."""
    return bool(trial.get("together")) and _view_of(trial) != "flip"


def _first_view(trial: Mapping[str, Any], now: float) -> list[Any]:
    view, first = _view_of(trial), trial["slots"][0]["id"]
    more: dict[str, dict[str, Any]] = {"wipe": {"line": 50}, "flip": {"shown": True}}
    return [[now, "view", first if view == "flip" else None, {"view": view, **more.get(view, {})}]] if view else []


def _flip(trial: Mapping[str, Any], slot: Mapping[str, Any], now: float) -> list[Any]:
    return [[now, "view", slot["id"], {"shown": True}]] if _view_of(trial) == "flip" else []


def _last_moves(trial: Mapping[str, Any], now: float) -> list[Any]:
    """Return the moves of the line to both sides, after which all of both has been seen."""
    if _view_of(trial) != "wipe":
        return []
    return [[now, "view", None, {"line": 100, "low": 50, "high": 100}], [now, "view", None, {"line": 0}]]


def _play_events(slot: Mapping[str, Any], started: float, ended: float) -> list[Any]:
    media = slot["media"]
    is_video = media["medium"] == "video"
    frames = {
        "total": max(1, media["ms"] // 40) if is_video else None, "dropped": 0,
        "width": media["width"], "height": media["height"],
    }  # fmt: skip
    return [
        [started, "play", slot["id"], {"at": 0}],
        [ended, "ended", slot["id"], {"at": media["ms"]}],
        [ended, "frames", slot["id"], frames],
    ]


def filled(step: Mapping[str, Any], fill: Callable[[Mapping[str, Any]], Json]) -> dict[str, Json]:
    """Return the answers to a questionnaire by item; what other answers on the page do not let it ask is left out."""
    answers: dict[str, Json] = {}
    for item in step["items"]:
        answer = fill(item) if is_asked(item.get("when", ()), answers) else None
        if answer is not None:
            answers[item["id"]] = answer
    return answers


def plain_fill(item: Mapping[str, Any]) -> Json:
    """Return a valid answer to an item of a questionnaire; None where none is required."""
    return QUESTION_TYPES[item["type"]].robot_answer(item) if item["required"] else None


# Logs with human response times


_Log = list[Any]
_ORIENT_MS = 1200.0
_BETWEEN_MS = 700.0
_NEXT_MS = 900.0
"""Median times before the first play, between two clips, and before the button is pressed."""
_START_MS = 25.0
"""Mean delay until a clip starts to play."""
_AT_ONCE_MS = 50.0
_DROPPED = 0.004
"""Share of frames that an ordinary computer drops."""
_FRAME_MS = 40


def page_log(trial: Mapping[str, Any], answer: Json, habits: Habits, rng: Generator, *, is_away: bool = False) -> _Log:
    """Return the log of playing every slot and answering after its last play; the page is left at its last event."""
    pace = _ResponseTimes(habits, rng)
    events: _Log = [[0, "shown", None, {}]]
    clicks = list(_judgements(trial, answer))
    now, at_once = pace.after(_ORIENT_MS), _is_at_once(trial)
    events += _first_view(trial, now)
    gap = (trial.get("extra") or {}).get("gap")
    ended = now
    plays = [*trial["slots"]] * trial.get("passes", 1)
    for place, slot in enumerate(plays):
        started, more = now, pace.play(slot, now, is_away=is_away)
        events += [*(_flip(trial, slot, now) if place else ()), *more, *_mark_presses(answer, slot, started)]
        ended = max(ended, more[-1][0])
        now = started if at_once else ended
        is_answered = len(trial["slots"]) > 1 and not at_once and place >= len(plays) - len(trial["slots"])
        own = [one for one in clicks if is_answered and one[1] == slot["id"]]
        now = _add_clicks(events, own, now, pace)
        clicks = [one for one in clicks if one not in own]
        now += 0 if at_once else pace.after(_BETWEEN_MS) if gap is None else 1000 * gap
    events += _last_moves(trial, max(now, ended))
    now = _add_clicks(events, clicks, max(now, ended), pace)
    events.append([now + pace.after(_NEXT_MS), "click", None, {"what": "next"}])
    return [[round(event[0]), *event[1:]] for event in sorted(events, key=lambda event: event[0])]


def page_ms(trial: Trial, lengths_ms: Sequence[int], habits: Habits) -> tuple[float, float]:
    """Return the median time of a page in two parts: without the judgements, and the judgements."""
    is_at_once = trial.together and not is_seen_in_turn(trial)
    played = max(lengths_ms, default=0) if is_at_once else sum(lengths_ms) + _BETWEEN_MS * len(lengths_ms)
    played *= trial.passes
    rated = sum(slot.rated for slot in trial.slots)
    judged = [
        (habits.slider_s if asked.scale.look == "slider" else habits.click_s) * (1 if asked.scale.min < 0 else rated)
        for asked in trial.asked
    ]
    return _ORIENT_MS + played + _NEXT_MS, 1000 * sum(judged)


class _ResponseTimes:
    """Random times of one person on one page."""

    def __init__(self, habits: Habits, rng: Generator) -> None:
        self._habits, self._rng = habits, rng

    def after(self, median_ms: float) -> float:
        if self._habits.hurries:
            return _AT_ONCE_MS / 3
        return float(median_ms * self._rng.lognormal(0, self._habits.spread))

    def judge(self, look: str) -> float:
        return self.after(1000 * (self._habits.slider_s if look == "slider" else self._habits.click_s))

    def play(self, slot: Mapping[str, Any], started: float, *, is_away: bool) -> _Log:
        """Return the events of playing a slot to its end."""
        media, rng, name = slot["media"], self._rng, slot["id"]
        length = media["ms"]
        events: _Log = [[started, "play", name, {"at": 0}]]
        late = float(rng.exponential(_START_MS))
        if rng.random() < self._habits.stall and length > 1000:
            at, lasts = float(rng.uniform(0.1, 0.9)) * length, float(rng.uniform(100, 1000))
            events += [[started + at, "stall", name, {"at": at}], [started + at + lasts, "play", name, {"at": at}]]
            late += lasts
        ended = started + length + late
        if is_away:
            # Back before the end of the clip, as a person who hears that it is over.
            out, back = started + 0.2 * length, started + 0.95 * length
            events += [[out, "visibility", None, {"hidden": True}], [back, "visibility", None, {"hidden": False}]]
        frames = max(1, length // _FRAME_MS) if media["medium"] == "video" else None
        drawn = {
            "total": frames, "dropped": int(rng.binomial(frames, _DROPPED)) if frames else 0,
            "width": media["width"], "height": media["height"],
        }  # fmt: skip
        return [*events, [ended, "ended", name, {"at": length}], [ended, "frames", name, drawn]]


def _mark_presses(answer: Json, slot: Mapping[str, Any], started: float) -> _Log:
    """Return the presses by which marks were set while a slot played, the last time."""
    marks: Any = answer.get("marks", ()) if isinstance(answer, Mapping) else ()
    mine = [mark["ms"] for mark in marks if mark["slot"] == slot["id"]]
    return [[started + ms, "key", slot["id"], {"what": "mark", "at": ms}] for ms in mine]


def _add_clicks(
    events: _Log, clicks: Sequence[tuple[str, str | None, str, Json]], now: float, pace: _ResponseTimes
) -> float:
    for question, slot, look, value in clicks:
        now += pace.judge(look)
        events.append([now, "change", slot, {"question": question, "value": value}])
    return now


def _judgements(trial: Mapping[str, Any], answer: Json) -> Iterator[tuple[str, str | None, str, Json]]:
    """Yield every judgement of an answer: its question, its slot or None, the look of its scale, its value."""
    looks = {asked["id"]: (asked.get("scale") or {}).get("look", "radio") for asked in trial.get("asked", ())}
    answered: Mapping[str, Any] = answer if isinstance(answer, Mapping) else {}
    for part in ("scores", "ticks"):
        for slot in trial["slots"]:
            for question, values in answered.get(part, {}).items():
                if slot["id"] in values:
                    yield question, slot["id"], looks.get(question, "radio"), values[slot["id"]]
    for question, texts in answered.get("texts", {}).items():
        for slot in texts:
            yield question, slot, "slider", None
    for question in answered.get("picks", {}):
        yield question, trial["slots"][0]["id"], "slider", None
    for question in answered.get("choices", {}):
        yield question, None, "radio", None
