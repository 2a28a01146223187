"""The folder of dimensions: tables, figures, notes and the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import get_args

import numpy as np
import pandas as pd

from beholder.analysis.result import Result
from beholder.dimensionality.components import components, consistency, loadings
from beholder.dimensionality.data import Joined, Source, open_joined
from beholder.dimensionality.page import outcome
from beholder.dimensionality.profile import by_condition, correlations, profile, split_correlations, split_means, table
from beholder.dimensionality.relation import At, relations, spread
from beholder.dimensionality.short_forms import shorter
from beholder.dimensionality.text import Dimensions, finding, main_level
from beholder.errors import Problem, UserError, did_you_mean
from beholder.objective.correlation import relate
from beholder.objective.regions import read_values
from beholder.reporting.result_page import write_outcome


def dimensions_folder(
    sources: Sequence[Source],
    *,
    split: tuple[str, float] | None,
    metrics: Path | None,
    factor: str | None,
    of: str | None,
    keep: int | None,
    over: At,
    out: Path | None,
    progress: Callable[[int, int], None] | None,
) -> Dimensions:
    """Compute all tables, write the folder, and return the result."""
    joined = open_joined(sources)
    split = (joined.name_of(split[0]), split[1]) if split is not None else None
    of = joined.name_of(of) if of is not None else None
    _check(joined, split, of, keep, over)
    values = read_values(metrics, _rated(joined), {}) if metrics is not None else None
    dimensions = find(joined, split=split, values=values, factor=factor, of=of, keep=keep, over=over)
    folder = out or (joined.parts[0].side.folder or Path()) / "dimensions"
    outcome_page = outcome(dimensions)
    page = write_outcome(outcome_page, folder, progress)
    return replace(
        dimensions,
        words=(*filter(None, [outcome_page.simulated]), *dimensions.words),
        page=page,
        charts=outcome_page.charts,
    )


def find(
    joined: Joined,
    *,
    split: tuple[str, float] | None = None,
    values: pd.DataFrame | None = None,
    factor: str | None = None,
    of: str | None = None,
    keep: int | None = None,
    over: At = "condition",
) -> Dimensions:
    """Return everything that is to be said of the questions, before it is written."""
    own = components(joined, keep=keep)
    loaded = loadings(joined, keep=keep)
    of = of or (split[0] if split is not None else _most_typical(joined, own, loaded))
    results: dict[str, Result | None] = {
        "profile": profile(joined, factor=factor),
        "correlations": correlations(joined),
        "components": own,
        "loadings": loaded,
        "consistency": consistency(joined),
        "shorter": shorter(joined, keep=keep),
        "spread": spread(joined, of, over),
        "relation": relations(joined, of, over),
        "table": table(joined, values),
    }
    if values is not None:
        results["metrics"] = _metrics(joined, values)
    if split is not None:
        results |= {
            "split_means": split_means(joined, *split),
            "split_correlations": split_correlations(joined, *split),
        }
    known = {name: result for name, result in results.items() if result is not None and len(result.table)}
    available = {name: result for name, result in results.items() if result is not None}
    return Dimensions(joined, known, of, factor or "", finding(joined, available))


def _most_typical(joined: Joined, own: Result, loaded: Result) -> str:
    """Return the question that says most of what all share."""
    level = main_level(own.table)
    first = loaded.table[(loaded.table["level"] == level) & (loaded.table["component"] == 1)]
    if first.empty:
        return joined.questions[0]
    return str(first["question"].iloc[int(np.argmax(np.abs(first["unrotated"].to_numpy())))])


def _metrics(joined: Joined, values: pd.DataFrame) -> Result:
    """Return how far every question goes with every metric over conditions."""
    return relate(joined.means[["condition", "question", "mean"]], by_condition(joined, values), "condition")


def _rated(joined: Joined) -> pd.DataFrame:
    """Return stimulus, content and condition of all that was rated; conditions alone where nothing else is known."""
    columns = ["stimulus", "content", "condition"]
    stimuli = pd.concat([part.side.stimuli[columns] for part in joined.parts], ignore_index=True).drop_duplicates()
    if len(stimuli):
        return stimuli
    return pd.DataFrame({"stimulus": list(joined.conditions), "content": "", "condition": list(joined.conditions)})


def _check(joined: Joined, split: tuple[str, float] | None, of: str | None, keep: int | None, over: At) -> None:
    asked = [("split", split[0])] if split is not None else []
    asked += [("of", of)] if of is not None else []
    known = joined.questions
    problems = [
        Problem(where, f"is {name}, which is not asked for a number", ", ".join(known), did_you_mean(name, known))
        for where, name in asked
        if name not in known
    ]
    if split is not None and not np.isfinite(split[1]):
        problems.append(Problem("split", f"is at {split[1]}", "a number"))
    if keep is not None and not 1 <= keep <= len(known):
        problems.append(Problem("components", f"is {keep}", f"from 1 to {len(known)}, the number of questions"))
    if over not in get_args(At):
        problems.append(Problem("over", f"is {over}", " or ".join(get_args(At))))
    elif over == "stimulus" and joined.by_stimulus.empty:
        fix = "Take tables with a column stimulus, or ratings."
        problems.append(Problem("over", "is stimulus, and only means of conditions are known", "condition", fix))
    if problems:
        raise UserError(problems)
