"""The folder export/: reads the store, judges all runs, and writes every table with its documentation."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import get_args

from beholder.aio import block_on
from beholder.cleaning.collection import record_judged_look
from beholder.cleaning.facts import TABLES, Rows, runs_in
from beholder.cleaning.screening import JudgedPopulation, judge_tables, store_of
from beholder.cleaning.texts import Masks
from beholder.errors import Problem, UserError, did_you_mean
from beholder.exporting import Exported, ratings, sessions, study, verdicts
from beholder.exporting.checklists import CHECKLISTS, checklist_text
from beholder.exporting.columns import TableRows
from beholder.exporting.croissant import CROISSANT, croissant_bytes
from beholder.exporting.dataset import Dataset
from beholder.exporting.dataset_card import README, card, notes_of
from beholder.exporting.dictionary import DICTIONARY, PACKAGE, dictionary_bytes, files_of, package_bytes
from beholder.exporting.p910 import p910_tables
from beholder.exporting.repositories import citation_files, psych_ds_files
from beholder.exporting.source import ExportSource, FreeTextFilter
from beholder.exporting.sureal_data_sets import sureal_files
from beholder.exporting.table_files import WRITERS, Format, TableWriter, WrittenTable
from beholder.files import STAGING, staged, utf8
from beholder.store.open import display_address, open_store, read_tables
from beholder.study.model import Study

Progress = Callable[[int, int], None]

MAKERS: tuple[Callable[[ExportSource], TableRows | None], ...] = (
    ratings.ratings, sessions.participants, sessions.sessions, sessions.questionnaires, study.studies, study.questions,
    study.stimuli, sessions.answers, study.playback, study.views, study.loops, study.comments, study.marks,
    study.viewings, verdicts.checks, verdicts.verdicts, verdicts.exclusions, sessions.posed,
    sessions.immediate_verdicts, ratings.matrix, ratings.pair_counts,
)  # fmt: skip


_EVENT_SHARE = 20
"""The share of the events in the progress bar, in tables."""


def export_folder(
    study: str | Path | Study,
    *,
    out: Path | None,
    format: str,
    store: str | None,
    robots: bool,
    with_texts: bool,
    p910: bool,
    sureal: bool,
    progress: Progress | None,
) -> Exported:
    """Read the store of a study and write every fact to a folder."""
    from beholder.methods import load_study

    chosen = _format(format)
    loaded = study if isinstance(study, Study) else load_study(Path(study))
    folder = loaded.folder / "export" if out is None else out
    stale = _stale(folder)
    url = store_of(loaded, store)
    step = _Steps(2 + len(MAKERS) + 3 * p910 + _EVENT_SHARE, progress)
    tables = read_tables(url, (*TABLES, "told"))
    step()
    by_run = judge_runs(loaded, tables, where=display_address(store) if store else "store/", robots=robots)
    for one in by_run:
        record_judged_look(one, tables["ledger"], url, "export")
    judging = merge_runs(by_run)
    step()
    source = ExportSource(judging, tables, FreeTextFilter(judging.texts, stored_masks(url) if with_texts else None))
    views = p910_tables(source) if p910 else []
    with staged(folder, stale) as target:
        written: list[WrittenTable] = []
        for make in MAKERS:
            written += _write_table(target, chosen, make(source))
            step()
        written += _write_events(target, chosen, url, source, step)
        for table in views:
            written += _write_table(target, chosen, table)
            step()
        dataset = Dataset(loaded, source, *_span(source), f"beholder {version('beholder')}")
        notes = notes_of(dataset)
        data_sets = sureal_files(source) if sureal else {}
        for name, content in _documents(dataset, written, notes, chosen, data_sets).items():
            (target / name).write_bytes(content)
    for leftover in folder.glob(f"{STAGING}*"):
        shutil.rmtree(leftover, ignore_errors=True)  # left by an interrupted export, perhaps with free text
    rows = {sheet.table.name: sheet.rows for sheet in written}
    return Exported(folder, judging.facts.population, rows, tuple(notes))


def _documents(
    dataset: Dataset, written: Sequence[WrittenTable], notes: Sequence[str], format: Format,
    data_sets: Mapping[str, bytes],
) -> dict[str, bytes]:  # fmt: skip
    """Return the files that describe the tables, by name."""
    files = {
        DICTIONARY: dictionary_bytes(written),
        CROISSANT: croissant_bytes(dataset, written),
        **citation_files(dataset),
        **data_sets,
        CHECKLISTS: utf8(checklist_text(dataset)),
    }
    if format == "psych-ds":
        files |= psych_ds_files(dataset, written, [*files, PACKAGE])
    files[README] = utf8(card(dataset, written, notes))
    return {**files, PACKAGE: package_bytes(dataset, written, [*files, PACKAGE])}


def _format(format: str) -> Format:
    """Return the format, if it can be written here."""
    known: tuple[Format, ...] = get_args(Format)
    for one in known:
        if one == format:
            if one == "parquet" and find_spec("pyarrow") is None:
                raise UserError(
                    Problem("--format parquet", "needs pyarrow", "", "Install it with `pip install beholder[parquet]`.")
                )
            return one
    raise UserError(Problem("--format", f"is {format}", ", ".join(known), did_you_mean(format, known)))


def _stale(folder: Path) -> list[str]:
    """Return the files of an earlier export in the folder; raise UserError if it holds anything else."""
    if not folder.exists():
        return []
    known = files_of(folder) if folder.is_dir() else None
    if known is None and (not folder.is_dir() or any(not path.name.startswith(STAGING) for path in folder.iterdir())):
        raise UserError(
            Problem(
                str(folder),
                "is there, and is not an export of Beholder",
                "a new or empty folder, or an earlier export",
                "Name another folder with --out.",
            )
        )
    return known or []


def judge_runs(study: Study, tables: Mapping[str, Rows], *, where: str, robots: bool) -> list[JudgedPopulation]:
    """Return the judged sessions of every run in these tables."""
    runs = runs_in(tables, robots=robots) or (study.run,)
    return [judge_tables(study, tables, where=where, robots=robots, run=run) for run in runs]


def merge_runs(by_run: Sequence[JudgedPopulation]) -> JudgedPopulation:
    """Return the judged sessions of all runs, in the order of arrival."""
    if len(by_run) == 1:
        return by_run[0]
    judged = sorted(
        (one for judging in by_run for one in judging.judged), key=lambda one: (one.visit.at, one.visit.session)
    )
    facts = replace(
        by_run[-1].facts,
        visits=tuple(one.visit for one in judged),
        stimuli={key: shown for judging in by_run for key, shown in judging.facts.stimuli.items()},
        yaml={digest: text for judging in by_run for digest, text in judging.facts.yaml.items()},
        other_plans=sum(judging.facts.other_plans for judging in by_run),
    )
    texts = {digest: text for judging in by_run for digest, text in judging.texts.items()}
    return replace(by_run[-1], facts=facts, texts=texts, judged=judged)


def stored_masks(url: str) -> Masks:
    """Return masks for the platform ids of all participants."""

    async def ids() -> list[str]:
        async with open_store(url, write=False) as store:
            people, visits = await store.platform_identities(), await store.platform_visits()
        return [*(one.platform_id for one in people), *(one.submission for one in visits)]

    return Masks(block_on(ids()))


class _Steps:
    """Counts steps for a progress bar; the events have a share of it, by sessions."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress, self._done = total, progress, 0
        self.to(0)

    def __call__(self) -> None:
        self.to(self._done + 1)

    def to(self, done: int) -> None:
        self._done = done
        if self._progress:
            self._progress(done, self._total)

    @property
    def done(self) -> int:
        return self._done


def _write_table(room: Path, format: Format, table: TableRows | None) -> Iterator[WrittenTable]:
    """Write a table, if there is one, and yield its file."""
    if table is None:
        return
    with WRITERS[format](room, table.table) as writer:
        for row in table.rows:
            writer.add(row)
    yield writer.written


def _write_events(room: Path, format: Format, url: str, source: ExportSource, step: _Steps) -> Iterator[WrittenTable]:
    """Write the events as they come from the store: they may not fit into memory."""
    start = step.done
    with WRITERS[format](room, sessions.EVENTS) as writer:
        block_on(_stream(url, source, writer, lambda share: step.to(start + int(share * _EVENT_SHARE))))
    step.to(start + _EVENT_SHARE)
    yield writer.written


async def _stream(url: str, source: ExportSource, writer: TableWriter, report: Callable[[float], None]) -> None:
    seen_sessions: set[str] = set()
    async with open_store(url, write=False) as store, aclosing(store.rows("events")) as batches:
        async for batch in batches:
            for row in sessions.event_rows(source, batch):
                writer.add(row)
            if batch["session"] not in seen_sessions:
                seen_sessions.add(batch["session"])
                report(min(1.0, len(seen_sessions) / max(1, len(source.sessions))))


def _span(source: ExportSource) -> tuple[datetime, datetime]:
    """Return the times of the first session and of the last stored fact of these sessions."""
    facts = (row for name in ("claims", "answers", "ends", "erasures") for row in source.tables[name])
    times: list[datetime] = [row["at"] for row in facts if row["session"] in source.sessions]
    begun = [row["at"] for row in source.sessions.values()]
    return min(begun), max(times + begun)
