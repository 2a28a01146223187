"""The clips of a batch: their roles and right answers, their references, and which content and condition each one is.

The toolkits know addresses alone. What a condition is follows from `condition_pattern`, from the reference of a clip,
from the folder that it is in, or from the CSV of `--stimuli`; else all clips are of one condition, and that is told.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from beholder.errors import Problem, UserError
from beholder.formats import first_names
from beholder.importing.contract import ImportedStimulus
from beholder.importing.source_folder import SourceFolder
from beholder.importing.study_folder import distinct, stimulus_name
from beholder.types import Role

REFERENCE = "reference"
ALL = "all"
"""The condition of clips of which nobody says what was done to them."""
_RANK: Mapping[Role, int] = {"training": 0, "test": 1, "gold": 2, "trap": 3}
_MOST_PATTERN = 500


class ClipPattern(NamedTuple):
    """How the address of a clip says what its condition is."""

    pattern: str
    keys: tuple[str, ...]
    where: str

    def compiled(self) -> re.Pattern[str]:
        """Return the pattern; raise UserError where it is none, or has no such groups."""
        try:
            if len(self.pattern) > _MOST_PATTERN:
                raise re.error(f"longer than {_MOST_PATTERN} characters")
            # Repeated groups in repeated groups can take for ever on a long name.
            if re.search(r"[+*}]\)[+*{]", self.pattern):
                raise re.error("a repeated part within a repeated part")
            found = re.compile(self.pattern)
        except re.error as error:
            what = f"condition_pattern is no pattern: {error}"
            raise UserError(Problem(self.where, what, "a regular expression of Python with named groups")) from None
        missing = [key for key in self.keys if key not in found.groupindex]
        if missing:
            what = f"condition_keys has {', '.join(missing)}, which condition_pattern has not"
            raise UserError(Problem(self.where, what, ", ".join(found.groupindex) or "named groups: (?P<name>…)"))
        return found


@dataclass
class Clips:
    """What is known of the clips of a batch, by their addresses."""

    roles: dict[str, Role] = field(default_factory=dict)
    expected: dict[str, dict[str, float]] = field(default_factory=dict)
    """The right answers, by question; of every question under an empty name."""
    messages: dict[str, str] = field(default_factory=dict)
    references: dict[str, str] = field(default_factory=dict)
    durations: dict[str, int] = field(default_factory=dict)
    """How long each plays, in milliseconds, as far as the page has measured it."""
    ids: dict[str, str] = field(default_factory=dict)
    """The id of each as a stimulus of the study; once they are named."""
    contents: dict[str, str] = field(default_factory=dict)

    def add(self, url: str, role: Role = "test", reference: str = "") -> None:
        """Add a clip. What was a trap or a gold clip somewhere is one everywhere; what is rated is no training."""
        known = self.roles.get(url)
        if url and (known is None or _RANK[role] > _RANK[known]):
            self.roles[url] = role
        if url and reference and url != reference:
            self.references.setdefault(url, reference)

    def expect(self, url: str, value: float, question: str = "") -> None:
        """Say which answer to a clip is right."""
        self.expected.setdefault(url, {})[question] = value

    @property
    def rated(self) -> list[str]:
        """The clips that are there to be rated, without references."""
        references = self.reference_urls
        return [url for url, role in self.roles.items() if role == "test" and url not in references]

    @property
    def reference_urls(self) -> set[str]:
        return {reference for url, reference in self.references.items() if self.roles.get(url) == "test"}

    def named(
        self, source: SourceFolder, pattern: ClipPattern | None, tolerance: float, suffix: str
    ) -> list[ImportedStimulus]:
        """Return all clips as stimuli, having given them ids; `suffix` is that of addresses without one."""
        names = self._names(source, pattern)
        references = self.reference_urls
        made: list[ImportedStimulus] = []
        used: set[tuple[str, str, str]] = set()
        for url in (*sorted(references - set(self.roles)), *self.roles):
            role: Role = REFERENCE if url in references else self.roles[url]  # type: ignore[assignment]
            content, condition = names[url]
            first, number = (content, condition), 1
            while (content, condition, role) in used:
                number += 1
                # Of clips with references the content has to stay.
                content, condition = (
                    (first[0], f"{first[1]}-{number}") if self.references else (f"{first[0]}-{number}", first[1])
                )
            used.add((content, condition, role))
            cells = self._cells(url, role, tolerance)
            file, length = source.find_stimulus(url), self.durations.get(url, 0)
            one = ImportedStimulus(content, condition, file, _told(url, suffix), role, cells, length)
            self.ids[url], self.contents[url] = one.id, content
            made.append(one)
        return made

    def _cells(self, url: str, role: Role, tolerance: float) -> dict[str, str]:
        """Return the columns of the manifest about the right answer."""
        if role not in ("trap", "gold", "training"):
            return {}
        cells = {}
        for question, value in self.expected.get(url, {}).items():
            ending = f"_{question}" if question else ""
            cells[f"expected{ending}"] = f"{value:g}"
            if role != "training":
                cells[f"tolerance{ending}"] = f"{tolerance if role == 'gold' else 0:g}"
        if cells and self.messages.get(url):
            cells["message"] = self.messages[url]
        return cells

    def _names(self, source: SourceFolder, pattern: ClipPattern | None) -> dict[str, tuple[str, str]]:
        """Return the content and the condition of each clip."""
        names: dict[str, tuple[str, str]] = {}
        references = self.reference_urls
        used: set[str] = set()
        for url in sorted(references):
            names[url] = distinct(stimulus_name(_stem(url)), used), REFERENCE
        rated = self.rated
        found = _rated_names(source, rated, pattern)
        for url in rated:
            content, condition = found[url]
            reference = self.references.get(url)
            if reference in names:
                content = names[reference][0]
                condition = condition or _difference(_stem(url), _stem(reference))
            names[url] = content, condition or ALL
        for url, role in self.roles.items():
            if url not in names:
                reference = self.references.get(url, "")
                names[url] = names[reference][0] if reference in names else stimulus_name(_stem(url)), role
        for url in self.roles:
            names[url] = source.names_of(url) or names[url]
        if any(names[url][1] == ALL for url in rated):
            why = "nothing says what was done to which clip: give --stimuli a CSV with source, content and condition"
            source.provenance.assume("conditions", ALL, why)
        return names


def _rated_names(source: SourceFolder, urls: Sequence[str], pattern: ClipPattern | None) -> dict[str, tuple[str, str]]:
    """Return content and condition of each clip that is rated; an empty condition where nothing tells it."""
    if pattern is None:
        return _by_folder(urls)
    matcher = pattern.compiled()
    names, unmatched = {}, []
    for url in urls:
        match = matcher.match(url)
        if match is None:
            unmatched.append(PurePosixPath(_path(url)).name)
            names[url] = stimulus_name(_stem(url)), ""
            continue
        keys = pattern.keys or tuple(match.groupdict())
        condition = " ".join(match[key] or "none" for key in keys)
        others = [value for key, value in match.groupdict().items() if key not in keys and value]
        names[url] = stimulus_name(" ".join(others) or _without(url, match, keys)), stimulus_name(condition, ALL)
    if unmatched:
        what = f"condition_pattern fits {len(urls) - len(unmatched)} of {len(urls)} clips, and not"
        source.provenance.warn(f"{what} {first_names(unmatched, 5)}. The pattern has to fit the whole address.")
    if any(content != stimulus_name(_stem(url)) for url, (content, _) in names.items()):
        why = "the toolkits have no contents: it is what condition_pattern leaves of a name"
        source.provenance.assume("contents", "the name without the condition", why)
    return names


def _by_folder(urls: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return the stem and the folder of each clip, where the same stems are in several folders."""
    folders: dict[str, set[str]] = defaultdict(set)
    for url in urls:
        folders[_stem(url)].add(PurePosixPath(_path(url)).parent.name)
    is_told = any(len(names) > 1 for names in folders.values())
    return {
        url: (stimulus_name(_stem(url)), stimulus_name(PurePosixPath(_path(url)).parent.name, ALL) if is_told else "")
        for url in urls
    }


def _without(url: str, match: re.Match[str], keys: Iterable[str]) -> str:
    """Return the name of a clip without the parts of it that say its condition."""
    stem = _stem(url)
    start = url.rfind(stem)
    kept = list(stem)
    for key in keys:
        first, last = match.span(key)
        for place in range(max(first - start, 0), min(last - start, len(stem))):
            kept[place] = ""
    return re.sub(r"([_\W])[_\W]+", r"\1", "".join(kept)).strip("_-. ") or stem


def _difference(stem: str, reference: str) -> str:
    """Return what the name of a clip has beside that of its reference."""
    rest = stem.replace(reference, "", 1) if reference in stem else stem
    return stimulus_name(rest.strip("_-. "), "")


def _path(url: str) -> str:
    return unquote(urlsplit(url).path) if "://" in url else url.replace("\\", "/")


def _stem(url: str) -> str:
    return PurePosixPath(_path(url)).stem


def _told(url: str, suffix: str) -> str:
    """Return an address without its query, in which keys to it may be."""
    plain = url.partition("?")[0].partition("#")[0]
    return plain if PurePosixPath(_path(plain)).suffix else plain + suffix
