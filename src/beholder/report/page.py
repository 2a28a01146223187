"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from beholder.report.asked import asked_section, people_words, wordings
from beholder.report.counted import counted, method_section
from beholder.report.findings import findings
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material, Part
from beholder.report.sheets import cell_sheet, condition_sheet, pair_sheet
from beholder.report.tables import matrix, table
from beholder.report.words import count, date

_EYE = Markup(
    '<svg class="mark" viewBox="0 0 32 32" aria-hidden="true" fill="none" stroke="currentColor" stroke-width="2.6">'
    '<path d="M3 16Q16 2 29 16Q16 30 3 16Z" stroke-linejoin="round"/>'
    '<circle cx="16" cy="16" r="4.2" fill="currentColor" stroke="none"/></svg>'
)


def page(material: Material, figures: Mapping[str, Markup], files: list[str]) -> str:
    """Return the report as HTML. `figures` holds the inline figure of each question, `files` what lies beside."""
    title = material.title
    style = resources.files("beholder.report").joinpath("style.css").read_text(encoding="utf-8")
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", f"{title}: report · Beholder"),
        tag("style", Markup(style)),
    )
    body = tag("body", _population(material), _topbar(), tag("main", _main(material, figures, files), class_="paper"))
    return "<!doctype html>\n" + tag("html", head, body, lang="en") + "\n"


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
    is_single = len(material.parts) == 1
    for part in material.parts:
        sections.append(_findings(material, part, is_single=is_single))
        if part.order:
            sections.append(_scores(material, part, figures[part.id]))
        if part.tested:
            sections.append(_matrix(material, part, is_wide=not _has_side(material)))
    sections.append(_panel("counted", "Who was counted", counted(material), is_wide=not _has_side(material)))
    sections.append(_panel("wording", "What was asked", asked_section(material), is_wide=True))
    sections.append(_panel("method", "How it was done", method_section(material), is_wide=True))
    sections.append(_tables(material))
    sections.append(_panel("files", "Files beside this page", _files(files), is_wide=True))
    return sections


def _has_side(material: Material) -> bool:
    """Return whether the account stands beside the one matrix of the page."""
    return len(material.parts) == 1 and bool(material.parts[0].tested) and len(material.parts[0].order) <= 12


def _head(material: Material) -> Markup:
    numbers = material.account["counts"]
    used = material.used
    one, many = people_words(material)
    people = numbers["completed_participants"]
    facts: list[Child] = [
        _fact(len(material.labels), "condition"),
        _fact(used["content"].nunique(), "content"),
        [*_fact(people, one, many), " finished, ", tag("b", f"{numbers['used_participants']:,}"), " used"],
        _fact(len(used), "rating"),
    ]
    if material.newest is not None:
        facts.append(tag("time", date(material.newest), datetime=material.newest.date().isoformat()))
    scales = {(part.scale.min, part.scale.max) for part in material.parts}
    ranges = "; ".join(f"{low:g} to {high:g}" for low, high in sorted(scales))
    return tag(
        "header",
        tag("p", f"{material.study.method}, {ranges}", class_="paper__kind"),
        tag("h1", material.title),
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


def _findings(material: Material, part: Part, *, is_single: bool) -> Markup:
    roles = {condition.name: condition.role for condition in material.study.conditions}
    reference = next((name for name in part.order if roles.get(name) == "reference"), None)
    found = findings(part, material.labels, reference, people_words(material))
    title: Child = "What we found" if is_single else ["What we found: ", tag("q", part.name)]
    anchor = "findings" if part is material.parts[0] else f"findings-{part.id}"
    items = [tag("li", tag("b", finding.headline), " ", finding.detail) for finding in found]
    head = tag("h2", title, id=f"{anchor}-t")
    return tag("section", head, tag("ol", items), class_="findings", id=anchor, aria_labelledby=f"{anchor}-t")


def _scores(material: Material, part: Part, figure: Markup) -> Markup:
    has_interval = bool(part.conditions["ci_low"].notna().any())
    bar = (
        "Bar: 95 % Student t interval over participants."
        if has_interval
        else "One participant for each condition: no interval."
    )
    asked = wordings(part.wordings, people_words(material))
    foot: Child = [asked, "." if len(part.wordings) > 1 else None, f" Dot: mean over participants. {bar}"]
    return _panel(f"scores-{part.id}", "Scores, best first", figure, foot=foot, is_wide=True)


def _matrix(material: Material, part: Part, *, is_wide: bool) -> Markup:
    key = tag(
        "p",
        tag("span", tag("i", class_="matrix__above"), "row scores higher"),
        tag("span", tag("i", class_="matrix__below"), "row scores lower"),
        tag("span", tag("i", class_="matrix__same"), "= no clear difference"),
        class_="key",
    )
    tested = len(part.tested) // 2
    foot = (
        f"Row minus column, in points, best first. {len(part.clear) // 2} of {count(tested, 'tested pair')} differ: "
        f"Wilcoxon signed rank over participants, Holm-corrected, α = {part.alpha:g}."
    )
    content = render([matrix(part, material.labels), key])
    return _panel(f"pairs-{part.id}", "Which differences are clear?", content, foot=foot, is_wide=is_wide)


def _tables(material: Material) -> Markup:
    parts = [part for part in material.parts if part.order]
    content: list[Child] = []
    for part in parts:
        content.append(table(f"Scores: {part.id}", condition_sheet(part, material.labels)))
        cells = f"Mean score of each content under each condition: {part.id}"
        content.append(table(cells, cell_sheet(part, material.labels)))
        if len(part.order) > 1:
            content.append(table(f"Pairs of conditions: {part.id}", pair_sheet(part, material.labels)))
    if not parts:
        return _panel("tables", "All tables", tag("p", "No rating could be used."), is_wide=True)
    foot = "Tables have the conditions in the order of the study; the figure and the matrix above have the best first."
    return _panel("tables", "All tables", render(content), foot=foot, is_wide=True)


def _files(files: list[str]) -> Markup:
    return tag("ul", [tag("li", tag("a", name, href=name)) for name in files], class_="files")


def _panel(name: str, title: str, content: Markup, *, foot: Child = None, is_wide: bool = False) -> Markup:
    return tag(
        "section",
        tag("h2", title, id=f"{name}-h"),
        content,
        tag("p", foot, class_="panel__foot") if foot else None,
        class_="panel paper__wide" if is_wide else "panel",
        id=name,
        aria_labelledby=f"{name}-h",
    )
