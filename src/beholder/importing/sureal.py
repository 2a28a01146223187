"""sureal: data sets of subjective tests, as JSON or as a file of Python that is read and never run.

A data set knows who rated what, and nothing of how: order, time and playback stay unknown.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any, ClassVar

from beholder.errors import Problem, UserError
from beholder.formats import first_names
from beholder.importing.contract import (
    UNKNOWN,
    WHOLE,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
)
from beholder.importing.source_folder import PAIR_KEY, SourceFolder, plain_number
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import content_rule, distinct, slug, stimulus_name

_QUALITY = "quality"
_REFERENCE = "reference"
_MARK = re.compile(r"""['"]?dis_videos['"]?\s*[:=]""")
_KNOWN = ("content_id", "asset_id", "path", "os")
UNPAIRED = "it is compared with an asset that the data set does not have"


class Sureal:
    """Reads data sets of sureal."""

    name: ClassVar[str] = "sureal"
    title: ClassVar[str] = "sureal"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: the list dis_videos."""
        found = _data_sets(source)
        return f"dis_videos in {found[0]}" if found else ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a data set."""
        found = _data_sets(source)
        if len(found) != 1:
            what = f"holds {len(found)} data sets: {first_names(found, 5)}" if found else "has no data set"
            raise UserError(Problem(source.address, what, "one data set", "Give the file of one of them."))
        name = found[0]
        root = (
            source.json(name, is_personal=True) if name.endswith(".json") else source.literals(name, is_personal=True)
        )
        return [_DataSet(source, name, root).study()]


def _data_sets(source: SourceFolder) -> list[str]:
    return [name for name in source.ending(".json", ".py") if _MARK.search(source.peek(name, 2_000_000))]


@dataclass
class _DataSet:
    """A data set, read once."""

    source: SourceFolder
    name: str
    root: SourceValue
    contents: dict[str, tuple[str, str]] = field(default_factory=dict)
    """By content_id, the content in the study and the path of its reference."""
    stimuli: dict[str, ImportedStimulus] = field(default_factory=dict)
    """By asset_id."""
    scores: dict[str, list[tuple[str, float]]] = field(default_factory=dict)
    """By person, assets with their scores."""
    choices: dict[str, list[tuple[str, str, float]]] = field(default_factory=dict)
    """By person, asset, other asset, and 1, 0.5 or 0."""

    def study(self) -> ImportedStudy:
        """Return the data set as a study."""
        title = self._text("dataset_name", "name and title") or "Imported data set"
        if (value := self.root.get("yuv_fmt")) is not None:
            value.mapped("nothing: files are played by browsers")
        top = self.root.get("ref_score")
        highest = top.mapped("scale").number() if top is not None else None
        self._read_contents()
        self._read_assets()
        if not self.stimuli:
            raise UserError(Problem(self.name, "has no dis_videos", "a list of stimuli with their scores"))
        has_references = self._has_all_references() and not self.choices
        keys = self._keys(title, highest, has_references=has_references)
        self.source.provenance.assume("questions", keys["questions"][0]["text"], "a data set has no words")
        self.root.rest("nothing of ours holds this")
        stimuli = [*self.stimuli.values()]
        return ImportedStudy(keys, stimuli, [*self._sessions()])

    def _text(self, key: str, to: str) -> str:
        value = self.root.get(key)
        return value.mapped(to).text().strip() if value is not None else ""

    def _read_contents(self) -> None:
        used: set[str] = set()
        for one in self.root.get("ref_videos") or ():
            identity, named, path = (one.get(key) for key in ("content_id", "content_name", "path"))
            if identity is None:
                one.broken("has no content_id", "left out")
                continue
            one.mapped("contents")
            where = path.text() if path is not None else ""
            words = (named.text() if named is not None else "") or PurePosixPath(where).stem or identity.text()
            self.contents[identity.text()] = distinct(stimulus_name(words), used), where

    def _read_assets(self) -> None:
        used: set[tuple[str, str]] = set()
        for place, one in enumerate(self.root.get("dis_videos") or ()):
            written = {key: one.get(key) for key in _KNOWN}
            identity = _words(written["asset_id"]) or str(place)
            content_id, path, scores = _words(written["content_id"]), _words(written["path"]), written["os"]
            if identity in self.stimuli:
                one.broken(f"has the asset_id {identity} of an earlier one", "left out")
                continue
            if content_id not in self.contents:
                one.broken(f"has the content_id {content_id or 'of nothing'}, which ref_videos has not", "left out")
                continue
            one.mapped("stimulus and ratings")
            content, reference = self.contents[content_id]
            condition = _REFERENCE if path and path == reference else _condition(path, content, reference, identity)
            base, number = condition, 1
            while (content, condition) in used:
                number += 1
                condition = f"{base}-{number}"
            used.add((content, condition))
            role: Any = _REFERENCE if condition == _REFERENCE else "test"
            named = path if PurePosixPath(path).suffix else f"{path or identity}.mp4"
            found = self.source.find_stimulus(path) if path else None
            self.stimuli[identity] = ImportedStimulus(content, condition, found, named, role)
            if scores is not None:
                self._read_scores(identity, scores)

    def _read_scores(self, asset: str, scores: SourceValue) -> None:
        given = scores.items() if scores.is_map else ((f"rater {place}", one) for place, one in enumerate(scores, 1))
        for person, value in given:
            for one in value if value.is_list else [value]:
                number = one.number()
                if number is None:
                    one.broken(f"is {one.text() or 'nothing'!r}, which is no score", "the rating is missing")
                elif PAIR_KEY in person:
                    who, other = person.split(PAIR_KEY, 1)
                    self.choices.setdefault(who, []).append((asset, other, number))
                else:
                    self.scores.setdefault(person, []).append((asset, number))

    def _has_all_references(self) -> bool:
        held = {one.content for one in self.stimuli.values() if one.role == _REFERENCE}
        if held and held >= {one.content for one in self.stimuli.values()}:
            return True
        for identity, one in self.stimuli.items():
            self.stimuli[identity] = one._replace(role="test")
        return False

    def _keys(self, title: str, highest: float | None, *, has_references: bool) -> dict[str, Any]:
        people = len(self.scores) + len(self.choices)
        conditions: dict[str, Any] = {one.condition: one.condition for one in self.stimuli.values()}
        if has_references:
            conditions[_REFERENCE] = {"name": _REFERENCE, "role": _REFERENCE}
        rated = [one for one in self.stimuli.values() if one.role == "test"]
        trials = max(1, min(len(rated), max((len(given) for given in self.scores.values()), default=12), 60))
        values = [value for given in self.scores.values() for _, value in given]
        has_tie = any(value == 0.5 for given in self.choices.values() for _, _, value in given)
        keys: dict[str, Any] = {
            "name": slug(title, "sureal"),
            "title": title,
            "method": "pair" if self.choices else "acr-hr" if has_references else "acr",
            "options": {"tie": True} if has_tie else {},
            "conditions": list(conditions.values()),
            "questions": [{
                "id": _QUALITY, "text": "Which one is better?" if self.choices else "How good is the quality?",
                "scale": ("pref3" if has_tie else "pref2") if self.choices else _scale(values, highest),
            }],
            "playback": {"watch": "none"},
            "design": {
                "participants": max(1, people), "trials": min(self._pairs(), 12) if self.choices else trials,
                **({"contents": "free"} if self.choices else content_rule(rated, trials)), "seed": 1,
            },
        }  # fmt: skip
        return {name: value for name, value in keys.items() if value not in ({}, [])}

    def _pairs(self) -> int:
        """Return how many pairs of one content there are."""
        counts = Counter(one.content for one in self.stimuli.values())
        return max(1, sum(count * (count - 1) // 2 for count in counts.values()))

    def _sessions(self) -> Iterator[ImportedSession]:
        for person in (*self.scores, *(one for one in self.choices if one not in self.scores)):
            trials = [self._scored(person, *one) for one in self.scores.get(person, ())]
            compared = (self._compared(person, *one) for one in self.choices.get(person, ()))
            trials += [one for one in compared if one is not None]
            if trials:
                yield ImportedSession(person, trials, unknown=frozenset(UNKNOWN))

    def _origin(self, text: str) -> Origin:
        return Origin(self.name, {WHOLE: 0}, {WHOLE: text})

    def _scored(self, person: str, asset: str, value: float) -> ImportedTrial:
        one = self.stimuli[asset]
        return ImportedTrial(
            one.content, (one.id,), self._origin(f"{value:g}"), {(_QUALITY, one.id): plain_number(value)}
        )

    def _compared(self, person: str, asset: str, other: str, value: float) -> ImportedTrial | None:
        one, two = self.stimuli[asset], self.stimuli.get(other)
        if two is None or two.content != one.content or two is one:
            self.source.provenance.warn(f"A comparison of asset {asset} with {other} is left out: {UNPAIRED}.")
            return None
        better = one.id if value > 0.5 else two.id if value < 0.5 else "tie"
        return ImportedTrial(
            one.content, (one.id, two.id), self._origin(f"{value:g}"), choices={_QUALITY: {"better": better}}
        )  # fmt: skip


def _words(value: SourceValue | None) -> str:
    return value.text().strip() if value is not None else ""


def _condition(path: str, content: str, reference: str, identity: str) -> str:
    """Return what was done to a stimulus: what its name has beside its content, or its folder; else its number."""
    stem, folder = PurePosixPath(path).stem, PurePosixPath(path).parent.name
    if folder and stem in (PurePosixPath(reference).stem, content):
        return stimulus_name(folder)
    for shared in (PurePosixPath(reference).stem, content):
        if shared and shared in stem and stem != shared:
            return stimulus_name(stem.replace(shared, "", 1).strip("_-. "), f"asset {identity}")
    return stimulus_name(stem, f"asset {identity}")


def _scale(values: Sequence[float], highest: float | None) -> Any:
    """Return the scale of scores: one with a name where they fit on it."""
    top = max([*values, highest or 0])
    low = min(values, default=1)
    is_whole = all(value == int(value) for value in values)
    if is_whole and low >= 1 and top <= 5:
        return "acr5"
    if is_whole and low >= 1 and top <= 9:
        return "acr9"
    if is_whole and low >= 0 and top <= 10:
        return "acr11"
    if is_whole and low >= 0 and top <= 100:
        return "cont100"
    step = 1 if is_whole else 0.01
    ceiling = next((one for one in (5, 9, 10, 100) if top <= one), int(top) + 1)
    return {"min": 0 if low < 1 else 1, "max": ceiling, "step": step} if low >= 0 else {
        "min": -(int(-low) + 1), "max": ceiling, "step": step,
    }  # fmt: skip


sureal = Sureal()
