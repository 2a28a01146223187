"""The answers of a batch as sessions: ratings, playback, and attempts at the checks before them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beholder.importing.contract import (
    WHOLE,
    ForeignVerdict,
    ImportedAttempt,
    ImportedSession,
    ImportedTrial,
    Origin,
    QuestionnaireAnswers,
    Unknown,
)
from beholder.importing.p910.answer_columns import AnswerColumns, ClipColumns
from beholder.importing.p910.platform_claims import Claims, decided, pay_verdict
from beholder.importing.p910.toolkit_batch import ToolkitBatch
from beholder.importing.source_folder import SourceRow, number_in
from beholder.importing.study_folder import slug
from beholder.methods.contract import Target
from beholder.types import Json

QUALITY = "quality"
"""The id of the question where there is one vote for each clip."""
_UNKNOWN: frozenset[Unknown] = frozenset({"time"})
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_ZONES: Mapping[str, int] = {"PST": -8, "PDT": -7, "UTC": 0, "GMT": 0}
NO_PLAY = "voted without having played it"
_HIDDEN = (2, 3)
"""The offsets by which the page hides the right counts of the first matrix, circles and triangles."""
_MOST = 20
"""Attempts at the first matrix that anybody makes."""


class RatingForm(NamedTuple):
    """How votes become answers of the study."""

    method: str
    questions: Mapping[str, str]
    """By the item of the toolkit, the id of the question; of one vote under an empty name."""
    low: float
    high: float
    is_turned: bool = False
    """Whether a vote above zero means that the processed clip is worse."""
    is_survey: bool = False
    """Whether there are statements to agree with, in place of one vote."""


@dataclass
class ToolkitSessionReader:
    """Turns the answers of a batch into sessions."""

    batch: ToolkitBatch
    form: RatingForm
    claims: Claims
    verdicts: Mapping[str, tuple[ForeignVerdict, ...]]
    tolerance: float
    is_hidden: bool
    items: Mapping[str, Mapping[str, str]]
    """The questions about the person: by id, the option of each answer; of free text, nothing."""
    _known: dict[tuple[str, str], dict[tuple[str, str], Target]] = field(default_factory=dict)

    def sessions(self) -> Iterator[ImportedSession]:
        """Yield all sessions in the order of the tables."""
        seen: set[str] = set()
        for name in self.batch.names:
            table = self.batch.source.table(name)
            columns = self.batch.columns[name]
            is_page = table.has("v_code")
            for row in table.rows():
                number = row["assignmentid"]
                if number and number in seen:
                    row.broken("has the session of an earlier row", "left out")
                    continue
                seen.add(number)
                yield self._session(row, columns, is_page=is_page)

    def _session(self, row: SourceRow, columns: AnswerColumns, *, is_page: bool) -> ImportedSession:
        person, platform, verdicts = row["workerid"], "mturk", pay_verdict(decided(row))
        if is_page:
            claim = self.claims.of(row["assignmentid"])
            platform = "mturk" if claim is not None else ""
            person = claim.worker if claim is not None else person
            verdicts = self._foreign(claim.assignment if claim is not None else row["assignmentid"])
            verdicts = verdicts or (pay_verdict(claim.decided) if claim is not None else ())
        ended = _time(row["submittime"])
        seconds = number_in(row["work_duration_sec"]) or number_in(row["worktimeinseconds"]) or 0
        began = _time(row["accepttime"]) or _before(ended, seconds)
        lacks: list[Unknown] = [] if began is not None else ["date"]
        if not any(clip.plays for clip in columns.clips):
            lacks.append("playback")
        is_whole = bool(row["answer.device_type"]) if is_page and row.table.has("answer.device_type") else True
        trials = [trial for clip in columns.clips if (trial := self._trial(row, clip)) is not None] if is_whole else []
        answers = self._answers(row, columns)
        return ImportedSession(
            person or f"{row.table.name} {row.line}", trials, platform, "completed" if trials else None, at=began,
            ended_at=ended, unknown=_UNKNOWN.union(lacks), verdicts=verdicts, device=_device(row, columns.prefix),
            before=QuestionnaireAnswers(answers, Origin(row.table.name, {WHOLE: row.line})) if answers else None,
            attempts=tuple(_attempts(row, is_hidden=self.is_hidden)),
        )  # fmt: skip

    def _foreign(self, assignment: str) -> tuple[ForeignVerdict, ...]:
        return self.verdicts.get(assignment, ())

    def _answers(self, row: SourceRow, columns: AnswerColumns) -> dict[str, Any]:
        answers: dict[str, Any] = {}
        for name, column in columns.questions.items():
            if name in self.items and (cell := row[column][:200]):
                answers[slug(name)] = self.items[name].get(cell, cell)
        return answers

    def _trial(self, row: SourceRow, clip: ClipColumns) -> ImportedTrial | None:
        url = row[clip.url]
        stimulus = self.batch.clips.ids.get(url)
        if stimulus is None:
            return None
        clips, form = self.batch.clips, self.form
        reference = clips.ids.get(clips.references.get(url, ""))
        if form.method in ("dcr", "ccr") and reference is None:
            row.broken(f"{clip.url} has no reference, and it was compared with one", "that rating is left out")
            return None
        values: dict[tuple[str, str], Any] = {}
        raw: dict[tuple[str, str], str] = {}
        for item, column in clip.votes:
            question = form.questions.get(item)
            if question is None:
                continue
            cell = row[column]
            raw[question, stimulus] = cell
            values[question, stimulus] = self._vote(row, column, cell)
        played = _playback(row, clip)
        doubts = {WHOLE: NO_PLAY} if clip.plays and played.get("plays") == 0 and any(raw.values()) else {}
        origin = Origin(row.table.name, {WHOLE: row.line}, raw, doubts)
        playback = {stimulus: played} if played else {}
        if form.method != "ccr":
            targets = self._targets(url, stimulus)
            return ImportedTrial(
                clips.contents[url], (stimulus,), origin, values, playback=playback, targets=targets
            )  # fmt: skip
        assert reference is not None
        both = (stimulus, reference) if row[clip.order].lower() == "pr" else (reference, stimulus)
        ((question, _), vote), *_ = values.items()
        if vote is None:
            return ImportedTrial(clips.contents[url], both, origin, choices={question: {}}, playback=playback)
        vote = -vote if form.is_turned else vote
        choice: dict[str, Any] = {"better": stimulus if vote > 0 else reference, "grade": abs(vote)}
        choices = {question: choice if vote else {"better": "tie"}}
        targets = self._compared_targets(url, stimulus, is_first=both[0] == stimulus)
        return ImportedTrial(
            clips.contents[url], both, origin, choices=choices, playback=playback, targets=targets
        )  # fmt: skip

    def _vote(self, row: SourceRow, column: str, cell: str) -> int | None:
        """Return a vote; None where there is none, or none that can be, which is told."""
        vote = number_in(cell)
        if not cell:
            return None
        if vote is None or vote != int(vote) or not self.form.low <= vote <= self.form.high:
            what = f"{column} is {cell[:40]!r}, not a whole number from {self.form.low:g} to {self.form.high:g}"
            row.broken(what, "the rating is missing")
            return None
        return int(vote)

    def _targets(self, url: str, stimulus: str) -> dict[tuple[str, str], Target]:
        """Return the answers that are right of a trapping or a gold clip."""
        clips = self.batch.clips
        role = clips.roles.get(url)
        if role not in ("trap", "gold"):
            return {}
        key = url, stimulus
        if key not in self._known:
            is_trap = role == "trap"
            found = {}
            for question, value in clips.expected.get(url, {}).items():
                for one in [question] if question else dict.fromkeys(self.form.questions.values()):
                    found[one, stimulus] = Target(value, 0 if is_trap else self.tolerance, "", is_trap)
            self._known[key] = found
        return self._known[key]

    def _compared_targets(self, url: str, stimulus: str, *, is_first: bool) -> dict[tuple[str, str], Target]:
        """Return the answers that are right of a comparison: what they say of the clip, wherever it stood.

        A trapping clip names the label to click, which means the opposite where the clip came first.
        """
        targets = self._targets(url, stimulus)
        if not is_first:
            return targets
        return {place: one._replace(value=-one.value) if one.is_trap else one for place, one in targets.items()}


def _playback(row: SourceRow, clip: ClipColumns) -> dict[str, Any]:
    """Return how a clip played, as far as the page recorded it: of its last playback."""
    plays = number_in(row[clip.plays]) if clip.plays else None
    if plays is None:
        return {}
    played: dict[str, Any] = {"plays": int(plays)}
    ends = number_in(row[clip.ends]) if clip.ends else None
    length, lasted = (number_in(row[column]) if column else None for column in (clip.length_s, clip.played_s))
    if length is not None and length > 0:
        played["duration_ms"] = 1000 * length
        if ends:
            played |= {"coverage": 1.0, "furthest_ms": 1000 * length}
            if lasted is not None and lasted > 0:
                played["whole_ms"] = 1000 * lasted
    return played


def _device(row: SourceRow, prefix: str) -> dict[str, Any]:
    device: dict[str, Any] = {}
    match = re.fullmatch(r"(\d{2,5})x(\d{2,5})(?:\((\d+(?:\.\d+)?)\))?", row[f"{prefix}device_resolution"])
    if match is not None:
        device["screen"] = [int(match[1]), int(match[2])]
        device["dpr"] = number_in(match[3]) or 1.0 if match[3] else 1.0
    if system := row[f"{prefix}device_os"]:
        device["platform"] = system[:40]
    return device


def _before(ended: datetime | None, seconds: float) -> datetime | None:
    """Return when something began that ended then; None where that is not known."""
    try:
        return None if ended is None else ended - timedelta(seconds=seconds)
    except OverflowError:
        return None


def _time(text: str) -> datetime | None:
    """Return a time of the page (ISO 8601) or of the platform (`Mon Mar 04 11:48:59 PST 2024`); None of others."""
    if not text:
        return None
    try:
        found = datetime.fromisoformat(text)
        return found if found.tzinfo is not None else found.replace(tzinfo=UTC)
    except ValueError:
        pass
    match = re.fullmatch(r"\w{3} (\w{3}) (\d{1,2}) (\d\d):(\d\d):(\d\d) (\w{3}) (\d{4})", text)
    if match is None or match[6] not in _ZONES or match[1] not in _MONTHS:
        return None
    zone = timezone(timedelta(hours=_ZONES[match[6]]))
    day, hour, minute, second = (int(match[place]) for place in (2, 3, 4, 5))
    month = _MONTHS.index(match[1]) + 1
    try:
        return datetime(int(match[7]), month, day, hour, minute, second, tzinfo=zone).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


# The checks before the ratings


def _attempts(row: SourceRow, *, is_hidden: bool) -> Iterator[ImportedAttempt]:
    """Yield the attempts of a session; a section that was hidden has none."""
    origin = Origin(row.table.name, {WHOLE: row.line})
    if row["answer.7_plate3"] or row["answer.7_plate4"]:
        right = [plate_number(row[f"input.cv_plate_{place}_url"]) for place in (3, 4)]
        plates: list[Json] = [{"kind": "own", "number": number} for number in right if number is not None]
        read: dict[str, Json] = {f"p{place}": row[f"answer.7_plate{place + 2}"] or "none" for place in (1, 2)}
        # Without both keys nobody knows what was right, and the attempt is not judged.
        yield ImportedAttempt(
            "check:colour:1", {"plates": plates} if len(plates) == len(right) else {}, {"numbers": read}, origin
        )
    first = _counts(row["input.t1_matrix_c"], row["input.t1_matrix_t"], _HIDDEN if is_hidden else (0, 0))
    given = _counts(row["answer.t1_circles"], row["answer.t1_triangles"])
    if given is not None:
        private: dict[str, Json] = {"counts": dict(first)} if first is not None else {}
        for number, counted in enumerate((*_earlier(row), given), 1):
            yield ImportedAttempt(f"check:brightness:{number}", private, dict(counted), origin)
    second = _counts(row["input.t2_matrix_c"], row["input.t2_matrix_t"])
    given = _counts(row["answer.t2_circles"], row["answer.t2_triangles"])
    if given is not None:
        private = {"counts": dict(second)} if second is not None else {}
        yield ImportedAttempt("check:brightness_second:1", private, dict(given), origin)


def _counts(circles: str, triangles: str, offsets: tuple[int, int] = (0, 0)) -> dict[str, Json] | None:
    numbers = [number_in(text) for text in (circles, triangles)]
    if any(number is None or not 0 <= number <= 100 for number in numbers):
        return None
    return {
        shape: int(number or 0) - offset
        for shape, number, offset in zip(("circles", "triangles"), numbers, offsets, strict=True)
    }


def _earlier(row: SourceRow) -> Iterator[dict[str, Json]]:
    """Yield the counts of the first matrix before the last one, in the order in which they were tried."""
    histories = (row[f"answer.matrix_t1_{shape}_history"].split(",")[1:] for shape in ("circle", "triangle"))
    tried = [_counts(*pair) for pair in zip(*histories, strict=False)][: _MOST + 1]
    for one in tried[:-1]:
        if one is not None:
            yield one


@lru_cache(maxsize=1000)
def plate_number(url: str) -> str | None:
    """Return the number on a plate, which the toolkit hides in the name of its file; None where it does not."""
    hidden = PurePosixPath(re.sub(r"[?#].*", "", url)).name[4:8]
    numbers = (text for number in range(100) for text in (str(number), f"{number:02d}"))
    return next((text for text in numbers if base64.b64encode(text.encode()).decode().upper() == hidden), None)
