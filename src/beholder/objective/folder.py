"""The folder metrics/: measured and imported values, their correlation with ratings, and the page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pandas as pd

from beholder.analysis.result import Result
from beholder.analysis.sides import Side, read_side
from beholder.errors import Problem, UserError, name_given
from beholder.objective.correlation import LEVELS, between, relate
from beholder.objective.correlation import METRIC_COLUMNS as COMPARED
from beholder.objective.correlation import SCORE_COLUMNS as RELATED
from beholder.objective.landmarks import read_landmarks
from beholder.objective.measurement import MeasurementCache, measure_all
from beholder.objective.page import KIND, finding, outcome
from beholder.objective.regions import VALUES, Regions, read_regions, read_values
from beholder.objective.registry import choose, installed
from beholder.reporting.result_page import refuse_taken, write_outcome
from beholder.result_view import DrawnResult, ResultView
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.ingestion import load_catalogue
from beholder.study.model import Study

if TYPE_CHECKING:
    from pandas import DataFrame


_MEASURED = (
    "One row for each stimulus, metric and region (empty: all of the picture), beside the reference of its content, as "
    "participants got both; a metric of whole conditions has a row for each, without a stimulus. Frames meet by their "
    "number, the shorter of the two counts, and what has another size or rate is brought to that of the reference; "
    "note says where. PSNR is that of the mean squared error over all frames; it has no value where nothing differs. "
    "Measured by: {tools}."
)
_BROUGHT = "Values from {files} as they stand there; a row without a stimulus is of the whole condition."


def metrics_folder(
    source: str | Path | Study,
    *,
    metric: Sequence[str],
    tables: Sequence[Path],
    regions: Path | None,
    landmarks: Path | None,
    reference: str | None,
    out: Path | None,
    jobs: int | None,
    progress: Callable[[int, int], None] | None,
    drawing: Callable[[int, int], None] | None,
) -> Metrics:
    """Write the folder and return what is in it."""
    study = _study(source)
    if study is None and (metric or regions or landmarks or reference is not None or not tables):
        what = "is a table, and only a study has stimuli that can be measured"
        raise UserError(Problem(str(source), what, "--values alone", "Name study.yaml to measure its stimuli."))
    side = _rated(source, study)
    folder = out or (study.folder if study is not None else Path(str(source)).parent) / "metrics"
    refuse_taken(folder, KIND)
    catalogue = load_catalogue(study) if study is not None else None
    values = [pd.DataFrame(columns=VALUES)]
    notes = []
    if catalogue is not None and (metric or not tables):
        chosen = choose(catalogue, metric, _condition(reference, study))
        parts = read_regions(regions) if regions is not None else Regions({})
        points = read_landmarks(landmarks, catalogue) if landmarks is not None else None
        cache = MeasurementCache(folder / "cache.jsonl")
        values.append(measure_all(chosen, parts, cache, jobs, progress, points))
        versions = dict.fromkeys(one.version() for one in chosen.metrics)
        notes.append(_MEASURED.format(tools=", ".join(versions)))
    if tables:
        values.append(_imported(tables, _known(side, catalogue), _files(catalogue)))
        notes.append(_BROUGHT.format(files=", ".join(path.name for path in tables)))
    table = pd.concat([one for one in values if len(one)] or values[:1], ignore_index=True)
    _refuse_twice(table)
    results = {"values": Result(table, " ".join(notes), _cited(table))}
    if side is not None:
        results |= _related(side, table)
    words = finding(results, side)
    made = outcome(results, side, study, words)
    page = write_outcome(made, folder, drawing)
    empty = {"correlations": pd.DataFrame(columns=RELATED), "comparisons": pd.DataFrame(columns=COMPARED)}
    further = {name: results[name].table if name in results else empty[name] for name in empty}
    return Metrics(table, **further, words=(*filter(None, [made.simulated]), *words), page=page, charts=made.charts)


def _study(source: str | Path | Study) -> Study | None:
    if isinstance(source, Study):
        return source
    if Path(source).suffix.lower() == ".csv":
        return None
    from beholder.methods import load_study

    return load_study(Path(source))


def _condition(given: str | None, study: Study | None) -> str | None:
    """Return the name of a condition that is given by its name or its label; one that is not known stays as it is."""
    labels = {one.name: one.label or one.name for one in study.conditions} if study is not None else {}
    return given if given is None else name_given(given, labels) or given


def _rated(source: str | Path | Study, study: Study | None) -> Side | None:
    """Return the ratings as a side; None before there are any."""
    if study is not None and not (study.folder / "clean" / "ratings.csv").is_file():
        return None
    return read_side(source if study is None else study, command="metrics")


def _known(side: Side | None, catalogue: Catalogue | None) -> pd.DataFrame:
    """Return stimulus, content and condition of everything that a value can be of."""
    columns = ["stimulus", "content", "condition"]
    of_files = [(s.id, s.content, s.condition) for s in catalogue.by_cell.values()] if catalogue is not None else []
    parts = [pd.DataFrame(of_files, columns=columns)]
    if side is not None:
        parts += [side.stimuli[columns], side.conditions[["condition"]].assign(stimulus="", content="")]
    return pd.concat([part for part in parts if len(part)] or parts[:1]).drop_duplicates(ignore_index=True)


def _files(catalogue: Catalogue | None) -> Mapping[str, str]:
    return {s.file: s.id for s in catalogue.by_cell.values()} if catalogue is not None else {}


def _imported(paths: Sequence[Path], known: pd.DataFrame, files: Mapping[str, str]) -> pd.DataFrame:
    tables: list[pd.DataFrame] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            tables.append(read_values(path, known, files))
        except UserError as error:
            problems += error.problems
    if problems:
        raise UserError(problems)
    return pd.concat(tables)


def _refuse_twice(table: pd.DataFrame) -> None:
    """Raise UserError where one metric has two values of one thing: nobody could say which is meant."""
    keys = ["stimulus", "condition", "content", "metric", "region"]
    twice = table[table.duplicated(keys)].drop_duplicates(["metric", "region"])
    if len(twice):
        raise UserError(
            Problem(
                f"metric {row['metric']}", f"has two values of {row['stimulus'] or row['condition']}", "one of each"
            )
            for row in twice.to_dict("records")
        )


def _related(side: Side, values: pd.DataFrame) -> dict[str, Result]:
    tables = {"stimulus": side.stimuli, "condition": side.conditions}
    related = [relate(tables[level], values, level) for level in LEVELS]
    compared = [one for level in LEVELS if (one := between(tables[level], values, level)) is not None]
    rows = pd.concat([one.table[one.table["n"] > 0] for one in related], ignore_index=True)
    results = {"correlations": Result(rows, related[0].note, related[0].citation)}
    if compared:
        both = pd.concat([one.table for one in compared], ignore_index=True)
        results["comparisons"] = Result(both, compared[0].note, compared[0].citation)
    return results


def _cited(values: pd.DataFrame) -> str:
    measured = set(values["metric"])
    return "; ".join(dict.fromkeys(one.citation for one in installed() if one.name in measured and one.citation))


# The result of `metrics`


_CORRELATIONS = ("pearson", "spearman", "tau_b")


@dataclass(frozen=True, repr=False)
class Metrics(DrawnResult):
    """Values of metrics, and how far they agree with people; the tables are named as their files in metrics/."""

    values: DataFrame
    """stimulus, content, condition, metric, region, value, note."""
    correlations: DataFrame
    """Each metric with each question, by stimulus and by condition; no rows before there are ratings."""
    comparisons: DataFrame
    """Every two metrics: whether one agrees better."""
    words: tuple[str, ...]
    page: Path
    charts: Mapping[str, Callable[[], Any]] = field(default_factory=dict, repr=False, compare=False)

    def _view(self) -> ResultView:
        more = {name: getattr(self, name) for name in ("correlations", "comparisons", "values")}
        return ResultView(self.words, self._shown, more, self.page)

    @property
    def shown(self) -> list[dict[str, str]]:
        """The correlations, or the means of values before there are any, as one reads them."""
        return [{str(name): str(cell) for name, cell in row.items()} for row in self._shown.to_dict("records")]

    @property
    def _shown(self) -> DataFrame:
        known = self.correlations[self.correlations["pearson"].notna()]
        if len(known):
            table = known
            shown = table[["level", "question", "metric", "region", "n"]].assign(
                **{name: ["–" if value != value else f"{value:.3f}" for value in table[name]] for name in _CORRELATIONS}
            )
        else:
            means = self.values.groupby(["condition", "metric", "region"], sort=False)["value"].mean().reset_index()
            shown = means.assign(value=["–" if value != value else f"{value:.3f}" for value in means["value"]])
        return shown if (shown["region"] != "").any() else shown.drop(columns="region")
