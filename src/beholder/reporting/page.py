"""The page of a report: one HTML file that needs nothing else, with all sections in their order."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.formats import count, date, span
from beholder.reporting.cleaning import (
    QUALIFICATION_FOOT,
    RULES_FOOT,
    account_section,
    flow_foot,
    flow_section,
    qualification_section,
    rules_section,
)
from beholder.reporting.data_quality import QUALITY_FOOT, quality_section
from beholder.reporting.devices import devices_foot, devices_section
from beholder.reporting.figures import participant_panels
from beholder.reporting.headline import headline_section
from beholder.reporting.html import Child, Markup, document, panel, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_section import METHODS_FOOT, methods, methods_section, procedure_section
from beholder.reporting.participants import PARTICIPANTS_FOOT, TEXTS_FOOT, participants_section, texts_section
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.question_sections import (
    MOST_OPEN,
    has_narrow_matrix,
    overview,
    overview_foot,
    question_sections,
)
from beholder.reporting.questionnaire import people_words, short_names, wording_section, wordings
from beholder.reporting.rater_models import RATER_MODELS_FOOT as MODELS_FOOT
from beholder.reporting.rater_models import rater_models_section
from beholder.reporting.reliability import DIMENSIONALITY_FOOT as TOGETHER_FOOT
from beholder.reporting.reliability import RELIABILITY_FOOT as RELIABLE_FOOT
from beholder.reporting.reliability import VOTES_NEEDED_FOOT as ENOUGH_FOOT
from beholder.reporting.reliability import dimensionality_section, reliability_section, votes_needed_section
from beholder.reporting.sensitivity import RUNS_FOOT, VARIANCE_FOOT, runs_section, sensitivity_section, variance_section
from beholder.reporting.sensitivity import SENSITIVITY_FOOT as SENSITIVE_FOOT
from beholder.reporting.sheets import cell_sheet, condition_sheet, pair_sheet

_EYE = Markup(
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6">'
    '<path d="M3 16Q16 2 29 16Q16 30 3 16Z" stroke-linejoin="round"/>'
    '<circle cx="16" cy="16" r="4.2" fill="currentColor" stroke="none"/></svg>'
)


def page(material: Material, figures: Mapping[str, Markup], files: list[str]) -> str:
    """Return the report as HTML. `figures` are its figures by name, `files` the names of all other files."""
    paper = tag("main", _main(material, figures, files), class_="paper")
    scripts = ["copy.js", *(["interactive.js"] if figures else [])]
    return document(f"{material.title}: report", [_population(material), _topbar(), paper], scripts)


def _population(material: Material) -> Markup:
    """Return the first line: who answered."""
    if material.is_simulated:
        words: list[Child] = [tag("b", "Simulated."), " These ratings come from robots. A rehearsal, not a result."]
        people = material.account["finished"]["people"]
        if people:
            have = count(people, "person has", "people have")
            words += [f" {have} finished as well: run ", tag("code", "beholder clean"), "."]
        return tag("p", words, class_="population population--robots")
    return tag("p", "People answered this study.", class_="population")


def _topbar() -> Markup:
    links = (("#findings", "Findings"), ("#counted", "Cleaning"), ("#method", "Method"), ("#tables", "All tables"))
    nav = tag("nav", [tag("a", words, href=target) for target, words in links], class_="tabs", aria_label="Report")
    return tag("header", tag("div", _EYE, tag("span", "Beholder report"), class_="topbar__name"), nav, class_="topbar")


def _main(material: Material, figures: Mapping[str, Markup], files: list[str]) -> list[Child]:
    sections: list[Child] = [_head(material)]
    is_long = len(material.parts) > MOST_OPEN and any(part.order for part in material.parts)
    if is_long:
        sections.append(
            panel("findings", "All questions", overview(material), foot=overview_foot(material), is_wide=True)
        )
    shorts = short_names(material)
    for part in material.parts:
        if part.order or not is_long:
            content = question_sections(material, part, figures)
            sections += [_collapsed(part, shorts[part.id], content)] if is_long else content
    unrated = [part.name for part in material.parts if is_long and not part.order]
    if unrated:
        sections.append(panel("unrated", "Without any rating that could be used", _list(unrated), is_wide=True))
    sections += _account(material)
    qualification = qualification_section(material)
    if qualification is not None:
        sections.append(panel("qualified", "Who could take part", qualification, foot=QUALIFICATION_FOOT, is_wide=True))
    trust = rules_section(material)
    if trust is not None:
        sections.append(panel("trusted", "Whom we trusted", trust, foot=RULES_FOOT, is_wide=True))
    sections += _participants(material)
    sections.append(participant_panels(material, figures))
    if (lines := quality_section(material)) is not None:
        sections.append(panel("quality", "Data quality", lines, foot=QUALITY_FOOT, is_wide=True))
    if (shared := dimensionality_section(material)) is not None:
        sections.append(
            panel("together", "What the questions measure together", shared, foot=TOGETHER_FOOT, is_wide=True)
        )
    if (measured := reliability_section(material)) is not None:
        title = "How reliable are the ratings?"
        sections.append(panel("reliability", title, measured, foot=RELIABLE_FOOT, is_wide=True))
    cleaned = sensitivity_section(material)
    if cleaned is not None:
        sections.append(
            panel("sensitivity", "Does it depend on the cleaning?", cleaned, foot=SENSITIVE_FOOT, is_wide=True)
        )
    if (compared := runs_section(material)) is not None:
        sections.append(panel("runs", "Do the runs agree?", compared, foot=RUNS_FOOT, is_wide=True))
    if (sources := variance_section(material, figures)) is not None:
        title = "Where the differences come from"
        sections.append(panel("variances", title, sources, foot=VARIANCE_FOOT, is_wide=True))
    if (models := rater_models_section(material, figures)) is not None:
        sections.append(panel("models", "Rater models beside the plain mean", models, foot=MODELS_FOOT, is_wide=True))
    if (votes := votes_needed_section(material, figures)) is not None:
        sections.append(panel("votes", "How many votes are enough?", votes, foot=ENOUGH_FOOT, is_wide=True))
    sections.append(panel("wording", "What was asked", wording_section(material), is_wide=True))
    sections.append(panel("method", "How it was done", procedure_section(material), is_wide=True))
    pasted = methods_section(material, methods(material))
    sections.append(panel("paste", "Methods, ready to paste", pasted, foot=METHODS_FOOT, is_wide=True))
    sections.append(_tables(material))
    sections.append(panel("files", "Files beside this page", _files(files), is_wide=True))
    return sections


def _account(material: Material) -> list[Child]:
    """Return the flow of participants and the account."""
    diagram, is_narrow = flow_section(material), has_narrow_matrix(material)
    account = panel("counted", "Who was counted", account_section(material), is_wide=not is_narrow and diagram is None)
    if diagram is None:
        return [account]
    flow_panel = panel("flow", "Flow of participants", diagram, foot=flow_foot(material), is_wide=is_narrow)
    return [account, flow_panel] if is_narrow else [flow_panel, account]


def _participants(material: Material) -> list[Child]:
    """Return the panels on questionnaires, texts and devices."""
    panels: list[Child] = []
    if (answers := participants_section(material)) is not None:
        panels.append(panel("people", "Who they were", answers, foot=PARTICIPANTS_FOOT, is_wide=True))
    if (texts := texts_section(material)) is not None:
        panels.append(panel("written", "What people wrote", texts, foot=TEXTS_FOOT, is_wide=True))
    if (screens := devices_section(material)) is not None:
        panels.append(panel("devices", "On which devices", screens, foot=devices_foot(material), is_wide=True))
    return panels


def _collapsed(part: QuestionResults, title: str, content: Child) -> Markup:
    """Return the sections of one question of many, collapsed on screen and open in print."""
    summary = tag("summary", tag("h2", title))
    return tag("details", summary, tag("div", content, class_="folded"), class_="question", id=f"question-{part.place}")


def _list(names: list[str]) -> Markup:
    return tag("ul", [tag("li", name) for name in names])


def _head(material: Material) -> Markup:
    numbers = material.account["counts"]
    used = material.used
    one, many = people_words(material)
    people = numbers["completed_participants"]
    facts: list[Child] = [
        _fact(len({*material.labels, *used["other_condition"].dropna()} - {""}), "condition"),
        _fact(used["content"].nunique(), "content"),
        [*_fact(people, one, many), " finished, ", tag("b", f"{numbers['used_participants']:,}"), " used"],
        _fact(len(used), "comparison" if all(part.is_compared for part in material.parts) else "rating"),
    ]
    if material.newest is not None:
        facts.append(tag("time", date(material.newest), datetime=material.newest.date().isoformat()))
    scales = {(part.scale.min, part.scale.max) for part in material.parts}
    ranges = "; ".join(span(low, high) for low, high in sorted(scales))
    return tag(
        "header",
        tag(
            "p",
            f"Method {material.study.method}, {ranges}{f', run {material.run}' if material.run > 1 else ''}",
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


def _tables(material: Material) -> Markup:
    parts = [part for part in material.parts if part.order]
    is_long = len(material.parts) > MOST_OPEN
    shorts = short_names(material)
    whole: list[Child] = []
    for part in parts:
        content: list[Child] = []
        content.append(table(f"{_plural(part)}: {part.id}", condition_sheet(part, material.labels)))
        cells = f"Mean of each content under each condition: {part.id}"
        content.append(table(cells, cell_sheet(part, material.labels)))
        if len(part.pairs):
            content.append(table(f"Pairs of conditions: {part.id}", pair_sheet(part, material.labels)))
        whole += [_collapsed_tables(shorts[part.id], content)] if is_long else content
    if not parts:
        return panel("tables", "All tables", tag("p", "No rating could be used."), is_wide=True)
    foot = "Tables have the conditions in the order of the study; the figure and the matrix above have the best first."
    return panel("tables", "All tables", render(whole), foot=foot, is_wide=True)


def _collapsed_tables(title: str, content: Child) -> Markup:
    return tag("details", tag("summary", title), content, class_="question")


def _plural(part: QuestionResults) -> str:
    return "Scores" if part.number == "Score" else part.metric


def _files(files: list[str]) -> Markup:
    return tag("ul", [tag("li", tag("a", name, href=name)) for name in files], class_="files")
