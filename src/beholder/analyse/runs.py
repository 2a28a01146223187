"""Runs of a study: which there are, and the ratings of one, judged again from the store."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from beholder.analyse.opening import Opened, order_of
from beholder.analyse.reading import load_ratings
from beholder.analyse.table import Ratings, tidy
from beholder.checks.trust import CHECK_ROLES
from beholder.clean.facts import TABLES, runs_in
from beholder.clean.judging import judge_tables, store_of
from beholder.clean.ratings import number_repetitions, rating_blocks
from beholder.store.address import name_of
from beholder.study.model import Study


def runs_of(study: str | Path | Study, store: str | None = None, *, robots: bool = False) -> tuple[int, ...]:
    """Return the runs with sessions in the store: of people where there are any, else of robots."""
    from beholder.store.open import read_tables

    return runs_in(read_tables(store_of(_loaded(study), store), ("sessions",)), robots=robots)


def ratings_of_run(study: str | Path | Study, run: int, store: str | None = None, *, robots: bool = False) -> Ratings:
    """Return the ratings of one run by the study's own rules; `clean/` stays as it is."""
    return open_run(study, run, store, robots=robots).ratings


def open_run(study: str | Path | Study, run: int, store: str | None = None, *, robots: bool = False) -> Opened:
    """Return the ratings of one run, and whether people or robots gave them."""
    from beholder.store.open import read_tables

    loaded = _loaded(study)
    tables = read_tables(store_of(loaded, store), TABLES)
    where = name_of(store) if store else "store/"
    judging = judge_tables(loaded, tables, where=where, robots=robots, run=run)
    shown = judging.facts.stimuli.values()
    order = order_of(loaded, {one.condition: one.role for one in shown if one.role not in CHECK_ROLES})
    rows = number_repetitions(rating for one in judging.judged for rating in one.ratings)
    # Through a file, so that they are read exactly as those in clean/ are.
    with tempfile.TemporaryDirectory(prefix="beholder-run-") as folder:
        path = Path(folder) / "ratings.csv"
        path.write_bytes(b"".join(rating_blocks(rows, judging.facts.stimuli)))
        table = load_ratings(path)
    marks = {one.visit.session: "; ".join(one.decision.reasons) for one in judging.judged}
    ratings = replace(tidy(table, order), marks=marks)
    return Opened(ratings, table, loaded.folder, judging.facts.population, loaded)


def _loaded(study: str | Path | Study) -> Study:
    from beholder.methods import load_study

    return study if isinstance(study, Study) else load_study(Path(study))
