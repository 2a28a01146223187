"""The verb `import`: a source is recognised, read, written as studies with their facts, and accounted for."""

from __future__ import annotations

import gc
import hashlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from beholder.errors import Problem, UserError
from beholder.importing import ImportedFolder
from beholder.importing.contract import ImportedStudy, Importer, ImportOptions
from beholder.importing.import_report import PAGE, ImportAccount, write_report
from beholder.importing.registry import find, recognised
from beholder.importing.source_folder import SourceFolder
from beholder.importing.stored_sessions import Pseudonyms, StoredCounts, fingerprint_of, store_sessions
from beholder.importing.study_folder import WrittenStudy, distinct, write_study
from beholder.types import Json

_NOTHING = StoredCounts(0, 0, 0)


def import_folder(
    source: Path,
    folder: Path,
    *,
    importer: str | None,
    stimuli: Path | None,
    partial: bool,
    keep_ids: bool,
    drop_untouched: bool,
) -> ImportedFolder:
    """Import a source into a new folder: all of it, or nothing where it is refused."""
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        what = "is not empty" if folder.is_dir() else "is a file"
        raise UserError(Problem(str(folder), what, "a new or an empty folder", "Choose another name."))
    opened = SourceFolder(source, stimuli)
    if importer is None:
        peer, by = recognised(opened)
    else:
        peer, by = find(importer), "--from"
    with _without_collection():
        return _import(opened, peer, by, ImportOptions(partial, keep_ids, drop_untouched), folder)


@contextmanager
def _without_collection() -> Iterator[None]:
    """Hold a whole store in memory without looking for cycles among its facts, which takes a fifth of the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _import(opened: SourceFolder, peer: Importer, by: str, options: ImportOptions, folder: Path) -> ImportedFolder:
    studies = peer.read(opened, options)
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Written to a folder beside it and moved at the end, so that a failure leaves nothing that blocks the next try.
    with tempfile.TemporaryDirectory(prefix=".import-", dir=folder.parent) as aside:
        draft = Path(aside) / "study"
        draft.mkdir()
        account = _write(opened, studies, draft, peer.name, peer.title, by, keep_ids=options.keep_ids)
        report = write_report(account)
        folder.mkdir(exist_ok=True)
        for part in sorted(draft.iterdir()):
            shutil.move(part, folder / part.name)
    counted = [counts for _, counts in account.studies]
    return ImportedFolder(
        folder=folder,
        importer=peer.title,
        studies=tuple(folder / one.folder.relative_to(draft) / "study.yaml" for one, _ in account.studies),
        people=account.people,
        sessions=sum(one.sessions for one in counted),
        answers=sum(one.answers for one in counted),
        counts=report["counts"],
        uncertain=report["uncertain"],
        missing=tuple(name for one, _ in account.studies for name in one.missing),
        problems=tuple(problem for one, _ in account.studies for problem in one.problems),
        page=folder / PAGE,
    )


def _write(
    opened: SourceFolder, studies: Sequence[ImportedStudy], draft: Path, name: str, title: str, by: str, *,
    keep_ids: bool,
) -> ImportAccount:  # fmt: skip
    provenance = opened.provenance
    provenance.close()
    files = [_file(name, path) for name, path in sorted(opened.opened.items())]
    names = Pseudonyms(fingerprint_of((name, sha) for name, _, sha in files))
    made_of: dict[str, Json] = {"importer": name, "files": {name: sha for name, _, sha in files}}
    kept = provenance.unsupported_values()
    written: list[tuple[WrittenStudy, StoredCounts]] = []
    used: set[str] = set()
    for one in studies:
        where = draft if len(studies) == 1 else draft / distinct(str(one.keys["method"]), used)
        study = write_study(where, one, made_of, kept)
        counts = _NOTHING
        if study.study is not None and study.catalogue is not None:
            counts = store_sessions(
                where, study.study, study.catalogue, one, names, keep_ids=keep_ids, provenance=provenance
            )
        written.append((study, counts))
    provenance.close()  # rows that were read while sessions were written
    called = opened.given or opened.root.name
    return ImportAccount(name, title, by, called, files, provenance, written, draft, len(names))


def _file(name: str, path: Path) -> tuple[str, int, str]:
    with path.open("rb") as file:
        return name, path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()
