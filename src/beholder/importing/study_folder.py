"""The folder of an imported study: study.yaml, its schema and texts, and the stimuli with their manifest."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import Any

from beholder.errors import Problem, UserError
from beholder.files import csv_lines, link_or_copy, write_atomically
from beholder.importing.contract import ImportedStimulus, ImportedStudy
from beholder.methods import find, load_study
from beholder.planning.builder import make_plan
from beholder.stimuli.catalogue import Catalogue, Probe, Stimulus
from beholder.stimuli.ingestion import load_catalogue
from beholder.stimuli.media_formats import medium_of
from beholder.study import schema
from beholder.study.model import Study
from beholder.study.parts import SLUG
from beholder.study.serialization import yaml_text
from beholder.types import Json
from beholder.workflow.new import IGNORED, SCHEMA_LINE

MANIFEST = "stimuli.csv"
_MOST_KEPT = 200
"""Unsupported values that are kept in study.yaml; all of them are in import-report.json."""
_MOST_PROBLEMS = 20
_RATED = ("test", "reference", "anchor")
_UNMEASURED = Probe(0, "", 0, 0, 0, 0.0, "", "", 0)


@dataclass(frozen=True)
class WrittenStudy:
    """A study as it was written, and what has to be done before it can be shown to anybody."""

    folder: Path
    study: Study | None
    """None where study.yaml is not valid; `problems` say why."""
    catalogue: Catalogue | None
    """None where study.yaml is not valid. Of stimuli that were not found, it knows the names alone."""
    missing: tuple[str, ...]
    """Stimuli that were not found, as the source names them."""
    problems: tuple[Problem, ...]


def write_study(
    folder: Path, imported: ImportedStudy, source: Mapping[str, Json], unsupported: Mapping[str, Json]
) -> WrittenStudy:
    """Write a study to a folder; `source` says what it was made of, and is kept in study.yaml."""
    _refuse_same_names(imported.stimuli)
    folder.mkdir(parents=True, exist_ok=True)
    kept = {**source, **({"unsupported": dict(list(unsupported.items())[:_MOST_KEPT])} if unsupported else {})}
    keys = {"beholder": 1, **imported.keys, "stimuli": {"manifest": MANIFEST}, "source": kept}
    text = f"{SCHEMA_LINE}\n{yaml_text({name: keys[name] for name in _in_order(keys)})}"
    write_atomically(folder / "study.yaml", text.encode())
    write_atomically(folder / "study.schema.json", (json.dumps(schema(), indent=2) + "\n").encode())
    write_atomically(folder / ".gitignore", IGNORED.encode())
    for name, words in imported.texts.items():
        write_atomically(folder / name, words.encode())
    for name, path in imported.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        link_or_copy(path.resolve(), folder / name)
    missing = _write_stimuli(folder, imported.stimuli)
    try:
        study = load_study(folder)
    except UserError as error:
        return WrittenStudy(folder, None, None, missing, error.problems)
    if missing:
        return WrittenStudy(folder, study, _catalogue(study, imported.stimuli), missing, ())
    try:
        catalogue = load_catalogue(study)
    except UserError as error:
        return WrittenStudy(folder, study, _catalogue(study, imported.stimuli), missing, error.problems)
    return WrittenStudy(folder, study, catalogue, missing, _plan_problems(study, catalogue))


def _plan_problems(study: Study, catalogue: Catalogue) -> tuple[Problem, ...]:
    """Return why nobody can be shown a study as it is."""
    try:
        make_plan(study, catalogue, find(study.method))
    except UserError as error:
        return error.problems
    return ()


_ORDER = (
    "beholder", "name", "title", "language", "method", "options", "preset", "stimuli", "conditions", "questions",
    "playback", "design", "texts", "before", "during", "after", "qualification", "training", "checks", "clean",
    "analyse", "recruit", "budget", "family", "contact", "source",
)  # fmt: skip


def _in_order(keys: Mapping[str, Any]) -> list[str]:
    return [name for name in _ORDER if name in keys] + [name for name in keys if name not in _ORDER]


# Stimuli


def _refuse_same_names(stimuli: Sequence[ImportedStimulus]) -> None:
    """Raise UserError where two stimuli have the same names in the study."""
    named: dict[str, ImportedStimulus] = {}
    problems = []
    for one in stimuli:
        if (other := named.setdefault(one.id, one)) is not one:
            what = f"and {other.named} are both {one.content} under {one.condition}"
            problems.append(Problem(one.named, what, "another content or condition for each", "Rename one of them."))
    if problems:
        raise UserError(problems[:_MOST_PROBLEMS])


def _write_stimuli(folder: Path, stimuli: Sequence[ImportedStimulus]) -> tuple[str, ...]:
    """Link or copy the stimuli and write the manifest; return the names of those that were not found."""
    columns = ["file", "content", "condition", "role", *sorted({name for one in stimuli for name in one.cells})]
    used: set[str] = set()
    lines: list[Sequence[str]] = [columns]
    missing = []
    for one in stimuli:
        name = _file_name(one, used)
        if one.text is not None:
            write_atomically(folder / name, one.text.encode())
        elif one.file is None:
            missing.append(one.named)
        else:
            target = folder / name
            target.parent.mkdir(parents=True, exist_ok=True)
            link_or_copy(one.file.resolve(), target)
        role = "" if one.role == "test" else one.role
        lines.append([name, one.content, one.condition, role, *(one.cells.get(column, "") for column in columns[4:])])
    write_atomically(folder / MANIFEST, csv_lines(lines).encode())
    return tuple(missing)


def _file_name(one: ImportedStimulus, used: set[str]) -> str:
    """Return a path in the study for a stimulus, safe on every system, each once."""
    suffix = Path(one.file.name if one.file is not None else one.named.partition("?")[0]).suffix.lower()
    stem = f"stimuli/{_safe(one.condition)}/{_safe(one.content)}"
    name, number = f"{stem}{suffix}", 1
    while name.casefold() in used:
        number += 1
        name = f"{stem}-{number}{suffix}"
    used.add(name.casefold())
    return name


def _safe(name: str) -> str:
    """Return a name as a part of a path: letters, digits, `_`, `-` and points inside; never empty, never long."""
    plain = re.sub(r"[^\w.-]+", "-", name).strip(".-_ ")[:80]
    return f"{plain}-" if re.fullmatch(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?", plain) else plain or "unnamed"


def _catalogue(study: Study, stimuli: Sequence[ImportedStimulus]) -> Catalogue:
    """Return the catalogue of stimuli of which some are not there: names and roles, nothing measured."""
    known = [
        Stimulus(
            one.id, one.content, one.condition, one.role, medium_of(PurePosixPath(one.named).name) or "video",
            one.named, "", replace(_UNMEASURED, duration_ms=one.duration_ms), Path(), factors={},
        )
        for one in stimuli
    ]  # fmt: skip
    references = [one for one in known if one.role == "reference"]
    present = {one.condition for one in known}
    for name in study.options.get("anchors", ()):
        if name not in present:
            known += [
                Stimulus(
                    f"{name}/{one.content}", one.content, name, "anchor", one.medium, "", "", _UNMEASURED, Path()
                )
                for one in references
            ]  # fmt: skip
    listed = [condition.name for condition in study.conditions]
    rated = list(dict.fromkeys(one.condition for one in known if one.role in _RATED))
    order = (*(name for name in listed if name in rated), *(name for name in rated if name not in listed))
    return Catalogue(tuple(known), order, tuple(sorted({one.content for one in known if one.role in _RATED})))


def content_rule(stimuli: Sequence[ImportedStimulus], trials: int) -> dict[str, str]:
    """Return the key of a design that lets trials of a content be neighbours, where there are too few others."""
    most = max(Counter(one.content for one in stimuli if one.role == "test").values(), default=0)
    return {"contents": "free"} if 2 * min(most, trials) > trials + 1 else {}


# Names


def slug(text: str, default: str = "study") -> str:
    """Return a text as a name of a study or of an item: small letters, digits, `-` and `_`."""
    plain = re.sub(r"[^a-z0-9_-]+", "-", text.strip().lower()).strip("-_")[:64].strip("-_")
    return plain if re.match(SLUG, plain) else default


def stimulus_name(text: str, default: str = "unnamed") -> str:
    """Return a text as the name of a content or a condition: on one line, without slashes."""
    return " ".join(re.sub(r"[/\\\x00-\x1f\x7f]+", "-", text).split()).strip("- ")[:120] or default


def distinct(name: str, used: set[str]) -> str:
    """Return a name that is not used yet, with a number where it is, and note it as used."""
    found, number = name, 1
    while found in used:
        number += 1
        found = f"{name[:60]}-{number}"
    used.add(found)
    return found
