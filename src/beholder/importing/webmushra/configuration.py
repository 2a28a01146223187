"""A configuration of webMUSHRA: its YAML as its own parser reads it, and its pages of words."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from beholder.errors import Problem, UserError
from beholder.formats import listed
from beholder.importing.contract import ImportOptions
from beholder.importing.html_text import page_text
from beholder.importing.questionnaire import Questionnaire, read_questionnaire
from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import distinct, slug
from beholder.importing.webmushra.rating_pages import RATING_PAGES, MethodPages

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


@dataclass
class Configuration:
    """What a test says, as far as it is the same for all of its methods."""

    test: str
    keys: dict[str, Any]
    questionnaire: Questionnaire
    studies: list[MethodPages] = field(default_factory=list)
    files: dict[str, Path] = field(default_factory=dict)
    """Files beside study.yaml, by their names there."""
    is_known: bool = True

    @classmethod
    def unknown(cls) -> Configuration:
        """Return the configuration of results that have none beside them."""
        return cls("", {"name": "webmushra", "title": "Imported test"}, Questionnaire.unknown(), is_known=False)


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
    language = root.get("language")
    if language is not None and language.text() in ("en", "de", "fr", "es"):
        keys["language"] = language.mapped("language").text()
    for key, why in _NOT_NEEDED.items():
        if (value := root.get(key)) is not None:
            value.mapped(f"nothing: {why}")
    reader = PageReader(source, keys)
    pages = root.get("pages")
    if pages is None or not pages.is_list:
        raise UserError(Problem(root.where, "has no list of pages", "pages: a list", "Give the file of a test."))
    reader.read_list(pages, is_top=True)
    if reader.problems and not options.partial:
        raise UserError(reader.problems)
    if not reader.methods:
        raise UserError(Problem(root.where, "has no page on which anything is rated", listed(list(RATING_PAGES)), ""))
    return reader.configuration(test)


_NOT_NEEDED = {
    "showButtonPreviousPage": "answers stay as they were given; nobody goes back",
    "stopOnErrors": "what goes wrong is recorded with the answer",
    "bufferSize": "browsers play by themselves",
    "remoteService": "answers go to the server of the study",
}


def _text(root: SourceValue, key: str, to: str) -> str:
    value = root.get(key)
    return value.mapped(to).text().strip() if value is not None else ""


# Pages


class PageReader:
    """Reads pages one after the other, and collects what they say together."""

    def __init__(self, source: SourceFolder, keys: dict[str, Any]) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.methods: dict[tuple[str, tuple[object, ...]], MethodPages] = {}
        """By the kind of pages and their scales."""
        self.contents: dict[str, set[str]] = {}
        """The contents of each kind of pages."""
        self._keys = keys
        self._questionnaire = Questionnaire.unknown()
        self._instructions: list[Any] = []
        self._texts: dict[str, Any] = {}
        self._files: dict[str, Path] = {}
        self._stems: set[str] = set()
        self._has_volume = False

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
        if kind_value is not None and kind in _PLAIN_PAGES:
            kind_value.mapped("step of the session")
            _PLAIN_PAGES[kind](self, page)
        elif kind_value is not None and kind in RATING_PAGES:
            kind_value.mapped("method")
            RATING_PAGES[kind](self, page)
        else:
            about = _FOREIGN.get(kind.lower(), "not known to webMUSHRA itself") if kind else "it has no type"
            page.unsupported(f"pages of type {kind or 'nothing'} are not supported: {about}")
            what = f"is a page of type {kind}, {about}" if kind else "is a page without a type"
            fix = "Import all the others with --partial; this one is kept under source in study.yaml."
            self.problems.append(Problem(page.where, what, listed([*RATING_PAGES, *_PLAIN_PAGES]), fix))

    def read_generic(self, page: SourceValue) -> None:
        """Read a page of words; sounds on it become examples."""
        words, media = self._words(page, "texts.instructions")
        examples = [one for named in media if (one := self._example(named)) is not None]
        if words or examples:
            text = words or "Listen to these."
            self._instructions.append({"text": text, "examples": examples} if examples else text)

    def read_consent(self, page: SourceValue) -> None:
        """Read a page on which people agree."""
        self._texts["consent"], _ = self._words(page, "texts.consent")
        if (must := page.get("mustConsent")) is not None:
            if must.flag():
                must.mapped("agreeing starts the session")
            else:
                must.assumed("agreeing starts the session", "here nobody starts without agreeing")

    def read_volume(self, page: SourceValue) -> None:
        """Read the page that sets the volume."""
        self._words(page, "the page that sets the volume")
        self._has_volume = True
        for key in ("stimulus", "defaultVolume"):
            if (value := page.get(key)) is not None:
                value.assumed("our test sound", "the page that sets the volume plays a sound of ours")

    def read_finish(self, page: SourceValue) -> None:
        """Read the last page with its questionnaire."""
        self._texts["thanks"], _ = self._words(page, "texts.thanks")
        for key, why in (
            ("popupContent", "nothing is shown in a pop-up"), ("showResults", "our last page shows no results"),
            ("showErrors", "our last page shows no errors"),
        ):  # fmt: skip
            if (value := page.get(key)) is not None:
                value.unsupported(why)
        if (value := page.get("writeResults")) is not None:
            value.mapped("nothing: it was never read")
        self._questionnaire = read_questionnaire(page.get("questionnaire"))

    def _words(self, page: SourceValue, to: str) -> tuple[str, tuple[str, ...]]:
        """Return the heading and the words of a page as Markdown, and the media on it."""
        heading, content = "", ""
        media: tuple[str, ...] = ()
        for key, value in page.items():
            if key == "name":
                heading = value.mapped(to).text().strip()
            elif key == "content":
                read = page_text(value.mapped(to).text())
                content, media = read.text, read.media
                if read.dropped:
                    why = f"the page has {listed(sorted(set(read.dropped)), 'and')}, which is left out"
                    self.source.provenance.assume(to, "the words of the page alone", why)
            elif key == "id":
                value.mapped("nothing: pages of words have no names here")
        return "\n\n".join(part for part in (f"## {heading}" if heading else "", content) if part), media

    def _example(self, named: str) -> dict[str, str] | None:
        """Return a sound on a page of words as an example; None where it was not found, which is told."""
        found = self.source.find_stimulus(named)
        if found is None:
            why = f"{named}, which a page of words plays, was not found"
            self.source.provenance.assume("texts.instructions", "the words of the page alone", why)
            return None
        known = {path: name for name, path in self._files.items()}
        name = known.get(found) or f"texts/{distinct(slug(found.stem, 'example'), self._stems)}{found.suffix.lower()}"
        self._files[name] = found
        return {"file": name, "caption": found.stem}

    def configuration(self, test: str) -> Configuration:
        """Return what all pages say together."""
        texts: dict[str, Any] = {name: text for name, text in self._texts.items() if text}
        if self._instructions:
            is_one = len(self._instructions) == 1 and isinstance(self._instructions[0], str)
            texts["instructions"] = self._instructions[0] if is_one else self._instructions
        keys = {**self._keys, **({"texts": texts} if texts else {})}
        if self._questionnaire.items:
            keys["after"] = [item.keys for item in self._questionnaire.items]
        keys["playback"] = {"volume": True} if self._has_volume else {}
        return Configuration(test, keys, self._questionnaire, list(self.methods.values()), self._files)


_PLAIN_PAGES: Mapping[str, Callable[[PageReader, SourceValue], None]] = {
    "generic": PageReader.read_generic,
    "consent": PageReader.read_consent,
    "volume": PageReader.read_volume,
    "finish": PageReader.read_finish,
}
