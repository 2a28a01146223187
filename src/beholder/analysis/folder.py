"""The folder analyse/: all analyses, their tables and notes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from beholder.analysis.distributions import distributions, medians
from beholder.analysis.dmos import dmos
from beholder.analysis.items import SEED as TOGETHER_SEED
from beholder.analysis.items import item_consistency
from beholder.analysis.means import conditions, contents, factors, interval_name, questions
from beholder.analysis.mixed import mixed, runs, variances
from beholder.analysis.models import add_quality, checked_models
from beholder.analysis.pairs import pairs, position, preferences
from beholder.analysis.participants import participants, raters, times
from beholder.analysis.ranks import SEED, ranks
from beholder.analysis.rater_models import model_raters, models
from beholder.analysis.ratings import Ratings, open_ratings
from beholder.analysis.reliability import reliability
from beholder.analysis.result import TABLES, Result, Results, metric, ratings_hash, records
from beholder.analysis.scores import scores
from beholder.analysis.sensitivity import criteria, criteria_scores, sensitivity
from beholder.analysis.strengths import strength_pairs, strengths
from beholder.analysis.tests import ALPHA, agreement, family_note, tests
from beholder.analysis.votes_needed import SEED as VOTES_SEED
from beholder.analysis.votes_needed import default_curves
from beholder.files import json_bytes, table_bytes, write_all
from beholder.stats.intervals import LEVEL
from beholder.study.model import Study

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
    "mixed": mixed,
    "variances": variances,
    "runs": runs,
    "distributions": distributions,
    "raters": raters,
    "models": models,
    "model_raters": model_raters,
    "reliability": reliability,
    "together": item_consistency,
    "times": times,
    "votes_needed": default_curves,
    "sensitivity": sensitivity,
    "criteria": criteria,
    "criteria_scores": criteria_scores,
}
"""Every analysis by the name of its file. One that does not apply to these ratings returns None and has no file."""
_FILES = [f"{name}.csv" for name in (*ANALYSES, "agreement")]
"""What an earlier analysis may have left."""
SEEDS = {"ranks": SEED, "together": TOGETHER_SEED, "votes_needed": VOTES_SEED}
"""Of the analyses that draw."""


def analyse_folder(
    study: str | Path | Study,
    *,
    out: Path | None,
    model: str | Sequence[str] | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Analyse a study's clean ratings, or a table of ratings, and write the folder."""
    models = checked_models(model)
    loaded = open_ratings(study)
    out = out or loaded.folder / "analyse"
    ratings = loaded.ratings
    results = {}
    for done, (name, analysis) in enumerate(ANALYSES.items(), 1):
        result = analysis(ratings)
        if result is not None:
            results[name] = result
        if progress is not None:
            progress(done, len(ANALYSES))
    if "tests" in results and (agreed := agreement(results["tests"])) is not None:
        results["agreement"] = agreed
    notes = {
        "population": loaded.population,
        "run": loaded.run,
        "is_earlier_run": loaded.study is not None and loaded.run not in (None, loaded.study.run),
        "ratings_sha256": ratings_hash(loaded.path),
        **_notes(ratings, results),
    }
    for name in models:
        results["scores"], notes.setdefault("models", {})[name] = add_quality(results["scores"], ratings, name)
    tables = {
        f"{name}.csv": table_bytes(list(result.table.columns), records(result.table))
        for name, result in results.items()
    }
    write_all(out, {**tables, "notes.json": json_bytes(notes)}, _FILES)
    return Results(
        scores=results["scores"].table,
        conditions=results["conditions"].table,
        contents=results["contents"].table,
        pairs=results["pairs"].table,
        participants=results["participants"].table,
        ratings=loaded.table,
        notes=notes,
        also={name: result.table for name, result in results.items() if name not in TABLES},
    )


def _notes(ratings: Ratings, results: dict[str, Result]) -> dict[str, Any]:
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
        "analyses": {name: {"note": result.note, "citation": result.citation} for name, result in results.items()},
        "seeds": {name: seed for name, seed in SEEDS.items() if name in results},
        "software": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
    }
