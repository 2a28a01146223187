"""Export: every fact as tidy tables with a data dictionary, for other tools and other people.

`source` (the facts), `columns` (what a table is), the tables `ratings`, `sessions`, `study`, `verdicts` and `p910`,
`sureal_data_sets`, `table_files` (CSV and Parquet), `dictionary` (data dictionary and Data Package), `dataset` (what
is known of the data set, and what is blank), `dataset_card` (README), `croissant` and `repositories` (the same for
catalogues and archives) and `folder` (export/).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from beholder.result_view import ResultView, ShownResult

if TYPE_CHECKING:
    from beholder.study.model import Study

__all__ = ["Exported", "export"]


@dataclass(frozen=True, repr=False)
class Exported(ShownResult):
    """What `export` wrote: the folder, the population, and the number of rows of each table."""

    folder: Path
    population: Literal["people", "robots"]
    rows: Mapping[str, int]
    """Rows by table, in the order of the dictionary."""
    notes: tuple[str, ...]
    """What was left out, and names that a plain CSV reader would change."""

    def _view(self) -> ResultView:
        import pandas as pd

        tables = pd.DataFrame({"table": list(self.rows), "rows": list(self.rows.values())})
        return ResultView([*self.notes, f"Tables, dictionary and how to read them: {self.folder}"], tables)


def export(
    study: str | Path | Study = "study.yaml",
    *,
    out: str | Path | None = None,
    format: Literal["csv", "parquet", "psych-ds"] = "csv",
    store: str | None = None,
    robots: bool = False,
    with_texts: bool = False,
    p910: bool = False,
    sureal: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> Exported:
    """Write the facts of a study as tidy tables to a folder; return what was written.

        beholder.export("study.yaml", format="parquet")

    What most studies need:
        study           the study file, or the study. All runs are in the same tables; the column `run` tells them apart
        out             the folder: export/ beside the study when left out
        format          `csv`, `parquet`, or `psych-ds`: CSV in the layout of Psych-DS
        with_texts      what people wrote in their own words as well
        p910            the tables of the P.910 toolkit as well
        sureal          data sets in the format of sureal as well, one for each question

    Rarely:
        robots          the rehearsal of a study that people have taken too
        store           where answers are kept, if not in store/ beside the study
        progress        a function that gets the number of tables that are written, and of all

    That people's ratings were exported is recorded in the ledger of the store, as a look at them.
    """
    from beholder.exporting.folder import export_folder

    return export_folder(
        study,
        out=Path(out) if out is not None else None,
        format=format,
        store=store,
        robots=robots,
        with_texts=with_texts,
        p910=p910,
        sureal=sureal,
        progress=progress,
    )
