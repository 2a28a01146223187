"""A manifest: a CSV with a line for each stimulus."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import get_args
from urllib.parse import urlsplit

from beholder.errors import Problem, did_you_mean
from beholder.stimuli.formats import known_suffixes, medium_of
from beholder.stimuli.known_answers import (
    EXPECTATIONS,
    KNOWN,
    MARKS,
    KnownAnswer,
    column_users,
    is_lesson_column,
    item_lesson,
    read_lesson,
    unknown_answer,
)
from beholder.stimuli.sources import Sources, StimulusSource, inside, leads_out, name_problem, outside, plain
from beholder.study.checks import Gold, GoldItem
from beholder.study.design import Training, TrainingItem
from beholder.study.model import Study
from beholder.study.value_kinds import listed
from beholder.types import Medium, Role

NEEDED = ("file", "content", "condition")
DELIMITERS = (",", ";", "\t")
_NEAR = 0.8
"""How alike, from 0 to 1, a factor and a column have to be to be taken for each other."""
LATER = ("reference",)
"""Columns of trials that later versions make: known, so that they are no factors."""
ROLES: tuple[Role, ...] = ("test", "reference", "anchor", "gold", "trap", "attention", "training", "example")
"""What a stimulus can be; the other roles belong to a place in a trial."""


def read_manifest(study: Study, name: str) -> Sources:
    """Return the sources that a manifest lists, with the line of each problem."""
    sources = Sources()
    root = study.folder.absolute()
    path = inside(root, name)
    if path is None:
        sources.problems.append(leads_out(study, "stimuli.manifest", name))
        return sources
    if not path.is_file():
        sources.problems.append(Problem(name, "does not exist", fix="Write it, or change stimuli in the study."))
        return sources
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        sources.problems.append(Problem(name, "is not UTF-8 text", fix="Save it as CSV UTF-8."))
        return sources
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        lines = [(reader.line_num, cells) for cells in reader]
    except csv.Error as error:
        sources.problems.append(Problem(f"{name}:{reader.line_num}", f"is no CSV: {error}"))
        return sources
    _read_lines(root, name, lines, sources)
    sources.warnings.extend(_unshown(study, name, sources.found))
    return sources


def _unshown(study: Study, name: str, found: Sequence[StimulusSource]) -> Iterator[Problem]:
    """Yield roles whose stimuli no rule of the study shows."""
    for role in ("gold", "trap", "attention"):
        if any(source.role == role for source in found) and study.checks.rule(role) is None:
            fix = f"Write checks: {{{role}: true}}."
            yield Problem(name, f"stimuli with role {role} are not shown, as checks.{role} is off", "", fix)


def _delimiter(text: str) -> str:
    """Return what stands between cells: under which the first line has most of the columns that are needed."""

    def fitting(delimiter: str) -> int:
        try:
            cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), [])
        except csv.Error:
            return -1
        return len({_column(cell) for cell in cells} & set(NEEDED))

    # Spreadsheets of half of Europe write semicolons.
    return max(DELIMITERS, key=fitting)


def _read_lines(root: Path, name: str, lines: list[tuple[int, list[str]]], sources: Sources) -> None:
    columns = [_column(cell) for cell in (lines[0][1] if lines else [])]
    if not _columns_fit(name, columns, sources):
        return
    sources.warnings.extend(_misspelt(name, columns))
    seen: set[str] = set()
    idle: set[str] = set()
    for number, cells in lines[1:]:
        line = f"{name}:{number}"
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(columns):
            sources.problems.append(Problem(line, f"has {len(cells)} cells, the first line has {len(columns)}"))
            continue
        row = dict(zip(columns, (cell.strip() for cell in cells), strict=False))
        seen.update(column for column in LATER if row.get(column))
        written = [column for column, cell in row.items() if cell and is_lesson_column(column)]
        idle.update(column for column in written if row.get("role", "") not in column_users(column))
        source = _read_row(root, line, number, {column: row.get(column, "") for column in columns}, sources)
        if source is not None:
            sources.found.append(source)
    for column in (column for column in LATER if column in seen):
        sources.warnings.append(Problem(name, f"column {column} is not used in this version"))
    for column in (column for column in columns if column in idle):
        roles = listed(column_users(column))
        sources.warnings.append(Problem(name, f"column {column} is used on lines with role {roles} alone"))


def _column(cell: str) -> str:
    name = cell.strip()
    lower = name.lower()
    return lower if lower in (*NEEDED, "role", *LATER) or is_lesson_column(lower) else name


def _columns_fit(name: str, columns: list[str], sources: Sources) -> bool:
    where = f"{name}:1"
    before = len(sources.problems)
    missing = [column for column in NEEDED if column not in columns]
    for column in missing:
        hint = did_you_mean(column, [other for other in columns if other not in NEEDED])
        # The near word is what stands there, so the advice is to rename it.
        fix = f"Rename column {hint.removeprefix('Did you mean ').rstrip('?')} to {column}." if hint else ""
        sources.problems.append(
            Problem(where, f"column {column} is missing", ", ".join(NEEDED) + ", role, factors", fix)
        )
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    sources.problems.extend(Problem(where, f"column {column} is there twice") for column in twice)
    return len(sources.problems) == before


def _misspelt(name: str, columns: list[str]) -> Iterator[Problem]:
    """Yield the factors that are nearly called as a column that does something."""
    idle = [word for word in ("role", *EXPECTATIONS, *MARKS) if word not in columns]
    for column in columns:
        if column not in (*NEEDED, "role", *LATER) and not is_lesson_column(column):
            for near in difflib.get_close_matches(column.lower(), idle, n=1, cutoff=_NEAR):
                yield Problem(f"{name}:1", f"column {column} is a factor and does nothing", "", f"Did you mean {near}?")


def _read_row(root: Path, line: str, number: int, row: Mapping[str, str], sources: Sources) -> StimulusSource | None:
    before = len(sources.problems)
    for kind in ("content", "condition"):
        if problem := name_problem(line, kind, row[kind]):
            sources.problems.append(problem)
    role = _role(line, row.get("role", ""), sources)
    if role == "example" and not row.get("message"):
        sources.problems.append(Problem(line, "has role example and no caption", "words in the column message"))
    lessons = {column: value for column, value in row.items() if is_lesson_column(column)}
    lesson = _lesson(line, number, role, lessons, sources.problems) if role in KNOWN else None
    medium = medium_at(row["file"])
    path = locate(root, line, row["file"], medium, sources.problems)
    if len(sources.problems) > before or medium is None:
        return None
    known = (*NEEDED, "role", *LATER, *lessons, "")
    factors = {column: value for column, value in row.items() if column not in known}
    content, condition = plain(row["content"]), plain(row["condition"])
    caption = row.get("message", "") if role == "example" else ""
    return StimulusSource(line, row["file"], path, content, condition, medium, role, factors, caption, lesson=lesson)


def _lesson(line: str, number: int, role: Role, cells: Mapping[str, str], problems: list[Problem]) -> KnownAnswer:
    """Return what a line says of an answer, as far as its role has use for it."""
    before = len(problems)
    used = {column: cell for column, cell in cells.items() if role in column_users(column)}
    lesson = read_lesson(line, number, used, problems)
    missing = unknown_answer(role, lesson) if len(problems) == before else None
    problems.extend([missing] if missing else [])
    return lesson


def _role(line: str, word: str, sources: Sources) -> Role | None:
    found = next((role for role in ROLES if role == word), None)
    if word and found is None:
        kind = "belongs to a place in a trial, not to a stimulus" if word in get_args(Role) else "is unknown"
        sources.problems.append(Problem(line, f"role {word} {kind}", ", ".join(ROLES), did_you_mean(word, ROLES)))
    return found


def medium_at(file: str) -> Medium | None:
    """Return the medium of a path or an address."""
    return medium_of(urlsplit(file).path if "://" in file else file)


def locate(root: Path, line: str, file: str, medium: Medium | None, problems: list[Problem]) -> Path | None:
    """Return the path of a local file; None for an address, and after a problem."""
    problem: Problem | None = None
    path: Path | None = None
    scheme = urlsplit(file).scheme.lower() if "://" in file else ""
    if not file:
        problem = Problem(line, "the file is empty", "a path inside the study folder, or an https address")
    elif medium is None:
        problem = Problem(line, f"{file}: this kind of file is unknown", ", ".join(known_suffixes()))
    elif scheme and scheme != "https":
        problem = Problem(line, f"{file} is fetched over {scheme}", "https addresses", "Write https:// in front.")
    elif not scheme:
        path = inside(root, file)
        if path is None:
            problem = outside(line, file)
        elif not path.is_file():
            there = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            problem = Problem(line, f"{file} does not exist", fix=did_you_mean(path.name, there))
    if problem is not None:
        problems.append(problem)
        return None
    return path


# --- Stimuli with a known answer that the study lists itself, where there is no manifest with a line for each ---


def read_items(study: Study, sources: Sources) -> None:
    """Add what stands in `training.items` and `checks.gold.items`, after those of a manifest."""
    last = max((source.lesson.number for source in sources.found if source.lesson), default=0)
    gold = study.checks.rule("gold")
    if isinstance(study.training, Training):
        for place, item in enumerate(study.training.items):
            _read_item(study, f"training.items.{place}", "training", last + 1 + place, item, sources)
    if isinstance(gold, Gold):
        for place, key in enumerate(gold.items):
            _read_item(study, f"checks.gold.items.{place}", "gold", last + 1 + place, key, sources)


def _read_item(
    study: Study, key: str, role: Role, number: int, item: TrainingItem | GoldItem, sources: Sources
) -> None:
    where, before = study.where(key), len(sources.problems)
    content = plain(item.content or PurePosixPath(urlsplit(item.file).path).stem)
    # One that has no condition of its own is called by its role.
    condition = plain(item.condition or role)
    for kind, name in (("content", content), ("condition", condition)):
        if problem := name_problem(where, kind, name):
            sources.problems.append(problem)
    lesson = item_lesson(study, key, number, item, sources.problems)
    if len(sources.problems) == before and (missing := unknown_answer(role, lesson)):
        sources.problems.append(missing)
    medium = medium_at(item.file)
    path = locate(study.folder.absolute(), study.where(f"{key}.file"), item.file, medium, sources.problems)
    if len(sources.problems) == before and medium is not None:
        sources.found.append(StimulusSource(where, item.file, path, content, condition, medium, role, lesson=lesson))
