"""The hash of everything that a plan depends on, and the hash of the whole study."""

from __future__ import annotations

from typing import Any

from beholder.methods.pairs import read_pair_table
from beholder.methods.transcripts import transcript_hash
from beholder.planning.given_plan import given_sha256
from beholder.planning.own_stimuli import own_parts
from beholder.stimuli.catalogue import Catalogue
from beholder.stimuli.known_answers import KnownAnswer
from beholder.study.design import Design, Level
from beholder.study.groups import DESIGN_KEYS
from beholder.study.model import Study
from beholder.study.questionnaire import Ask, item_json
from beholder.study.serialization import digest, study_json, used_options
from beholder.types import CHECK_ROLES


def plan_digest(study: Study, catalogue: Catalogue) -> str:
    """Return the hash of everything that the plan depends on, seed included. Texts may change without changing it."""
    return digest(plan_parts(study, catalogue))


def plan_parts(study: Study, catalogue: Catalogue) -> dict[str, Any]:
    """Return everything that the plan depends on, as JSON by parts."""
    return {
        "study": study.name,
        "method": study.method,
        # Words may change, as texts of questions may.
        "options": {name: value for name, value in used_options(study.options).items() if name != "wording"},
        "conditions": catalogue.conditions,
        "questions": [
            [question.id, question.scale.model_dump(mode="json"), question.keyed, len(question.ticks)]
            for question in study.questions
        ],
        "questionnaires": [
            [_item(item) for item in items]
            # Where nothing is asked between trials, digests are as they were when nothing could be.
            for items in (study.before, study.after, *([study.during] if study.during else []))
        ],
        "design": _design(study.design),
        **({"plan": given_sha256(study)} if study.design.plan is not None else {}),
        **_pairs(study),
        **({"transcripts": words} if (words := transcript_hash(study)) else {}),
        "stimuli": [[s.id, s.content, s.condition, s.role, s.sha256] for s in catalogue.stimuli],
        **_training(study, catalogue, has_words=False),
        **_checks(study, catalogue),
        **({"own": own} if (own := own_parts(study, catalogue)) else {}),
        **({"run": study.run} if study.run > 1 else {}),
        # Who has begun on one device does not go on with two.
        **({"stage": study.stage} if study.stage != "same" else {}),
    }


def _item(item: Ask) -> dict[str, Any]:
    """Return an item of a questionnaire as JSON; words and files may change."""
    return {key: value for key, value in item_json(item).items() if key not in _SHOWN}


_SHOWN = {"text", "placeholder", "file", "play"}
"""What a person sees of an item, beside what can be answered."""


def study_digest(study: Study, catalogue: Catalogue) -> str:
    """Return the hash of the resolved study and of its stimuli."""
    stimuli = {s.id: s.sha256 for s in catalogue.by_id.values()}
    return digest({"study": study_json(study), "stimuli": stimuli, **_training(study, catalogue, has_words=True)})


_JUDGING = {"action", "retries", "max_failed", "end_after", "reject_after", "share"}
"""Options of rules that decide what follows from an answer: they may change without changing the plan."""

_LATER = {
    key: Design().model_dump(mode="json")[key]
    for key in ("votes", "sessions_per_participant", "order", "blocks", "between", "plan", "own")
}
"""Keys that were added to the design later, with their defaults: digests in older stores do not contain them."""

_STOPPING = {"looks", "stop", "arena"}
"""Keys of the design that decide when it ends, not what anybody is shown."""


def _pairs(study: Study) -> dict[str, Any]:
    """Return the pairs that a file lists, as JSON; nothing without such a file."""
    file = study.design.given_pairs
    return (
        {}
        if file is None
        else {"pairs": sorted([one, two] for _, one, two in read_pair_table(study.folder, file, []).lines)}
    )


def _design(design: Design) -> dict[str, Any]:
    """Return the design as JSON; keys that were added later only if they are set."""
    # Lists that are dealt while answers come in are the same whatever their number is in the end.
    number = set() if design.active is None else {"participants"}
    written = design.model_dump(mode="json", exclude=_STOPPING | number)
    keys = {key: value for key, value in written.items() if key not in _LATER or value != _LATER[key]}
    if design.between:
        keys["between"] = _between(design)
    return keys


def _between(design: Design) -> list[Any]:
    """Return the factors between participants as JSON, in order; texts and playback may change."""
    texts = {"instructions", "playback"}

    def keys(level: Level) -> dict[str, Any]:
        # What is not written is left out, so that plans from before a key could be written keep their digest.
        unwritten = {key for key in DESIGN_KEYS if getattr(level, key) is None}
        return level.model_dump(mode="json", exclude=texts | unwritten)

    return [
        [factor, [[name, keys(level)] for name, level in levels.items()]] for factor, levels in design.between.items()
    ]


def _checks(study: Study, catalogue: Catalogue) -> dict[str, Any]:
    """Return the checks that are placed in lists, as JSON; nothing if there are none."""
    rules = ((rule.name, options) for rule, options in study.checks.rules() if rule.is_planned)
    placed = {name: options.model_dump(mode="json", exclude=_JUDGING) for name, options in rules}
    keys = [[s.id, _expected(s.known_answer)] for s in catalogue.stimuli if s.role in CHECK_ROLES and s.known_answer]
    return {"checks": placed, **({"keys": keys} if keys else {})} if placed else {}


def _expected(answer: KnownAnswer) -> dict[str, Any]:
    return {question: [expectation.value, expectation.tolerance] for question, expectation in answer.expected.items()}


def _training(study: Study, catalogue: Catalogue, *, has_words: bool) -> dict[str, Any]:
    """Return the training stimuli as JSON; nothing without training."""
    lessons = [(s.id, s.known_answer) for s in catalogue.training if s.known_answer is not None]
    if not lessons or study.training is False:
        return {}
    rows = []
    for name, lesson in lessons:
        expected = {q: [e.value, e.tolerance, e.message][: 3 if has_words else 2] for q, e in lesson.expected.items()}
        rows.append([name, expected, lesson.is_trap, lesson.anchor if has_words else ""])
    return {"training": rows}
