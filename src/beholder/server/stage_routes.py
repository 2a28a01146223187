"""The requests of a separate stage: what the hand-set asks by the token of its session, and the stage by its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Mapping
from datetime import datetime
from math import floor
from typing import NamedTuple, cast

import segno
from starlette.requests import Request
from starlette.responses import Response

from beholder.errors import Refused
from beholder.methods.contract import Trial
from beholder.server import operations, tokens
from beholder.server.admission import check_moderation, load_session
from beholder.server.assets import Assets
from beholder.server.context import Context
from beholder.server.limits import Guesses, count_events
from beholder.server.operations import ApiRoute
from beholder.server.playback import COUNTING, is_watched, playback_evidence
from beholder.server.public_steps import staged_trial
from beholder.server.rendering import due_steps, session_script
from beholder.server.requests import (
    EVENT_KINDS,
    Event,
    JsonReply,
    RateLimit,
    asset_response,
    read_bearer,
    read_device,
    read_events,
    read_json,
)
from beholder.server.script import PlannedStep, Script
from beholder.server.separate_stage import (
    CODE,
    CODE_COUNTS,
    DEVICE,
    HAND_SET,
    HEARD_EVERY,
    KEY,
    LOST_AFTER,
    STATE,
    Channel,
    event_data,
    is_staged,
    read_channel,
    read_coupling,
)
from beholder.server.service import StudyService
from beholder.store.contract import Events, SessionFacts
from beholder.study.model import Playback
from beholder.study.recruitment import is_person
from beholder.types import Json

_MOST_CODES = 60
"""Codes of one session; somebody who needs more has another trouble."""
_LONGEST_CODE = 64
_MOST_BEATS = 1200
"""Of one trial; an hour. Two pages that somebody has left open fill no disk."""
_STAGE_KINDS = EVENT_KINDS | {STATE}
_STATES = ("loading", "ready", "press", "playing", "over", "stopped", "failed", "left")
_WAYS = ("one", "sequence")


# Coupling


async def show_code(ctx: Context, session: str) -> None:
    """Let a code be shown by which a device becomes the stage of a session: the one that is open, else a new one."""
    now = ctx.now()
    facts = await _load(ctx, session)
    coupling = await read_coupling(ctx, session)
    if coupling.open_code(now) is not None:
        return
    number = len(coupling.shown) + 1
    if number > _MOST_CODES:
        raise Refused.because("many_codes", where="code", code="too_many", status=403)
    await ctx.store.append([Events(session, KEY, CODE, number, [[0, CODE, None, {}]], now)])
    await _renew(ctx, facts, now)


async def couple(ctx: Context, code: str, device: Mapping[str, Json]) -> tuple[str, int]:
    """Return the session whose stage a device becomes by a code, and the number of the code, or raise Refused."""
    now, wanted = ctx.now(), "".join(letter for letter in code.upper() if letter.isalnum())
    heard = await ctx.store.senders(now - CODE_COUNTS)
    # In a thread: of thousands of sessions it takes a moment in which others are answered.
    for session, number in await asyncio.to_thread(_sessions_with, ctx.store.secret, heard, wanted):
        if (await read_coupling(ctx, session)).open_code(now) != number:
            continue
        await _load(ctx, session)
        shown = {name: device[name] for name in ("screen", "viewport", "dpr") if name in device}
        fact = Events(session, KEY, DEVICE, number, [[0, DEVICE, None, shown]], now)
        if (await ctx.store.append([fact])).is_new:  # else another device was first, perhaps by another server
            return session, number
    raise Refused.because("no_code", where="code", code="no_code", status=404)


def _sessions_with(secret: bytes, sessions: Iterable[str], code: str) -> list[tuple[str, int]]:
    """Return of these sessions those to which a code belongs, and its number."""
    numbers = range(1, _MOST_CODES + 1)
    return [(one, n) for one in sessions for n in numbers if tokens.stage_code(secret, one, n) == code]


async def _load(ctx: Context, session: str) -> SessionFacts:
    """Return the facts of a session that goes on, or raise Refused."""
    facts = await load_session(ctx, session)
    if facts.end is not None or facts.erased:
        raise Refused(ctx.words["ended"], code="ended", status=410)
    await check_moderation(ctx, facts)
    return facts


async def _renew(ctx: Context, facts: SessionFacts, now: datetime) -> None:
    """Keep the list of somebody who couples a device, or looks at one."""
    session = facts.session.session
    if facts.list is not None and session not in ctx.moderation.released:
        await ctx.leases.renew(session, now)


# The hand-set


async def hand_set_state(ctx: Context, session: str, key: str) -> dict[str, Json]:
    """Return what the hand-set has to know: the code that is open, the stage, and what was watched on it."""
    now = ctx.now()
    facts = await _load(ctx, session)
    coupling, channel = await read_coupling(ctx, session), await read_channel(ctx, session, key)
    number, open_code = coupling.number, coupling.open_code(now)
    script = session_script(ctx, facts)
    step = _current_trial(ctx, facts, script, now)
    code: Json = None
    if open_code is not None:
        text = tokens.stage_code(ctx.store.secret, session, open_code)
        address = f"{ctx.served.public_url}/s/{ctx.served.study.name}/stage"
        left = (coupling.shown[open_code] + CODE_COUNTS - now).total_seconds()
        code = {"text": text, "address": address, "qr": _qr_rows(f"{address}#{text}"), "seconds": round(left)}
    stage: Json = None
    if number is not None:
        log = channel.last_log(number)
        state = log.state if log is not None else {}
        heard = channel.heard_at.get(number)
        stage = {
            "number": number, "screen": _pixels(coupling.devices[number]), "is": state.get("is"),
            "order": state.get("order"), "page": len(channel.logs),
            "here": heard is not None and now < heard + LOST_AFTER and state.get("is") != "left",
        }  # fmt: skip
    slots = (
        {} if step is None or script is None or step.key != key else _seen(ctx, facts, channel, step, script.playback)
    )
    return {"code": code, "stage": stage, "order": max(channel.orders, default=0), "slots": slots}


def _pixels(device: Mapping[str, Json]) -> Json:
    """Return width and height of a screen in its own pixels; None where it has not told."""
    sides, ratio = device.get("screen"), device.get("dpr", 1)
    if not isinstance(sides, list) or not isinstance(ratio, int | float):
        return None
    return [round(side * ratio) for side in sides if isinstance(side, int | float)]


def _qr_rows(text: str) -> list[Json]:
    """Return a QR code (ISO/IEC 18004) as rows of 0 and 1, with the quiet zone around it."""
    return [
        "".join("1" if cell else "0" for cell in row) for row in segno.make_qr(text, error="m").matrix_iter(border=4)
    ]


def _seen(
    ctx: Context, facts: SessionFacts, channel: Channel, step: PlannedStep, playback: Playback
) -> dict[str, Json]:
    """Return by slot what was watched of it on the stage, as the page would count it by itself."""
    assert step.trial is not None
    lengths = _lengths(ctx, step.trial)
    events = channel.events(is_timed=is_person(facts.session.mode))
    seen: dict[str, Json] = {}
    for slot, watched in playback_evidence(events, lengths).slots.items():
        whole = is_watched(watched, lengths[slot], playback.watch)
        count = max(1, floor(watched.watched_ms / (lengths[slot] * COUNTING["each"]))) if lengths[slot] else 1
        errors = [event_data(event) for event in events if event[1] == "error" and event[2] == slot]
        lasting = [str(error.get("what")) for error in errors if error.get("again") is not True]
        seen[slot] = {
            "watched": whole, "share": watched.coverage, "begun": watched.plays,
            "whole": (watched.plays if playback.watch != "whole" else min(watched.plays, count)) if whole else 0,
            "failure": lasting[0] if lasting else None,
        }  # fmt: skip
    return seen


def _lengths(ctx: Context, trial: Trial) -> dict[str, int]:
    return {slot.id: ctx.served.catalogue.by_id[slot.stimulus].probe.duration_ms for slot in trial.slots}


class Order(NamedTuple):
    """What the hand-set wants to be played: the order has a number, from 1 in each trial."""

    key: str
    number: int
    what: Mapping[str, Json]


def read_order(body: Json) -> Order:
    """Return the order in a request body, or raise Refused."""
    fields = body if isinstance(body, Mapping) else {}
    key, number, ms, slots = (fields.get(name) for name in ("key", "number", "ms", "slots"))
    way, gap, passes = fields.get("way"), fields.get("gap", 1), fields.get("passes", 1)
    is_fine = (
        isinstance(key, str) and _is_number(number, 1, 10_000) and _is_number(ms, 0, 1e12) and way in _WAYS
        and isinstance(slots, list) and 0 < len(slots) <= 8 and all(isinstance(slot, str) for slot in slots)
        and _is_number(gap, 0, 10) and _is_number(passes, 1, 10)
    )  # fmt: skip
    if not is_fine or not isinstance(number, int) or not isinstance(passes, int):
        allowed = '{"key": "trial:1", "number": 1, "ms": 0, "slots": ["s1"], "way": "one"}'
        raise Refused.because("unclear_order", where="body", allowed=allowed)
    return Order(cast("str", key), number, {"ms": ms, "slots": slots, "way": way, "gap": gap, "passes": passes})


def _is_number(value: Json, least: float, most: float) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and least <= value <= most


async def give_order(ctx: Context, session: str, order: Order) -> None:
    """Store what the stage is to play; an order that is there already, or is not the next one, changes nothing."""
    now = ctx.now()
    facts = await _load(ctx, session)
    step = _current_trial(ctx, facts, session_script(ctx, facts), now)
    slots = [] if step is None or step.trial is None else [slot.id for slot in step.trial.slots]
    if step is None or step.key != order.key or not set(cast("Collection[str]", order.what["slots"])) <= set(slots):
        raise Refused(ctx.words["not_reached"], where=order.key, code="not_reached", status=409)
    if (await read_coupling(ctx, session)).number is None:
        raise Refused.because("no_stage", where="stage", code="no_stage", status=409)
    channel = await read_channel(ctx, session, order.key)
    if order.number == max(channel.orders, default=0) + 1:
        events: list[Json] = [[0, "order", None, dict(order.what)]]
        count_events(ctx.event_sizes, session, len(str(events)), has_list=True)
        await ctx.store.append([Events(session, f"{KEY}:{order.key}", HAND_SET, order.number, events, now)])
    await _renew(ctx, facts, now)


def _current_trial(ctx: Context, facts: SessionFacts, script: Script | None, now: datetime) -> PlannedStep | None:
    """Return the trial that is on; None where none is."""
    step = next(due_steps(facts, script, now), None)
    return step if step is not None and is_staged(ctx.served.study, step) else None


# The stage


class Report(NamedTuple):
    """What a stage tells: new events of its page on a trial. With none of them it only asks."""

    key: str | None
    page: str
    first: int
    events: list[Event]


def read_report(body: Json) -> Report:
    """Return the report in a request body, or raise Refused."""
    fields = body if isinstance(body, Mapping) else {}
    key, page, first = fields.get("key"), fields.get("page", ""), fields.get("from", 0)
    is_fine = (key is None or isinstance(key, str)) and isinstance(page, str) and page.isalnum() and len(page) <= 32
    if not is_fine or isinstance(first, bool) or not isinstance(first, int) or not 0 <= first <= 1_000_000:
        allowed = '{"key": "trial:1", "page": "a1b2", "from": 0, "events": [[ms, kind, slot, data], ...]}'
        raise Refused.because("unclear_report", where="body", allowed=allowed)
    events = read_events(fields.get("events", []), _STAGE_KINDS)
    for index, (_, kind, _, data) in enumerate(events):
        if kind == STATE and not (
            isinstance(data, Mapping)
            and data.get("is") in _STATES
            and (data.get("order") is None or _is_number(data["order"], 0, 10_000))
        ):
            raise Refused.because("wrong_event", where=f"events.{index}", allowed=f"is: {', '.join(_STATES)}")
    if events and events[-1][1] != STATE:  # its time says when the batch was sent
        raise Refused.because("wrong_event", where=f"events.{len(events) - 1}", allowed="a state as the last one")
    return Report(cast("str | None", key), cast("str", page), first, events)


async def take_report(ctx: Context, stage: tokens.StageToken, report: Report) -> dict[str, Json]:
    """Store what a stage tells, and return what it has to show: the clips of the trial that is on, and nothing else."""
    now, session = ctx.now(), stage.session
    facts = await load_session(ctx, session)
    if (await read_coupling(ctx, session)).number != stage.number:
        raise Refused.because("other_stage", where="token", code="other_stage", status=401)
    if facts.end is not None or facts.erased:
        return {"ended": True, "key": None, "trial": None, "order": None}
    await check_moderation(ctx, facts)
    script = session_script(ctx, facts)
    step = _current_trial(ctx, facts, script, now)
    if step is None or step.trial is None or script is None:
        return {"ended": False, "key": None, "trial": None, "order": None}
    place = f"{KEY}:{step.key}"
    if report.key == step.key and report.events:
        events: list[Json] = [list(event) for event in report.events]
        count_events(ctx.event_sizes, session, len(str(events)), has_list=True)
        await ctx.store.append([Events(session, place, f"{stage.number}.{report.page}", report.first, events, now)])
        await _renew(ctx, facts, now)
    channel = await read_channel(ctx, session, step.key)
    if report.key == step.key and not report.events and channel.beats < _MOST_BEATS:
        # A place of the clock is stored once, so whoever hears it a second time writes nothing new.
        beat = int(now.timestamp() // HEARD_EVERY.total_seconds())
        if ctx.stages_heard.get(session) != (stage.number, beat, step.key):
            ctx.stages_heard[session] = (stage.number, beat, step.key)
            await ctx.store.append([Events(session, place, f"heard:{stage.number}", beat, [], now)])
    number = max(channel.orders, default=None)
    order = (
        None if number is None else {"number": number, **{k: v for k, v in channel.orders[number].items() if k != "ms"}}
    )
    media = ctx.media.describe_for(session, script)
    return {"ended": False, "key": step.key, "trial": staged_trial(step, script.playback, media), "order": order}


# Routes


def stage_routes(
    service: StudyService, assets: Assets, token_of: Callable[[Request], str], limit: RateLimit
) -> list[ApiRoute]:
    """Return the routes of a separate stage; empty where the study has none."""
    study = service.served.study
    if study.stage == "same":
        return []
    page, guesses = assets.standalone(study, "viewer", "viewer"), Guesses()

    async def show(request: Request) -> Response:
        if request.path_params["study"] != study.name:
            raise Refused(service.words["no_study"], where="study", code="unknown_study", status=404)
        return asset_response(request, page)

    async def told(session: str, key: Json) -> Response:
        ctx = await service.context_of(session)
        return JsonReply(await hand_set_state(ctx, session, key if isinstance(key, str) else ""))

    async def state(request: Request) -> Response:
        return await told(service.session_of(token_of(request)), request.query_params.get("key", ""))

    async def code(request: Request) -> Response:
        session = service.session_of(token_of(request))
        body = await read_json(request)
        await show_code(await service.context_of(session), session)
        return await told(session, body.get("key") if isinstance(body, Mapping) else "")

    async def order(request: Request) -> Response:
        session = service.session_of(token_of(request))
        wanted = read_order(await read_json(request))
        await give_order(await service.context_of(session), session, wanted)
        return await told(session, wanted.key)

    async def become(request: Request) -> Response:
        address = request.scope.get("beholder.address", "")
        body = await read_json(request)
        fields = body if isinstance(body, Mapping) else {}
        given, device = fields.get("code"), fields.get("device", {})
        if not isinstance(given, str) or len(given) > _LONGEST_CODE:
            raise Refused.because("code_not_a_text", where="code", allowed='{"code": "K7QM4X"}')
        guesses.take(address)
        shown = read_device(device) if isinstance(device, Mapping) else {}
        session, number = await couple(service.context, given, shown)
        guesses.give_back(address)
        token = tokens.stage_token(service.store.secret, study.name, session, number)
        return JsonReply({"token": token, "title": study.title})

    async def report(request: Request) -> Response:
        stage = tokens.read_stage_token(service.store.secret, study.name, read_bearer(request, service.words))
        limit.take(f"stage {stage.session}")
        told = read_report(await read_json(request))
        return JsonReply(await take_report(await service.context_of(stage.session), stage, told))

    return [
        ApiRoute("/s/{study}/stage", show, operations.SHOW_STAGE),
        ApiRoute("/api/stage", state, operations.STAGE_STATE),
        ApiRoute("/api/stage/code", code, operations.STAGE_CODE),
        ApiRoute("/api/stage/order", order, operations.STAGE_ORDER),
        ApiRoute("/api/stage/couple", become, operations.STAGE_COUPLE),
        ApiRoute("/api/stage/report", report, operations.STAGE_REPORT),
    ]
