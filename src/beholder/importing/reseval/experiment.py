"""The configuration of a ReSEval test, and the keys of the study that it makes. The tool has no default for any key."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from beholder.errors import Problem, UserError
from beholder.formats import listed
from beholder.importing.contract import ImportedSession, ImportedStudy
from beholder.importing.provenance import Provenance
from beholder.importing.source_folder import SourceFolder
from beholder.importing.source_values import SourceValue
from beholder.importing.study_folder import content_rule, distinct, slug
from beholder.types import Medium

if TYPE_CHECKING:
    from beholder.importing.reseval.samples import Samples

QUALITY = "quality"
"""The id of the question: the tool asks in its instructions alone."""
_MEDIA: Mapping[str, Medium] = {"audio": "audio", "image": "image", "text": "text", "video": "video"}


class TestKind(NamedTuple):
    """What a test of the tool is here."""

    method: str
    text: str
    """What is asked, in our words: the tool shows none on its pages."""
    scale: object = None
    options: Mapping[str, Any] = {}
    is_board: bool = False
    """Whether all conditions of a content are on one page."""


TESTS: Mapping[str, TestKind] = {
    "abx": TestKind("abx", "Which one is closer to X?", "pref2", {"mode": "closest"}),
    "ab": TestKind("pair", "Which one is better?", "pref2", {"tie": False}),
    "mos": TestKind("acr", "How good is the quality?", "acr5"),
    "mushra": TestKind("parallel", "How good is the quality of each?", "cont100", is_board=True),
    "wordselect": TestKind("word-select", "Which words stand out?"),
}
"""By what the tool calls them."""


class PrescreenItem(NamedTuple):
    """A question before or after the test: the column that results have for it, and what it is in the study."""

    column: str
    keys: dict[str, Any]

    @property
    def options(self) -> Sequence[str]:
        return [str(option) for option in self.keys.get("options", ())]


@dataclass
class Experiment:
    """A test as its configuration has it."""

    name: str
    test: str
    medium: Medium
    keys: dict[str, Any]
    provenance: Provenance
    trials: int | None = None
    before: list[PrescreenItem] = field(default_factory=list)
    after: list[PrescreenItem] = field(default_factory=list)
    has_hearing_test: bool = False

    @property
    def kind(self) -> TestKind:
        return TESTS[self.test]

    def study(self, samples: Samples, sessions: Sequence[ImportedSession]) -> ImportedStudy:
        """Return the study with its stimuli and sessions."""
        kind = self.kind
        contents = len(samples.contents)
        trials = self.trials or max(1, contents)
        if trials > contents > 0:
            self.provenance.warn(f"{trials} samples per participant of {contents} files: files come again.")
            trials = contents
        if self.test == "mos" and contents == len(samples.conditions) > 1:
            self.provenance.warn(
                "There are as many files as conditions: ReSEval showed each file under one condition only, so that "
                "conditions were compared on different files."
            )
        question = {"id": QUALITY, "text": kind.text, **({"scale": kind.scale} if kind.scale else {})}
        keys: dict[str, Any] = {
            **self.keys,
            "method": kind.method,
            "options": dict(kind.options),
            "conditions": samples.condition_keys,
            "questions": [question],
            "playback": {"watch": "none"},
            "design": {
                "participants": self.keys["design"]["participants"], "trials": trials,
                **({} if kind.is_board else {"contents": "once"} if trials <= contents else {}),
                **(content_rule(samples.stimuli, trials) if trials > contents else {}), "seed": 1,
            },
        }  # fmt: skip
        for name, items in (("before", self.before), ("after", self.after)):
            if items:
                keys[name] = [item.keys for item in items]
        if self.has_hearing_test:
            keys["qualification"] = {"tones": {"clips": 1}}
        self.provenance.assume("questions", kind.text, "the tool shows no question on its pages, only instructions")
        self.provenance.assume("playback.watch", "none", "the tool did not ask for whole plays")
        return ImportedStudy(
            {name: value for name, value in keys.items() if value not in ({}, [])}, samples.stimuli, sessions,
            texts=samples.texts,
        )  # fmt: skip


def read_experiment(source: SourceFolder, name: str) -> Experiment:
    """Return a test; raise UserError where it is of no kind that we know."""
    root = source.yaml(name)
    title = _text(root, "name", "name and title") or "reseval"
    test, medium = _text(root, "test", "method"), _text(root, "datatype", "medium")
    problems = [
        Problem(root.where, f"{key} is {value or 'missing'}", listed(list(allowed)))
        for key, value, allowed in (("test", test, TESTS), ("datatype", medium, _MEDIA))
        if value not in allowed
    ]
    if problems:
        raise UserError(problems)
    keys: dict[str, Any] = {"name": slug(title, "reseval"), "title": title, "texts": {}, "design": {}}
    one = Experiment(title, test, _MEDIA[medium], keys, source.provenance)
    for key, why in _NOT_NEEDED.items():
        if (value := root.get(key)) is not None:
            value.mapped(f"nothing: {why}")
    participants = _whole(root, "participants", "design.participants")
    keys["design"]["participants"] = participants or 20
    if participants is None:
        source.provenance.assume("design.participants", 20, "the configuration does not say how many people take part")
    one.trials = _whole(root, "samples_per_participant", "design.trials")
    for key, to in (("welcome_text", "consent"), ("survey_instructions", "instructions")):
        if words := _text(root, key, f"texts.{to}"):
            keys["texts"][to] = words
    if (seed := root.get("random_seed")) is not None:
        seed.unsupported("its order cannot be made again: pages were shuffled in the browser without a seed")
    used: set[str] = set()
    one.before = _items(root.get("prescreen_questions"), used, may_screen=True)
    one.after = _items(root.get("followup_questions"), used, may_screen=False)
    one.has_hearing_test = _hearing_test(root.get("listening_test"))
    _read_crowd(root.get("crowdsource"), keys, source.provenance)
    return one


_NOT_NEEDED = {
    "storage": "stimuli lie in the study", "database": "answers go to the store", "server": "the study serves itself",
    "local": "the study serves itself", "bucket": "stimuli lie in the study",
}  # fmt: skip


def _text(root: SourceValue, key: str, to: str) -> str:
    value = root.get(key)
    return value.mapped(to).text().strip() if value is not None else ""


def _whole(root: SourceValue, key: str, to: str) -> int | None:
    value = root.get(key)
    number = value.number() if value is not None else None
    if value is None:
        return None
    if number is None or number < 1 or number != int(number):
        value.broken(f"is {value.text('nothing')}, not a whole number from 1", "taken as not written")
        return None
    value.mapped(to)
    return int(number)


# Questions, and the hearing test


def _items(written: SourceValue | None, used: set[str], *, may_screen: bool) -> list[PrescreenItem]:
    """Return the questions of a list; one that may screen out ends the session where the answer is another."""
    items = []
    for one in written or ():
        name, kind = one.get("name"), one.get("type")
        column = name.mapped("id").text().strip() if name is not None else ""
        text = one.get("text")
        keys: dict[str, Any] = {
            "id": distinct(slug(column, "item"), used),
            "text": text.mapped("text").text().strip() if text is not None else column or "?",
        }
        answers = [answer.mapped("options").text().strip() for answer in one.get("answers") or ()]
        is_choice = kind is not None and kind.mapped("type").text() == "multiple-choice" and len(answers) > 1
        keys |= {"type": "single", "options": answers} if is_choice else {"type": "text"}
        if (placeholder := one.get("placeholder")) is not None and not is_choice:
            keys["placeholder"] = placeholder.mapped("placeholder").text()
        if (correct := one.get("correct_answer")) is not None:
            if not (may_screen and is_choice):
                correct.unsupported("only a choice before the trials can end a session here")
            elif correct.text().strip() not in answers:
                correct.broken("is not one of the answers", "nobody is screened out by it")
            else:
                keys["correct"] = [correct.mapped("correct").text().strip()]
        items.append(PrescreenItem(column, keys))
    return items


def _hearing_test(written: SourceValue | None) -> bool:
    if written is None or not written.is_map:
        return False
    for key, value in written.items():
        if key == "num_questions":
            value.assumed("1 clip", "our test draws clips anew for each attempt")
        else:
            value.assumed("ours", "tones are counted in our own test, with words and attempts of its own")
    return True


# Amazon Mechanical Turk, which has closed: a draft for Prolific


def _read_crowd(crowd: SourceValue | None, keys: dict[str, Any], provenance: Provenance) -> None:
    if crowd is None or not crowd.is_map:
        return
    recruit: dict[str, Any] = {"mode": "prolific"}
    for key, value in crowd.items():
        if key == "platform":
            value.assumed("recruit.mode: prolific", "Mechanical Turk has closed; this is a draft")
        elif key == "title":
            keys["title"] = value.mapped("title").text().strip() or keys["title"]
        elif key in ("description", "keywords"):
            value.unsupported("Prolific shows title and instructions of its own")
        elif key == "payment":
            _read_payment(value, recruit)
        elif key == "duration":
            _read_duration(value, recruit)
        elif key == "filter":
            _read_filter(value, recruit)
    keys["recruit"] = recruit
    if "reward" not in recruit:
        recruit["mode"] = "link"
        provenance.assume("recruit.mode", "link", "the configuration says nothing of a payment")
        for key in ("filters", "screen_out"):
            recruit.pop(key, None)


def _read_payment(payment: SourceValue, recruit: dict[str, Any]) -> None:
    values = {key: value for key, value in payment.items() if key in ("base", "completion")}
    sums = {key: value.number() or 0.0 for key, value in values.items()}
    if "base" in values and sums["base"] >= 0.01:
        recruit["screen_out"] = f"{sums['base']:.2f} USD"
    total = sum(sums.values())
    if total >= 0.01:
        recruit["reward"] = f"{total:.2f} USD"
    for value in values.values():
        value.mapped("recruit.reward and recruit.screen_out")


def _read_duration(duration: SourceValue, recruit: dict[str, Any]) -> None:
    for key, value in duration.items():
        number = value.number()
        if key == "assignment" and number is not None and number > 0:
            recruit["time_limit"] = f"{max(1, math.ceil(number / 60))} min"
            value.mapped("recruit.time_limit")
        else:
            value.unsupported("a study is closed by hand or by recruit.closes, and paid by decisions that are signed")


def _read_filter(chosen: SourceValue, recruit: dict[str, Any]) -> None:
    filters: dict[str, Any] = {}
    for key, value in chosen.items():
        number = value.number()
        if key == "countries" and value.is_list:
            filters["countries"] = [one.mapped("recruit.filters.countries").text().strip() for one in value]
        elif key == "approved_tasks" and number is not None:
            if number > 0:
                filters["approved_submissions"] = int(number) + 1
            value.mapped("recruit.filters.approved_submissions: strictly more than this")
        elif key == "approval_rating" and number is not None:
            if 0 < number <= 100:
                filters["approval_rate"] = int(number)
            value.mapped("recruit.filters.approval_rate")
    if filters.get("countries") == []:
        del filters["countries"]
    if filters:
        recruit["filters"] = filters
