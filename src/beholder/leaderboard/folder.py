"""The folder board/: its page, tables and figures, written when votes have changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from beholder.analysis.ratings import LoadedRatings, open_ratings, record_look
from beholder.analysis.ratings_table import TableOptions
from beholder.analysis.result import records
from beholder.analysis.spreadsheets import is_table
from beholder.analysis.tests import Claim
from beholder.checks.ballots import BallotRule
from beholder.checks.registry import study_rules
from beholder.errors import Problem, UserError
from beholder.files import read_cells, table_bytes
from beholder.leaderboard.page import KIND, finding, outcome
from beholder.leaderboard.ranks import MINIMUM_PEOPLE
from beholder.leaderboard.tables import Board, board_of, vote_table
from beholder.leaderboard.votes import Votes, followed_by, left_out, votes_of
from beholder.reporting.result_page import REHEARSAL, refuse_taken, write_outcome
from beholder.result_view import DrawnResult, ResultView
from beholder.stimuli.ingestion import load_catalogue
from beholder.store.condition_changes import retired_conditions
from beholder.store.contract import LedgerEntry
from beholder.store.open import read_tables
from beholder.study.model import Study
from beholder.study.recruitment import is_person, is_robot

if TYPE_CHECKING:
    from pandas import DataFrame

_FEWEST = 5
"""People below which intervals that rest on large numbers mean nothing."""


@dataclass(frozen=True, repr=False)
class BoardResult(DrawnResult):
    """The result of `board`: its tables, who may be first in words, and the page."""

    conditions: DataFrame
    pairs: DataFrame
    history: DataFrame
    votes: DataFrame
    words: tuple[str, ...]
    warnings: tuple[str, ...]
    page: Path
    notes: Mapping[str, Any]
    """As notes.json has them."""
    also: Mapping[str, DataFrame] = field(default_factory=dict)
    """Slices and covariates, where there are any."""
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict, repr=False)

    _page_call = "beholder.board()"

    def _view(self) -> ResultView:
        return ResultView(
            [*self.words, *self.warnings], shown(self.conditions),
            {"conditions": self.conditions, "pairs": self.pairs, "history": self.history, **self.also}, self.page,
        )  # fmt: skip


def shown(conditions: DataFrame) -> DataFrame:
    """Return the board as a shell shows it: ranks, conditions, strengths, people and votes."""
    import pandas as pd

    ranks = [
        "–" if pd.isna(row["best_rank"]) else str(row["best_rank"]) if row["best_rank"] == row["worst_rank"]
        else f"{row['best_rank']}–{row['worst_rank']}"
        for row in records(conditions)
    ]  # fmt: skip
    table = conditions[["label", "strength", "low", "high", "people", "votes"]].round(2)
    table.insert(0, "rank", ranks)
    table = table.astype(object).where(table.notna(), "–")
    return table.rename(columns={"label": "condition"})


class _Source(NamedTuple):
    """The votes, and where they are from."""

    votes: Votes
    folder: Path
    title: str
    claim: Claim
    simulated: str
    loaded: LoadedRatings | None
    rules: Mapping[str, BallotRule] = {}
    """Of the study, over votes."""
    earlier: LoadedRatings | None = None
    """Votes that were collected before."""


def board_folder(
    source: str | Path | Study,
    *,
    out: Path | None = None,
    question: str | None = None,
    retired: Sequence[str] = (),
    minimum: int = MINIMUM_PEOPLE,
    store: str | None = None,
    options: TableOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> BoardResult:
    """Write the board and return it."""
    return _written(_read(source, question, retired, minimum, store, options), out, minimum, progress)


def update_board(
    source: str | Path | Study,
    *,
    out: Path | None = None,
    question: str | None = None,
    retired: Sequence[str] = (),
    minimum: int = MINIMUM_PEOPLE,
    store: str | None = None,
) -> BoardResult | None:
    """Write the board where votes have come since it was written, and return it; None where nothing has changed.

    For a server that keeps a board fresh: who reads the page meanwhile sees the old one or the new one, never a part.
    """
    read = _read(source, question, retired, minimum, store, None)
    notes = (out or read.folder / "board") / "notes.json"
    try:
        earlier = json.loads(notes.read_text(encoding="utf-8")).get("votes_sha256")
    except (OSError, ValueError, AttributeError):
        earlier = None
    if earlier == _hash(read.votes, minimum) and notes.with_name("index.html").is_file():
        return None
    return _written(read, out, minimum, None)


def _written(read: _Source, out: Path | None, minimum: int, progress: Callable[[int, int], None] | None) -> BoardResult:
    folder = out or read.folder / "board"
    refuse_taken(folder, KIND)
    made = board_of(read.votes, claim=read.claim, minimum=minimum, rules=read.rules)
    left = left_out(read.loaded, read.votes.question) if read.loaded is not None else ""
    how = _how_read(read.earlier or read.loaded)
    words = f"{how['file']}: {'; '.join(how['read'])}" if how.get("read") else ""
    told = outcome(made, read.title, read.simulated, left, words)
    told = told._replace(notes={**told.notes, **how, "votes_sha256": _hash(read.votes, minimum)})
    page = write_outcome(told, folder, progress)
    results = {name: one.table for name, one in told.tables.items()}
    import pandas as pd

    empty = pd.DataFrame()
    return BoardResult(
        results["conditions"], results.get("pairs", empty), results.get("history", empty), results["votes"],
        finding(made), (*(made.coverage.warnings if made.coverage is not None else ()), *_suspicious(made)), page,
        told.notes,
        {name: results[name] for name in ("slices", "covariates") if name in results}, told.charts,
    )  # fmt: skip


def _how_read(loaded: LoadedRatings | None) -> dict[str, Any]:
    """Return the name of a table and how it was read; nothing of a study."""
    if loaded is None or loaded.own is None:
        return {}
    return {"file": loaded.path.name, "read": list(loaded.own.notes)}


def _suspicious(made: Board) -> tuple[str, ...]:
    return made.suspicion.sentences if made.suspicion is not None else ()


def _hash(votes: Votes, minimum: int) -> str:
    """Return a hash of all that a board is made of."""
    table = vote_table(votes).table
    factors = json.dumps({name: [list(map(str, side)) for side in sides] for name, sides in votes.factors.items()})
    rest = f"{minimum} {votes.conditions} {sorted(votes.retired)} {dict(votes.labels)} {factors}"
    return sha256(table_bytes(list(table.columns), records(table)) + rest.encode()).hexdigest()


def _read(
    source: str | Path | Study,
    question: str | None,
    retired: Sequence[str],
    minimum: int,
    store: str | None,
    options: TableOptions | None,
) -> _Source:
    if minimum < _FEWEST:
        fix = "Intervals rest on many people; fewer would make ranks that do not hold."
        raise UserError(Problem("--minimum", f"is {minimum}", f"{_FEWEST} people or more", fix))
    away = frozenset(retired)
    if not isinstance(source, Study) and is_table(source):
        loaded = record_look(open_ratings(source, options), "board", store)
        path = Path(str(source))
        return _Source(votes_of(loaded, question, away), path.parent, path.stem, "beyond", _robots(loaded), loaded)
    if options is not None:
        options.refuse_for(source)
    from beholder.methods import load_study

    return _of_study(source if isinstance(source, Study) else load_study(Path(source)), question, away, store)


def _of_study(study: Study, question: str | None, away: frozenset[str], store: str | None) -> _Source:
    """Return the votes of a study, cleaned, after those that were collected before."""
    arena = study.design.arena
    roster = _Roster(frozenset(), tuple(one.name for one in study.conditions))
    url, has_ratings = store or str(study.folder / "store"), (study.outputs / "clean" / "ratings.csv").is_file()
    if store is not None or Path(url).is_dir():
        if arena is not None:
            roster = _roster(url, roster.conditions)
        # An arena has a board from the start on, also before anybody has come.
        sessions = [row["mode"] for row in read_tables(url, ["sessions"])["sessions"] if row["run"] == study.run]
        if any(is_person(mode) or is_robot(mode) for mode in sessions):
            from beholder.cleaning.tables import clean_folder

            clean_folder(study, store=store, robots=False, run=None, progress=None)
            has_ratings = True
    loaded = open_ratings(study) if has_ratings else None
    if loaded is None or not len(loaded.ratings.used):
        votes = _nobody(study, roster, away)
    else:
        loaded = record_look(loaded, "board", store)
        measured = _measured(study.outputs / "clean" / "stimuli.csv")
        votes = votes_of(loaded, question, away | roster.retired, roster.conditions, measured)
    simulated = _robots(loaded) if loaded is not None else ""
    earlier = None
    if arena is not None and arena.earlier is not None and not simulated:
        earlier = open_ratings(study.folder / arena.earlier)
        votes = followed_by(votes_of(earlier), votes)
        # What the study does not have is dealt no more.
        gone = frozenset(votes.conditions).difference(roster.conditions) if roster.conditions else frozenset()
        votes = votes._replace(retired=votes.retired | gone)
    rules = {rule.name: rule for rule in study_rules(study) if isinstance(rule, BallotRule)}
    return _Source(votes, study.folder, study.title, study.analyse.claim, simulated, loaded, rules, earlier)


def _measured(path: Path) -> dict[str, dict[str, float]]:
    """Return what was measured of the files that people met, as the board names it; of a text its words alone."""
    if not path.is_file():
        return {}
    cells = read_cells(path)
    of_column = {"words_100": ("words", 100), "loudness_lu": ("loudness", 1), "duration_s": ("duration_ms", 1000)}
    return {
        name: {
            stimulus: float(number) / unit
            for stimulus, medium, number in zip(cells["stimulus"], cells["medium"], cells[column], strict=True)
            if number and (name != "duration_s" or medium in ("video", "audio"))
        }
        for name, (column, unit) in of_column.items()
        if column in cells
    }


def _robots(loaded: LoadedRatings) -> str:
    return f"These votes come from robots. {REHEARSAL}" if loaded.population == "robots" else ""


class _Roster(NamedTuple):
    """The conditions of a study, with or without votes."""

    retired: frozenset[str]
    conditions: tuple[str, ...]


def _roster(store: str, named: tuple[str, ...]) -> _Roster:
    """Return the conditions of an arena by its store: what joined may not be named in the study, nor what retired."""
    rows = read_tables(store, ["ledger", "stimuli"])
    shown = (row["condition"] for row in rows["stimuli"] if row["role"] in ("test", "reference"))
    return _Roster(
        retired_conditions(LedgerEntry(**row) for row in rows["ledger"]), tuple(dict.fromkeys((*named, *shown)))
    )


def _nobody(study: Study, roster: _Roster, retired: frozenset[str]) -> Votes:
    """Return the votes of a study in which nobody has voted yet."""
    if not roster.conditions:  # not named in the study, and not served yet
        roster = roster._replace(conditions=load_catalogue(study).conditions)
    none, numbers = np.zeros(0, np.intp), np.zeros(0)
    labels = {one.name: one.label for one in study.conditions if one.label}
    retired = retired | roster.retired
    return Votes(
        "", roster.conditions, labels, (), (), none, none, numbers, numbers, none, none, np.zeros(0, "datetime64[us]"),
        numbers, numbers, {}, {}, retired,
    )  # fmt: skip
