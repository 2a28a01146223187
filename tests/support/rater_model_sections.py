"""The section on rater models of a report, as text."""

from __future__ import annotations

import beholder
from beholder.reporting.material import load_material
from beholder.reporting.rater_models import rater_models_section
from beholder.study.model import Study


def models_text(study: Study) -> str:
    """Return the section without its figures."""
    beholder.analyse(study)
    section = rater_models_section(load_material(study))
    assert section is not None
    assert "nan" not in section.lower()
    return section
