"""Sessions of HEMVIP, as its database or its export has them, and the studies that they belong to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from beholder.errors import Problem, UserError
from beholder.importing.contract import (
    WHOLE,
    ImportedSession,
    ImportedStudy,
    ImportedTrial,
    ImportOptions,
    Origin,
    QuestionnaireAnswers,
    Unknown,
)
from beholder.importing.hemvip.page_files import ATTENTION, BROKEN, PAIRS, QUALITY, SLIDERS, PageFiles, VideoPage
from beholder.importing.source_folder import SourceFolder, plain_number
from beholder.importing.source_values import SourceValue
from beholder.methods.contract import Target

UNTOUCHED = "all sliders of the page are at 0, where they begin"
_UNKNOWN: frozenset[Unknown] = frozenset({"playback"})
_FAILED = ("failed", "fail")


def with_sessions(
    source: SourceFolder, files: PageFiles, names: Sequence[str], options: ImportOptions
) -> list[ImportedStudy]:
    """Return one study for each kind of page, with its sessions."""
    if not files.kinds():
        what = "has sessions, and no configuration" if names else "has no page with videos"
        fix = "Put the configurations of the test (configs/<test>/*.json) beside them: they name the videos."
        raise UserError(Problem(source.address, what, "pages of type video or videopc", fix))
    reader = _SessionReader(source, files, options)
    for name in names:
        root = source.json(name, is_personal=True)
        for one in root if root.is_list else [root]:
            reader.read(one, name)
        root.rest("nothing of ours holds this")
    return [_study(files, kind, reader.sessions(kind), len(names) > 0) for kind in files.kinds()]


def _study(files: PageFiles, kind: str, sessions: Sequence[ImportedSession], has_results: bool) -> ImportedStudy:
    stimuli = files.stimuli[kind]
    pages = [one for found in files.pages.values() for one in found if one.kind == kind]
    per_file = max(sum(one.kind == kind for one in found) for found in files.pages.values())
    rated = dict.fromkeys(one.condition for one in stimuli if one.role == "test")
    contents = {one.content for one in stimuli if one.role == "test"}
    widest = max(len(page.stimuli) - len(page.markers) for page in pages)
    marked = max(sum(bool(page.markers) for page in found) for found in files.pages.values())
    is_five = kind == PAIRS and has_results and any(_is_graded(one) for one in sessions)
    text = next((one for one in files.questions.get(kind, ()) if one), "")
    keys: dict[str, Any] = {
        **files.keys,
        "method": "parallel" if kind == SLIDERS else "ccr" if is_five else "pair",
        "options": {} if kind == SLIDERS else {"presentation": "side-by-side", **({} if is_five else {"tie": True})},
        "conditions": list(rated),
        "questions": [{
            "id": QUALITY, "text": text or ("How good is each?" if kind == SLIDERS else "Which one is better?"),
            "scale": "cont100" if kind == SLIDERS else "ccr5" if is_five else "pref3",
        }],
        "playback": {"watch": "none"},
        "design": {
            "participants": len({one.person for one in sessions}) or len(files.pages),
            "trials": max(1, min(per_file, len(contents))), "seed": 1,
            **({"per_trial": widest} if kind == SLIDERS and 1 < widest < len(rated) else {}),
        },
    }  # fmt: skip
    if kind == PAIRS:
        keys["design"]["contents"] = "free"
        keys["design"]["trials"] = max(1, per_file)
    if len(files.kinds()) > 1:
        keys["name"] = f"{keys['name'][:50]}-{kind}"
    if kind == SLIDERS and any(one.role == ATTENTION for one in stimuli):
        keys["checks"] = {ATTENTION: {"per_session": max(1, min(marked, keys["design"]["trials"])), "max_failed": 1}}
    return ImportedStudy({key: value for key, value in keys.items() if value not in ({}, [])}, stimuli, sessions)


def _is_graded(session: ImportedSession) -> bool:
    return any(choice.get("grade") for trial in session.trials for choice in trial.choices.values())


class _SessionReader:
    """Finds the page of each trial, and what was answered on it."""

    def __init__(self, source: SourceFolder, files: PageFiles, options: ImportOptions) -> None:
        self.source, self.files, self.options = source, files, options
        self._found: list[tuple[ImportedSession, dict[str, list[ImportedTrial]]]] = []
        self._by_name = {PurePosixPath(name).name: pages for name, pages in files.pages.items()}

    def sessions(self, kind: str) -> list[ImportedSession]:
        """Return all sessions with their trials of one kind."""
        return [
            ImportedSession(
                one.person, trials[kind], one.platform, one.outcome, at=one.at, unknown=one.unknown, after=one.after
            )
            for one, trials in self._found
            if trials[kind] or not any(trials.values())
        ]  # fmt: skip

    def read(self, one: SourceValue, name: str) -> None:
        """Read one session."""
        trials = one.get("trials")
        if not one.is_map or trials is None or not trials.is_list:
            one.broken("is no session: it has no list of trials", "left out")
            return
        pages = self._pages(one)
        made: dict[str, list[ImportedTrial]] = {kind: [] for kind in (SLIDERS, PAIRS)}
        last: dict[str, int] = {}
        began: datetime | None = None
        for place, written in enumerate(trials):
            page = self._page(pages, written, place)
            if page is None:
                written.broken("fits no page of a configuration", "left out")
                continue
            began = began or _first_time(written)
            trial = self._trial(page, written, name)
            written.mapped("rating")
            if trial is None:
                written.unsupported("a pair that asks for an answer is no comparison, and none of our checks")
                continue
            key = f"{page.kind}\n{page.content}\n{sorted(page.stimuli.values())}"
            if key in last:  # somebody went back: the last answer counts
                made[page.kind][last[key]] = trial
                written.broken("answers a page again", "the last answer counts")
                continue
            last[key] = len(made[page.kind])
            made[page.kind].append(trial)
        who = one.get("userId")
        person = who.mapped("identity").text().strip() if who is not None else ""
        for key in ("testId", "config", "navigator", "_id", "id"):
            if (value := one.get(key)) is not None:
                value.mapped("nothing: it is about the server, or the device")
        lacks: list[Unknown] = [] if began is not None else ["date"]
        session = ImportedSession(
            person or f"{name} {one.place}", (), "prolific" if person else "", self._outcome(one, made), at=began,
            unknown=_UNKNOWN.union(lacks), after=self._answers(one, name),
        )  # fmt: skip
        self._found.append((session, made))

    def _outcome(self, one: SourceValue, made: Mapping[str, Sequence[ImportedTrial]]) -> Any:
        status, ended = one.get("status"), one.get("ended")
        words = status.mapped("outcome").text().lower() if status is not None else ""
        is_over = ended.mapped("outcome").flag(True) if ended is not None else words in ("", "done")
        if words in _FAILED:
            return "failed_checks"
        return "completed" if is_over and any(made.values()) else None

    def _answers(self, one: SourceValue, name: str) -> QuestionnaireAnswers | None:
        participant = one.get("participant")
        if participant is None:
            return None
        participant.mapped("answers to the questionnaire")
        columns, given = ([*(participant.get(key) or ())] for key in ("name", "response"))
        cells = {column.text(): answer.text() for column, answer in zip(columns, given, strict=False)}
        answers: dict[str, Any] = {}
        for item in self.files.questionnaire.items:
            if not item.is_email and (answer := item.read(cells.get(item.column, ""))) is not None:
                answers[item.keys["id"]] = answer
        return QuestionnaireAnswers(answers, Origin(name, {WHOLE: 0})) if answers else None

    # Pages

    def _pages(self, one: SourceValue) -> list[VideoPage]:
        """Return the pages of the configuration of a session; those of all of them where it names none."""
        config = one.get("config")
        named = PurePosixPath(config.text()).name if config is not None and not config.is_map else ""
        for candidate in (named, f"{named}.json"):
            if candidate in self._by_name:
                return self._by_name[candidate]
        if len(self._by_name) == 1:
            return next(iter(self._by_name.values()))
        return [page for pages in self._by_name.values() for page in pages]

    def _page(self, pages: Sequence[VideoPage], written: SourceValue, place: int) -> VideoPage | None:
        """Return the page of a trial: by its stimuli, its id and its place, as ids may be the same on all pages."""
        number = written.get("id")
        page_id = number.text() if number is not None else ""
        names = [_text(answer, "stimulus") for answer in written.get("responses") or ()]
        fits = [page for page in pages if {_plain(name) for name in page.stimuli} == {*names}]
        same = [page for page in fits if page.page_id == page_id]
        if len(same) > 1:
            ordered = [page for page in pages if page in same]
            return (
                ordered[min(place, len(ordered) - 1)]
                if len(pages) != len(ordered)
                else pages[min(place, len(pages) - 1)]
            )
        return same[0] if same else fits[0] if len(fits) == 1 else None

    # Answers

    def _trial(self, page: VideoPage, written: SourceValue, name: str) -> ImportedTrial | None:
        given: dict[str, SourceValue] = {}
        for answer in written.get("responses") or ():
            label = next(
                (one for one in page.stimuli if _plain(one) == _text(answer, "stimulus") and one not in given), ""
            )
            given[label] = answer
        times = [value.number() for answer in given.values() if (value := answer.get("time")) is not None]
        ms = next((time for time in times if time is not None and time >= 0), None)
        if page.kind == PAIRS:
            return self._pair(page, given, name, ms)
        values: dict[tuple[str, str], Any] = {}
        raw: dict[tuple[str, str], str] = {}
        targets: dict[tuple[str, str], Target] = {}
        for label, stimulus in page.stimuli.items():
            marker = page.markers.get(stimulus)
            if marker is not None and marker.target is None:
                continue
            score = given[label].get("score") if label in given else None
            number = score.number() if score is not None else None
            raw[QUALITY, stimulus] = score.text() if score is not None else ""
            if number is None or not 0 <= number <= 100:
                self.source.provenance.warn(
                    f"{written.where}: a score is {raw[QUALITY, stimulus]!r}, not 0 to 100: missing."
                )
                number = None
            values[QUALITY, stimulus] = None if number is None else plain_number(round(number))
            if marker is not None and marker.target is not None:
                targets[QUALITY, stimulus] = Target(marker.target, marker.tolerance, "", is_trap=True)
        rated = [value for (_, stimulus), value in values.items() if stimulus not in page.markers]
        is_untouched = len(rated) > 1 and all(value == 0 for value in rated)
        if is_untouched and self.options.drop_untouched:
            values = {place: value if place[1] in page.markers else None for place, value in values.items()}
        origin = Origin(name, {WHOLE: 0}, raw, {WHOLE: UNTOUCHED} if is_untouched else {})
        shown = tuple(stimulus for _, stimulus in values)
        return ImportedTrial(page.content, shown, origin, values, ms=ms, targets=targets)

    def _pair(
        self, page: VideoPage, given: Mapping[str, SourceValue], name: str, ms: float | None
    ) -> ImportedTrial | None:
        if page.markers or len(page.stimuli) != 2:
            return None  # a pair that asks for an answer is no comparison
        (left_name, left), (_, right) = page.stimuli.items()
        scores = [answer.get("score") for answer in given.values()]
        raw = {WHOLE: " ".join(score.text() for score in scores if score is not None)}
        origin = Origin(name, {WHOLE: 0}, raw)
        first = given[left_name].get("score") if left_name in given else None
        if first is None or (not isinstance(first.data, bool) and first.number() in (None, BROKEN)):
            return ImportedTrial(page.content, (left, right), origin, choices={QUALITY: {}}, ms=ms)
        if isinstance(first.data, bool):
            other = next(
                (score for label, answer in given.items() if label != left_name and (score := answer.get("score"))),
                None,
            )
            better = left if first.data else right if other is not None and other.data is True else "tie"
            return ImportedTrial(page.content, (left, right), origin, choices={QUALITY: {"better": better}}, ms=ms)
        value = first.number() or 0
        if abs(value) > 2 or value != int(value):
            return ImportedTrial(page.content, (left, right), origin, choices={QUALITY: {}}, ms=ms)
        choice: dict[str, Any] = {"better": left if value > 0 else right, "grade": int(abs(value))}
        choices = {QUALITY: choice if value else {"better": "tie"}}
        return ImportedTrial(page.content, (left, right), origin, choices=choices, ms=ms)


def _plain(label: str) -> str:
    return label.partition("#")[0]


def _text(value: SourceValue, key: str) -> str:
    found = value.get(key)
    return found.text().strip() if found is not None else ""


def _first_time(written: SourceValue) -> datetime | None:
    """Return when the first thing was done on a page, in seconds of the clock of the browser."""
    interaction = written.get("interaction")
    for event in _events(interaction):
        parts = list(event)
        number = parts[2].number() if len(parts) > 2 else None
        if number is not None and 1e9 < number < 4e9:
            return datetime.fromtimestamp(number, UTC)
    return None


def _events(interaction: SourceValue | None) -> Iterator[SourceValue]:
    if interaction is not None:
        yield from (value for _, value in interaction.items())
