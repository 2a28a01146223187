"""Everything that a bundle holds, gathered in one folder and computed from its own facts; the result of `bundle`."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from beholder.bundling.authors import PUBLICATION, Blinding, blinded_registration
from beholder.bundling.crate import BundleFacts, crate_bytes, readme_bytes, software_files
from beholder.bundling.facts_files import (
    Change,
    FactScreen,
    facts_file,
    population_of,
    read_rows_of,
    readable_sessions,
    screened_rows,
    typed_texts,
    write_events,
    write_rows,
)
from beholder.bundling.holdings import BUNDLE, CHECKSUMS, CRATE, FACTS, README, STUDY, Choice, Holding
from beholder.bundling.recomputation import BUNDLED, STEPS, recompute, time_of
from beholder.bundling.study_files import STUDY_FILE, copy_study, place_stimuli, without_places
from beholder.bundling.zip_files import checksum_lines, file_hash, write_archive, write_files
from beholder.cleaning.collection import record_judged_look
from beholder.cleaning.screening import JudgedPopulation, judge_tables, store_of
from beholder.cleaning.texts import StudyText, read_text
from beholder.clock import utc_now
from beholder.errors import Problem, UserError
from beholder.exporting.dataset import Dataset
from beholder.exporting.folder import stored_masks
from beholder.exporting.source import ExportSource, FreeTextFilter
from beholder.files import json_bytes
from beholder.formats import megabytes, plain_count
from beholder.result_view import ResultView, ShownResult
from beholder.store.contract import Table
from beholder.store.open import read_tables
from beholder.study.model import Study
from beholder.study.recruitment import is_person, is_robot

if TYPE_CHECKING:
    from pandas import DataFrame

_OF_SESSION = ("claims", "posed", "answers", "events", "told", "ends", "erasures")
_STEPS = 5 + STEPS


@dataclass(frozen=True, repr=False)
class Bundled(ShownResult):
    """What `bundle` wrote, or would write."""

    path: Path
    is_written: bool
    digest: str
    """The SHA-256 of checksums.sha256, by which anybody knows the bundle again; empty where none was written."""
    bytes: int
    files: int
    choice: Choice
    notes: tuple[str, ...]
    """What a reader has to know of it."""
    rows: Mapping[str, int] = field(default_factory=dict)
    """Facts by table."""

    @property
    def holdings(self) -> tuple[Holding, ...]:
        """What it holds, where, and what is left out."""
        return self.choice.holdings

    @property
    def words(self) -> tuple[str, ...]:
        """What was written, in sentences."""
        if not self.is_written:
            return (self.choice.words, *self.notes, "Nothing was written.")
        size = f"{self.path}: {plain_count(self.files, 'file')}, {megabytes(self.bytes)}"
        return (size, f"Digest: {self.digest}", *self.notes)

    @property
    def table(self) -> DataFrame:
        """What it holds, as a table."""
        import pandas as pd

        return pd.DataFrame([one._asdict() for one in self.holdings])

    def _view(self) -> ResultView:
        return ResultView(self.words, self.table)


def bundle_study(
    study: str | Path | Study,
    *,
    out: Path | None,
    kind: str,
    with_stimuli: bool | None,
    with_texts: bool | None,
    robots: bool,
    store: str | None,
    dry_run: bool,
    progress: Callable[[int, int], None] | None,
) -> Bundled:
    """Gather a bundle, compute its results from what it holds, and write it."""
    from beholder.methods import load_study

    choice = Choice.of(kind, with_stimuli, with_texts, robots=robots)
    loaded = study if isinstance(study, Study) else load_study(study)
    given = loaded.folder / STUDY_FILE if isinstance(study, Study) else Path(study)
    path = given / STUDY_FILE if given.is_dir() else given
    target = out or loaded.folder / f"{loaded.name}-{choice.kind}.zip"
    _refuse_target(target)
    tell = _StepCount(progress)
    gathered = _Gathering(loaded, path, choice, store_of(loaded, store))
    notes = gathered.notes()
    if dry_run:
        return Bundled(target, False, "", 0, 0, choice, notes)
    parent = target.parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".bundle-", dir=parent) as scratch:
        folder = Path(scratch)
        facts = gathered.write(folder, notes, tell)
        names = sorted(one.relative_to(folder).as_posix() for one in folder.rglob("*") if one.is_file())
        digest = _describe(folder, facts, names)
        tell()
        names = [*names, CRATE, CHECKSUMS]
        write_archive(target, folder, names)
        tell()
    return Bundled(target, True, digest, target.stat().st_size, len(names), choice, tuple(facts.notes), facts.counts)


def _refuse_target(target: Path) -> None:
    if target.suffix.lower() != ".zip":
        raise UserError(Problem("--out", f"is {target}", "a file that ends in .zip"))
    if target.is_dir():
        raise UserError(Problem("--out", f"is {target}, which is a folder", "a file that ends in .zip"))


def _describe(folder: Path, facts: BundleFacts, names: list[str]) -> str:
    """Write the metadata and checksums of files, and return the digest of the bundle."""
    sizes = {name: (folder / name).stat().st_size for name in names}
    hashes = {name: file_hash(folder / name) for name in names}
    write_files(folder, {CRATE: crate_bytes(facts, sizes, hashes)})
    lines = checksum_lines({**hashes, CRATE: file_hash(folder / CRATE)})
    write_files(folder, {CHECKSUMS: lines})
    return hashlib.sha256(lines).hexdigest()


class _StepCount:
    """Counts steps for a progress bar."""

    def __init__(self, progress: Callable[[int, int], None] | None) -> None:
        self._progress, self._done = progress, 0

    def __call__(self) -> None:
        self._done += 1
        if self._progress is not None:
            self._progress(self._done, _STEPS)


class _Gathering:
    """What is handed on of one study: its facts as the store has them, and what is left out of them."""

    def __init__(self, study: Study, path: Path, choice: Choice, url: str) -> None:
        self.study, self.path, self.choice, self.url = study, path, choice, url
        self.tables = read_tables(url, BUNDLED)
        self.judging = self._judge()
        # Before anything is taken out: that results are looked at belongs to them.
        record_judged_look(self.judging, self.tables["ledger"], url, "bundle")
        self.tables["ledger"] = read_tables(url, ("ledger",))["ledger"]
        _keep_population(self.tables, robots=self.judging.facts.population == "robots")
        self.masks = stored_masks(url) if choice.with_texts else None
        self.blinding = Blinding(study if choice.is_blinded else None)
        if typed_texts(self.tables) and not choice.with_texts:
            fix = "Look through them, and add --with-texts."
            what = "asks for texts that people type, and its ratings are made of them"
            raise UserError(Problem(study.name, what, "a bundle with texts", fix))

    def _judge(self) -> JudgedPopulation:
        return judge_tables(self.study, self.tables, robots=self.choice.robots)

    def notes(self) -> tuple[str, ...]:
        """Return what a reader has to know of this bundle alone."""
        notes = []
        if self.choice.is_blinded:
            notes.append(
                "Names are taken out where they stand by the letters of `publication` and `contact`; look for others."
            )
            if any(row["kind"] == "preregistration" for row in self.tables["ledger"]):
                notes.append("Digests of preregistrations are those of the blinded words.")
        if self.choice.with_texts:
            notes.append("What people wrote is in it, with masks for addresses and ids: look through it first.")
        if self.judging.facts.population == "robots":
            notes.append("Robots answered in place of people.")
        return tuple(notes)

    def write(self, folder: Path, notes: tuple[str, ...], tell: Callable[[], None]) -> BundleFacts:
        """Write the study, its facts and its results; return what its documents say."""
        as_of = time_of(self.study, self.tables, utc_now())
        change: Change = self.blinding if self.choice.is_blinded else str
        drop = (PUBLICATION,) if self.choice.is_blinded else ()
        copied = copy_study(self.study, self.path, folder / STUDY, drop=drop, change=change)
        if self.choice.with_stimuli:
            place_stimuli(self.study, folder / STUDY)
        tell()
        screen = self._screen()
        counts: dict[str, int] = {table: self._write_table(folder / FACTS, table, screen, change) for table in BUNDLED}
        counts["events"] = write_events(folder / FACTS / facts_file("events"), self.url, screen, change)
        tell()
        tables = read_rows_of(folder / FACTS, BUNDLED)
        recompute(copied.study, tables, robots=self.choice.robots, as_of=as_of, tell=tell)
        write_files(folder, software_files())
        facts = self._facts(copied.study, copied.left_out, as_of, counts, notes, folder)
        write_files(folder, {README: readme_bytes(facts), BUNDLE: json_bytes(facts.json())})
        tell()
        return facts

    def _screen(self) -> FactScreen:
        drop = (PUBLICATION,) if self.choice.is_blinded else ()
        return FactScreen(
            FreeTextFilter(self._texts(), self.masks),
            readable_sessions(self.tables),
            self.masks,
            self.choice.has_payments,
            lambda text: without_places(text, drop),
        )

    def _texts(self) -> dict[str, StudyText]:
        """Return every study text of the store that this version can read: of others, all text counts as free."""
        texts = dict(self.judging.texts)
        for row in self.tables["studies"]:
            if row["digest"] not in texts:
                try:
                    texts[str(row["digest"])] = read_text(str(row["yaml"]), self.judging.study, self.judging.method)
                except (UserError, ValueError, KeyError, TypeError, AttributeError):
                    continue
        return texts

    def _write_table(self, folder: Path, table: Table, screen: FactScreen, change: Change) -> int:
        rows = screened_rows(table, self.tables[table], screen)
        if table == "ledger" and self.choice.is_blinded:
            blinded = (
                blinded_registration(row, self.blinding) if row["kind"].startswith("preregist") else row for row in rows
            )
            rows = (row for row in blinded if row is not None)
        return write_rows(folder / facts_file(table), table, rows, change)

    def _facts(
        self, study: Study, left_out: tuple[str, ...], as_of: datetime, counts: Mapping[str, int],
        notes: tuple[str, ...], folder: Path,
    ) -> BundleFacts:  # fmt: skip
        source = ExportSource(self.judging, self.tables, FreeTextFilter(self.judging.texts))
        dataset = Dataset(study, source, as_of, as_of, "")
        computed = json.loads((_analysed(folder / STUDY) / "notes.json").read_text("utf-8"))
        collected = computed.get("collection") or {}
        return BundleFacts(
            study, self.choice, dataset.description, dataset.citation, population_of(self.tables), as_of.isoformat(),
            collected.get("ended") is None and population_of(self.tables) == "people", left_out, dataset.blanks, counts,
            (*notes, *self._differences(computed)),
        )  # fmt: skip

    def _differences(self, computed: Mapping[str, Any]) -> list[str]:
        """Return whether the results beside the study file are those of the bundle."""
        try:
            own = json.loads((self.study.outputs / "analyse" / "notes.json").read_text("utf-8"))
        except (OSError, ValueError):
            return []
        if own.get("ratings_sha256") == computed.get("ratings_sha256"):
            return []
        return ["The results in the study's folder are of other ratings than these: `clean` and `analyse` it again."]


def _analysed(folder: Path) -> Path:
    return next(one.parent for one in sorted(folder.rglob("notes.json")) if one.parent.name == "analyse")


def _keep_population(tables: dict[str, list[dict[str, Any]]], *, robots: bool) -> None:
    """Leave out the sessions of the other population: people's where robots are bundled, and robots' otherwise."""
    is_kept = is_robot if robots else is_person
    tables["sessions"] = [row for row in tables["sessions"] if is_kept(row["mode"])]
    kept = {row["session"] for row in tables["sessions"]}
    for table in _OF_SESSION:
        if table in tables:
            tables[table] = [row for row in tables[table] if row["session"] in kept]
    if robots:
        tables["removals"] = []
