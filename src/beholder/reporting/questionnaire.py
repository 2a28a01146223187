"""What participants were asked, in the words that they read, and what questions and participants are called."""

from __future__ import annotations

from collections.abc import Sequence

from beholder.formats import count, plain, span
from beholder.reporting.html import Child, Markup, tag
from beholder.reporting.material import Material
from beholder.reporting.question_results import QuestionResults, Wording
from beholder.reporting.section import Section
from beholder.study.questions import Scale


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
    for part in material.parts:
        text = wordings(part.wordings, people)
        quoted = tag("q", text) if len(part.wordings) == 1 else text
        lines: list[Child] = [quoted, tag("br"), answers_words(part, material)]
        origin = _wording_origin(part, material)
        if origin or part.is_turned:
            lines += [tag("br"), f"{_keyed(part)} {origin}".rstrip()]
        entries.append(tag("div", tag("dt", tag("code", part.id)), tag("dd", lines)))
    return tag("dl", entries, class_="method")


WORDING = Section("wording", "What was asked", wording_section)


def answers_words(part: QuestionResults, material: Material) -> str:
    """Return the possible answers in words."""
    if part.words.answers:
        return part.words.answers
    if part.kind == "pick":
        return f"{part.words.ticked} or not"
    if part.kind == "correct":
        return "which of the two it was; 1 correct, 0 not"
    if part.kind == "choice":
        return part.words.choices + (", 0 no difference" if has_tie(part, material) else "")
    if part.kind == "diff":
        seen = _scale_of_both(part, material)
        what = f"{_scale_words(seen)}; each of the two, and the rating is the difference" if seen else ""
        sign = "" if part.words.sides else "; above zero the condition is better"
        return f"{what or _scale_words(part.scale)}{sign}"
    return _scale_words(part.scale, is_turned=part.is_turned)


def _scale_words(scale: Scale, *, is_turned: bool = False) -> str:
    words = [(scale.min + scale.max - place if is_turned else place, text) for place, text in scale.labels]
    labels = ", ".join(f"{plain(place)} {text}" for place, text in sorted(words))
    shown = "" if scale.numbers is None else f"; {_NUMBERS[scale.look == 'slider'][scale.numbers]}"
    return f"{span(scale.min, scale.max)} in steps of {scale.step:g}" + (f": {labels}" if labels else "") + shown


_NUMBERS = {
    True: {
        "none": "no numbers were shown",
        "handle": "the number was shown at the handle",
        "ticks": "numbers were shown along the scale, and the one that was given below it",
        "both": "numbers were shown along the scale and at the handle",
    },
    False: {"none": "no numbers were shown", "ticks": "numbers were shown before the words"},
}
"""Where the numbers of a scale were shown, of sliders and of categories."""


def _scale_of_both(part: QuestionResults, material: Material) -> Scale | None:
    """Return the scale on which each of two got a score; None where they were graded against each other."""
    asked = [question for text in material.texts for question in text["questions"] if question["id"] == part.id]
    scales = [Scale.model_validate(question["scale"]) for question in asked]
    return scales[0] if scales and all(scale.min != -scale.max for scale in scales) else None


def has_tie(part: QuestionResults, material: Material) -> bool:
    """Return whether participants could choose neither of the two, by the scale that they saw."""
    asked = [question for text in material.texts for question in text["questions"] if question["id"] == part.id]
    return any(question["scale"]["step"] == 1 for question in asked)


def _keyed(part: QuestionResults) -> str:
    if part.is_turned:
        return f"Reversed (−): agreeing means less. Everywhere else it is turned, as {part.caption}."
    return "Reversed (−): agreeing means less." if part.keyed == "-" else "Not reversed (+)."


def _wording_origin(part: QuestionResults, material: Material) -> str:
    """Return whose wording a statement has; scores of other words are not comparable. Empty where no method tells."""
    from beholder.methods import find
    from beholder.methods.contract import all_questions, wording_origin

    study, method = material.study, find(material.study.method)
    asked = next((one for one in all_questions(study, method) if one.id == part.id.partition(": ")[0]), None)
    if asked is None:
        return ""
    texts = (one.text.removesuffix(f" {part.id.partition(': ')[2]}") for one in part.wordings)
    origins = list(dict.fromkeys(wording_origin(method, study, asked, text) for text in texts))
    return origins[0] if len(origins) == 1 else f"Not the same for all: {' '.join(origins)}"


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
