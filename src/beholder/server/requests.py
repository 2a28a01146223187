"""Requests and replies: bearer tokens, JSON; devices, answers and batches of events, checked strictly; how many."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, NamedTuple, TypeAlias, cast

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from beholder.errors import Refused
from beholder.recent_entries import MOST_SESSIONS, RecentEntries
from beholder.server.assets import Asset
from beholder.store.contract import NotJson
from beholder.store.tables import encode_finite
from beholder.types import Json

_LARGEST_BODY = 256 * 1024
_LARGEST_DISCARDED = 16 * 1024 * 1024
_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def read_bearer(request: Request, words: Mapping[str, str]) -> str:
    """Return the bearer token of a request, which may be forged; without one raise Refused."""
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() != "bearer" or not token:
        raise Refused(words["unknown_token"], where="Authorization", code="unknown_token", status=401)
    return token


async def read_json(request: Request, largest: int = _LARGEST_BODY) -> Json:
    """Return the JSON body; one of more than `largest` bytes is discarded and refused."""
    body, size, is_more = bytearray(), 0, True
    while is_more and size <= _LARGEST_DISCARDED:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk, is_more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        if size <= largest:
            body += chunk
    if size > largest:  # only now: a browser that is still sending would not read the response
        allowed = f"up to {largest // 1024} kB"
        raise Refused.because("body_too_large", where="body", allowed=allowed, code="too_large", status=413)
    try:
        return _parse(body)
    except NotJson:
        raise
    except (ValueError, RecursionError):
        raise Refused.because("body_not_json", where="body", allowed="JSON in UTF-8") from None


def _parse(body: bytearray) -> Json:
    """Return parsed JSON; all its numbers are finite."""
    try:
        parsed: Json = orjson.loads(body)
    except ValueError:  # the fast parser rejects lone surrogates, which browsers do send
        parsed = json.loads(body, parse_constant=_reject_constant, parse_float=_parse_float)
    return parsed


def _reject_constant(name: str) -> Json:
    raise ValueError(f"{name} is not JSON")


def _parse_float(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise NotJson(f"{text} is too large")
    return number


class JsonReply(Response):
    """A JSON response, encoded as in the store: fast, and safe for lone surrogates from browsers."""

    media_type = "application/json"

    def __init__(self, content: Any, status_code: int = 200, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        # Not by the base: its work on headers takes as long as the encoding.
        self.status_code, self.background, self.body = status_code, None, encode_finite(content).encode()
        own = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers.items()]
        self.raw_headers = [*own, (b"content-length", b"%d" % len(self.body)), (b"content-type", b"application/json")]


def asset_response(request: Request, asset: Asset, caching: str = "no-cache") -> Response:
    """Return a file of the front end, compressed where the browser takes that."""
    headers = {"cache-control": caching, "vary": "accept-encoding, accept-language"}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(asset.packed, headers={**headers, "content-encoding": "gzip"}, media_type=asset.type)
    return Response(asset.body, headers=headers, media_type=asset.type)


# Devices

_SIDE, _RATIO, _OFFSET = (0, 100_000), (0, 100), (-1440, 1440)
_POINTERS = ("fine", "coarse", "none")
_TEXTS = {"language": 35, "platform": 40, "browser": 40, "robot": 80}
"""How many characters of each text are kept."""


def read_device(device: Mapping[str, Json]) -> dict[str, Json]:
    """Return what is kept of a reported device: the fields that we know, each of its own small shape.

    Nobody is refused for a strange device: whatever else it holds is dropped.
    """
    sides = {name: _sides(device.get(name)) for name in ("screen", "viewport")}
    numbers: dict[str, Json] = {
        "dpr": _within(device.get("dpr"), *_RATIO),
        "timezone_offset": _within(device.get("timezone_offset"), *_OFFSET),
    }
    touch, pointer = device.get("touch"), device.get("pointer")
    texts = {name: text[:most] for name, most in _TEXTS.items() if isinstance(text := device.get(name), str)}
    known: dict[str, Json] = {
        **sides,
        **numbers,
        "touch": touch if isinstance(touch, bool) else None,
        "pointer": pointer if pointer in _POINTERS else None,
        **texts,
    }
    return {name: value for name, value in known.items() if value is not None}


def _sides(sides: Json) -> Json:
    """Return width and height; None where they are anything else."""
    if not isinstance(sides, list) or len(sides) != 2 or any(_within(side, *_SIDE) is None for side in sides):
        return None
    return sides


def _within(value: Json, lowest: float, highest: float) -> Json:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if lowest <= value <= highest else None


# Event log

Event: TypeAlias = tuple[float, str, str | None, Json]
"""Time on the step's clock, kind, slot and data; a list of four in JSON."""

EVENT_KINDS = frozenset(
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
        "press",
        "measure",
        "view",
    ]
)
OF_STAGE = EVENT_KINDS - {"change", "key", "click", "press"}
"""Those that tell how something was shown: of a trial on a separate stage, only the stage can tell them."""
LATEST_MS = 1e15


def read_events(events: Json, kinds: Collection[str] = EVENT_KINDS) -> list[Event]:
    """Return the events of a log unchanged, or raise Refused where one is malformed."""
    if not isinstance(events, list):
        raise Refused.because("log_not_a_list", where="events", allowed="[[ms, kind, slot, data], ...]")
    for index, event in enumerate(events):
        try:
            ms, kind, slot, _ = event
            is_fine = 0 <= ms < LATEST_MS and kind in kinds and (slot is None or isinstance(slot, str))
        except (TypeError, ValueError):  # faster than checking types first: almost all events are well formed
            is_fine = False
        if not is_fine:
            raise Refused.because("wrong_event", where=f"events.{index}", allowed="[ms, kind, slot or null, data]")
    return cast("list[Event]", events)


# Answers

_INPUTS = ("mouse", "touch", "keyboard", "robot", "")


class SubmittedDraft(NamedTuple):
    """What is half done on a page; of several, the one with the highest revision is the newest."""

    revision: int
    shown_ms: float
    values: Mapping[str, Json]


@dataclass(frozen=True)
class SubmittedAnswer:
    """An answer with the whole event log of its step; the first `first` events were stored before."""

    answer: Json
    events: list[Event] = field(default_factory=list)
    first: int = 0
    tab: str = ""
    shown_ms: float = 0
    sent_ms: float = 0
    input: str = ""
    draft: SubmittedDraft | None = None
    unfinished: int | None = None
    """How often what was played on a separate stage did not come to its end; None without such a stage."""


def read_submission(body: Json, *, with_answer: bool) -> SubmittedAnswer:
    """Return the submission in a request body, or raise Refused with what is wrong."""
    if not isinstance(body, Mapping):
        raise Refused.because("body_not_an_object", where="body", allowed="a JSON object")
    if with_answer and "answer" not in body:
        raise Refused.because("no_answer", where="answer", allowed="an answer")
    events = read_events(body.get("events", []))
    first = body.get("from", 0)
    if isinstance(first, bool) or not isinstance(first, int) or not 0 <= first <= 1_000_000:
        raise Refused.because("not_a_place_in_log", where="from", allowed="a whole number from 0")
    return SubmittedAnswer(
        answer=body.get("answer"),
        events=events,
        first=first,
        tab=_text(body.get("tab", ""), "tab", 64),
        shown_ms=_number(body.get("shown_ms", 0), "shown_ms"),
        sent_ms=_number(body.get("sent_ms", 0), "sent_ms"),
        input=_choice(body.get("input", "")),
        draft=None if with_answer else _draft(body.get("draft")),
    )


def _draft(draft: Json) -> SubmittedDraft | None:
    if draft is None:
        return None
    revision = draft.get("revision") if isinstance(draft, Mapping) else None
    values = draft.get("values") if isinstance(draft, Mapping) else None
    if type(revision) is not int or not 0 <= revision <= 1_000_000 or not isinstance(values, Mapping):
        raise Refused.because("wrong_draft", where="draft", allowed='{"revision": 1, "shown_ms": 0, "values": {...}}')
    assert isinstance(draft, Mapping)
    return SubmittedDraft(revision, _number(draft.get("shown_ms", 0), "draft.shown_ms"), values)


def _text(value: Json, where: str, longest: int) -> str:
    if not isinstance(value, str) or len(value) > longest:
        raise Refused.because("not_a_short_text", where=where, allowed=f"up to {longest} characters", field=where)
    return value


def _number(value: Json, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1e15:
        raise Refused.because("not_a_time", where=where, allowed="milliseconds, from 0", field=where)
    return float(value)


def _choice(value: Json) -> str:
    if value not in _INPUTS:
        raise Refused.because("unknown_input", where="input", allowed="mouse, touch, keyboard")
    return str(value)


# How many of one person

_BURST, _PER_SECOND = 240.0, 20.0


class RateLimit:
    """An allowance of requests for each name, such as a session, so that a runaway browser slows down nobody else.

    A name is checked before: what a stranger makes up must not be kept.
    """

    def __init__(
        self,
        burst: float = _BURST,
        per_second: float = _PER_SECOND,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._burst, self._per_second, self._clock = burst, per_second, clock
        self._left: RecentEntries[str, tuple[float, float]] = RecentEntries(MOST_SESSIONS)

    def take(self, name: str) -> None:
        """Count a request, or raise Refused where there are too many."""
        now = self._clock()
        left, at = self._left.get(name, (self._burst, now))
        left = min(self._burst, left + (now - at) * self._per_second)
        if left < 1:
            raise Refused.because("too_many", code="too_many", status=429)
        self._left[name] = (left - 1, now)

    def give_back(self, name: str) -> None:
        """Count a request less: it was not one of those that are limited."""
        left, at = self._left.get(name, (self._burst, self._clock()))
        self._left[name] = (min(self._burst, left + 1), at)
