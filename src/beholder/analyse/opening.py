"""Ratings from where they are: the folder of a study after `clean`, one of its runs, or a table of anybody's."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd

from beholder.analyse.reading import load_ratings
from beholder.analyse.table import Order, Ratings, tidy
from beholder.errors import Problem, UserError
from beholder.study.model import Question, Study


@dataclass(frozen=True)
class Opened:
    """Ratings as analyses take them, and where they are from."""

    ratings: Ratings
    table: pd.DataFrame
    """As it was read: every rating, used or not."""
    path: Path
    population: str = ""
    """people or robots; empty where nobody says."""
    study: Study | None = None
    """None for a table of one's own."""
    run: int | None = None
    """Of the study; None where nobody says."""

    @property
    def folder(self) -> Path:
        """Where results lie beside them."""
        return self.study.folder if self.study is not None else self.path.parent


def open_ratings(source: str | Path | Study) -> Opened:
    """Return the clean ratings of a study, or those of a table (a path that ends in .csv)."""
    if not isinstance(source, Study) and Path(source).suffix.lower() == ".csv":
        return _table(Path(source))
    from beholder.methods import load_study

    study = source if isinstance(source, Study) else load_study(Path(source))
    clean = study.folder / "clean"
    path = clean / "ratings.csv"
    if not path.is_file():
        raise UserError(Problem(str(path), "is not there", "", "Run `beholder clean` first."))
    account = json.loads((clean / "account.json").read_text(encoding="utf-8"))
    order = order_of(study, account.get("roles", {}))
    table = load_ratings(path)
    return Opened(
        replace(tidy(table, order), marks=_marks(clean)), table, path, account["population"], study, account.get("run")
    )


def order_of(study: Study, roles: Mapping[str, str]) -> Order:
    """Return in which order a study tells its conditions and questions; `roles` are those of its conditions."""
    from beholder.methods import find
    from beholder.methods.questions import all_questions

    return Order(
        conditions=tuple(condition.name for condition in study.conditions),
        last=tuple(str(name) for name in study.options.get("anchors") or ()),
        questions=_question_names(all_questions(study, find(study.method))),
        references=frozenset(name for name, role in roles.items() if role == "reference"),
        asked=study.analyse,
    )


def _table(path: Path) -> Opened:
    table = load_ratings(path)
    order = Order(references=frozenset(table[table["role"] == "reference"]["condition"]))
    return Opened(tidy(table, order), table, path)


def _marks(clean: Path) -> dict[str, str]:
    """Return what is noted of each session, also what costs nothing."""
    path = clean / "sessions.csv"
    if not path.is_file():
        return {}
    table = pd.read_csv(path, dtype=str, keep_default_na=False, na_filter=False, encoding="utf-8")
    return dict(zip(table["session"], table["reasons"], strict=True))


def _question_names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return what results call the questions: a question with ticks is one for each tick."""
    return tuple(name for one in questions for name in ([f"{one.id}: {tick}" for tick in one.ticks] or [one.id]))
