"""Things to be made: in parallel, none twice, none over somebody else's file, all problems at once."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from beholder.errors import Problem, StimuliError
from beholder.stimuli.workshop.ledger import Ledger

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Job:
    """One file to make: where it goes, its recipe, and what makes it with so many threads."""

    target: Path
    recipe: str
    make: Callable[[int], None]


@dataclass(frozen=True)
class Made:
    """What the workshop did: files written, files that were there by the same recipe, and what is worth knowing."""

    written: tuple[Path, ...]
    kept: tuple[Path, ...]
    notes: tuple[str, ...] = ()


def do(jobs: Sequence[Job], folder: Path, notes: Iterable[str], progress: Progress | None) -> Made:
    """Return what was made in `folder`. What one job cannot make does not keep the others from being made."""
    ledger = Ledger(folder)
    states = {job.target: ledger.state(job.target, job.recipe) for job in jobs}
    foreign = [job.target for job in jobs if states[job.target] == "foreign"]
    if foreign:
        fix = "Choose another --out, or move it away."
        raise StimuliError(
            Problem(str(target), "is there, and is not what this command made", "", fix) for target in foreign
        )
    waiting = [job for job in jobs if states[job.target] == "to make"]
    try:
        for parent in {job.target.parent for job in waiting}:
            parent.mkdir(parents=True, exist_ok=True)
        if waiting:
            ledger.begin(job.target for job in waiting)
    except OSError as error:
        what = f"is {folder}, which cannot be written to: {error.strerror or error}"
        raise StimuliError(Problem("--out", what, "a folder, there or to be made")) from None
    cores = os.cpu_count() or 1
    threads = max(1, cores // max(1, len(waiting)))
    problems: list[Problem] = []
    with ThreadPoolExecutor(max_workers=cores) as pool:
        work: dict[Future[None], Job] = {pool.submit(job.make, threads): job for job in waiting}
        try:
            for done, future in enumerate(as_completed(work), start=1):
                try:
                    future.result()
                    ledger.remember(work[future].target, work[future].recipe)
                except StimuliError as error:
                    ledger.give_up(work[future].target)
                    problems += error.problems
                if progress is not None:
                    progress(done, len(waiting))
        finally:
            pool.shutdown(cancel_futures=True)
    if problems:
        raise StimuliError(sorted(problems, key=lambda problem: (problem.where, problem.what)))
    kept = tuple(job.target for job in jobs if states[job.target] == "made")
    return Made(tuple(job.target for job in waiting), kept, tuple(notes))


def refuse(problems: Sequence[Problem]) -> None:
    """Raise StimuliError where there are problems."""
    if problems:
        raise StimuliError(problems)
