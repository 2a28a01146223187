"""The configurations of HEMVIP, one for each participant: pages of videos, and the studies that they make.

The order of stimuli in a file is the order in which that person saw them: the files are the counterbalancing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from html import unescape
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beholder.errors import Problem, UserError
from beholder.formats import first_names, listed
from beholder.importing.contract import ImportedStimulus, ImportOptions
from beholder.importing.html_text import page_text
from beholder.importing.questionnaire import Questionnaire, read_questionnaire
from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import slug, stimulus_name

QUALITY = "quality"
"""The id of the question: a page has one."""
ATTENTION = "attention"
SLIDERS, PAIRS = "video", "videopc"
"""What HEMVIP calls its rating pages."""
_BANDS: Mapping[str, float] = {"Excellent": 90, "Good": 70, "Fair": 50, "Poor": 30, "Bad": 10}
_BAND = 12
"""Bands of 20 are widened by 3 to either side, without their bounds."""
_CHOICES: Mapping[str, float] = {
    "Left_is_clearly_better": 2, "Left_is_slightly_better": 1, "They_are_equal": 0, "Right_is_slightly_better": -1,
    "Right_is_clearly_better": -2,
}  # fmt: skip
BROKEN = 99
"""The value of both stimuli of a pair that were reported as broken."""


class Marker(NamedTuple):
    """What a stimulus asks for: an answer, None where it is unclear, and how far another one may be from it."""

    target: float | None
    tolerance: float


@dataclass(frozen=True)
class VideoPage:
    """A page on which something is rated."""

    kind: str
    page_id: str
    content: str
    stimuli: Mapping[str, str]
    """By what sessions call each stimulus, its id in the study, in shown order."""
    markers: Mapping[str, Marker] = field(default_factory=dict)
    """Of stimuli that ask for an answer, by id."""


@dataclass
class PageFiles:
    """What all configurations say together."""

    keys: dict[str, Any]
    questionnaire: Questionnaire
    pages: dict[str, list[VideoPage]] = field(default_factory=dict)
    """By the name of each configuration."""
    stimuli: dict[str, list[ImportedStimulus]] = field(default_factory=dict)
    """By the kind of the pages that show them."""
    questions: dict[str, list[str]] = field(default_factory=dict)

    def kinds(self) -> list[str]:
        """Return which kinds of pages there are."""
        return [kind for kind in (SLIDERS, PAIRS) if self.stimuli.get(kind)]


def marker_of(condition: str, target: float | None, kind: str) -> Marker | None:
    """Return what a stimulus asks for, by the markers of all branches; None where it asks for nothing."""
    if condition == "at":
        return Marker(target, 3)
    if (band := re.search(r"_att_(.+)$", condition)) is not None:
        known = _CHOICES if kind == PAIRS else _BANDS
        return Marker(known.get(band[1]), 0 if kind == PAIRS else _BAND)
    if "attn" in condition:
        digits = re.search(r"attn_check_(\d+)", condition)
        return Marker(float(digits[1]) if digits else None, 3)
    return None


def read_page_files(source: SourceFolder, names: Sequence[str], options: ImportOptions) -> PageFiles:
    """Return all configurations; raise UserError where pages are of a kind that nothing of ours asks like."""
    files = PageFiles({"name": "hemvip", "title": "Imported test"}, Questionnaire.unknown())
    reader = _PageReader(source, files)
    for number, name in enumerate(names):
        root = source.json(name)
        reader.read(root, name, is_first=number == 0)
        root.rest("not known to this importer")
    if reader.problems and not options.partial:
        raise UserError(reader.problems[:20])
    if reader.instructions:
        files.keys["texts"] = {"instructions": reader.instructions}
    if files.questionnaire.items:
        files.keys["after"] = [item.keys for item in files.questionnaire.items]
    for kind, questions in files.questions.items():
        if len(set(questions)) > 1:
            source.provenance.warn(
                f"Pages of type {kind} ask in other words: {first_names(sorted(set(questions)), 5)}."
            )
    return files


class _PageReader:
    """Reads configurations, and names their stimuli the same in all of them."""

    def __init__(self, source: SourceFolder, files: PageFiles) -> None:
        self.source, self.files = source, files
        self.problems: list[Problem] = []
        self.instructions: list[str] = []
        self._contents: dict[frozenset[str], str] = {}
        self._taken: dict[tuple[str, str, str], str] = {}
        self._ids: dict[tuple[str, str], str] = {}

    def read(self, root: SourceValue, name: str, *, is_first: bool) -> None:
        """Read one configuration."""
        title = root.get("testname")
        if title is not None and title.mapped("title").text().strip() and is_first:
            self.files.keys |= {"title": title.text().strip(), "name": slug(title.text(), "hemvip")}
        language = root.get("language")
        if language is not None and language.mapped("language").text() in ("en", "de", "fr", "es"):
            self.files.keys["language"] = language.text()
        for key in ("testId", "userId", "stopOnErrors", "showButtonPreviousPage", "remoteService", "remoteFailService"):
            if (value := root.get(key)) is not None:
                value.mapped("nothing: the server overwrites or needs it")
        pages = root.get("pages")
        found: list[VideoPage] = []
        self.files.pages[name] = found
        self._read_list(pages, found, is_first=is_first)
        if not found:
            root.broken("has no page on which anything is rated", "left out")

    def _read_list(self, pages: SourceValue | None, found: list[VideoPage], *, is_first: bool) -> None:
        for page in pages if pages is not None else ():
            if page.is_list:
                self._read_list(page, found, is_first=is_first)
            elif not page.is_map:
                page.mapped("order of trials, which is balanced in our plan")
            else:
                self._read_page(page, found, is_first=is_first)

    def _read_page(self, page: SourceValue, found: list[VideoPage], *, is_first: bool) -> None:
        kind_value = page.get("type")
        kind = kind_value.text() if kind_value is not None else ""
        if kind in (SLIDERS, PAIRS):
            page.mapped("trials and stimuli")
            one = self._video_page(page, kind)
            if one is not None:
                found.append(one)
        elif kind == "generic":
            page.mapped("texts.instructions")
            if is_first:
                heading, content = (_text(page, key) for key in ("name", "content"))
                words = page_text(content).text
                self.instructions.append("\n\n".join(one for one in (f"## {heading}" if heading else "", words) if one))
        elif kind == "finish":
            page.mapped("after and texts")
            if is_first:
                self.files.questionnaire = read_questionnaire(page.get("questionnaire"))
        elif kind == "audiotest":
            page.assumed("qualification.headphones", "its right answers are in a script; ours is a test of its own")
            self.files.keys["qualification"] = {"headphones": True}
        else:
            page.unsupported(f"pages of type {kind or 'nothing'} are not supported")
            allowed = listed([SLIDERS, PAIRS, "generic", "audiotest", "finish"])
            fix = "Import all the others with --partial."
            self.problems.append(Problem(page.where, f"is a page of type {kind or 'nothing'}", allowed, fix))

    def _video_page(self, page: SourceValue, kind: str) -> VideoPage | None:
        shown: list[tuple[str, str, float | None]] = []
        for one in page.get("stimuli") or ():
            parts = list(one)
            if len(parts) < 2:
                one.broken("has no condition or no address", "left out")
                continue
            address = parts[1].get("url") if parts[1].is_map else parts[1]
            url = unescape(address.text().strip()) if address is not None else ""
            shown.append((parts[0].text().strip(), url, parts[2].number() if len(parts) > 2 else None))
        if len(shown) < 2:
            page.broken("has fewer than two stimuli", "left out")
            return None
        question = page_text(_text(page, "question") or _text(page, "content")).text
        self.files.questions.setdefault(kind, []).append(" ".join(question.split()))
        content = self._content(page, [(name, url) for name, url, _ in shown])
        stimuli: dict[str, str] = {}
        markers: dict[str, Marker] = {}
        for name, url, target in shown:
            marker = marker_of(name, target, kind)
            if marker is not None and marker.target is None:
                self.source.provenance.warn(
                    f"{page.where}: {name} asks for an answer, and nothing says which: not judged."
                )
            label = name if name not in stimuli else f"{name}#{len(stimuli)}"
            stimuli[label] = self._stimulus(kind, content, name, url, marker)
            if marker is not None:
                markers[stimuli[label]] = marker
        if len(set(stimuli.values())) < len(stimuli):
            page.broken("shows a stimulus twice", "left out")
            return None
        return VideoPage(kind, _text(page, "id"), content, stimuli, markers)

    def _content(self, page: SourceValue, shown: Sequence[tuple[str, str]]) -> str:
        """Return the content of a page: what the names of its files share, or else the id of the page."""
        plain = [(name, url) for name, url in shown if marker_of(name, None, SLIDERS) is None] or list(shown)
        stems = {_stem(url) for _, url in plain}
        bare = {_stem(url).replace(name, "").strip("_-. ") for name, url in plain}
        first, last = min(stems), max(stems)
        shared = first[
            : next((n for n, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), len(first))
        ].strip("_-. ")
        folders = {PurePosixPath(url.partition("?")[0]).parent.name for _, url in plain}
        for known in (stems, bare, folders):
            if len(known) == 1 and (found := next(iter(known))):
                return stimulus_name(found)
        return stimulus_name(shared if len(shared) > 2 else _text(page, "id") or "page")

    def _stimulus(self, kind: str, content: str, name: str, url: str, marker: Marker | None) -> str:
        """Add a stimulus, each address once; return its id."""
        role: Any = "test" if marker is None else ATTENTION
        condition = stimulus_name(name) if marker is None else stimulus_name(f"{ATTENTION} {_stem(url)}")
        asks = "" if marker is None else f"{marker.target}"
        known = self._ids.get((kind, f"{content}\n{condition}\n{url}\n{asks}"))
        if known is not None:
            return known
        own, original, number = content, condition, 1
        while self._taken.setdefault((kind, own, condition), f"{url}\n{asks}") != f"{url}\n{asks}":
            number += 1
            condition = f"{condition}-{number}" if marker is not None else condition
            own = own if marker is not None else f"{content}-{number}"
        cells = {}
        if marker is not None and marker.target is not None and kind == SLIDERS:
            cells = {"expected": f"{marker.target:g}", "tolerance": f"{marker.tolerance:g}"}
        named = url.partition("?")[0]
        one = ImportedStimulus(own, condition, self.source.find_stimulus(url), _with_suffix(named), role, cells)
        self._ids[kind, f"{content}\n{original}\n{url}\n{asks}"] = one.id
        # Without an answer that is known it is none of our checks, and is left out.
        if role == "test" or cells:
            self.files.stimuli.setdefault(kind, []).append(one)
        return one.id


def _text(page: SourceValue, key: str) -> str:
    value = page.get(key)
    return value.text().strip() if value is not None else ""


def _stem(url: str) -> str:
    return PurePosixPath(url.partition("?")[0]).stem


def _with_suffix(name: str) -> str:
    return name if PurePosixPath(name).suffix.lower() in (".mp4", ".webm", ".mov", ".m4v", ".ogv") else f"{name}.mp4"
