"""A study as it begins in a store."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from importlib.metadata import version

from beholder.plan.digest import study_digest
from beholder.stimuli.catalogue import Catalogue
from beholder.store.contract import StudyRecord
from beholder.study.model import Study
from beholder.study.resolved import resolved_yaml
from beholder.types import Json


def record_of(
    study: Study, catalogue: Catalogue, plan_digest: str, lists: Sequence[Json], now: datetime
) -> StudyRecord:
    """Return a study, its stimuli and its lists as they begin in a store."""
    return StudyRecord(
        digest=study_digest(study, catalogue),
        plan_digest=plan_digest,
        study=study.name,
        yaml=resolved_yaml(study),
        software=f"beholder {version('beholder')}",
        stimuli=_stimulus_rows(catalogue),
        lists=lists,
        at=now,
    )


def _stimulus_rows(catalogue: Catalogue) -> list[Mapping[str, Json]]:
    return [
        {
            "stimulus": s.id, "content": s.content, "condition": s.condition, "role": s.role, "medium": s.medium,
            "sha256": s.sha256, "probe": asdict(s.probe), "factors": dict(s.factors),
        }
        for s in (*catalogue.stimuli, *catalogue.examples)
    ]  # fmt: skip
