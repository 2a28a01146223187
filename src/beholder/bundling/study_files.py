"""The study folder of a bundle: study.yaml, the files that it names and its plan, without what is not handed on.

The researcher's own text is kept wherever it can be: keys are taken out of it by their lines. Where that cannot be
done, the resolved text takes its place, which loads as the same study.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from beholder.cleaning.texts import text_values
from beholder.errors import UserError
from beholder.files import link_or_copy, utf8, write_atomically
from beholder.methods import load_study
from beholder.stimuli.si_ti import KEPT
from beholder.study.model import Study
from beholder.study.parts import path_fault
from beholder.study.serialization import resolved_yaml, yaml_text
from beholder.study.yaml import ListNode, MapNode, Node, Scalar, parse, read_document

SERVED = ("deploy", "backup", "media")
"""Keys of where a study is served, copied and kept."""
PEOPLE = ("people", "block", "exclude")
"""Keys of `recruit` that name lists of people, or other studies."""
_PLAN = ("plan.json", "lists.jsonl", "lists.csv", "balance.csv")
STUDY_FILE = "study.yaml"


class CopiedStudy(NamedTuple):
    """A study as it stands in another folder."""

    study: Study
    left_out: tuple[str, ...]
    """The keys of study.yaml that are not handed on, and that were set."""


def copy_study(
    study: Study, path: Path, folder: Path, *, drop: Iterable[str] = (), change: Callable[[str], str] = str
) -> CopiedStudy:
    """Write the study file, every text file that it names, and its plan into an empty folder; return the copy.

    `path` is the study file, where there is one. `drop` are further keys that are left out. Every text goes through
    `change`.
    """
    folder.mkdir(parents=True, exist_ok=True)
    kept, left_out = handed_on(study, drop)
    text = _edited(path, left_out) if path.is_file() else None
    # Files are those that what is handed on names: a list of people is none of them.
    named = text if text is not None else resolved_yaml(kept)
    for name in _named_files(named, study.folder):
        _copy_file(study.folder / name, folder / name, change)
    write_atomically(folder / STUDY_FILE, utf8(change(named)))
    if text is not None and not _is_same(folder, kept, is_changed=change is not str):
        write_atomically(folder / STUDY_FILE, utf8(change(resolved_yaml(kept))))
    for name in _PLAN:
        if (study.folder / "plan" / name).is_file():
            _copy_file(study.folder / "plan" / name, folder / "plan" / name, change)
    if (study.folder / "media" / KEPT).is_file():
        _copy_file(study.folder / "media" / KEPT, folder / "media" / KEPT, str)
    return CopiedStudy(load_study(folder), left_out)


def handed_on(study: Study, drop: Iterable[str] = ()) -> tuple[Study, tuple[str, ...]]:
    """Return a study without the keys that are not handed on, and those of them that are set."""
    changes: dict[str, Any] = {}
    for name in (*SERVED, *drop):
        default = Study.model_fields[name].get_default(call_default_factory=True)
        if getattr(study, name) != default:
            changes[name] = default
    recruit = {
        name: type(study.recruit).model_fields[name].get_default(call_default_factory=True)
        for name in PEOPLE
        if getattr(study.recruit, name)
    }
    left_out = (*changes, *(f"recruit.{name}" for name in recruit))
    if recruit:
        changes["recruit"] = study.recruit.model_copy(update=recruit)
    kept = study.model_copy(update=changes)
    kept._folder = study.folder
    return kept, left_out


def _edited(path: Path, left_out: Iterable[str]) -> str | None:
    """Return the text of a study file without some keys of its top level; None where it takes more than lines."""
    keys = set(left_out)
    text = path.read_bytes().decode("utf-8-sig")
    if not keys:
        return text
    if any("." in key for key in keys):
        return None
    root = read_document(path).root
    if not isinstance(root, MapNode):
        return None
    lines = text.splitlines(keepends=True)
    starts = sorted((line, key) for key, (line, _) in root.entries.items())
    for place, (line, key) in enumerate(starts):
        if key in keys:
            end = starts[place + 1][0] if place + 1 < len(starts) else len(lines) + 1
            if end == line:
                return None  # several keys on one line
            lines[line - 1 : end - 1] = ["\n"] * (end - line)
    return "".join(lines)


def _is_same(folder: Path, kept: Study, *, is_changed: bool) -> bool:
    """Return whether a copy loads as what was meant; of changed texts, whether it loads at all."""
    try:
        copy = load_study(folder)
    except UserError:
        return False
    return is_changed or copy.model_dump(mode="json") == kept.model_dump(mode="json")


_LONGEST_NAME = 255


def _named_files(text: str, folder: Path) -> list[str]:
    """Return the files of a folder that a study text names, such as texts, lists and tables; stimuli apart."""
    from beholder.stimuli.media_formats import medium_of

    names = []
    root = parse(text, STUDY_FILE).root
    for name in dict.fromkeys(_scalars(root) if root is not None else ()):
        if not name or len(name) > _LONGEST_NAME or "\n" in name or path_fault(name, folder) is not None:
            continue
        file = folder / name
        if file.is_file() and name != STUDY_FILE and medium_of(name) in (None, "text"):
            names.append(name)
    return names


def _scalars(node: Node) -> Iterator[str]:
    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _scalars(item)
    else:
        for _, value in node.entries.values():
            yield from _scalars(value)


def _copy_file(file: Path, copy: Path, change: Callable[[str], str]) -> None:
    """Copy a file; what is text goes through `change`."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    content = file.read_bytes()
    if change is not str:
        with suppress(UnicodeDecodeError):
            content = utf8(change(content.decode()))
    write_atomically(copy, content)


# Stimuli


def stimulus_files(study: Study) -> dict[str, Path]:
    """Return the files of all stimuli of a study by their paths in its folder; UserError tells what is wrong."""
    from beholder.stimuli.sources import read_sources

    sources = read_sources(study)
    if sources.problems:
        raise UserError(sources.problems)
    files = {one.file: one.path or study.folder / one.file for one in sources.entries}
    return {name: path for name, path in sorted(files.items()) if path.is_file()}


def place_stimuli(study: Study, folder: Path) -> list[str]:
    """Link or copy the stimuli of a study to the same places in another folder; return their paths there."""
    files = stimulus_files(study)
    for name, path in files.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists():
            link_or_copy(path.resolve(), target)
    return list(files)


# Study texts in the store


def without_places(text: str, drop: Iterable[str] = ()) -> str:
    """Return a stored study text without where it was served, lists of people, and further keys."""
    values = text_values(text)
    found = [name for name in (*SERVED, *drop) if values.pop(name, None) is not None]
    recruit = values.get("recruit")
    if isinstance(recruit, dict):
        found += [name for name in PEOPLE if recruit.pop(name, None)]
    # A text is as it was unless something had to go.
    return yaml_text(values) if found else text
