"""What is told of one question: findings, scores, spread, pairs, and what its method has beside them."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

from beholder.report.agreeing import FOOT as TESTS_FOOT
from beholder.report.agreeing import agreeing
from beholder.report.asked import people_words, wordings
from beholder.report.findings import findings
from beholder.report.gallery import distribution, method_figures
from beholder.report.markup import Child, Markup, render, tag
from beholder.report.material import Material
from beholder.report.measures import dmos, factors, few_contents, position
from beholder.report.overview import MOST_OPEN
from beholder.report.panel import panel
from beholder.report.part import Part
from beholder.report.tables import matrix
from beholder.report.words import count, listed


def question_sections(material: Material, part: Part, figures: Mapping[str, Markup]) -> list[Child]:
    """Return what is told of one question."""
    sections: list[Child] = [_findings(material, part, is_single=len(material.parts) == 1)]
    if part.order:
        sections.append(_scores(material, part, figures[f"scores-{part.slug}"]))
        sections += [distribution(part, figures), method_figures(part, figures), *_measures(material, part)]
    if part.tested:
        sections.append(_tested(material, part))
        sections.append(_matrix(material, part, is_wide=not has_side(material)))
    return sections


def _measures(material: Material, part: Part) -> list[Child]:
    """Return the numbers beside the means that the method, or the manifest, has."""
    found: list[Child] = []
    if (scores := dmos(material, part)) is not None:
        foot = "Higher is closer to the reference; above the highest vote, better than it."
        found.append(panel(f"dmos-{part.slug}", "Against the hidden reference", scores, foot=foot, is_wide=True))
    if (pull := position(material, part)) is not None:
        found.append(panel(f"position-{part.slug}", "Does the place matter?", pull, is_wide=True))
    if (levels := factors(material, part)) is not None:
        foot = _factor_foot(material)
        found.append(panel(f"factors-{part.slug}", "By factor", levels, foot=foot, is_wide=True))
    return found


def _factor_foot(material: Material) -> str:
    """Return what a reader of levels has to know: who rated them."""
    between = list(material.study.design.between)
    other = "Levels may differ in more than their factor: in contents, or in other factors."
    if not between:
        return f"Columns of the manifest. {other}"
    return f"Each participant has one level of {listed(between)}: levels are compared between people. {other}"


def _tested(material: Material, part: Part) -> Child:
    """Return on which pairs the tests agree."""
    told = agreeing(material, part)
    if told is None:
        return None
    return panel(f"tests-{part.slug}", "Do the tests agree?", told, foot=TESTS_FOOT, is_wide=True)


def has_side(material: Material) -> bool:
    """Return whether the account stands beside the one matrix of the page."""
    return len(material.parts) == 1 and bool(material.parts[0].tested) and len(material.parts[0].order) <= 12


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
    kinds = [kind for kind in dict.fromkeys(part.conditions["interval"]) if kind]
    bar = f"Bar: 95 % interval, {' or '.join(kinds)}." if kinds else "One participant for each condition: no interval."
    asked = wordings(part.wordings, people_words(material))
    line = {"correct": " Broken line: guessing.", "diff": " Broken line: no difference."}
    line["choice"] = f" Broken line: {'neither is closer' if part.number == 'Closeness' else 'no preference'}."
    dot = f" Dot: mean, every content weighing the same. {bar}{line.get(part.kind, '')}"
    is_sentence = isinstance(asked, str) and asked.rstrip().endswith((".", "?", "!", "…"))
    foot: Child = [asked, None if is_sentence else ".", dot]
    content = render([figure, few_contents(part)])
    return panel(f"scores-{part.slug}", part.heading, content, foot=foot, is_wide=True)


def _matrix(material: Material, part: Part, *, is_wide: bool) -> Markup:
    unit, higher, lower = _differences(part)
    is_open = any(pair not in part.tested for pair in permutations(part.lined_up, 2))
    key = tag(
        "p",
        tag("span", tag("i", class_="matrix__above"), higher),
        tag("span", tag("i", class_="matrix__below"), lower),
        tag("span", tag("i", class_="matrix__same"), "= no clear difference"),
        tag("span", "– not asked for" if part.unnamed else "– not tested") if is_open else None,
        class_="key",
    )
    tested = len(part.tested) // 2
    first = "best" if part.is_quality else "highest"
    differ = "differs" if tested == 1 else "differ"
    foot = (
        f"{unit}, {first} first. "
        f"{len(part.clear) // 2} of {count(tested, 'tested pair')} {differ}: "
        f"t test clustered by participant and content, Holm-corrected{part.aside}, α = {part.alpha:g}."
    )
    content = render([matrix(part, material.labels), key])
    return panel(f"pairs-{part.slug}", "Which differences are clear?", content, foot=foot, is_wide=is_wide)


def _differences(part: Part) -> tuple[str, str, str]:
    """Return what a cell of the matrix holds, and what it is called where the row is above and below the column."""
    if part.kind == "choice":
        chosen = part.preferred
        unit = f"How often the row was {chosen} minus how often the column was, as a share of their comparisons"
        return unit, f"row {chosen} more often", f"column {chosen} more often"
    if part.kind == "pick":
        return "Row minus column, as shares", "row ticked more often", "row ticked less often"
    return "Row minus column, in points", "row scores higher", "row scores lower"
