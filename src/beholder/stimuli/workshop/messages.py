"""`beholder media attention` and `trap`: copies of files with a message in the middle, and their manifest."""

from __future__ import annotations

import csv
import math
import os
import re
import uuid
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.files import table_bytes, unquoted
from beholder.stimuli.copies import put_in_place
from beholder.stimuli.media_formats import known_suffixes, medium_of
from beholder.stimuli.messages.message import RECIPE, Message, Say, insert_message, message_problem, message_suffix
from beholder.stimuli.probe import measure
from beholder.stimuli.workshop.jobs import (
    Progress,
    RecipeLedger,
    WorkshopJob,
    WorkshopResult,
    raise_problems,
    recipe_of,
    run_jobs,
)
from beholder.types import Medium, MessageRole
from beholder.words import check_words

_MANIFEST = "manifest.csv"
_COLUMNS = ("file", "content", "condition", "role", "expected")
_MIN_SECONDS = 1.0

_PLACEHOLDER = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True)
class _Answer:
    """An answer to ask for: the words of the message, and the value in the manifest."""

    words: str
    expected: str


@dataclass(frozen=True)
class _File:
    """A stimulus to be copied, and the suffix of its copies."""

    path: Path
    medium: Medium
    suffix: str


def make_messages(
    files: Iterable[Path],
    out: Path,
    *,
    role: MessageRole,
    value: Sequence[str | float] = (),
    label: Sequence[str] = (),
    words: str | None = None,
    say: Say = "text",
    language: str = "en",
    progress: Progress | None = None,
) -> WorkshopResult:
    """Write `out`/<name>-<role>-<number>.<ext> of each file and each answer, and `out`/manifest.csv; return the result.

    A folder stands for the media in it. Files that the same recipe made are kept. File names do not contain answers.
    """
    problems: list[Problem] = []
    answers = list(_answers(value, label, words, say, language, problems))
    paths = list(dict.fromkeys(_media_paths(files, problems)))
    if not paths and not problems:
        problems.append(Problem("FILES", "holds no media", "video, sound, image or text files, or folders of them"))
    if out.is_file():
        problems.append(Problem("--out", f"is {out}, which is a file", "a folder"))
    elif RecipeLedger(out).state(out / _MANIFEST, "") == "foreign":
        fix = "Choose another --out, or move it away."
        problems.append(Problem(str(out / _MANIFEST), "is there, and is not what this command made", "", fix))
    problems += _same_names(paths)
    with ThreadPoolExecutor(max_workers=os.cpu_count() or 1) as pool:
        inspected = list(pool.map(lambda path: _inspect(path, say), paths))
    problems += [result for result in inspected if isinstance(result, Problem)]
    raise_problems(problems)
    media_files = [result for result in inspected if isinstance(result, _File)]
    rows: list[dict[str, str]] = []
    jobs = []
    for number, one in enumerate(answers, 1):
        for file in media_files:
            target = out / f"{file.path.stem}-{role}-{number}{file.suffix}"
            jobs.append(_job(file, target, Message(one.words, say, language)))
            # A study has one file for each content and condition.
            condition = role if len(answers) == 1 else f"{role}-{number}"
            cells = (_manifest_path(target), file.path.stem, condition, role, one.expected)
            rows.append(dict(zip(_COLUMNS, cells, strict=True)))
    copies = run_jobs(jobs, out, (), progress)
    listed = run_jobs([_manifest(out, rows)], out, (), None)
    return WorkshopResult(copies.written + listed.written, copies.kept + listed.kept)


def _answers(
    value: Sequence[str | float],
    label: Sequence[str],
    words: str | None,
    say: Say,
    language: str,
    problems: list[Problem],
) -> Iterator[_Answer]:
    """Yield the answers to ask for."""
    own = check_words(language)["attention"]
    spoken = "spoken." if say == "voice" else ""
    if not value:
        problems.append(Problem("--value", "is missing", "the number of the answer that is asked for, as 37"))
    if label and len(label) != len(value):
        what = f"is given {len(label)} times, and --value {len(value)} times"
        problems.append(Problem("--label", what, "one for each --value, or none"))
    if words is not None and not words.strip():
        problems.append(Problem("--words", "is empty", "what people are asked to do"))
    elif words is not None:
        problems.extend(_misplaced(words, has_label=bool(label)))
        if len(value) > 1 and not _PLACEHOLDER.search(words):
            what = "says the same for every answer"
            problems.append(Problem("--words", what, "words with {value} or {label}, or one answer"))
    usual = words or own[f"{spoken}label" if label else f"{spoken}slider"]
    for given, name in dict.fromkeys(zip_longest(value, label[: len(value)], fillvalue="")):
        number = _number(given)
        if number is None:
            problems.append(Problem("--value", f"is {given}", "a number, as 37"))
        elif not name.strip() and len(label) == len(value):
            problems.append(Problem("--label", "is empty", "the name of an answer, as Poor"))
        else:
            yield _Answer(usual.replace("{value}", number).replace("{label}", name), number)


def _misplaced(words: str, *, has_label: bool) -> Iterator[Problem]:
    """Yield placeholders without a value."""
    for name in dict.fromkeys(_PLACEHOLDER.findall(words)):
        if name not in ("value", "label"):
            yield Problem("--words", f"has {{{name}}}", "{value}, {label}")
        elif name == "label" and not has_label:
            yield Problem("--words", "has {label}, and there is no --label", "--label, or other words")


def _number(given: str | float) -> str | None:
    """Return a number as it is written, None for other text."""
    try:
        number = float(given)
    except ValueError:
        return None
    return f"{number:.10g}" if math.isfinite(number) else None


def _media_paths(files: Iterable[Path], problems: list[Problem]) -> Iterator[Path]:
    for path in files:
        if path.is_dir():
            inside = [part for part in sorted(path.iterdir()) if part.is_file() and medium_of(part.name) is not None]
            if not inside:
                problems.append(Problem(str(path), "has no media in it", "a folder with media files"))
            yield from inside
        elif path.is_file():
            yield path
        else:
            problems.append(Problem(str(path), "does not exist", fix="Look for a slip in the name."))


def _same_names(paths: Sequence[Path]) -> Iterator[Problem]:
    by_name: dict[str, Path] = {}
    for path in paths:
        first = by_name.setdefault(path.stem, path)
        if first is not path:
            what = f"has the name of {first}, so that one copy would replace the other"
            fix = "Rename one, or make them in two runs with two --out."
            yield Problem(str(path), what, "names that differ", fix)


def _inspect(path: Path, say: Say) -> _File | Problem:
    """Return a file that can take a message, or why it cannot."""
    where = str(path)
    medium = medium_of(path.name)
    if medium is None:
        return Problem(where, "is of no medium that is known", ", ".join(known_suffixes()))
    problem = message_problem(medium, say, where)
    if problem is not None:
        return Problem(where, problem.what, f"--say {problem.allowed}")
    try:
        measured = measure(path, where, medium)
        suffix = message_suffix(path)
    except StimuliError as error:
        return error.problems[0]
    seconds = measured.probe.duration_ms / 1000
    if medium == "video" and say == "text" and seconds < _MIN_SECONDS:
        return Problem(where, f"lasts {seconds:.2f} s, too short to read a message in", f"{_MIN_SECONDS:g} s or more")
    return _File(path, medium, suffix)


def _job(file: _File, target: Path, message: Message) -> WorkshopJob:
    recipe = recipe_of((RECIPE, message.words, message.say, message.language), (file.path,))
    return WorkshopJob(
        target,
        recipe,
        lambda threads: insert_message(file.path, target, file.medium, message, str(file.path), threads),
    )


def _manifest_path(target: Path) -> str:
    """Return a path relative to the current folder, as it is written into the manifest."""
    try:
        return target.absolute().relative_to(Path.cwd()).as_posix()
    except ValueError:
        return target.absolute().as_posix()


def _manifest(out: Path, rows: Sequence[dict[str, str]]) -> WorkshopJob:
    """Return the manifest to write: these lines, after those of earlier runs whose files are still there."""
    target = out / _MANIFEST
    names = {row["file"] for row in rows}
    kept: list[dict[str, str]] = []
    if target.is_file():
        with target.open(encoding="utf-8", newline="") as file:
            there = [row for row in csv.DictReader(file) if set(row) == set(_COLUMNS)]
        before = [{name: unquoted(value or "") for name, value in row.items()} for row in there]
        kept = [row for row in before if row["file"] not in names and (out / Path(row["file"]).name).is_file()]
    text = table_bytes(_COLUMNS, (*kept, *rows)).decode()
    return WorkshopJob(target, recipe_of((_MANIFEST, text), ()), lambda _: _write(target, text))


def _write(target: Path, text: str) -> None:
    part = target.with_name(f".{target.stem}.{uuid.uuid4().hex}.part")
    try:
        part.write_text(text, "utf-8", newline="")
        put_in_place(part, target)
    finally:
        part.unlink(missing_ok=True)
