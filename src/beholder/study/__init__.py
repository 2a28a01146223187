"""What the researcher writes: the model, its YAML with line numbers, its JSON Schema."""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study.yaml, for editors."""
    from beholder.study.serialization import study_schema

    return study_schema()
