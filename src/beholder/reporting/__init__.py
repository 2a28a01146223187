"""Report: one self-contained page with the findings, their figures and tables.

Data of a report:
    material             study, account of the cleaning and results, one part per question
    question_results     the results of one question
    references           what a report can cite

Parts of the page:
    page                 all sections in their order
    headline             the key finding of each question at the top
    findings             the findings of a question in sentences
    figures              the figures of a report, the sections that show them, and drawing them
    flow_diagram         the flow of participants as a figure for papers
    relations            stimuli that are for some people alone, beside those for everybody
    question_sections    findings, scores and further tables of a question; the overview of many
    marked_words         the words of each transcript that people marked, and how far they agree
    time_marks           where people marked clips while they played, with the frames there, and how far they agree
    transcriptions       how much of what was said people typed, and which words they took for which
    pair_tests           every contrast of a question by several tests, and whether they agree
    questionnaire        what participants were asked, in the words that they read
    cleaning             the account, the flow of participants, checks and rules
    participants         answers to the questionnaires, by group too, and what people wrote
    recurring_questions  answers to the questions between trials, by condition and over the session
    views                how pairs were looked at: the time in each view, flips, moves of the line
    comparison_coverage  active pairs: how many comparisons carry the order of conditions
    devices              screens, browsers and input devices
    data_quality         missing values, playback, agreement and balance
    reliability          reliability, dimensionality and the votes that are needed
    sensitivity          other choices of cleaning, sources of variance, differences between runs
    looks                looks at results, changes of the size, and contrasts named in time
    deviations           the preregistration, and everything that was done otherwise than planned
    rater_models         means under rater models next to the plain means

Methods text:
    methods_section      the paragraphs, the section of the page and the files
    methods_design       sentences on the design
    methods_analysis     sentences on the analysis, and on where the data are
    methods_people       sentences on participants, apparatus and quality control
    methods_text         sentences and paragraphs as plain text, Markdown and LaTeX

Building blocks and folders:
    html                 elements, panels, tables and whole pages
    section              a section of a page as one object
    sheets               tables as text, in LaTeX and in Markdown
    folder               the folder report/
    result_page          the folder of another verb: tables, figures, notes and a page
    plan_counts          tables of counts of a plan
    plan_page            the folder plan/report/
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.analysis.column_roles import Columns
    from beholder.study.model import Study

__all__ = ["report"]


def report(
    study: str | Path | Study = "study.yaml",
    *,
    out: str | Path | None = None,
    robots: bool = False,
    columns: Columns = None,
    scale: str | Sequence[float] | None = None,
    reference: str | None = None,
    missing: str | Sequence[str | float] | None = None,
    sheet: str | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Path:
    """Write `report/` from clean/ and analyse/; return the path of its page.

        page = beholder.report("study.yaml")

    What most studies need:
        study           the study file, the study, or a table of your own, which is analysed and reported at once
        out             where the report of a table goes: report/ beside it when left out
        robots          the rehearsal of a study that people have taken too, in rehearsal/

    Of a table of your own:
        columns         what is not evident, as {"participant": "Subject"}
        scale           its scale, as `acr5` or `1..5`
        reference       the condition that is the reference
        missing         cells that are no answers, as [-1, "skipped"]
        sheet           which sheet of a workbook

    Rarely:
        progress        a function that gets the number of figures that are drawn, and of all
    """
    from beholder.analysis.ratings_table import TableOptions
    from beholder.analysis.spreadsheets import is_table
    from beholder.cleaning import rehearsal_of
    from beholder.errors import Problem, UserError
    from beholder.reporting.folder import report_folder, report_table

    options = TableOptions.of(columns, scale, reference, missing, sheet)
    if is_table(study):
        options.refuse_robots(study, robots=robots)
        path = Path(str(study))
        return report_table(path, out=Path(out) if out is not None else None, options=options, progress=progress)
    options.refuse_for(study)
    if out is not None:
        what = f"is for a table, and {study} is a study"
        raise UserError(Problem("--out", what, "", "Its report is in report/ beside the study file."))
    return report_folder(rehearsal_of(study) if robots else study, progress=progress)
