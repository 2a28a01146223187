"""What a plan depends on, as one hash; and the whole study as another."""

from __future__ import annotations

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
        }
    )


def study_digest(study: Study, catalogue: Catalogue) -> str:
    """Return the hash of the resolved study and of its stimuli."""
    return digest({"study": study_json(study), "stimuli": {s.id: s.sha256 for s in catalogue.stimuli}})
