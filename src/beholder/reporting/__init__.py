"""Report: one self-contained page with the findings, their figures and tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from beholder.study.model import Study

__all__ = ["report"]


def report(study: str | Path | Study = "study.yaml", *, progress: Callable[[int, int], None] | None = None) -> Path:
    """Write `report/` from clean/ and analyse/; return the path of its page. `progress` is told of figures."""
    from beholder.reporting.folder import report_folder

    return report_folder(study, progress=progress)
