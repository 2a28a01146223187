"""Pages of webMUSHRA on which something is rated, and the studies that they make: one for each method and scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.formats import join_names
from beholder.importing.contract import ImportedStimulus
from beholder.importing.html_text import page_text
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import distinct, stimulus_name

if TYPE_CHECKING:
    from beholder.importing.webmushra.configuration import PageReader

REFERENCE = "reference"
"""How results call it, and the condition that it becomes."""
ANCHORS: Mapping[str, str] = {"anchor35": "lowpass-3500", "anchor70": "lowpass-7000"}
"""How results call its anchors, and the recipes by which we make them."""
_FLAGS: Mapping[str, str] = {"anchor35": "createAnchor35", "anchor70": "createAnchor70"}
_RESERVED = (REFERENCE, *ANCHORS)
QUALITY = "quality"
"""The id of the question where a page has one scale."""
_GRADE = {
    "min": 1, "max": 5, "step": 0.01,
    "labels": ["Very annoying", "Annoying", "Slightly annoying", "Perceptible, but not annoying", "Imperceptible"],
}  # fmt: skip


class RatingPage(NamedTuple):
    """A page on which something is rated: its content in the study, and its stimuli as results call them."""

    trial_id: str
    """Its id, by which results call it."""
    contents: Mapping[str, str]
    """The content of each stimulus in the study."""
    stimuli: Mapping[str, str]
    """The id of each stimulus in the study."""
    answers: tuple[Mapping[str, int], ...] = ()
    """Of each scale, the place of each answer, from 1, by what results hold for it."""

    @property
    def content(self) -> str:
        """The content of a page that has only one."""
        return next(iter(self.contents.values()), "")


@dataclass
class MethodPages:
    """All pages that become one study."""

    kind: str
    """The type of its pages, which is also what results are called by."""
    keys: dict[str, Any]
    pages: list[RatingPage] = field(default_factory=list)
    stimuli: list[ImportedStimulus] = field(default_factory=list)

    @property
    def questions(self) -> list[str]:
        """The ids of its questions."""
        return [str(question["id"]) for question in self.keys["questions"]]

    def add(self, one: ImportedStimulus) -> str:
        """Add a stimulus, each once; return its id."""
        if one.id not in {other.id for other in self.stimuli}:
            self.stimuli.append(one)
        return one.id


def blank_pages(kind: str) -> MethodPages:
    """Return a study of pages of one kind, of which no configuration is known."""
    method, text, scale = _OF_KIND[kind]
    options = {"mode": "identify", "unsure": True} if kind == "paired_comparison" else {}
    return MethodPages(
        kind, {"method": method, "questions": [_question(text, scale)], "options": options, "playback": {}}
    )


def _question(text: str, scale: object, identity: str = QUALITY) -> dict[str, Any]:
    return {"id": identity, "text": text, "scale": scale}


_OF_KIND: Mapping[str, tuple[str, str, object]] = {
    "mushra": ("mushra", "How good is the quality of each version?", "cont100"),
    "bs1116": ("bs1116", "How impaired is each of the two?", _GRADE),
    "paired_comparison": ("abx", "Which one is the reference?", "pref2"),
}
"""The method, the question and the scale of each kind of page that has one scale."""


# What all pages have


def _study(reader: PageReader, kind: str) -> MethodPages:
    """Return the study of all pages of a kind that were read so far."""
    return reader.methods.setdefault((kind, ()), blank_pages(kind))


def _identity(reader: PageReader, page: SourceValue, kind: str) -> tuple[str, str]:
    """Return the id of a page, and its content in the study: of the same id twice, with a number."""
    identity = page.get("id")
    name = identity.mapped("content").text().strip() if identity is not None else ""
    if (heading := page.get("name")) is not None:
        heading.assumed("the title of the study", "pages on which something is rated have no headings here")
    return name, distinct(stimulus_name(name, "trial"), reader.contents.setdefault(kind, set()))


def _ask(study: MethodPages, page: SourceValue) -> None:
    """Take the words of the first page for the questions of the study; other words on other pages are told."""
    value = page.get("content")
    words = " ".join(page_text(value.text()).text.split()) if value is not None else ""
    if value is None or not words:
        return
    questions = study.keys["questions"]
    texts = [words] if len(questions) == 1 else [f"{words} ({number})" for number in range(1, len(questions) + 1)]
    if not study.pages:
        for question, text in zip(questions, texts, strict=True):
            question["text"] = text
    if texts == [question["text"] for question in questions]:
        value.mapped("text of the question")
    else:
        value.assumed(questions[0]["text"], "all pages of a study ask in the same words, those of the first")


def _reference(reader: PageReader, study: MethodPages, page: SourceValue, content: str) -> str:
    value = page.get("reference")
    path = value.mapped("reference").text().strip() if value is not None else ""
    if not path:
        (value or page).broken("has no reference", "imported as a page whose reference was not found")
    return study.add(
        ImportedStimulus(content, REFERENCE, reader.source.find_stimulus(path), path or REFERENCE, "reference")
    )


def _stimuli(reader: PageReader, page: SourceValue) -> dict[str, tuple[str, str]]:
    """Return the name of each stimulus of a page as a condition, and its path, by its name in results."""
    found: dict[str, tuple[str, str]] = {}
    stimuli = page.get("stimuli")
    for name, value in stimuli.items() if stimuli is not None else ():
        plain = name.strip()
        if plain.lower() in _RESERVED:
            value.broken(f"is called {plain}, which results use for something else", "left out")
            continue
        found[plain] = stimulus_name(plain), value.mapped("stimulus").text().strip()
    if not found:
        (stimuli or page).broken("has no stimuli", "left out")
    return found


def _sound_keys(study: MethodPages, page: SourceValue, watch: str = "none") -> None:
    playback = study.keys["playback"]
    playback.setdefault("watch", watch)
    if (value := page.get("enableLooping")) is not None:
        playback["loop"] = "region" if value.mapped("playback.loop").flag() else "off"
    if (value := page.get("showWaveform")) is not None:
        playback["waveform"] = value.mapped("playback.waveform").flag()


def _always_shuffled(page: SourceValue, *ignored: str) -> None:
    """Say of keys that the tool itself ignores on this kind of page that nothing follows from them."""
    for key in ignored:
        if (value := page.get(key)) is not None:
            value.mapped("nothing: the tool ignores it on such a page")


# Kinds of pages


def read_mushra(reader: PageReader, page: SourceValue) -> None:
    """Read a page with a slider for each version of a content."""
    study = _study(reader, "mushra")
    _ask(study, page)
    trial_id, content = _identity(reader, page, "mushra")
    names = {REFERENCE: _reference(reader, study, page, content)}
    for name, (condition, path) in _stimuli(reader, page).items():
        names[name] = study.add(ImportedStimulus(content, condition, reader.source.find_stimulus(path), path))
    anchors = study.keys["options"].setdefault("anchors", [])
    for name, key in _FLAGS.items():
        value = page.get(key)
        if value is not None and value.mapped("options.anchors").flag():
            names[name] = f"{ANCHORS[name]}/{content}"
            if ANCHORS[name] not in anchors:
                anchors.append(ANCHORS[name])
                why = "anchors of the tool are 2.2 ms early; ours are made anew from the reference"
                reader.source.provenance.assume("options.anchors", ANCHORS[name], why)
    if (value := page.get("strict")) is not None and not value.mapped("options.strict").flag(True):
        study.keys["options"]["strict"] = False
    _sound_keys(study, page)
    if (value := page.get("randomize")) is not None:
        if value.flag(True):
            value.mapped("order of stimuli, which is balanced in our plan")
        else:
            value.assumed("balanced order", "stimuli are always shown in another order to each person")
    if (value := page.get("switchBack")) is not None:
        value.unsupported("switching keeps the position here")
    if (value := page.get("showConditionNames")) is not None:
        if value.flag():
            value.unsupported("names of conditions are never shown")
        else:
            value.mapped("nothing: names of conditions are never shown")
    study.pages.append(RatingPage(trial_id, dict.fromkeys(names, content), names))


def read_bs1116(reader: PageReader, page: SourceValue) -> None:
    """Read a page that grades each version beside the hidden reference: one trial for each version."""
    study = _study(reader, "bs1116")
    _ask(study, page)
    trial_id, content = _identity(reader, page, "bs1116")
    names = {REFERENCE: _reference(reader, study, page, content)}
    for name, (condition, path) in _stimuli(reader, page).items():
        names[name] = study.add(ImportedStimulus(content, condition, reader.source.find_stimulus(path), path))
    _sound_keys(study, page)
    _always_shuffled(page, "randomize", "createAnchor35", "createAnchor70")
    study.pages.append(RatingPage(trial_id, dict.fromkeys(names, content), names))


def read_pairs(reader: PageReader, page: SourceValue) -> None:
    """Read a page on which the reference has to be found among two: it has a right answer, and is no preference.

    Two conditions take part: the reference, and all versions, whose names become parts of contents and a factor.
    """
    study = _study(reader, "paired_comparison")
    _ask(study, page)
    unforced = page.get("unforced")
    may_skip = unforced is not None and unforced.mapped("options.unsure").data is not None
    # People may be unsure as soon as one page lets them.
    study.keys["options"]["unsure"] = may_skip or (bool(study.pages) and study.keys["options"]["unsure"])
    trial_id, content = _identity(reader, page, "paired_comparison")
    path = page.get("reference")
    reference = path.mapped("reference").text().strip() if path is not None else ""
    if not reference:
        (path or page).broken("has no reference", "imported as a page whose reference was not found")
    stimuli = _stimuli(reader, page)
    contents, names = {}, {}
    for name, (version, named) in stimuli.items():
        own = content if len(stimuli) == 1 else f"{content} {version}"
        cells = {"version": version}
        for condition, file in ((REFERENCE, reference), ("version", named)):
            one = ImportedStimulus(own, condition, reader.source.find_stimulus(file), file or REFERENCE, "test", cells)
            names[name if condition == "version" else f"{name}:{REFERENCE}"] = study.add(one)
        contents[name] = own
    if len(stimuli) > 1:
        why = "such a trial has two conditions; the versions are the factor `version`"
        reader.source.provenance.assume("conditions", "reference and version", why)
    _sound_keys(study, page)
    _always_shuffled(page, "randomize")
    study.pages.append(RatingPage(trial_id, contents, names))


def read_survey(reader: PageReader, page: SourceValue) -> None:
    """Read a page with a row of answers for each stimulus: one trial for each stimulus."""
    kind_value = page.get("type")
    kind = kind_value.text() if kind_value is not None else ""
    scales = _scales(page)
    watch = _watched(page)
    keys = {
        "method": "likert", "questions": _scale_questions(scales), "playback": {},
        "options": {"shuffle": False, "columns": "low-first"},
    }  # fmt: skip
    study = reader.methods.setdefault((kind, (*scales, watch)), MethodPages(kind, keys))
    _ask(study, page)
    trial_id, content = _identity(reader, page, kind)
    names = {}
    for name, (condition, path) in _stimuli(reader, page).items():
        names[name] = study.add(ImportedStimulus(content, condition, reader.source.find_stimulus(path), path))
    _sound_keys(study, page, watch)
    _always_shuffled(page, "randomize")
    if kind == "likert_multi_stimulus":
        why = "stimuli of one page are rated one after the other"
        reader.source.provenance.assume("design", "a page for each stimulus", why)
    if (most := page.get("maxStimuli")) is not None and (number := most.number()) is not None and number >= 1:
        most.mapped("design.trials")
        study.keys["most"] = study.keys.get("most", 0) + int(number)
    else:
        study.keys["most"] = study.keys.get("most", 0) + len(names)
    answers = tuple({value: place for place, (value, _) in enumerate(scale, 1)} for scale in scales)
    study.pages.append(RatingPage(trial_id, dict.fromkeys(names, content), names, answers))


_Scale = tuple[tuple[str, str], ...]
"""Value and words of each answer, in order."""


def _scales(page: SourceValue) -> tuple[_Scale, ...]:
    """Return the scales of a page: a list of answers, or a list of such lists."""
    written = page.get("response")
    answers = list(written or ())
    groups: Sequence[Sequence[SourceValue]] = (
        [list(one) for one in answers] if answers and answers[0].is_list else [answers]
    )
    found = []
    for group in groups:
        scale = tuple(_answer(one) for one in group)
        if len(scale) < 2:
            (written or page).broken("has fewer than two answers", "a scale of two is assumed")
            scale = (("1", "1"), ("2", "2"))
        found.append(scale)
    return tuple(found)


def _answer(option: SourceValue) -> tuple[str, str]:
    value, label = option.get("value"), option.get("label")
    text = value.mapped("scale").text().strip() if value is not None else ""
    words = page_text(label.mapped("scale").text()).text if label is not None else ""
    for key, picture in option.items():
        if key.startswith("img"):
            picture.unsupported("answers have words, and no pictures")
    return text, words or text or "?"


def _scale_questions(scales: tuple[_Scale, ...]) -> list[dict[str, Any]]:
    made = []
    for number, scale in enumerate(scales, 1):
        labels = {place: label for place, (_, label) in enumerate(scale, 1)}
        look = {"min": 1, "max": len(scale), "labels": labels, "look": "radio"}
        identity = QUALITY if len(scales) == 1 else f"rating{number}"
        made.append(_question("How do you rate it?", look, identity))
    return made


def _watched(page: SourceValue) -> str:
    watch = "none"
    if (must := page.get("mustPlayback")) is not None:
        watch = {"ended": "whole", "processUpdate": "start"}.get(must.mapped("playback.watch").text(), "none")
    if (must := page.get("mustRate")) is not None:
        if must.flag():
            must.mapped("every question has to be answered")
        else:
            must.assumed("every question has to be answered", "so it is here")
    return watch


RATING_PAGES: Mapping[str, Callable[[PageReader, SourceValue], None]] = {
    "mushra": read_mushra,
    "bs1116": read_bs1116,
    "paired_comparison": read_pairs,
    "likert_single_stimulus": read_survey,
    "likert_multi_stimulus": read_survey,
}


def kinds_of(studies: Sequence[MethodPages]) -> str:
    """Return of which kinds the pages of some studies are, in words."""
    return join_names(list(dict.fromkeys(one.kind for one in studies)))
