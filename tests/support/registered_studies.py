"""Studies whose plan was recorded, in memory: versions of the plan as the ledger of a store has them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from beholder.analysis.registry import names
from beholder.preregistration.changes import stimuli_digest, text_digests
from beholder.preregistration.registration import content_digest
from beholder.study.model import Study
from beholder.study.serialization import resolved_yaml
from support.cleaning_store import START, Tables

BEFORE = START - timedelta(days=1)


def plan_of(study: Study, tables: Tables, **changes: Any) -> dict[str, Any]:
    """Return the plan of a study whose lists are those of a store in memory."""
    shown = {row["stimulus"]: row["sha256"] for row in tables["stimuli"]}
    lists = len(tables["lists"])
    return {
        "study": study.name, "title": study.title, "run": 1, "study_digest": "d1", "plan_digest": "p1",
        "yaml": resolved_yaml(study), "texts": text_digests(study),
        "stimuli": {
            "digest": stimuli_digest(shown), "rated": len(shown), "conditions": ["a", "b"],
            "contents": sorted({row["content"] for row in tables["stimuli"]}),
        },
        "lists": lists, "participants": lists, "trials": [10], "ratings": [2, 2], "is_compared": False,
        "analyses": list(names()), "power": None, **changes,
    }  # fmt: skip


def registered(
    plan: Mapping[str, Any],
    *,
    at: datetime = BEFORE,
    people: int = 0,
    why: str = "",
    words: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """Return the row of the ledger of a version of a plan."""
    own, answers = dict(words or {}), {"Title": str(plan["title"])}
    evidence = {
        "run": 1, "plan": plan, "words": own, "answers": answers, "why": why, "people": people, "looks": 0,
        "software": "beholder 0",
    }  # fmt: skip
    ref = content_digest(plan, own, answers)
    return {"kind": "preregistration", "event": "done", "at": at, "provider_ref": ref, "evidence": evidence}


def registered_at(row: Mapping[str, Any], place: str) -> dict[str, Any]:
    """Return the row of the ledger of where a version was registered."""
    evidence = {"run": 1, "place": place}
    return {**row, "kind": "preregistered", "evidence": evidence}
