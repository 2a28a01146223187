"""What people read before they come: what they do, how long it takes, what it earns, and what they need for it."""

from __future__ import annotations

from collections.abc import Iterator

from beholder.checks.contract import Needs
from beholder.methods import find
from beholder.recruit.contract import Job
from beholder.serve.examiner import Examiner
from beholder.serve.script import make_script
from beholder.study.model import Study
from beholder.study.money import hourly, money
from beholder.study.words import check_words

_SHOWN = 3
"""How many questions are named: nobody reads a whole questionnaire there."""


def describe(study: Study, job: Job) -> str:
    """Return what a job is, as Markdown that can be pasted wherever people are asked to take part."""
    parts = ["You look at or listen to short examples and say what you think of them.", _asked(study)]
    return "\n\n".join([*parts, "\n".join(f"- {line}" for line in _lines(study, job))])


def needed(study: Study) -> list[str]:
    """Return what people need, in the words that they read before they agree."""
    return Examiner(Needs(), b"", check_words(study.language)).needed(make_script(study, ()))


def _asked(study: Study) -> str:
    texts = [" ".join(question.text.split()) for question in find(study.method).questions(study)]
    shown = " ".join(f"“{text}”" for text in texts[:_SHOWN])
    more = f", and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return f"The question{'s' * (len(texts) != 1)}: {shown}{more}"


def _lines(study: Study, job: Job) -> Iterator[str]:
    sessions, recruit = study.design.sessions_per_participant, study.recruit
    yield f"It takes about {job.minutes} minutes{' a session' if sessions > 1 else ''}."
    if job.reward.minor:
        each = " for each session" if sessions > 1 else ""
        yield f"You earn {job.reward}{each}, which is {hourly(job.reward, job.minutes)} an hour."
    if sessions > 1:
        yield f"You may take up to {sessions} sessions, one after the other or on another day."
    yield from _bonus(study)
    if needs := needed(study):
        yield "\n  - ".join(["You need:", *needs])
        paid = f", and you earn {job.screen_out}" if job.screen_out else ""
        yield f"We look at this first. Where something does not fit, the study ends there{paid}."
    yield f"If you have to stop, you go on where you were by the same link, within {recruit.time_limit or '60 min'}."
    if study.contact:
        yield f"Questions: {study.contact}"


def _bonus(study: Study) -> Iterator[str]:
    bonus = study.clean.bonus
    if bonus is not None and bonus.quantity is not None:
        each, least = money(bonus.quantity.each), bonus.quantity.sessions
        yield f"From {least} accepted session{'s' * (least != 1)} on you earn {each} more for each of them."
    if bonus is not None and bonus.quality is not None:
        best, each = bonus.quality.best, money(bonus.quality.each)
        yield f"The {best:g} % whose ratings can be relied on most earn {each} more for each accepted session."
