"""The page Replay: a session as a timeline for each page, from the event log that the browser sent."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from beholder.cleaning.decisions import reason_words
from beholder.cleaning.facts import SessionRecord, position_of
from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.people import title_of
from beholder.desk.documents.study_facts import CodeNames, StudyMoment
from beholder.desk.viewer import Viewer
from beholder.errors import Refused
from beholder.methods.contract import Slot, Trial
from beholder.store.contract import DRAFT, Events
from beholder.study.markdown import plain_text
from beholder.types import Json

_PLAYING = ("play", "pause", "ended", "seek", "stall", "rate", "error")
_LINE = 20_000
"""Events of one page that are told one by one; more than a browser of ours ever logs."""
_Log = list[tuple[float, str, str | None, Any]]


async def document(study: DeskStudy, viewer: Viewer, *, person: str, session: str, page: str = "") -> dict[str, Json]:
    """Return the pages of a session, and the timeline of one of them.

    The page is named by its key; without one it is the first trial, or the first page.
    """
    moment = await study.facts.moment()
    record = moment.by_participant.get(person)
    visited = next((one for one in record.sessions if one.session == session), None) if record is not None else None
    if record is None or visited is None:
        raise Refused("is not of this person", where="session", code="unknown_session", status=404)
    names = moment.code_names(is_blinded=viewer.blinded)
    judged = moment.judged.get(session)
    visit = judged.visit if judged is not None else None
    stored = await study.context.store.session_facts(session)
    answers = stored.answers if stored is not None and not stored.erased else {}
    keys = sorted(answers, key=lambda key: (answers[key].shown_ms, answers[key].at))
    if page not in keys and not await study.context.store.step_events(session, page):
        page = next((key for key in keys if key.startswith("trial:")), keys[0] if keys else "")
    batches = await study.context.store.step_events(session, page) if page else ()
    answer = answers.get(page)
    timeline = None
    if page:
        log = merged_log(batches, answer.tab if answer is not None else None)
        trial = _trial_of(visit, page)
        shown = _Shown(study, moment, names, visit, trial)
        length = answer.sent_ms - answer.shown_ms if answer is not None else max((one[0] for one in log), default=0)
        timeline = {
            "key": page,
            "title": title_of(page),
            "length_ms": max([length, *(one[0] for one in log)], default=0),
            "shown_at": _moment(answer.shown_ms) if answer is not None else None,
            "answered_at": answer.at.isoformat() if answer is not None else None,
            "input": answer.input if answer is not None else None,
            "slots": [shown.slot(slot) for slot in (trial.slots if trial is not None else ())],
            **timeline_of(log, shown),
            "other_tabs": len({one.tab for one in batches} - ({answer.tab} if answer is not None else set())),
        }
    return {
        "key": study.key,
        "blinded": viewer.blinded,
        "participant": person,
        "session": session,
        "outcome": visited.outcome,
        "reasons": [names.text(reason_words(reason)) for reason in visited.reasons],
        "began": visited.began.isoformat(),
        "erased": visited.is_erased,
        "pages": [_page(key, answers[key].shown_ms, answers[key].sent_ms, answers[key].playback) for key in keys],
        "page": timeline,
    }


def _moment(ms: float) -> str | None:
    """Return a time of the browser's clock; None where it is none."""
    try:
        return datetime.fromtimestamp(ms / 1000, UTC).isoformat() if ms > 0 else None
    except (OverflowError, OSError, ValueError):
        return None


def _page(key: str, shown_ms: float, sent_ms: float, playback: Any) -> dict[str, Json]:
    """Return a page in a line: how long it was there, and what was odd about it."""
    slots = [one for name, one in playback.items() if name != "page" and isinstance(one, Mapping)]
    page = playback.get("page") if isinstance(playback.get("page"), Mapping) else {}
    return {
        "key": key,
        "title": title_of(key),
        "seconds": round((sent_ms - shown_ms) / 1000, 1),
        "plays": sum(int(one.get("plays") or 0) for one in slots),
        "stalls": sum(int(one.get("stalls") or 0) for one in slots),
        "blurs": int(page.get("blurs") or 0),
        "least_watched": min((float(one.get("coverage") or 0) for one in slots), default=None),
    }


def _trial_of(visit: SessionRecord | None, key: str) -> Trial | None:
    """Return the trial or the example that a page shows."""
    if visit is None:
        return None
    if (position := position_of(key)) and position <= len(visit.trials):
        return visit.trials[position - 1]
    kind, _, rest = key.partition(":")
    number = rest.partition(":")[0]
    if kind == "training" and number.isdecimal() and 0 < int(number) <= len(visit.lessons):
        return visit.lessons[int(number) - 1]
    return None


class _Shown:
    """What a page shows, as the viewer may see it."""

    def __init__(
        self, study: DeskStudy, moment: StudyMoment, names: CodeNames, visit: SessionRecord | None, trial: Trial | None
    ) -> None:
        self._study, self._moment, self._names, self._visit = study, moment, names, visit
        self.asked = {one.id: one for one in trial.asked} if trial is not None else {}

    def slot(self, slot: Slot) -> dict[str, Json]:
        """Return a slot with its stimulus, whose address tells nothing."""
        row = self._moment.stimuli.get(slot.stimulus, {})
        probe = row.get("probe")
        length = probe.get("duration_ms") if isinstance(probe, Mapping) else None
        return {
            "id": slot.id,
            "label": slot.label,
            "content": row.get("content"),
            "condition": self._names.condition(str(row["condition"])) if row else None,
            "role": None if self._names.is_blinded else slot.role,
            "medium": row.get("medium", "video"),
            "length_ms": length,
            "media": self._study.media_address(slot.stimulus),
            "rated": slot.rated,
        }

    def control(self, question: str | None, slot: str | None) -> dict[str, Json]:
        """Return the control of a question for a slot: what it asks, and its range."""
        asked = self.asked.get(question or "")
        scale: Json = None
        if asked is not None and not asked.ticks:
            labels: list[Json] = [[value, plain_text(words)] for value, words in asked.scale.labels]
            scale = {"min": asked.scale.min, "max": asked.scale.max, "labels": labels, "look": asked.scale.look}
        text = plain_text(asked.text) if asked is not None else question or ""
        return {"question": question, "slot": slot, "text": text, "scale": scale}


# The log of a page


def merged_log(batches: Sequence[Events], tab: str | None) -> _Log:
    """Return the events of a page in their order: those of the tab that answered, else of the one with the most.

    A batch that was sent twice is in it once. What was half done is no event.
    """
    by_tab: dict[str, dict[int, Any]] = defaultdict(dict)
    for batch in batches:
        for place, event in enumerate(batch.events, batch.first):
            by_tab[batch.tab].setdefault(place, event)
    if not by_tab:
        return []
    chosen = tab if tab in by_tab else max(by_tab, key=lambda one: len(by_tab[one]))
    log: _Log = []
    now = 0.0
    for _, event in sorted(by_tab[chosen].items()):
        ms, kind, slot, data = event
        if kind == DRAFT:
            continue
        now = max(now, float(ms))  # a clock that runs backwards adds nothing
        log.append((now, str(kind), slot, data if isinstance(data, Mapping) else {}))
    return log[:_LINE]


@dataclass
class _Stretches:
    """What played in one slot: stretches of the clock with the place in the file at which they began."""

    slot: str
    open: tuple[float, float] | None = None
    stalled: float | None = None
    plays: list[dict[str, Json]] = field(default_factory=list)
    stalls: list[dict[str, Json]] = field(default_factory=list)

    def begin(self, ms: float, at: float) -> None:
        """Begin to play at a place of the file."""
        self._go_on(ms)
        if self.open is None:
            self.open = ms, at

    def end(self, ms: float, why: str, at: float | None = None) -> None:
        """Stop playing, for a reason."""
        self._go_on(ms)
        if self.open is not None:
            began, start = self.open
            end = start + (ms - began) if at is None else at
            self.plays.append({"slot": self.slot, "from_ms": began, "to_ms": ms, "at": start, "to": end, "why": why})
            self.open = None

    def stall(self, ms: float, at: float | None) -> None:
        """Stop because nothing has come to play."""
        self.end(ms, "stall", at)
        self.stalled = ms

    def _go_on(self, ms: float) -> None:
        if self.stalled is not None:
            self.stalls.append({"slot": self.slot, "from_ms": self.stalled, "to_ms": ms})
            self.stalled = None


def timeline_of(log: _Log, shown: _Shown) -> dict[str, Json]:
    """Return what happened on a page: what played when, who looked away, the path of every control, and each moment."""
    last = max((one[0] for one in log), default=0.0)
    slots: dict[str, _Stretches] = {}
    paths: dict[tuple[str | None, str | None], list[list[Json]]] = {}
    away: list[dict[str, Json]] = []
    full: list[dict[str, Json]] = []
    gone: float | None = None
    filled: float | None = None
    for ms, kind, slot, data in log:
        if kind in _PLAYING and slot is not None:
            _play(slots.setdefault(slot, _Stretches(slot)), ms, kind, _number(data.get("at")), data)
        elif kind == "change":
            question = data.get("question")
            place = (question if isinstance(question, str) else None, slot)
            paths.setdefault(place, []).append([ms, _changed_value(data)])
        elif kind in ("focus", "visibility"):
            is_leaving = data.get("has") is False or data.get("hidden") is True
            if is_leaving and gone is None:
                gone = ms
            elif not is_leaving and gone is not None:
                away.append({"from_ms": gone, "to_ms": ms})
                gone = None
        elif kind == "fullscreen":
            if data.get("on") is True:
                filled = ms if filled is None else filled
            elif filled is not None:
                full.append({"from_ms": filled, "to_ms": ms})
                filled = None
        elif kind == "shown":
            for one in slots.values():
                one.end(ms, "reload")
    for one in slots.values():
        one.end(last, "over")
    if gone is not None:
        away.append({"from_ms": gone, "to_ms": last})
    if filled is not None:
        full.append({"from_ms": filled, "to_ms": last})
    return {
        "plays": [play for one in slots.values() for play in one.plays],
        "stalls": [stall for one in slots.values() for stall in one.stalls],
        "away": [*away],
        "full": [*full],
        "controls": [{**shown.control(question, slot), "path": [*path]} for (question, slot), path in paths.items()],
        "moments": [*_moments(log)],
    }


def _play(one: _Stretches, ms: float, kind: str, at: float | None, data: Mapping[str, Any]) -> None:
    if kind == "play":
        one.begin(ms, at or 0.0)
    elif kind == "stall":
        one.stall(ms, at)
    else:
        one.end(ms, kind, at)


def _changed_value(data: Mapping[str, Any]) -> Json:
    """Return what was set; of words only how many letters, as the log has no more."""
    if "value" in data:
        value: Json = data["value"]
        return value
    return {"length": data["length"]} if "length" in data else None


def _number(value: Any) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


_KEPT: Mapping[str, tuple[str, ...]] = {
    "shown": ("again",), "load": ("ms", "bytes"), "play": ("at",), "pause": ("at",), "ended": ("at",),
    "seek": ("at", "to"), "stall": ("at",), "rate": ("rate",), "error": ("what",), "visibility": ("hidden",),
    "focus": ("has",), "fullscreen": ("on",), "change": ("question", "value", "length"), "key": ("key",),
    "click": ("what",), "press": ("by",), "view": (),
}  # fmt: skip
"""What is told of each kind of event; others are measurements, which the evidence has."""


def _moments(log: Iterable[tuple[float, str, str | None, Mapping[str, Any]]]) -> Iterator[dict[str, Json]]:
    """Yield every event that says what somebody did, or what happened to them."""
    for ms, kind, slot, data in log:
        if kind in _KEPT:
            names = _KEPT[kind] or tuple(data)
            yield {"ms": ms, "kind": kind, "slot": slot, "data": {name: data[name] for name in names if name in data}}
