"""The material of a report from synthetic ratings, and the text of a section."""

from __future__ import annotations

from collections.abc import Callable

import pandas as pd

from beholder.analysis import analyse
from beholder.cleaning.ratings import read_ratings
from beholder.reporting.html import Markup
from beholder.reporting.material import Material, load_material
from beholder.study.model import Study
from support.report_pages import Page


def analysed_material(study: Study, change: Callable[[pd.DataFrame], pd.DataFrame] | None = None) -> Material:
    """Return the material of a report; `change` edits the ratings before they are analysed."""
    if change is not None:
        path = study.folder / "clean" / "ratings.csv"
        change(read_ratings(path)).to_csv(path, index=False)
    analyse(study)
    return load_material(study)


def markup_text(markup: Markup | None) -> str:
    assert markup is not None
    return Page(markup).text
