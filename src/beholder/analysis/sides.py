"""Sides: sets of scores that can be compared, from a study, one of its runs, or a table."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
import pandas as pd
import scipy

from beholder.analysis.dmos import dmos
from beholder.analysis.means import conditions
from beholder.analysis.ratings import (
    LoadedRatings,
    Ratings,
    look_of,
    open_ratings,
    record_look,
    row_order,
    tidy,
    wordings_of,
)
from beholder.analysis.ratings_table import TableOptions, load_ratings
from beholder.analysis.result import ratings_hash, takes_dmos
from beholder.analysis.sanity import SanityFinding
from beholder.analysis.score_tables import DIFFERENTIAL, ScoreTable, is_score_table, read_scores
from beholder.analysis.scores import scores
from beholder.analysis.spreadsheets import is_table
from beholder.cleaning.collection import collection_of
from beholder.cleaning.facts import TABLES, runs_in
from beholder.cleaning.ratings import number_repetitions, rating_blocks
from beholder.cleaning.screening import judge_tables, store_of
from beholder.cleaning.texts import text_rows
from beholder.errors import Problem, UserError
from beholder.stats.intervals import LEVEL
from beholder.store.open import display_address
from beholder.study.model import Study
from beholder.types import UNRATED_ROLES

SCORES = ["question", "stimulus", "content", "condition", "n", "mean", "sd"]
CONDITIONS = ["question", "condition", "n", "mean", "sd", "ci_low", "ci_high", "se", "df"]
_OF_RUN = re.compile(r"(.+)@(\d+)")


@dataclass(frozen=True)
class Side:
    """One set of scores, by stimulus and by condition."""

    name: str
    """What tables and figures call it."""
    stimuli: pd.DataFrame
    """SCORES; no rows where only conditions are known. n and sd are NaN where unknown."""
    conditions: pd.DataFrame
    """CONDITIONS; the mean over contents where only stimuli are known, then without an interval."""
    ratings: Ratings | None = None
    """The ratings behind the scores; None for a table of scores."""
    labels: Mapping[str, str] = field(default_factory=dict)
    """What people read in place of a condition's name."""
    question_labels: Mapping[str, str] = field(default_factory=dict)
    """What people read in place of a question's id."""
    wordings: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Every text in which a question was asked; none where unknown."""
    folder: Path | None = None
    """The folder for results."""
    study: str = ""
    """The study of these participants: sides of one study may share them. Empty where unknown."""
    population: str = ""
    """people or robots; empty where unknown."""
    notes: tuple[str, ...] = ()
    """How a table of others was read, and what is odd in it, in sentences."""
    repeats: str = ""
    """The name of the study that it repeats with other people; empty where it repeats none."""

    @property
    def questions(self) -> tuple[str, ...]:
        """The questions, in the order of the study."""
        return tuple(dict.fromkeys([*self.conditions["question"], *self.stimuli["question"]]))


def read_side(
    source: str | Path | Study,
    name: str | None = None,
    *,
    command: str = "compare",
    options: TableOptions | None = None,
) -> Side:
    """Return the scores of a study (its file or folder), of one of its runs, or of a table of ratings or scores.

    A run is named behind the file: `study.yaml@2`, `ratings.csv@2`. That people's ratings were looked at is recorded
    with the `command` that does. `options` are what the researcher says of a table.
    """
    source, run = split_run(source)
    if isinstance(source, Path) and is_table(source) and is_score_table(source, options):
        if run is not None:
            raise UserError(Problem(str(source), f"is a table of scores and has no run {run}", "a study or ratings"))
        with _named_without_scores(source):
            return _of_scores(read_scores(source, options), name or source.stem, source.parent)
    if run is not None and not (isinstance(source, Path) and is_table(source)):
        return side_of_run(source, run, name, command=command)
    with _named_without_scores(source):
        loaded = record_look(open_ratings(source, options if is_table(source) else None), command)
    ratings = loaded.ratings if run is None else _one_run(loaded, run)
    study = loaded.study
    side_name = name or (study.name if study is not None else loaded.path.stem) + (f" run {run}" if run else "")
    who = study.name if study is not None else str(loaded.path.resolve())
    side = replace(
        side_from_ratings(ratings, side_name, _labels(study)), wordings=loaded.wordings, repeats=_repeated(study)
    )
    if loaded.own is not None:
        side = replace(side, notes=_table_words(loaded.own.notes, loaded.own.findings))
    return _placed(side, loaded.folder, who, loaded.population)


def _repeated(study: Study | None) -> str:
    """Return which study one repeats, as `rerun` has written it."""
    source = None if study is None else study.source
    again = source.get("rerun_of") if isinstance(source, dict) else None
    return str(again.get("study", "")) if isinstance(again, dict) else ""


def _table_words(notes: Sequence[str], findings: Sequence[SanityFinding]) -> tuple[str, ...]:
    """Return how a table was read in one sentence, and a sentence for each thing that is odd in it."""
    return (*([f"{'; '.join(notes)}."] if notes else []), *map(str, findings))


@contextmanager
def _named_without_scores(source: Path | Study) -> Iterator[None]:
    """Raise what is wrong with a table, in other words where it is one of ours that has no scores of anything."""
    from beholder.analysis.registry import find, names

    try:
        yield
    except UserError as error:
        if isinstance(source, Study) or source.stem not in names() or not source.is_file():
            raise
        analysis, header = find(source.stem), pd.read_csv(source, nrows=0, encoding="utf-8-sig").columns
        if not {column.name for column in analysis.columns if "*" not in column.name} <= set(header):
            raise
        what = f"has a row for each {analysis.row}: no scores of stimuli or conditions"
        fix = f"Give {source.with_name('scores.csv')}, or the study."
        raise UserError(Problem(str(source), what, "a table with scores", fix)) from error


def split_run(source: str | Path | Study) -> tuple[Path | Study, int | None]:
    """Return the source without its run, and the run; None where none is named."""
    if isinstance(source, Study):
        return source, None
    match = _OF_RUN.fullmatch(str(source))
    if match is None or Path(source).exists():
        return Path(source), None
    return Path(match[1]), int(match[2])


def side_from_ratings(ratings: Ratings, name: str, labels: Mapping[str, str] | None = None) -> Side:
    """Return the scores that ratings give."""
    by_stimulus, by_condition = scores(ratings).table, conditions(ratings).table
    with_errors = _with_standard_errors(by_condition, ratings.level)
    return Side(name, by_stimulus[SCORES], with_errors[CONDITIONS], ratings, labels or {}, ratings.labels)


def with_differential_scores(side: Side, original: str | None = None) -> Side:
    """Return a side with the DMOS that its ratings give, as `<question> (DMOS)`; as it is where they give none.

    `original` is the condition against which they are held; as the study has it when left out: the hidden reference, or
    that of `analyse.dmos`.
    """
    ratings = side.ratings
    if ratings is None or any(question.endswith(DIFFERENTIAL) for question in side.questions):
        return side
    if original is not None and not all(not name or takes_dmos(name) for name in ratings.methods.values()):
        return side
    result = dmos(ratings, original=original)
    if result is None:
        return side
    table = result.table.assign(question=result.table["question"] + DIFFERENTIAL)
    stimuli = table[table["level"] == "stimulus"][SCORES]
    by_condition = _with_standard_errors(table[table["level"] == "condition"], ratings.level)[CONDITIONS]
    return replace(
        side,
        stimuli=pd.concat([side.stimuli, stimuli], ignore_index=True),
        conditions=pd.concat([side.conditions, by_condition], ignore_index=True),
    )


def _with_standard_errors(table: pd.DataFrame, level: float = LEVEL) -> pd.DataFrame:
    """Return condition means with se and df: those of their intervals, else of sd and n as if ratings were independent.

    A clustered interval has the smaller number of participants and contents minus one degrees of freedom.
    """
    numbers = {
        name: table[name].to_numpy(float) for name in ("participants", "contents", "ci_low", "ci_high", "sd", "n")
    }
    people, contents, n = numbers["participants"], numbers["contents"], numbers["n"]
    clusters = np.where(contents > 1, np.fmin(people, contents), people)
    # Without these numbers the interval is taken as normal.
    df = np.where(np.isnan(clusters), np.inf, clusters - 1)
    quantile = scipy.stats.t.ppf((1 + level) / 2, np.where(df >= 1, df, 1.0))
    of_interval = np.where(df >= 1, (numbers["ci_high"] - numbers["ci_low"]) / 2 / quantile, np.nan)
    of_spread = np.where(n > 1, numbers["sd"] / np.sqrt(n), np.nan)
    has_interval, has_spread = ~np.isnan(of_interval), ~np.isnan(of_spread)
    return table.assign(
        se=np.where(has_interval, of_interval, of_spread),
        df=np.where(has_interval, df, np.where(has_spread, n - 1, np.nan)),
    )


def _labels(study: Study | None) -> dict[str, str]:
    return {one.name: one.label or one.name for one in study.conditions} if study is not None else {}


def _placed(side: Side, folder: Path, study: str, population: str) -> Side:
    return replace(side, folder=folder, study=study, population=population)


def side_of_run(
    source: str | Path | Study,
    run: int,
    name: str | None = None,
    *,
    command: str = "compare",
    store: str | None = None,
    robots: bool = False,
) -> Side:
    """Return the scores of one run of a study, from its store: of people if it has any, else of robots."""
    study = _loaded(source)
    loaded = record_look(_open_run(study, run, store, robots=robots), command, store)
    side = side_from_ratings(loaded.ratings, name or f"{study.name} run {run}", _labels(study))
    side = replace(side, wordings=loaded.wordings)
    return _placed(side, study.folder, study.name, loaded.population)


def _one_run(loaded: LoadedRatings, run: int) -> Ratings:
    """Return the ratings of one run of a table."""
    known = runs_of_table(loaded.table)
    if run not in known:
        allowed = ", ".join(map(str, known)) or "a table with a column run"
        raise UserError(Problem(str(loaded.path), f"has no ratings of run {run}", allowed))
    return tidy(loaded.table[loaded.table["run"] == run], loaded.ratings.order)


def runs_of_table(table: pd.DataFrame) -> tuple[int, ...]:
    """Return the runs of which a table of ratings has any; none where it does not say."""
    if "run" not in table:
        return ()
    return tuple(int(run) for run in sorted(table["run"].dropna().unique()))


def _of_scores(scores_table: ScoreTable, name: str, folder: Path) -> Side:
    """Return the side that a table of scores is; conditions are means over their stimuli, each weighing the same."""
    stimuli, conditions = scores_table.stimuli[SCORES], _with_standard_errors(scores_table.conditions)[CONDITIONS]
    told = _table_words(scores_table.notes, scores_table.findings)
    return Side(name, stimuli, with_condition_means(stimuli, conditions), folder=folder, notes=told)


def with_condition_means(stimuli: pd.DataFrame, conditions: pd.DataFrame) -> pd.DataFrame:
    """Return scores of conditions; in questions that have none, the mean over the stimuli of each."""
    missing = stimuli[~stimuli["question"].isin(conditions["question"])]
    parts = [part for part in (conditions, condition_means(missing)) if len(part)]
    return pd.concat(parts, ignore_index=True) if parts else conditions


def condition_means(stimuli: pd.DataFrame) -> pd.DataFrame:
    """Return the mean of every condition whose stimuli have scores; without interval, as raters are unknown."""
    named = stimuli[stimuli["condition"] != ""]
    means = named.groupby(["question", "condition"], sort=False)["mean"].mean().reset_index()
    return means.assign(**{column: np.nan for column in CONDITIONS if column not in means})[CONDITIONS]


def with_unique_names(sides: Sequence[Side]) -> list[Side]:
    """Return the sides with names of which no two are alike."""
    by_name: dict[str, Side] = {}
    for side in sides:
        name, number = side.name, 2
        while name in by_name:
            name, number = f"{side.name} ({number})", number + 1
        by_name[name] = replace(side, name=name)
    return list(by_name.values())


# Runs of a study, judged from the store


def runs_of(study: str | Path | Study, store: str | None = None, *, robots: bool = False) -> tuple[int, ...]:
    """Return the runs with sessions in the store: of people if it has any, else of robots."""
    from beholder.store.open import read_tables

    return runs_in(read_tables(store_of(_loaded(study), store), ("sessions",)), robots=robots)


def ratings_of_run(study: str | Path | Study, run: int, store: str | None = None, *, robots: bool = False) -> Ratings:
    """Return the ratings of one run by the study's own rules; `clean/` stays as it is."""
    return _open_run(study, run, store, robots=robots).ratings


def _open_run(study: str | Path | Study, run: int, store: str | None = None, *, robots: bool = False) -> LoadedRatings:
    """Return the ratings of one run, and whether people or robots gave them."""
    from beholder.store.open import read_tables

    loaded = _loaded(study)
    tables = read_tables(store_of(loaded, store), TABLES)
    where = display_address(store) if store else "store/"
    judging = judge_tables(loaded, tables, where=where, robots=robots, run=run)
    shown = judging.facts.stimuli.values()
    order = row_order(loaded, {one.condition: one.role for one in shown if one.role not in UNRATED_ROLES})
    rows = number_repetitions(rating for one in judging.judged for rating in one.ratings)
    # Through a file, so that they are read exactly as those in clean/ are.
    with tempfile.TemporaryDirectory(prefix="beholder-run-") as folder:
        path = Path(folder) / "ratings.csv"
        path.write_bytes(b"".join(rating_blocks(rows, judging.facts.stimuli)))
        digest = ratings_hash(path)
        table = load_ratings(path)
    is_people = judging.facts.population == "people"
    collected = collection_of(loaded, judging.facts, tables["ledger"], judging.texts, store=where)
    session_reasons = {one.visit.session: "; ".join(one.decision.reasons) for one in judging.judged}
    failures = {
        one.visit.session: "; ".join(f"{each.check}:{each.reason}" for each in one.verdicts if each.verdict == "fail")
        for one in judging.judged
    }
    ratings = replace(tidy(table, order), session_reasons=session_reasons, session_failures=failures)
    if is_people:
        ratings = replace(ratings, look=look_of(ratings, collected))
    return LoadedRatings(
        ratings,
        table,
        loaded.folder,
        judging.facts.population,
        loaded,
        run,
        collected if is_people else None,
        digest,
        wordings_of(text_rows(judging.texts, judging.judged)),
    )


def _loaded(study: str | Path | Study) -> Study:
    from beholder.methods import load_study

    return study if isinstance(study, Study) else load_study(Path(study))
