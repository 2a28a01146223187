"""Where Prolific keeps things."""

from __future__ import annotations

from urllib.parse import quote


def study_path(id: str) -> str:
    """Return the path of a study."""
    return f"/api/v1/studies/{quote(id, safe='')}/"


def submission_path(id: str) -> str:
    """Return the path of a submission."""
    return f"/api/v1/submissions/{quote(id, safe='')}/"
