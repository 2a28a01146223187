"""Manifests: a CSV with a line for each stimulus; and items with a known answer that the study lists itself."""

from __future__ import annotations

import csv
import difflib
import io
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import get_args
from urllib.parse import urlsplit

from beholder.errors import Problem, did_you_mean
from beholder.files import unquoted
from beholder.formats import listed
from beholder.stimuli.known_answers import (
    ANSWER_COLUMNS,
    KNOWN_ANSWER_ROLES,
    TRAINING_COLUMNS,
    KnownAnswer,
    is_answer_column,
    missing_answer,
    read_answer_cells,
    read_answer_item,
    roles_of_column,
)
from beholder.stimuli.media_formats import known_suffixes, medium_of
from beholder.stimuli.relations import COLUMN as FOR
from beholder.stimuli.relations import content_problems, read_relations, telling_names
from beholder.stimuli.sources import (
    RATED,
    Sources,
    StimulusSource,
    key_outside_folder,
    name_problem,
    normalised_name,
    path_inside,
    path_outside_folder,
)
from beholder.study.checks import GoldItem
from beholder.study.csv_files import MOST_TABLE_BYTES
from beholder.study.design import Training, TrainingItem
from beholder.study.model import Study
from beholder.study.parts import size_fault
from beholder.types import KEYED_ROLES, Medium, Role

_REQUIRED = ("file", "content", "condition")
_DELIMITERS = (",", ";", "\t")
_MIN_SIMILARITY = 0.8
"""How alike, from 0 to 1, a factor and a column have to be to be taken for each other."""
_RESERVED = ("reference",)
"""Columns of trials that later versions make: known, so that they are no factors."""
_ROLES: tuple[Role, ...] = ("test", "reference", "anchor", "mismatched", *KEYED_ROLES, "training", "example")
"""What a stimulus can be; the other roles belong to a place in a trial."""


def read_manifest(study: Study, name: str) -> Sources:
    """Return the sources that a manifest lists, with the line of each problem."""
    sources = Sources()
    root = study.folder.absolute()
    path = path_inside(root, name)
    if path is None:
        sources.problems.append(key_outside_folder(study, "stimuli.manifest", name))
        return sources
    if not path.is_file():
        sources.problems.append(Problem(name, "does not exist", fix="Write it, or change stimuli in the study."))
        return sources
    if fault := size_fault(path, MOST_TABLE_BYTES):
        sources.problems.append(study.problem("stimuli.manifest", fault.what, fault.allowed, fault.fix))
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
    _check_relations(name, sources)
    sources.warnings.extend(_unused_roles(study, name, sources.entries))
    return sources


def _check_relations(name: str, sources: Sources) -> None:
    """Add what does not fit between the lines in the column `for`, and what in results would tell a name."""
    if not any(source.relations for source in sources.entries):
        return
    rated = [source for source in sources.entries if source.role is None or source.role in RATED]
    sources.problems.extend(content_problems([(one.where, one.content, one.relations) for one in rated]))
    sources.warnings.extend(telling_names(name, [(one.content, one.condition, one.relations) for one in rated]))
    columns = {column for source in sources.entries for column in source.factors}
    if "relation" in columns:
        what = "column relation is a factor beside the column for, and results have a column relation by for"
        sources.problems.append(Problem(f"{name}:1", what, "", "Rename column relation."))


def _unused_roles(study: Study, name: str, sources: Sequence[StimulusSource]) -> Iterator[Problem]:
    """Yield roles whose stimuli no rule of the study shows."""
    for role in KEYED_ROLES:
        if any(source.role == role for source in sources) and study.checks.of_role(role) is None:
            fix = f"Write checks: {{{role}: true}}."
            yield Problem(name, f"stimuli with role {role} are not shown, as checks.{role} is off", "", fix)


def _delimiter(text: str) -> str:
    """Return what stands between cells: under which the first line has most of the columns that are needed."""

    def fitting(delimiter: str) -> int:
        try:
            cells = next(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True), [])
        except csv.Error:
            return -1
        return len({_column(cell) for cell in cells} & set(_REQUIRED))

    # Spreadsheets of half of Europe write semicolons.
    return max(_DELIMITERS, key=fitting)


def _read_lines(root: Path, name: str, lines: list[tuple[int, list[str]]], sources: Sources) -> None:
    columns = [_column(cell) for cell in (lines[0][1] if lines else [])]
    if not _columns_fit(name, columns, sources):
        return
    sources.warnings.extend(_misspelt_columns(name, columns))
    reserved: set[str] = set()
    unused: set[str] = set()
    for number, cells in lines[1:]:
        line = f"{name}:{number}"
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(columns):
            sources.problems.append(Problem(line, f"has {len(cells)} cells, the first line has {len(columns)}"))
            continue
        row = dict(zip(columns, (unquoted(cell.strip()) for cell in cells), strict=False))
        reserved.update(column for column in _RESERVED if row.get(column))
        written = [column for column, cell in row.items() if cell and is_answer_column(column)]
        unused.update(column for column in written if row.get("role", "") not in roles_of_column(column))
        source = _read_row(root, line, number, {column: row.get(column, "") for column in columns}, sources)
        if source is not None:
            sources.entries.append(source)
    for column in (column for column in _RESERVED if column in reserved):
        sources.warnings.append(Problem(name, f"column {column} is not used in this version"))
    for column in (column for column in columns if column in unused):
        roles = listed(roles_of_column(column))
        sources.warnings.append(Problem(name, f"column {column} is used on lines with role {roles} alone"))


def _column(cell: str) -> str:
    name = cell.strip()
    lower = name.lower()
    return lower if lower in (*_REQUIRED, "role", FOR, *_RESERVED) or is_answer_column(lower) else name


def _columns_fit(name: str, columns: list[str], sources: Sources) -> bool:
    where = f"{name}:1"
    before = len(sources.problems)
    missing = [column for column in _REQUIRED if column not in columns]
    for column in missing:
        hint = did_you_mean(column, [other for other in columns if other not in _REQUIRED])
        # The near word is what stands there, so the advice is to rename it.
        fix = f"Rename column {hint.removeprefix('Did you mean ').rstrip('?')} to {column}." if hint else ""
        sources.problems.append(
            Problem(where, f"column {column} is missing", ", ".join(_REQUIRED) + ", role, for, factors", fix)
        )
    twice = sorted({column for column in columns if column and columns.count(column) > 1})
    sources.problems.extend(Problem(where, f"column {column} is there twice") for column in twice)
    return len(sources.problems) == before


def _misspelt_columns(name: str, columns: list[str]) -> Iterator[Problem]:
    """Yield the factors that are nearly called as a column that does something."""
    unused = [word for word in ("role", *ANSWER_COLUMNS, *TRAINING_COLUMNS) if word not in columns]
    for column in columns:
        if column not in (*_REQUIRED, "role", FOR, *_RESERVED) and not is_answer_column(column):
            for near in difflib.get_close_matches(column.lower(), unused, n=1, cutoff=_MIN_SIMILARITY):
                yield Problem(f"{name}:1", f"column {column} is a factor and does nothing", "", f"Did you mean {near}?")


def _read_row(root: Path, line: str, number: int, row: Mapping[str, str], sources: Sources) -> StimulusSource | None:
    before = len(sources.problems)
    for kind in ("content", "condition"):
        if problem := name_problem(line, kind, row[kind]):
            sources.problems.append(problem)
    role = _role(line, row.get("role", ""), sources)
    if role == "example" and not row.get("message"):
        sources.problems.append(Problem(line, "has role example and no caption", "words in the column message"))
    known_answers = {column: value for column, value in row.items() if is_answer_column(column)}
    known_answer = (
        _known_answer(line, number, role, known_answers, sources.problems) if role in KNOWN_ANSWER_ROLES else None
    )
    relations = read_relations(line, row.get(FOR, ""), role, sources.problems)
    medium = _medium_at(row["file"])
    path = _locate(root, line, row["file"], medium, sources.problems)
    if len(sources.problems) > before or medium is None:
        return None
    known = (*_REQUIRED, "role", FOR, *_RESERVED, *known_answers, "")
    factors = {column: value for column, value in row.items() if column not in known}
    content, condition = normalised_name(row["content"]), normalised_name(row["condition"])
    caption = row.get("message", "") if role == "example" else ""
    return StimulusSource(
        line, row["file"], path, content, condition, medium, role, factors, caption,
        known_answer=known_answer, relations=relations,
    )  # fmt: skip


def _known_answer(line: str, number: int, role: Role, cells: Mapping[str, str], problems: list[Problem]) -> KnownAnswer:
    """Return what a line says of an answer, as far as its role has use for it."""
    before = len(problems)
    used = {column: cell for column, cell in cells.items() if role in roles_of_column(column)}
    known_answer = read_answer_cells(line, number, used, problems)
    missing = missing_answer(role, known_answer) if len(problems) == before else None
    problems.extend([missing] if missing else [])
    return known_answer


def _role(line: str, word: str, sources: Sources) -> Role | None:
    role = next((role for role in _ROLES if role == word), None)
    if word and role is None:
        kind = "belongs to a place in a trial, not to a stimulus" if word in get_args(Role) else "is unknown"
        sources.problems.append(Problem(line, f"role {word} {kind}", ", ".join(_ROLES), did_you_mean(word, _ROLES)))
    return role


def _medium_at(file: str) -> Medium | None:
    """Return the medium of a path or an address."""
    return medium_of(urlsplit(file).path if "://" in file else file)


def _locate(root: Path, line: str, file: str, medium: Medium | None, problems: list[Problem]) -> Path | None:
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
        path = path_inside(root, file)
        if path is None:
            problem = path_outside_folder(line, file)
        elif not path.is_file():
            names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            problem = Problem(line, f"{file} does not exist", fix=did_you_mean(path.name, names))
    if problem is not None:
        problems.append(problem)
        return None
    return path


# Items with a known answer in the study


def read_items(study: Study, sources: Sources) -> None:
    """Add what stands in `training.items` and in the `items` of rules, after those of a manifest."""
    last = max((source.known_answer.number for source in sources.entries if source.known_answer), default=0)
    if isinstance(study.training, Training):
        for place, item in enumerate(study.training.items):
            _read_item(study, f"training.items.{place}", "training", last + 1 + place, item, sources)
    for rule, options in study.checks.rules():
        for place, key in enumerate(rule.listed_stimuli(options)):
            role = rule.role or "test"
            _read_item(study, f"checks.{rule.name}.items.{place}", role, last + 1 + place, key, sources)


def _read_item(
    study: Study, key: str, role: Role, number: int, item: TrainingItem | GoldItem, sources: Sources
) -> None:
    where, before = study.where(key), len(sources.problems)
    content = normalised_name(item.content or PurePosixPath(urlsplit(item.file).path).stem)
    # One that has no condition of its own is called by its role.
    condition = normalised_name(item.condition or role)
    for kind, name in (("content", content), ("condition", condition)):
        if problem := name_problem(where, kind, name):
            sources.problems.append(problem)
    known_answer = read_answer_item(study, key, number, item, sources.problems)
    if len(sources.problems) == before and (missing := missing_answer(role, known_answer)):
        sources.problems.append(missing)
    medium = _medium_at(item.file)
    path = _locate(study.folder.absolute(), study.where(f"{key}.file"), item.file, medium, sources.problems)
    if len(sources.problems) == before and medium is not None:
        sources.entries.append(
            StimulusSource(where, item.file, path, content, condition, medium, role, known_answer=known_answer)
        )
