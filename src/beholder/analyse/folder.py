"""The folder analyse/: which ratings are read, and the tables that are written."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from beholder.analyse.conditions import conditions
from beholder.analyse.contents import contents
from beholder.analyse.interval import LEVEL, is_share
from beholder.analyse.metrics import metric
from beholder.analyse.pairs import ALPHA, pairs
from beholder.analyse.participants import participants
from beholder.analyse.result import Result, records
from beholder.analyse.results import Results, ratings_hash
from beholder.analyse.scores import scores
from beholder.analyse.table import Order, Ratings, load_ratings, tidy
from beholder.clean.tables import json_bytes, table_bytes, write_together
from beholder.errors import Problem, UserError
from beholder.study.model import Question, Study


def analyse_folder(study: str | Path | Study, *, out: Path | None) -> Results:
    """Analyse a study's clean ratings, or a table of ratings, and write the folder."""
    if not isinstance(study, Study) and Path(study).suffix.lower() == ".csv":
        path = Path(study)
        return _analyse(path, out or path.parent / "analyse", population="")
    from beholder.methods import find, load_study

    loaded = study if isinstance(study, Study) else load_study(Path(study))
    path = loaded.folder / "clean" / "ratings.csv"
    if not path.is_file():
        raise UserError(Problem(str(path), "is not there", "", "Run `beholder clean` first."))
    account = json.loads((loaded.folder / "clean" / "account.json").read_text(encoding="utf-8"))
    roles = account.get("roles", {})
    order = Order(
        conditions=tuple(condition.name for condition in loaded.conditions),
        last=tuple(str(name) for name in loaded.options.get("anchors") or ()),
        questions=_question_names(find(loaded.method).questions(loaded)),
        references=frozenset(name for name, role in roles.items() if role == "reference"),
    )
    return _analyse(path, out or loaded.folder / "analyse", population=account["population"], order=order)


def _question_names(questions: Iterable[Question]) -> tuple[str, ...]:
    """Return what results call the questions: a question with ticks is one for each tick."""
    return tuple(name for one in questions for name in ([f"{one.id}: {tick}" for tick in one.ticks] or [one.id]))


def _analyse(path: Path, out: Path, *, population: str, order: Order | None = None) -> Results:
    table = load_ratings(path)
    if order is None:
        order = Order(references=frozenset(table[table["role"] == "reference"]["condition"]))
    ratings = tidy(table, order)
    found = {
        "scores": scores(ratings),
        "conditions": conditions(ratings),
        "contents": contents(ratings),
        "pairs": pairs(ratings),
        "participants": participants(ratings),
    }
    notes = {"population": population, "ratings_sha256": ratings_hash(path), **_notes(ratings, found)}
    tables = {
        f"{name}.csv": table_bytes(list(result.table.columns), records(result.table)) for name, result in found.items()
    }
    write_together(out, {**tables, "notes.json": json_bytes(notes)})
    return Results(
        scores=found["scores"].table,
        conditions=found["conditions"].table,
        contents=found["contents"].table,
        pairs=found["pairs"].table,
        participants=found["participants"].table,
        ratings=table,
        notes=notes,
    )


def _notes(ratings: Ratings, found: dict[str, Result]) -> dict[str, Any]:
    return {
        "ratings": ratings.counts,
        "conditions": list(ratings.conditions),
        "questions": list(ratings.questions),
        "kinds": dict(ratings.kinds),
        "metrics": {name: metric(ratings.methods[name], kind)._asdict() for name, kind in ratings.kinds.items()},
        "unit": "participant",
        "level": LEVEL,
        "intervals": {name: "Korn-Graubard" if is_share(kind) else "Student t" for name, kind in ratings.kinds.items()},
        "alpha": ALPHA,
        "correction": {"method": "Holm", "family": "all pairs of conditions within one question"},
        "analyses": {name: {"note": result.note, "citation": result.citation} for name, result in found.items()},
        "seeds": {},
        "software": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
    }
