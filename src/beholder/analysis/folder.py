"""The folder analyse/: all analyses, their tables and notes."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy

from beholder.analysis.computation import Computed, compute_all
from beholder.analysis.means import interval_name
from beholder.analysis.models import add_quality, checked_models
from beholder.analysis.ratings import LoadedRatings, Ratings, open_ratings, record_look
from beholder.analysis.ratings_table import OwnTable, TableOptions
from beholder.analysis.registry import names
from beholder.analysis.result import TABLES, Result, Results, metric, ratings_hash
from beholder.analysis.stopping_rules import look_note
from beholder.analysis.tests import ALPHA, family_note
from beholder.errors import UserError
from beholder.files import json_bytes, write_all
from beholder.stats.intervals import LEVEL
from beholder.study.cleaning import Analyse
from beholder.study.design import Design
from beholder.study.model import Study


def analyse_folder(
    study: str | Path | Study,
    *,
    out: Path | None,
    model: str | Sequence[str] | None = None,
    store: str | None = None,
    options: TableOptions | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Analyse a study's clean ratings, or a table of ratings, and write the folder."""
    models = checked_models(model)
    loaded = record_look(open_ratings(study, options), "analyse", store)
    out = out or loaded.folder / "analyse"
    results, computed = _analysed(loaded, models, progress)
    by_name = {**{name: getattr(results, name) for name in TABLES}, **results.also}
    tables = {one.file: one.write(by_name[one.name]) for one in computed.analyses}
    write_all(out, {**tables, "notes.json": json_bytes(results.notes)}, _earlier_files(out))
    if computed.problems:
        raise UserError(computed.problems)
    return results


def analyse_loaded(loaded: LoadedRatings, progress: Callable[[int, int], None] | None = None) -> Results:
    """Return the results of ratings without writing any, or raise UserError with the analyses that failed."""
    results, computed = _analysed(loaded, (), progress)
    if computed.problems:
        raise UserError(computed.problems)
    return results


def _analysed(
    loaded: LoadedRatings, models: Sequence[str], progress: Callable[[int, int], None] | None
) -> tuple[Results, Computed]:
    ratings = loaded.ratings
    is_interim = loaded.collection is not None and loaded.collection.is_open
    computed = compute_all(ratings, progress, is_interim=is_interim)
    results = computed.results
    notes = {
        "population": loaded.population,
        "run": loaded.run,
        "is_earlier_run": loaded.study is not None and loaded.run not in (None, loaded.study.run),
        "ratings_sha256": ratings_hash(loaded.path),
        "collection": None if loaded.collection is None else loaded.collection.json(),
        "look": _look(loaded, computed),
        "condition_labels": _condition_labels(loaded),
        **_notes(ratings, computed),
        **({} if loaded.own is None else {"table": _table_notes(loaded.path, loaded.own)}),
    }
    for name in models:
        results["scores"], notes.setdefault("models", {})[name] = add_quality(results["scores"], ratings, name)
    if is_interim and models:
        results["scores"] = _without_model_intervals(results["scores"])
    return Results(
        scores=results["scores"].table,
        conditions=results["conditions"].table,
        contents=results["contents"].table,
        pairs=results["pairs"].table,
        participants=results["participants"].table,
        ratings=loaded.table,
        notes=notes,
        also={name: result.table for name, result in results.items() if name not in TABLES},
    ), computed


def _without_model_intervals(scores: Result) -> Result:
    """Return the scores without the intervals of models, which hold at the end only."""
    names = [str(name) for name in scores.table]
    of_models = [name for name in names if name.endswith(("_low", "_high")) and not name.startswith("ci_")]
    return replace(scores, table=scores.table.assign(**dict.fromkeys(of_models, np.nan)))


def _earlier_files(out: Path) -> list[str]:
    """Return what an earlier analysis may have left, also one of a package that is no longer installed."""
    try:
        earlier = json.loads((out / "notes.json").read_text(encoding="utf-8"))["analyses"]
    except (OSError, ValueError, LookupError):
        earlier = ()
    return [f"{name}.csv" for name in dict.fromkeys([*names(), *earlier])]


def _look(loaded: LoadedRatings, computed: Computed) -> dict[str, Any] | None:
    """Return the look at which a study is; None where it has one only, at the end."""
    study, look = loaded.study, loaded.ratings.look
    if look is None:
        return None
    design, claim = (Design(), Analyse().claim) if study is None else (study.design, study.analyse.claim)
    return look_note(computed.results["pairs"].table, look, design, claim)


def _condition_labels(loaded: LoadedRatings) -> dict[str, str]:
    """Return the labels of conditions that have one."""
    conditions = () if loaded.study is None else loaded.study.conditions
    return {one.name: one.label for one in conditions if one.label}


def _notes(ratings: Ratings, computed: Computed) -> dict[str, Any]:
    return {
        "ratings": ratings.counts,
        "conditions": list(ratings.conditions),
        "questions": list(ratings.questions),
        "labels": dict(ratings.labels),
        "turned": list(ratings.turned),
        "kinds": dict(ratings.kinds),
        "metrics": {name: _metric_note(ratings.methods[name], kind) for name, kind in ratings.kinds.items()},
        "unit": "participant and content",
        "level": LEVEL,
        "intervals": {name: interval_name(kind, "both") for name, kind in ratings.kinds.items()},
        "alpha": ALPHA,
        "claim": ratings.order.settings.claim,
        "correction": {"method": "Holm", "family": family_note(ratings)},
        "analyses": {
            name: {"note": result.note, "citation": result.citation} for name, result in computed.results.items()
        },
        "seeds": {one.name: one.seed for one in computed.analyses if one.seed is not None},
        "software": {"numpy": np.__version__, "scipy": scipy.__version__, "pandas": pd.__version__},
    }


def _table_notes(path: Path, own: OwnTable) -> dict[str, Any]:
    """Return how a table was read, on which scales its ratings are, and what is odd in it."""
    return {
        "file": path.name,
        "read": list(own.notes),
        "scales": {name: {"low": one.low, "high": one.high, "name": one.name} for name, one in own.scales.items()},
        "sanity": [finding._asdict() for finding in own.findings],
    }


def _metric_note(method: str, kind: str) -> dict[str, str]:
    named = metric(method, kind)
    return {"name": named.name, "meaning": named.meaning}
