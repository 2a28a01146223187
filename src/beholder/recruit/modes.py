"""Which recruiter brings the people of a study."""

from __future__ import annotations

from beholder.recruit.contract import Recruiter
from beholder.store.contract import Store
from beholder.study.model import Study


async def recruiter_of(study: Study, store: Store) -> Recruiter:
    """Return where the people of a study come from, by its `recruit.mode`."""
    mode = study.recruit.mode
    if mode == "prolific":
        from beholder.recruit.prolific.recruiter import open_prolific

        return await open_prolific(study, store)
    if mode == "panel":
        from beholder.recruit.panel.recruiter import Panel

        return Panel(study, store)
    if mode == "lab":
        from beholder.recruit.lab import Lab

        return Lab(study, store)
    from beholder.recruit.link import OpenLink

    return OpenLink(study, store)
