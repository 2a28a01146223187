"""Where stimuli come from: a folder of conditions, a flat folder with a pattern, or a manifest."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from beholder.errors import Problem, did_you_mean
from beholder.formats import join_names, plain_count
from beholder.stimuli.known_answers import KnownAnswer
from beholder.stimuli.media_formats import MEDIA, known_suffixes, medium_of
from beholder.stimuli.messages.message import Message
from beholder.study.model import Study
from beholder.study.parts import leads_inside, link_fault
from beholder.study.patterns import Pattern, PatternTimeout
from beholder.types import Medium, Role

RATED: frozenset[Role] = frozenset({"test", "reference", "anchor"})
"""Roles of stimuli that are rated; the others have jobs of their own."""

_EXAMPLE = "example"
"""The condition of files that only the instructions show."""
_SYSTEM_FILES = frozenset({"thumbs.db", "desktop.ini"})


@dataclass(frozen=True)
class StimulusSource:
    """A file or an address that the researcher points at."""

    where: str
    """How problems call it: the path, or the line of the manifest."""
    file: str
    """As the researcher wrote it."""
    path: Path | None
    """None: `file` is an address, still to be fetched."""
    content: str
    condition: str
    medium: Medium
    role: Role | None = None
    """None: the role of the condition in the study."""
    factors: Mapping[str, str] = field(default_factory=dict)
    caption: str = ""
    """What participants read below an example."""
    derived_from: Path | None = None
    """The reference, where `condition` is the recipe of an anchor that is made of it."""
    message: Message | None = None
    """What it says, where it is made to ask for an answer."""
    sound: Path | None = None
    """The video whose sound it is given, in place of that of `derived_from`."""
    most_ms: int = 0
    """How long it may last, where it is given a sound."""
    known_answer: KnownAnswer | None = None
    """What a training stimulus teaches."""
    relations: Mapping[str, str] = field(default_factory=dict)
    """What it is to each person or group that it is for; empty where it is for everybody."""


class _Stray(NamedTuple):
    """A file that has no place among the stimuli: a problem where it is of their medium, else left out."""

    medium: Medium
    problem: Problem


@dataclass
class Sources:
    """The sources of a study, stray files, problems and warnings."""

    entries: list[StimulusSource] = field(default_factory=list)
    strays: list[_Stray] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    warnings: list[Problem] = field(default_factory=list)


def read_sources(study: Study) -> Sources:
    """Return the sources of a study, whichever of the three ways it uses."""
    from beholder.stimuli.manifest import read_items, read_manifest

    stimuli = study.stimuli
    if stimuli.manifest is not None:
        sources = read_manifest(study, stimuli.manifest)
    else:
        sources = _read_folder(study, stimuli.folder or "", stimuli.pattern)
        _leave_out_notes(sources)
    _sort_strays(sources)
    if not sources.entries and not sources.problems:
        sources.problems.append(_no_stimuli(study, sources.warnings))
    _read_examples(study, sources)
    read_items(study, sources)
    sources.problems.extend(_mixed_media(study, [source for source in sources.entries if source.role != "example"]))
    sources.problems.extend(_duplicates(sources.entries))
    return sources


def _read_examples(study: Study, sources: Sources) -> None:
    """Find what the pages of instructions and questionnaires show; each file once, however often it is shown."""
    root, read = study.folder.absolute(), set[str]()
    for key, file in _shown_files(study):
        path, medium = path_inside(root, file), medium_of(file)
        if path is None:
            sources.problems.append(key_outside_folder(study, key, file))
        elif medium is None:
            what = f"is {file}, an unknown kind of file"
            sources.problems.append(study.problem(key, what, ", ".join(known_suffixes())))
        elif not path.is_file():
            names = [entry.name for entry in path.parent.iterdir()] if path.parent.is_dir() else []
            what = f"is {file}, and there is no such file"
            fix = did_you_mean(path.name, names)
            sources.problems.append(study.problem(key, what, "a file in the study folder", fix))
        elif file not in read:
            read.add(file)
            sources.entries.append(StimulusSource(file, file, path, file, _EXAMPLE, medium, "example"))


def _shown_files(study: Study) -> Iterator[tuple[str, str]]:
    """Yield each file beside the stimuli that participants are shown, with the key that names it."""
    for page, shown in enumerate(study.texts.pages):
        for place, example in enumerate(shown.examples):
            yield f"texts.instructions.{page}.examples.{place}.file", example.file
    for name, items in (("before", study.before), ("during", study.during), ("after", study.after)):
        for place, item in enumerate(items):
            if item.file is not None:
                yield f"{name}.{place}.file", item.file


def path_inside(folder: Path, name: str) -> Path | None:
    """Return the path of `name` in the study folder, None when it leads out of it by its words or by a link."""
    path = Path(os.path.normpath(folder / name))
    return path if path.is_relative_to(os.path.normpath(folder)) and leads_inside(path, folder) else None


def key_outside_folder(study: Study, key: str, name: str) -> Problem:
    """Return the problem of a key of the study whose path leaves the study folder."""
    is_link = Path(os.path.normpath(study.folder / name)).is_relative_to(os.path.normpath(study.folder))
    if is_link and (fault := link_fault(study.folder, name)) is not None:
        return study.problem(key, fault.what, fault.allowed, fault.fix)
    return study.problem(key, f"is {name}, outside the study folder", "paths inside it", "Move it into the folder.")


def path_outside_folder(where: str, name: str) -> Problem:
    """Return the problem of a path that leaves the study folder."""
    return Problem(
        where,
        f"{name} lies outside the study folder",
        "paths inside it",
        "Copy the files into the study folder.",
    )


def name_problem(where: str, kind: str, name: str) -> Problem | None:
    """Return what is wrong with the name of a content or condition, None when nothing is."""
    if not name.strip():
        return Problem(where, f"the {kind} is empty", "a name")
    if "/" in name or any(unicodedata.category(letter) == "Cc" for letter in name):
        return Problem(where, f"the {kind} {name!r} has a slash or a control character", "a name without them")
    return None


def normalised_name(name: str) -> str:
    """Return a name in the one Unicode form that study.yaml, macOS and Linux then agree on."""
    return unicodedata.normalize("NFC", name)


def _no_stimuli(study: Study, skipped: Sequence[Problem]) -> Problem:
    """Return the problem of a study without any stimulus."""
    stimuli = study.stimuli
    origin = stimuli.manifest or stimuli.folder or ""
    others = f" ({plain_count(len(skipped), 'other file')} left out)" if skipped else ""
    fix = f"Put files there as {origin}/<condition>/<content>, for example {origin}/a/city.mp4."
    if stimuli.manifest is not None:
        fix = "Write a line for each file."
    elif stimuli.pattern is not None:
        fix = "Put files there with names that match the pattern."
    return Problem(origin, f"holds no stimuli{others}", ", ".join(known_suffixes()), fix)


def _leave_out_notes(sources: Sources) -> None:
    """Leave out texts in a folder of sounds, videos or pictures: notes and transcripts lie beside what is rated.

    Where texts are most of the files, they are what is rated, and something else is the stray.
    """
    notes = [source for source in sources.entries if source.medium == "text"]
    others = sorted({source.medium for source in sources.entries} - {"text"})
    if notes and 2 * len(notes) <= len(sources.entries):
        sources.entries = [source for source in sources.entries if source.medium != "text"]
        for source in notes:
            sources.warnings.append(Problem(source.where, f"is left out: text beside {' and '.join(others)}"))


def _sort_strays(sources: Sources) -> None:
    """Report files without a place: a note among videos is left out, a video without a condition is a problem."""
    media = {source.medium for source in sources.entries}
    for stray in sources.strays:
        if not media or stray.medium in media:
            sources.problems.append(stray.problem)
        else:
            kinds = " and ".join(sorted(media))
            sources.warnings.append(Problem(stray.problem.where, f"is left out: {stray.medium} beside {kinds}"))


def _mixed_media(study: Study, sources: Sequence[StimulusSource]) -> list[Problem]:
    """Return the problem of a study whose stimuli are of more than one medium."""
    first: dict[Medium, StimulusSource] = {}
    for source in sources:
        first.setdefault(source.medium, source)
    if len(first) < 2:
        return []
    kinds = [f"{medium} ({first[medium].file})" for medium in MEDIA if medium in first]
    what = f"mix {join_names(kinds)}"
    return [study.problem("stimuli", what, "one medium", "Take the others out, or make a study of each.")]


def _read_folder(study: Study, name: str, pattern: str | None) -> Sources:
    sources = Sources()
    root = study.folder.absolute()
    folder = path_inside(root, name)
    if folder is None:
        sources.problems.append(key_outside_folder(study, "stimuli.folder", name))
    elif not folder.is_dir():
        what = "is a file, not a folder" if folder.exists() else "is not there"
        fix = f"Make the folder {name} with one folder per condition, or change stimuli in the study."
        if folder.exists():
            fix = "Name the folder that holds one folder per condition."
        others = [one.name for one in folder.parent.iterdir() if one.is_dir()] if folder.parent.is_dir() else []
        near = did_you_mean(folder.name, others)
        sources.problems.append(study.problem("stimuli", f"is {name}, which {what}", "", near or fix))
    elif pattern is None:
        _read_conditions(root, folder, sources)
    else:
        _read_flat(study, folder, pattern, sources)
    return sources


def _read_conditions(root: Path, folder: Path, sources: Sources) -> None:
    for entry in _visible_entries(root, folder, sources):
        where = _relative(root, entry)
        if not entry.is_dir():
            if medium := _medium(where, entry, sources):
                expected = f"{_relative(root, folder)}/<condition>/{entry.name}"
                fix = f"Expected {expected}  Move it there, or give a pattern for file names."
                sources.strays.append(_Stray(medium, Problem(where, "lies in no condition folder", fix=fix)))
            continue
        for file in _visible_entries(root, entry, sources):
            inner = _relative(root, file)
            if file.is_dir():
                sources.warnings.append(Problem(inner, "is a folder inside a condition and is left out"))
            elif medium := _medium(inner, file, sources):
                sources.entries.append(_source(inner, file, medium, content=file.stem, condition=entry.name))


def _read_flat(study: Study, folder: Path, pattern: str, sources: Sources) -> None:
    root = study.folder.absolute()
    matcher = Pattern(pattern)
    for file in _visible_entries(root, folder, sources):
        where = _relative(root, file)
        if file.is_dir():
            sources.warnings.append(Problem(where, "is a folder and is left out: with a pattern the folder is flat"))
            continue
        medium = _medium(where, file, sources)
        if medium is None:
            continue
        # A pattern may speak of the whole name or of the name without its suffix.
        try:
            match = matcher.match(file.stem)
            match = matcher.match(file.name) if match is None else match
        except PatternTimeout:
            what = f"is {pattern}, which takes too long on the name {file.name}"
            allowed, fix = "a pattern that comes to an end", "Repeat nothing that is repeated already, as (a+)+ does."
            sources.problems.append(study.problem("stimuli.pattern", what, allowed, fix))
            return
        if match is None:
            fix = "Rename it, take it out, or change the pattern."
            sources.strays.append(_Stray(medium, Problem(where, f"does not match the pattern {pattern}", fix=fix)))
            continue
        names = {group: match[group] for group in ("content", "condition")}
        wrong = [problem for kind, text in names.items() if (problem := name_problem(where, kind, text))]
        if wrong:
            sources.problems.extend(wrong)
            continue
        others = {key: value for key, value in match.items() if key not in names}
        sources.entries.append(_source(where, file, medium, **names, factors=others))


def _source(
    where: str, file: Path, medium: Medium, *, content: str, condition: str, factors: Mapping[str, str] | None = None
) -> StimulusSource:
    return StimulusSource(
        where, where, file, normalised_name(content), normalised_name(condition), medium, factors=factors or {}
    )


def _visible_entries(root: Path, folder: Path, sources: Sources) -> list[Path]:
    """Return what a person sees in the folder, by code point; links out of the study folder are problems."""
    shown = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    entries = sorted((one for one in shown if one.name.lower() not in _SYSTEM_FILES), key=lambda one: one.name)
    for entry in entries:
        if entry.is_symlink() and (fault := link_fault(root, _relative(root, entry))) is not None:
            sources.problems.append(Problem(_relative(root, entry), fault.what, fault.allowed, fault.fix))
    return [entry for entry in entries if not entry.is_symlink() or leads_inside(entry, root)]


def _medium(where: str, file: Path, sources: Sources) -> Medium | None:
    """Return the medium of a file; one of none is left out with a warning."""
    medium = medium_of(file.name)
    if medium is None:
        what = f"is left out: {file.suffix or 'no suffix'} is an unknown kind of file"
        sources.warnings.append(Problem(where, what, ", ".join(known_suffixes())))
    return medium


def _relative(root: Path, path: Path) -> str:
    return path.relative_to(os.path.normpath(root)).as_posix()


def _duplicates(sources: list[StimulusSource]) -> list[Problem]:
    """Return a problem for each (content, condition) that has several files, rated and unrated ones apart."""
    first: dict[tuple[str, str, str], StimulusSource] = {}
    problems = []
    for source in sources:
        role = "" if source.role is None or source.role in RATED else source.role
        earlier = first.setdefault((source.content, source.condition, role), source)
        if earlier is not source:
            key, before = (
                source.known_answer.key if source.known_answer else "",
                earlier.known_answer.key if earlier.known_answer else "",
            )
            repeated = f"is content {source.content} under condition {source.condition} again"
            fix = f"Write another {key}.content or {key}.condition." if key else "Rename one of them or take it out."
            what = f"{key} {repeated}, as {before or earlier.where} is".strip()
            problems.append(Problem(source.where, what, "one file for each content and condition", fix))
    return problems
