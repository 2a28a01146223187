"""Every question that a study asks anybody: groups of participants may have item sets of their own."""

from __future__ import annotations

from beholder.methods.contract import Method
from beholder.study.between import study_of
from beholder.study.model import Question, Study


def all_questions(study: Study, method: Method) -> tuple[Question, ...]:
    """Return the questions of the study, then those that only some of its participants are asked."""
    found = {question.id: question for question in method.questions(study)}
    for factor, levels in study.design.between.items():
        for name, level in levels.items():
            for question in method.questions(study_of(study, {factor: name})) if level.options else ():
                found.setdefault(question.id, question)
    return tuple(found.values())
