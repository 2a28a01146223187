"""The folder analyse/: which ratings are read, and the tables that are written."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from beholder.analyse.agreement import agreement
from beholder.analyse.conditions import conditions
from beholder.analyse.contents import contents
from beholder.analyse.correction import family_note
from beholder.analyse.criteria import criteria, criteria_scores
from beholder.analyse.distributions import distributions
from beholder.analyse.dmos import dmos
from beholder.analyse.factors import factors
from beholder.analyse.groups import interval_name
from beholder.analyse.medians import medians
from beholder.analyse.metrics import metric
from beholder.analyse.models import add_quality, check_model
from beholder.analyse.pairs import ALPHA, pairs
from beholder.analyse.participants import participants
from beholder.analyse.position import position
from beholder.analyse.preferences import preferences
from beholder.analyse.questions import questions
from beholder.analyse.ranks import SEED, ranks
from beholder.analyse.raters import raters
from beholder.analyse.reading import load_ratings
from beholder.analyse.result import Result, records
from beholder.analyse.results import TABLES, Results, ratings_hash
from beholder.analyse.scores import scores
from beholder.analyse.sensitivity import sensitivity
from beholder.analyse.stats.interval import LEVEL
from beholder.analyse.strength_pairs import strength_pairs
from beholder.analyse.strengths import strengths
from beholder.analyse.table import Order, Ratings, tidy
from beholder.analyse.tests import tests
from beholder.analyse.times import times
from beholder.clean.tables import json_bytes, table_bytes, write_together
from beholder.errors import Problem, UserError
from beholder.study.model import Question, Study

ANALYSES: Mapping[str, Callable[[Ratings], Result | None]] = {
    "scores": scores,
    "conditions": conditions,
    "contents": contents,
    "pairs": pairs,
    "tests": tests,
    "participants": participants,
    "questions": questions,
    "factors": factors,
    "dmos": dmos,
    "medians": medians,
    "position": position,
    "preferences": preferences,
    "strengths": strengths,
    "strength_pairs": strength_pairs,
    "ranks": ranks,
    "distributions": distributions,
    "raters": raters,
    "times": times,
    "sensitivity": sensitivity,
    "criteria": criteria,
    "criteria_scores": criteria_scores,
}
"""Every analysis by the name of its file. One that has nothing to say of these ratings gives None and has no file."""
_FILES = [f"{name}.csv" for name in (*ANALYSES, "agreement")]
"""What an earlier analysis may have left."""


def analyse_folder(
    study: str | Path | Study,
    *,
    out: Path | None,
    model: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Analyse a study's clean ratings, or a table of ratings, and write the folder."""
    if model is not None:
        check_model(model)
    if not isinstance(study, Study) and Path(study).suffix.lower() == ".csv":
        path = Path(study)
        return _analyse(path, out or path.parent / "analyse", population="", model=model, progress=progress)
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
        asked=loaded.analyse,
    )
    out = out or loaded.folder / "analyse"
    marks = _marks(loaded.folder / "clean")
    who = account["population"]
    return _analyse(path, out, population=who, order=order, marks=marks, model=model, progress=progress)


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


def _analyse(
    path: Path,
    out: Path,
    *,
    population: str,
    order: Order | None = None,
    marks: Mapping[str, str] | None = None,
    model: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    table = load_ratings(path)
    if order is None:
        order = Order(references=frozenset(table[table["role"] == "reference"]["condition"]))
    ratings = replace(tidy(table, order), marks=marks or {})
    found = {}
    for done, (name, one) in enumerate(ANALYSES.items(), 1):
        result = one(ratings)
        if result is not None:
            found[name] = result
        if progress is not None:
            progress(done, len(ANALYSES))
    if "tests" in found and (agreed := agreement(found["tests"])) is not None:
        found["agreement"] = agreed
    notes = {"population": population, "ratings_sha256": ratings_hash(path), **_notes(ratings, found)}
    if model is not None:
        found["scores"], notes["models"] = add_quality(found["scores"], ratings, model)
    tables = {
        f"{name}.csv": table_bytes(list(result.table.columns), records(result.table)) for name, result in found.items()
    }
    write_together(out, {**tables, "notes.json": json_bytes(notes)}, _FILES)
    return Results(
        scores=found["scores"].table,
        conditions=found["conditions"].table,
        contents=found["contents"].table,
        pairs=found["pairs"].table,
        participants=found["participants"].table,
        ratings=table,
        notes=notes,
        also={name: result.table for name, result in found.items() if name not in TABLES},
    )


def _notes(ratings: Ratings, found: dict[str, Result]) -> dict[str, Any]:
    return {
        "ratings": ratings.counts,
        "conditions": list(ratings.conditions),
        "questions": list(ratings.questions),
        "kinds": dict(ratings.kinds),
        "metrics": {name: metric(ratings.methods[name], kind)._asdict() for name, kind in ratings.kinds.items()},
        "unit": "participant and content",
        "level": LEVEL,
        "intervals": {name: interval_name(kind, "both") for name, kind in ratings.kinds.items()},
        "alpha": ALPHA,
        "correction": {"method": "Holm", "family": family_note(ratings)},
        "analyses": {name: {"note": result.note, "citation": result.citation} for name, result in found.items()},
        "seeds": {"ranks": SEED} if "ranks" in found else {},
        "software": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
    }
