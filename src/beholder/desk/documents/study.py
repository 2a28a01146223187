"""The page Study: the study file with its problems, how balanced its plan is, and where to look at its pages."""

from __future__ import annotations

import asyncio
import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from beholder.desk.desk_study import DeskStudy
from beholder.desk.documents.people import title_of
from beholder.desk.documents.study_facts import CodeNames
from beholder.desk.viewer import Viewer
from beholder.errors import Problem, UserError
from beholder.planning.folder import read_plan
from beholder.recruiting.launch_record import launch_record
from beholder.server import tokens
from beholder.server.script import make_script
from beholder.store.contract import StudyRecord
from beholder.store.open import read_rows
from beholder.types import Json

_FILE_KEYS = ("text", "title", "description")
"""Keys whose values participants read: there a word is a word, also one that is the name of a condition."""


async def document(study: DeskStudy, viewer: Viewer) -> dict[str, Json]:
    """Return the study file, what is wrong with it, its plan, its storyboard and the steps that can be previewed."""
    store = study.context.store
    rows = await read_rows(store, "stimuli")
    names = CodeNames.of(study.study, rows, store.secret, is_blinded=viewer.blinded)
    entries = await store.ledger.entries()
    launched = launch_record(entries, study.study.run)
    text = await asyncio.to_thread(_text, study, names)
    checked = await asyncio.to_thread(_checked, study)
    record = await store.current()
    return {
        "key": study.key,
        "blinded": viewer.blinded,
        "name": study.study.name,
        "title": study.study.title,
        "method": study.study.method,
        "file": "study.yaml",
        "text": text,
        "problems": [_problem(one, names, "error") for one in checked.problems]
        + [_problem(one, names, "warning") for one in checked.warnings],
        "session": checked.session,
        "plan": await asyncio.to_thread(_plan, study, names),
        "served": None if record is None else _served(record),
        "storyboard": await asyncio.to_thread(_storyboard, study.folder / "storyboard"),
        "steps": await asyncio.to_thread(_steps, study),
        "preview": _preview(study, launched.public_url if launched is not None else ""),
    }  # fmt: skip


def _served(record: StudyRecord) -> dict[str, Json]:
    return {"digest": record.digest, "at": record.at.isoformat(), "lists": len(record.lists)}


# The file


def _text(study: DeskStudy, names: CodeNames) -> str:
    """Return the study file; while conditions are blinded, what it means, without naming any."""
    path = study.folder / "study.yaml"
    try:
        text = path.read_text("utf-8")
    except OSError:
        return ""
    if not names.is_blinded:
        return text
    written = yaml.safe_load(text)
    return yaml.safe_dump(_blinded(written, names), sort_keys=False, allow_unicode=True, width=100)


def _blinded(value: Any, names: CodeNames, key: str = "") -> Any:
    """Return a value of the file in which no condition is named: its place in the file would tell which it is."""
    if isinstance(value, Mapping):
        kept = () if key == "conditions" else _FILE_KEYS
        return {
            names.without(str(name)): inner if name in kept else _blinded(inner, names, str(name))
            for name, inner in value.items()
        }
    if isinstance(value, list):
        parts = [_blinded(inner, names, key) for inner in value]
        return sorted(parts, key=str) if key == "conditions" else parts
    return names.without(value) if isinstance(value, str) else value


class _CheckedFile:
    """What `check` says of a study, without raising it."""

    def __init__(self, problems: Sequence[Problem], warnings: Sequence[Problem], session: Json) -> None:
        self.problems, self.warnings, self.session = problems, warnings, session


def _checked(study: DeskStudy) -> _CheckedFile:
    from beholder.workflow.check import check

    try:
        checked = check(study.folder / "study.yaml")
    except UserError as error:
        return _CheckedFile(error.problems, (), None)
    session: dict[str, Json] = {
        "minutes": round(checked.minutes, 1),
        "lists": checked.participants,
        "stimuli": checked.stimuli,
        "conditions": len(checked.conditions),
        "contents": checked.contents,
        "stages": [
            {"name": one.name, "minutes": round(one.minutes, 1), "screens": one.screens} for one in checked.stages
        ],
    }
    return _CheckedFile((), checked.warnings, session)


def _problem(one: Problem, names: CodeNames, kind: str) -> dict[str, Json]:
    parts = {"where": one.where, "what": one.what, "allowed": one.allowed, "fix": one.fix}
    return {"kind": kind, **{name: names.text(str(words)) for name, words in parts.items()}}


# The plan, the storyboard, the steps


def _plan(study: DeskStudy, names: CodeNames) -> dict[str, Json] | None:
    """Return how even the counts of the plan are; None where there is no plan yet."""
    folder = study.folder / "plan"
    try:
        with (folder / "balance.csv").open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except OSError:
        return None
    return {
        "balance": [{name: names.text(cell) for name, cell in row.items()} for row in rows],
        "report": (folder / "report" / "index.html").is_file() and not names.is_blinded,
    }


def _storyboard(folder: Path) -> list[Json]:
    """Return the pictures of every session of the storyboard, as they lie in its folder."""
    sessions = sorted(path for path in folder.glob("*") if path.is_dir()) if folder.is_dir() else []
    return [
        {"name": one.name, "pictures": [{"file": f"{one.name}/{picture.name}", "title": _picture_title(picture)}
                                        for picture in sorted(one.glob("*.png"))]}
        for one in sessions
    ]  # fmt: skip


def _picture_title(picture: Path) -> str:
    """Return `trial 1, answered` for `05-trial-1-answered.png`."""
    _, _, rest = picture.stem.partition("-")
    name, separator, _ = rest.rpartition("-answered")
    return f"{(name if separator else rest).replace('-', ' ')}{', answered' if separator else ''}".capitalize()


def _steps(study: DeskStudy) -> list[Json]:
    """Return the steps of the first list, in order."""
    plan = read_plan(study.folder)
    entries = plan.lists[0].entries if plan is not None and plan.lists else ()
    script = make_script(study.study, entries)
    return [{"key": step.key, "title": title_of(step.key)} for step in script.steps]


def _preview(study: DeskStudy, public_url: str) -> dict[str, Json]:
    """Return how to look at any step as a participant: by a link where the study is served at an address of its own."""
    link = ""
    if public_url:
        link = f"{public_url}/s/{study.study.name}?preview={tokens.preview_secret(study.context.store.secret)}"
    return {"link": link, "command": "beholder preview study.yaml"}
