"""What people were shown and asked: study texts, stimuli, questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beholder.clean.texts import StudyText
from beholder.export import columns as c
from beholder.export.columns import Column, Filled, Table, factor_columns
from beholder.export.source import Source

STUDIES = Table(
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
QUESTIONS = Table(
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


def studies(source: Source) -> Filled:
    """Return the study texts that sessions began with."""
    used = {row["digest"] for row in source.sessions.values()}
    rows = [row for row in source.tables["studies"] if row["digest"] in used]
    texts = source.judging.texts
    return Filled(
        STUDIES,
        ({**row, "title": texts[row["digest"]].title if row["digest"] in texts else None, "begun_at": row.get("at")}
         for row in rows),
    )  # fmt: skip


def stimuli(source: Source) -> Filled:
    """Return the stimuli of these study texts, with what was measured of each file."""
    used = {row["digest"] for row in source.sessions.values()}
    rows = [row for row in source.tables["stimuli"] if row["digest"] in used]
    names = sorted({name for row in rows for name in row["factors"]})
    table = Table(
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
    return Filled(table, map(_stimulus, rows))


def _stimulus(row: Mapping[str, Any]) -> dict[str, Any]:
    factors = {f"factor_{name}": value for name, value in row["factors"].items()}
    return {**row, **{name: row["probe"].get(name) or None for name in _PROBE}, **factors}


def questions(source: Source) -> Filled:
    """Return what was asked, in the words that people read."""
    texts = source.judging.texts
    return Filled(QUESTIONS, (row for digest, text in texts.items() for row in _asked(digest, text)))


def _asked(digest: str, text: StudyText) -> Iterator[dict[str, Any]]:
    for question in text.questions:
        known = {"digest": digest, "place": "trial", "question": question.id, "text": question.text}
        if question.ticks:
            yield {**known, "type": "ticks", "labels": list(question.ticks)}
        else:
            scale = question.scale
            yield {
                **known, "type": "scale", "scale_min": scale.min, "scale_max": scale.max,
                "labels": [list(label) for label in scale.labels], "keyed": question.keyed or "+",
            }  # fmt: skip
    for place, asks in (("before", text.before), ("after", text.after)):
        for ask in asks:
            yield {
                "digest": digest, "place": place, "question": ask.id, "text": ask.text, "type": ask.type,
                "scale_min": ask.min, "scale_max": ask.max if ask.type == "number" else None,
                "labels": list(ask.options) or None,
            }  # fmt: skip
