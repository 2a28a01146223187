"""The results of webMUSHRA: CSV files with a row for each rating, as sessions of people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beholder.errors import Problem, UserError
from beholder.importing.contract import (
    WHOLE,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
    QuestionnaireAnswers,
    Unknown,
)
from beholder.importing.questionnaire import QuestionnaireItem
from beholder.importing.source_folder import SourceFolder, SourceRow, SourceTable, number_in, plain_number
from beholder.importing.study_folder import content_rule, stimulus_name
from beholder.importing.webmushra.configuration import Configuration
from beholder.importing.webmushra.rating_pages import ANCHORS, QUALITY, REFERENCE, MethodPages, RatingPage, blank_pages

UNTOUCHED = "100 may be where the slider began"
NO_VISITS = "the file has no visits: neighbouring rows with the same answers are taken for one"
_STARTED_AT = 100
_KNOWN: frozenset[Unknown] = frozenset({"order", "date", "playback"})
_VISIT = ("session_test_id", "session_uuid")


class ResultFile(NamedTuple):
    """One of the files of results: the pages that it is of, its own columns, and how a row of it is read."""

    kind: str
    stimulus: str
    """The column with the stimulus that a row is of."""
    columns: tuple[str, ...]
    read: Callable[[_ResultReader, RatingPage, Sequence[SourceRow]], Iterator[ImportedTrial]]
    time: str = "rating_time"
    is_page: bool = False
    """Whether all stimuli of a page are one trial."""


def with_results(source: SourceFolder, configuration: Configuration, options: ImportOptions) -> Sequence[ImportedStudy]:
    """Return the studies of a test, each with the sessions in its file of results."""
    files = _result_files(source, configuration.test)
    if not configuration.is_known:
        configuration.studies = [_blank(source, name) for name in files if _can_stand_alone(name)]
        if not configuration.studies:
            what = "holds only results whose scales are in the configuration"
            raise UserError(Problem(source.address, what, "the configuration too", "Put its YAML file beside them."))
    for name in source.names:
        if PurePosixPath(name).name.startswith("spatial_"):
            source.settle(name, "unsupported", "sounds that were placed in a room")
    return [_study(source, configuration, pages, files, options) for pages in configuration.studies]


def _result_files(source: SourceFolder, test: str) -> list[str]:
    """Return the files of results of a test: those in the folder of its name, else those that are there."""
    found = [name for name in source.names if PurePosixPath(name).name in RESULT_FILES]
    folder = re.sub(r"[^a-z0-9]", "-", test.lower())
    return [name for name in found if PurePosixPath(name).parent.name.lower() in (folder, test.lower())] or found


def _study(
    source: SourceFolder, configuration: Configuration, pages: MethodPages, files: Sequence[str], options: ImportOptions
) -> ImportedStudy:
    sessions: list[ImportedSession] = []
    for name in files:
        if RESULT_FILES[PurePosixPath(name).name].kind == pages.kind:
            sessions += _ResultReader(source, name, configuration, pages, options).sessions()
    shared, own = configuration.keys, pages.keys
    number = configuration.studies.index(pages) + 1
    name = shared["name"] if len(configuration.studies) == 1 else f"{shared['name'][:50]}-{number}"
    conditions: dict[str, Any] = {one.condition: one.condition for one in pages.stimuli}
    if any(one.role == REFERENCE for one in pages.stimuli):
        conditions[REFERENCE] = {"name": REFERENCE, "role": REFERENCE}
    anchors = [one for one in own["options"].get("anchors", ()) if one not in conditions]
    trials = own.get("most") or sum(len({*page.contents.values()}) for page in pages.pages)
    keys = {
        **shared,
        **own,
        "name": name,
        "playback": {**own["playback"], **shared.get("playback", {})},
        "conditions": [*conditions.values(), *anchors],
        "design": {
            "participants": len({one.person for one in sessions}) or 20,
            "trials": trials,
            **(content_rule(pages.stimuli, trials) if not _is_board(pages) else {}),
            "seed": 1,
        },
    }
    if not sessions:
        source.provenance.assume("design.participants", 20, "a configuration does not say how many people take part")
    kept = {key: value for key, value in keys.items() if key != "most" and value not in ({}, [])}
    return ImportedStudy(kept, pages.stimuli, sessions, files=configuration.files)


def _is_board(pages: MethodPages) -> bool:
    """Return whether a page has all stimuli of a content."""
    return any(file.is_page for file in RESULT_FILES.values() if file.kind == pages.kind)


# Results without a configuration


def _can_stand_alone(name: str) -> bool:
    return not PurePosixPath(name).name.startswith(("lss", "lms"))


def _blank(source: SourceFolder, name: str) -> MethodPages:
    """Return the pages that a file of results is of, without anything to see or hear."""
    file = RESULT_FILES[PurePosixPath(name).name]
    table = source.table(name, (*_VISIT, *file.columns))
    pages: dict[str, list[str]] = {}
    for row in table.rows():
        names = pages.setdefault(row["trial_id"], [])
        if (one := row[file.stimulus]) and one not in names:
            names.append(one)
    study = blank_pages(file.kind)
    for trial_id, names in pages.items():
        content = stimulus_name(trial_id, "trial")
        stimuli = {REFERENCE: _add(study, content, REFERENCE)}
        for one in names:
            if one in ANCHORS:
                stimuli[one] = f"{ANCHORS[one]}/{content}"
                anchors = study.keys["options"].setdefault("anchors", [])
                anchors += [ANCHORS[one]] if ANCHORS[one] not in anchors else []
            elif one != REFERENCE:
                stimuli[one] = _add(study, content, stimulus_name(one))
        study.pages.append(RatingPage(trial_id, dict.fromkeys(stimuli, content), stimuli))
    why = "there is no configuration beside the results"
    source.provenance.assume("title", "Imported test", why)
    return study


def _add(study: MethodPages, content: str, condition: str) -> str:
    role: Any = REFERENCE if condition == REFERENCE else "test"
    return study.add(ImportedStimulus(content, condition, None, f"{condition}/{content}.wav", role))


# One file


class _ResultReader:
    """Reads one file of results."""

    def __init__(
        self, source: SourceFolder, name: str, configuration: Configuration, pages: MethodPages, options: ImportOptions
    ) -> None:
        self.file = RESULT_FILES[PurePosixPath(name).name]
        self.table: SourceTable = source.table(name, (*_VISIT, *self.file.columns))
        self.pages, self.options = pages, options
        self._items = configuration.questionnaire.items
        self._by_id: dict[str, list[RatingPage]] = {}
        for page in pages.pages:
            self._by_id.setdefault(page.trial_id, []).append(page)
        self._settle_columns()

    def _settle_columns(self) -> None:
        for column in self.table.columns:
            item = self._item(column)
            if column.endswith("_comment"):
                self.table.column(column, "nothing: it is always empty")
            elif column == self.file.time:
                self.table.column(column, "response_ms")
            elif column in (*_VISIT, *self.file.columns) or column.startswith("stimuli_rating"):
                self.table.column(column, "ratings")
            elif item is None:
                self.table.unsupported_column(column, "the configuration has no question of this name")
            else:
                self.table.column(column, "identity" if item.is_email else f"answer to {item.keys['id']}")

    def _item(self, column: str) -> QuestionnaireItem | None:
        return next((one for one in self._items if one.column.lower() == column), None)

    def sessions(self) -> Iterator[ImportedSession]:
        """Yield the sessions in the order of the file."""
        for person, rows in self._visits():
            trials = [trial for page, group in self._pages(rows) for trial in self.file.read(self, page, group)]
            if trials:
                yield self._session(person, rows, trials)

    def _visits(self) -> list[tuple[str, list[SourceRow]]]:
        """Return the rows of each visit: by its id or, where the file has none, neighbouring rows that go together."""
        visits: dict[str, list[SourceRow]] = {}
        has_ids = self.table.has("session_uuid")
        last, seen, number = None, set[tuple[str, str]](), 0
        for row in self.table.rows():
            if has_ids:
                visits.setdefault(row["session_uuid"], []).append(row)
                continue
            who = tuple(row[column] for column in self.table.columns if self._item(column) is not None)
            place = (row["trial_id"], row[self.file.stimulus])
            if who != last or place in seen:
                last, seen, number = who, set(), number + 1
            seen.add(place)
            visits.setdefault(f"{self.table.name} {number}", []).append(row)
        return list(visits.items())

    def _session(self, person: str, rows: Sequence[SourceRow], trials: Sequence[ImportedTrial]) -> ImportedSession:
        first, platform = rows[0], ""
        answers: dict[str, Any] = {}
        for item in self._items:
            cell = first[item.column.lower()]
            if item.is_email and cell:
                person, platform = cell.lower(), "email"
            elif (answer := item.read(cell)) is not None:
                answers[item.keys["id"]] = answer
        after = QuestionnaireAnswers(answers, Origin(self.table.name, {WHOLE: first.line})) if answers else None
        doubt = "" if self.table.has("session_uuid") else NO_VISITS
        return ImportedSession(person, trials, platform, unknown=_KNOWN, uncertain=doubt, after=after)

    def _pages(self, rows: Sequence[SourceRow]) -> Iterator[tuple[RatingPage, list[SourceRow]]]:
        """Yield the pages of a visit with their rows; a page whose stimuli come again is another one."""
        groups: list[tuple[str, list[SourceRow]]] = []
        for row in rows:
            last = groups[-1] if groups else None
            name = row[self.file.stimulus]
            if last is None or last[0] != row["trial_id"] or name in {one[self.file.stimulus] for one in last[1]}:
                groups.append((row["trial_id"], []))
            groups[-1][1].append(row)
        seen: Counter[str] = Counter()
        for trial_id, group in groups:
            seen[trial_id] += 1
            found = self._by_id.get(trial_id, ())
            if not found:
                for row in group:
                    row.broken(f"trial_id is {trial_id}, which is no page of the configuration", "left out")
                continue
            if self.file.is_page:
                yield found[min(seen[trial_id], len(found)) - 1], group
                continue
            # Pages of the same id are one to the tool: a row belongs to the one that has its stimulus.
            for row in group:
                name = row[self.file.stimulus]
                yield next((page for page in found if name in page.stimuli), found[0]), [row]

    def stimulus(self, page: RatingPage, row: SourceRow) -> str | None:
        """Return the id of the stimulus of a row; None where the page does not have it, which is told."""
        name = row[self.file.stimulus]
        if name in page.stimuli:
            return page.stimuli[name]
        row.broken(f"{self.file.stimulus} is {name}, which the page {page.trial_id} does not have", "left out")
        return None

    def score(self, row: SourceRow, column: str, low: float, high: float) -> int | float | None:
        """Return a score; None where it is none, which is told."""
        value = number_in(row[column])
        if value is None or not low <= value <= high:
            row.broken(f"{column} is {row[column]!r}, not {low:g} to {high:g}", "the rating is missing")
            return None
        row.mapped("rating")
        return plain_number(value)

    def ms(self, rows: Sequence[SourceRow]) -> float | None:
        """Return the time on a page, which every row of it repeats."""
        times = [number_in(row[self.file.time]) for row in rows]
        return next((time for time in times if time is not None and time >= 0), None)

    def origin(self, places: Mapping[tuple[str, str], tuple[SourceRow, str]], doubts: Mapping[Any, str] = {}) -> Origin:
        """Return where ratings stand, by their row and column."""
        lines = {place: row.line for place, (row, _) in places.items()}
        return Origin(self.table.name, lines, {place: row[column] for place, (row, column) in places.items()}, doubts)


# The kinds of files


def _read_mushra(reader: _ResultReader, page: RatingPage, rows: Sequence[SourceRow]) -> Iterator[ImportedTrial]:
    values: dict[tuple[str, str], Any] = {}
    places: dict[tuple[str, str], tuple[SourceRow, str]] = {}
    for row in rows:
        if (stimulus := reader.stimulus(page, row)) is not None:
            values[QUALITY, stimulus] = reader.score(row, "rating_score", 0, 100)
            places[QUALITY, stimulus] = row, "rating_score"
    best = [place for place, value in values.items() if value == _STARTED_AT]
    doubts = dict.fromkeys(best, UNTOUCHED) if len(best) > 1 else {}
    if reader.options.drop_untouched:
        values |= dict.fromkeys(doubts)
    if values:
        shown = tuple(page.stimuli.values())
        yield ImportedTrial(page.content, shown, reader.origin(places, doubts), values, ms=reader.ms(rows))


def _read_bs1116(reader: _ResultReader, page: RatingPage, rows: Sequence[SourceRow]) -> Iterator[ImportedTrial]:
    for row in rows:
        stimulus, reference = reader.stimulus(page, row), page.stimuli[REFERENCE]
        if stimulus is None:
            continue
        columns = {reference: "rating_reference_score", stimulus: "rating_non_reference_score"}
        values = {(QUALITY, one): reader.score(row, column, 1, 5) for one, column in columns.items()}
        origin = reader.origin({(QUALITY, one): (row, column) for one, column in columns.items()})
        yield ImportedTrial(page.content, (reference, stimulus), origin, values, ms=reader.ms([row]))


def _read_pairs(reader: _ResultReader, page: RatingPage, rows: Sequence[SourceRow]) -> Iterator[ImportedTrial]:
    for row in rows:
        stimulus = reader.stimulus(page, row)
        if stimulus is None:
            continue
        name = row[reader.file.stimulus]
        reference = page.stimuli.get(f"{name}:{REFERENCE}", page.stimuli.get(REFERENCE, ""))
        named = {"correct": reference, "incorrect": stimulus, "undecided": "unsure"}.get(row["choice_answer"].lower())
        if named is None:
            row.broken(f"choice_answer is {row['choice_answer']!r}", "left out")
            continue
        row.mapped("choice")
        origin = reader.origin({(QUALITY, ""): (row, "choice_answer")})
        yield ImportedTrial(
            page.contents[name], (reference, stimulus), origin, choices={QUALITY: {"same_as": named}},
            ms=reader.ms([row]), draws={"same_as": reference},
        )  # fmt: skip


def _read_survey(reader: _ResultReader, page: RatingPage, rows: Sequence[SourceRow]) -> Iterator[ImportedTrial]:
    for row in rows:
        stimulus = reader.stimulus(page, row)
        if stimulus is None:
            continue
        values: dict[tuple[str, str], Any] = {}
        places = {}
        for number, (question, answers) in enumerate(zip(reader.pages.questions, page.answers, strict=True), 1):
            column = "stimuli_rating" if reader.table.has("stimuli_rating") else f"stimuli_rating{number}"
            cell = row[column]
            if cell not in answers and cell.upper() != "NA":
                row.broken(
                    f"{column} is {cell!r}, which is no answer of the page {page.trial_id}", "the rating is missing"
                )
            values[question, stimulus] = answers.get(cell)
            places[question, stimulus] = row, column
        row.mapped("rating")
        yield ImportedTrial(page.content, (stimulus,), reader.origin(places), values, ms=reader.ms([row]))


_GRADES = (
    "rating_reference", "rating_non_reference", "rating_reference_score", "rating_non_reference_score", "rating_time",
)  # fmt: skip
_CHOICES = ("choice_reference", "choice_non_reference", "choice_answer", "choice_time")
_SURVEY = ("trial_id", "stimuli_rating", "stimuli", "rating_time")
RESULT_FILES: Mapping[str, ResultFile] = {
    "mushra.csv": ResultFile(
        "mushra", "rating_stimulus", ("trial_id", "rating_stimulus", "rating_score", "rating_time"), _read_mushra,
        is_page=True,
    ),
    "bs1116.csv": ResultFile("bs1116", "rating_non_reference", ("trial_id", *_GRADES), _read_bs1116),
    "paired_comparison.csv": ResultFile(
        "paired_comparison", "choice_non_reference", ("trial_id", *_CHOICES), _read_pairs, "choice_time"
    ),
    "lss.csv": ResultFile("likert_single_stimulus", "stimuli", _SURVEY, _read_survey),
    "lms.csv": ResultFile("likert_multi_stimulus", "stimuli", _SURVEY, _read_survey),
}  # fmt: skip
"""By name."""
