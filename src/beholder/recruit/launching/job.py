"""The job that is put up: texts and numbers of a study, as a platform takes them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from beholder.recruit.contract import Job
from beholder.recruit.description import describe
from beholder.recruit.panel.job import begin_address
from beholder.serve import tokens
from beholder.study.model import Study
from beholder.study.money import Sum, money
from beholder.study.part import span
from beholder.study.recruiting import told_minutes
from beholder.study.texts import markdown

if TYPE_CHECKING:
    from beholder.check import Checked

_PROLIFIC = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
"""What Prolific fills in when it sends somebody."""


def launch_key(study: Study, secret: bytes) -> str:
    """Return the key by which a launch is found again: the same for a study and its run for ever."""
    return f"{study.name}-{study.run}-{tokens.keyed(secret, 'launch', study.name, str(study.run)).hex()[:8]}"


def job_of(study: Study, secret: bytes, checked: Checked | None, public_url: str, places: int) -> Job:
    """Return what is put up for so many people; nothing checked, it takes the minutes that people are told."""
    recruit = study.recruit
    reward = money(recruit.reward) if recruit.reward else Sum(0, "")
    limit = span(recruit.time_limit) if recruit.time_limit else None
    job = Job(
        key=launch_key(study, secret),
        title=study.title,
        description="",
        url=address(study, public_url),
        places=places,
        minutes=told_minutes(recruit, checked.minutes if checked is not None else 1),
        reward=reward,
        screen_out=money(recruit.screen_out) if recruit.screen_out else None,
        time_limit_minutes=math.ceil(limit.total_seconds() / 60) if limit is not None else None,
    )
    return replace(job, description=markdown(describe(study, job)))


def address(study: Study, public_url: str) -> str:
    """Return where participants begin, with what the platform fills in."""
    if study.recruit.mode == "prolific":
        return f"{public_url}/s/{study.name}?{_PROLIFIC}"
    return begin_address(study, public_url)
