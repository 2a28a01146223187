"""Recruiters without a platform, their jobs and their stores."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from beholder.recruiting.contract import Job, PlatformRefused, Recruiter
from beholder.server.entrances import entrance_of
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from support.recruit_studies import recruit_study

URL = "https://study.example.org"


def job(study: Study, places: int = 10, screen_out: int = 0) -> Job:
    out = Sum(screen_out, "GBP") if screen_out else None
    return Job(
        "key", study.title, "", entrance_of(study, bytes(32)).start_address(URL), places, 12, Sum(200, "GBP"), out
    )


MODES = {"link": {"mode": "link"}, "panel": {"mode": "panel", "id_parameter": "pid"}}


@asynccontextmanager
async def opened(folder: Path, recruit: Mapping[str, Any], **keys: Any) -> AsyncIterator[tuple[Study, Store]]:
    study = recruit_study(folder, recruit, **keys)
    async with open_store(folder / "store") as store:
        yield study, store


async def manual_answers(recruiter: Recruiter) -> dict[str, str]:
    """Return the manual instructions for each verb."""
    answers = {}
    for verb, act in {
        "submissions": recruiter.submissions("tiny/1"),
        "submission": recruiter.submission("anna"),
        "approve": recruiter.approve(["anna"]),
        "reject": recruiter.reject("anna", "FAILED_CHECK", "x" * 100),
        "return": recruiter.request_return("anna", "why"),
        "setup": recruiter.setup_bonus("tiny/1", []),
        "bonus": recruiter.pay_bonus("1"),
    }.items():
        with pytest.raises(PlatformRefused) as caught:
            await act
        answers[verb] = str(caught.value)
    return answers
