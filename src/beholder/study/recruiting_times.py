"""Whether the days and times of a study exist, and come in an order that makes sense."""

from __future__ import annotations

import calendar
import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from beholder.study.document import Place
from beholder.study.fault import Fault
from beholder.study.part import SPAN, span
from beholder.study.reader import shown
from beholder.study.recruiting import longest_minutes, moment

_SHAPE = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})([T ][0-9]{2}:[0-9]{2}(Z|[+-][0-9]{2}:[0-9]{2}))?")


def time_faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Yield moments that do not exist, and those that come before what they have to follow."""
    recruit, retention = _map(data.get("recruit")), data.get("retention")
    yield from _limit(recruit)
    written: dict[Place, Any] = {("recruit", key): recruit.get(key) for key in ("opens", "closes")}
    written |= {("retention", key): _map(retention).get(key) for key in ("identity", "answers")}
    if isinstance(retention, str):
        written["retention",] = retention
    times: dict[Place, datetime] = {}
    for place, text in written.items():
        shape = _SHAPE.fullmatch(text) if isinstance(text, str) else None
        if shape is None:  # what it has to look like is told by its kind
            continue
        try:
            times[place] = moment(text)
        except ValueError:
            yield Fault(f"is {shown(text)}, and there is no such {_kind(shape)}", _nearest(shape), "", place)
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
    mode, limit, minutes = recruit.get("mode"), recruit.get("time_limit"), recruit.get("minutes")
    if not _is_span(limit) or isinstance(minutes, bool) or not isinstance(minutes, int | float) or minutes <= 0:
        return
    given = span(str(limit)).total_seconds() / 60
    place: Place = ("recruit", "time_limit")
    needed = longest_minutes(minutes)
    if mode == "prolific" and given < needed:
        what = f"is {limit}, and Prolific asks for {needed} min where people are told {minutes:g}"
        yield Fault(what, f"{needed} min or more", "Leave it out to take Prolific's own.", place)
    elif given < minutes:
        what = f"is {limit}, and people are told that it takes {minutes:g} min"
        yield Fault(what, f"{minutes:g} min or more", "Give slow people twice that time, or shorten minutes.", place)
    if mode == "prolific" and given >= 24 * 60:
        yield Fault(f"is {limit}, and Prolific allows less than a day", f"{needed} min to 1439 min", "", place)


def _is_span(value: object) -> bool:
    return isinstance(value, str) and re.fullmatch(SPAN, value) is not None


def _kind(shape: re.Match[str]) -> str:
    return "day" if _day(shape) != shape[0][:10] else "time"


def _day(shape: re.Match[str]) -> str:
    """Return the day of the calendar that is nearest to what was written."""
    year, month = max(int(shape[1]), 1), min(max(int(shape[2]), 1), 12)
    return f"{year:04}-{month:02}-{min(max(int(shape[3]), 1), calendar.monthrange(year, month)[1]):02}"


def _nearest(shape: re.Match[str]) -> str:
    day = _day(shape)
    return f"a day such as {day}" if day != shape[0][:10] else f"a time such as {day} 09:00+01:00"


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
