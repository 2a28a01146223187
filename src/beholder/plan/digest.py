"""What a plan depends on, as one hash; and the whole study as another."""

from __future__ import annotations

from typing import Any

from beholder.stimuli.catalogue import Catalogue
from beholder.study.digest import digest, study_json
from beholder.study.model import Study


def plan_digest(study: Study, catalogue: Catalogue) -> str:
    """Return the hash of what the plan depends on, and the seed. Texts may change without changing it."""
    return digest(
        {
            "study": study.name,
            "method": study.method,
            "options": study.options,
            "conditions": catalogue.conditions,
            "questions": [
                [question.id, question.scale.model_dump(mode="json"), question.keyed, len(question.ticks)]
                for question in study.questions
            ],
            "questionnaires": [
                [item.model_dump(mode="json", exclude={"text", "placeholder"}) for item in items]
                for items in (study.before, study.after)
            ],
            "design": study.design.model_dump(mode="json"),
            "stimuli": [[s.id, s.content, s.condition, s.role, s.sha256] for s in catalogue.stimuli],
            **_training(study, catalogue, has_words=False),
        }
    )


def study_digest(study: Study, catalogue: Catalogue) -> str:
    """Return the hash of the resolved study and of its stimuli."""
    stimuli = {s.id: s.sha256 for s in catalogue.by_id.values()}
    return digest({"study": study_json(study), "stimuli": stimuli, **_training(study, catalogue, has_words=True)})


def _training(study: Study, catalogue: Catalogue, *, has_words: bool) -> dict[str, Any]:
    """Return what people practise on, as JSON; nothing where they do not."""
    lessons = [(s.id, s.lesson) for s in catalogue.training if s.lesson is not None]
    if not lessons or study.training is False:
        return {}
    rows = []
    for name, lesson in lessons:
        expected = {q: [e.value, e.tolerance, e.message][: 3 if has_words else 2] for q, e in lesson.expected.items()}
        rows.append([name, expected, lesson.is_trap, lesson.anchor if has_words else ""])
    return {"training": rows}
