"""What participants were shown and asked: study texts, stimuli and questions; playback and comments."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from beholder.cleaning import columns as c
from beholder.cleaning import playback as played
from beholder.cleaning import tables, time_marks
from beholder.cleaning.stimuli import Known, probe_cells, si_ti_cells, stimulus_columns
from beholder.cleaning.texts import StudyText
from beholder.cleaning.views import VIEW_USE, has_views, view_rows
from beholder.columns import Column, names_of
from beholder.exporting.columns import OF_PARTICIPANT, OF_SESSION, OF_TEXT, ExportTable, TableRows, factor_columns
from beholder.exporting.source import ExportSource
from beholder.stimuli.si_ti import known_si_ti
from beholder.study.questionnaire import QUESTION_TYPES

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
        Column(
            "place",
            "text",
            "With each stimulus, or before, between or after the trials.",
            ("trial", "before", "during", "after"),
        ),
        c.QUESTION,
        Column("text", "text", "What participants read."),
        Column("type", "text", "How it is answered.", ("scale", "ticks", *QUESTION_TYPES)),
        Column("scale_min", "number", "The lowest answer."),
        Column("scale_max", "number", "The highest answer."),
        Column("labels", "text", "The words on the scale with their values, or all choices, as JSON."),
        Column("keyed", "text", "`-` where a high answer means less of what the others measure.", ("+", "-")),
    ),
    ("digest", "place", "question"),
    (OF_TEXT,),
)
_NUMBERS = Column(
    "numbers", "text", "Where the numbers of the scale were shown, where the study says so.",
    ("none", "handle", "ticks", "both"),
)  # fmt: skip


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
    factors = sorted({name for row in rows for name in row["factors"]})
    known = known_si_ti(source.judging.study.folder)
    columns = (c.DIGEST, *stimulus_columns(known), *factor_columns(factors))
    table = ExportTable("stimuli", "stimulus in each study text", columns, ("digest", "stimulus"), (OF_TEXT,))
    return TableRows(table, (_stimulus(row, known) for row in rows))


def _stimulus(row: Mapping[str, Any], known: Known) -> dict[str, Any]:
    factors = {f"factor_{name}": value for name, value in row["factors"].items()}
    return {**row, **probe_cells(row["probe"]), **si_ti_cells(row["sha256"], known), **factors}


def questions(source: ExportSource) -> TableRows:
    """Return the questions, in the words that participants read."""
    texts = source.judging.texts
    rows = [row for digest, text in texts.items() for row in _question_rows(digest, text)]
    columns = QUESTIONS.columns + (() if all(row.get("numbers") is None for row in rows) else (_NUMBERS,))
    return TableRows(replace(QUESTIONS, columns=columns), rows)


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
                **({} if scale.numbers is None else {"numbers": scale.numbers}),
            }  # fmt: skip
    for place, asks in (("before", text.before), ("during", text.during), ("after", text.after)):
        for ask in asks:
            low, high = ask.kind.bounds(ask)
            yield {
                "digest": digest, "place": place, "question": ask.id, "text": ask.title, "type": ask.type,
                "scale_min": low, "scale_max": high,
                "labels": list(ask.choices) or None,
            }  # fmt: skip


# Playback, comments and marks, with the rows of clean/


PLAYBACK = ExportTable(
    "playback",
    "slot of each page that was answered, rated or not: how it played",
    played.PLAYBACK,
    ("session", "position", "slot"),
    (OF_SESSION, OF_PARTICIPANT),
)
LOOPS = ExportTable(
    "loops",
    "(where somebody looped one) part that was looped on a page",
    played.LOOPS,
    ("session", "position", "number"),
    (OF_SESSION, OF_PARTICIPANT),
)
COMMENTS = ExportTable(
    "comments", "reason or comment that somebody wrote", tables.COMMENTS, (), (OF_SESSION, OF_PARTICIPANT)
)


MARKS = ExportTable(
    "marks",
    "mark that somebody set while a clip played",
    time_marks.MARKS,
    (),
    (OF_SESSION, OF_PARTICIPANT),
)
VIEWINGS = ExportTable(
    "viewings",
    "stimulus on an answered page that could be marked, with how many marks it got",
    time_marks.VIEWINGS,
    ("session", "position", "slot"),
    (OF_SESSION, OF_PARTICIPANT),
)


def marks(source: ExportSource) -> TableRows | None:
    """Return every mark; None where nobody could mark anything."""
    facts = source.judging.facts
    if not time_marks.has_marks(facts):
        return None
    return TableRows(MARKS, time_marks.mark_rows(source.judging.judged, facts.stimuli))


def viewings(source: ExportSource) -> TableRows | None:
    """Return everything that could be marked; None where nobody could mark anything."""
    facts = source.judging.facts
    if not time_marks.has_marks(facts):
        return None
    return TableRows(VIEWINGS, time_marks.viewing_rows(source.judging.judged, facts.stimuli))


def playback(source: ExportSource) -> TableRows:
    """Return the playback of every slot of every answered trial."""
    visits = [one.visit for one in source.judging.judged]
    study = source.judging.study
    columns, is_apart = played.playback_columns(study), study.stage == "separate"
    lines = played.playback_lines(visits, source.judging.facts.stimuli, is_apart=is_apart)
    rows = (dict(zip(names_of(columns), line, strict=True)) for line in lines)
    return TableRows(replace(PLAYBACK, columns=columns), rows)


def loops(source: ExportSource) -> TableRows | None:
    """Return the parts of sounds and videos that were looped; None where nobody looped one."""
    rows = list(played.loop_rows([one.visit for one in source.judging.judged]))
    return TableRows(LOOPS, rows) if rows else None


VIEWS = ExportTable(
    "views",
    "page of a pair that was looked at in views: which, for how long, and what was done there",
    VIEW_USE,
    ("session", "position"),
    (OF_SESSION, OF_PARTICIPANT),
)


def views(source: ExportSource) -> TableRows | None:
    """Return how pairs were looked at; None where no page has views."""
    judged = source.judging.judged
    if not has_views(one.visit for one in judged):
        return None
    return TableRows(VIEWS, (row for one in judged for row in view_rows(one)))


def comments(source: ExportSource) -> TableRows | None:
    """Return comments and reasons; None if free text is left out."""
    if not source.withheld.with_texts:
        return None
    rows = tables.comment_rows([one.visit for one in source.judging.judged])
    return TableRows(COMMENTS, ({**row, "text": source.withheld.words(COMMENTS.name, row["text"])} for row in rows))
