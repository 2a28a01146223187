"""Studies, jobs and a rehearsal of Prolific, for tests of its adapter without a server or a stimulus."""

from __future__ import annotations

import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import yaml

from beholder.methods import load_study
from beholder.recruiting.contract import Job
from beholder.recruiting.fake import FakeProlific
from beholder.recruiting.fake.http import FaultKind
from beholder.recruiting.prolific.client import PROLIFIC, ProlificClient
from beholder.recruiting.prolific.recruiter import ProlificRecruiter
from beholder.store.open import open_store
from beholder.study.model import Study
from beholder.study.recruitment import Sum
from beholder.testing.stores.facts import study_record

IDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"
RECRUIT = {"mode": "prolific", "reward": "2.00 GBP", "minutes": 10}
JOB = Job(
    key="walk-1-0a1b2c3d",
    title="Which walk looks better?",
    description="<p>Watch and choose.</p>",
    url=f"https://lab.example.org/s/walk?{IDS}",
    places=10,
    minutes=10,
    reward=Sum(200, "GBP"),
)
LOST: list[FaultKind] = [
    "cut_before", "cut_after", "408_after", "504_after", "html_after", "slow_after", "500", "429", "refused",
]  # fmt: skip
"""Faults without a clear answer, before and after the effect."""


def study_in(folder: Path, **keys: Any) -> Study:
    """Return a study in a folder without stimuli, which is neither planned nor served; `keys` are added."""
    folder.mkdir(parents=True, exist_ok=True)
    study: dict[str, Any] = {
        "beholder": 1,
        "name": "walk",
        "title": "Which walk looks better?",
        "method": "acr",
        "stimuli": "stimuli",
        "recruit": RECRUIT,
    }
    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(study | keys, sort_keys=False, allow_unicode=True), "utf-8")
    return load_study(path)


@asynccontextmanager
async def prolific(study: Study, fake: FakeProlific, token: str = "rehearsal") -> AsyncIterator[ProlificRecruiter]:
    """Yield the Prolific recruiter of a study, connected to the fake platform and its clock."""
    client = ProlificClient(PROLIFIC, token, transport=fake.transport(), sleep=fake.sleep, rng=random.Random(1))
    async with open_store(study.folder / "store") as store:
        await store.begin(study_record())
        recruiter = ProlificRecruiter(study, store, client, now=lambda: fake.now)
        try:
            yield recruiter
        finally:
            await recruiter.close()
