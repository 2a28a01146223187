"""The problems that launching on the fake platform reports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from beholder.errors import RecruitError
from beholder.recruiting.fake import FakeProlific
from support.prolific_rehearsal import JOB, prolific, study_in


async def launch_problems(folder: Path, fake: FakeProlific | None = None, **keys: Any) -> list[str]:
    """Return the problems of drafting a study; check that nothing was posted."""
    fake = fake or FakeProlific()
    async with prolific(study_in(folder, **keys), fake) as recruiter:
        with pytest.raises(RecruitError) as error:
            await recruiter.draft(JOB)
    assert not fake.studies.all
    return str(error.value).splitlines()
