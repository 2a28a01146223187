"""What participants were asked, in the words that they read, and what questions and participants are called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from beholder.formats import count, plain, span
from beholder.reporting.html import Child, Markup, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults, Wording
from beholder.reporting.section import Section
from beholder.study.markdown import plain_text


def people_words(material: Material) -> tuple[str, str]:
    """Return the words for one and for several participants."""
    return ("robot", "robots") if material.is_simulated else ("person", "people")


def wordings(texts: Sequence[Wording], people: tuple[str, str]) -> Child:
    """Return the one text that everybody read, or each text with the number of those who read it."""
    if len(texts) == 1:
        return texts[0].text
    return [
        [", " if place else None, tag("q", text), f" ({count(n, *people)})"] for place, (text, n) in enumerate(texts)
    ]


def wording_section(material: Material) -> Markup:
    """Return the wording of every question with its scale, and the titles if there were several."""
    people = people_words(material)
    entries = []
    titles = _titles(material)
    if len(titles) > 1:
        entries.append(tag("div", tag("dt", "Title"), tag("dd", wordings(titles, people))))
    ours = _method_wordings(material)
    for part in material.parts:
        text = wordings(part.wordings, people)
        quoted = tag("q", text) if len(part.wordings) == 1 else text
        lines: list[Child] = [quoted, tag("br"), answers_words(part, material)]
        if ours:
            lines += [tag("br"), f"{_keyed(part)} {_wording_origin(part, ours)}"]
        entries.append(tag("div", tag("dt", tag("code", part.id)), tag("dd", lines)))
    return tag("dl", entries, class_="method")


WORDING = Section("wording", "What was asked", wording_section)


def answers_words(part: QuestionResults, material: Material) -> str:
    """Return the possible answers in words."""
    if part.kind == "pick":
        return "ticked or not"
    if part.kind == "correct":
        return "which of the two it was; 1 correct, 0 not"
    scale = part.scale
    words = [(scale.min + scale.max - place if part.is_turned else place, text) for place, text in scale.labels]
    labels = ", ".join(f"{plain(place)} {text}" for place, text in sorted(words))
    answers = f"{span(scale.min, scale.max)} in steps of {scale.step:g}" + (f": {labels}" if labels else "")
    if part.kind == "choice":
        return part.words.choices + (", 0 no difference" if has_tie(part, material) else "")
    return f"{answers}; above zero the condition is better" if part.kind == "diff" else answers


def has_tie(part: QuestionResults, material: Material) -> bool:
    """Return whether participants could choose neither of the two, by the scale that they saw."""
    asked = [question for text in material.texts for question in text["questions"] if question["id"] == part.id]
    return any(question["scale"]["step"] == 1 for question in asked)


def _method_wordings(material: Material) -> dict[str, str]:
    """Return the texts that the method itself defines, by question."""
    from beholder.methods import find

    study = material.study
    return {
        one.id: plain_text(one.text) for one in find(study.method).questions(study.model_copy(update={"questions": ()}))
    }


def _keyed(part: QuestionResults) -> str:
    if part.is_turned:
        return f"Reversed (−): agreeing means less. Everywhere else it is turned, as {part.caption}."
    return "Reversed (−): agreeing means less." if part.keyed == "-" else "Not reversed (+)."


def _wording_origin(part: QuestionResults, ours: Mapping[str, str]) -> str:
    """Return whether a statement has the method's or the study's wording; scores of the two are not comparable."""
    text = ours.get(part.id.partition(": ")[0])
    is_ours = [text is not None and one.text.startswith(text) for one in part.wordings]
    if all(is_ours):
        return "Our wording."
    return "Our wording for some, the study's own for others." if any(is_ours) else "The study's own wording."


def _titles(material: Material) -> list[Wording]:
    digests: dict[str, list[str]] = {}
    for text in material.texts:
        digests.setdefault(text["title"], []).append(text["digest"])
    used = material.used
    return [
        Wording(title, used[used["digest"].isin(among)]["participant"].nunique()) for title, among in digests.items()
    ]


def short_names(material: Material) -> dict[str, str]:
    """Return the name of each question in a list of all: the short one if it is unique."""
    shorts = [part.short for part in material.parts]
    return {part.id: part.short if shorts.count(part.short) == 1 else part.id for part in material.parts}
