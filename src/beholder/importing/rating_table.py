"""Plain tables of ratings: whatever `analyse` reads as a table, by the same reader, as a study with its ratings.

A table says who rated what, and nothing of how it was shown: order, time and playback stay unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any, ClassVar

from beholder.analysis.spreadsheets import is_table
from beholder.errors import Problem, UserError
from beholder.formats import join_names
from beholder.importing.contract import (
    UNKNOWN,
    WHOLE,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
)
from beholder.importing.source_folder import SourceFolder, plain_number
from beholder.importing.study_folder import content_rule, slug, stimulus_name

if TYPE_CHECKING:
    import pandas as pd

_TEXTS: Mapping[str, str] = {"rating": "How good is it?"}
"""What is asked where a table has no questions."""
_MOST_STEPS = 11
"""Points of a scale that are shown as words or buttons; with more it is a slider."""


class RatingTable:
    """Reads a table of ratings, where it is of no other tool."""

    name: ClassVar[str] = "table"
    title: ClassVar[str] = "a table of ratings"
    is_general: ClassVar[bool] = True
    """Every other importer that recognises a source comes first."""

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: a file that `analyse` reads as ratings."""
        if not source.given or not is_table(source.given):
            return ""
        try:
            _read(source.root / source.given)
        except UserError:
            return ""
        return f"the columns of {source.given}"

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a table."""
        if not source.given:
            what, fix = "is a folder", "Give the file of one table."
            raise UserError(Problem(source.address, what, "a table such as ratings.csv", fix))
        table, lines, used, notes, scales = _read(source.root / source.given)
        for words in notes:
            source.provenance.warn(f"{source.given}: {words}.")
        _account(source, used)
        others = sorted({*table["kind"]} - {"score"})
        if others:
            what = f"holds ratings of kind {join_names(others)}"
            raise UserError(Problem(source.address, what, "scores", "`beholder analyse` reads such a table as it is."))
        return [_study(source, table, lines, scales)]


def _read(path: Path) -> tuple[pd.DataFrame, list[int], set[str], tuple[str, ...], Mapping[str, Any]]:
    """Return a table as analyses take it, the line of each rating, the columns that were used, and what was found."""
    from beholder.analysis.column_roles import find_roles
    from beholder.analysis.long_tables import to_long
    from beholder.analysis.ratings_table import NO_COLUMNS, load_table
    from beholder.analysis.spreadsheets import read_sheet

    read = load_table(path)
    table = read.table.reset_index(drop=True)
    sheet = read_sheet(path)
    try:
        roles = find_roles(sheet, NO_COLUMNS)
        places = to_long(sheet, roles).cells["row"].tolist()
        used = {*map(str, roles.single.values()), *map(str, roles.wide)}
    except UserError:  # a table as we write it, whose columns need no finding
        places, used = list(range(len(table))), {*map(str, table.columns)}
    lines = [sheet.lines[int(place)] for place in places] if len(places) == len(table) else [0] * len(table)
    return table, lines, used, read.notes, read.scales


def _account(source: SourceFolder, used: set[str]) -> None:
    """Say what became of every column and row."""
    if PurePosixPath(source.given).suffix.lower() not in (".csv", ".tsv", ".tab", ".txt"):
        source.whole(source.given)
        return
    table = source.table(source.given)
    known = {name.strip().lower() for name in used}
    for column in table.columns:
        if column in known:
            table.column(column, "ratings")
        else:
            table.unsupported_column(column, "it is none of participant, content, condition, question and value")
    for row in table.rows():
        row.mapped("ratings")


def _study(source: SourceFolder, table: pd.DataFrame, lines: Sequence[int], scales: Mapping[str, Any]) -> ImportedStudy:
    names: dict[tuple[str, str], ImportedStimulus] = {}
    for one in table.drop_duplicates(["content", "condition"]).itertuples():
        cell = str(one.content), str(one.condition)
        names[cell] = _stimulus(source, *cell)
    questions = {
        str(name): slug(str(name), f"question{n}") for n, name in enumerate(dict.fromkeys(table["question"]), 1)
    }
    rated = list(names.values())
    most = int(table.groupby("participant")["stimulus"].nunique().max())
    trials = max(1, min(most, len(rated), 60))
    title = PurePosixPath(source.given).stem
    keys: dict[str, Any] = {
        "name": slug(title, "ratings"),
        "title": title,
        "method": "likert" if len(questions) > 1 else "acr",
        "conditions": list(dict.fromkeys(one.condition for one in rated)),
        "questions": [
            {"id": identity, "text": _TEXTS.get(name, name), "scale": _scale(table, name, scales)}
            for name, identity in questions.items()
        ],
        "playback": {"watch": "none"},
        "design": {
            "participants": int(table["participant"].nunique()), "trials": trials, **content_rule(rated, trials),
            "seed": 1,
        },
    }  # fmt: skip
    source.provenance.assume("method", keys["method"], "a table does not say how anything was shown")
    return ImportedStudy(keys, rated, [*_sessions(source, table, lines, names, questions)])


def _stimulus(source: SourceFolder, content: str, condition: str) -> ImportedStimulus:
    """Return a stimulus with its file, if there is one as <condition>/<content>."""
    plain = stimulus_name(content), stimulus_name(condition)
    for media in source.media_folders():
        for name, path in media.items():
            parts = PurePosixPath(name).with_suffix("").parts
            if parts[-2:] == (condition, content) or parts in (
                (f"{content}_{condition}",),
                (f"{condition}_{content}",),
            ):
                return ImportedStimulus(*plain, path, name)
    return ImportedStimulus(*plain, None, f"{condition}/{content}.mp4")


def _scale(table: pd.DataFrame, question: str, scales: Mapping[str, Any]) -> dict[str, Any]:
    known = scales.get(question)
    values = table["value"][table["question"] == question].dropna()
    low, high = (known.low, known.high) if known is not None else (values.min(), values.max())
    is_whole = bool((values % 1 == 0).all())
    low, high = float(low), float(high if high > low else low + 1)
    look = "radio" if is_whole and high - low < _MOST_STEPS else "slider"
    return {"min": plain_number(low), "max": plain_number(high), "step": 1 if is_whole else 0.01, "look": look}


def _sessions(
    source: SourceFolder, table: pd.DataFrame, lines: Sequence[int], names: Mapping[tuple[str, str], ImportedStimulus],
    questions: Mapping[str, str],
) -> Iterator[ImportedSession]:  # fmt: skip
    people: dict[str, dict[tuple[str, int], list[tuple[int, Any]]]] = {}
    seen: dict[tuple[str, str, str], int] = {}
    for place, one in enumerate(table.itertuples()):
        person, stimulus = str(one.participant), names[str(one.content), str(one.condition)]
        again = seen.get((person, stimulus.id, str(one.question)), 0)
        seen[person, stimulus.id, str(one.question)] = again + 1
        people.setdefault(person, {}).setdefault((stimulus.id, again), []).append((place, one))
    contents = {one.id: one.content for one in names.values()}
    for person, pages in people.items():
        trials = []
        for (identity, _), rows in pages.items():
            places = {(questions[str(one.question)], identity): (lines[place], one.value) for place, one in rows}
            values: dict[tuple[str, str], Any] = {
                key: None if value != value else plain_number(float(value)) for key, (_, value) in places.items()
            }
            raw = {key: "" if value is None else f"{value:g}" for key, value in values.items()}
            at = {**{key: line for key, (line, _) in places.items()}, WHOLE: rows[0][0] and lines[rows[0][0]]}
            origin = Origin(source.given, at, raw)
            asked = tuple(question for question, _ in values) if len(values) < len(questions) else ()
            trials.append(ImportedTrial(contents[identity], (identity,), origin, values, questions=asked))
        yield ImportedSession(person, trials, unknown=frozenset(UNKNOWN))


rating_table = RatingTable()
