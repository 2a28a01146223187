"""A study that people have taken, with everything that a bundle must not tell, and bundles of it."""

from __future__ import annotations

import asyncio
import hashlib
import zipfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from beholder.methods import load_study
from beholder.store.contract import LedgerEntry
from beholder.store.open import open_store
from beholder.study.model import Study
from support.export_store import fill

TEXT = """\
beholder: 1
name: exported
# The researcher's own line.
title: Exported
method: parallel
stimuli: stimuli
questions: [{id: quality, text: "How good?", scale: {min: 1, max: 5, labels: [Bad, Poor, Fair, Good, Excellent]}}]
deploy: {to: ada@machine.example.org}
contact: jane@example.org
texts: {consent: consent.md}
before:
  - {id: name, text: "Who are you?", type: text}
  - {id: sees, text: "Glasses?", type: single, options: ["no", "01"]}
  - {id: uses, text: "What?", type: multiple, options: ["=phone", "NA"]}
after:
  - {id: age, text: Age, type: number}
  - {id: easy, text: Easy, type: likert}
publication:
  authors: [{name: "Doe, Jane", affiliation: An institute of seeing, orcid: 0000-0002-1694-233X}]
  licence: CC-BY-4.0
  doi: 10.5281/zenodo.123456
"""
CONSENT = "Jane Doe of An institute of seeing asks you to look. Write to jane@example.org.\n"
SIGNED, SUBMISSION, WHY = "someone-logged-in", "submission-77", "she rang me up"
SERVED = "machine.example.org"
AUTHOR = ("Jane Doe", "Doe, Jane", "An institute of seeing", "0000-0002-1694-233X", "jane@example.org")
NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)
ENTRIES = (
    LedgerEntry("draft", "done", NOON, provider_ref="posting-1", evidence={"run": 1, "key": SIGNED, "places": 4}),
    LedgerEntry("leave_out", "done", NOON, participant="p-same", session="same", reason_text=WHY),
    LedgerEntry("approve", "planned", NOON, submission=SUBMISSION, participant="p-alice", session="alice",
                amount_minor=200, currency="GBP"),
    LedgerEntry("verified", "done", NOON, submission=SUBMISSION, session="alice"),
)  # fmt: skip


def taken_study(folder: Path) -> Study:
    """Return a study of three people whose answers are used, with a ledger."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "consent.md").write_text(CONSENT, "utf-8")
    (folder / "study.yaml").write_text(TEXT, "utf-8")
    study = load_study(folder)
    asyncio.run(fill(study))
    asyncio.run(_note(study))
    return study


async def _note(study: Study) -> None:
    async with open_store(study.folder / "store") as store:
        await store.ledger.append(ENTRIES)


Change = Callable[[dict[str, bytes]], None]


def rewrite(archive: Path, target: Path, change: Change, *, with_checksums: bool = True) -> Path:
    """Write an archive whose files somebody has changed, with checksums that fit again or as they were."""
    files = files_of(archive)
    change(files)
    if with_checksums:
        names = sorted(name for name in files if name != "checksums.sha256")
        lines = (f"{hashlib.sha256(files[name]).hexdigest()}  {name}\n" for name in names)
        files["checksums.sha256"] = "".join(lines).encode()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as written:
        for name in sorted(files):
            written.writestr(name, files[name])
    return target


def files_of(archive: Path) -> dict[str, bytes]:
    """Return the files in an archive by their names."""
    with zipfile.ZipFile(archive) as opened:
        return {name: opened.read(name) for name in opened.namelist()}
