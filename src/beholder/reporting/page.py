"""The page of a report: one HTML file that needs nothing else, with all sections in their order."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from beholder.analysis.ratings import rating_count
from beholder.formats import count, date, span
from beholder.reporting.cleaning import ACCOUNT, QUALIFICATION, RULES
from beholder.reporting.comparison_coverage import COVERAGE
from beholder.reporting.data_quality import QUALITY, SANITY
from beholder.reporting.deviations import PLANNED
from beholder.reporting.devices import DEVICES
from beholder.reporting.figures import DISTRIBUTIONS, MEDIANS, PREFERENCES, RANKS, RATERS, STRENGTHS, TIMES, WORTHS
from beholder.reporting.headline import headline_section
from beholder.reporting.html import (
    MOST_ROWS,
    Child,
    Markup,
    contents,
    document,
    file_list,
    folded,
    headings,
    render,
    table,
    tag,
)
from beholder.reporting.looks import LOOKS, population_words
from beholder.reporting.marked_words import WORDS
from beholder.reporting.material import Material
from beholder.reporting.methods_section import METHODS, PROCEDURE
from beholder.reporting.pair_tests import CONTRASTS, TEST_AGREEMENT
from beholder.reporting.participants import DEMOGRAPHICS, PARTICIPANTS, TEXTS
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.question_sections import (
    APPROPRIATENESS,
    DMOS,
    FACTORS,
    MOST_OPEN,
    OVERVIEW,
    PAIRS,
    POSITION,
    SCORES,
    UNRATED,
    findings_section,
    is_long,
)
from beholder.reporting.questionnaire import WORDING, people_words, short_names, wordings
from beholder.reporting.rater_models import MODELLED_MEANS
from beholder.reporting.recurring_questions import RECURRING
from beholder.reporting.relations import RELATIONS
from beholder.reporting.reliability import DIMENSIONALITY, RELIABILITY, VOTES_NEEDED
from beholder.reporting.section import Section, beside
from beholder.reporting.sensitivity import EQUIVALENCE, RUNS, SENSITIVITY, VARIANCES
from beholder.reporting.sheets import TextTable, cell_sheet, condition_sheet, pair_sheet, without_empty_columns
from beholder.reporting.time_marks import MARKS
from beholder.reporting.transcriptions import TRANSCRIPTIONS
from beholder.reporting.views import VIEW_SECTION

_EYE = Markup(
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6">'
    '<path d="M3 16Q16 2 29 16Q16 30 3 16Z" stroke-linejoin="round"/>'
    '<circle cx="16" cy="16" r="4.2" fill="currentColor" stroke="none"/></svg>'
)


def page(material: Material) -> str:
    """Return the report as HTML."""
    entries = SECTIONS if material.table is None else TABLE_SECTIONS
    sections = [section(material) for section in entries]
    listed = contents(_lines(material, entries, sections))
    paper = tag("main", _head(material), listed, sections, class_="paper")
    scripts = ["copy.js", *(["interactive.js"] if material.figures else [])]
    links = _LINKS if material.table is None else _TABLE_LINKS
    return document(f"{material.title}: report", [_population(material), _topbar(links), paper], scripts)


def _lines(
    material: Material, entries: Sequence[Callable[[Material], Child]], sections: Sequence[Child]
) -> list[list[tuple[str, Child]]]:
    """Return the lines of the list of contents: one for each section; of several questions, one for each question."""
    rated = [part for part in material.parts if part.order or not is_long(material)]
    shorts = short_names(material)
    lines: list[list[tuple[str, Child]]] = []
    for section, shown in zip(entries, sections, strict=True):
        if section is not questions or len(rated) < 2:
            lines += [[heading] for heading in headings(shown)]
            continue
        assert isinstance(shown, list)
        for part, own in zip(rated, shown, strict=True):
            (anchor, _), *further = headings(own)
            lines.append([(anchor, shorts[part.id]), *further])
    return lines


def _population(material: Material) -> Markup:
    """Return the first line: who answered."""
    if material.is_simulated:
        words: list[Child] = [tag("b", "Simulated."), " These ratings come from robots. A rehearsal, not a result."]
        people = material.account["finished"]["people"]
        if people:
            have = count(people, "person has", "people have")
            words += [f" {have} finished as well: run ", tag("code", "beholder clean"), "."]
        return tag("p", words, class_="population population--robots")
    if material.is_on_play_money:
        words = [tag("b", "Simulated."), " These people came from a platform of play money. A rehearsal, not a result."]
        return tag("p", words, class_="population population--robots")
    if material.table is not None:
        words = ["From the table ", tag("b", material.table["file"]), ": nothing was cleaned or screened here."]
        return tag("p", words, class_="population")
    return tag("p", population_words(material), class_="population")


_LINKS = (("#findings", "Findings"), ("#counted", "Cleaning"), ("#method", "Method"), ("#tables", "All tables"))
_TABLE_LINKS = (("#findings", "Findings"), ("#sanity", "Sanity"), ("#paste", "Method"), ("#tables", "All tables"))


def _topbar(links: Sequence[tuple[str, str]]) -> Markup:
    nav = tag("nav", [tag("a", words, href=target) for target, words in links], class_="tabs", aria_label="Report")
    return tag("header", tag("div", _EYE, tag("span", "Beholder report"), class_="topbar__name"), nav, class_="topbar")


def _head(material: Material) -> Markup:
    numbers = material.account["counts"]
    used = material.used
    one, many = people_words(material)
    is_table = material.table is not None
    people = numbers["used_participants" if is_table else "completed_participants"]
    finished: list[Child] = [" finished, ", tag("b", f"{numbers['used_participants']:,}"), " used"]
    facts: list[Child] = [
        _fact(len({*material.labels, *used["other_condition"].dropna()} - {""}), "condition"),
        _fact(used["content"].nunique(), "content"),
        [*_fact(people, one, many), *([] if is_table else finished)],
        _fact(rating_count(used), "comparison" if all(part.is_compared for part in material.parts) else "rating"),
    ]
    if not is_table and material.newest is not None:
        facts.append(tag("time", date(material.newest), datetime=material.newest.date().isoformat()))
    scales = {(part.scale.min, part.scale.max) for part in material.parts}
    ranges = "; ".join(span(low, high) for low, high in sorted(scales))
    return tag(
        "header",
        tag(
            "p",
            f"{f'Method {material.study.method}' if material.study.method else 'Table'}, {ranges}"
            f"{f', run {material.run}' if material.run > 1 else ''}",
            class_="paper__kind",
        ),
        tag("h1", material.title),
        headline_section(material),
        tag("ul", [tag("li", fact) for fact in facts], class_="facts"),
        _reworded(material),
        class_="paper__head",
    )


def _reworded(material: Material) -> Markup | None:
    """Return a note if participants read different wordings."""
    changed = [part for part in material.parts if len(part.wordings) > 1]
    if not changed:
        return None
    people = people_words(material)
    asked: list[Child] = [[" ", tag("code", part.id), ": ", wordings(part.wordings, people), "."] for part in changed]
    words = (tag("b", "Not everybody was asked in the same words."), asked, " The scores take them together.")
    return tag("p", words, class_="notice")


def _fact(n: int, one: str, many: str | None = None) -> list[Child]:
    amount, _, word = count(n, one, many).partition(" ")
    return [tag("b", amount), f" {word}"]


# Questions


QUESTION_SECTIONS: tuple[Callable[[Material, QuestionResults], Child], ...] = (
    SCORES, APPROPRIATENESS, WORDS, TRANSCRIPTIONS, DISTRIBUTIONS,
    beside(MEDIANS, PREFERENCES, STRENGTHS, WORTHS, RANKS), DMOS,
    POSITION, FACTORS, RELATIONS, TEST_AGREEMENT, PAIRS, CONTRASTS, EQUIVALENCE,
)  # fmt: skip
"""The sections of each question that was rated, in their order."""


def questions(material: Material) -> list[Child]:
    """Return the sections of every question, each question collapsed if there are many."""
    if not is_long(material):
        return [_question(material, part) for part in material.parts]
    shorts = short_names(material)
    return [_collapsed(part, shorts[part.id], _question(material, part)) for part in material.parts if part.order]


def _question(material: Material, part: QuestionResults) -> list[Child]:
    findings = findings_section(material, part)
    return [findings, *(section(material, part) for section in QUESTION_SECTIONS if part.order)]


def _collapsed(part: QuestionResults, title: str, content: Child) -> Markup:
    """Return the sections of one question of many, collapsed on screen and open in print."""
    summary = tag("summary", tag("h2", title))
    return tag("details", summary, tag("div", content, class_="folded"), class_="question", id=f"question-{part.place}")


# Tables and files


def _tables(material: Material) -> Markup:
    parts = [part for part in material.parts if part.order]
    is_collapsed = len(material.parts) > MOST_OPEN
    shorts = short_names(material)
    whole: list[Child] = []
    for part in parts:
        scores, pairs = (without_empty_columns(sheet(part, material.labels)) for sheet in (condition_sheet, pair_sheet))
        content: list[Child] = [table(f"{_scores_title(part)}: {part.caption}", scores)]
        cells = f"Mean of each content under each condition: {part.caption}"
        content.append(_folded_if_long(cells, cell_sheet(part, material.labels)))
        if len(part.pairs):
            content.append(_folded_if_long(f"Pairs of conditions: {part.caption}", pairs))
        whole += [folded(shorts[part.id], content)] if is_collapsed else content
    return render(whole) if parts else tag("p", "No rating could be used.")


def _folded_if_long(caption: str, sheet: TextTable) -> Markup:
    shown = table(caption, sheet)
    return folded(f"{caption} ({count(len(sheet.rows), 'row')})", shown) if len(sheet.rows) > MOST_ROWS else shown


def _tables_foot(material: Material) -> str | None:
    if not any(part.order for part in material.parts):
        return None
    return "Tables have the conditions in the order of the study; the figure and the matrix above have the best first."


def _scores_title(part: QuestionResults) -> str:
    return "Scores" if part.metric_name == "Score" else part.metric


def _files(material: Material) -> Markup:
    return file_list(material.files)


TABLES = Section("tables", "All tables", _tables, foot=_tables_foot)
FILES = Section("files", "Files beside this page", _files)


SECTIONS: tuple[Callable[[Material], Child], ...] = (
    OVERVIEW,
    questions,
    COVERAGE,
    UNRATED,
    MARKS,
    ACCOUNT,
    QUALIFICATION,
    RULES,
    PARTICIPANTS,
    DEMOGRAPHICS,
    RECURRING,
    TEXTS,
    DEVICES,
    VIEW_SECTION,
    beside(RATERS, TIMES),
    QUALITY,
    DIMENSIONALITY,
    RELIABILITY,
    SENSITIVITY,
    RUNS,
    VARIANCES,
    MODELLED_MEANS,
    VOTES_NEEDED,
    WORDING,
    LOOKS,
    PLANNED,
    PROCEDURE,
    METHODS,
    TABLES,
    FILES,
)
"""The page below its head, from top to bottom."""
TABLE_SECTIONS: tuple[Callable[[Material], Child], ...] = (
    OVERVIEW,
    questions,
    UNRATED,
    SANITY,
    beside(RATERS, TIMES),
    DIMENSIONALITY,
    RELIABILITY,
    SENSITIVITY,
    RUNS,
    VARIANCES,
    MODELLED_MEANS,
    VOTES_NEEDED,
    METHODS,
    TABLES,
    FILES,
)
"""The page of a table without a study: what ratings alone can tell."""
