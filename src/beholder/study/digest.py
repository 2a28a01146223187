"""The study as canonical JSON, and digests of such values."""

from __future__ import annotations

import hashlib
import json
from typing import Any

from beholder.study.model import Study
from beholder.study.resolved import resolved_yaml
from beholder.study.texts import instruction_pages, study_text

__all__ = ["canonical", "digest", "resolved_yaml", "study_json"]


def study_json(study: Study) -> dict[str, Any]:
    """Return the study as JSON values, defaults filled, with the texts themselves where it names files."""
    value: dict[str, Any] = study.model_dump(mode="json")
    value["texts"] = {which: study_text(study, which) for which in value["texts"]}
    if study.run == 1:  # so that a study from before there were runs is the same one
        del value["run"]
    pages = instruction_pages(study)
    if len(pages) > 1 or any(page.examples or page.play for page in pages):
        value["texts"]["instructions"] = [page.model_dump(mode="json") for page in pages]
    return value


def canonical(value: Any) -> str:
    """Return JSON text that is the same for equal values: sorted keys, no spaces."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: Any) -> str:
    """Return the SHA-256 of a JSON value, as 64 hexadecimal digits."""
    return hashlib.sha256(canonical(value).encode()).hexdigest()
