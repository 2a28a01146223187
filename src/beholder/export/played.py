"""How everything played, and what people wrote: rows as in clean/, each column described."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.clean import comments as written
from beholder.clean import playback as played
from beholder.export import columns as c
from beholder.export.columns import Column, Filled, Kind, Table, described
from beholder.export.source import Source

_COUNTS = frozenset(
    {
        "plays", "stalls", "dropped", "frames", "blurs", "away", "errors", "changes", "exits", "page_blurs",
        "page_changes",
    }
)  # fmt: skip
_MEASURED: Mapping[str, str] = {
    "plays": "How often it was begun from the start; rounds of a loop do not count.",
    "watched_ms": "How long it was played in all.",
    "coverage": "Share of it that was played at least once, 0 to 1.",
    "furthest_ms": "The latest moment that was reached.",
    "length_ms": "Its length by our probe; of images and texts, how long they must be in view.",
    "duration_ms": "Its length as the browser decodes it.",
    "played_ms": "How long the last whole play took by the clock, stalls included.",
    "whole_ms": "How long the first whole play took.",
    "ended_ms": "When, since the page was shown, it first came to its end.",
    "stalls": "How often it halted for data.",
    "stalled_ms": "The longest halt: in the calmest whole play or, where there is none, in all.",
    "dropped": "Frames that were dropped.",
    "frames": "Frames that were drawn.",
    "blurs": "How often the window was left while it played.",
    "away": "How often window or full screen was left while it played, until it was played whole without that.",
    "errors": "Failures to load or decode.",
    "changes": "How often an answer about it was changed.",
    "displayed_width": "Its width on the page, in CSS pixels.",
    "displayed_height": "Its height on the page, in CSS pixels.",
    "skew_ms": "How far the slots of the page were apart at most, where they play on one clock.",
    "first_ms": "Of the page: time to the first action.",
    "exits": "Of the page: how often full screen was left.",
    "page_blurs": "Of the page: how often the window was left.",
    "page_changes": "Of the page: changes of answers that belong to no single slot.",
    "viewport_width": "Of the page: width of the window, in CSS pixels.",
    "viewport_height": "Of the page: height of the window, in CSS pixels.",
    "screen_width": "Of the page: width of the screen, in CSS pixels.",
    "screen_height": "Of the page: height of the screen, in CSS pixels.",
    "dpr": "Of the page: device pixels per CSS pixel.",
}
_SHOWN = (
    c.SESSION, c.PARTICIPANT, c.POSITION, c.TRIAL, c.SLOT, c.ROLE, c.CONTENT, c.CONDITION, c.STIMULUS, c.INPUT,
)  # fmt: skip


def _measure(name: str) -> Kind:
    return "integer" if name in _COUNTS else "number"


PLAYBACK = Table(
    "playback",
    "slot of each page that was answered, rated or not: how it played",
    described(
        played.COLUMNS,
        {
            **{name: (_measure(name), text) for name, text in _MEASURED.items()},
            **{column.name: column for column in _SHOWN},
            "label": ("text", "Its letter or name on the page."),
            "colour": ("text", "Its colour on the page."),
            "rated": ("boolean", "Whether it was to be rated."),
            "together": ("boolean", "Whether all slots of the page played at once, on one clock."),
        },
    ),
    ("session", "position", "slot"),
    (c.OF_SESSION, c.OF_PARTICIPANT),
)
COMMENTS = Table(
    "comments",
    "reason or comment that somebody wrote",
    described(
        written.COLUMNS,
        {
            **{column.name: column for column in _SHOWN},
            "question": ("text", "The question that a reason belongs to; empty for a comment."),
            "kind": Column("kind", "text", "What it is.", ("reason", "comment")),
            "text": ("text", "What was written, with an apostrophe before what a spreadsheet would run."),
        },
    ),
    (),
    (c.OF_SESSION, c.OF_PARTICIPANT),
)


def playback(source: Source) -> Filled:
    """Return how every slot of every answered page played."""
    visits = [one.visit for one in source.judging.judged]
    lines = played.playback_lines(visits, source.judging.facts.stimuli)
    return Filled(PLAYBACK, (dict(zip(played.COLUMNS, line, strict=True)) for line in lines))


def comments(source: Source) -> Filled | None:
    """Return what people wrote; None where that is to be left out."""
    if not source.withheld.with_texts:
        return None
    rows = written.comment_rows([one.visit for one in source.judging.judged])
    return Filled(COMMENTS, ({**row, "text": source.withheld.words(COMMENTS.name, row["text"])} for row in rows))
