"""Pearmut: campaigns in which texts of several models are scored, and the annotations of people."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, ClassVar

from beholder.errors import Problem, UserError
from beholder.importing.contract import (
    WHOLE,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
    Unknown,
)
from beholder.importing.html_text import page_text
from beholder.importing.source_folder import SourceFolder, plain_number
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import content_rule, slug, stimulus_name

_QUALITY = "quality"
_CAMPAIGN = re.compile(r'"campaign_id"\s*:')
_ANNOTATION = re.compile(r'"annotation"\s*:')
_ITEM = re.compile(r'"item_i"\s*:')
_UNKNOWN: frozenset[Unknown] = frozenset({"slots", "time", "playback"})
ASKING = "a page that asks for an answer is none of the ratings, and none of our checks"


class Pearmut:
    """Reads what Pearmut has written."""

    name: ClassVar[str] = "pearmut"
    title: ClassVar[str] = "Pearmut"

    def recognise(self, source: SourceFolder) -> str:
        """Return by what a source is recognised: keys of a campaign, or of annotations."""
        campaigns, outputs = _files(source)
        found = campaigns or outputs
        return f"{'campaign_id' if campaigns else 'annotation'} in {found[0]}" if found else ""

    def read(self, source: SourceFolder, options: ImportOptions) -> Sequence[ImportedStudy]:
        """Return the one study of a campaign."""
        campaigns, outputs = _files(source)
        if len(campaigns) > 1 or (not campaigns and len(outputs) > 1):
            what = f"holds {len(campaigns) or len(outputs)} campaigns"
            raise UserError(Problem(source.address, what, "one campaign", "Give a folder with one of them."))
        reader = _Campaign(source)
        for name in campaigns:
            reader.read_campaign(source.json(name))
        sessions = [one for name in outputs for one in reader.sessions(source.json_lines(name, is_personal=True), name)]
        if not reader.stimuli:
            raise UserError(Problem(source.address, "has no texts of models", "items with src and tgt", ""))
        return [reader.study(sessions)]


def _files(source: SourceFolder) -> tuple[list[str], list[str]]:
    """Return the campaigns and the annotations of a source."""
    campaigns = [name for name in source.ending(".json") if _CAMPAIGN.search(source.peek(name, 2_000_000))]
    outputs = [
        name for name in source.ending(".jsonl")
        if _ANNOTATION.search(text := source.peek(name, 2_000_000)) and _ITEM.search(text)
    ]  # fmt: skip
    return campaigns, outputs


@dataclass
class _Campaign:
    """A campaign and its annotations, read once."""

    source: SourceFolder
    title: str = ""
    question: str = ""
    stimuli: dict[tuple[str, str], ImportedStimulus] = field(default_factory=dict)
    """By content and condition."""
    contents: dict[tuple[str, str], str] = field(default_factory=dict)
    """The content of each item, by its id and its source text: one id may stand for several."""
    together: bool = True
    """Whether every item has texts of several models, which are then on one page."""

    def read_campaign(self, root: SourceValue) -> None:
        """Read a campaign: its items at whatever depth they are."""
        name = root.get("campaign_id")
        self.title = name.mapped("name and title").text().strip() if name is not None else ""
        protocol = (info := root.get("info")) and info.get("protocol")
        if protocol is not None:
            if protocol.text().upper() == "MQM":
                what = f"has the protocol {protocol.text()}, in which errors are marked and nothing is scored"
                raise UserError(Problem(protocol.where, what, "DA, ESA or another with scores"))
            protocol.mapped("method")
        for item in _items(root.get("data")):
            self.add(item)
        root.rest("nothing of ours holds this")

    def add(self, item: SourceValue) -> dict[str, str]:
        """Add the texts of an item; return the id of each stimulus by its model. Nothing of one that asks itself."""
        if item.get("validation") is not None:
            item.unsupported(ASKING)
            return {}
        item.mapped("stimuli")
        source = item.get("src")
        key = _text(item, "item_id"), source.text() if source is not None else ""
        if key not in self.contents:
            plain, number = stimulus_name(key[0], "item"), 1
            while (name := plain if number == 1 else f"{plain}-{number}") in self.contents.values():
                number += 1
            self.contents[key] = name
        self.question = self.question or page_text(_text(item, "instructions")).text
        content, ids = self.contents[key], dict[str, str]()
        targets = item.get("tgt")
        for model, value in targets.items() if targets is not None else ():
            cell = content, stimulus_name(model)
            if cell not in self.stimuli:
                self.stimuli[cell] = self._stimulus(cell, value.text())
            ids[model] = self.stimuli[cell].id
        self.together &= len(ids) > 1
        return ids

    def _stimulus(self, cell: tuple[str, str], html: str) -> ImportedStimulus:
        page = page_text(html)
        if page.media:
            return ImportedStimulus(*cell, self.source.find_stimulus(page.media[0]), page.media[0].partition("?")[0])
        return ImportedStimulus(*cell, None, f"{cell[1]}/{cell[0]}.txt", text=html or " ")

    def sessions(self, lines: SourceValue, name: str) -> Iterator[ImportedSession]:
        """Yield a session for each person of a file of annotations."""
        people: dict[str, list[ImportedTrial]] = {}
        for number, line in enumerate(lines, 1):
            annotations, items = line.get("annotation"), line.get("item")
            if annotations is None or items is None:
                line.broken("has no annotation or no item", "left out")
                continue
            line.mapped("ratings")
            actions = [*(line.get("actions") or ())]
            first = actions[0].get("time") if actions else None
            seconds = first.number() if first is not None else None
            at = datetime.fromtimestamp(seconds, UTC) if seconds is not None and 1e9 < seconds < 4e9 else None
            trials = people.setdefault(_text(line, "user_id") or "nobody", [])
            for item, given in zip(items, annotations, strict=False):
                ids = self.add(item)
                values = {(_QUALITY, ids[model]): self._score(one) for model, one in given.items() if model in ids}
                trials += self._pages(values, Origin(name, {WHOLE: number}), at)
        for person, found in people.items():
            began = found[0].at if found else None
            lacks: list[Unknown] = [] if began is not None else ["date"]
            yield ImportedSession(person, found, outcome="completed" if found else None, at=began,
                                  unknown=_UNKNOWN.union(lacks))  # fmt: skip

    def _score(self, given: SourceValue) -> int | float | None:
        score = given.get("score")
        number = score.number() if score is not None else None
        if number is not None and not 0 <= number <= 100 and score is not None:
            score.broken(f"is {number:g}, not 0 to 100", "the rating is missing")
            return None
        if (spans := given.get("error_spans")) is not None and spans.data:
            spans.unsupported("marked errors are no scores")
        return None if number is None else plain_number(round(number))

    def _pages(self, values: dict[tuple[str, str], Any], origin: Origin, at: datetime | None) -> list[ImportedTrial]:
        """Return one page with all texts of an item, or a page for each: which, is known at the end."""
        by_id = {one.id: one.content for one in self.stimuli.values()}
        return [
            ImportedTrial(by_id[identity], (identity,), origin, {(question, identity): value}, at=at)
            for (question, identity), value in values.items()
        ]

    def study(self, sessions: Sequence[ImportedSession]) -> ImportedStudy:
        """Return the study: texts of one item on one page, where every item has several."""
        stimuli = [*self.stimuli.values()]
        items = len(self.contents)
        trials = max(1, min(items if self.together else len(stimuli), 30))
        if self.together:
            sessions = [_together(one) for one in sessions]
        text = " ".join(self.question.split()) or "How good is it?"
        keys: dict[str, Any] = {
            "name": slug(self.title, "pearmut"),
            "title": self.title or "Imported campaign",
            "method": "parallel" if self.together else "acr",
            "conditions": list(dict.fromkeys(one.condition for one in stimuli)),
            "questions": [{"id": _QUALITY, "text": text, "scale": "cont100"}],
            "playback": {"watch": "none"},
            "design": {
                "participants": len({one.person for one in sessions}) or 20, "trials": trials,
                **({} if self.together else content_rule(stimuli, trials)), "seed": 1,
            },
        }  # fmt: skip
        self.source.provenance.assume("texts", "the texts that are rated alone", "what they are made of is not shown")
        return ImportedStudy(keys, stimuli, sessions)


def _together(session: ImportedSession) -> ImportedSession:
    """Return a session with neighbouring pages of one content and one line as one page."""
    pages: list[ImportedTrial] = []
    for one in session.trials:
        last = pages[-1] if pages else None
        if last is not None and last.content == one.content and last.origin == one.origin:
            pages[-1] = last._replace(stimuli=(*last.stimuli, *one.stimuli), values={**last.values, **one.values})
        else:
            pages.append(one)
    return ImportedSession(
        session.person, pages, outcome=session.outcome, at=session.at, unknown=session.unknown
    )  # fmt: skip


def _items(value: SourceValue | None) -> Iterator[SourceValue]:
    if value is None:
        return
    if value.is_map:
        if "tgt" in value:
            yield value
        return
    for one in value:
        yield from _items(one)


def _text(value: SourceValue, key: str) -> str:
    found = value.get(key)
    return found.text().strip() if found is not None else ""


pearmut = Pearmut()
