"""Faults of recruitment, money, times and retention, judged by the values as read."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from beholder.errors import did_you_mean
from beholder.formats import listed
from beholder.study.csv_files import MOST_TABLE_BYTES
from beholder.study.parts import SPAN, Fault, duration, path_fault, size_fault
from beholder.study.reader import dotted, quoted
from beholder.study.recruitment import SOURCES, ParticipantSource, Recruit, Sum, is_money, moment, money, source_of
from beholder.study.yaml import Place

_OPEN = tuple(source.mode for source in SOURCES)
_MODES: Mapping[str, Sequence[str]] = {
    key: modes
    for key in Recruit.model_fields
    if (modes := [source.mode for source in SOURCES if key in source.options])
}
"""Keys that only some modes have."""
_CLOSED = ("mturk", "amt")
"""Amazon Mechanical Turk, as people would write it."""
_PLACEHOLDERS = ("code", "id")
_LIMITS: tuple[tuple[str, int, int | None], ...] = (
    ("age", 18, 100), ("approval_rate", 0, 100), ("approved_submissions", 0, None),
)  # fmt: skip
"""Filters with numbers, and their limits."""


def recruitment_faults(data: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    """Yield the faults of recruitment, with places from the top of the study."""
    recruit = _map(data.get("recruit"))
    mode = recruit.get("mode", Recruit().mode)
    for key, modes in _MODES.items():
        if mode in _OPEN and mode not in modes and _is_chosen(key, recruit.get(key)):
            what = f"does not go with mode {mode}"
            fix = "Take it out, or change recruit.mode."
            yield Fault(what, f"mode {listed(modes)}", fix, ("recruit", key))
    if mode in _CLOSED:
        fix = "Use prolific, or panel with any platform that passes an id and takes a code."
        yield Fault(f"is {mode}, which closed on 30 September 2026", listed(_OPEN), fix, ("recruit", "mode"))
    yield from _source(recruit).faults(recruit)
    yield from _amounts(data, recruit)
    yield from _time_faults(data)
    yield from _returns(recruit)
    yield from _codes(recruit)
    yield from _files(recruit, folder)
    yield from _ranges(_map(recruit.get("filters")))


def _is_chosen(key: str, value: Any) -> bool:
    """Return whether a key is set to anything but its default: a resolved study holds every key."""
    if isinstance(value, Mapping):
        return any(_is_chosen("", one) for one in value.values())
    default = Recruit.model_fields[key].default if key else None
    return bool(value) and value != default


def _source(recruit: Mapping[str, Any]) -> ParticipantSource:
    """Return the source of a mode as read; a plain one where there is no such mode."""
    mode = recruit.get("mode", Recruit().mode)
    return source_of(mode) if mode in _OPEN else ParticipantSource()


def _amounts(data: Mapping[str, Any], recruit: Mapping[str, Any]) -> Iterator[Fault]:
    bonus = _map(_map(data.get("clean")).get("bonus"))
    written: dict[Place, Any] = {("recruit", key): recruit.get(key) for key in ("reward", "screen_out")}
    written["recruit", "hourly_minimum"] = recruit.get("hourly_minimum")
    written |= {("clean", "bonus", key, "each"): _map(bonus.get(key)).get("each") for key in ("quantity", "quality")}
    written["budget",] = data.get("budget")
    written["design", "stop", "budget"] = _map(_map(data.get("design")).get("stop")).get("budget")
    sums = {place: amount for place, text in written.items() if (amount := _sum(text)) is not None}
    if not sums:
        return
    leader, first = next(iter(sums.items()))
    for place, amount in sums.items():
        is_reported = leader[0] == place[0] == "clean"  # by the model of the two bonuses
        if amount.currency != first.currency and not is_reported:
            what = f"is {amount}, and {dotted(leader)} is {first}"
            yield Fault(what, f"an amount in {first.currency}", "Write all amounts in one currency.", place)
    reward, out = sums.get(("recruit", "reward")), sums.get(("recruit", "screen_out"))
    if reward and out and out.currency == reward.currency and out.minor >= reward.minor:
        what, fix = f"is {out}, and recruit.reward is {reward}", "Whoever finishes earns more than who did not fit."
        yield Fault(what, f"an amount below {reward}", fix, ("recruit", "screen_out"))


def _returns(recruit: Mapping[str, Any]) -> Iterator[Fault]:
    for outcome, address in _map(recruit.get("return_to")).items():
        place: Place = ("recruit", "return_to", outcome)
        if not isinstance(address, str) or not address.strip():
            continue
        if not _is_https(address):
            yield Fault(f"is {quoted(address)}", "an address that begins with https://", "", place)
        for name in re.findall(r"\{([^{}]*)\}", address):
            if name not in _PLACEHOLDERS:
                fix = did_you_mean(name, _PLACEHOLDERS)
                yield Fault(f"holds {{{name}}}, which nothing fills in", "{code} and {id}", fix, place)


def _codes(recruit: Mapping[str, Any]) -> Iterator[Fault]:
    first: dict[str, str] = {}
    for outcome, code in _map(recruit.get("codes")).items():
        if not isinstance(code, str):
            continue
        if code in first:
            what = f"is {quoted(code)}, as is recruit.codes.{first[code]}"
            fix = "A code tells how a session ended: give each outcome its own."
            yield Fault(what, "every code once", fix, ("recruit", "codes", outcome))
        first.setdefault(code, outcome)


def _files(recruit: Mapping[str, Any], folder: Path) -> Iterator[Fault]:
    for key, allowed in (("block", "a text file with one id a line"), ("people", "a CSV with a column id")):
        path = recruit.get(key)
        if not isinstance(path, str):
            continue
        fault = path_fault(path, folder) or size_fault(folder / path, MOST_TABLE_BYTES)
        if fault is None and not (folder / path).is_file():
            fault = Fault(f"is {quoted(path)}, and there is no such file", allowed)
        if fault is None and key == "block" and not _is_text(folder / path):
            fault = Fault(f"is {quoted(path)}, which is not UTF-8 text", allowed, "Save it as UTF-8.")
        if fault is not None:
            yield Fault(fault.what, fault.allowed, fault.fix, ("recruit", key))
    excluded = recruit.get("exclude")
    for index, path in enumerate(excluded if isinstance(excluded, list) else ()):
        place: Place = ("recruit", "exclude", index)
        if not isinstance(path, str):
            continue
        if not (folder / path).is_dir():
            what = f"is {quoted(path)}, and there is no such folder"
            yield Fault(what, "the folder of another study, such as ../first-study", "", place)
        elif (folder / path).resolve() == folder.resolve():
            what, fix = f"is {quoted(path)}, the folder of this study", "Nobody begins a study twice anyway."
            yield Fault(what, "the folder of another study", fix, place)


def _ranges(filters: Mapping[str, Any]) -> Iterator[Fault]:
    for key, low, high in _LIMITS:
        ends = _numbers(filters.get(key))
        if any(end < low or (high is not None and end > high) for end in ends):
            words = f"{low} to {high}" if high is not None else f"{low} or more"
            yield Fault(f"is {_shown(ends)}", words, "", ("recruit", "filters", key))
        else:
            yield from _reversed(ends, ("recruit", "filters", key))
    for key, value in _map(filters.get("more")).items():
        yield from _reversed(_numbers(value), ("recruit", "filters", "more", key))


def _reversed(ends: Sequence[float], place: Place) -> Iterator[Fault]:
    if len(ends) == 2 and ends[0] > ends[1]:
        yield Fault(f"is {_shown(ends)}", f"the lower one first: {_shown(ends[::-1])}", "", place)


def _numbers(value: object) -> Sequence[float]:
    """Return the ends of a range, or its one end; nothing for other values."""
    ends: list[Any] = value if isinstance(value, list) else [value]
    return [] if any(isinstance(end, bool) or not isinstance(end, int | float) for end in ends) else ends


def _shown(ends: Sequence[float]) -> str:
    return f"[{', '.join(f'{end:g}' for end in ends)}]" if len(ends) > 1 else f"{ends[0]:g}"


def _is_https(address: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    return parts.scheme == "https" and bool(parts.hostname) and not re.search(r"\s", address)


def _is_text(path: Path) -> bool:
    try:
        path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return False
    return True


def _sum(value: object) -> Sum | None:
    """Return the sum of a value; None where it is no amount, which is reported elsewhere."""
    return money(value) if isinstance(value, str) and is_money(value) else None


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


# Days and times

_SHAPE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ][0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?")


def _time_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield moments that do not exist, and those in the wrong order."""
    recruit, retention = _map(data.get("recruit")), data.get("retention")
    yield from _limit(recruit)
    written: dict[Place, Any] = {("recruit", key): recruit.get(key) for key in ("opens", "closes")}
    written |= {("retention", key): _map(retention).get(key) for key in ("identity", "answers")}
    if isinstance(retention, str):
        written["retention",] = retention
    times: dict[Place, datetime] = {}
    for place, text in written.items():
        shape = _SHAPE.fullmatch(text) if isinstance(text, str) else None
        if shape is None:  # its format is reported by its kind
            continue
        try:
            times[place] = moment(text)
        except ValueError:
            yield Fault(f"is {quoted(text)}, and there is no such {_kind(shape)}", _nearest(shape), "", place)
    opens, closes = times.get(("recruit", "opens")), times.get(("recruit", "closes"))
    if opens and closes and closes <= opens:
        what = f"is {written['recruit', 'closes']}, and recruit.opens is {written['recruit', 'opens']}"
        yield Fault(what, "a time after it opens", "", ("recruit", "closes"))
    identity, answers = times.get(("retention", "identity")), times.get(("retention", "answers"))
    if identity and answers and answers < identity:
        what = f"is {written['retention', 'answers']}, and retention.identity is {written['retention', 'identity']}"
        fix = "Who is forgotten has no answers to keep a name for."
        yield Fault(what, f"{written['retention', 'identity']} or later", fix, ("retention", "answers"))


def _limit(recruit: Mapping[str, Any]) -> Iterator[Fault]:
    limit, minutes = recruit.get("time_limit"), recruit.get("minutes")
    if not _is_span(limit) or isinstance(minutes, bool) or not isinstance(minutes, int | float) or minutes <= 0:
        return
    allowed = duration(str(limit)).total_seconds() / 60
    for fault in _source(recruit).limit_faults(str(limit), allowed, minutes):
        yield replace(fault, place=("recruit", "time_limit"))


def _is_span(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(SPAN, value) is not None


def _kind(shape: re.Match[str]) -> str:
    return "day" if _day(shape) != shape[0][:10] else "time"


def _day(shape: re.Match[str]) -> str:
    """Return the nearest day of the calendar."""
    year, month = max(int(shape[1]), 1), min(max(int(shape[2]), 1), 12)
    return f"{year:04}-{month:02}-{min(max(int(shape[3]), 1), calendar.monthrange(year, month)[1]):02}"


def _nearest(shape: re.Match[str]) -> str:
    day = _day(shape)
    return f"a day such as {day}" if day != shape[0][:10] else f"a time such as {day} 09:00+01:00"
