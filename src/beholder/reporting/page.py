"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping

from beholder.formats import count, date, span
from beholder.reporting.cleaning import (
    QUALIFICATION_FOOT,
    TRUST_FOOT,
    counted,
    flow,
    flow_foot,
    method_section,
    taking_part,
    trusting,
)
from beholder.reporting.data_quality import FOOT as QUALITY_FOOT
from beholder.reporting.data_quality import quality
from beholder.reporting.devices import devices, devices_foot
from beholder.reporting.gallery import people_figures
from beholder.reporting.html import Child, Markup, document, panel, render, table, tag
from beholder.reporting.material import Material
from beholder.reporting.methods_section import FOOT as METHODS_FOOT
from beholder.reporting.methods_section import methods, methods_section
from beholder.reporting.models import FOOT as MODELS_FOOT
from beholder.reporting.models import modelled
from beholder.reporting.participants import PEOPLE_FOOT, WRITTEN_FOOT, people, written
from beholder.reporting.question_results import QuestionResults
from beholder.reporting.question_sections import (
    MOST_OPEN,
    has_side,
    headline,
    overview,
    overview_foot,
    question_sections,
    short_names,
)
from beholder.reporting.questionnaire import asked_section, people_words, wordings
from beholder.reporting.reliability import DIMENSIONALITY_FOOT as TOGETHER_FOOT
from beholder.reporting.reliability import RELIABILITY_FOOT as RELIABLE_FOOT
from beholder.reporting.reliability import VOTES_NEEDED_FOOT as ENOUGH_FOOT
from beholder.reporting.reliability import enough_votes, reliable, together
from beholder.reporting.sensitivity import RUNS_FOOT, VARIANCE_FOOT, run_effects, sensitive, variance
from beholder.reporting.sensitivity import SENSITIVITY_FOOT as SENSITIVE_FOOT
from beholder.reporting.sheets import cell_sheet, condition_sheet, pair_sheet

_EYE = Markup(
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6">'
    '<path d="M3 16Q16 2 29 16Q16 30 3 16Z" stroke-linejoin="round"/>'
    '<circle cx="16" cy="16" r="4.2" fill="currentColor" stroke="none"/></svg>'
)


def page(material: Material, figures: Mapping[str, Markup], files: list[str]) -> str:
    """Return the report as HTML. `figures` holds what is drawn in it by name, `files` what lies beside."""
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
            told = question_sections(material, part, figures)
            sections += [_folded(part, shorts[part.id], told)] if is_long else told
    unrated = [part.name for part in material.parts if is_long and not part.order]
    if unrated:
        sections.append(panel("unrated", "Without any rating that could be used", _list(unrated), is_wide=True))
    sections += _counted(material)
    part_taken = taking_part(material)
    if part_taken is not None:
        sections.append(panel("qualified", "Who could take part", part_taken, foot=QUALIFICATION_FOOT, is_wide=True))
    trust = trusting(material)
    if trust is not None:
        sections.append(panel("trusted", "Whom we trusted", trust, foot=TRUST_FOOT, is_wide=True))
    sections += _participants(material)
    sections.append(people_figures(material, figures))
    if (lines := quality(material)) is not None:
        sections.append(panel("quality", "Data quality", lines, foot=QUALITY_FOOT, is_wide=True))
    if (shared := together(material)) is not None:
        sections.append(
            panel("together", "What the questions measure together", shared, foot=TOGETHER_FOOT, is_wide=True)
        )
    if (measured := reliable(material)) is not None:
        title = "How reliable are the ratings?"
        sections.append(panel("reliability", title, measured, foot=RELIABLE_FOOT, is_wide=True))
    cleaned = sensitive(material)
    if cleaned is not None:
        sections.append(
            panel("sensitivity", "Does it depend on the cleaning?", cleaned, foot=SENSITIVE_FOOT, is_wide=True)
        )
    if (compared := run_effects(material)) is not None:
        sections.append(panel("runs", "Do the runs agree?", compared, foot=RUNS_FOOT, is_wide=True))
    if (sources := variance(material, figures)) is not None:
        title = "Where the differences come from"
        sections.append(panel("variances", title, sources, foot=VARIANCE_FOOT, is_wide=True))
    if (beside := modelled(material, figures)) is not None:
        sections.append(panel("models", "Rater models beside the plain mean", beside, foot=MODELS_FOOT, is_wide=True))
    if (votes := enough_votes(material, figures)) is not None:
        sections.append(panel("votes", "How many votes are enough?", votes, foot=ENOUGH_FOOT, is_wide=True))
    sections.append(panel("wording", "What was asked", asked_section(material), is_wide=True))
    sections.append(panel("method", "How it was done", method_section(material), is_wide=True))
    pasted = methods_section(material, methods(material))
    sections.append(panel("paste", "Methods, ready to paste", pasted, foot=METHODS_FOOT, is_wide=True))
    sections.append(_tables(material))
    sections.append(panel("files", "Files beside this page", _files(files), is_wide=True))
    return sections


def _counted(material: Material) -> list[Child]:
    """Return the flow of participants and the account, side by side where the account is not beside the matrix."""
    followed, is_beside = flow(material), has_side(material)
    account = panel("counted", "Who was counted", counted(material), is_wide=not is_beside and followed is None)
    if followed is None:
        return [account]
    way = panel("flow", "Flow of participants", followed, foot=flow_foot(material), is_wide=is_beside)
    return [account, way] if is_beside else [way, account]


def _participants(material: Material) -> list[Child]:
    """Return who they were, what they wrote, and on what they rated."""
    told: list[Child] = []
    if (them := people(material)) is not None:
        told.append(panel("people", "Who they were", them, foot=PEOPLE_FOOT, is_wide=True))
    if (texts := written(material)) is not None:
        told.append(panel("written", "What people wrote", texts, foot=WRITTEN_FOOT, is_wide=True))
    if (screens := devices(material)) is not None:
        told.append(panel("devices", "On which devices", screens, foot=devices_foot(material), is_wide=True))
    return told


def _folded(part: QuestionResults, called: str, told: Child) -> Markup:
    """Return what is told of one question of many, to be opened; on paper it is open."""
    summary = tag("summary", tag("h2", called))
    return tag("details", summary, tag("div", told, class_="folded"), class_="question", id=f"question-{part.place}")


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
        headline(material),
        tag("ul", [tag("li", fact) for fact in facts], class_="facts"),
        _reworded(material),
        class_="paper__head",
    )


def _reworded(material: Material) -> Markup | None:
    """Return a note where not everybody was asked the same."""
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
        whole += [_folded_tables(shorts[part.id], content)] if is_long else content
    if not parts:
        return panel("tables", "All tables", tag("p", "No rating could be used."), is_wide=True)
    foot = "Tables have the conditions in the order of the study; the figure and the matrix above have the best first."
    return panel("tables", "All tables", render(whole), foot=foot, is_wide=True)


def _folded_tables(called: str, content: Child) -> Markup:
    return tag("details", tag("summary", called), content, class_="question")


def _plural(part: QuestionResults) -> str:
    return "Scores" if part.number == "Score" else part.metric


def _files(files: list[str]) -> Markup:
    return tag("ul", [tag("li", tag("a", name, href=name)) for name in files], class_="files")
