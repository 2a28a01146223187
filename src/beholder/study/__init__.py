"""The study file: what the researcher writes, read with line numbers into a frozen model.

The model: `model`, `questions`, `design`, `recruitment`, `qualification`, `checks`, `cleaning`, `thresholds`,
`presets`, `recipes`, and `chain` for the file of a chain; `parts` and `value_kinds` are what they are made of. Reading:
`yaml`, `reader`, `loading`. Problems: `consistency`, `groups`, `recruitment_faults`. Other files: `texts`, `csv_files`.
Writing: `serialization`.
"""

from __future__ import annotations

from typing import Any


def schema() -> dict[str, Any]:
    """Return the JSON Schema of study.yaml, for editors."""
    from beholder.study.checks import installed_checks
    from beholder.study.serialization import study_schema

    return study_schema(installed_checks())
