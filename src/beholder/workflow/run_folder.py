"""The folder of a run on other stimuli: a copy of the study and of a folder of stimuli, named after its content.

A training loop, or a job that compares two models, asks the same study about new files each time. Every such run has a
folder of its own, so that it never meets the store of another one, and what people rated is kept as they saw it even
when the next step writes over its output.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from beholder.errors import Problem, StudyError, UserError
from beholder.files import ORIGIN

if TYPE_CHECKING:
    from beholder.study.model import Study
    from beholder.study.yaml import Node, StudyDocument

RUNS = "runs"
"""The folder beside study.yaml with a folder for each run on other stimuli."""
_DIGITS, _HASHED = 12, 64


def make_run_folder(
    study: str | Path, stimuli: str | Path | None, folder: str | Path | None = None, *, play_money: bool = False
) -> Path:
    """Return the study.yaml of a folder with a copy of this study and of these stimuli, which is made if missing.

    Without `stimuli` they are the study's own. A run on `play_money` has a folder that people never come to, and its
    report says so. Without `folder` it is `runs/DIGEST` beside the study, where DIGEST is a hash of the study, the
    files that it names and the stimuli: the same ones are continued, others get another folder. A given `folder` may
    be new, empty, or that of an earlier run on the same. Raises UserError with every problem.
    """
    from beholder.files import json_bytes
    from beholder.methods import load_study
    from beholder.study.yaml import read_document

    document, loaded = read_document(study), load_study(study)
    source = Path(stimuli) if stimuli is not None else loaded.folder / (loaded.stimuli.folder or "")
    problems = list(_problems(loaded, source))
    if problems:
        raise UserError(problems)
    assert loaded.stimuli.folder is not None, "a study with a manifest is refused above"
    parent = Path(folder).parent if folder is not None else document.folder / RUNS
    with _draft(parent) as draft:
        copied = [*_copy_stimuli(loaded, source, draft / loaded.stimuli.folder), *_copy_named(document, draft)]
        digest = _digest(document.path, draft, copied) + ("-play-money" if play_money else "")
        short = digest[:_DIGITS] + digest[_HASHED:]
        place = Path(folder) if folder is not None else parent / short
        if _is_made(place, digest):
            return place / "study.yaml"
        (draft / "study.yaml").write_text(_moved_text(document, loaded, place), "utf-8", newline="\n")
        origin = {"study": document.path.name, "stimuli": source.as_posix(), "digest": digest, "files": len(copied)}
        origin |= {"play_money": True} if play_money else {}
        (draft / ORIGIN).write_bytes(json_bytes(origin))
        (draft / ".gitignore").write_text("*\n", "utf-8", newline="\n")
        _move(draft, place)
    return place / "study.yaml"


@contextmanager
def named_as_given(study: str | Path, stimuli: str | Path) -> Iterator[None]:
    """Raise the errors of a block with the stimuli called by the folder that was given, not by that of the copy."""
    from beholder.methods import load_study

    try:
        yield
    except UserError as error:
        copy, given = load_study(study).stimuli.folder or "", Path(stimuli).as_posix()
        changed = []
        for problem in error.problems:
            is_inside = problem.where == copy or problem.where.startswith(f"{copy}/")
            where = given + problem.where.removeprefix(copy) if is_inside else problem.where
            changed.append(replace(problem, where=where, fix=problem.fix.replace(f"{copy}/", f"{given}/")))
        raise type(error)(changed) from error


def _problems(study: Study, source: Path) -> Iterator[Problem]:
    """Yield why a study cannot be asked about the stimuli of a folder."""
    if study.stimuli.manifest is not None:
        fix = "Write stimuli: stimuli in study.yaml; any folder can then stand in for it."
        yield study.problem("stimuli.manifest", "names each file by itself, and such a run copies a folder", "", fix)
    what = "is a file, not a folder" if source.is_file() else "does not exist" if not source.exists() else ""
    if what:
        allowed = "a folder of stimuli, as <condition>/<content>.<ext>"
        if study.stimuli.pattern is not None:
            allowed = "a folder of files whose names match stimuli.pattern"
        yield Problem(source.as_posix(), what, allowed)


@contextmanager
def _draft(parent: Path) -> Iterator[Path]:
    """Yield an empty folder below `parent`, deleted at the end unless it was moved: a failure leaves nothing."""
    try:
        parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=".run-", dir=parent))
    except OSError as error:
        what = f"cannot be written: {error.strerror}"
        raise UserError(
            Problem(str(parent), what, "a folder in which you may write", "Choose one with --folder.")
        ) from None
    try:
        yield aside
    finally:
        shutil.rmtree(aside, ignore_errors=True)


def _copy_stimuli(study: Study, source: Path, target: Path) -> Iterator[Path]:
    """Copy the files that can be stimuli of the study and yield the copies: checkpoints and logs are left out."""
    from beholder.stimuli.media_formats import medium_of
    from beholder.stimuli.sources import normalised_name

    named = {normalised_name(condition.name) for condition in study.conditions}
    target.mkdir(parents=True, exist_ok=True)
    for entry in sorted(source.iterdir()):
        is_condition = entry.is_dir() and study.stimuli.pattern is None
        if is_condition and named and normalised_name(entry.name) not in named:
            continue
        for file in sorted(entry.iterdir()) if is_condition else [entry]:
            if file.is_file() and medium_of(file.name) is not None and not file.name.startswith("."):
                yield _copy(file, target / file.relative_to(source))


def _copy_named(document: StudyDocument, target: Path) -> Iterator[Path]:
    """Copy every file of the study's folder that study.yaml names, such as texts and lists, and yield the copies."""
    from beholder.study.parts import path_fault

    for name in dict.fromkeys(_scalars(document.root)):
        # A question is no name, and longer than the names that a file system takes.
        if not name or len(name) > 255 or "\n" in name or path_fault(name, document.folder) is not None:
            continue
        file = document.folder / name
        if file.is_file() and file != document.path.absolute() and not (target / name).exists():
            yield _copy(file, target / name)


def _scalars(node: Node) -> Iterator[str]:
    from beholder.study.yaml import ListNode, MapNode, Scalar

    if isinstance(node, Scalar):
        yield node.text
    elif isinstance(node, ListNode):
        for item in node.items:
            yield from _scalars(item)
    elif isinstance(node, MapNode):
        for _, value in node.entries.values():
            yield from _scalars(value)


def _copy(file: Path, copy: Path) -> Path:
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(file, copy)
    return copy


def _digest(study: Path, draft: Path, copied: list[Path]) -> str:
    """Return the hash of a study file and of the copies with their names."""
    digest = hashlib.sha256(study.read_bytes())
    for copy in sorted(copied):
        with copy.open("rb") as file:
            content = hashlib.file_digest(file, "sha256").hexdigest()
        digest.update(f"\n{copy.relative_to(draft).as_posix()} {content}".encode())
    return digest.hexdigest()


def _is_made(place: Path, digest: str) -> bool:
    """Return whether a folder holds the run on these very files; raise UserError if it holds anything else."""
    import json

    if not place.exists() or (place.is_dir() and not any(place.iterdir())):
        return False
    try:
        made = json.loads((place / ORIGIN).read_text("utf-8"))["digest"]
    except (OSError, ValueError, KeyError, TypeError):
        made = None
    if made == digest:
        return True
    what = "holds something else" if made is None else "holds the run of another study file or of other stimuli"
    fix = "Choose another folder, or leave --folder out: every run then has one of its own."
    raise StudyError(Problem(place.as_posix(), what, "a new folder, or that of a run on the same stimuli", fix))


def _moved_text(document: StudyDocument, study: Study, place: Path) -> str:
    """Return the text of a study file whose other studies, in `recruit.exclude`, are found from another folder."""
    lines = document.path.read_bytes().decode("utf-8-sig").splitlines(keepends=True)
    moved = {
        name: Path(os.path.relpath(document.folder / name, place.absolute())).as_posix()
        for name in sorted(study.recruit.exclude, key=len, reverse=True)
    }
    names = re.compile("|".join(map(re.escape, moved)))
    for number in {document.line(("recruit", "exclude", index)) for index in range(len(moved))}:
        lines[number - 1] = names.sub(lambda match: moved[match[0]], lines[number - 1])
    return "".join(lines)


def _move(draft: Path, place: Path) -> None:
    """Move a finished draft to its place; where another process was first, with the same files, its folder stays."""
    try:
        if place.is_dir():
            place.rmdir()  # it is empty; on Windows a folder is not replaced
        draft.rename(place)
    except OSError:
        if not (place / ORIGIN).is_file():
            raise
