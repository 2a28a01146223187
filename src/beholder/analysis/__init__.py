"""Analysis: from ratings to tables of scores, intervals and tests, and their figures.

Reading: `ratings`, `ratings_table`, `sides`; tables of others: `spreadsheets`, `column_roles`, `long_tables`,
`rating_values`, `sanity`. Tables: `scores`, `means`, `dmos`, `distributions`, `participants`, `contrasts`, `tests`,
`pairs`, `factors`, `comparisons`, `bradley_terry`, `strengths`, `ranks`, `mixed`, `models`, `rater_models`,
`reliability`, `items`, `reasons`, `sensitivity`, `votes_needed`, `time_marks`. Answers: `condition_difference`. What
an analysis is: `contract`, `columns`, `registry`; all of them: `computation`. Files: `result`, `folder`. Charts:
`figures`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analysis.column_roles import Columns
    from beholder.analysis.condition_difference import ConditionDifference
    from beholder.analysis.result import Results
    from beholder.study.model import Study

__all__ = ["analyse", "better"]


def analyse(
    study: str | Path | Study = "study.yaml",
    *,
    out: str | Path | None = None,
    model: str | Sequence[str] | None = None,
    store: str | None = None,
    robots: bool = False,
    columns: Columns = None,
    scale: str | Sequence[float] | None = None,
    reference: str | None = None,
    missing: str | Sequence[str | float] | None = None,
    sheet: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Analyse a study's clean/ratings.csv, or any table of ratings; write `analyse/` and return the results.

        results = beholder.analyse("study.yaml")
        results.summary(), results.plot()  # and `beholder.report` writes the page

    What most studies need:
        study           the study file, the study, or a table of your own: CSV, TSV, Excel or Parquet, with a row for
                        each rating or a column for each condition, stimulus or person. `notes["table"]` says how it
                        was read and what is odd in it
        model           adds a quality of every stimulus by this model, or by several: bradley-terry, bt500, mos, p910,
                        p913, shrunken or thurstone

    Of a table of your own:
        columns         what is not evident, as {"participant": "Subject"}
        scale           its scale, as `acr5` or `1..5`
        reference       the condition that is the reference
        missing         cells that are no answers, as [-1, "skipped"]
        sheet           which sheet of a workbook

    Rarely:
        out             another folder than analyse/
        robots          the rehearsal of a study that people have taken too, in rehearsal/
        store           where answers are kept, if neither in store/ nor where `clean` was told: an analysis of people's
                        ratings is recorded there as a look
        progress        a function that gets the number of analyses that are done, and of all
    """
    from beholder.analysis.folder import analyse_folder
    from beholder.analysis.ratings_table import TableOptions
    from beholder.cleaning import rehearsal_of

    options = TableOptions.of(columns, scale, reference, missing, sheet)
    options.refuse_robots(study, robots=robots)
    return analyse_folder(
        rehearsal_of(study) if robots else study,
        out=Path(out) if out is not None else None,
        model=model,
        store=store,
        options=options,
        progress=progress,
    )


def better(study: str | Path, condition: str, other: str, *, question: str | None = None) -> ConditionDifference:
    """Return whether a condition of an analysed study is better than another: yes, no or undecided, with its evidence.

    `study` is a study.yaml or its folder; its last analysis is read, and nothing is written. `question` may be left
    out where there is one only.
    """
    from beholder.analysis.result import read_results
    from beholder.errors import Problem, UserError

    path = Path(study)
    folder = path.parent if path.suffix in (".yaml", ".yml") else path
    if folder != path and not path.exists() and not (folder / "analyse").is_dir():
        fix = "Name it before the two conditions, or go to its folder."
        raise UserError(Problem(str(path), "is not there", "a study.yaml that was analysed, or its folder", fix))
    return read_results(folder).better(condition, other, question)
