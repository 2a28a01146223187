"""Plans that have grown: the lists in the store are the truth, and a server that lacks some takes them from there."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

from beholder.methods import find
from beholder.methods.contract import Trial
from beholder.plan.digest import plan_digest, study_digest
from beholder.plan.folder import write_plan
from beholder.plan.growing.growth import complete, generations
from beholder.plan.model import Plan
from beholder.plan.placing.clips import load_stimuli
from beholder.plan.written import lists_from_json
from beholder.serve.served import Served
from beholder.store.contract import Store, StudyRecord
from beholder.store.open import read_rows
from beholder.store.rules import outdated_session
from beholder.study.model import Study


async def restore(store: Store, study: Study, plan: Plan, progress: Callable[[int, int], None] | None = None) -> bool:
    """Return whether the store holds an extended plan of this study which plan/ lacked; it has been written there."""
    studies = await read_rows(store, "studies")
    # All lists of a large plan take longer to read than everything else at the start.
    if plan.plan_digest in {row["plan_digest"] for row in studies}:
        counts = await store.counts(datetime.now(UTC), study.run)
        if counts["lists"] <= len(plan.lists):
            return False
    record = await store.current()
    stored = stored_plan(record) if record is not None else None
    if stored is None or not stored.is_extended:
        return False
    method = find(study.method)
    before = generations(studies, await read_rows(store, "stimuli"), stored.plan_digest)
    catalogue = load_stimuli(study, method, progress, before)
    if plan_digest(study, catalogue) not in stored.covers:
        return False
    whole = complete(stored, study, catalogue, method, before)
    write_plan(whole, catalogue, study_digest(study, catalogue), study.folder)
    return True


def stored_plan(record: StudyRecord) -> Plan | None:
    """Return the plan that a store holds; None where it has no lists."""
    lists = tuple(lists_from_json(record.lists))
    return Plan(record.plan_digest, 0, lists) if lists else None


async def take_in(served: Served, store: Store, number: int) -> None:
    """Add the lists to a running server that the store has by now, up to one that somebody has claimed.

    Raises Refused where they show stimuli that this server does not have: it has to be started anew.
    """
    if number <= len(served.lists):
        return
    record = await store.current()
    stored = stored_plan(record) if record is not None else None
    fresh = stored.lists[len(served.lists) :] if stored is not None else ()
    trials = [entry for planned in fresh for entry in planned.entries if isinstance(entry, Trial)]
    if any(slot.stimulus not in served.catalogue.by_id for trial in trials for slot in trial.slots):
        raise outdated_session()
    served.grow(fresh)
    if number > len(served.lists):
        raise outdated_session()
