"""The flow of participants as a drawing for a paper, in the manner of CONSORT: a box for each step, and beside the
arrow to the next one who went no further, with the reasons.

Drawn as SVG by hand: boxes, arrows and lines of text are all that it takes. Lines are broken by letters, as no font is
at hand; the boxes leave room for wide ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from beholder.analysis.figures.theme import INK, PAPER
from beholder.formats import count, nonzero_percent, plural
from beholder.reporting.cleaning import STEP_WORDS, people_and_sessions
from beholder.reporting.html import tag
from beholder.reporting.material import Material
from beholder.reporting.questionnaire import people_words

NAME = "flow"
_WIDTH, _MAIN, _SIDE, _GAP = 520, 210, 250, 26
"""Points: the whole drawing, boxes of steps, boxes of reasons, and what is between two steps."""
_LINE_HEIGHT, _PAD, _SIZE = 13, 8, 10
_MAIN_LETTERS, _SIDE_LETTERS = 36, 42
_MOST_REASONS = 6
_JUDGED = ("accepted", "used")
"""Steps that are what somebody decided, and not what people did."""
_FONT = "Liberation Sans, Helvetica, Arial, sans-serif"


def flow_svg(material: Material) -> str | None:
    """Return the drawing as SVG; None without sessions."""
    steps: Sequence[Mapping[str, Any]] = material.account.get("flow") or ()
    if not steps or not steps[0]["sessions"]:
        return None
    words = people_words(material)
    came = steps[0]["people"]
    parts, top = [], 1.0
    for place, step in enumerate(steps):
        lines = _step_lines(step, came, words)
        height = _height(lines)
        lost = _lost_lines(step["lost"]) if step["lost"] else []
        if place:
            # Who is lost at a step stands beside the arrow that leads to it.
            room = max(_GAP, _height(lost) + 12 if lost else 0)
            parts.append(_arrow(top, top + room))
            if lost:
                middle = top + room / 2
                parts += [
                    _line(_MAIN / 2, middle, _WIDTH - _SIDE, middle),
                    _head(_WIDTH - _SIDE, middle, is_down=False),
                ]
                parts.append(_box(_WIDTH - _SIDE, middle - _height(lost) / 2, _SIDE, lost))
            top += room
        parts.append(_box(0.5, top, _MAIN, lines))
        top += height
    title = tag("title", "Flow of participants")
    body = f"{title}{''.join(parts)}"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {top + 1:g}" font-family="{_FONT}">{body}</svg>'
    )


def _step_lines(step: Mapping[str, Any], came: int, words: tuple[str, str]) -> list[str]:
    n, sessions = step["people"], step["sessions"]
    share = f" ({nonzero_percent(n / came)})".replace(" %", "\u00a0%") if came and step["step"] != "came" else ""
    verb = f"{plural(n, 'is', 'are')} " if step["step"] in _JUDGED else ""
    lines = wrap(f"{n:,} {plural(n, *words)} {verb}{STEP_WORDS[step['step']]}{share}", _MAIN_LETTERS)
    return lines if sessions == n else [*lines, count(sessions, "session")]


def _lost_lines(lost: Sequence[Mapping[str, Any]]) -> list[str]:
    whole = {kind: sum(one[kind] for one in lost) for kind in ("people", "sessions")}
    lines = [f"No further: {people_and_sessions(whole)}"]
    for one in lost[:_MOST_REASONS]:
        lines += wrap(f"{one['words']}: {people_and_sessions(one)}", _SIDE_LETTERS, subsequent_indent="  ")
    if rest := lost[_MOST_REASONS:]:
        lines.append(f"Other reasons: {sum(one['people'] for one in rest):,}")
    return lines


def _height(lines: Sequence[str]) -> float:
    return len(lines) * _LINE_HEIGHT + 2 * _PAD - 3


def _box(left: float, top: float, width: float, lines: Sequence[str]) -> str:
    height = _height(lines)
    frame = tag(
        "rect", x=f"{left:g}", y=f"{top:g}", width=f"{width - 1:g}", height=f"{height:g}", fill=PAPER, stroke=INK,
        stroke_width="0.8",
    )  # fmt: skip
    texts = [
        tag(
            "text", line, x=f"{left + _PAD:g}", y=f"{top + _PAD + _SIZE - 1 + place * _LINE_HEIGHT:g}", fill=INK,
            font_size=str(_SIZE),
        )
        for place, line in enumerate(lines)
    ]  # fmt: skip
    return "".join([frame, *texts])


def _arrow(start: float, end: float) -> str:
    return _line(_MAIN / 2, start, _MAIN / 2, end) + _head(_MAIN / 2, end, is_down=True)


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return tag("line", x1=f"{x1:g}", y1=f"{y1:g}", x2=f"{x2:g}", y2=f"{y2:g}", stroke=INK, stroke_width="0.8")


def _head(x: float, y: float, *, is_down: bool) -> str:
    points = [(x - 3, y - 5), (x + 3, y - 5), (x, y)] if is_down else [(x - 5, y - 3), (x - 5, y + 3), (x, y)]
    return tag("polygon", points=" ".join(f"{a:g},{b:g}" for a, b in points), fill=INK)
