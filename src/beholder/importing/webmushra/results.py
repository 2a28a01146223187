"""The results of webMUSHRA: CSV files with a row for each rating, as sessions of people."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beholder.importing.contract import (
    WHOLE,
    ImportedSession,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
    QuestionnaireAnswers,
)
from beholder.importing.source_folder import SourceFolder, SourceRow, number_in, plain_number
from beholder.importing.webmushra.configuration import Configuration, MethodPages, RatingPage

QUESTION = "quality"
UNTOUCHED = "100 may be where the slider began"
_STARTED_AT = 100
_FIXED = ("session_test_id", "session_uuid")


class ResultFile(NamedTuple):
    """One of the files of results: the study that it belongs to, and its own columns."""

    method: str
    columns: tuple[str, ...]


RESULT_FILES: Mapping[str, ResultFile] = {
    "mushra.csv": ResultFile(
        "mushra", ("trial_id", "rating_stimulus", "rating_score", "rating_time", "rating_comment")
    ),
}  # fmt: skip


def with_results(source: SourceFolder, configuration: Configuration, options: ImportOptions) -> Sequence[ImportedStudy]:
    """Return the studies of a test, each with the sessions in its file of results."""
    files = _result_files(source, configuration.test)
    studies = []
    for method, pages in configuration.methods.items():
        sessions = [
            one
            for name in files
            if RESULT_FILES[PurePosixPath(name).name].method == method
            for one in _ResultReader(source, name, configuration, pages, options).sessions()
        ]
        studies.append(_study(configuration, pages, sessions))
    return studies


def _result_files(source: SourceFolder, test: str) -> list[str]:
    """Return the files of results of a test: those in the folder of its name, else those that are there."""
    found = [name for name in source.names if PurePosixPath(name).name in RESULT_FILES]
    folder = re.sub(r"[^a-z0-9]", "-", test.lower())
    mine = [name for name in found if PurePosixPath(name).parent.name.lower() in (folder, test.lower())]
    return mine or found


def _study(configuration: Configuration, pages: MethodPages, sessions: Sequence[ImportedSession]) -> ImportedStudy:
    shared, own = configuration.keys, pages.keys
    conditions = dict.fromkeys(one.condition for one in pages.stimuli)
    listed: list[Any] = [
        {"name": name, "role": "reference"} if name == "reference" else name for name in conditions
    ] + [name for name in own.get("options", {}).get("anchors", ()) if name not in conditions]
    people = max(len(sessions), 1) if sessions else 20
    keys = {
        **shared,
        **own,
        "name": shared["name"] if len(configuration.methods) == 1 else f"{shared['name'][:50]}-{pages.method}",
        "playback": {**shared.get("playback", {}), **own.get("playback", {})},
        "conditions": listed,
        "questions": [{"id": QUESTION, "text": "How good is the quality of each version?", "scale": "cont100"}],
        "design": {"participants": people, "trials": len(pages.pages), "seed": 1},
    }
    return ImportedStudy({name: value for name, value in keys.items() if value}, pages.stimuli, sessions)


class _ResultReader:
    """Reads one file of results."""

    def __init__(
        self,
        source: SourceFolder,
        name: str,
        configuration: Configuration,
        pages: MethodPages,
        options: ImportOptions,
    ) -> None:
        self.file = RESULT_FILES[PurePosixPath(name).name]
        self.table = source.table(name, (*_FIXED, *self.file.columns))
        self.configuration, self.options = configuration, options
        self._pages: dict[str, list[RatingPage]] = {}
        for page in pages.pages:
            self._pages.setdefault(page.trial_id, []).append(page)
        self._settle_columns()

    def _settle_columns(self) -> None:
        table = self.table
        for column in table.columns:
            if column in ("rating_comment",):
                table.column(column, "nothing: it is always empty")
            elif column == "rating_time":
                table.column(column, "response_ms")
            elif column in (*_FIXED, *self.file.columns):
                table.column(column, "ratings")
            else:
                item = next(
                    (one for one in self.configuration.questionnaire.items if one.column.lower() == column), None
                )
                if item is None:
                    table.unsupported_column(column, "the configuration has no question of this name")
                else:
                    table.column(column, "identity" if item.is_email else f"answer to {item.keys['id']}")

    def sessions(self) -> Iterator[ImportedSession]:
        """Yield the sessions in the order of the file."""
        for key, rows in self._visits():
            trials = list(self._trials(rows))
            if trials:
                yield self._session(key, rows, trials)

    def _visits(self) -> list[tuple[str, list[SourceRow]]]:
        visits: dict[str, list[SourceRow]] = {}
        for row in self.table.rows():
            visits.setdefault(row["session_uuid"], []).append(row)
        return list(visits.items())

    def _session(self, key: str, rows: Sequence[SourceRow], trials: Sequence[ImportedTrial]) -> ImportedSession:
        first = rows[0]
        answers: dict[str, Any] = {}
        person, platform = key, ""
        for item in self.configuration.questionnaire.items:
            cell = first[item.column.lower()]
            if item.is_email and cell:
                person, platform = cell.lower(), "email"
            elif (answer := item.read(cell)) is not None:
                answers[item.keys["id"]] = answer
        after = QuestionnaireAnswers(answers, Origin(self.table.name, {WHOLE: first.line})) if answers else None
        return ImportedSession(
            person, trials, platform, after=after, unknown=frozenset({"order", "date", "playback"}),
        )  # fmt: skip

    def _trials(self, rows: Sequence[SourceRow]) -> Iterator[ImportedTrial]:
        """Yield the pages of a visit; a page that is rated again is another one."""
        groups: list[tuple[str, dict[str, SourceRow]]] = []
        for row in rows:
            name = row["rating_stimulus"]
            last = groups[-1] if groups else None
            if last is None or last[0] != row["trial_id"] or name in last[1]:
                groups.append((row["trial_id"], {}))
            groups[-1][1][name] = row
        seen: Counter[str] = Counter()
        for trial_id, ratings in groups:
            seen[trial_id] += 1
            page = self._page(trial_id, seen[trial_id])
            if page is None:
                for row in ratings.values():
                    row.broken(f"trial_id is {trial_id}, which is no page of the configuration", "left out")
                continue
            trial = self._trial(page, ratings)
            if trial is not None:
                yield trial

    def _page(self, trial_id: str, number: int) -> RatingPage | None:
        found = self._pages.get(trial_id, ())
        return found[min(number, len(found)) - 1] if found else None

    def _trial(self, page: RatingPage, ratings: Mapping[str, SourceRow]) -> ImportedTrial | None:
        values: dict[tuple[str, str], Any] = {}
        lines, raw, doubts = {}, {}, {}
        times = []
        for name, row in ratings.items():
            stimulus = page.stimuli.get(name)
            if stimulus is None:
                row.broken(f"rating_stimulus is {name}, which the page {page.content} does not have", "left out")
                continue
            value = number_in(row["rating_score"])
            if value is None or not 0 <= value <= 100:
                row.broken(f"rating_score is {row['rating_score']!r}, not 0 to 100", "the rating is missing")
                value = None
            else:
                row.mapped("rating")
            place = (QUESTION, stimulus)
            values[place] = None if value is None else plain_number(value)
            lines[place], raw[place] = row.line, row["rating_score"]
            times.append(number_in(row["rating_time"]))
        if not values:
            return None
        best = [place for place, value in values.items() if value == _STARTED_AT]
        if len(best) > 1:
            for place in best:
                doubts[place] = UNTOUCHED
                if self.options.drop_untouched:
                    values[place] = None
        times = [time for time in times if time is not None and time >= 0]
        return ImportedTrial(
            page.content,
            tuple(page.stimuli.values()),
            Origin(self.table.name, lines, raw, doubts),
            values,
            ms=times[0] if times else None,
        )
