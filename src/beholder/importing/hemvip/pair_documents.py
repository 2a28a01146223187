"""The studies of the second HEMVIP: a document for each person, with the pairs that were shown and what was chosen.

Documents of 2024 call systems `teamid`, those of 2025 `systemname`. Their servers often kept no choice: then the last
click on one is the only trace of it, and is flagged.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from beholder.errors import Problem, UserError
from beholder.importing.contract import (
    WHOLE,
    ForeignVerdict,
    ImportedSession,
    ImportedStimulus,
    ImportedStudy,
    ImportedTrial,
    Origin,
    Unknown,
)
from beholder.importing.html_text import page_text
from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import slug, stimulus_name

_QUALITY = "quality"
CLICKED = "only the last click tells what was chosen: the server kept no choice"
_UNKNOWN: frozenset[Unknown] = frozenset({"time", "date", "playback"})
_GRADES: Mapping[str, int] = {
    "leftclearlybetter": 2, "leftslightlybetter": 1, "theyareequal": 0, "rightslightlybetter": -1,
    "rightclearlybetter": -2,
}  # fmt: skip
_BOTH = ("bothexpressed", "neitherexpressed")
_DONE = ("completed", "done", "finished", "finish", "success")


def read_pair_documents(source: SourceFolder, names: Sequence[str]) -> list[ImportedStudy]:
    """Return the one study of all documents."""
    reader = _DocumentReader(source)
    for name in names:
        root = source.json(name, is_personal=True)
        for one in root if root.is_list else [root]:
            reader.read(one, name)
        root.rest("nothing of ours holds this")
    if not reader.stimuli:
        raise UserError(Problem(source.address, "has no page with two videos", "pages with videos", ""))
    conditions = dict.fromkeys(one.condition for one in reader.stimuli.values())
    trials = max((len(one.trials) for one in reader.sessions), default=0) or len(reader.contents)
    keys: dict[str, Any] = {
        "name": slug(reader.title, "hemvip"),
        "title": reader.title or "Imported test",
        "method": "ccr",
        "options": {"presentation": "side-by-side"},
        "conditions": list(conditions),
        "questions": [{"id": _QUALITY, "text": reader.question or "Which one is better?", "scale": "ccr5"}],
        "playback": {"watch": "none"},
        "design": {
            "participants": max(1, len({one.person for one in reader.sessions})),
            "trials": max(1, min(trials, len(reader.pairs))), "contents": "free", "seed": 1,
        },
    }  # fmt: skip
    return [ImportedStudy(keys, list(reader.stimuli.values()), [one for one in reader.sessions if one.trials])]


class _DocumentReader:
    """Collects stimuli and sessions from one document after the other."""

    def __init__(self, source: SourceFolder) -> None:
        self.source = source
        self.stimuli: dict[tuple[str, str], ImportedStimulus] = {}
        self.contents: dict[str, None] = {}
        self.pairs: dict[frozenset[str], None] = {}
        self.sessions: list[ImportedSession] = []
        self.title = self.question = ""

    def read(self, one: SourceValue, name: str) -> None:
        """Read one document."""
        pages = one.get("pages")
        if not one.is_map or pages is None or not pages.is_list:
            one.broken("is no study: it has no list of pages", "left out")
            return
        self.title = self.title or _mapped(one, "name", "title")
        trials: list[ImportedTrial] = []
        verdicts: list[ForeignVerdict] = []
        for page in pages:
            if _text(page, "type") == "check" or page.get("expected_vote") is not None:
                verdicts += self._check(page)
            elif len([*(page.get("videos") or ())]) == 2:
                trials += self._trial(page, name)
            else:
                page.unsupported("a page without two videos")
        status = _mapped(one, "status", "outcome").lower()
        person = _mapped(one, "prolific_userid", "identity") or _mapped(one, "prolific_pid", "identity")
        for key in ("_id", "id", "completion_code", "fail_code", "prolific_studyid", "prolific_sessionid"):
            if (value := one.get(key)) is not None:
                value.mapped("nothing: it is about the platform")
        if (actions := one.get("total_actions")) is not None:
            actions.unsupported("clicks have no times")
        outcome: Any = "completed" if trials and (status in _DONE or not status) else None
        self.sessions.append(
            ImportedSession(
                person or f"{name} {one.place}", trials, "prolific" if person else "", outcome, unknown=_UNKNOWN,
                verdicts=verdicts,
            )
        )  # fmt: skip

    def _check(self, page: SourceValue) -> Iterator[ForeignVerdict]:
        """Yield what a page with an expected vote says of a person, as the tool judged it."""
        page.mapped("foreign verdict attention")
        expected, chosen = _label(_text(page, "expected_vote")), _chosen(page)[0]
        if expected and chosen:
            yield ForeignVerdict("attention", "pass" if expected == chosen else "fail", _text(page, "pageid"))

    def _trial(self, page: SourceValue, name: str) -> Iterator[ImportedTrial]:
        left, right = (self._stimulus(page, video) for video in page.get("videos") or ())
        self.question = self.question or page_text(_text(page, "question")).text
        page.mapped("rating and stimuli")
        if left == right:
            page.broken("shows the same video twice", "left out")
            return
        self.pairs[frozenset((left, right))] = None
        chosen, is_clicked = _chosen(page)
        if not chosen:
            return  # a page that nobody has answered
        content = self.stimuli_content(left)
        raw = {WHOLE: chosen}
        origin = Origin(name, {WHOLE: 0}, raw, {WHOLE: CLICKED} if is_clicked else {})
        grade = _GRADES.get(chosen)
        if grade is None:
            done = "the rating is missing: it says nothing of which one is better"
            page.broken(f"the choice is {chosen[:40]}", done if chosen in _BOTH else "the rating is missing")
            yield ImportedTrial(content, (left, right), origin, choices={_QUALITY: {}})
            return
        choice: dict[str, Any] = {"better": left if grade > 0 else right, "grade": abs(grade)}
        yield ImportedTrial(
            content, (left, right), origin, choices={_QUALITY: choice if grade else {"better": "tie"}}
        )  # fmt: skip

    def stimuli_content(self, identity: str) -> str:
        """Return the content of a stimulus."""
        return next(one.content for one in self.stimuli.values() if one.id == identity)

    def _stimulus(self, page: SourceValue, video: SourceValue) -> str:
        url = (_text(video, "url") or _text(video, "path")).partition("?")[0]
        condition = stimulus_name(_text(video, "systemname") or _text(video, "teamid") or _text(video, "systemid"))
        content = stimulus_name(_text(video, "inputcode") or _text(video, "inputid") or _text(page, "pageid"), "input")
        key, number, own = (content, condition), 1, condition
        while key in self.stimuli and self.stimuli[key].named != _named(url, key):
            number += 1
            own = f"{condition}-{number}"
            key = content, own
        if key not in self.stimuli:
            found = self.source.find_stimulus(url) if url else None
            self.stimuli[key] = ImportedStimulus(content, own, found, _named(url, key))
            self.contents[content] = None
        return self.stimuli[key].id


def _named(url: str, key: tuple[str, str]) -> str:
    name = url or f"{key[1]}/{key[0]}"
    return name if PurePosixPath(name).suffix else f"{name}.mp4"


def _chosen(page: SourceValue) -> tuple[str, bool]:
    """Return what was chosen on a page, and whether only a click tells it; empty where nothing was."""
    selected = page.get("selected")
    for key in ("value", "label"):
        if selected is not None and (value := selected.get(key)) is not None and (label := _label(value.text())):
            return label, False
    clicks = [_label(text) for action in page.get("actions") or () if (text := _action(action))]
    known = [one for one in clicks if one in _GRADES or one in _BOTH]
    return (known[-1], True) if known else ("", False)


def _action(action: SourceValue) -> str:
    """Return on what was clicked, in the words of the log."""
    words = action.text() or _text(action, "action") or _text(action, "name")
    found = re.search(r"(?i)click\s+(.*)", words)
    return found[1] if found else ""


def _label(text: str) -> str:
    return re.sub(r"[^a-z]", "", text.lower())


def _text(value: SourceValue, key: str) -> str:
    found = value.get(key)
    return found.text().strip() if found is not None else ""


def _mapped(value: SourceValue, key: str, to: str) -> str:
    found = value.get(key)
    return found.mapped(to).text().strip() if found is not None else ""
