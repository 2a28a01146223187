"""The page: one HTML file that needs nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources

from beholder.report.asked import asked_section, people_words, wordings
from beholder.report.counted import counted, method_section
from beholder.report.findings import findings
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.overview import MOST_OPEN, overview, overview_foot, short_names
from beholder.report.part import Part
from beholder.report.sheets import cell_sheet, condition_sheet, pair_sheet
from beholder.report.tables import matrix, table
from beholder.report.taking_part import FOOT, taking_part
from beholder.report.trusting import FOOT as TRUST_FOOT
from beholder.report.trusting import trusting
from beholder.report.words import count, date, span

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
    is_long = len(material.parts) > MOST_OPEN and any(part.order for part in material.parts)
    if is_long:
        sections.append(
            _panel("findings", "All questions", overview(material), foot=overview_foot(material), is_wide=True)
        )
    shorts = short_names(material)
    for part in material.parts:
        if part.order or not is_long:
            told = _question(material, part, figures)
            sections += [_folded(part, shorts[part.id], told)] if is_long else told
    unrated = [part.name for part in material.parts if is_long and not part.order]
    if unrated:
        sections.append(_panel("unrated", "Without any rating that could be used", _list(unrated), is_wide=True))
    sections.append(_panel("counted", "Who was counted", counted(material), is_wide=not _has_side(material)))
    part_taken = taking_part(material)
    if part_taken is not None:
        sections.append(_panel("qualified", "Who could take part", part_taken, foot=FOOT, is_wide=True))
    trust = trusting(material)
    if trust is not None:
        sections.append(_panel("trusted", "Whom we trusted", trust, foot=TRUST_FOOT, is_wide=True))
    sections.append(_panel("wording", "What was asked", asked_section(material), is_wide=True))
    sections.append(_panel("method", "How it was done", method_section(material), is_wide=True))
    sections.append(_tables(material))
    sections.append(_panel("files", "Files beside this page", _files(files), is_wide=True))
    return sections


def _question(material: Material, part: Part, figures: Mapping[str, Markup]) -> list[Child]:
    """Return what is told of one question."""
    sections: list[Child] = [_findings(material, part, is_single=len(material.parts) == 1)]
    if part.order:
        sections.append(_scores(material, part, figures[part.id]))
    if part.tested:
        sections.append(_matrix(material, part, is_wide=not _has_side(material)))
    return sections


def _folded(part: Part, called: str, told: Child) -> Markup:
    """Return what is told of one question of many, to be opened; on paper it is open."""
    summary = tag("summary", tag("h2", called))
    return tag("details", summary, tag("div", told, class_="folded"), class_="question", id=f"question-{part.place}")


def _list(names: list[str]) -> Markup:
    return tag("ul", [tag("li", name) for name in names])


def _has_side(material: Material) -> bool:
    """Return whether the account stands beside the one matrix of the page."""
    return len(material.parts) == 1 and bool(material.parts[0].tested) and len(material.parts[0].order) <= 12


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
        tag("p", f"Method {material.study.method}, {ranges}", class_="paper__kind"),
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
    reference = next((name for name in part.order if part.roles.get(name) == "reference"), None)
    found = findings(part, material.names, reference, people_words(material))
    title: Child = "What we found" if is_single else ["What we found: ", tag("q", part.name)]
    is_first = part is material.parts[0] and len(material.parts) <= MOST_OPEN
    anchor = "findings" if is_first else f"findings-{part.slug}"
    items = [tag("li", tag("b", finding.headline), " ", finding.detail) for finding in found]
    head = tag("h2", title, id=f"{anchor}-t")
    return tag("section", head, tag("ol", items), class_="findings", id=anchor, aria_labelledby=f"{anchor}-t")


def _scores(material: Material, part: Part, figure: Markup) -> Markup:
    has_interval = bool(part.conditions["ci_low"].notna().any())
    bar = (
        f"Bar: 95 % {'Korn-Graubard' if part.is_share else 'Student t'} interval over participants."
        if has_interval
        else "One participant for each condition: no interval."
    )
    asked = wordings(part.wordings, people_words(material))
    line = {"correct": " Broken line: guessing.", "diff": " Broken line: no difference."}
    line["choice"] = f" Broken line: {'neither is closer' if part.metric == 'Closeness' else 'no preference'}."
    dot = f" Dot: mean over participants. {bar}{line.get(part.kind, '')}"
    is_sentence = isinstance(asked, str) and asked.rstrip().endswith((".", "?", "!", "…"))
    foot: Child = [asked, None if is_sentence else ".", dot]
    return _panel(f"scores-{part.slug}", part.heading, figure, foot=foot, is_wide=True)


def _matrix(material: Material, part: Part, *, is_wide: bool) -> Markup:
    unit, higher, lower = _differences(part)
    key = tag(
        "p",
        tag("span", tag("i", class_="matrix__above"), higher),
        tag("span", tag("i", class_="matrix__below"), lower),
        tag("span", tag("i", class_="matrix__same"), "= no clear difference"),
        class_="key",
    )
    tested = len(part.tested) // 2
    first = "best" if part.is_quality else "highest"
    differ = "differs" if tested == 1 else "differ"
    foot = (
        f"{unit}, {first} first. "
        f"{len(part.clear) // 2} of {count(tested, 'tested pair')} {differ}: "
        f"Wilcoxon signed rank over participants, Holm-corrected, α = {part.alpha:g}."
    )
    content = render([matrix(part, material.labels), key])
    return _panel(f"pairs-{part.slug}", "Which differences are clear?", content, foot=foot, is_wide=is_wide)


def _differences(part: Part) -> tuple[str, str, str]:
    """Return what a cell of the matrix holds, and what it is called where the row is above and below the column."""
    if part.kind == "choice":
        chosen = part.preferred
        unit = f"How often the row was {chosen} minus how often the column was, as a share of their comparisons"
        return unit, f"row {chosen} more often", f"column {chosen} more often"
    if part.kind == "pick":
        return "Row minus column, as shares", "row ticked more often", "row ticked less often"
    return "Row minus column, in points", "row scores higher", "row scores lower"


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
        return _panel("tables", "All tables", tag("p", "No rating could be used."), is_wide=True)
    foot = "Tables have the conditions in the order of the study; the figure and the matrix above have the best first."
    return _panel("tables", "All tables", render(whole), foot=foot, is_wide=True)


def _folded_tables(called: str, content: Child) -> Markup:
    return tag("details", tag("summary", called), content, class_="question")


def _plural(part: Part) -> str:
    return "Scores" if part.metric == "Score" else part.metric


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
