"""What participants were shown and asked: study texts, stimuli and questions; playback and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.cleaning import tables as written
from beholder.cleaning.texts import StudyText
from beholder.columns import Column, Kind
from beholder.exporting import columns as c
from beholder.exporting.columns import ExportTable, TableRows, describe, factor_columns
from beholder.exporting.source import ExportSource

STUDIES = ExportTable(
    "studies",
    "study text as it was served",
    (
        c.DIGEST,
        Column("plan_digest", "text", "Hash of what the plan depends on."),
        Column("study", "text", "Name of the study."),
        Column("title", "text", "What participants saw at the top; empty under an earlier plan."),
        Column("software", "text", "The software that served it."),
        Column("begun_at", "time", "When it was first served."),
    ),
    ("digest",),
)
QUESTIONS = ExportTable(
    "questions",
    "question about stimuli, and item of a questionnaire, in each study text",
    (
        c.DIGEST,
        Column("place", "text", "With each stimulus, or before or after the trials.", ("trial", "before", "after")),
        c.QUESTION,
        Column("text", "text", "What participants read."),
        Column(
            "type", "text", "How it is answered.", ("scale", "ticks", "single", "multiple", "likert", "number", "text")
        ),
        Column("scale_min", "number", "The lowest answer."),
        Column("scale_max", "number", "The highest answer."),
        Column("labels", "text", "The words on the scale with their values, or all choices, as JSON."),
        Column("keyed", "text", "`-` where a high answer means less of what the others measure.", ("+", "-")),
    ),
    ("digest", "place", "question"),
    (c.OF_TEXT,),
)
_PROBE = {
    "bytes": "Size of the file.",
    "duration_ms": "How long it plays; of images and texts, how long they must be in view.",
    "width": "Width, in pixels.",
    "height": "Height, in pixels.",
    "fps": "Frames per second.",
    "codec": "How its picture is coded.",
    "audio_codec": "How its sound is coded.",
    "channels": "Channels of its sound.",
    "sample_rate": "Samples per second of its sound.",
    "words": "Of a text: how many words it has.",
}
_NUMBERS = {"duration_ms": "number", "fps": "number", "codec": "text", "audio_codec": "text"}


def studies(source: ExportSource) -> TableRows:
    """Return the study texts of the exported sessions."""
    used = {row["digest"] for row in source.sessions.values()}
    rows = [row for row in source.tables["studies"] if row["digest"] in used]
    texts = source.judging.texts
    return TableRows(
        STUDIES,
        ({**row, "title": texts[row["digest"]].title if row["digest"] in texts else None, "begun_at": row.get("at")}
         for row in rows),
    )  # fmt: skip


def stimuli(source: ExportSource) -> TableRows:
    """Return the stimuli of these study texts, with the properties of each file."""
    used = {row["digest"] for row in source.sessions.values()}
    rows = [row for row in source.tables["stimuli"] if row["digest"] in used]
    names = sorted({name for row in rows for name in row["factors"]})
    table = ExportTable(
        "stimuli",
        "stimulus in each study text",
        (
            c.DIGEST, c.STIMULUS, c.CONTENT, c.CONDITION, c.ROLE,
            Column("medium", "text", "What kind of stimulus it is.", c.MEDIA),
            Column("sha256", "text", "Hash of the file; of the recipe where Beholder made it."),
            *(Column(name, _NUMBERS.get(name, "integer"), text) for name, text in _PROBE.items()),  # type: ignore[arg-type]
            *factor_columns(names),
        ),
        ("digest", "stimulus"),
        (c.OF_TEXT,),
    )  # fmt: skip
    return TableRows(table, map(_stimulus, rows))


def _stimulus(row: Mapping[str, Any]) -> dict[str, Any]:
    factors = {f"factor_{name}": value for name, value in row["factors"].items()}
    return {**row, **{name: row["probe"].get(name) or None for name in _PROBE}, **factors}


def questions(source: ExportSource) -> TableRows:
    """Return the questions, in the words that participants read."""
    texts = source.judging.texts
    return TableRows(QUESTIONS, (row for digest, text in texts.items() for row in _question_rows(digest, text)))


def _question_rows(digest: str, text: StudyText) -> Iterator[dict[str, Any]]:
    for question in text.questions:
        head = {"digest": digest, "place": "trial", "question": question.id, "text": question.text}
        if question.ticks:
            yield {**head, "type": "ticks", "labels": list(question.ticks)}
        else:
            scale = question.scale
            yield {
                **head, "type": "scale", "scale_min": scale.min, "scale_max": scale.max,
                "labels": [list(label) for label in scale.labels], "keyed": question.keyed or "+",
            }  # fmt: skip
    for place, asks in (("before", text.before), ("after", text.after)):
        for ask in asks:
            yield {
                "digest": digest, "place": place, "question": ask.id, "text": ask.text, "type": ask.type,
                "scale_min": ask.min, "scale_max": ask.max if ask.type == "number" else None,
                "labels": list(ask.options) or None,
            }  # fmt: skip


# Playback and comments, with the rows of clean/


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


PLAYBACK = ExportTable(
    "playback",
    "slot of each page that was answered, rated or not: how it played",
    describe(
        written.PLAYBACK_COLUMNS,
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
COMMENTS = ExportTable(
    "comments",
    "reason or comment that somebody wrote",
    describe(
        written.COMMENT_COLUMNS,
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


def playback(source: ExportSource) -> TableRows:
    """Return the playback of every slot of every answered trial."""
    visits = [one.visit for one in source.judging.judged]
    lines = written.playback_lines(visits, source.judging.facts.stimuli)
    return TableRows(PLAYBACK, (dict(zip(written.PLAYBACK_COLUMNS, line, strict=True)) for line in lines))


def comments(source: ExportSource) -> TableRows | None:
    """Return comments and reasons; None if free text is left out."""
    if not source.withheld.with_texts:
        return None
    rows = written.comment_rows([one.visit for one in source.judging.judged])
    return TableRows(COMMENTS, ({**row, "text": source.withheld.words(COMMENTS.name, row["text"])} for row in rows))
