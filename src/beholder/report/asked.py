"""What participants were asked, in the words that they read."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.report.markup import Child, Markup, tag
from beholder.report.material import Material, Wording
from beholder.report.words import count


def people_words(material: Material) -> tuple[str, str]:
    """Return what one and several participants are called."""
    return ("robot", "robots") if material.is_simulated else ("person", "people")


def wordings(found: Sequence[Wording], people: tuple[str, str]) -> Child:
    """Return the one text that everybody read, or each text with the number of those who read it."""
    if len(found) == 1:
        return found[0].text
    return [
        [", " if place else None, tag("q", text), f" ({count(n, *people)})"] for place, (text, n) in enumerate(found)
    ]


def asked_section(material: Material) -> Markup:
    """Return every question, word by word, with its scale; and the titles where there were several."""
    people = people_words(material)
    entries = []
    titles = _titles(material)
    if len(titles) > 1:
        entries.append(tag("div", tag("dt", "Title"), tag("dd", wordings(titles, people))))
    for part in material.parts:
        scale = part.scale
        labels = ", ".join(f"{place:g} {text}" for place, text in sorted(scale.labels))
        words = f"{scale.min:g} to {scale.max:g} in steps of {scale.step:g}" + (f": {labels}" if labels else "")
        text = wordings(part.wordings, people)
        asked = tag("q", text) if len(part.wordings) == 1 else text
        entries.append(tag("div", tag("dt", tag("code", part.id)), tag("dd", asked, tag("br"), words)))
    return tag("dl", entries, class_="method")


def _titles(material: Material) -> list[Wording]:
    digests: dict[str, list[str]] = {}
    for text in material.texts:
        digests.setdefault(text["title"], []).append(text["digest"])
    used = material.used
    return [
        Wording(title, used[used["digest"].isin(among)]["participant"].nunique()) for title, among in digests.items()
    ]
