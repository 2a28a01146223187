"""A configuration of webMUSHRA: its YAML as its own parser reads it, its pages, and the studies that they make."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beholder.errors import Problem, UserError
from beholder.formats import listed
from beholder.importing.contract import ImportedStimulus, ImportOptions
from beholder.importing.html_text import page_text
from beholder.importing.provenance import Provenance
from beholder.importing.questionnaire import Questionnaire, read_questionnaire
from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import distinct, slug

REFERENCE = "reference"
ANCHORS: Mapping[str, str] = {"anchor35": "lowpass-3500", "anchor70": "lowpass-7000"}
"""How results call its anchors, and the recipes by which we make them."""
_FLAGS: Mapping[str, str] = {"anchor35": "createAnchor35", "anchor70": "createAnchor70"}
RESERVED = (REFERENCE, *ANCHORS)
_FOREIGN = {
    "ranking": "of a fork: stimuli are put in order",
    "preference_test": "of a fork: two stimuli are compared",
    "headphones_screen": "of a fork: a check of headphones",
    "multi_metric_mushra": "of a fork: several sliders for each stimulus",
    "ole_cata": "of a fork: words are ticked",
    "likert_single_stimulus_video": "of a fork: videos",
    "spatial": "sounds are placed in a room",
}
"""Kinds of pages that are known, and what they are: nothing of ours asks the same."""


@dataclass(frozen=True)
class RatingPage:
    """A page on which something is rated: its content in the study, and its stimuli as results call them."""

    trial_id: str
    """Its id, by which results call it."""
    content: str
    stimuli: Mapping[str, str]
    """The id of each stimulus in the study."""


@dataclass
class MethodPages:
    """All pages that become one study."""

    method: str
    keys: dict[str, Any]
    pages: list[RatingPage] = field(default_factory=list)
    stimuli: list[ImportedStimulus] = field(default_factory=list)


@dataclass
class Configuration:
    """What a test says, as far as it is the same for all of its methods."""

    test: str
    keys: dict[str, Any]
    questionnaire: Questionnaire
    methods: dict[str, MethodPages] = field(default_factory=dict)

    @classmethod
    def unknown(cls) -> Configuration:
        """Return the configuration of results that have none beside them."""
        return cls("", {}, Questionnaire.unknown())


# The YAML as its own parser reads it


_LOOSE = re.compile(r"""^(?P<key>\s*(?:-\s+)*[\w.-]+\s*:)(?P<gap>\s+)(?P<value>[^\s"'\[{|>#&*!%@`].*?)\s*$""")


def quote_loose_values(text: str) -> str:
    """Return the text with quotes around plain values that hold `: `, or end with a colon, as its parser allows."""

    def quoted(line: str) -> str:
        match = _LOOSE.match(line)
        if match is None or not (": " in match["value"] or match["value"].endswith(":")):
            return line
        value = match["value"].replace("'", "''")
        return f"{match['key']}{match['gap']}'{value}'"

    return "\n".join(quoted(line) for line in text.split("\n"))


def read_configuration(source: SourceFolder, name: str, options: ImportOptions) -> Configuration:
    """Return a configuration; raise UserError where it has pages that nothing of ours asks like, unless `partial`."""
    root = source.yaml(name, quote_loose_values)
    test = _text(root, "testId", "study name")
    title = _text(root, "testname", "title") or test or "Imported test"
    keys: dict[str, Any] = {"name": slug(test or title, "webmushra"), "title": title}
    if language := _text(root, "language", "language"):
        keys["language"] = language if language in ("en", "de", "fr", "es") else "en"
    for key, why in _NOT_NEEDED.items():
        if (value := root.get(key)) is not None:
            value.mapped(f"nothing: {why}")
    reader = _PageReader(source, keys)
    pages = root.get("pages")
    if pages is None or not pages.is_list:
        raise UserError(Problem(root.where, "has no list of pages", "pages: a list", "Give the file of a test."))
    reader.read_list(pages, is_top=True)
    if reader.problems and not options.partial:
        raise UserError(reader.problems)
    if not reader.methods and not reader.problems:
        raise UserError(Problem(root.where, "has no page on which anything is rated", listed(list(RATING_PAGES)), ""))
    return Configuration(test, reader.finished(), reader.questionnaire, reader.methods)


_NOT_NEEDED = {
    "showButtonPreviousPage": "answers stay as they were given; nobody goes back",
    "stopOnErrors": "what goes wrong is recorded with the answer",
    "bufferSize": "browsers play by themselves",
    "remoteService": "answers go to the server of the study",
}


def _text(root: SourceValue, key: str, to: str) -> str:
    value = root.get(key)
    return value.mapped(to).text().strip() if value is not None else ""


class _PageReader:
    """Reads pages one after the other."""

    def __init__(self, source: SourceFolder, keys: dict[str, Any]) -> None:
        self.source, self.keys = source, keys
        self.problems: list[Problem] = []
        self.methods: dict[str, MethodPages] = {}
        self.questionnaire = Questionnaire.unknown()
        self._instructions: list[str] = []
        self._texts: dict[str, str] = {}
        self._contents: dict[str, set[str]] = {}
        self._volume = False

    @property
    def provenance(self) -> Provenance:
        return self.source.provenance

    def read_list(self, pages: SourceValue, *, is_top: bool = False) -> None:
        """Read a list of pages; one that begins with `random` was shuffled at this level."""
        for number, page in enumerate(pages):
            if page.is_list:
                self.read_list(page)
            elif not page.is_map and number == 0 and page.text() == "random":
                if is_top:
                    done = "the pages are read as if it were not there"
                    page.broken("random as the first of all pages stops the tool with an error", done)
                else:
                    page.mapped("order of trials, which is balanced in our plan")
            elif page.is_map:
                self._read_page(page)
            else:
                page.broken("is no page", "left out")

    def _read_page(self, page: SourceValue) -> None:
        kind_value = page.get("type")
        kind = kind_value.text() if kind_value is not None else ""
        if kind in _PLAIN_PAGES:
            assert kind_value is not None
            kind_value.mapped("step of the session")
            _PLAIN_PAGES[kind](self, page)
        elif kind in RATING_PAGES:
            assert kind_value is not None
            kind_value.mapped("method")
            RATING_PAGES[kind](self, page)
        else:
            about = _FOREIGN.get(kind.lower(), "not known to webMUSHRA itself") if kind else "it has no type"
            page.unsupported(f"pages of type {kind or 'nothing'} are not supported: {about}")
            allowed = listed([*RATING_PAGES, *_PLAIN_PAGES])
            fix = "Import all the others with --partial; this one is kept under source in study.yaml."
            what = f"is a page of type {kind}, {about}" if kind else "is a page without a type"
            self.problems.append(Problem(page.where, what, allowed, fix))

    # Pages on which nothing is rated

    def read_generic(self, page: SourceValue) -> None:
        self._instructions.append(self._words(page, "texts.instructions"))

    def read_consent(self, page: SourceValue) -> None:
        self._texts["consent"] = self._words(page, "texts.consent")
        if (must := page.get("mustConsent")) is not None:
            if must.flag():
                must.mapped("agreeing starts the session")
            else:
                must.assumed("agreeing starts the session", "here nobody starts without agreeing")

    def read_volume(self, page: SourceValue) -> None:
        self._words(page, "the page that sets the volume")
        self._volume = True
        for key, value in page.items():
            if key in ("stimulus", "defaultVolume"):
                value.assumed("our test sound", "the page that sets the volume plays a sound of ours")

    def read_finish(self, page: SourceValue) -> None:
        self._texts["thanks"] = self._words(page, "texts.thanks")
        for key, why in (
            ("popupContent", "shown in a pop-up"), ("showResults", "our last page shows no results"),
            ("showErrors", "our last page shows no errors"),
        ):  # fmt: skip
            if (value := page.get(key)) is not None:
                value.unsupported(why)
        if (value := page.get("writeResults")) is not None:
            value.mapped("nothing: it was never read")
        self.questionnaire = read_questionnaire(page.get("questionnaire"))

    def _words(self, page: SourceValue, to: str) -> str:
        """Return the heading and the words of a page as Markdown."""
        heading = content = ""
        for key, value in page.items():
            if key == "name":
                heading = value.mapped(to).text().strip()
            elif key == "content":
                read = page_text(value.mapped(to).text())
                content = read.text
                if read.media:
                    why = f"the page plays {listed(read.media, 'and')}"
                    self.provenance.assume(to, "the words of the page alone", why)
                if read.dropped:
                    why = f"the page has {listed(sorted(set(read.dropped)), 'and')}, which is left out"
                    self.provenance.assume(to, "the words of the page alone", why)
            elif key == "id":
                value.mapped("nothing: pages of ours have no names")
        return "\n\n".join(part for part in (f"## {heading}" if heading else "", content) if part)

    # Pages on which something is rated

    def read_mushra(self, page: SourceValue) -> None:
        study = self._method("mushra")
        trial_id, content = self._content(page, "mushra")
        names = {REFERENCE: self._reference(study, page, content)}
        names |= self._stimuli(study, page, content)
        made = [name for name in ANCHORS if self._flag(page, _FLAGS[name], "options.anchors", default=False)]
        anchors = study.keys.setdefault("options", {}).setdefault("anchors", [])
        anchors += [ANCHORS[name] for name in made if ANCHORS[name] not in anchors]
        names |= {name: f"{ANCHORS[name]}/{content}" for name in made}
        if made:
            why = "the anchors of the tool are 2.2 ms early; ours are made anew from the reference"
            self.provenance.assume("options.anchors", ", ".join(ANCHORS[name] for name in made), why)
        if not self._flag(page, "strict", "options.strict", default=True):
            study.keys["options"]["strict"] = False
        self._sound_keys(study, page)
        self._shuffled(page, "randomize")
        if (value := page.get("switchBack")) is not None:
            value.unsupported("switching keeps the position here")
        if (value := page.get("showConditionNames")) is not None:
            if value.flag():
                value.unsupported("names of conditions are never shown")
            else:
                value.mapped("nothing: names of conditions are never shown")
        study.pages.append(RatingPage(trial_id, content, names))

    def _method(self, method: str) -> MethodPages:
        return self.methods.setdefault(method, MethodPages(method, {"method": method, "options": {}}))

    def _content(self, page: SourceValue, method: str) -> tuple[str, str]:
        """Return the id of a page, and its content in the study: of the same id twice, with a number."""
        identity = page.get("id")
        name = identity.mapped("content").text().strip() if identity is not None else ""
        if (heading := page.get("name")) is not None:
            heading.unsupported("a page has no heading of its own; all have the title of the study")
        if (words := page.get("content")) is not None:
            words.assumed("the question of the study", "a page has no text of its own; all have the same question")
        used = self._contents.setdefault(method, set())
        return name, distinct(name or "trial", used)

    def _reference(self, study: MethodPages, page: SourceValue, content: str) -> str:
        value = page.get("reference")
        path = value.mapped("reference").text().strip() if value is not None else ""
        if value is None or not path:
            (value or page).broken("has no reference", "the page is imported without its sound")
        one = ImportedStimulus(content, REFERENCE, self.source.find_stimulus(path), path, "reference")
        study.stimuli.append(one)
        return one.id

    def _stimuli(self, study: MethodPages, page: SourceValue, content: str) -> dict[str, str]:
        """Return the id of each stimulus of a page by its name there."""
        names: dict[str, str] = {}
        stimuli = page.get("stimuli")
        for name, value in stimuli.items() if stimuli is not None else ():
            path = value.text().strip()
            if name.strip().lower() in RESERVED:
                value.broken(f"is called {name}, which results use for something else", "left out")
                continue
            value.mapped("stimulus")
            one = ImportedStimulus(content, name.strip(), self.source.find_stimulus(path), path)
            study.stimuli.append(one)
            names[name.strip()] = one.id
        if not names:
            (stimuli or page).broken("has no stimuli", "left out")
        return names

    def _sound_keys(self, study: MethodPages, page: SourceValue) -> None:
        playback = study.keys.setdefault("playback", {"watch": "none"})
        if (value := page.get("enableLooping")) is not None:
            playback["loop"] = "region" if value.mapped("playback.loop").flag() else "off"
        if (value := page.get("showWaveform")) is not None:
            playback["waveform"] = value.mapped("playback.waveform").flag()

    def _shuffled(self, page: SourceValue, key: str) -> None:
        if (value := page.get(key)) is None:
            return
        if value.flag(True):
            value.mapped("order of stimuli, which is balanced in our plan")
        else:
            value.assumed("balanced order", "stimuli are always shown in another order to each person")

    def _flag(self, page: SourceValue, key: str, to: str, *, default: bool) -> bool:
        value = page.get(key)
        return default if value is None else value.mapped(to).flag(default)

    # All pages together

    def finished(self) -> dict[str, Any]:
        """Return the keys that every study of the test has."""
        texts: dict[str, Any] = {name: text for name, text in self._texts.items() if text}
        if pages := [text for text in self._instructions if text]:
            texts["instructions"] = pages[0] if len(pages) == 1 else pages
        keys = {**self.keys, **({"texts": texts} if texts else {})}
        if self.questionnaire.items:
            keys["after"] = [item.keys for item in self.questionnaire.items]
        return {**keys, **({"playback": {"volume": True}} if self._volume else {})}


_Read = Callable[[_PageReader, SourceValue], None]
_PLAIN_PAGES: Mapping[str, _Read] = {
    "generic": _PageReader.read_generic,
    "consent": _PageReader.read_consent,
    "volume": _PageReader.read_volume,
    "finish": _PageReader.read_finish,
}
RATING_PAGES: Mapping[str, _Read] = {"mushra": _PageReader.read_mushra}


def all_stimuli(studies: Sequence[MethodPages]) -> Iterator[ImportedStimulus]:
    """Yield the stimuli of all studies."""
    for one in studies:
        yield from one.stimuli
