"""Earlier studies and runs of one's own: under which ids their people took part on Prolific."""

from __future__ import annotations

import re

from beholder.recruit.launching.recorded import postings_of, published_postings, runs_of
from beholder.store.contract import Store
from beholder.store.open import open_store
from beholder.study.model import Study

_PROLIFIC_ID = re.compile(r"[0-9a-f]{24}")


async def earlier_postings(study: Study, store: Store) -> list[str]:
    """Return the ids on Prolific of other runs of a study, and of the studies whose folders `recruit.exclude` names.

    A folder without a store has had nobody yet, and one that recruited elsewhere has no such id: at our own door both
    are looked at again.
    """
    found = await _other_runs(study, store)
    for folder in study.recruit.exclude:
        place = study.folder / folder / "store"
        if not place.exists():
            continue
        async with open_store(place, write=False) as other:
            entries = await other.ledger.entries()
        found += [entry.provider_ref for entry in entries if entry.kind == "draft" and entry.event == "done"]
    return [one for one in dict.fromkeys(found) if _PROLIFIC_ID.fullmatch(one)]


async def _other_runs(study: Study, store: Store) -> list[str]:
    """Return under which ids other runs were published, or somebody came; a draft that nobody saw keeps nobody out."""
    entries, came = await store.ledger.entries(), {one.posting for one in await store.comings()}
    found: list[str] = []
    for run in runs_of(entries):
        if run != study.run:
            found += [*published_postings(entries, run), *(one for one in postings_of(entries, run) if one in came)]
    return found
