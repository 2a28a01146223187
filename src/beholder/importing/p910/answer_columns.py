"""The columns of answers: which of them belong to which clip, and what became of all the others."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from beholder.importing.source_folder import SourceTable


class ClipColumns(NamedTuple):
    """The columns about one place of a session."""

    url: str
    votes: tuple[tuple[str, str], ...]
    """Of each question, its id and its column."""
    order: str
    plays: str
    ends: str
    played_s: str
    length_s: str
    dropped: str


class AnswerColumns(NamedTuple):
    """Where everything stands in a table of answers."""

    prefix: str
    """Before the names of answers: `answer.`, or nothing in tables from the programming interface."""
    clips: tuple[ClipColumns, ...]
    items: tuple[str, ...]
    """The items of a survey or the aspects of a recording; none where there is one vote for each clip."""
    inputs: tuple[tuple[str, str], ...]
    """Columns of the clips that were sent, each with that of its reference, or an empty name."""
    traps: tuple[tuple[str, str, str], ...]
    """Columns of trapping clips, of their right answers, and of their references."""
    golds: tuple[tuple[str, str, str], ...]
    training: tuple[str, ...]
    questions: Mapping[str, str]
    """Questions about the person, by the ids that they get: their columns."""


_NO_ITEMS = frozenset(("url", "order", "tp", "tpid", "repeatingitem", "repeatedid", "noproblem", "other_text"))
_PERSON = re.compile(
    r"(?:[1-9]|10)_(gender|working_area|video_test|audio_test|device|hearing|mother_tongue|environment|ld)$"
)


def answer_columns(table: SourceTable) -> AnswerColumns:
    """Return where everything stands in a table of answers; nothing is said of any column yet."""
    prefix = "answer." if table.has("answer.q1_url") or any(one.startswith("answer.") for one in table.columns) else ""
    sent = "input."
    items: list[str] = []
    for column in table.columns:
        match = re.fullmatch(rf"{re.escape(prefix)}q\d+_([a-z]\w*)", column)
        if match is not None and match[1] not in _NO_ITEMS and match[1] not in items:
            items.append(match[1])
    clips = []
    number = 1
    while table.has(url := f"{prefix}q{number}_url"):
        votes = tuple((item, f"{prefix}q{number}_{item}") for item in items) or (("", f"{prefix}q{number}"),)
        clips.append(ClipColumns(
            url, votes, f"{prefix}q{number}_order",
            *(_first(table, *(name.format(prefix=prefix, n=number) for name in names)) for names in _PLAYED),
        ))  # fmt: skip
        number += 1
    inputs = []
    for place in range(len(table.columns)):
        plain, other = f"{sent}q{place}", f"{sent}q{place}_p"
        if not table.has(plain) and not table.has(other):
            break
        inputs.append((plain if table.has(plain) else other, _first(table, f"{sent}q{place}_r")))
    training = tuple(one for one in table.columns if re.fullmatch(rf"{re.escape(prefix)}t\d+_url", one))
    questions = {
        match[1]: column
        for column in table.columns
        if column.startswith(prefix) and (match := _PERSON.fullmatch(column[len(prefix) :])) is not None
    }
    return AnswerColumns(
        prefix, tuple(clips), tuple(items), tuple(inputs), _known(table, sent, ("tp_clip", "tp"), "tp_ans", "tp_ref"),
        _known(table, sent, ("gold_clip", "gold_clips", "gold"), "gold_ans", "gold_ref"), training, questions,
    )  # fmt: skip


_PLAYED = (
    ("{prefix}video_n_play_q{n}", "{prefix}audio_n_play_q{n}"),
    ("{prefix}video_n_finish_q{n}", "{prefix}audio_n_finish_q{n}"),
    ("{prefix}video_play_duration_q{n}", "{prefix}audio_play_duration_q{n}"),
    ("{prefix}video_duration_q{n}", "{prefix}audio_duration_q{n}"),
    ("{prefix}video_dropped_frame_percent_q{n}",),
)


def _first(table: SourceTable, *names: str) -> str:
    return next((name for name in names if table.has(name)), "")


def _known(
    table: SourceTable, sent: str, names: Sequence[str], answer: str, reference: str
) -> tuple[tuple[str, str, str], ...]:
    """Return the columns of clips with a right answer."""
    url = _first(table, *(f"{sent}{name}" for name in names))
    answers = (f"{sent}{answer}", f"{url}_ans")
    return ((url, _first(table, *answers), _first(table, f"{sent}{reference}")),) if url else ()


# What became of each column

_FATES: Sequence[tuple[str, bool, str]] = (
    (r"q\d+_url|t\d+_url", True, "stimulus"),
    (r"q\d+(_[a-z]\w*)?", True, "rating"),
    (r"t\d+(_[a-z]\w*)?", False, "answers to training clips are not ratings"),
    (r"(video|audio)_(n_play|n_finish|play_duration|duration|dropped_frame_percent)_q\d+", True, "playback"),
    (r"(video|audio)_.*_(t\d+|ins_id\d+)", False, "how training and examples played"),
    (r"(t[12]_(circles|triangles)|matrix_t1_(circle|triangle)_history)", True, "attempts at the check brightness"),
    (r"7_plate[34]", True, "an attempt at the check colour"),
    (r"cmp\d+(_[ab])?", False, "which image was where is not stored: nobody knows what was right"),
    (r"(4_)?birth_year|\d_birth_year", False, "left out: a year of birth helps to tell who somebody is"),
    (r"browser_info|user_agent|ipaddress", False, "left out: it helps to tell who somebody is"),
    (r"device_os|device_resolution", True, "device"),
    (r"device_type", True, "whether the page was sent off"),
    (r"v_code|hitapp_assignmentid", True, "which answers somebody handed in"),
    (r"math|num\d+", False, "sounds with numbers: what was right is in no table"),
)  # fmt: skip
_PLAIN: Mapping[str, str] = {
    "workerid": "participant, under a pseudonym", "assignmentid": "session", "submittime": "when the session ended",
    "work_duration_sec": "when the session began", "worktimeinseconds": "when the session began",
    "accepttime": "when the session began", "v_code": "which answers somebody handed in",
    "assignmentstatus": "foreign verdict accept", "approve": "foreign verdict accept",
    "reject": "foreign verdict accept", "reward": "recruit.reward", "title": "title",
}  # fmt: skip
_IDLE = frozenset((
    "id", "projectid", "hitid", "hittypeid", "description", "keywords", "creationtime", "maxassignments",
    "requesterannotation", "assignmentdurationinseconds", "autoapprovaldelayinseconds", "expiration",
    "numberofsimilarhits", "lifetimeinseconds", "autoapprovaltime", "approvaltime", "rejectiontime",
    "lifetimeapprovalrate", "last30daysapprovalrate", "last7daysapprovalrate", "input.hit_type_id", "input.url",
    "requesterfeedback",
))  # fmt: skip


def settle_columns(table: SourceTable, columns: AnswerColumns | None = None) -> None:
    """Say what became of every column of answers, or of a table of the platform."""
    questions = {column: name for name, column in columns.questions.items()} if columns is not None else {}
    prefix = columns.prefix if columns is not None else "answer."
    known = {name for one in (columns.traps + columns.golds if columns is not None else ()) for name in one if name}
    for column in table.columns:
        plain = column.removeprefix(prefix)
        if column in questions:
            table.column(column, f"answer to {questions[column]}")
        elif column in _PLAIN:
            table.column(column, _PLAIN[column])
        elif column in _IDLE:
            table.column(column, "nothing: it is about the platform, not about what was seen")
        elif column in known or re.fullmatch(r"input\.(q\d+(_[pr])?|t\d+(_r)?|(tp|gold)(_\w+)?|gold_clips\w*)", column):
            table.column(column, "what was sent: roles, right answers and references")
        elif re.fullmatch(r"input\.(t[12]_matrix_\w+|cv_plate_\d_url)", column):
            table.column(column, "right answers of the checks brightness and colour")
        elif fate := next((one for one in _FATES if re.fullmatch(one[0], plain)), None):
            (table.column if fate[1] else table.unsupported_column)(column, fate[2])
        else:
            table.unsupported_column(column, "nothing of ours asks or measures this")
