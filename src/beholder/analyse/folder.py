"""The folder analyse/: which ratings are read, and the tables that are written."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from beholder.analyse.conditions import conditions
from beholder.analyse.contents import contents
from beholder.analyse.interval import LEVEL
from beholder.analyse.pairs import ALPHA, pairs
from beholder.analyse.participants import participants
from beholder.analyse.result import Result, records
from beholder.analyse.results import Results, ratings_hash
from beholder.analyse.scores import scores
from beholder.analyse.table import Ratings, load_ratings, tidy
from beholder.clean.tables import json_bytes, table_bytes, write_together
from beholder.errors import Problem, UserError
from beholder.study.model import Study


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
    return _analyse(
        path,
        out or loaded.folder / "analyse",
        population=account["population"],
        conditions_first=tuple(condition.name for condition in loaded.conditions),
        questions_first=tuple(question.id for question in find(loaded.method).questions(loaded)),
    )


def _analyse(
    path: Path,
    out: Path,
    *,
    population: str,
    conditions_first: tuple[str, ...] = (),
    questions_first: tuple[str, ...] = (),
) -> Results:
    table = load_ratings(path)
    ratings = tidy(table, conditions_first, questions_first)
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
        "unit": "participant",
        "level": LEVEL,
        "alpha": ALPHA,
        "correction": {"method": "Holm", "family": "all pairs of conditions within one question"},
        "analyses": {name: {"note": result.note, "citation": result.citation} for name, result in found.items()},
        "seeds": {},
        "software": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
    }
