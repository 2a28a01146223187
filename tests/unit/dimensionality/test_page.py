"""The page of dimensions."""

from __future__ import annotations

import pandas as pd

from beholder.dimensionality.text import Dimensions
from support.dimensions_page import CONDITIONS


def test_the_page_begins_with_the_finding_and_holds_no_nan(dimensions: Dimensions) -> None:
    assert dimensions.page is not None
    page = dimensions.page.read_text("utf-8")
    assert dimensions.words[0].startswith("Four questions measure one thing for the most part: it holds ")
    assert page.index(dimensions.words[0]) < page.index("All conditions")
    assert "nan" not in page.split("<script")[0].split("</style>")[1].lower().replace("finance", "")
    assert "Größe 2" in page


def test_names_stay_as_they_are(dimensions: Dimensions) -> None:
    assert dimensions.page is not None
    written = pd.read_csv(dimensions.page.parent / "table.csv", dtype=str, keep_default_na=False)
    assert written["condition"].tolist() == list(CONDITIONS)
    assert written["mood"].tolist()[-1] == ""
    assert written["psnr"].tolist() == ["20", "25", "30", "31", "35"]
